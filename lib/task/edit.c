#include "lib/task/edit.h"

#include "lib/base/buffer.h"
#include "lib/base/scope.h"
#include "lib/task/reader.h"
#include "lib/task/stock.h"

#include <string.h>

/* ---- the upload ---- */

static const char DEFINITION_NAME[] = "task.yml";

static const struct task_content *find_content(
	const struct task_content *contents, size_t count, enum task_file_role role, const char *path)
{
	for (size_t i = 0; i < count; i++)
		if (contents[i].role == role && strcmp(contents[i].path, path) == 0)
			return &contents[i];
	return NULL;
}

/* Adds a file unless the set has it: a file may have several roles, and a sample may be expected in
 * several modes. */
static int add_once(
	struct fileset *set, const char *path, const struct task_content *content, struct error *error)
{
	if (!content)
		return fail(error, ERROR_SYSTEM, "The task's file %.200s is not stored.", path);
	return fileset_find(set, path) ? 0
								   : fileset_add(set, path, content->bytes, content->length, error);
}

static int add_run_files(const struct task *task, const struct task_content *contents, size_t count,
	struct task_upload *made, struct error *error)
{
	int rc = 0;
	for (size_t i = 0; i < task->file_count && !rc; i++) {
		const struct task_file *file = &task->files[i];
		const char *stock = task_stock_name(file);
		if (!file->is_submission)
			rc = add_once(stock ? &made->stock : &made->upload, stock ? stock : file->source,
				find_content(contents, count, ROLE_FILE, file->name), error);
	}
	return rc;
}

static int add_other_files(const struct task *task, const struct task_content *contents,
	size_t count, struct task_upload *made, struct error *error)
{
	int rc = 0;
	for (size_t i = 0; i < task->template_count && !rc; i++)
		rc = add_once(&made->upload, task->templates[i].source,
			find_content(contents, count, ROLE_TEMPLATE, task->templates[i].language), error);
	for (size_t i = 0; i < task->expected_count && !rc; i++)
		rc = add_once(&made->upload, task->expected[i].source,
			find_content(contents, count, ROLE_SAMPLE, task->expected[i].source), error);
	for (size_t i = 0; i < task->baseline_count && !rc; i++)
		rc = add_once(&made->upload, task->baselines[i].source,
			find_content(contents, count, ROLE_BASELINE, task->baselines[i].name), error);
	return rc;
}

static int add_unused_stock(struct task_upload *made, struct error *error)
{
	const struct fileset stock = stock_fileset(made->stock.arena);
	int rc = 0;
	for (size_t i = 0; i < stock.count && !rc; i++)
		if (!fileset_find(&made->stock, stock.files[i].path))
			rc = fileset_add(&made->stock, stock.files[i].path, stock.files[i].bytes,
				stock.files[i].length, error);
	return rc;
}

/* Tries to put task.yml into `folder`, which is "" or ends with a slash. Returns whether the task
 * can then be read without a fault. */
static bool fits_folder(
	const char *folder, const struct task_content *definition, struct task_upload *made)
{
	struct arena *arena = made->upload.arena;
	struct fileset trial = made->upload;
	struct task_faults faults;
	struct task *task;
	const char *path = arena_printf(arena, "%s%s", folder, DEFINITION_NAME);
	if (fileset_add(&trial, path, definition->bytes, definition->length, NULL)
		|| task_check(arena, &trial, &made->stock, &task, &faults))
		return false;
	made->upload = trial;
	made->definition = path;
	return true;
}

/* Adds task.yml in the folder where it was uploaded. Podium does not store that folder, only the
 * paths of the sources in the upload. The sources in task.yml are relative to it, so the right
 * folder is the one from which they can be found: the top, or a folder that contains a file. */
static int add_definition(
	const struct task_content *definition, struct task_upload *made, struct error *error)
{
	struct arena *arena = made->upload.arena;
	if (fits_folder("", definition, made))
		return 0;
	for (size_t i = 0; i < made->upload.count; i++) {
		const char *path = made->upload.files[i].path;
		for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/'))
			if (fits_folder(
					arena_strndup(arena, path, (size_t)(slash + 1 - path)), definition, made))
				return 0;
	}
	/* The definition fits nowhere. This version of Podium may be stricter than the one that stored
	 * the task; the author then sees the faults. */
	made->definition = DEFINITION_NAME;
	return fileset_add(
		&made->upload, DEFINITION_NAME, definition->bytes, definition->length, error);
}

static bool are_same(const struct task *a, const struct task *b)
{
	json_t *left = task_to_json(a), *right = task_to_json(b);
	bool same = left && right && json_equal(left, right);
	json_decref(left);
	json_decref(right);
	return same;
}

/* For a task without task.yml: checks that the upload alone gives the stored task. Its cases may
 * have come from a problem.py, which Podium does not store. */
