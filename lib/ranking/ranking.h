/* The ranking of every (leaderboard, task version, GPU): the best ranked job of each user. The
 * table `ranking` is the only source of ranks for pages, JSON, CSV and commands.
 *
 * Order: entries are sorted by score; the earlier submission comes first among equals. Comparisons
 * (lib/ranking/head_to_head.h) can change this order. An entry ranks behind every entry that was
 * faster in a comparison, and otherwise as early as its score allows. Comparisons can form a
 * circle: A before B, B before C, C before A. The entry of the circle with the best score then
 * comes first. A comparison counts only between two close scores (ranking_is_close), so it never
 * reverses a clear difference. Of two comparisons of the same pair, the newer one counts.
 *
 * If one side of a comparison fails and thereby ends its run, that side counts as the slower one.
 *
 * Ties: two compared entries tie if the interval of their ratio contains 1. Two entries without a
 * comparison tie if their scores differ by no more than the noise. The noise is 1.96 standard
 * errors of the difference. If a standard error is unknown, only equal scores tie. Noisy times do
 * not help anybody to a tie: task_charge_noise and the judge limit the error of a score, and charge
 * a noisy case with a longer time.
 *
 * Groups: the first entry opens a group, and the following entries join while each ties with the
 * first. An entry further behind joins if it ties with the first by a comparison. It then moves up
 * past entries with better scores. An entry may not join if it was faster or slower than a member
 * in a comparison. Nor may it join if it would pass an entry that was faster in a comparison. All
 * entries of a group share its place, in order of score. The next group's place counts all entries
 * before it: 1, 1, 3. */
#ifndef PODIUM_LIB_RANKING_RANKING_H
#define PODIUM_LIB_RANKING_RANKING_H

#include "lib/base/arena.h"
#include "lib/base/error.h"
#include "lib/database/database.h"
#include "lib/ranking/head_to_head.h"
#include "lib/ranking/key.h"

#include <stddef.h>
#include <stdint.h>

/* SQL expression: the fastest ranked time of a version on a GPU, found by one look-up in the index;
 * NULL: nobody is ranked. The entry with this time need not have the first rank. */
#define SQL_FASTEST_NS(leaderboard, version, gpu_model) \
	"(SELECT fastest.score_ns FROM ranking fastest FORCE INDEX (ranking_score) " \
	"WHERE fastest.leaderboard_id = " leaderboard " AND fastest.task_version_id = " version \
	" AND fastest.gpu = " gpu_model " ORDER BY fastest.score_ns LIMIT 1)"

/* Ranks a passed ranked job, inside the transaction that finishes the job. If the job is its user's
 * best, it becomes the user's entry; of equal scores, the earlier submission is better. Then
 * updates positions and places and queues comparisons with close rivals. Stores the effect on the
 * user's rank with the job (best_before_ns, place_before, place_after and whether they were tied).
 *
 * Locks the leaderboard's GPU row first, so that two finishing jobs wait for each other. These jobs
 * do not enter the ranking: practice and dry runs, withdrawn, hidden by an admin, run on another
 * engine than the task version now uses, or finished while the ranking is frozen (SQL_IS_ELIGIBLE
 * in lib/job/job.h). ERROR_NOT_FOUND: the job cannot be ranked, for example because it is held for
 * review. */
int ranking_insert(struct database *db, struct arena *arena, int64_t job_id, struct error *error);

/* Updates the ranking inside a transaction that changed whether a job counts. The user's entry
 * becomes the best remaining job. Without one the entry is deleted. The caller has locked the job's
 * row. */
int ranking_refresh_job(
	struct database *db, struct arena *arena, int64_t job_id, struct error *error);

/* Stores a comparison's result and updates positions and places. Runs inside the transaction that
 * finishes the comparison's job, and locks as ranking_insert does. ERROR_NOT_FOUND: the job is not
 * a comparison's. */
int ranking_compare(struct database *db, struct arena *arena, int64_t job_id,
	const struct head_to_head_result *result, struct error *error);

/* Call these two around the deletion of a user's submissions, in its transaction. The first finds
 * and locks the affected rankings. The second recomputes one ranking, the user's records there and
 * its baselines from the remaining jobs. The deletion must keep the submissions that have a ranked
 * result. Positions then stay. */
int ranking_lock_of_user(struct database *db, struct arena *arena, int64_t user_id,
	struct ranking_key **keys, size_t *count, struct error *error);
int ranking_after_deletion(
	struct database *db, const struct ranking_key *key, int64_t user_id, struct error *error);

/* Updates the rankings of a leaderboard after its results were replaced, hidden or shown again, in
 * the caller's transaction. Cancels comparisons that became pointless and queues those that are
 * needed now. */
int ranking_refresh_leaderboard(struct database *db, int64_t leaderboard_id, struct error *error);

/* Recomputes the rankings of leaderboards that have become visible, or have opened a device, since
 * the last call. Results from before count as ranked at that moment
 * (lib/leaderboard/publication.h). One transaction for each leaderboard. podium-web calls this each
 * second. */
int rankings_settle(struct database *db, struct error *error);

/* Recomputes the rankings of one leaderboard (0: of all), with their records and baselines, from
 * the jobs and comparisons. The rows change only if they were wrong. */
int ranking_rebuild(struct database *db, int64_t leaderboard_id, struct error *error);

#endif
