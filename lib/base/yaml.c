#include "lib/base/yaml.h"

#include "lib/base/quote.h"
#include "lib/base/scope.h"
#include "lib/base/text.h"

#include <string.h>
#include <yaml.h>

struct reader {
	yaml_parser_t parser;
	yaml_event_t event; /* the current one */
	struct yaml_scalar_rules *rules;
	struct arena *arena;
	const char *name;
	size_t nodes;
	struct error *error;
};

static int current_line(const struct reader *reader)
{
	return (int)reader->event.start_mark.line + 1;
}

/* Fails with libyaml's own sentence, which says what it expected and what it found. */
static int refuse_syntax(struct reader *reader)
{
	const yaml_parser_t *parser = &reader->parser;
	const char *problem = parser->problem ? parser->problem : "it cannot be read";
	if (parser->error == YAML_MEMORY_ERROR)
		return fail(reader->error, ERROR_SYSTEM, "%s: out of memory.", reader->name);
	if (parser->error == YAML_READER_ERROR)
		return fail(reader->error, ERROR_INPUT, "%s is not YAML: %s at byte %zu.", reader->name,
			problem, parser->problem_offset);
	return fail(reader->error, ERROR_INPUT, "%s line %zu, column %zu is not YAML: %s%s%s.",
		reader->name, parser->problem_mark.line + 1, parser->problem_mark.column + 1, problem,
		parser->context ? " " : "", parser->context ? parser->context : "");
}

static int read_event(struct reader *reader)
{
	yaml_event_delete(&reader->event);
	return yaml_parser_parse(&reader->parser, &reader->event) ? 0 : refuse_syntax(reader);
}

static int refuse_value(struct reader *reader, const char *what)
{
	return fail(
		reader->error, ERROR_INPUT, "%s line %d: %s", reader->name, current_line(reader), what);
}

/* Refuses YAML features that a task does not need and that few authors know. */
static int check_event(struct reader *reader)
{
	const yaml_event_t *event = &reader->event;
	const void *anchor = NULL, *tag = NULL;
	switch (event->type) {
	case YAML_ALIAS_EVENT:
		return refuse_value(reader, "aliases (*name) are not allowed; write the value out.");
	case YAML_SCALAR_EVENT:
		anchor = event->data.scalar.anchor;
		tag = event->data.scalar.tag;
		break;
	case YAML_SEQUENCE_START_EVENT:
		anchor = event->data.sequence_start.anchor;
		tag = event->data.sequence_start.tag;
		break;
	case YAML_MAPPING_START_EVENT:
		anchor = event->data.mapping_start.anchor;
		tag = event->data.mapping_start.tag;
		break;
	default: break;
	}
	if (anchor)
		return refuse_value(
			reader, "anchors (&name) are not allowed; write the value out where it is used.");
	return tag ? refuse_value(reader, "tags (!name) are not allowed; leave it out.") : 0;
}

static int read_scalar(struct reader *reader, struct yaml_node *node)
{
	const char *bytes = (const char *)reader->event.data.scalar.value;
	size_t length = reader->event.data.scalar.length;
	if (memchr(bytes, '\0', length))
		return refuse_value(reader, "there is a NUL character in the text; remove it.");
	node->text = arena_strndup(reader->arena, bytes, length);
	const char *fault = yaml_scalar_resolve(
		reader->rules, node, reader->event.data.scalar.style == YAML_PLAIN_SCALAR_STYLE);
	if (fault)
		return fail(reader->error, ERROR_INPUT, "%s line %d: %s %s.", reader->name,
			current_line(reader), quote(reader->arena, node->text), fault);
	return 0;
}

static int read_node(struct reader *reader, size_t depth, struct yaml_node **out);

static int read_key(struct reader *reader, size_t depth, struct yaml_node **key)
{
	int rc = read_node(reader, depth, key);
	if (rc)
		return rc;
	const char *fault = NULL;
	if ((*key)->kind == YAML_LIST || (*key)->kind == YAML_MAP)
		fault = "a key must be a word, not a list or a map.";
	else if ((*key)->kind == YAML_TEXT && strcmp((*key)->text, "<<") == 0)
		fault = "merge keys (<<) are not allowed; write the values out.";
	if (fault)
		return fail(
			reader->error, ERROR_INPUT, "%s line %d: %s", reader->name, (*key)->line, fault);
	return read_event(reader);
}

static int compare_keys(const void *left, const void *right)
{
	const struct yaml_node *a = *(struct yaml_node *const *)left,
						   *b = *(struct yaml_node *const *)right;
	int order = strcmp(a->key->text, b->key->text);
	return order ? order : a->key->line - b->key->line;
}

