/* Comparisons: two entries whose scores are too close to call run head to head, interleaved on one
 * GPU. The result decides which entry ranks first (lib/ranking/ranking.h has the rules).
 *
 * A comparison belongs to two files, and counts for all entries with these files. It therefore
 * stays when a user submits the same file again, and two users with one file have the same rank.
 *
 * A comparison is a row of the table `comparisons` that owns a job. Podium claims, leases, retries
 * and finishes this job like any other. The job has no submission and no user (jobs.submission_id
 * NULL, jobs.user_id 0). The job therefore appears in no history, counts toward no quota and delays
 * no user's turn.
 *
 * The job has a lower priority than all submissions, so it runs when a device would be idle. After
 * a deadline no new submissions arrive, so comparisons run then at the latest.
 *
 * Every function runs inside the transaction that changes a ranking and has locked it. */
#ifndef PODIUM_LIB_RANKING_HEAD_TO_HEAD_H
#define PODIUM_LIB_RANKING_HEAD_TO_HEAD_H

#include "lib/base/arena.h"
#include "lib/base/error.h"
#include "lib/database/database.h"
#include "lib/ranking/key.h"
#include "lib/ranking/order.h"

#include <stddef.h>
#include <stdint.h>

/* SQL condition: the comparison has a result or may still get one. */
#define SQL_COMPARISON_STANDS(comparison, job) \
	"(" comparison ".ratio IS NOT NULL OR " comparison ".loser IS NOT NULL OR " job \
	".state IN ('queued', 'running'))"

/* Queues a comparison of two users' entries. Does nothing if their files have a comparison already
 * (also of earlier entries, or of other users), if the entries are not both of the isolated or both
 * of the sealed engine, or if one user has deleted the account. */
int head_to_head_open(struct database *db, const struct ranking_key *key,
	int64_t challenger_user_id, int64_t incumbent_user_id, struct error *error);

/* Reads the comparisons of the ranking that have a result and whose two files are both in the
 * ranking. Leaves out comparisons that finished while the ranking was frozen, until the freeze is
 * lifted. */
int head_to_head_read(struct database *db, struct arena *arena, const struct ranking_key *key,
	struct ranking_head_to_head **comparisons, size_t *count, struct error *error);

/* Cancels queued comparisons of which one file is no user's best any more. */
int head_to_head_withdraw(
	struct database *db, struct arena *arena, const struct ranking_key *key, struct error *error);

/* Cancels queued comparisons with an entry of this user, who was banned or has deleted the account.
 */
int head_to_head_withdraw_user(struct database *db, int64_t user_id, struct error *error);

/* Finds the ranking and the two users of the comparison that owns the job. ERROR_NOT_FOUND: no
 * comparison owns the job. */
struct head_to_head_pair {
	int64_t challenger_user_id, incumbent_user_id;
};
int head_to_head_find(struct database *db, struct arena *arena, int64_t job_id,
	struct ranking_key *key, struct head_to_head_pair *pair, struct error *error);

/* Stores the result of the comparison that owns the job. */
struct head_to_head_result {
	double ratio, low, high; /* the challenger's time / the incumbent's, with its 95 % interval */
	/* The side whose failure ended the run, "challenger" or "incumbent"; the ratio is then NAN.
	 * NULL: none failed. */
	const char *loser;
};
int head_to_head_store(struct database *db, int64_t job_id,
	const struct head_to_head_result *result, struct error *error);

#endif