static int find_single(const struct task *stored, struct task_upload *made, struct error *error)
{
	struct arena *arena = made->upload.arena;
	struct task_faults faults = { 0 };
	struct task *task = arena_array(arena, struct task, 1);
	struct task_reader reader = {
		.arena = arena, .upload = &made->upload, .prefix = "", .task = task, .faults = &faults
	};
	const struct file *code = task_find_single(&reader);
	if (!code || faults.count || task_check(arena, &made->upload, &made->stock, &task, &faults)
		|| !are_same(stored, task))
		return fail(error, ERROR_INPUT,
			"The task has no task.yml, and its single reference alone does not give its shapes. "
			"Upload the changed task on the page Edit.");
	made->definition = code->path;
	made->is_single = true;
	return 0;
}

int task_upload_again(struct arena *arena, const struct task *task,
	const struct task_content *contents, size_t count, struct task_upload *made,
	struct error *error)
{
	const struct task_content *definition =
		find_content(contents, count, ROLE_DEFINITION, DEFINITION_NAME);
	*made = (struct task_upload){ .upload = fileset_make(arena), .stock = fileset_make(arena) };
	int rc = add_run_files(task, contents, count, made, error);
	if (!rc)
		rc = add_other_files(task, contents, count, made, error);
	if (!rc)
		rc = add_unused_stock(made, error);
	if (rc)
		return rc;
	return definition ? add_definition(definition, made, error) : find_single(task, made, error);
}

void task_upload_replace(struct fileset *upload, const char *path, const char *bytes, size_t length)
{
	for (size_t i = 0; i < upload->count; i++)
		if (strcmp(upload->files[i].path, path) == 0) {
			upload->files[i].bytes = bytes;
			upload->files[i].length = length;
		}
}

/* ---- the description ---- */

static const char KEY[] = "description:";

static const char *next_line(const char *line)
{
	const char *end = strchr(line, '\n');
	return end ? end + 1 : line + strlen(line);
}

/* The length of the text without the line ends after the last line. */
static size_t length_of(const char *text)
{
	size_t length = strlen(text);
	while (length && (text[length - 1] == '\n' || text[length - 1] == '\r'))
		length--;
	return length;
}

bool task_descriptions_differ(const char *a, const char *b)
{
	size_t length = length_of(a);
	return length != length_of(b) || memcmp(a, b, length) != 0;
}

/* Writes the description as a literal block, whose lines need no escapes. A block that begins with
 * a space or an empty line must say how far it is indented. */
static void write_description(struct buffer *out, const char *description)
{
	size_t length = length_of(description);
	if (!length) {
		buffer_printf(out, "%s \"\"\n", KEY);
		return;
	}
	buffer_printf(out, "%s |%s\n", KEY, strchr(" \n", *description) ? "2" : "");
	for (const char *line = description, *end = description + length; line < end;) {
		const char *next = next_line(line);
		size_t bytes = (size_t)((next < end ? next - 1 : end) - line);
		if (bytes)
			buffer_printf(out, "  %.*s", (int)bytes, line);
		buffer_text(out, "\n");
		line = next;
	}
}

/* The lines of the key and its value. The value ends before the next line that is not indented.
 * Empty lines before that line do not belong to it. */
struct block {
	const char *begin, *end;
};

static bool find_block(const char *definition, struct block *block)
{
	const char *begin = definition;
	while (*begin && strncmp(begin, KEY, sizeof KEY - 1) != 0)
		begin = next_line(begin);
	if (!*begin)
		return false;
	const char *end = next_line(begin), *after = end;
	while (*after && strchr(" \t\r\n", *after)) {
		bool is_empty = !after[strspn(after, " \t\r")] || after[strspn(after, " \t\r")] == '\n';
		after = next_line(after);
		end = is_empty ? end : after;
	}
	*block = (struct block){ begin, end };
	return true;
}

static const char *replace_block(
	struct arena *arena, const char *definition, const char *bytes, size_t length)
{
	struct block block;
	if (!find_block(definition, &block))
		return NULL;
	cleanup_buffer struct buffer out = { 0 };
	buffer_append(&out, definition, (size_t)(block.begin - definition));
	buffer_append(&out, bytes, length);
	if (length && bytes[length - 1] != '\n' && *block.end)
		buffer_text(&out, "\n");
	buffer_text(&out, block.end);
	return arena_strdup(arena, buffer_string(&out));
}

const char *task_replace_description(
	struct arena *arena, const char *definition, const char *description)
{
	cleanup_buffer struct buffer text = { 0 };
	write_description(&text, description);
	return replace_block(arena, definition, text.data, text.length);
}

const char *task_copy_description(struct arena *arena, const char *definition, const char *source)
{
	struct block block;
	return find_block(source, &block)
		? replace_block(arena, definition, block.begin, (size_t)(block.end - block.begin))
		: NULL;
}
