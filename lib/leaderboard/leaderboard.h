/* Leaderboards and their task versions: creating, editing, deleting. Used by the admin pages and by
 * podium-admin, so both check the same and leave the same audit entries. */
#ifndef PODIUM_LIB_LEADERBOARD_H
#define PODIUM_LIB_LEADERBOARD_H

#include "lib/arena.h"
#include "lib/database.h"
#include "lib/error.h"
#include "lib/fileset.h"
#include "lib/quota.h"
#include "lib/task.h"

#include <stdbool.h>
#include <stdint.h>

struct leaderboard {
	int64_t id;
	const char *name;
	int64_t creator_id; /* SQL_NULL_INTEGER: none */
	int64_t task_version_id;
	int64_t version_number;
	const char *language; /* "py", "cu" */
	int64_t deadline_ms;  /* TIME_NULL: none */
	int64_t accepting;    /* 0: closed by an admin */
	int64_t sources_public_after_deadline;
	int64_t created_at_ms;
	const char *visibility; /* "public", "closed", "hidden": lib/visibility.h */
	int64_t practice;       /* takes submissions after the deadline, without a rank */
	int64_t frozen_at_ms; /* the public ranking stands still from then on; TIME_NULL: it does not */
	int64_t archived_at_ms; /* TIME_NULL: it is not */
};

struct actor {
	int64_t id;
	const char *name, *address;
}; /* id 0: a command */

struct leaderboard_settings {
	const char *name; /* only for creating */
	bool hidden; /* only for creating: it is prepared and tried out before anybody else sees it;
	                else it is public */
	int64_t deadline_ms; /* TIME_NULL: none */
	bool accepting;
	bool sources_public_after_deadline;
	bool keeps_version; /* a task that runs differently becomes a draft: it is not switched to */
	const char **gpus;
	size_t gpu_count;
	const struct quota
		*quotas; /* one for each mode, most 0: the site's; NULL: they stay as they are */
};

int leaderboard_by_name(struct database *db, struct arena *arena, const char *name,
	struct leaderboard *leaderboard, struct error *error);

/* The same on behalf of a visitor, 0 for nobody: what he may not see is not found. */
int leaderboard_seen_by(struct database *db, struct arena *arena, int64_t viewer_id,
	const char *name, struct leaderboard *leaderboard, struct error *error);

/* The same as a part of another question (struct bundle): leaderboard_reading is bound by a name,
 * which must be one, and the visitor, and leaderboard_read takes its answer. */
extern const struct statement leaderboard_reading;
int leaderboard_read(struct arena *arena, const struct database_answer *answer, const char *name,
	struct leaderboard *leaderboard, struct error *error);

/* The chosen GPU models in their order. */
int leaderboard_gpus(struct database *db, struct arena *arena, int64_t leaderboard_id,
	const char ***gpus, size_t *count, struct error *error);

/* The definition of a task version. */
int leaderboard_task(struct database *db, struct arena *arena, int64_t task_version_id,
	struct task **task, struct error *error);

/* The same as a part of another question, bound by the version. */
extern const struct statement task_reading;
int task_read(struct arena *arena, const struct database_answer *answer, struct task **task,
	struct error *error);

/* One file of a version: its bytes. */
int leaderboard_file(struct database *db, struct arena *arena, int64_t task_version_id,
	enum task_file_role role, const char *path, struct blob_value *content, struct error *error);

/* What a name for a new leaderboard must be; the error's field is name. */
int leaderboard_check_name(const char *name, struct error *error);

/* What leaderboard_create (is_new) or leaderboard_update would refuse about the settings; changes
 * nothing. */
int leaderboard_check_settings(struct arena *arena, const struct leaderboard_settings *settings,
	enum task_language language, bool is_new, struct error *error);

/* Creates a leaderboard with version 1 of its task, in one transaction. The error's field is name,
 * deadline, gpu or task. */
int leaderboard_create(struct database *db, struct arena *arena,
	const struct leaderboard_settings *settings, const struct task *task,
	const struct fileset *upload, const struct fileset *stock, const struct actor *actor,
	int64_t *id, struct error *error);

/* Changes settings (not the name) and, with `task` not NULL and different from the current one,
 * adds a task version and switches to it; a task that differs only in what is read rewrites the
 * current version (lib/task_version.h). */
int leaderboard_update(struct database *db, struct arena *arena,
	const struct leaderboard *leaderboard, const struct leaderboard_settings *settings,
	const struct task *task, const struct fileset *upload, const struct fileset *stock,
	const struct actor *actor, struct error *error);

/* Submissions run against version `number` from now on; jobs that wait keep the version that they
 * were handed in for. ERROR_NOT_FOUND when there is no such version. */
int leaderboard_switch(struct database *db, struct arena *arena,
	const struct leaderboard *leaderboard, int64_t number, const struct actor *actor,
	struct error *error);

/* A new leaderboard of the actor's with the present task, devices, quotas and settings of another;
 * hidden, without a deadline, with a secret seed of its own. The error's field is name. */
int leaderboard_clone(struct database *db, struct arena *arena,
	const struct leaderboard *leaderboard, const char *name, const struct actor *actor,
	struct error *error);

/* Deletes it with all versions, submissions, results, ranking rows and the blobs nothing else uses,
 * in one transaction, and writes the audit entry. ERROR_CONFLICT while one of its jobs is running
 * is not raised: the worker finds its fence gone. */
int leaderboard_delete(struct database *db, const struct leaderboard *leaderboard,
	const struct actor *actor, struct error *error);

/* A part of a statement: workers and gpus whose seen_at is so are online; workers renew it each
 * second. */
#define SQL_IS_ONLINE " > UTC_TIMESTAMP(3) - INTERVAL 60 SECOND "

/* GPU models that workers who are online offer. */
struct offered_gpu {
	const char *model, *product;
	int64_t workers;
	int64_t seen_at_ms;
};
int gpus_offered(struct database *db, struct arena *arena, struct offered_gpu **gpus, size_t *count,
	struct error *error);
bool gpu_is_name(const char *gpu); /* 1 to 48 letters, digits, dots, dashes and underscores */

#endif
