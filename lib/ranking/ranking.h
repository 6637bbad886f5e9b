/* The ranking of every (leaderboard, task version, GPU): the best ranked job of each user.
 * Kept in the table `ranking`, which is the only source of ranks for pages, JSON, CSV and commands.
 *
 * Order: entries are sorted by score, the earlier submission first among equals. Then comparisons
 * (lib/comparison.h) are heard: an entry stands behind all that have proved faster than it, and
 * else as early as its score lets it. Where comparisons go round in a circle (A before B, B before
 * C, C before A), that one of the circle with the best score stands first. A comparison is heard
 * only between two whose scores are close, see ranking_is_close, so it never turns over what the
 * scores say plainly; of two about the same pair the newer one is.
 *
 * Ties: two that were compared tie if the interval of their ratio holds 1. Two that were not tie if
 * their scores differ by no more than the noise of the two (1.96 standard errors of the difference;
 * without a standard error, if they are equal). The first entry opens a group, and those behind it
 * join as long as each ties with the first. Further behind, those join that were compared with the
 * first and tie with it: that weighs more than the scores of those they pass. Nobody joins whom a
 * comparison has told from one of the group, or who would pass somebody that was faster. The
 * entries of a group share its place, the earlier submission first. The next group's place counts
 * all before it: 1, 1, 3. */
#ifndef PODIUM_LIB_RANKING_H
#define PODIUM_LIB_RANKING_H

#include "lib/arena.h"
#include "lib/database.h"
#include "lib/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ranking_key {
	int64_t leaderboard_id, task_version_id;
	const char *gpu;
};

struct ranking_entry {
	int64_t user_id, submission_id;
	double score_ns, score_err_ns; /* NAN: unknown */
	int64_t position, place;       /* filled by ranking_order */
};

/* How two entries' times were to each other when they ran side by side. */
struct ranking_comparison {
	int64_t id;                          /* grows with time */
	int64_t challenger_id, incumbent_id; /* submissions */
	double ratio_low, ratio_high; /* the challenger's time / the incumbent's: its 95 % interval */
};

/* Whether the scores of two are too close to tell which is faster without a comparison: they differ
 * by no more than 1 %, or 1.96 standard errors of the difference if that is more. */
bool ranking_is_close(const struct ranking_entry *a, const struct ranking_entry *b);

/* Sorts `entries` into page order and fills position (1..count) and place. Comparisons of others
 * than these are ignored. The result depends on the order of neither array. */
void ranking_order(struct ranking_entry *entries, size_t count,
	const struct ranking_comparison *comparisons, size_t comparison_count);

/* Whom the entry of a user has to be compared with, given the entries in page order: of those on
 * the first ranking_compared_positions, the next faster and the next slower one by score, where
 * these are close to it and it is among them itself. (By score: inside a group of ties the page's
 * order says nothing about who is near.) Returns how many. */
enum { ranking_compared_positions = 10 };
size_t ranking_rivals(const struct ranking_entry *entries, size_t count, int64_t user_id,
	const struct ranking_entry *rivals[static 2]);

/* Inside the transaction that finishes a passed ranked job: takes the job into the ranking if it is
 * its user's best there (or equal and earlier), brings positions and places up to date, and has it
 * compared with its rivals. Locks the leaderboard's GPU row first, so that two finishing jobs wait
 * for each other. Practice, what its author has withdrawn or an admin hidden, and what ends while
 * the ranking is frozen (lib/visibility.h) changes nothing. ERROR_NOT_FOUND for a job that is none
 * to be ranked, such as one that is held for review. What it changes for its user is noted with the
 * job (best_before_ns, place_before, place_after). */
int ranking_insert(struct database *db, struct arena *arena, int64_t job_id, struct error *error);

/* Inside a transaction that has changed whether a job is to be ranked: makes its user's entry the
 * best of those that are, or takes it away when none is, and brings the rest up to date. The caller
 * has locked the job's row before. */
int ranking_refresh(struct database *db, struct arena *arena, int64_t job_id, struct error *error);

/* Inside the transaction that finishes the job of a comparison: keeps its ratio (the challenger's
 * time / the incumbent's) and brings positions and places up to date. Locks as ranking_insert does.
 * ERROR_NOT_FOUND for another job. */
struct ranking_ratio {
	double ratio, low, high;
};
int ranking_compare(struct database *db, struct arena *arena, int64_t job_id,
	const struct ranking_ratio *ratio, struct error *error);

/* Around the deletion of a user's submissions, in its transaction: before, which rankings that
 * touches, and they are locked; afterwards, under the number of each, what is kept beside the
 * entries (attempts, records, baselines) is made anew from the jobs that are left. Who has stood in
 * a ranking goes on doing so, so positions stay. */
int ranking_lock_of_user(struct database *db, struct arena *arena, int64_t user_id,
	struct ranking_key **keys, size_t *count, struct error *error);
int ranking_after_deletion(
	struct database *db, const struct ranking_key *key, int64_t user_id, struct error *error);

/* After results of a leaderboard were replaced, hidden or shown again: brings its rankings up to
 * date in the caller's transaction, cancels comparisons that have become pointless, and asks for
 * those that are wanted now. */
int ranking_renew(struct database *db, int64_t leaderboard_id, struct error *error);

/* Recomputes the ranking of one leaderboard (0: of all), with its records, from the jobs and
 * comparisons. Gives the same rows. */
int ranking_rebuild(struct database *db, int64_t leaderboard_id, struct error *error);

#endif
