/* Ranked jobs that have passed, and the rows of the table `ranking`, each of which is one of them:
 * the best of its user. Of the ranking's own files only; others use lib/ranking.h. */
#ifndef PODIUM_LIB_RANKED_JOB_H
#define PODIUM_LIB_RANKED_JOB_H

#include "lib/ranking.h"

/* The key of its ranking is (leaderboard_id, task_version_id, gpu). */
struct ranked_job {
	int64_t leaderboard_id, task_version_id;
	const char *gpu;
	int64_t user_id, submission_id, job_id;
	double score_ns, score_err_ns;
	int64_t submitted_at_ms;
	const char *engine, *dialect;
	int64_t attempts; /* of its user in this ranking; 0: not counted */
	int64_t place;    /* only of one that stands in the ranking */
};

struct ranking_key ranked_job_key(const struct ranked_job *job);

/* Inside a transaction, so that two changes of a ranking wait for each other. */
int ranked_job_lock(
	struct database *db, struct arena *arena, const struct ranking_key *key, struct error *error);

/* A job, whether it is to be ranked or not; ERROR_NOT_FOUND for one without a submission. */
int ranked_job_find(struct database *db, struct arena *arena, int64_t job_id,
	struct ranked_job *job, struct error *error);

/* Whether a job has passed and has a time; and whether it also belongs into the ranking
 * (lib/job.h). */
int ranked_job_has_score(
	struct database *db, struct arena *arena, int64_t job_id, bool *answer, struct error *error);
int ranked_job_counts(
	struct database *db, struct arena *arena, int64_t job_id, bool *answer, struct error *error);

/* The best in this job's ranking of this job's user. ERROR_NOT_FOUND when the user has none. */
int ranked_job_best(struct database *db, struct arena *arena, const struct ranked_job *job,
	struct ranked_job *best, struct error *error);

/* The row of the job's user in `ranking`: what stands there (ERROR_NOT_FOUND: nothing), and making
 * this job stand there. A new row has no position until the new order is known (lib/standing.h). */
int ranked_job_current(struct database *db, struct arena *arena, const struct ranked_job *job,
	struct ranked_job *current, struct error *error);
int ranked_job_put(struct database *db, const struct ranked_job *job, struct error *error);
int ranked_job_drop(struct database *db, const struct ranked_job *job, struct error *error);

/* The same for the best job of each user in every ranking of a leaderboard of which no row is
 * there. */
int ranked_job_put_best_of_all(struct database *db, int64_t leaderboard_id, struct error *error);

/* Counts the ranked submissions of a user anew, if he stands in the ranking. */
int ranked_job_count_attempts(
	struct database *db, const struct ranking_key *key, int64_t user_id, struct error *error);

#endif
