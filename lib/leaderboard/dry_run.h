/* Tests a version of a task before the version is used for ranking. On every device of the
 * leaderboard, the reference must pass as a submission, and trivial answers must fail. Each sample
 * must get the verdict that the task's author expects (`podium: expected:` in task.yml).
 *
 * If the version's files call for the sealed engine (lib/task/engine.h), a dry run on GPUs also
 * shows which files can run in it. The dry run then includes the templates. It also runs the
 * reference, the templates and the samples that must pass a second time, in the isolated engine.
 *
 * Each entry of the dry run is a submission of the user who starts it, with submissions.dry_run
 * set. Such a submission is in no ranking, record, history or activity, and counts toward no quota.
 * Only that user, the leaderboard's creator and admins see it. A timed sample may become one of the
 * leaderboard's baselines. */
#ifndef PODIUM_LIB_LEADERBOARD_DRY_RUN_H
#define PODIUM_LIB_LEADERBOARD_DRY_RUN_H

#include "lib/leaderboard/leaderboard.h"

struct dry_run_row {                                  /* one entry on one device */
	int64_t dry_run_id, submission_id, started_at_ms; /* when the dry run was started */
	const char *started_by, *purpose;
	const char *expected; /* expected verdict; "any"; NULL: any except passed */
	const char *gpu, *state, *verdict, *reason; /* verdict NULL: queued or running */
	int64_t took_ms;                            /* SQL_NULL_INTEGER: not finished */
	int64_t peak_host_bytes, peak_device_bytes; /* see table stages; SQL_NULL_INTEGER: unknown */
	int64_t devices;                            /* how many devices of this model accept jobs */
	const char *untried;                        /* what the run did not test: one sentence a line */
	const char *engine, *engine_reason; /* the engine that ran; the reason is set if it fell back */
	/* the engine in which this entry must run; NULL: the entry may run in any */
	const char *chosen_engine;
	/* For this device: the engine that the version's files call for, and the one that the version
	 * has now. */
	const char *files_engine, *version_engine;
	double score_ns, score_err_ns; /* NAN: none */
};

/* dry_run_has_ended: the row's job has finished. dry_run_is_met: it finished with the expected
 * verdict. */
bool dry_run_has_ended(const struct dry_run_row *row);
bool dry_run_is_met(const struct dry_run_row *row);

/* Whether the row failed as expected, but for a reason that says nothing about the task's check.
 * The trivial answer did not fit the task's types, so the check never ran. */
bool dry_run_says_nothing(const struct dry_run_row *row);

/* Whether the row is a wrong answer that reached the task's check and failed there. */
bool dry_run_tries_check(const struct dry_run_row *row);

/* Whether the row is the reference, in any engine. */
bool dry_run_is_reference(const struct dry_run_row *row);

/* Whether the job fell back to a weaker engine than the version's files call for. */
bool dry_run_fell_back(const struct dry_run_row *row);

/* Whether the job counts for the version's engine (task_engine_tried): it passed and was not
 * expected to fail, or it fell back to the custom engine. */
bool dry_run_shows_engine(const struct dry_run_row *row);

/* Starts a dry run: stores its submissions and an audit entry, in one transaction. ERROR_NOT_FOUND
 * for an unknown version, ERROR_CONFLICT while another dry run of this version is running,
 * ERROR_INPUT if the leaderboard has no device. */
int dry_run_start(struct database *db, struct arena *arena, const struct leaderboard *leaderboard,
	int64_t version_number, const struct actor *actor, struct error *error);

/* Like dry_run_start, but for the check of a publication (publication.h): on these devices alone,
 * and without an audit entry. The caller has locked the leaderboard and found that no dry run of
 * the version covers them. */
int dry_run_check(struct database *db, struct arena *arena, const struct leaderboard *leaderboard,
	int64_t version_number, const char *const *gpus, size_t gpu_count, const struct actor *actor,
	struct error *error);

/* SQL expression: users.id of the leaderboard's creator, or else of the first admin. This user owns
 * the submissions that Podium itself starts. NULL: there is neither. */
#define SQL_TESTER(leaderboard) \
	"COALESCE((SELECT c.id FROM users c WHERE c.id = " leaderboard \
	".creator_id AND c.deleted_at IS NULL), " \
	"(SELECT MIN(a.id) FROM users a WHERE a.role = 'admin' AND a.deleted_at IS NULL)) "

/* Reads a version's last dry run on each device, sorted by device and entry. A part of a bundle,
 * bound by the leaderboard's id and the version's number. */
extern const struct statement dry_run_reading;

#endif
