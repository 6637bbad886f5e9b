/* Comparisons: two entries of a ranking whose scores are too close to tell which is faster run
 * against each other, interleaved on one GPU. What comes of it decides between them (lib/ranking.h
 * says how).
 *
 * A comparison is a row of the table `comparisons` that owns a job. The job is claimed, leased,
 * retried and ended like any other, but it belongs to no submission and to no user
 * (jobs.submission_id NULL, jobs.user_id 0): it is in nobody's history, counts toward nobody's
 * quota, and nobody's turn is later for it. It waits behind everything that people have submitted,
 * so it runs when a device would be idle; after a deadline at the latest there is nothing left to
 * wait for.
 *
 * All of this happens inside the transaction that changes a ranking and has locked it. */
#ifndef PODIUM_LIB_COMPARISON_H
#define PODIUM_LIB_COMPARISON_H

#include "lib/ranking.h"

/* A part of a statement: a comparison, with its job, that has a result or may still get one. */
#define SQL_COMPARISON_STANDS(comparison, job) \
	"(" comparison ".ratio IS NOT NULL OR " job ".state IN ('queued', 'running'))"

/* Has the entries of two users compared, unless they are already, or are being compared, one of
 * them was not measured by the isolated engine, or its user has deleted the account and its source
 * with it. */
int comparison_open(struct database *db, const struct ranking_key *key, int64_t challenger_user_id,
	int64_t incumbent_user_id, struct error *error);

/* Those of the ranking that have a result, which was not found while the ranking is frozen, and
 * whose entries are both still its users' best. */
int comparison_read(struct database *db, struct arena *arena, const struct ranking_key *key,
	struct ranking_comparison **comparisons, size_t *count, struct error *error);

/* Cancels those that still wait although one of their entries is not its user's best any more. */
int comparison_withdraw(
	struct database *db, struct arena *arena, const struct ranking_key *key, struct error *error);

/* Cancels those that still wait and are about an entry of this user, who was banned or has deleted
 * the account. */
int comparison_withdraw_user(struct database *db, int64_t user_id, struct error *error);

/* Which ranking the job's comparison is about, and whose entries; ERROR_NOT_FOUND when it is
 * none's. */
struct comparison_pair {
	int64_t challenger_user_id, incumbent_user_id;
};
int comparison_find(struct database *db, struct arena *arena, int64_t job_id,
	struct ranking_key *key, struct comparison_pair *pair, struct error *error);

/* Keeps the result. */
int comparison_store(
	struct database *db, int64_t job_id, const struct ranking_ratio *ratio, struct error *error);

#endif
