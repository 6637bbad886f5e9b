/* Trying a version of a task out before anybody is ranked by it: its reference as a submission must
 * pass, answers that no work went into must fail, and each sample must get the verdict that its
 * author expects (`podium: expected:`), on every device of the leaderboard. Each is a submission of
 * whoever starts it, marked as what it is (submissions.dry_run): it is in no ranking, record,
 * history or activity, counts toward no quota, and is seen by him, the leaderboard's creator and
 * admins. A sample that is timed may become one of the leaderboard's baselines. */
#ifndef PODIUM_LIB_DRY_RUN_H
#define PODIUM_LIB_DRY_RUN_H

#include "lib/leaderboard.h"

struct dry_run_row {                                  /* one entry on one device */
	int64_t dry_run_id, submission_id, started_at_ms; /* when it was asked for */
	const char *started_by, *purpose;
	const char *expected;                       /* a verdict; NULL: any but passed */
	const char *gpu, *state, *verdict, *reason; /* verdict NULL: it waits or runs */
	int64_t took_ms;                            /* SQL_NULL_INTEGER: it has not ended */
	int64_t peak_host_bytes, peak_device_bytes; /* see stages; SQL_NULL_INTEGER: not known */
	int64_t devices;                            /* of this model that take jobs now */
	const char *untried;                        /* of the whole run: sentences, one a line */
};

/* Whether the row's job has ended, and ended as it must. */
bool dry_run_has_ended(const struct dry_run_row *row);
bool dry_run_is_met(const struct dry_run_row *row);

/* Whether it has ended as it must without saying anything about the check: an answer of ours that
 * was never judged, because it does not fit this task's types. */
bool dry_run_says_nothing(const struct dry_run_row *row);

/* Stores the submissions, in one transaction, with an audit entry. ERROR_NOT_FOUND when there is no
 * such version, ERROR_CONFLICT while another dry run of it is under way, ERROR_INPUT when the
 * leaderboard has no device. */
int dry_run_start(struct database *db, struct arena *arena, const struct leaderboard *leaderboard,
	int64_t version_number, const struct actor *actor, struct error *error);

/* The last dry run of a version, by device and then in the order of its entries; none: count 0. */
int dry_run_read(struct database *db, struct arena *arena, int64_t leaderboard_id,
	int64_t version_number, struct dry_run_row **rows, size_t *count, struct error *error);

#endif
