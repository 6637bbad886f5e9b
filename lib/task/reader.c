#include "lib/task/reader.h"

#include "lib/base/buffer.h"
#include "lib/base/nearest.h"
#include "lib/base/quote.h"
#include "lib/base/scope.h"
#include "lib/base/text.h"
#include "lib/files/path_rule.h"

#include <stdarg.h>
#include <string.h>

void task_fault(struct task_reader *reader, const struct yaml_node *at, const char *key,
	const char *format, ...)
{
	if (reader->faults->count == task_most_faults)
		return;
	char sentence[800];
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(sentence, sizeof sentence, format, arguments);
	va_end(arguments);
	cleanup_buffer struct buffer out = { 0 };
	buffer_text(&out, reader->name);
	if (at)
		buffer_printf(&out, " line %d", at->line);
	if (key)
		buffer_printf(&out, ", %s%s", reader->prefix, key);
	buffer_printf(&out, ": %s", sentence);
	reader->faults->sentences[reader->faults->count++] = arena_strdup(reader->arena, out.data);
}

/* ---- keys ---- */

enum { most_texts = 512 };

static const char *nearest_key(const char *word, const struct task_key *keys, size_t count)
{
	const char *best = NULL;
	size_t least = 3; /* do not suggest a key that differs in three letters */
	for (size_t i = 0; i < count; i++) {
		size_t apart = nearest_distance(word, keys[i].name);
		if (apart < least && apart < strlen(keys[i].name)) {
			least = apart;
			best = keys[i].name;
		}
	}
	return best;
}

static const struct task_key *find_key(const struct task_key *keys, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(keys[i].name, name) == 0)
			return &keys[i];
	return NULL;
}

static void refuse_key(struct task_reader *reader, const struct yaml_node *key, const char *what,
	const struct task_key *keys, size_t count)
{
	const char *shown = quote(reader->arena, key->text),
			   *near = nearest_key(key->text, keys, count);
	if (near) {
		task_fault(reader, key, NULL, "%s has no key %s; did you mean %s?", what, shown, near);
		return;
	}
	cleanup_buffer struct buffer known = { 0 };
	for (size_t i = 0; i < count; i++)
		buffer_printf(&known, "%s%s", i ? ", " : "", keys[i].name);
	task_fault(reader, key, NULL, "%s has no key %s%s; known are %s.", what, shown,
		strcmp(key->text, "name") == 0 ? " (a leaderboard gets its name when it is created)" : "",
		buffer_string(&known));
}

void task_read_map(struct task_reader *reader, const struct yaml_node *map, const char *what,
	const struct task_key *keys, size_t count, void *base)
{
	if (map->kind != YAML_MAP) {
		task_fault(reader, map, NULL, "%s must be a map (`key: value` lines), not %s.", what,
			yaml_kind_name(map->kind));
		return;
	}
	for (const struct yaml_node *child = map->first; child; child = child->next)
		if (!find_key(keys, count, child->key->text))
			refuse_key(reader, child->key, what, keys, count);
	for (size_t i = 0; i < count; i++) {
		const struct yaml_node *value = yaml_find(map, keys[i].name);
		if (value)
			keys[i].read(reader, value, &keys[i], base);
		else if (keys[i].required)
			task_fault(reader, map, NULL, "%s lacks the key %s.", what, keys[i].name);
	}
}

/* ---- values ---- */

static void *member_at(void *base, size_t offset)
{
	return (char *)base + offset;
}

static const char *check_text(
	struct task_reader *reader, const struct yaml_node *value, const struct task_key *key)
{
	if (value->kind != YAML_TEXT) {
		task_fault(reader, value, key->name,
			"expected text, not %s%s%s; put it in quotes if it is meant as text.",
			yaml_kind_name(value->kind), *value->text ? " " : "",
			*value->text ? quote(reader->arena, value->text) : "");
		return NULL;
	}
	const char *fault = key->rule ? key->rule(value->text) : NULL;
	if (fault)
		task_fault(reader, value, key->name, "%s %s.", quote(reader->arena, value->text), fault);
	return fault ? NULL : value->text;
}

void task_read_text(struct task_reader *reader, const struct yaml_node *value,
	const struct task_key *key, void *base)
{
	*(const char **)member_at(base, key->offset) = check_text(reader, value, key);
}

void *task_read_array(struct task_reader *reader, const struct yaml_node *node,
	const struct task_key *key, void *base, size_t element_bytes)
{
	if (node->kind != YAML_LIST) {
		task_fault(reader, node, key->name,
			"expected a list (lines that begin with \"- \"), not %s.", yaml_kind_name(node->kind));
		return NULL;
	}
	void *array = arena_alloc(reader->arena, element_bytes * (node->count + 1));
	/* memcpy works for any element type, because all object pointers have the same size here. */
	memcpy(member_at(base, key->offset), &array, sizeof array);
	return array;
}

