#include "cgi/page/task_view.h"

#include "cgi/http/thread_cache.h"
#include "cgi/render/markdown.h"
#include "lib/base/scope.h"
#include "lib/base/text.h"

#include <ctype.h>
#include <string.h>

enum { description_heading = 3 }; /* below the page's title and "Description" */

struct version_row {
	const char *definition, *description, *engine, *engine_reason;
};
static const struct column VERSION_COLUMNS[] = {
	TEXT(struct version_row, definition),
	TEXT(struct version_row, description),
	TEXT(struct version_row, engine),
	TEXT(struct version_row, engine_reason),
};
static const struct statement VERSION = SELECT(struct version_row, VERSION_COLUMNS,
	"SELECT v.definition, v.description, e.engine, e.reason AS engine_reason FROM task_versions v "
	"LEFT JOIN task_engines e ON e.task_version_id = v.id AND e.gpu = '' WHERE v.id = ?");

static const struct column FILE_COLUMNS[] = {
	TEXT(struct task_view_file, role),
	TEXT(struct task_view_file, path),
	INTEGER(struct task_view_file, size),
	BLOB(struct task_view_file, sha256),
};
static const struct statement FILES = SELECT(struct task_view_file, FILE_COLUMNS,
	"SELECT f.role, f.path, b.size, f.sha256 FROM task_files f JOIN blobs b ON b.sha256 = f.sha256 "
	"WHERE f.task_version_id = ? ORDER BY f.role, f.path");

/* The files that a submission runs with. A larger one is no file that people read. */
struct source_row {
	const char *path;
	struct blob_value content;
};
static const struct column SOURCE_COLUMNS[] = { TEXT(struct source_row, path),
	BLOB(struct source_row, content) };
static const struct statement SOURCES = SELECT(struct source_row, SOURCE_COLUMNS,
	"SELECT f.path, b.content FROM task_files f JOIN blobs b ON b.sha256 = f.sha256 "
	"WHERE f.task_version_id = ? AND f.role = 'file' AND b.size <= 200000 ORDER BY f.path");

/* ---- cases ---- */

static char *trimmed_text(struct arena *arena, const char *text, size_t length)
{
	while (length && isspace((unsigned char)*text))
		text++, length--;
	while (length && isspace((unsigned char)text[length - 1]))
		length--;
	return arena_strndup(arena, text, length);
}

/* Takes one `name: value;` from the front of `*line`. Returns false at the end. */
static bool next_argument(
	struct arena *arena, const char **line, const char **name, const char **value)
{
	size_t length = strcspn(*line, ";"), colon = strcspn(*line, ":;");
	if (!length)
		return false;
	*name = trimmed_text(arena, *line, colon);
	*value = colon < length ? trimmed_text(arena, *line + colon + 1, length - colon - 1) : "";
	*line += length + ((*line)[length] == ';');
	return true;
}

static size_t column_of(struct case_table *table, const char *name)
{
	size_t column = 0;
	while (column < table->column_count && strcmp(table->columns[column], name) != 0)
		column++;
	return column;
}

static void find_columns(
	struct arena *arena, struct case_table *table, const char *const *lines, size_t count)
{
	const char *name, *value;
	size_t most = 0;
	for (size_t i = 0; i < count; i++)
		for (const char *line = lines[i]; next_argument(arena, &line, &name, &value);)
			most++;
	table->columns = arena_array(arena, const char *, most + 1);
	for (size_t i = 0; i < count; i++)
		for (const char *line = lines[i]; next_argument(arena, &line, &name, &value);)
			if (column_of(table, name) == table->column_count)
				table->columns[table->column_count++] = name;
}

struct case_table case_table_make(struct arena *arena, const char *const *lines, size_t count)
{
	struct case_table table = { .row_count = count };
	const char *name, *value;
	find_columns(arena, &table, lines, count);
	table.cells = arena_array(arena, const char *, count *table.column_count + 1);
	for (size_t i = 0; i < count * table.column_count; i++)
		table.cells[i] = "";
	for (size_t i = 0; i < count; i++)
		for (const char *line = lines[i]; next_argument(arena, &line, &name, &value);)
			table.cells[i * table.column_count + column_of(&table, name)] = value;
	return table;
}

/* ---- one version ---- */

static const char *ranking_sentence(const struct task *task)
{
	static const char *const sentences[] = {
		[RANKING_BY_LAST] = "The mean time of the last benchmark shape; the others are not timed.",
		[RANKING_BY_MEAN] = "The arithmetic mean of the mean times of all benchmark shapes.",
		[RANKING_BY_GEOM] = "The geometric mean of the mean times of all benchmark shapes.",
	};
	return task->benchmark_count == 1 ? "The mean time of the one benchmark shape."
									  : sentences[task->ranking_by];
}

static int read_definition(
	struct arena *arena, const char *definition, struct task **task, struct error *error)
{
	json_t *json = json_loads(definition, 0, NULL);
	if (!json)
		return fail(error, ERROR_SYSTEM, "The definition of a task version is not JSON.");
	int rc = task_from_json(arena, json, task, error);
	json_decref(json);
	/* Podium checked the task before it stored it, so an error here is not the visitor's fault. */
	return rc == ERROR_INPUT ? ERROR_SYSTEM : rc;
}

