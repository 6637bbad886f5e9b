/* Data for the pages about the versions of a task. */
#ifndef PODIUM_CGI_ADMIN_VERSIONS_H
#define PODIUM_CGI_ADMIN_VERSIONS_H

#include "cgi/render/diff.h"
#include "lib/leaderboard/leaderboard.h"

struct version_row {
	int64_t id, number, revision, created_at_ms, is_current, draft;
	const char *creator; /* NULL: none */
	int64_t files, submissions, ranked, waiting;
	const char *engine, *engine_reason; /* the default for GPU models; NULL: not decided */
};

/* Reads the leaderboard at the first `*` of the address and its versions, newest first. Fails if
 * the viewer may not change the leaderboard. */
struct request;
int versions_read(struct request *request, struct leaderboard *leaderboard,
	struct version_row **versions, size_t *count);

struct versions_view {
	const struct leaderboard *leaderboard;
	const struct version_row *versions;
	size_t count; /* newest first */
};

/* The change of one file. */
struct file_change {
	const char *role, *path;
	const char *what;     /* "added", "removed", "changed" */
	const char *obstacle; /* why there is no diff, or NULL */
	struct diff diff;
	struct diff_row *rows;
	size_t row_count;
	bool is_cut;
};

/* Compares two contents of a file; bytes NULL: there is no such file. `change` points into both. */
void file_change_make(struct arena *arena, const char *role, const char *path,
	const struct blob_value *before, const struct blob_value *after, struct file_change *change);

struct version_diff_view {
	const struct leaderboard *leaderboard;
	const struct version_row *versions;
	size_t count;
	int64_t from, to;
	const char *before, *after; /* "version 1", "version 2" */
	const struct file_change *changes;
	size_t change_count;
};

struct switch_form {
	const struct leaderboard *leaderboard;
	struct version_row before, after;
};

struct clone_form {
	const struct leaderboard *leaderboard;
	const char *name, *name_error;
};

#endif
