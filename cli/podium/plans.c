#include "cli/podium/plans.h"

#include "cli/podium/print.h"
#include "lib/base/format.h"
#include "lib/base/gzip.h"
#include "lib/base/member.h"
#include "lib/base/scope.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>

enum { most_bytes = 64 << 20, most_shown_nodes = 20 };

/* ---- from events ---- */

/* Returns the nodes of a plan with their figures, or NULL. The file has the plan's JSON, which is
 * `text_bytes` long, and then the figures' JSON. */
static json_t *read_nodes(const struct buffer *file, size_t text_bytes)
{
	size_t i;
	json_t *figure;
	if (text_bytes > file->length)
		return NULL;
	json_t *plan = json_loadb(file->data, text_bytes, 0, NULL),
		   *figures = json_loadb(file->data + text_bytes, file->length - text_bytes, 0, NULL),
		   *nodes = json_incref(json_object_get(plan, "nodes"));
	json_array_foreach(figures, i, figure)
	{
		const long long number = member_whole(figure, "node", -1);
		json_t *node = number < 0 ? NULL : json_array_get(nodes, (size_t)number);
		json_object_del(figure, "node");
		json_object_update_missing(node, figure);
	}
	json_decref(plan);
	json_decref(figures);
	return nodes;
}

static bool append_part(struct buffer *packed, const json_t *base64)
{
	const size_t length = json_string_length(base64);
	cleanup_free unsigned char *bytes = malloc(length + 1);
	size_t count = 0;
	const bool is_right = bytes && json_is_string(base64)
		&& !sodium_base642bin(bytes, length, json_string_value(base64), length, NULL, &count, NULL,
			sodium_base64_VARIANT_ORIGINAL);
	if (is_right)
		buffer_append(packed, bytes, count);
	return is_right;
}

/* Returns the nodes of a plan from its parts, or NULL. */
static json_t *unpack(const json_t *parts, const json_t *event)
{
	cleanup_buffer struct buffer packed = { 0 }, file = { 0 };
	const long long text_bytes = member_whole(event, "text_bytes", -1);
	size_t i;
	json_t *part;
	bool is_right = text_bytes >= 0;
	json_array_foreach(parts, i, part) is_right = is_right && append_part(&packed, part);
	return is_right && packed.length
			&& !gzip_unpack(packed.data, packed.length, most_bytes, &file, NULL)
		? read_nodes(&file, (size_t)text_bytes)
		: NULL;
}

void plans_take(json_t *stage, const json_t *event)
{
	static const char unfinished[] = "plan_parts";
	const long long part = member_whole(event, "part", -1), parts = member_whole(event, "parts", 0);
	json_t *list = json_object_get(stage, unfinished), *plans = json_object_get(stage, "plans");
	if (!list || !part) {
		list = json_array();
		json_object_set_new(stage, unfinished, list);
	}
	json_array_append(list, json_object_get(event, "base64"));
	if ((long long)json_array_size(list) < parts)
		return;
	json_t *nodes = unpack(list, event);
	json_object_del(stage, unfinished);
	if (!json_is_array(nodes)) {
		json_decref(nodes);
		return;
	}
	if (!plans) {
		plans = json_array();
		json_object_set_new(stage, "plans", plans);
	}
	json_array_append_new(
		plans, json_pack("{s:I, s:o}", "index", member_whole(event, "index", 0), "nodes", nodes));
}

/* ---- the table ---- */

static const char *three_cell(struct arena *arena, const json_t *node, const char *key)
{
	json_int_t three[3];
	const json_t *array = json_object_get(node, key);
	for (size_t i = 0; i < 3; i++)
		three[i] = json_integer_value(json_array_get(array, i));
	return array ? arena_printf(arena, "%lld×%lld×%lld", three[0], three[1], three[2]) : NULL;
}

static const char *time_cell(struct arena *arena, const json_t *node)
{
	format_text text;
	const double ns = member_real(node, "end_ns") - member_real(node, "begin_ns");
	if (!(ns >= 0 && ns < 1e15))
		return NULL;
	format_duration_ns(text, ns);
	return arena_strdup(arena, text);
}

static void add_node(
	struct table *table, struct arena *arena, const json_t *node, size_t number, bool is_kernel)
{
	format_text shared;
	const long long registers = member_whole(node, "registers", -1),
					bytes = member_whole(node, "shared_bytes", 0)
		+ member_whole(node, "static_shared_bytes", 0);
	format_bytes(shared, bytes > 0 ? (uint64_t)bytes : 0);
	const char *cells[] = { arena_printf(arena, "%zu", number),
		is_kernel ? member_text(node, "name") : member_text(node, "kind"), time_cell(arena, node),
		registers < 0 ? NULL : arena_printf(arena, "%lld", registers),
		is_kernel ? arena_strdup(arena, shared) : NULL, three_cell(arena, node, "grid"),
		three_cell(arena, node, "block") };
	table_add(table, cells);
}

void plan_write(struct buffer *out, struct arena *arena, const json_t *nodes)
{
	static const struct table_column columns[] = {
		{ "#", true },
		{ "Kernel", false },
		{ "Time", true },
		{ "Registers", true },
		{ "Shared memory", true },
		{ "Grid", true },
		{ "Block", true },
	};
	struct table table = table_make(arena, columns, COUNT(columns), most_shown_nodes);
	const size_t count = json_array_size(nodes);
	for (size_t i = 0; i < count && i < most_shown_nodes; i++) {
		const json_t *node = json_array_get(nodes, i);
		add_node(&table, arena, node, i + 1, strcmp(member_text(node, "kind"), "kernel") == 0);
	}
	print_table(out, &table);
	if (count > most_shown_nodes)
		buffer_printf(
			out, "And %s.\n", plural(arena, (int64_t)(count - most_shown_nodes), "other node"));
}
