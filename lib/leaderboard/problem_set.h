/* A problem set: one YAML that makes a competition of many task folders, and the plan of what it
 * would do to the leaderboards. docs/problem-sets.md explains the format to authors.
 *
 * The YAML may lie anywhere in the upload; the folders that it names are relative to its own. A
 * task may use files of the folders above its own (`../`) as far as the upload reaches. */
#ifndef PODIUM_LIB_PROBLEM_SET_H
#define PODIUM_LIB_PROBLEM_SET_H

#include "lib/database.h"
#include "lib/fileset.h"
#include "lib/leaderboard.h"
#include "lib/task.h"
#include "lib/task_version.h"

enum { problem_set_most_problems = 200 };

struct problem {
	const char *directory; /* in the upload: "problems/sort", "" for its top */
	const char *name;      /* of the leaderboard */
	int64_t deadline_ms;   /* TIME_NULL: none */
	const char **gpus;
	size_t gpu_count;      /* as the set says; 0: it leaves them to the task */
	int line;              /* of the YAML */
	struct fileset upload; /* the task's files: its folder, or the lowest folder above it that has
	                          all of them */
	struct task *task;     /* NULL: it cannot be used, `faults` says why */
	struct task_faults faults;
};

struct problem_set {
	const char *path;               /* of the YAML in the upload */
	const char *name, *description; /* "" where not given */
	struct problem *problems;
	size_t problem_count;
};

/* The paths of the YAML files that look like problem sets, in the upload's order; task.yml files
 * are none. */
size_t problem_set_paths(struct arena *arena, const struct fileset *upload, const char ***paths);

/* Reads the set at `path`; NULL means the only one there is. ERROR_INPUT with up to
 * task_most_faults sentences when the YAML itself is wrong. A folder that cannot be used is no
 * fault of the set: its problem has no task then. */
int problem_set_read(struct arena *arena, const struct fileset *upload, const struct fileset *stock,
	const char *path, struct problem_set **set, struct task_faults *faults);

/* ---- plans ---- */

enum plan_action { PLAN_CREATE, PLAN_CHANGE, PLAN_KEEP, PLAN_REFUSE, plan_actions };
const char *plan_action_name(
	enum plan_action action); /* "created", "changed", "unchanged", "refused" */

struct plan_change {
	const char *what, *before, *after;
}; /* before "" for what is created */

struct plan_item {
	const struct problem *problem;
	enum plan_action action;
	struct plan_change changes[4];
	size_t change_count;        /* task, deadline, devices; of those created all of them */
	struct task_faults reasons; /* why it is refused */
	const char *warning;        /* a sentence, or NULL: "No device is chosen ..." */
	struct leaderboard before;  /* id 0: there is none */
	struct leaderboard_settings settings;
	struct task_draft draft;
	const char *digest; /* of all that the item would do, and to what */
};

struct problem_plan {
	const struct problem_set *set;
	struct plan_item *items;
	size_t item_count;
	size_t counts[plan_actions];
	const char *digest; /* of all items, in hexadecimal */
};

/* Who plans: may_change_all (admins, commands) or only leaderboards of one's own. */
struct planner {
	struct actor actor;
	bool may_change_all;
};

/* Computes the plan; changes nothing. */
int problem_set_plan(struct database *db, struct arena *arena, const struct problem_set *set,
	const struct fileset *stock, const struct planner *planner, struct problem_plan *plan,
	struct error *error);

/* Applies one item in a transaction of its own, if what the database has is still what the item was
 * computed from; else ERROR_CONFLICT, and nothing was changed. Items that are kept or refused do
 * nothing. */
int problem_plan_apply(struct database *db, struct arena *arena, const struct plan_item *item,
	const struct fileset *stock, const struct planner *planner, struct error *error);

#endif