void task_read_texts(struct task_reader *reader, const struct yaml_node *value,
	const struct task_key *key, void *base)
{
	if (value->kind == YAML_LIST && value->count > most_texts) {
		task_fault(reader, value, key->name, "the list has %zu entries; at most %d are allowed.",
			value->count, most_texts);
		return;
	}
	const char **texts = task_read_array(reader, value, key, base, sizeof *texts);
	size_t count = 0;
	for (const struct yaml_node *child = texts ? value->first : NULL; child; child = child->next) {
		const char *text = check_text(reader, child, key);
		for (size_t i = 0; i < count && text && !key->may_repeat; i++)
			if (strcmp(texts[i], text) == 0) {
				task_fault(
					reader, child, key->name, "%s occurs twice.", quote(reader->arena, text));
				text = NULL;
			}
		if (text)
			texts[count++] = text;
	}
	*(size_t *)member_at(base, key->count_offset) = count;
}

void task_read_whole(struct task_reader *reader, const struct yaml_node *value,
	const struct task_key *key, void *base)
{
	if (value->kind != YAML_INTEGER || value->integer < key->least || value->integer > key->most)
		task_fault(reader, value, key->name, "expected a whole number from %lld to %lld, not %s.",
			(long long)key->least, (long long)key->most,
			*value->text ? quote(reader->arena, value->text) : yaml_kind_name(value->kind));
	else
		*(int64_t *)member_at(base, key->offset) = value->integer;
}

void task_read_truth(struct task_reader *reader, const struct yaml_node *value,
	const struct task_key *key, void *base)
{
	if (value->kind != YAML_BOOL)
		task_fault(reader, value, key->name, "expected true or false, not %s.",
			*value->text ? quote(reader->arena, value->text) : yaml_kind_name(value->kind));
	else
		*(bool *)member_at(base, key->offset) = value->truth;
}

void task_read_choice(struct task_reader *reader, const struct yaml_node *value,
	const struct task_key *key, void *base)
{
	cleanup_buffer struct buffer known = { 0 };
	for (int i = 0; key->choices[i]; i++) {
		if (value->kind == YAML_TEXT && strcmp(value->text, key->choices[i]) == 0) {
			*(int *)member_at(base, key->offset) = i;
			return;
		}
		buffer_printf(
			&known, "%s%s", i ? (key->choices[i + 1] ? ", " : " or ") : "", key->choices[i]);
	}
	task_fault(reader, value, key->name, "expected %s, not %s.", buffer_string(&known),
		*value->text ? quote(reader->arena, value->text) : yaml_kind_name(value->kind));
}

/* ---- files ---- */

const char *task_file_name_fault(const char *text)
{
	if (text[0] == '-')
		return "begins with \"-\", which commands take for an option";
	return path_fault(text, strlen(text));
}

const struct file *task_file_content(const struct task_reader *reader, const struct task_file *file)
{
	const char *stock = task_stock_name(file);
	if (file->is_submission)
		return NULL;
	return stock ? fileset_find(reader->stock, stock) : fileset_find(reader->upload, file->source);
}

const char *task_stock_name(const struct task_file *file)
{
	static const char stock[] = "@STOCK@";
	size_t length = sizeof stock - 1;
	if (strncmp(file->source, stock, length) != 0)
		return NULL;
	if (!file->source[length])
		return file->name;
	return file->source[length] == ':' ? file->source + length + 1 : NULL;
}

const char *task_resolve_path(struct arena *arena, const char *folder, const char *source)
{
	char *path = arena_printf(arena, "%s%s", folder, source);
	size_t out = 0;
	for (const char *part = path; *part;) {
		size_t length = strcspn(part, "/");
		const char *next = part + length + (part[length] == '/');
		if (length == 2 && part[0] == '.' && part[1] == '.') {
			if (!out)
				return NULL;
			while (out && path[out - 1] != '/')
				out--;
			out -= out > 0;
		} else if (length && !(length == 1 && part[0] == '.')) {
			if (out)
				path[out++] = '/';
			memmove(path + out, part, length);
			out += length;
		}
		part = next;
	}
	path[out] = '\0';
	return path;
}

/* Finds a file of the same name in another folder, which the author usually meant. */
static const struct file *same_name_elsewhere(const struct fileset *upload, const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	for (size_t i = 0; i < upload->count; i++) {
		const char *other = strrchr(upload->files[i].path, '/');
		if (strcmp(other ? other + 1 : upload->files[i].path, name) == 0)
			return &upload->files[i];
	}
	return NULL;
}

const struct file *task_source(
	struct task_reader *reader, const struct yaml_node *at, const char *key, const char *source)
{
	const char *shown = quote(reader->arena, source);
	if (!*source || source[0] == '/' || strchr(source, '\\')) {
		task_fault(reader, at, key,
			"the source %s must be a path relative to %s, with \"/\" between folders.", shown,
			reader->name);
		return NULL;
	}
	const char *path = task_resolve_path(reader->arena, reader->folder, source);
	if (!path) {
		task_fault(reader, at, key,
			"the source %s leads out of the upload; put the file into the task's folder, or pack "
			"the folder above it.",
			shown);
		return NULL;
	}
	const struct file *file = fileset_find(reader->upload, path);
	const struct file *other = file ? NULL : same_name_elsewhere(reader->upload, path);
	if (other)
		task_fault(reader, at, key, "the source %s is not in the upload; there is %s.", shown,
			quote(reader->arena, other->path));
	else if (!file)
		task_fault(reader, at, key, "the source %s is not in the upload.", shown);
	return file;
}
