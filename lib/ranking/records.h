/* Records: how the best times of a ranking improved, in the table `records`.
 *
 * Each line of records belongs to one user or, as line 0, to everybody. A result is a record of the
 * line if it was faster than all results of the line that were ranked before it. A result is ranked
 * when its job finishes or, if it was held, when an admin releases it. Its time is the mean of its
 * file's results up to this one (lib/ranking/file_time.h). Submitting a file again is therefore a
 * record if it makes the mean faster than all times before, whoever sends it. If later results make
 * the mean slower again, the record gets the slower time. Times therefore fall along the line.
 *
 * In line 0 the first user who sent the file holds the record. A record may be due to a result that
 * another user got with the same file. held_id is then the submission with which the record's own
 * user sent the file; pages show this submission (SQL_RECORD_SUBMISSION). The newest record of line
 * 0 is the fastest ranked time now, and its user holds the record, whatever the user's rank is.
 * Pages, feeds, pictures, webhooks and APIs read records from here. */
#ifndef PODIUM_LIB_RANKING_RECORDS_H
#define PODIUM_LIB_RANKING_RECORDS_H

#include "lib/base/error.h"
#include "lib/database/database.h"
#include "lib/ranking/key.h"

#include <stdbool.h>
#include <stdint.h>

enum { records_everybody = 0 };

/* SQL condition: `record` is a record of line 0 in the ranking that the three expressions name.
 * Sorted by SQL_RECORD_ORDER, the newest and thus the fastest comes first. */
#define SQL_IS_RECORD(record, leaderboard_id, version_id, gpu_model) \
	"(" record ".leaderboard_id = " leaderboard_id " AND " record ".task_version_id = " version_id \
	" AND " record ".gpu = " gpu_model " AND " record ".line = 0)"
#define SQL_RECORD_ORDER(record) record ".score_ns"
/* SQL expression: the submission with which the record's user sent the file. */
#define SQL_RECORD_SUBMISSION(record) "COALESCE(" record ".held_id, " record ".submission_id)"
/* SQL expression: the standard error of the record's time, which is that of the file. */
#define SQL_RECORD_ERR(record) \
	"(SELECT timed.score_err_ns FROM submissions own JOIN file_times timed " \
	"ON timed.task_version_id = own.task_version_id AND timed.sha256 = own.file_sha256 " \
	"AND timed.gpu = " record ".gpu WHERE own.id = " record ".submission_id)"
/* SQL expressions: the name of the user who holds the record, and the record's time; NULL: nobody
 * is ranked. */
#define SQL_RECORD_USER(leaderboard_id, version_id, gpu_model) \
	"(SELECT hu.name FROM records held JOIN users hu ON hu.id = held.user_id " \
	"WHERE " SQL_IS_RECORD("held", leaderboard_id, version_id, \
		gpu_model) " ORDER BY " SQL_RECORD_ORDER("held") " LIMIT 1)"
#define SQL_RECORD_NS(leaderboard_id, version_id, gpu_model) \
	"(SELECT held.score_ns FROM records held WHERE " SQL_IS_RECORD("held", leaderboard_id, \
		version_id, gpu_model) " ORDER BY " SQL_RECORD_ORDER("held") " LIMIT 1)"

/* For lib/ranking only: adds a job that has just been ranked to its user's line and to everybody's
 * line, if the job is a record there. A job that ran again is checked again. Runs inside the
 * transaction that ranks the job, under its lock. */
struct record {
	const struct ranking_key *key;
	int64_t user_id, submission_id, job_id;
	bool is_first; /* the first result of its file */
};
int records_insert(struct database *db, const struct record *record, struct error *error);

/* Recomputes everybody's line and the lines of all users of a submission's file from jobs, after
 * the file gained or lost a result. Runs under the same lock. */
int records_refresh(
	struct database *db, const struct ranking_key *key, int64_t submission_id, struct error *error);

/* Recomputes all lines of a ranking. Runs under the same lock. */
int records_refresh_ranking(
	struct database *db, const struct ranking_key *key, struct error *error);

/* Inside a transaction: recomputes all lines of a leaderboard from its jobs. */
int records_rebuild(struct database *db, int64_t leaderboard_id, struct error *error);

#endif
