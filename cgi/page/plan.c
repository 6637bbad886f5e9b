#include "cgi/page/plan.h"

#include "cgi/render/json.h"
#include "lib/base/buffer.h"
#include "lib/base/format.h"
#include "lib/base/member.h"
#include "lib/base/scope.h"
#include "lib/base/text.h"
#include "lib/job/job.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct column PLAN_COLUMNS[] = {
	INTEGER(struct plan_row, id),
	INTEGER(struct plan_row, stage_id),
	INTEGER(struct plan_row, case_index),
	INTEGER(struct plan_row, number),
	INTEGER(struct plan_row, submission_id),
	INTEGER(struct plan_row, size),
	TEXT(struct plan_row, stage),
	TEXT(struct plan_row, gpu),
	TEXT(struct plan_row, spec),
	TEXT(struct plan_row, sha256),
	TEXT(struct plan_row, nodes),
};
#define CASE_NUMBER SQL_CASE_NUMBER("p.case_index", "t", "v")
/* The limits keep a page with the plans of two submissions below 20 MB. */
#define PLANS_OF(from, whose) \
	SELECT(struct plan_row, PLAN_COLUMNS, \
		"SELECT p.id, p.stage_id, p.case_index, " CASE_NUMBER \
		" AS number, j.submission_id, p.size, t.name AS stage, j.gpu, " \
		"m.spec, LOWER(HEX(p.sha256)) AS sha256, " \
		"IF(LENGTH(p.nodes) <= 196608, p.nodes, NULL) AS nodes " \
		"FROM " from " JOIN task_versions v ON v.id = s.task_version_id " \
		"JOIN stages t ON t.job_id = j.id JOIN plans p ON p.stage_id = t.id " \
		"LEFT JOIN measurements m ON m.stage_id = p.stage_id AND m.case_index = p.case_index " \
		"WHERE s.id = ? " whose "ORDER BY t.job_id, t.position, p.case_index LIMIT 48")
const struct statement plans_of_submission =
	PLANS_OF("submissions s JOIN jobs j ON j.submission_id = s.id", "");
const struct statement plans_of_best =
	PLANS_OF("submissions s JOIN ranking r ON r.leaderboard_id = s.leaderboard_id "
			 "AND r.task_version_id = s.task_version_id AND r.user_id = s.user_id "
			 "AND r.submission_id <> s.id JOIN jobs j ON j.id = r.job_id",
		"AND s.user_id = ? ");

/* ---- names ---- */

enum { most_label_bytes = 64 };

static const char *shorten(struct arena *arena, const char *text)
{
	static const char mark[] = "…";
	size_t kept = text_utf8_prefix(text, strnlen(text, most_label_bytes - sizeof mark + 1));
	return strlen(text) <= most_label_bytes ? text
											: arena_printf(arena, "%.*s%s", (int)kept, text, mark);
}

/* Appends the identifier at *at, which is written as its length and its letters, and moves *at
 * behind it. */
static bool append_identifier(struct buffer *out, const char **at)
{
	static const char anonymous[] = "_GLOBAL__N_";
	char *from;
	unsigned long length = isdigit((unsigned char)**at) ? strtoul(*at, &from, 10) : 0;
	if (!length || length > strlen(from))
		return false;
	buffer_text(out, out->length ? "::" : "");
	if (strncmp(from, anonymous, sizeof anonymous - 1) == 0)
		buffer_text(out, "(anonymous)");
	else
		buffer_append(out, from, length);
	*at = from + length;
	return true;
}

static bool is_ascii(const char *text)
{
	while (*text && (unsigned char)*text < 0x80)
		text++;
	return !*text;
}

/* The qualified name in a mangled one, without template arguments and parameters:
 * "_ZN2at6native4copyILi4EEvPf" becomes "at::native::copy<…>". Source: Itanium C++ ABI, 5.1,
 * "External Names". */
static const char *readable_name(struct arena *arena, const char *name)
{
	cleanup_buffer struct buffer out = { 0 };
	/* A length must not end within a character. */
	if (strncmp(name, "_Z", 2) != 0 || !is_ascii(name))
		return name;
	const char *at = name + 2;
	bool is_nested = *at == 'N';
	at += is_nested ? strspn(at, "NKVrRO") : 0;
	at += *at == 'L'; /* internal linkage */
	if (strncmp(at, "St", 2) == 0) {
		buffer_text(&out, "std");
		at += 2;
	}
	while (append_identifier(&out, &at) && is_nested)
		at += *at == 'L';
	if (!out.length)
		return name;
	buffer_text(&out, *at == 'I' ? "<…>" : "");
	return arena_strdup(arena, buffer_string(&out));
}

