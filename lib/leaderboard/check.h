/* The check of a task's version before it becomes visible (lib/leaderboard/publication.h): what its
 * last dry run found on each device of the leaderboard, and warnings that need no dry run. */
#ifndef PODIUM_LIB_LEADERBOARD_CHECK_H
#define PODIUM_LIB_LEADERBOARD_CHECK_H

#include "lib/leaderboard/leaderboard.h"

/* CHECK_WAITS: the dry run has not started, or a device with open jobs has no worker.
 * CHECK_FAILED: at least one error, nothing open. CHECK_WARNS: warnings, but no error. */
enum check_state { CHECK_WAITS, CHECK_RUNS, CHECK_FAILED, CHECK_WARNS, CHECK_PASSED };
const char *check_state_name(enum check_state state); /* "waiting", "running", "failed", ... */

struct check_remark {
	const char *sentence;
	int64_t submission_id; /* of the dry run; 0: none */
	bool is_error;         /* false: a warning */
	const char *field;     /* of the leaderboard's form: "task" or "gpu"; NULL: none */
};

struct check_device {
	const char *gpu;
	const char *engine;    /* that the version has there; NULL: not chosen yet */
	size_t answers, ended; /* jobs of the dry run */
	bool has_worker;       /* a worker takes jobs for it now */
};

/* What is known about one version of a task. */
struct check {
	enum check_state state;
	bool is_waived;     /* an operator published it unchecked, or it is older than the check */
	bool is_incomplete; /* no dry run covers all devices, and none is running */
	int64_t dry_run_id; /* 0: none */
	const struct check_remark *remarks;
	size_t remark_count, error_count;
	const struct check_device *devices;
	size_t device_count;
};
int check_read(struct database *db, struct arena *arena, int64_t leaderboard_id,
	int64_t version_number, struct check *check, struct error *error);

/* The warnings that need no dry run; each has a field. They are among those of check_read. */
int check_read_form(struct database *db, struct arena *arena, int64_t leaderboard_id,
	int64_t version_id, const struct check_remark **remarks, size_t *count, struct error *error);

#endif
