/* A problem set: one YAML file that defines a competition of many task folders. This module reads a
 * problem set and plans what it would change on the leaderboards. docs/problem-sets.md explains the
 * format to authors.
 *
 * The YAML file may be anywhere in the upload, and its folder names are relative to its own folder.
 * A task may use files of parent folders (`../`) within the upload. */
#ifndef PODIUM_LIB_LEADERBOARD_PROBLEM_SET_H
#define PODIUM_LIB_LEADERBOARD_PROBLEM_SET_H

#include "lib/database/database.h"
#include "lib/files/fileset.h"
#include "lib/leaderboard/leaderboard.h"
#include "lib/task/task.h"
#include "lib/task/version.h"

enum { problem_set_most_problems = 200 };

struct problem {
	const char *directory; /* in the upload: "problems/sort"; "" for its top */
	const char *name;      /* of the leaderboard */
	int64_t deadline_ms;   /* TIME_NULL: none */
	const char **gpus;
	size_t gpu_count;      /* GPUs that the set names; 0: the task chooses */
	int line;              /* line in the YAML file */
	struct fileset upload; /* the task's files: its folder, or the lowest parent folder that
	                          contains all of them */
	struct task *task;     /* NULL: the task is unusable, see `faults` */
	struct task_faults faults;
};

struct problem_set {
	const char *path;               /* of the YAML within the upload */
	const char *name, *description; /* "" where not given */
	struct problem *problems;
	size_t problem_count;
};

/* The paths of the YAML files that look like problem sets, in the upload's order. task.yml files do
 * not count. */
size_t problem_set_paths(struct arena *arena, const struct fileset *upload, const char ***paths);

/* Reads the set at `path`; NULL means the only one in the upload. ERROR_INPUT with at most
 * task_most_faults sentences if the YAML itself is wrong. An unusable folder is not a fault of the
 * set; its problem then has no task. */
int problem_set_read(struct arena *arena, const struct fileset *upload, const struct fileset *stock,
	const char *path, struct problem_set **set, struct task_faults *faults);

/* ---- plans ---- */

enum plan_action { PLAN_CREATE, PLAN_CHANGE, PLAN_KEEP, PLAN_REFUSE, plan_actions };
/* "created", "changed", "unchanged", "refused" */
const char *plan_action_name(enum plan_action action);

struct plan_change {
	const char *what, *before, *after; /* before "": the leaderboard is new */
};

struct plan_item {
	const struct problem *problem;
	enum plan_action action;
	struct plan_change changes[4];
	/* number of `changes`: of the task, engine, deadline and devices. A new leaderboard has all. */
	size_t change_count;
	struct task_faults reasons; /* why the item is refused */
	const char *warning;        /* a sentence; NULL: none */
	struct leaderboard before;  /* id 0: the leaderboard is new */
	struct leaderboard_settings settings;
	struct task_draft draft;
	const char *digest; /* covers everything that the item would change, and the current state */
};

struct problem_plan {
	const struct problem_set *set;
	struct plan_item *items;
	size_t item_count;
	size_t counts[plan_actions];
	const char *digest; /* of all items, in hexadecimal */
};

struct planner {
	struct actor actor;
	bool may_change_all; /* admins and commands; false: only leaderboards that the actor has
	                        RIGHT_CHANGE on */
	bool is_unchecked;   /* publishes without the check (publication.h); only operators may */
	bool takes_ended;    /* creates leaderboards whose deadline has passed */
};

/* Computes the plan; changes nothing. */
int problem_set_plan(struct database *db, struct arena *arena, const struct problem_set *set,
	const struct fileset *stock, const struct planner *planner, struct problem_plan *plan,
	struct error *error);

/* Applies one item in its own transaction, if the leaderboard is still as it was when the plan was
 * computed. Otherwise returns ERROR_CONFLICT and changes nothing. Unchanged and refused items do
 * nothing. */
int problem_plan_apply(struct database *db, struct arena *arena, const struct plan_item *item,
	const struct fileset *stock, const struct planner *planner, struct error *error);

#endif
