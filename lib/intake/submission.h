/* Checks and stores a submission, for the form, the API, popcorn-cli and podium-admin. */
#ifndef PODIUM_LIB_INTAKE_SUBMISSION_H
#define PODIUM_LIB_INTAKE_SUBMISSION_H

#include "lib/base/arena.h"
#include "lib/base/error.h"
#include "lib/database/database.h"
#include "lib/leaderboard/leaderboard.h"
#include "lib/submission/file.h"

#include <stdbool.h>
#include <stdint.h>

struct submission_request {
	int64_t user_id;
	/* The file's name or path, as the client sent it; only the last component is stored. NULL or
	 * "": pasted code. */
	const char *file_name;
	const char *source;
	size_t length;    /* unchecked bytes */
	const char *mode; /* "test", "benchmark", "ranked", "profile" */
	const char **gpus;
	size_t gpu_count; /* 0: the GPUs in the header, else the leaderboard's only one */
	/* `gpus` replace the GPUs in the header; otherwise both must be the same */
	bool gpus_win;
	const struct actor *by;      /* who submits for the user; NULL: the user */
	const struct config *config; /* has the site's quotas; NULL: no site quotas apply */
};

/* Checks the request and stores the submission, with one job per GPU, in one transaction. Errors
 * have the field file, code, mode, gpu or leaderboard. ERROR_INPUT for:
 * - a leaderboard that is closed, archived or without a GPU
 * - a deadline that has passed by the database's clock; a leaderboard with practice accepts such a
 *   submission but never ranks it
 * - a file that submission_file_take rejects
 * - an unknown mode
 * - a header `#!POPCORN leaderboard` that names another leaderboard
 * - GPUs that differ between header and form, or that the leaderboard lacks
 *
 * ERROR_FORBIDDEN for a banned user. ERROR_LIMIT if a quota (lib/leaderboard/quota.h) is used
 * up. */
int submission_create(struct database *db, struct arena *arena,
	const struct leaderboard *leaderboard, const struct submission_request *request, int64_t *id,
	struct error *error);

/* Lets `by` submit for the user `author`. ERROR_INPUT with the field `author`: there is no such
 * user, or the user may not see the leaderboard. The author's deadline and quotas apply. Adds an
 * entry to the audit log. */
int submission_for_user(struct database *db, struct arena *arena,
	const struct leaderboard *leaderboard, const struct actor *by, const char *author,
	struct submission_request *request, struct error *error);

/* Like submission_for_user, for a user `by`. If `author` is "" or the user's own name, the user
 * submits for themselves. ERROR_FORBIDDEN: `by` may not change the leaderboard. */
int submission_choose_author(struct database *db, struct arena *arena,
	const struct leaderboard *leaderboard, const struct actor *by, const char *author,
	struct submission_request *request, struct error *error);

/* SQL expression: the name of whoever submitted for the author; NULL: the author did. podium-admin
 * is not a user, so its name is fixed here. */
#define SQL_SUBMITTED_BY(submission) \
	"IF(" submission ".submitted_by = 0, 'podium-admin', (SELECT w.name FROM users w " \
	"WHERE w.id = " submission ".submitted_by))"

/* Runs submission_create's checks and stores nothing. Passes the result of each check to `faulted`,
 * which returns 0 to continue with the next check. */
typedef int submission_faulted(void *context, int rc);
int submission_check(struct database *db, struct arena *arena,
	const struct leaderboard *leaderboard, const struct submission_request *request,
	submission_faulted *faulted, void *context, struct error *error);

#endif
