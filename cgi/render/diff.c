#include "cgi/render/diff.h"

#include <string.h>

/* ---- lines ---- */

static uint64_t line_hash(const char *text, size_t length)
{
	uint64_t hash = 14695981039346656037u; /* FNV-1a */
	for (size_t i = 0; i < length; i++)
		hash = (hash ^ (unsigned char)text[i]) * 1099511628211u;
	return hash;
}

static size_t count_text_lines(const char *text, size_t length)
{
	size_t lines = length && text[length - 1] != '\n';
	for (size_t i = 0; i < length; i++)
		lines += text[i] == '\n';
	return lines;
}

static struct diff_text split_lines(struct arena *arena, const char *text, size_t length)
{
	struct diff_text split = { .count = count_text_lines(text, length) };
	split.lines = arena_array(arena, struct diff_line, split.count + 1);
	for (size_t i = 0, at = 0; i < split.count; i++) {
		const char *end = memchr(text + at, '\n', length - at);
		size_t next = end ? (size_t)(end - text) : length, stop = next;
		if (stop > at && text[stop - 1] == '\r')
			stop--;
		split.lines[i] = (struct diff_line){
			.text = text + at, .length = stop - at, .hash = line_hash(text + at, stop - at)
		};
		at = next + 1;
	}
	return split;
}

static bool is_same(const struct diff_line *a, const struct diff_line *b)
{
	return a->hash == b->hash && a->length == b->length && memcmp(a->text, b->text, a->length) == 0;
}

/* ---- minimal changes: E. W. Myers, "An O(ND) difference algorithm and its variations", 1986 ----
 */

/* Limits of the search for a minimal diff; beyond them the diff is coarse. The memory grows
 * with the square of the number of changes (4 MB at most), the time with the number of compared
 * lines. */
enum {
	most_changes = 1000,
	most_lines = 1000 * 1000,
	most_work = 30 * 1000 * 1000,
	bytes_per_step = 64
};

struct search {
	struct diff_line *a, *b; /* the lines between the common prefix and suffix, or words */
	int32_t a_count, b_count;
	/* reach[d][k + d]: after d changes, how far into `a` diagonal k = a - b reaches. */
	int32_t *reach[most_changes + 1];
	int32_t *memory; /* for all of `reach`; NULL: from the arena, as needed */
	int32_t most_changes;
	int64_t work, most_work;
};

/* Whether the best path to diagonal k comes from diagonal k + 1, by an added line. Otherwise it
 * comes from k - 1, by a removed line. */
static bool comes_down(const int32_t *before, int32_t d, int32_t k)
{
	return k == -d || (k != d && before[k - 1 + d - 1] < before[k + 1 + d - 1]);
}

static int32_t follow_diagonal(struct search *search, int32_t x, int32_t k)
{
	while (x < search->a_count && x - k < search->b_count
		&& is_same(&search->a[x], &search->b[x - k])) {
		search->work += 1 + (int64_t)(search->a[x].length / bytes_per_step);
		x++;
	}
	return x;
}

/* Extends every diagonal by one change. Returns true if one has reached the end of both texts. */
static bool extend_diagonals(struct search *search, int32_t d)
{
	const int32_t *before = d ? search->reach[d - 1] : NULL;
	for (int32_t k = -d; k <= d; k += 2) {
		int32_t x = !d                 ? 0
			: comes_down(before, d, k) ? before[k + 1 + d - 1]
									   : before[k - 1 + d - 1] + 1;
		x = follow_diagonal(search, x, k);
		search->reach[d][k + d] = x;
		if (x == search->a_count && x - k == search->b_count)
			return true;
	}
	search->work += d;
	return false;
}

static void mark_path(struct search *search, int32_t d)
{
	for (int32_t k = search->a_count - search->b_count; d > 0; d--) {
		const int32_t *before = search->reach[d - 1];
		if (comes_down(before, d, k)) {
			k++;
			search->b[before[k + d - 1] - k].changed = true;
		} else {
			k--;
			search->a[before[k + d - 1]].changed = true;
		}
	}
}

static void mark_all(struct search *search)
{
	for (int32_t i = 0; i < search->a_count; i++)
		search->a[i].changed = true;
	for (int32_t i = 0; i < search->b_count; i++)
		search->b[i].changed = true;
}

/* Marks the lines of a minimal diff as changed. Returns false if the search exceeds the limits. */
static bool find_path(struct arena *arena, struct search *search)
{
	for (int32_t d = 0; d <= search->most_changes && search->work < search->most_work; d++) {
		search->reach[d] =
			search->memory ? search->memory + d * d : arena_array(arena, int32_t, 2 * d + 1);
		if (extend_diagonals(search, d)) {
			mark_path(search, d);
			return true;
		}
	}
	return false;
}

/* ---- diff ---- */

static size_t count_changed(const struct diff_text *text)
{
	size_t changed = 0;
	for (size_t i = 0; i < text->count; i++)
		changed += text->lines[i].changed;
	return changed;
}

