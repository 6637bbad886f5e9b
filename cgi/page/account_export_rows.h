/* Statements that read what Podium stores about a user, for the copy in cgi/page/account_export.h.
 * They leave out secrets such as hashes, data of other users, and data that only admins may see. */
#ifndef PODIUM_CGI_PAGE_ACCOUNT_EXPORT_ROWS_H
#define PODIUM_CGI_PAGE_ACCOUNT_EXPORT_ROWS_H

#include "lib/database/database.h"

/* A section of the copy: the statement's rows, as a JSON array under `key`. A section with NULL as
 * key ends an array of sections. */
struct export_section {
	const char *key;
	const struct statement *statement;
};

extern const struct export_section EXPORT_SECTIONS[]; /* each binds the user's ID */

/* Statements for rows that belong to a range of submissions, in the order of EXPORT_SUBMISSIONS.
 * Each binds the user; the first submission's leaderboard, twice, and its ID; the last submission's
 * leaderboard, twice, and its ID. The first column is the submission ID, by which the rows are
 * assigned to submissions; the JSON omits it. */
enum { export_parts = 6 };
extern const struct export_section EXPORT_PARTS[export_parts + 1];

/* Reads the user's next submissions, sorted by leaderboard and ID. Binds the user; the leaderboard
 * of the submission read last, twice; that submission's ID; the limit. */
struct exported_submission {
	int64_t id, leaderboard_id;
	const char *leaderboard;
	int64_t version;
	const char *mode;
	int64_t practice;
	const char *file_name, *dialect, *note, *submitted_by;
	int64_t submitted_at_ms, withdrawn_at_ms, hidden_at_ms;
	const char *hidden_reason;
	struct blob_value source;
};
extern const struct statement EXPORT_SUBMISSIONS;

/* Statements for the list of a user's profiler files and plans, and for the parts of one file's
 * gzip data. The latter binds kind, ID, kind and ID. A long plan has no parts, because a piece of
 * the copy must fit into memory. */
struct exported_file {
	const char *kind; /* "profile" or "plan" */
	int64_t id, submission;
	const char *gpu, *name;
	int64_t bytes;
};
struct exported_part {
	struct blob_value content;
};
extern const struct statement EXPORT_FILES, EXPORT_FILE_PARTS;

#endif
