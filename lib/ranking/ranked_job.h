/* Private to lib/ranking: ranked jobs that have passed, and the rows of the table `ranking`. Each
 * row is the best job of its user. Other folders use lib/ranking/ranking.h. */
#ifndef PODIUM_LIB_RANKING_RANKED_JOB_H
#define PODIUM_LIB_RANKING_RANKED_JOB_H

#include "lib/base/arena.h"
#include "lib/base/error.h"
#include "lib/database/database.h"
#include "lib/ranking/key.h"

#include <stdbool.h>
#include <stdint.h>

/* A ranked job. The key of its ranking is (leaderboard_id, task_version_id, gpu). */
struct ranked_job {
	int64_t leaderboard_id, task_version_id;
	const char *gpu;
	int64_t user_id, submission_id, job_id;
	double score_ns, score_err_ns; /* of its file (lib/ranking/file_time.h); NAN: not ranked */
	int64_t submitted_at_ms;
	const char *engine, *dialect;
	int64_t results;        /* number of results of its file */
	int64_t place, is_tied; /* only set for jobs in the ranking */
};

struct ranking_key ranked_job_key(const struct ranked_job *job);

/* Locks a ranking until the transaction ends, so that two changes of it wait for each other. */
int ranked_job_lock(
	struct database *db, struct arena *arena, const struct ranking_key *key, struct error *error);

/* Reads a job, ranked or not. ERROR_NOT_FOUND: the job has no submission. */
int ranked_job_find(struct database *db, struct arena *arena, int64_t job_id,
	struct ranked_job *job, struct error *error);

/* ranked_job_has_score: whether a job of mode ranked has passed, has a score and is not held for
 * review. ranked_job_counts: whether it also belongs in the ranking (lib/job/job.h). */
int ranked_job_has_score(
	struct database *db, struct arena *arena, int64_t job_id, bool *answer, struct error *error);
int ranked_job_counts(
	struct database *db, struct arena *arena, int64_t job_id, bool *answer, struct error *error);

/* Reads the row of the job's user in `ranking`. ERROR_NOT_FOUND: there is none. */
int ranked_job_current(struct database *db, struct arena *arena, const struct ranked_job *job,
	struct ranked_job *current, struct error *error);

/* Puts the best job of the job's user into `ranking`, and the best jobs of all users who have
 * submitted the same file. Deletes the row of the job's user if no job is left. Of equal times, the
 * earlier submission is better. A new row has no position until the new order is computed
 * (lib/ranking/standing.h). */
int ranked_job_put_best(struct database *db, const struct ranked_job *job, struct error *error);

/* Put the best job of each user into one ranking, or into all rankings of a leaderboard. No row is
 * deleted, so each user with a row must still have a ranked job. */
int ranked_job_put_best_of_ranking(
	struct database *db, const struct ranking_key *key, struct error *error);
int ranked_job_put_best_of_leaderboard(
	struct database *db, int64_t leaderboard_id, struct error *error);

#endif
