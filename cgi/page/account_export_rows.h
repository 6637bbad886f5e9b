/* What is stored about a user, for the copy of it (cgi/export.h): which rows, and under which
 * names. Nothing secret is among them, such as hashes, and nothing that is others' or for admins
 * alone. */
#ifndef PODIUM_CGI_EXPORT_ROWS_H
#define PODIUM_CGI_EXPORT_ROWS_H

#include "lib/database.h"

/* Rows that become an array under `key`. The array of sections ends with one without a key. */
struct export_section {
	const char *key;
	const struct statement *statement;
};

extern const struct export_section EXPORT_SECTIONS[]; /* each binds the user's number */

/* What belongs to submissions from one to another: binds the user, of the first one the leaderboard
 * twice and the number, and of the last one the same. The first column is the submission, in whose
 * order the rows are; no array has it. */
enum { export_parts = 6 };
extern const struct export_section EXPORT_PARTS[export_parts + 1];

/* The next submissions of a user in order of leaderboard and number: binds the user, the
 * leaderboard of the last one twice, its number, and how many. */
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

/* Files that profilers left, of a user; and the gzip of one, in parts. */
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
