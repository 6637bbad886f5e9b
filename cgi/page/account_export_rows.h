/* Statements that read what Podium stores about a user, for the copy in
 * cgi/page/account_export.h. They leave out secrets such as hashes, other users' data, and what
 * only admins may see. */
#ifndef PODIUM_CGI_PAGE_ACCOUNT_EXPORT_ROWS_H
#define PODIUM_CGI_PAGE_ACCOUNT_EXPORT_ROWS_H

#include "lib/database/database.h"

/* The statement's rows become a JSON array under `key`. An entry with NULL as key ends an array of
 * sections. */
struct export_section {
	const char *key;
	const struct statement *statement;
};

extern const struct export_section EXPORT_SECTIONS[]; /* each binds the user's ID */

/* Statements for rows that belong to a range of submissions. Each binds the user; the first
 * submission's leaderboard twice and its ID; then the same for the last submission. The first
 * column is the submission ID, which sorts the rows and is left out of the JSON. */
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
	const char *file_name, *dialect, *note;
	int64_t submitted_at_ms, withdrawn_at_ms, hidden_at_ms;
	const char *hidden_reason;
	struct blob_value source;
};
extern const struct statement EXPORT_SUBMISSIONS;

/* A user's profiler files, and the gzip data of one file in parts. */
struct exported_file {
	int64_t id, submission;
	const char *gpu, *name;
	int64_t bytes;
};
struct exported_part {
	struct blob_value content;
};
extern const struct statement EXPORT_FILES, EXPORT_FILE_PARTS;

#endif