struct diff diff_of(
	struct arena *arena, const char *a, size_t a_length, const char *b, size_t b_length)
{
	struct diff diff = { .a = split_lines(arena, a, a_length),
		.b = split_lines(arena, b, b_length) };
	size_t begin = 0, a_end = diff.a.count, b_end = diff.b.count;
	while (begin < a_end && begin < b_end && is_same(&diff.a.lines[begin], &diff.b.lines[begin]))
		begin++;
	while (a_end > begin && b_end > begin
		&& is_same(&diff.a.lines[a_end - 1], &diff.b.lines[b_end - 1]))
		a_end--, b_end--;
	struct search *search = arena_alloc(arena, sizeof *search);
	*search = (struct search){ .a = diff.a.lines + begin,
		.b = diff.b.lines + begin,
		.a_count = (int32_t)(a_end - begin),
		.b_count = (int32_t)(b_end - begin),
		.most_changes = most_changes,
		.most_work = most_work };
	bool one_side = !search->a_count || !search->b_count;
	diff.is_coarse =
		!one_side && (a_end > most_lines || b_end > most_lines || !find_path(arena, search));
	if (one_side || diff.is_coarse)
		mark_all(search);
	diff.removed = count_changed(&diff.a);
	diff.added = count_changed(&diff.b);
	return diff;
}

/* ---- rows ---- */

struct writer {
	struct arena *arena;
	const struct diff *diff;
	struct diff_row *rows;
	size_t count, most;
	bool is_cut;
};

static void write_row(
	struct writer *writer, enum diff_kind kind, size_t a, size_t b, size_t skipped)
{
	if (writer->count == writer->most) {
		writer->is_cut = true;
		return;
	}
	const struct diff_line *line = kind == DIFF_GAP ? NULL
		: kind == DIFF_ADDED                        ? &writer->diff->b.lines[b - 1]
													: &writer->diff->a.lines[a - 1];
	writer->rows[writer->count++] = (struct diff_row){
		.kind = kind,
		.a = a,
		.b = b,
		.text = line ? arena_strndup(writer->arena, line->text, line->length) : "",
		.skipped = skipped,
	};
}

/* Writes `count` unchanged lines that start at lines a and b: up to `context` lines next to each
 * change, and a gap for the lines between. */
static void write_same(struct writer *writer, size_t a, size_t b, size_t count, size_t context)
{
	bool first = !a && !b,
		 last = a + count == writer->diff->a.count && b + count == writer->diff->b.count;
	size_t head = first ? 0 : context, tail = last ? 0 : context;
	size_t shown = head + tail, skipped = count > shown ? count - shown : 0;
	for (size_t i = 0; i < count; i++) {
		if (skipped && i == head) {
			write_row(writer, DIFF_GAP, a + i + 1, b + i + 1, skipped);
			i += skipped;
			if (i >= count)
				break;
		}
		write_row(writer, DIFF_SAME, a + i + 1, b + i + 1, 0);
	}
}

size_t diff_rows(struct arena *arena, const struct diff *diff, size_t context, size_t most,
	struct diff_row **rows, bool *is_cut)
{
	const struct diff_text *a = &diff->a, *b = &diff->b;
	struct writer writer = { .arena = arena,
		.diff = diff,
		.rows = arena_array(arena, struct diff_row, most + 1),
		.most = most };
	for (size_t i = 0, j = 0; (i < a->count || j < b->count) && !writer.is_cut;) {
		size_t begin = i;
		while (i < a->count && j < b->count && !a->lines[i].changed && !b->lines[j].changed)
			i++, j++;
		if (i > begin)
			write_same(&writer, begin, j - (i - begin), i - begin, context);
		for (; i < a->count && a->lines[i].changed && !writer.is_cut; i++)
			write_row(&writer, DIFF_REMOVED, i + 1, 0, 0);
		for (; j < b->count && b->lines[j].changed && !writer.is_cut; j++)
			write_row(&writer, DIFF_ADDED, 0, j + 1, 0);
	}
	*rows = writer.rows;
	*is_cut = writer.is_cut;
	return writer.count;
}

void diff_fold(struct arena *arena, const struct diff *diff, struct diff_row *rows, size_t count,
	size_t most_bytes)
{
	size_t bytes = 0;
	for (size_t i = 0; i < count; i++) {
		struct diff_row *gap = &rows[i];
		if (gap->kind != DIFF_GAP)
			continue;
		const struct diff_line *lines = &diff->a.lines[gap->a - 1];
		for (size_t k = 0; k < gap->skipped; k++)
			bytes += sizeof *rows + lines[k].length;
		if (bytes > most_bytes)
			return;
		struct diff_row *folded = arena_array(arena, struct diff_row, gap->skipped);
		for (size_t k = 0; k < gap->skipped; k++)
			folded[k] = (struct diff_row){ .kind = DIFF_SAME,
				.a = gap->a + k,
				.b = gap->b + k,
				.text = arena_strndup(arena, lines[k].text, lines[k].length) };
		gap->folded = folded;
	}
}

