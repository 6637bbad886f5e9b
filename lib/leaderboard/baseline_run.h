/* Times the baselines that a task names (`podium: baselines:` in task.yml) on each device.
 *
 * Each is a submission in mode ranked, marked with submissions.dry_run, that is in no dry run. So
 * it is in no ranking, record, history or activity, counts toward no quota, and does not change the
 * version's engine or its check. It belongs to the leaderboard's creator, or to the first admin.
 * Its jobs have the lowest priority. lib/ranking/baseline.h stores its time. */
#ifndef PODIUM_LIB_LEADERBOARD_BASELINE_RUN_H
#define PODIUM_LIB_LEADERBOARD_BASELINE_RUN_H

#include "lib/base/error.h"
#include "lib/database/database.h"

#include <stdint.h>

/* The newest run of one baseline on one device. */
struct baseline_run {
	const char *name, *gpu, *state, *verdict, *reason; /* verdict NULL: queued or running */
	int64_t submission_id;
	double score_ns, score_err_ns; /* NAN: none */
};

/* Reads the runs of a version, sorted by device and name. A part of a bundle, bound by the
 * leaderboard's id and the version's number. */
extern const struct statement baseline_run_reading;

/* Starts the runs that are missing, one transaction for each leaderboard. A version in use, or one
 * that waits to be published, needs a run of each baseline on each device that takes submissions or
 * had a dry run of the version. Each later dry run on the device needs another one. Runs wait until
 * no dry run of the version is open there, because it may change the engine. The first error is
 * returned, and does not delay other leaderboards. podium-web calls this each second. */
int baseline_runs_start(struct database *db, struct error *error);

#endif