static int check_duplicates(struct reader *reader, const struct yaml_node *map)
{
	struct yaml_node **sorted = arena_array(reader->arena, struct yaml_node *, map->count + 1);
	size_t count = 0;
	for (struct yaml_node *child = map->first; child; child = child->next)
		sorted[count++] = child;
	qsort(sorted, count, sizeof *sorted, compare_keys);
	for (size_t i = 1; i < count; i++)
		if (strcmp(sorted[i - 1]->key->text, sorted[i]->key->text) == 0)
			return fail(reader->error, ERROR_INPUT,
				"%s line %d: the key %s occurs twice (first in line %d); keep one of them.",
				reader->name, sorted[i]->key->line, quote(reader->arena, sorted[i]->key->text),
				sorted[i - 1]->key->line);
	return 0;
}

/* Reads the children of a list, or of a map when `end` is a mapping's end. */
static int read_children(
	struct reader *reader, struct yaml_node *parent, yaml_event_type_t end, size_t depth)
{
	struct yaml_node **place = &parent->first;
	int rc = read_event(reader);
	while (!rc && reader->event.type != end) {
		struct yaml_node *key = NULL, *child = NULL;
		if (end == YAML_MAPPING_END_EVENT)
			rc = read_key(reader, depth + 1, &key);
		if (!rc)
			rc = read_node(reader, depth + 1, &child);
		if (rc)
			return rc;
		child->key = key;
		*place = child;
		place = &child->next;
		parent->count++;
		rc = read_event(reader);
	}
	return rc;
}

/* Reads a node with its children. On return `reader->event` is the node's last event. */
static int read_node(struct reader *reader, size_t depth, struct yaml_node **out)
{
	int rc = check_event(reader);
	if (rc)
		return rc;
	if (depth > yaml_most_depth)
		return refuse_value(reader, "lists and maps are nested more than 16 deep.");
	if (++reader->nodes > yaml_most_nodes)
		return refuse_value(reader, "the file has more than 20000 values.");
	struct yaml_node *node = *out = arena_array(reader->arena, struct yaml_node, 1);
	node->line = current_line(reader);
	node->text = "";
	switch (reader->event.type) {
	case YAML_SCALAR_EVENT: return read_scalar(reader, node);
	case YAML_SEQUENCE_START_EVENT:
		node->kind = YAML_LIST;
		return read_children(reader, node, YAML_SEQUENCE_END_EVENT, depth);
	case YAML_MAPPING_START_EVENT:
		node->kind = YAML_MAP;
		rc = read_children(reader, node, YAML_MAPPING_END_EVENT, depth);
		return rc ? rc : check_duplicates(reader, node);
	default: return refuse_value(reader, "there is no value where one belongs.");
	}
}

static int read_document(struct reader *reader, struct yaml_node **root)
{
	int rc = read_event(reader); /* start of the stream */
	if (!rc)
		rc = read_event(reader);
	if (!rc && reader->event.type == YAML_STREAM_END_EVENT)
		return fail(reader->error, ERROR_INPUT, "%s is empty.", reader->name);
	if (!rc)
		rc = read_event(reader); /* past the start of the document */
	if (!rc)
		rc = read_node(reader, 1, root);
	if (!rc)
		rc = read_event(reader); /* end of the document */
	if (!rc)
		rc = read_event(reader);
	if (!rc && reader->event.type != YAML_STREAM_END_EVENT)
		return refuse_value(reader, "a second document begins here; keep only one in a file.");
	return rc;
}

int yaml_parse(struct arena *arena, const char *name, const char *bytes, size_t length,
	struct yaml_node **root, struct error *error)
{
	if (length > yaml_most_bytes)
		return fail(error, ERROR_LIMIT, "%s is larger than 256 KiB.", name);
	size_t good = text_utf8_prefix(bytes, length);
	if (good < length)
		return fail(
			error, ERROR_INPUT, "%s is not UTF-8 from byte %zu on; save it as UTF-8.", name, good);
	struct reader reader = { .arena = arena, .name = name, .error = error };
	if (!yaml_parser_initialize(&reader.parser))
		return fail(error, ERROR_SYSTEM, "%s: out of memory.", name);
	reader.rules = yaml_scalar_rules_new();
	yaml_parser_set_encoding(&reader.parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&reader.parser, (const unsigned char *)bytes, length);
	int rc = read_document(&reader, root);
	yaml_event_delete(&reader.event);
	yaml_parser_delete(&reader.parser);
	yaml_scalar_rules_free(reader.rules);
	return rc;
}

struct yaml_node *yaml_find(const struct yaml_node *map, const char *key)
{
	for (struct yaml_node *child = map->kind == YAML_MAP ? map->first : NULL; child;
		 child = child->next)
		if (strcmp(child->key->text, key) == 0)
			return child;
	return NULL;
}

const char *yaml_kind_name(enum yaml_kind kind)
{
	static const char *const names[] = {
		[YAML_NULL] = "nothing",
		[YAML_BOOL] = "a truth value",
		[YAML_INTEGER] = "a whole number",
		[YAML_REAL] = "a decimal number",
		[YAML_DATE] = "a date",
		[YAML_TEXT] = "text",
		[YAML_LIST] = "a list",
		[YAML_MAP] = "a map",
	};
	return names[kind];
}
