/* Rejudging: Podium computes results of a leaderboard again, next to the old ones, when no other
 * job waits. Participants see no change until an admin applies the rejudging. The admin can also
 * discard it.
 *
 * Each result is a row of `rejudged_jobs` that knows its old job and owns a new one
 * (jobs.rejudged_id). Podium claims, leases, retries and finishes the new job like any other. The
 * new job has no submission and no user yet (jobs.submission_id NULL, jobs.user_id 0). The job
 * therefore appears in no history, counts toward no quota and is not ranked.
 *
 * Applying swaps the old and new jobs and updates the rankings in one transaction. A new job
 * without a result, because it failed or was cancelled, replaces nothing.
 *
 * A result is in at most one open rejudging. A new rejudging leaves out results that are in an open
 * one.
 *
 * A rejudging cannot be applied while the public ranking of one of its leaderboards is frozen
 * (cgi/action/publishing.h). The new results finished after the freeze and could not be ranked, so
 * applying would only remove the old ones from the ranking. */
#ifndef PODIUM_LIB_JUDGING_REJUDGING_H
#define PODIUM_LIB_JUDGING_REJUDGING_H

#include "lib/base/arena.h"
#include "lib/base/error.h"
#include "lib/database/database.h"
#include "lib/leaderboard/leaderboard.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { rejudging_most_jobs = 5000 };

/* Which results to compute again. REJUDGE_SUBMISSION takes every finished result of one submission.
 * The other scopes take only ranked results for the task's current version: a user's results on one
 * leaderboard or everywhere, the first positions of a ranking, or all results of a leaderboard. */
enum rejudging_scope {
	REJUDGE_SUBMISSION,
	REJUDGE_USER,
	REJUDGE_EVERYWHERE,
	REJUDGE_TOP,
	REJUDGE_ALL
};
/* The names are "submission", "user", "everywhere", "top" and "all". Returns 0, or -1 for another
 * name. */
int rejudging_scope_from_name(const char *name, enum rejudging_scope *scope);

struct rejudging_order {
	enum rejudging_scope scope;
	const char *leaderboard;    /* not used for a submission or everywhere */
	int64_t submission_id, top; /* above 0 if the scope needs them */
	const char *user;
	const char *gpu; /* "": every GPU; REJUDGE_TOP needs one */
	const struct actor *by;
	bool may_all; /* admins and commands; false: only leaderboards that `by` may change */
};
/* ERROR_FORBIDDEN: `by` may not rejudge these results. Other errors name the field leaderboard,
 * submission, user, top or gpu. */
int rejudging_start(struct database *db, struct arena *arena, const struct rejudging_order *order,
	int64_t *id, struct error *error);

struct rejudging {
	int64_t id;
	/* SQL_NULL_INTEGER: every leaderboard with results of the user */
	int64_t leaderboard_id;
	const char *leaderboard; /* NULL if leaderboard_id is SQL_NULL_INTEGER */
	/* The leaderboard or the user. An admin types this name to apply or discard. */
	const char *subject;
	const char *scope;              /* "the top 10 of H200" */
	const char *state;              /* "open", "applied", "discarded" */
	const char *made_by, *ended_by; /* ended_by NULL: it is open */
	int64_t made_at_ms, ended_at_ms;
	/* Numbers of new jobs. waiting: not finished. useless: failed or cancelled, so the old result
	 * stays. */
	int64_t jobs, waiting, useless;
	const char *frozen; /* a leaderboard whose frozen ranking prevents applying; NULL: none */
};

/* Lists the rejudgings of leaderboards that the user may change, the newest first, at most `most`.
 * Admins also get those of a user everywhere. user_id 0: all rejudgings, for commands. */
int rejudgings_list(struct database *db, struct arena *arena, int64_t user_id, int64_t most,
	struct rejudging **rejudgings, size_t *count, struct error *error);
int rejudging_find(struct database *db, struct arena *arena, int64_t id,
	struct rejudging *rejudging, struct error *error);

struct rejudged_result {
	int64_t id, submission_id;
	const char *leaderboard, *user, *gpu;
	const char *old_verdict;                         /* NULL: none */
	double old_score_ns, old_score_err_ns;           /* NAN: not timed */
	const char *state, *verdict, *reason, *progress; /* of the new job; verdict NULL: not yet */
	double score_ns, score_err_ns;
	int64_t differs; /* 1: the new job has a result with another verdict */
};
/* Lists results, those with a changed verdict first; at most `most`, from number `first` (counted
 * from 0). */
int rejudging_results(struct database *db, struct arena *arena, int64_t id, int64_t first,
	int64_t most, struct rejudged_result **results, size_t *count, struct error *error);

/* One result. ERROR_NOT_FOUND: the rejudging has no result with this number. */
int rejudging_result(struct database *db, struct arena *arena, int64_t id, int64_t result_id,
	struct rejudged_result *result, struct error *error);

/* The changes that applying would make to the rankings. Applies the rejudging and rolls back, so
 * the preview and its errors are exact. */
struct rank_change {
	const char *leaderboard;
	int64_t version; /* of the task */
	const char *gpu, *user;
	int64_t old_place, new_place; /* SQL_NULL_INTEGER: not ranked */
	bool old_is_tied, new_is_tied;
	double old_score_ns, old_score_err_ns, new_score_ns, new_score_err_ns;
};
int rejudging_preview(struct database *db, struct arena *arena, const struct rejudging *rejudging,
	struct rank_change **changes, size_t *count, struct error *error);

/* Checks the name that an admin typed to confirm: it must be the subject's. ERROR_INPUT with field
 * name if it is not. */
int rejudging_check_name(const struct rejudging *rejudging, const char *typed, struct error *error);

/* Applies or discards a rejudging, with an entry in the audit log. ERROR_CONFLICT: the rejudging
 * was applied or discarded before. Discarding cancels queued and running jobs; finished new results
 * stay visible only in the rejudging.
 *
 * Applying also returns ERROR_CONFLICT while one of its jobs has not finished or a ranking is
 * frozen. ERROR_FORBIDDEN: some results are held or rejected, so only an admin may apply the
 * rejudging. */
int rejudging_apply(struct database *db, int64_t id, const struct actor *by, struct error *error);
int rejudging_discard(struct database *db, int64_t id, const struct actor *by, struct error *error);

#endif
