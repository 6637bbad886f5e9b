/* Private to lib/ranking: the time of a file. It is the mean of all ranked results of equal source
 * on one task version and GPU model, whoever submitted it. Submitting the same file again therefore
 * adds a measurement, but gives no second chance for a lucky one.
 *
 * The error is the larger of two: the error of the mean from the results' own errors, and the
 * standard error of the mean from how much the results differ. If half of the interval exceeds 1 %
 * + 0.4 us, the interval's upper end becomes the time, as for a single result (task_charge_noise).
 * The CPU device is an exception, because its times vary much.
 *
 * Half of the interval is 1.96 errors for any number of results. By Student's t the interval of two
 * results would be 6.5 times as wide, although their own errors tell how precise they are.
 *
 * Results of withdrawn submissions count, because a user could otherwise withdraw the slow ones.
 * Those of deleted accounts count, too: submissions.file_sha256 keeps the hash of the source after
 * the source was deleted. */
#ifndef PODIUM_LIB_RANKING_FILE_TIME_H
#define PODIUM_LIB_RANKING_FILE_TIME_H

#include "lib/base/error.h"
#include "lib/database/database.h"
#include "lib/ranking/key.h"

#include <stdint.h>

/* Recomputes the time of the file that a job ran, on the job's device. Runs inside a transaction
 * that has locked the ranking. If the file has no result left, its row is deleted. */
int file_time_refresh(struct database *db, int64_t job_id, struct error *error);

/* Recompute the times of all files of a ranking or of a leaderboard, inside a transaction and under
 * the locks of the rankings. Rows keep their ids. */
int file_time_refresh_ranking(
	struct database *db, const struct ranking_key *key, struct error *error);
int file_time_rebuild(struct database *db, int64_t leaderboard_id, struct error *error);

/* SQL that joins the time of the file, named f, to a submission and its job. */
#define SQL_JOIN_FILE_TIME(submission, job) \
	"JOIN file_times f ON f.task_version_id = " submission ".task_version_id AND f.gpu = " job \
	".gpu AND f.sha256 = " submission ".file_sha256 "

/* The end of a statement, after FROM: all jobs whose file has a time, with the tables named s, j
 * and f, and a WHERE to which conditions can be added. */
#define SQL_AND_FILE_TIME SQL_JOIN_FILE_TIME("s", "j")
#define SQL_JOBS_WITH_FILE_TIMES \
	"submissions s JOIN jobs j ON j.submission_id = s.id " SQL_AND_FILE_TIME "WHERE "

/* A table `who` of the users who have submitted the same file as the submission that the parameter
 * names. The forced indexes here and below keep a statement from reading the whole version for each
 * user. */
#define SQL_USERS_OF_FILE \
	"(SELECT DISTINCT u.user_id, u.leaderboard_id, u.task_version_id FROM submissions one " \
	"  JOIN submissions u FORCE INDEX (submissions_file) ON u.file_sha256 = one.file_sha256 " \
	"  AND u.task_version_id = one.task_version_id " \
	"  WHERE one.id = ?) who "

/* All jobs of these users on the same task version and on one GPU model, the second parameter. */
#define SQL_JOBS_OF_USERS_OF_FILE \
	SQL_USERS_OF_FILE \
	"STRAIGHT_JOIN submissions s FORCE INDEX (submissions_history) ON s.user_id = who.user_id " \
	"AND s.leaderboard_id = who.leaderboard_id AND s.task_version_id = who.task_version_id " \
	"STRAIGHT_JOIN jobs j ON j.submission_id = s.id AND j.gpu = ? STRAIGHT_" SQL_AND_FILE_TIME \
	"WHERE TRUE"

/* All jobs, whoever sent them, of all files that these users have sent. The parameters are the
 * same. */
#define SQL_RESULTS_OF_USERS_OF_FILE \
	"(SELECT DISTINCT own.file_sha256, own.task_version_id FROM " SQL_USERS_OF_FILE \
	"  STRAIGHT_JOIN submissions own FORCE INDEX (submissions_history) " \
	"  ON own.user_id = who.user_id " \
	"  AND own.leaderboard_id = who.leaderboard_id " \
	"  AND own.task_version_id = who.task_version_id) file " \
	"STRAIGHT_JOIN submissions s FORCE INDEX (submissions_file) " \
	"ON s.file_sha256 = file.file_sha256 " \
	"AND s.task_version_id = file.task_version_id " \
	"STRAIGHT_JOIN jobs j ON j.submission_id = s.id AND j.gpu = ? STRAIGHT_" SQL_AND_FILE_TIME \
	"WHERE TRUE"

#endif
