/* One version of a task as pages show it: its description as HTML, its cases as tables, its files.
 * A revision of a version is immutable, so each thread caches the last few. */
#ifndef PODIUM_CGI_PAGE_TASK_VIEW_H
#define PODIUM_CGI_PAGE_TASK_VIEW_H

#include "cgi/http/request.h"
#include "lib/task/starter.h"

struct case_table { /* one row per case, one column per argument */
	const char **columns;
	size_t column_count;
	const char **cells; /* row by row; "" where a case lacks the argument */
	size_t row_count;
};

struct task_view_file {
	const char *role, *path;
	int64_t size;
	struct blob_value sha256;
};

struct task_view {
	int64_t version_id, revision;
	const struct task *task;
	const char *description_html;
	struct case_table tests, benchmarks;
	struct task_view_file *files;
	size_t file_count;     /* sorted by role and path */
	const char *ranked_by; /* a sentence */
	struct task_starter starter;
	/* The reference, the answers that are right. NULL: no file has that name, or it is no short
	 * text. */
	const char *reference_path, *reference;
	/* The engine that follows from the task's files, and the reason. For some GPU models, dry runs
	 * may have led to another engine. NULL: not stored yet. */
	const char *engine, *engine_reason;
};

/* The thread owns the view; it is valid until the thread's next request. */
int task_view_get(struct request *request, int64_t task_version_id, int64_t revision,
	const struct task_view **view);

/* Parses lines such as `size: 128; seed: 5` into a table in `arena`. */
struct case_table case_table_make(struct arena *arena, const char *const *lines, size_t count);

#endif
