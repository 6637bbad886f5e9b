/* The check of a task's version before it becomes visible, and of a device before it takes
 * submissions (lib/leaderboard/publication.h): what the version's last dry run found on each
 * device, and warnings that need no dry run. */
#ifndef PODIUM_LIB_LEADERBOARD_CHECK_H
#define PODIUM_LIB_LEADERBOARD_CHECK_H

#include "lib/leaderboard/leaderboard.h"

/* CHECK_WAITS: a device has no dry run yet, or has unfinished jobs but no worker. CHECK_FAILED: all
 * jobs have finished, with at least one error. CHECK_WARNS: all have finished, with warnings but no
 * error. */
enum check_state { CHECK_WAITS, CHECK_RUNS, CHECK_FAILED, CHECK_WARNS, CHECK_PASSED };
const char *check_state_name(enum check_state state); /* "waiting", "running", "failed", ... */

struct check_remark {
	const char *sentence;
	int64_t submission_id; /* of the dry run; 0: none */
	bool is_error;         /* false: a warning */
	const char *field;     /* of the leaderboard's form: "task" or "gpu"; NULL: none */
};
struct check_remarks {
	struct check_remark *list;
	size_t count, error_count;
};

struct check_device {
	const char *gpu;
	/* The device takes no submissions until the version in use has passed its check there. A hidden
	 * leaderboard has such a device only if an operator publishes the version unchecked on its
	 * other devices. */
	bool is_closed;
	/* The device needs no check: an operator has published the version unchecked there, or the
	 * version is older than the check. A dry run that starts later counts nevertheless. */
	bool is_waived;
	const char *engine; /* engine of the version on this device; NULL: not chosen yet */
	/* jobs of the dry run, and how many have finished; 0: there was no dry run */
	size_t answers, ended;
	bool has_worker;    /* a worker takes jobs for it now */
	int64_t dry_run_id; /* 0: none */
	/* Only set for a closed device. */
	enum check_state state;
	struct check_remarks remarks;
};

/* What is known about one version of a task. Closed devices do not influence its state. */
struct check {
	enum check_state state;
	bool is_incomplete; /* a device had no dry run */
	int64_t dry_run_id; /* the newest; 0: none */
	struct check_remarks remarks;
	struct check_device *devices; /* all devices of the leaderboard */
	size_t device_count, closed_count;
};
int check_read(struct database *db, struct arena *arena, int64_t leaderboard_id,
	int64_t version_number, struct check *check, struct error *error);
/* check_read for a caller that reads other things in the same bundle. Bind each statement with the
 * leaderboard's ID and the version's number. */
extern const struct statement check_version_reading, check_gpus_reading, check_reference_reading;
struct check_answers {
	/* Of dry_run_reading (dry_run.h), check_version_reading, task_of_number_reading,
	 * check_gpus_reading and check_reference_reading. */
	const struct database_answer *rows, *version, *task, *gpus, *reference;
};
int check_of_answers(struct arena *arena, const struct check_answers *answers, struct check *check,
	struct error *error);

/* Reads only the warnings that need no dry run. Each has a field. check_read returns them, too. */
int check_read_form(struct database *db, struct arena *arena, int64_t leaderboard_id,
	int64_t version_number, struct check_remarks *remarks, struct error *error);

/* Like check_read_form, for a task that is not stored yet, and for the GPU models that its
 * leaderboard would have. */
int check_read_new(struct database *db, struct arena *arena, const struct task *task,
	const struct fileset *upload, const struct fileset *stock, const char *const *gpus,
	size_t count, struct check_remarks *remarks, struct error *error);

#endif
