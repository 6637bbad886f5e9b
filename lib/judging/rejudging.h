/* Rejudging: results of a leaderboard are computed once more, beside the old ones, when nothing
 * else waits. Until an admin applies it, a rejudging changes nothing that a participant sees; he
 * may as well discard it.
 *
 * Each result is a row of `rejudged_jobs` that knows its old job and owns a new one
 * (jobs.rejudged_id). The new job is claimed, leased, retried and ended like any other, but belongs
 * to no submission and no user yet (jobs.submission_id NULL, jobs.user_id 0), so it is in nobody's
 * history, counts toward nobody's quota and is not ranked. Applying makes the two change places in
 * one transaction, which brings the rankings up to date as well. A new job without a result,
 * because the platform failed it or it was cancelled, replaces nothing.
 *
 * No result is in two open rejudgings: those that are in one already are left out.
 *
 * While the public ranking of a leaderboard stands still (lib/publishing.h), nothing of it can be
 * applied: the new results ended after the freeze, so they would take the old ones out of the
 * ranking and put nothing there. */
#ifndef PODIUM_LIB_REJUDGING_H
#define PODIUM_LIB_REJUDGING_H

#include "lib/arena.h"
#include "lib/database.h"
#include "lib/error.h"
#include "lib/leaderboard.h"

#include <stddef.h>
#include <stdint.h>

enum { rejudging_most_jobs = 5000 };

/* What is computed once more: of one submission, everything that has ended; else ranked results for
 * the current version of the task, of a user on one leaderboard or on every one. The error's field
 * is leaderboard, submission, user, top or gpu. */
enum rejudging_scope {
	REJUDGE_SUBMISSION,
	REJUDGE_USER,
	REJUDGE_EVERYWHERE,
	REJUDGE_TOP,
	REJUDGE_ALL
};
/* "submission", "user", "everywhere", "top", "all"; 0 or -1 */
int rejudging_scope_from_name(const char *name, enum rejudging_scope *scope);

struct rejudging_order {
	enum rejudging_scope scope;
	const char *leaderboard;    /* not needed for a submission and for a user everywhere */
	int64_t submission_id, top; /* above 0 where the scope needs them */
	const char *user;
	const char *gpu; /* "": every GPU, which REJUDGE_TOP does not take */
	const struct actor *by;
};
int rejudging_start(struct database *db, struct arena *arena, const struct rejudging_order *order,
	int64_t *id, struct error *error);

struct rejudging {
	int64_t id;
	const char *leaderboard; /* NULL: every one that the user has results on */
	const char *subject;     /* the leaderboard, or that user: what is typed before it is ended */
	const char *scope;       /* "the top 10 of H200" */
	const char *state;       /* "open", "applied", "discarded" */
	const char *made_by, *ended_by; /* ended_by NULL: it is open */
	int64_t made_at_ms, ended_at_ms;
	int64_t jobs, waiting, useless; /* waiting: not ended; useless: ended without a result, so that
	                                   the old one stays */
	const char *frozen; /* while it is open: a leaderboard whose ranking stands still, so it cannot
	                       be applied; NULL: none */
};

/* The newest first, `most` of them at most. */
int rejudgings_list(struct database *db, struct arena *arena, int64_t most,
	struct rejudging **rejudgings, size_t *count, struct error *error);
int rejudging_find(struct database *db, struct arena *arena, int64_t id,
	struct rejudging *rejudging, struct error *error);

struct rejudged_result {
	int64_t id, submission_id;
	const char *leaderboard, *user, *gpu;
	const char *old_verdict;                         /* NULL: it had none */
	double old_score_ns, old_score_err_ns;           /* NAN: not timed */
	const char *state, *verdict, *reason, *progress; /* of the new job; verdict NULL: not yet */
	double score_ns, score_err_ns;
	int64_t differs; /* 1: the new job has a result with another verdict */
};
/* Those with another verdict first, `most` from number `first` (from 0) on. */
int rejudging_results(struct database *db, struct arena *arena, int64_t id, int64_t first,
	int64_t most, struct rejudged_result **results, size_t *count, struct error *error);

/* One of them. ERROR_NOT_FOUND when the rejudging has none of this number. */
int rejudging_result(struct database *db, struct arena *arena, int64_t id, int64_t result_id,
	struct rejudged_result *result, struct error *error);

/* What applying would do to the rankings; does it and takes it back, so it is exactly that, also in
 * what it refuses. */
struct rank_change {
	const char *leaderboard;
	int64_t version; /* of the task */
	const char *gpu, *user;
	int64_t old_place, new_place; /* SQL_NULL_INTEGER: not ranked */
	double old_score_ns, new_score_ns;
};
int rejudging_preview(struct database *db, struct arena *arena, const struct rejudging *rejudging,
	struct rank_change **changes, size_t *count, struct error *error);

/* What has to be typed before it is ended is the name of its subject. ERROR_INPUT with field name
 * when it is not that. */
int rejudging_check_name(const struct rejudging *rejudging, const char *typed, struct error *error);

/* Ends it, with an entry in the audit log. ERROR_CONFLICT when it has ended already, or, for
 * applying, while a job of it has not or a ranking is frozen. Discarding cancels what waits or
 * runs; the new results stay in the rejudging alone. */
int rejudging_apply(struct database *db, int64_t id, const struct actor *by, struct error *error);
int rejudging_discard(struct database *db, int64_t id, const struct actor *by, struct error *error);

#endif