static const char *description_html(struct arena *arena, const char *markdown)
{
	cleanup_buffer struct buffer html = { 0 };
	markdown_render(&html, markdown, strlen(markdown), description_heading);
	return arena_strdup(arena, buffer_string(&html));
}

static const char *copy_text(struct arena *arena, const char *text)
{
	return text ? arena_strdup(arena, text) : NULL;
}

static bool is_short_text(const struct blob_value *content)
{
	enum { most_bytes = 16 << 10, most_lines = 400 };
	const char *text = content->bytes;
	size_t lines = 0;
	for (size_t i = 0; i < content->length && content->length <= most_bytes; i++)
		lines += text[i] == '\n';
	return content->length && content->length <= most_bytes && lines <= most_lines
		&& text_is_utf8(text, content->length) && !memchr(text, '\0', content->length);
}

/* Only a short reference is shown beside the description. */
static void keep_reference(
	struct arena *arena, struct task_view *view, const struct source_row *sources, size_t count)
{
	for (size_t i = 0; i < count && !view->reference; i++)
		if (strncmp(sources[i].path, "reference", strlen("reference")) == 0
			&& is_short_text(&sources[i].content)) {
			view->reference_path = arena_strdup(arena, sources[i].path);
			view->reference =
				arena_strndup(arena, sources[i].content.bytes, sources[i].content.length);
		}
}

/* Copies the texts, because the view may be kept much longer than the files that they are from. */
static int read_starter(struct request *request, struct arena *arena, struct task_view *view)
{
	cleanup_arena struct arena *temporary = arena_new();
	struct source_row *sources;
	size_t count;
	int rc = database_rows(
		request->db, temporary, &SOURCES, &sources, &count, request->error, "i", view->version_id);
	if (rc)
		return rc;
	keep_reference(arena, view, sources, count);
	struct task_content *files = arena_array(temporary, struct task_content, count + 1);
	for (size_t i = 0; i < count; i++)
		files[i] = (struct task_content){ ROLE_FILE, sources[i].path, sources[i].content.bytes,
			sources[i].content.length };
	struct task_starter starter = task_starter_make(temporary, view->task, files, count);
	view->starter = (struct task_starter){ copy_text(arena, starter.signature),
		copy_text(arena, starter.types), copy_text(arena, starter.code) };
	return 0;
}

static int read_task_view(struct request *request, struct arena *arena, struct task_view *view)
{
	struct version_row row;
	struct task *task;
	int rc =
		database_row(request->db, arena, &VERSION, &row, request->error, "i", view->version_id);
	if (!rc)
		rc = read_definition(arena, row.definition, &task, request->error);
	if (!rc)
		rc = database_rows(request->db, arena, &FILES, &view->files, &view->file_count,
			request->error, "i", view->version_id);
	if (rc)
		return rc;
	view->task = task;
	rc = read_starter(request, arena, view);
	if (rc)
		return rc;
	view->engine = row.engine;
	view->engine_reason = row.engine_reason;
	view->description_html = description_html(arena, row.description);
	view->tests = case_table_make(arena, task->tests, task->test_count);
	view->benchmarks = case_table_make(arena, task->benchmarks, task->benchmark_count);
	view->ranked_by = ranking_sentence(task);
	return 0;
}

/* ---- the cache of a thread ---- */

enum { cached_versions = 16 };
struct cached_task {
	struct arena *arena;
	struct task_view view;
};

static void free_cached_tasks(void *value)
{
	struct cached_task *cached = value;
	for (size_t i = 0; i < cached_versions; i++)
		arena_free(cached[i].arena);
	free(cached);
}

static struct thread_cache cache =
	THREAD_CACHE(cached_versions * sizeof(struct cached_task), free_cached_tasks);

static int read_uncached(struct request *request, int64_t task_version_id, int64_t revision,
	const struct task_view **view)
{
	struct task_view *fresh = arena_alloc(request->arena, sizeof *fresh);
	fresh->version_id = task_version_id;
	fresh->revision = revision;
	*view = fresh;
	return read_task_view(request, request->arena, fresh);
}

int task_view_get(struct request *request, int64_t task_version_id, int64_t revision,
	const struct task_view **view)
{
	struct cached_task *cached = thread_cache_get(&cache);
	if (!cached)
		return read_uncached(request, task_version_id, revision, view);
	struct cached_task *slot = &cached[task_version_id % cached_versions];
	*view = &slot->view;
	if (slot->arena && slot->view.version_id == task_version_id && slot->view.revision == revision)
		return 0;
	arena_free(slot->arena);
	*slot = (struct cached_task){ .arena = arena_new(),
		.view = { .version_id = task_version_id, .revision = revision } };
	int rc = read_task_view(request, slot->arena, &slot->view);
	if (rc) {
		arena_free(slot->arena);
		slot->arena = NULL;
	}
	return rc;
}