/* ---- words ---- */

/* Limits of the search for changed words, for a line and for all lines together. */
enum {
	most_line_bytes = 1000,
	most_word_changes = 128,
	most_tries = 8,
	most_word_work = 4 * 1000 * 1000
};

struct word_search {
	struct arena *arena;
	struct search search;
};

struct words {
	struct diff_line list[most_line_bytes];
	int32_t count;
	size_t bytes; /* without white space */
};

static bool is_space(char c)
{
	return c == ' ' || c == '\t';
}

static bool is_of_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'
		|| (unsigned char)c >= 0x80;
}

/* Splits a line into words, runs of white space, and single other characters. */
static void split_words(struct words *words, const char *line)
{
	words->count = 0;
	words->bytes = 0;
	for (size_t at = 0, end; line[at]; at = end) {
		end = at + 1;
		bool (*is_more)(char) = is_space(line[at]) ? is_space : is_of_word;
		while (is_more(line[at]) && line[end] && is_more(line[end]))
			end++;
		words->list[words->count++] = (struct diff_line){
			.text = line + at, .length = end - at, .hash = line_hash(line + at, end - at)
		};
		words->bytes += is_space(line[at]) ? 0 : end - at;
	}
}

static bool have_common_half(const struct words *a, const struct words *b)
{
	size_t common = 0;
	for (int32_t i = 0; i < a->count; i++)
		common += a->list[i].changed || is_space(*a->list[i].text) ? 0 : a->list[i].length;
	return common && 4 * common >= a->bytes + b->bytes;
}

/* Whether the white space at `i` stands between two changed words, so that it belongs to them. */
static bool joins_changes(const struct words *words, int32_t i)
{
	return i > 0 && i + 1 < words->count && is_space(*words->list[i].text)
		&& words->list[i - 1].changed && words->list[i + 1].changed;
}

static void take_spans(struct arena *arena, struct words *words, struct diff_row *row)
{
	struct diff_span *spans = arena_array(arena, struct diff_span, (size_t)words->count);
	for (int32_t i = 0, end; i < words->count; i = end) {
		bool changed = words->list[i].changed;
		size_t length = 0;
		for (end = i; end < words->count
			 && (words->list[end].changed || (changed && joins_changes(words, end))) == changed;
			 end++)
			length += words->list[end].length;
		spans[row->span_count++] =
			(struct diff_span){ .text = arena_strndup(arena, words->list[i].text, length),
				.changed = changed };
	}
	row->spans = spans;
}

/* Fills the spans of both lines if they have enough in common. */
static bool pair_lines(
	struct word_search *state, struct words sides[2], struct diff_row *a, struct diff_row *b)
{
	struct search *search = &state->search;
	split_words(&sides[0], a->text);
	split_words(&sides[1], b->text);
	search->a = sides[0].list;
	search->b = sides[1].list;
	search->a_count = sides[0].count;
	search->b_count = sides[1].count;
	search->work += sides[0].count + sides[1].count;
	if (!find_path(state->arena, search) || !have_common_half(&sides[0], &sides[1]))
		return false;
	take_spans(state->arena, &sides[0], a);
	take_spans(state->arena, &sides[1], b);
	return true;
}

static bool is_short(const struct diff_row *row)
{
	return strnlen(row->text, most_line_bytes) < most_line_bytes;
}

/* Pairs the lines of one change, in order: a[0..a_count) are removed, b[0..b_count) are added. */
static void pair_change(struct word_search *state, struct words sides[2], struct diff_row *a,
	size_t a_count, struct diff_row *b, size_t b_count)
{
	for (size_t i = 0, next = 0; i < a_count && next < b_count; i++)
		for (size_t j = next; is_short(&a[i]) && j < b_count && j < next + most_tries
			 && state->search.work < most_word_work;
			 j++)
			if (is_short(&b[j]) && pair_lines(state, sides, &a[i], &b[j])) {
				next = j + 1;
				break;
			}
}

static size_t count_kind(
	const struct diff_row *rows, size_t count, size_t from, enum diff_kind kind)
{
	size_t found = 0;
	while (from + found < count && rows[from + found].kind == kind)
		found++;
	return found;
}

void diff_words(struct arena *arena, struct diff_row *rows, size_t count)
{
	struct word_search *state = arena_alloc(arena, sizeof *state);
	struct words *sides = arena_array(arena, struct words, 2);
	*state = (struct word_search){ .arena = arena,
		.search = { .memory = arena_array(
						arena, int32_t, (most_word_changes + 1) * (most_word_changes + 1)),
			.most_changes = most_word_changes,
			.most_work = most_word_work } };
	for (size_t i = 0; i < count;) {
		size_t removed = count_kind(rows, count, i, DIFF_REMOVED),
			   added = count_kind(rows, count, i + removed, DIFF_ADDED);
		pair_change(state, sides, rows + i, removed, rows + i + removed, added);
		i += removed + added ? removed + added : 1;
	}
}
