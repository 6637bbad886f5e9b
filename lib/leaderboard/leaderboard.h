/* Leaderboards and their task versions: creating, editing and deleting. The admin pages and
 * podium-admin both use these functions, so both check the same and write the same audit entries.
 */
#ifndef PODIUM_LIB_LEADERBOARD_LEADERBOARD_H
#define PODIUM_LIB_LEADERBOARD_LEADERBOARD_H

#include "lib/account/audit.h"
#include "lib/base/arena.h"
#include "lib/base/error.h"
#include "lib/database/database.h"
#include "lib/files/fileset.h"
#include "lib/leaderboard/quota.h"
#include "lib/leaderboard/source_policy.h"
#include "lib/task/task.h"

#include <stdbool.h>
#include <stdint.h>

enum { contest_most_columns = 200 }; /* of a contest's scoreboard: problems times devices */

struct leaderboard {
	int64_t id;
	const char *name;
	int64_t creator_id; /* SQL_NULL_INTEGER: none */
	int64_t task_version_id;
	int64_t version_number;
	const char *language;          /* "py", "cu" */
	int64_t deadline_ms;           /* TIME_NULL: none */
	int64_t accepting;             /* 0: closed by an admin */
	const char *sources, *license; /* lib/leaderboard/source_policy.h; license "": none */
	int64_t created_at_ms;
	const char *visibility; /* "public", "closed", "hidden": lib/leaderboard/visibility.h */
	int64_t practice;       /* takes submissions after the deadline, without a rank */
	int64_t frozen_at_ms;   /* the public ranking is frozen from then on; TIME_NULL: not frozen */
	int64_t archived_at_ms; /* TIME_NULL: not archived */
	/* What becomes visible once its check passes (publication.h): the visibility, and the version.
	 * NULL and SQL_NULL_INTEGER: nothing. */
	const char *wanted_visibility;
	int64_t wanted_version;
	int64_t has_device; /* read only with the leaderboard alone, not by SQL_LEADERBOARD_FIELDS */
};

/* For a statement whose row begins with struct leaderboard: the columns of the struct, and the
 * fields to select. The statement has leaderboards as l and a version in task_versions as v. */
#define LEADERBOARD_MEMBERS \
	INTEGER(struct leaderboard, id), TEXT(struct leaderboard, name), \
		INTEGER(struct leaderboard, creator_id), INTEGER(struct leaderboard, task_version_id), \
		INTEGER(struct leaderboard, version_number), TEXT(struct leaderboard, language), \
		TIME(struct leaderboard, deadline_ms), INTEGER(struct leaderboard, accepting), \
		TEXT(struct leaderboard, sources), TEXT(struct leaderboard, license), \
		TIME(struct leaderboard, created_at_ms), TEXT(struct leaderboard, visibility), \
		INTEGER(struct leaderboard, practice), TIME(struct leaderboard, frozen_at_ms), \
		TIME(struct leaderboard, archived_at_ms), TEXT(struct leaderboard, wanted_visibility), \
		INTEGER(struct leaderboard, wanted_version)
#define SQL_LEADERBOARD_FIELDS \
	"l.id, l.name, l.creator_id, v.id AS task_version_id, v.number AS version_number, " \
	"v.language, l.deadline AS deadline_ms, l.accepting, " SQL_SOURCE_POLICY( \
		"l") " AS sources, " \
			 "l.source_license AS license, " \
			 "l.created_at AS created_at_ms, l.visibility, l.practice, l.frozen_at AS " \
			 "frozen_at_ms, " \
			 "l.archived_at AS archived_at_ms, " \
			 "(SELECT p.visibility FROM publications p WHERE p.leaderboard_id = l.id) " \
			 "AS wanted_visibility, (SELECT w.number FROM publications p JOIN task_versions w " \
			 "ON w.id = p.task_version_id WHERE p.leaderboard_id = l.id) AS wanted_version"

struct leaderboard_settings {
	const char *name; /* only for creating */
	bool hidden;    /* only for creating: true hides it while it is prepared; false publishes it */
	bool unchecked; /* publishes without the check (publication.h); only operators may */
	int64_t deadline_ms; /* TIME_NULL: none */
	bool may_have_ended; /* only for creating: the deadline may have passed */
	bool accepting;
	/* NULL: no change; for a new leaderboard, SOURCE_POLICY_USUAL and no license */
	const char *sources, *license;
	/* a new version of the task is stored as a draft and not used yet */
	bool keeps_version;
	const char **gpus;
	size_t gpu_count;
	/* one per mode, in which `most` 0 stands for the site's quota; NULL: no change */
	const struct quota *quotas;
};

/* Reads a leaderboard. ERROR_NOT_FOUND: there is none with this name. */
int leaderboard_by_name(struct database *db, struct arena *arena, const char *name,
	struct leaderboard *leaderboard, struct error *error);

