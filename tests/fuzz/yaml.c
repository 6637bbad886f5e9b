/* YAML. Accepted text must keep the limits, and writing it out and reading it again must give the
 * same. */
#include "lib/base/yaml.h"

#include "tests/fuzz/fuzz.h"

static void check_node(const struct yaml_node *node, size_t depth, size_t *nodes, int last_line)
{
	size_t count = 0;
	require(++*nodes <= yaml_most_nodes && depth <= yaml_most_depth);
	require(node->line >= 1 && node->line <= last_line);
	require_text(node->text, strlen(node->text));
	require(node->kind == YAML_LIST || node->kind == YAML_MAP || !node->first);
	for (const struct yaml_node *child = node->first; child; child = child->next, count++) {
		require((child->key != NULL) == (node->kind == YAML_MAP));
		if (child->key) {
			require(child->key->kind != YAML_LIST && child->key->kind != YAML_MAP);
			require(yaml_find(node, child->key->text) == child);
			check_node(child->key, depth + 1, nodes, last_line);
		}
		check_node(child, depth + 1, nodes, last_line);
	}
	require(count == node->count);
}

/* Writes every character by its number, so that none has a special meaning. */
static void print_text(struct buffer *out, const char *text)
{
	buffer_byte(out, '"');
	for (size_t length = strlen(text), at = 0, step; at < length; at += step) {
		uint32_t point = (unsigned char)text[at];
		for (step = 1; step < 4 && ((unsigned char)text[at + step] & 0xc0) == 0x80; step++)
			point = (step == 1 ? point
								& (point >= 0xf0        ? 0x07
										: point >= 0xe0 ? 0x0f
														: 0x1f)
							   : point)
					<< 6
				| (text[at + step] & 0x3f);
		buffer_printf(out, "\\U%08X", point);
	}
	buffer_byte(out, '"');
}

static void print(struct buffer *out, const struct yaml_node *node)
{
	if (node->kind == YAML_TEXT) {
		print_text(out, node->text);
	} else if (node->kind == YAML_LIST || node->kind == YAML_MAP) {
		buffer_text(out, node->kind == YAML_LIST ? "[ " : "{ ");
		for (const struct yaml_node *child = node->first; child; child = child->next) {
			buffer_text(out, child->key ? "? " : "");
			if (child->key)
				print(out, child->key);
			buffer_text(out, child->key ? " : " : "");
			print(out, child);
			buffer_text(out, " ,\n ");
		}
		buffer_text(out, node->kind == YAML_LIST ? "]" : "}");
	} else {
		buffer_text(out, *node->text ? node->text : "~");
	}
}

static void require_same(const struct yaml_node *a, const struct yaml_node *b)
{
	require(a->kind == b->kind && a->count == b->count && a->truth == b->truth
		&& a->integer == b->integer);
	require(memcmp(&a->real, &b->real, sizeof a->real) == 0);
	require(a->kind == YAML_NULL || strcmp(a->text, b->text) == 0);
	const struct yaml_node *other = b->first;
	for (const struct yaml_node *child = a->first; child;
		 child = child->next, other = other->next) {
		if (child->key)
			require_same(child->key, other->key);
		require_same(child, other);
	}
}

static void check_round_trip(struct arena *arena, const struct yaml_node *root)
{
	cleanup_buffer struct buffer text = { 0 };
	struct yaml_node *again;
	struct error error = { 0 };
	print(&text, root);
	/* Two empty keys, one written "" and one ~, are different, but become equal when written
	 * out. */
	if (text.length <= yaml_most_bytes
		&& yaml_parse(arena, "again", text.data, text.length, &again, &error) == 0)
		require_same(root, again);
	else
		require(text.length > yaml_most_bytes || strstr(error.text, "occurs twice"));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	cleanup_free char *text = fuzz_string(bytes, length);
	cleanup_arena struct arena *arena = arena_new();
	struct yaml_node *root = NULL;
	struct error error = { 0 };
	int lines = 2 /* an error at the end is reported on the line after the last */,
		rc = yaml_parse(arena, "task.yml", text, length, &root, &error);
	for (size_t i = 0; i < length;
		 i++) /* YAML 1.1 has five line ends; each contains one byte that is counted here */
		lines += text[i] == '\n' || text[i] == '\r' || text[i] == '\x85' || text[i] == '\xa8'
			|| text[i] == '\xa9';
	if (rc) {
		require_error(rc, &error);
		require(strncmp(error.text, "task.yml", 8) == 0);
		return 0;
	}
	size_t nodes = 0;
	check_node(root, 1, &nodes, lines);
	check_round_trip(arena, root);
	return 0;
}
