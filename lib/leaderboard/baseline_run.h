/* Times the baselines that a task names (`podium: baselines:` in task.yml) on each device.
 *
 * Each run is a submission in mode ranked with submissions.dry_run set, but part of no dry run. The
 * run is therefore in no ranking, record, history or activity, counts toward no quota, and does not
 * change the version's engine or its check. The leaderboard's creator owns it, or else the first
 * admin. Its jobs have the lowest priority. lib/ranking/baseline.h stores its time. */
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

/* Starts the missing runs, in one transaction for each leaderboard. A version that is in use or
 * waits to be published needs a run of each baseline on two kinds of devices: those that take
 * submissions, and those on which the version had a dry run. After each further dry run on the
 * device it needs another run. While a dry run of the version is open on the device, no run starts,
 * because the dry run may change the engine. An error of one leaderboard does not delay the others;
 * the function returns the first one. podium-web calls this each second. */
int baseline_runs_start(struct database *db, struct error *error);

#endif