/* Like leaderboard_by_name, on behalf of a visitor; `viewer_id` 0: not signed in. ERROR_NOT_FOUND
 * also if the visitor may not see the leaderboard. */
int leaderboard_seen_by(struct database *db, struct arena *arena, int64_t viewer_id,
	const char *name, struct leaderboard *leaderboard, struct error *error);

/* Like leaderboard_seen_by, but as a part of a bundle. leaderboard_reading has two parameters: a
 * valid name and the visitor. leaderboard_read takes its answer. */
extern const struct statement leaderboard_reading;
int leaderboard_read(struct arena *arena, const struct database_answer *answer, const char *name,
	struct leaderboard *leaderboard, struct error *error);

/* Reads the leaderboard's GPU models, ordered by their position. leaderboard_open_gpus reads those
 * that take submissions. */
int leaderboard_gpus(struct database *db, struct arena *arena, int64_t leaderboard_id,
	const char ***gpus, size_t *count, struct error *error);
int leaderboard_open_gpus(struct database *db, struct arena *arena, int64_t leaderboard_id,
	const char ***gpus, size_t *count, struct error *error);

/* SQL condition: a device, a row of leaderboard_gpus, waits for its check (publication.h) and takes
 * no submissions. */
#define SQL_IS_CLOSED(leaderboard, device) \
	"(" device ".closed_at IS NOT NULL AND " leaderboard ".visibility <> 'hidden')"

/* Reads the definition of a task version. */
int leaderboard_task(struct database *db, struct arena *arena, int64_t task_version_id,
	struct task **task, struct error *error);

/* The parts of leaderboard_task for a bundle. Bind task_reading with the version's ID, or
 * task_of_number_reading with the leaderboard's ID and the version's number. task_read takes the
 * answer. */
extern const struct statement task_reading, task_of_number_reading;
int task_read(struct arena *arena, const struct database_answer *answer, struct task **task,
	struct error *error);

/* The bytes of one file of a task version. */
int leaderboard_file(struct database *db, struct arena *arena, int64_t task_version_id,
	enum task_file_role role, const char *path, struct blob_value *content, struct error *error);

/* Checks a name for a new leaderboard; the error's field is name. */
int leaderboard_check_name(const char *name, struct error *error);

/* Like leaderboard_check_name. ERROR_CONFLICT: the name is taken. */
int leaderboard_check_new_name(
	struct database *db, struct arena *arena, const char *name, struct error *error);
/* Checks the deadline for a new leaderboard; the error's field is deadline. */
int leaderboard_check_deadline(struct arena *arena, int64_t deadline_ms, struct error *error);

/* Checks the settings as leaderboard_create (is_new) or leaderboard_update would; changes nothing.
 */
int leaderboard_check_settings(struct arena *arena, const struct leaderboard_settings *settings,
	enum task_language language, bool is_new, struct error *error);

/* Creates a leaderboard with version 1 of its task, in one transaction. The leaderboard is hidden
 * until its check passes (publication.h). The error's field is name, deadline, gpu or task. */
int leaderboard_create(struct database *db, struct arena *arena,
	const struct leaderboard_settings *settings, const struct task *task,
	const struct fileset *upload, const struct fileset *stock, const struct actor *actor,
	int64_t *id, struct error *error);

/* Changes the settings, except the name. If `task` is not NULL and differs from the current one,
 * adds a task version. A hidden leaderboard uses the version immediately, a visible one when the
 * check of the version has passed (publication.h). A device that is added to a visible leaderboard
 * takes no submissions before its check has passed. If only texts for readers differ, rewrites the
 * current version instead (lib/task/version.h). Cancels the queued jobs for devices that the
 * settings remove; `cancelled` gets their number and may be NULL. */
int leaderboard_update(struct database *db, struct arena *arena,
	const struct leaderboard *leaderboard, const struct leaderboard_settings *settings,
	const struct task *task, const struct fileset *upload, const struct fileset *stock,
	const struct actor *actor, int64_t *cancelled, struct error *error);

/* The version whose task an author edits: the one that waits for its check (publication.h), else
 * the one in use. `state` identifies the current content of both versions, so it changes with every
 * edit of the task. */
struct edited_version {
	int64_t id, number;
	const char *state; /* "12.0.13.2" */
};
int leaderboard_edited_version(struct database *db, struct arena *arena, int64_t leaderboard_id,
	struct edited_version *version, struct error *error);

/* ERROR_CONFLICT if the version's state is no longer `state`, because somebody else has edited the
 * task. */
int edited_version_check(
	const struct edited_version *version, const char *state, struct error *error);

/* ERROR_INPUT, without a field, if one of the leaderboard's devices cannot run the language. */
int leaderboard_check_task_gpus(struct database *db, struct arena *arena, int64_t leaderboard_id,
	enum task_language language, struct error *error);