/* ---- reading ---- */

static int64_t read_count(const json_t *json, const char *key)
{
	static const long long most = 1LL << 40;
	long long count = member_whole(json, key, -1);
	return count >= 0 && count <= most ? count : SQL_NULL_INTEGER;
}

static double read_number(const json_t *json, const char *key)
{
	double number = member_real(json, key);
	return number >= 0 && number <= 1e30 ? number : NAN;
}

/* Zeros if the member is missing. */
static bool read_three(const json_t *json, const char *key, int64_t three[static 3])
{
	json_t *array = json_object_get(json, key);
	memset(three, 0, 3 * sizeof *three);
	for (size_t i = 0; i < 3 && array; i++) {
		three[i] = json_integer_value(json_array_get(array, i));
		if (three[i] < 1 || three[i] > INT32_MAX)
			return false;
	}
	return true;
}

static const char *read_kind(const json_t *json)
{
	static const char *const kinds[] = { "kernel", "memset", "copy", "empty" };
	const char *kind = member_text(json, "kind");
	for (size_t i = 0; i < COUNT(kinds); i++)
		if (strcmp(kinds[i], kind) == 0)
			return kinds[i];
	return NULL;
}

static bool is_kernel(const struct plan_node_row *node)
{
	return node->name != NULL;
}

static bool read_node(struct arena *arena, const json_t *json, struct plan_node_row *node)
{
	*node = (struct plan_node_row){
		.kind = read_kind(json),
		.registers = read_count(json, "registers"),
		.local_bytes = read_count(json, "local_bytes"),
		.shared_bytes = read_count(json, "shared"),
		.static_shared_bytes = read_count(json, "static_shared_bytes"),
		.blocks_per_sm = read_count(json, "blocks_per_sm"),
		.warps_per_sm_most = read_count(json, "warps_per_sm_most"),
		.bytes = read_number(json, "bytes"),
		.begin_ns = read_number(json, "begin_ns"),
		.end_ns = read_number(json, "end_ns"),
		.gap_ns = NAN,
	};
	if (!node->kind || !read_three(json, "grid", node->grid)
		|| !read_three(json, "block", node->block) || !read_three(json, "cluster", node->cluster))
		return false;
	if (!(node->begin_ns <= node->end_ns))
		node->begin_ns = node->end_ns = NAN;
	node->label = node->kind;
	if (strcmp(node->kind, "kernel") != 0)
		return true;
	node->name = arena_strdup(arena, member_text(json, "name"));
	node->label = shorten(arena, readable_name(arena, node->name));
	return *node->name && node->grid[0] && node->block[0];
}

static int compare_begins(const void *one, const void *other)
{
	const struct plan_node_row *a = *(struct plan_node_row *const *)one,
							   *b = *(struct plan_node_row *const *)other;
	return a->begin_ns < b->begin_ns ? -1 : a->begin_ns > b->begin_ns;
}

/* Fills gap_ns of the nodes, and call_ns. */
static void find_gaps(struct arena *arena, struct plan_view *plan, struct plan_node_row *nodes)
{
	struct plan_node_row **timed = arena_alloc(arena, (plan->count + 1) * sizeof *timed);
	size_t count = 0;
	double last_ns = 0; /* a call begins at 0 */
	for (size_t i = 0; i < plan->count; i++)
		if (!isnan(nodes[i].begin_ns))
			timed[count++] = &nodes[i];
	qsort(timed, count, sizeof *timed, compare_begins);
	for (size_t i = 0; i < count; i++) {
		timed[i]->gap_ns = fmax(timed[i]->begin_ns - last_ns, 0);
		last_ns = fmax(last_ns, timed[i]->end_ns);
	}
	plan->call_ns = count ? last_ns : NAN;
}