/* Replaces the task of the edited version (leaderboard_edited_version) and leaves the settings as
 * they are. Otherwise works like leaderboard_update, even for a version that waits for its check.
 * `state` is the version's state when the author read the task. ERROR_CONFLICT: it has changed.
 * *number becomes the number of the version that has the task now. */
int leaderboard_edit_task(struct database *db, struct arena *arena,
	const struct leaderboard *leaderboard, const char *state, bool keeps_version,
	const struct task *task, const struct fileset *upload, const struct fileset *stock,
	const struct actor *actor, int64_t *number, struct error *error);

/* Makes new submissions run against version `number`. A visible leaderboard uses the version once
 * its check has passed (publication.h). Queued jobs keep the version for which they were submitted.
 * ERROR_NOT_FOUND: there is no such version. */
int leaderboard_switch(struct database *db, struct arena *arena,
	const struct leaderboard *leaderboard, int64_t number, const struct actor *actor,
	struct error *error);

/* Copies a leaderboard: the actor becomes the creator of a new one with the same current task,
 * devices, quotas and settings. The copy is hidden, has no deadline, and has its own secret seed.
 * The error's field is name. */
int leaderboard_clone(struct database *db, struct arena *arena,
	const struct leaderboard *leaderboard, const char *name, const struct actor *actor,
	struct error *error);

/* Deletes a leaderboard with its versions, submissions, results, ranking rows and the blobs that
 * nothing else uses. Does this in one transaction and writes the audit entry. Running jobs do not
 * prevent the deletion: their workers find that their claims are gone and store nothing. */
int leaderboard_delete(struct database *db, const struct leaderboard *leaderboard,
	const struct actor *actor, struct error *error);

/* Whether authors must accept the leaderboard's license: it has one, and its sources may open. */
bool leaderboard_asks_license(const struct leaderboard *leaderboard);

/* A deadline and GPU models in words: "2026-11-21 06:10 UTC", "H200, CPU"; "none". */
const char *leaderboard_deadline_words(struct arena *arena, int64_t deadline_ms);
const char *leaderboard_gpu_words(struct arena *arena, const char *const *gpus, size_t count);

/* SQL expression: the deadline that counts for an author, an expression of users.id. It is the
 * leaderboard's, or the author's extension (lib/judging/exception.h) if that is later. NULL: the
 * leaderboard has no deadline. */
#define SQL_DEADLINE_OF(leaderboard, author) \
	"GREATEST(" leaderboard ".deadline, COALESCE((SELECT late.deadline FROM " \
	"leaderboard_extensions late WHERE late.leaderboard_id = " leaderboard \
	".id AND late.user_id = " author "), " leaderboard ".deadline))"

/* SQL, to append to the column seen_at of workers or gpus: the row is online. Workers renew seen_at
 * each second. */
#define SQL_IS_ONLINE " > UTC_TIMESTAMP(3) - INTERVAL 60 SECOND "

/* SQL condition: a device takes jobs. `gpu` and `worker` are rows of gpus and workers. */
#define SQL_TAKES_JOBS(gpu, worker) \
	gpu ".seen_at" SQL_IS_ONLINE "AND " gpu ".quarantined_at IS NULL " \
		"AND " worker ".protocol >= (SELECT oldest_program FROM compatibility) " \
		"AND NOT EXISTS (SELECT 1 FROM pauses p WHERE p.worker = " worker ".name " \
		"AND p.uuid IN ('', " gpu ".uuid)) "

/* SQL expression: whether a worker takes jobs for the model `gpu`. */
#define SQL_IS_SERVED(gpu) \
	"EXISTS (SELECT 1 FROM gpus served JOIN workers server ON server.id = served.worker_id " \
	"WHERE served.model = " gpu " AND " SQL_TAKES_JOBS("served", "server") ")"

/* SQL, a statement: the models of leaderboards that take submissions and meet `condition`. */
#define SQL_WANTED_MODELS(condition) \
	"SELECT DISTINCT g.gpu FROM leaderboards l JOIN leaderboard_gpus g ON g.leaderboard_id = " \
	"l.id " \
	"WHERE l.accepting AND l.archived_at IS NULL AND " condition \
	" AND (l.practice OR l.deadline IS NULL OR l.deadline > UTC_TIMESTAMP(3)) ORDER BY g.gpu"

/* The GPU models that online workers offer. */
struct offered_gpu {
	const char *model, *product;
	int64_t workers;
	int64_t seen_at_ms;
};
int gpus_offered(struct database *db, struct arena *arena, struct offered_gpu **gpus, size_t *count,
	struct error *error);
bool gpu_is_name(const char *gpu); /* 1 to 48 letters, digits, dots, dashes and underscores */

#endif