/* Leaves the view without nodes if one of them is wrong. */
static void read_nodes(struct arena *arena, struct plan_view *plan, size_t most)
{
	json_t *list = plan->row->nodes ? json_loads(plan->row->nodes, 0, NULL) : NULL, *one;
	size_t index, kernels = 0, count = json_array_size(list);
	struct plan_node_row *nodes =
		count && count <= most ? arena_alloc(arena, count * sizeof *nodes) : NULL;
	bool is_right = nodes != NULL;
	json_array_foreach(list, index, one)
	{
		is_right = is_right && read_node(arena, one, &nodes[index]);
		kernels += is_right && is_kernel(&nodes[index]);
	}
	json_decref(list);
	if (!is_right)
		return;
	plan->nodes = nodes;
	plan->count = count;
	plan->kernels = kernels;
	find_gaps(arena, plan, nodes);
}

struct plan_view *plan_read_rows(
	struct arena *arena, const struct plan_row *rows, size_t count, size_t most)
{
	struct plan_view *plans = arena_alloc(arena, (count + 1) * sizeof *plans);
	for (size_t i = 0; i < count; i++) {
		plans[i] = (struct plan_view){ .row = &rows[i], .call_ns = NAN };
		read_nodes(arena, &plans[i], most);
		most -= plans[i].count;
	}
	return plans;
}

/* A submission in mode benchmark also times the cases that a ranked one times. */
static bool is_timed(const struct plan_row *row)
{
	return strcmp(row->stage, "ranked") == 0 || strcmp(row->stage, "benchmark") == 0;
}

void plan_join_best(
	struct plan_view *plans, size_t count, struct plan_view *best, size_t best_count)
{
	for (size_t i = 0; i < count; i++)
		for (size_t b = 0; b < best_count && plans[i].count; b++) {
			const struct plan_row *one = plans[i].row, *other = best[b].row;
			if (best[b].count && one->spec && other->spec && strcmp(one->spec, other->spec) == 0
				&& is_timed(one) == is_timed(other) && strcmp(one->gpu, other->gpu) == 0)
				plans[i].best = &best[b];
		}
}

/* ---- figures in words ---- */

int64_t plan_shared(const struct plan_node_row *node)
{
	int64_t fixed = node->static_shared_bytes == SQL_NULL_INTEGER ? 0 : node->static_shared_bytes;
	return node->shared_bytes == SQL_NULL_INTEGER ? SQL_NULL_INTEGER : node->shared_bytes + fixed;
}

double plan_occupancy(const struct plan_node_row *node)
{
	enum { threads_in_warp = 32 };
	double threads = (double)node->block[0] * (double)node->block[1] * (double)node->block[2];
	return node->blocks_per_sm == SQL_NULL_INTEGER || node->warps_per_sm_most < 1
		? NAN
		: 100 * (double)node->blocks_per_sm * ceil(threads / threads_in_warp)
			/ (double)node->warps_per_sm_most;
}

const char *plan_three(struct arena *arena, const int64_t *three)
{
	size_t shown = three[2] > 1 ? 3 : three[1] > 1 ? 2 : 1;
	const char *text = "";
	for (size_t i = 0; i < shown; i++)
		text = arena_printf(arena, "%s%s%lld", text, i ? " × " : "", (long long)three[i]);
	return text;
}

const char *plan_percent(struct arena *arena, double percent)
{
	return isfinite(percent) ? arena_printf(arena, "%.*f %%", percent < 10 ? 1 : 0, percent) : "";
}

const char *plan_words(struct arena *arena, const struct plan_view *plan)
{
	static const char *const kinds[] = { "kernel", "memset", "copy", "empty" };
	static const char *const nouns[] = { "kernel", "memset", "copy", "empty node" };
	const char *words = "";
	for (size_t k = 0; k < COUNT(kinds); k++) {
		size_t count = 0;
		for (size_t i = 0; i < plan->count; i++)
			count += strcmp(plan->nodes[i].kind, kinds[k]) == 0;
		const char *some = k == 2 && count > 1 ? arena_printf(arena, "%zu copies", count)
											   : plural(arena, (int64_t)count, nouns[k]);
		words = count ? arena_printf(arena, "%s%s%s", words, *words ? ", " : "", some) : words;
	}
	return words;
}

static int compare_spans(const void *one, const void *other)
{
	const struct timeline_span *a = one, *b = other;
	return a->begin_ns < b->begin_ns ? -1 : a->begin_ns > b->begin_ns;
}

struct timeline plan_timeline(struct arena *arena, const struct plan_view *plan)
{
	struct timeline_span *spans = arena_alloc(arena, (plan->count + 1) * sizeof *spans);
	struct timeline timeline = { .spans = spans, .total_ns = plan->call_ns };
	for (size_t i = 0; i < plan->count; i++)
		if (!isnan(plan->nodes[i].begin_ns))
			spans[timeline.count++] = (struct timeline_span){
				.begin_ns = plan->nodes[i].begin_ns,
				.end_ns = plan->nodes[i].end_ns,
				.gap_ns = plan->nodes[i].gap_ns,
				.number = i + 1,
				.label = plan->nodes[i].label,
				.is_main = is_kernel(&plan->nodes[i]),
			};
	qsort(spans, timeline.count, sizeof *spans, compare_spans);
	return timeline;
}

/* ---- changes ---- */

/* The kernels of one name, which lie next to each other in a sorted array. */
struct group {
	const struct plan_node_row *const *nodes;
	size_t count;
};

static int compare_names(const void *one, const void *other)
{
	const struct plan_node_row *a = *(const struct plan_node_row *const *)one,
							   *b = *(const struct plan_node_row *const *)other;
	int order = strcmp(a->name, b->name);
	return order ? order : a < b ? -1 : a > b; /* those of a name stay in the plan's order */
}

static const struct plan_node_row **sort_kernels(struct arena *arena, const struct plan_view *plan)
{
	const struct plan_node_row **kernels =
		arena_alloc(arena, (plan->kernels + 1) * sizeof *kernels);
	size_t count = 0;
	for (size_t i = 0; i < plan->count; i++)
		if (is_kernel(&plan->nodes[i]))
			kernels[count++] = &plan->nodes[i];
	qsort(kernels, count, sizeof *kernels, compare_names);
	return kernels;
}

/* Takes the group that begins at *at. */
static struct group next_group(const struct plan_node_row *const *kernels, size_t count, size_t *at)
{
	struct group group = { kernels + *at, 0 };
	for (; *at < count && strcmp(kernels[*at]->name, group.nodes[0]->name) == 0; ++*at)
		group.count++;
	return group;
}

static double time_of(const struct group *group)
{
	double sum_ns = 0;
	for (size_t i = 0; i < group->count; i++)
		sum_ns += group->nodes[i]->end_ns - group->nodes[i]->begin_ns;
	return sum_ns; /* NAN if one is unknown */
}

__attribute__((format(printf, 3, 4))) static void add_words(
	struct arena *arena, const char **words, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	char text[256];
	vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
	*words = arena_printf(arena, "%s%s%s", *words, **words ? ", " : "", text);
}

static void compare_counts(
	struct arena *arena, const char **words, const char *what, int64_t before, int64_t after)
{
	if (before != after && before != SQL_NULL_INTEGER && after != SQL_NULL_INTEGER)
		add_words(arena, words, "%s %lld → %lld", what, (long long)before, (long long)after);
}

static void compare_threes(struct arena *arena, const char **words, const char *what,
	const int64_t *before, const int64_t *after)
{
	if (memcmp(before, after, 3 * sizeof *before) != 0)
		add_words(arena, words, "%s %s → %s", what, before[0] ? plan_three(arena, before) : "none",
			after[0] ? plan_three(arena, after) : "none");
}

static const char *compare_nodes(
	struct arena *arena, const struct plan_node_row *before, const struct plan_node_row *after)
{
	const char *words = "";
	format_text old, new;
	compare_counts(arena, &words, "registers", before->registers, after->registers);
	compare_threes(arena, &words, "grid", before->grid, after->grid);
	compare_threes(arena, &words, "block", before->block, after->block);
	compare_threes(arena, &words, "cluster", before->cluster, after->cluster);
	if (plan_shared(before) != plan_shared(after) && plan_shared(before) != SQL_NULL_INTEGER
		&& plan_shared(after) != SQL_NULL_INTEGER) {
		format_bytes(old, (uint64_t)plan_shared(before));
		format_bytes(new, (uint64_t)plan_shared(after));
		add_words(arena, &words, "shared memory %s → %s", old, new);
	}
	return words;
}

/* Compares the launches of a kernel one by one until two differ, and their times together. A time
 * that differs by less than 5 % is noise. */
static const char *compare_groups(
	struct arena *arena, const struct group *before, const struct group *after)
{
	const char *words = "";
	format_text old, new;
	double before_ns = time_of(before), after_ns = time_of(after);
	for (size_t i = 0; i < before->count && i < after->count && !*words; i++)
		words = compare_nodes(arena, before->nodes[i], after->nodes[i]);
	compare_counts(arena, &words, "launches", (int64_t)before->count, (int64_t)after->count);
	if (fabs(after_ns - before_ns) > .05 * before_ns) {
		format_duration_ns(old, before_ns);
		format_duration_ns(new, after_ns);
		add_words(arena, &words, "time %s → %s", old, new);
	}
	return words;
}

size_t plan_compare(struct arena *arena, const struct plan_view *plan, struct plan_change **changes)
{
	const struct plan_view *best = plan->best;
	const struct plan_node_row **after = sort_kernels(arena, plan),
							   **before = sort_kernels(arena, best);
	size_t a = 0, b = 0, count = 0;
	*changes = arena_alloc(arena, (plan->kernels + best->kernels + 1) * sizeof **changes);
	while (a < plan->kernels || b < best->kernels) {
		int order = a == plan->kernels ? 1
			: b == best->kernels       ? -1
									   : strcmp(after[a]->name, before[b]->name);
		struct group new = { 0 }, old = { 0 };
		if (order <= 0)
			new = next_group(after, plan->kernels, &a);
		if (order >= 0)
			old = next_group(before, best->kernels, &b);
		const char *words = order ? "" : compare_groups(arena, &old, &new);
		if (order || *words)
			(*changes)[count++] = (struct plan_change){
				.kind = order < 0 ? "new"
					: order > 0   ? "gone"
								  : "changed",
				.node = order > 0 ? old.nodes[0] : new.nodes[0],
				.words = words,
			};
	}
	return count;
}

/* ---- for programs ---- */

static json_t *three_json(const int64_t *three)
{
	return three[0]
		? json_pack("[I, I, I]", (json_int_t)three[0], (json_int_t)three[1], (json_int_t)three[2])
		: json_null();
}

static json_t *kernel_json(size_t index, const struct plan_node_row *node)
{
	return json_pack("{s:I, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}",
		"node", (json_int_t)index, "name", node->name, "grid", three_json(node->grid), "block",
		three_json(node->block), "cluster", three_json(node->cluster), "registers",
		json_count(node->registers), "local_bytes", json_count(node->local_bytes),
		"static_shared_bytes", json_count(node->static_shared_bytes), "dynamic_shared_bytes",
		json_count(node->shared_bytes), "blocks_per_sm", json_count(node->blocks_per_sm),
		"occupancy", json_number(plan_occupancy(node) / 100), "begin_ns",
		json_number(node->begin_ns), "end_ns", json_number(node->end_ns), "gap_ns",
		json_number(node->gap_ns));
}

/* A memset or a copy. */
static json_t *transfer_json(size_t index, const struct plan_node_row *node)
{
	return json_pack("{s:I, s:o, s:o, s:o, s:o}", "node", (json_int_t)index, "bytes",
		json_number(node->bytes), "begin_ns", json_number(node->begin_ns), "end_ns",
		json_number(node->end_ns), "gap_ns", json_number(node->gap_ns));
}

/* The nodes of a kind; null if the plan has no nodes here. */
static json_t *nodes_json(const struct plan_view *plan, const char *kind,
	json_t *(*node_json)(size_t index, const struct plan_node_row *node))
{
	json_t *list = plan->count ? json_array() : json_null();
	for (size_t i = 0; i < plan->count; i++)
		if (strcmp(plan->nodes[i].kind, kind) == 0)
			json_array_append_new(list, node_json(i, &plan->nodes[i]));
	return list;
}

json_t *plan_json(const struct plan_view *plan)
{
	if (!plan)
		return json_null();
	return json_pack("{s:I, s:s, s:I, s:o, s:o, s:o}", "id", (json_int_t)plan->row->id, "sha256",
		plan->row->sha256, "size_bytes", (json_int_t)plan->row->size, "kernels",
		nodes_json(plan, "kernel", kernel_json), "memsets",
		nodes_json(plan, "memset", transfer_json), "copies",
		nodes_json(plan, "copy", transfer_json));
}
