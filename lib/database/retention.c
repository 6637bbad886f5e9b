#include "lib/database/retention.h"

#include "lib/base/scope.h"

#include <string.h>

/* ---- data of jobs ---- */

enum { jobs_at_once = 20, blobs_at_once = 500 };

struct mark {
	int64_t finished_at_ms, job_id;
};
static const struct column MARK_COLUMNS[] = { TIME(struct mark, finished_at_ms),
	INTEGER(struct mark, job_id) };
/* If another program has locked the row, that program is pruning this kind of data, and this one
 * skips the kind. */
static const struct statement LOCK_MARK = SELECT(struct mark, MARK_COLUMNS,
	"SELECT finished_at AS finished_at_ms, job_id FROM prunings WHERE kind = ? "
	"FOR UPDATE SKIP LOCKED");
static const struct statement NEXT_JOBS = SELECT(struct mark, MARK_COLUMNS,
	"SELECT finished_at AS finished_at_ms, id AS job_id FROM jobs FORCE INDEX (jobs_finished) "
	"WHERE finished_at >= ? AND (finished_at > ? OR id > ?) "
	"AND finished_at < UTC_TIMESTAMP(3) - INTERVAL ? DAY ORDER BY finished_at, id LIMIT ?");
static const struct statement MOVE_MARK =
	COMMAND("UPDATE prunings SET finished_at = ?, job_id = ? WHERE kind = ?");

/* Each NOTE_ statement stores the number of days after which data was removed, for pages to show.
 * The parameters of a NOTE_ statement are the days and the job. The other statements remove the
 * data. */
static const struct statement
	NOTE_SAMPLES = COMMAND("UPDATE stages t SET t.samples_days = ? WHERE t.job_id = ? "
						   "AND EXISTS (SELECT 1 FROM measurements m WHERE m.stage_id = t.id "
						   "AND m.samples IS NOT NULL)"),
	REMOVE_SAMPLES =
		COMMAND("UPDATE measurements m JOIN stages t ON t.id = m.stage_id SET m.samples = NULL "
				"WHERE t.job_id = ? AND m.samples IS NOT NULL"),
	NOTE_OUTPUT = COMMAND(
		"UPDATE stages SET output_days = ? WHERE job_id = ? AND (stdout <> '' OR stderr <> '')"),
	REMOVE_OUTPUT = COMMAND("UPDATE stages SET stdout = '', stderr = '' "
							"WHERE job_id = ? AND (stdout <> '' OR stderr <> '')"),
	NOTE_ARTIFACTS = COMMAND("UPDATE stages t SET t.artifacts_days = ? WHERE t.job_id = ? "
							 "AND (EXISTS (SELECT 1 FROM artifacts a WHERE a.stage_id = t.id) "
							 "OR EXISTS (SELECT 1 FROM measurements m WHERE m.stage_id = t.id "
							 "AND m.report IS NOT NULL))"),
	REMOVE_REPORTS =
		COMMAND("UPDATE measurements m JOIN stages t ON t.id = m.stage_id SET m.report = NULL "
				"WHERE t.job_id = ? AND m.report IS NOT NULL"),
	REMOVE_ARTIFACTS =
		COMMAND("DELETE a FROM artifacts a JOIN stages t ON t.id = a.stage_id WHERE t.job_id = ?"),
	NOTE_PLANS = COMMAND("UPDATE stages t SET t.artifacts_days = ? WHERE t.job_id = ? "
						 "AND EXISTS (SELECT 1 FROM plans p WHERE p.stage_id = t.id)"),
	REMOVE_PLANS =
		COMMAND("DELETE p FROM plans p JOIN stages t ON t.id = p.stage_id WHERE t.job_id = ?");

struct number {
	int64_t count;
};
static const struct column NUMBER_COLUMNS[] = { INTEGER(struct number, count) };
#define OF_OLD_JOBS \
	"FROM prunings p JOIN jobs j ON j.finished_at >= p.finished_at " \
	"AND (j.finished_at > p.finished_at OR j.id > p.job_id) " \
	"AND j.finished_at < UTC_TIMESTAMP(3) - INTERVAL ? DAY JOIN stages t ON t.job_id = j.id "

/* ---- all kinds ---- */

#define COUNT_OF(what) SELECT(struct number, NUMBER_COLUMNS, "SELECT COUNT(*) AS count " what)
#define OLDER_THAN "< UTC_TIMESTAMP(3) - INTERVAL ? DAY "
/* Every `condition` has one parameter, the number of days. */
#define ROWS(what, setting, table, condition) \
	{ \
		.name = what, .days = setting, .count = COUNT_OF("FROM " table " WHERE " condition), \
		.remove = COMMAND("DELETE FROM " table " WHERE " condition " LIMIT 1000") \
	}
#define UNUSED_PLAN_BLOB \
	"seen_at " OLDER_THAN \
	"AND NOT EXISTS (SELECT 1 FROM plan_uses u WHERE u.sha256 = plan_blobs.sha256) "
#define NO_SETTING SIZE_MAX
#define SETTING(member) offsetof(struct config, member)

static const struct kind {
	const char *name;
	size_t days; /* offset of the setting, or NO_SETTING */
	struct statement count, remove;
	const char *mark;                           /* prunings.kind, for data of jobs */
	const struct statement *note, *removals[2]; /* step.removed counts rows of the last one */
} KINDS[] = {
	{ .name = "samples of cases",
		.days = SETTING(retain_samples_days),
		.mark = "samples",
		.note = &NOTE_SAMPLES,
		.removals = { &REMOVE_SAMPLES },
		.count = COUNT_OF(OF_OLD_JOBS "JOIN measurements m ON m.stage_id = t.id "
									  "WHERE p.kind = 'samples' AND m.samples IS NOT NULL") },
	{ .name = "logs of stages",
		.days = SETTING(retain_logs_days),
		.mark = "output",
		.note = &NOTE_OUTPUT,
		.removals = { &REMOVE_OUTPUT },
		.count = COUNT_OF(
			OF_OLD_JOBS "WHERE p.kind = 'output' AND (t.stdout <> '' OR t.stderr <> '')") },
	{ .name = "artifacts",
		.days = SETTING(retain_artifacts_days),
		.mark = "artifacts",
		.note = &NOTE_ARTIFACTS,
		.removals = { &REMOVE_REPORTS, &REMOVE_ARTIFACTS },
		.count = COUNT_OF(
			OF_OLD_JOBS "JOIN artifacts a ON a.stage_id = t.id WHERE p.kind = 'artifacts' ") },
	{ .name = "plans",
		.days = SETTING(retain_artifacts_days),
		.mark = "plans",
		.note = &NOTE_PLANS,
		.removals = { &REMOVE_PLANS },
		.count =
			COUNT_OF(OF_OLD_JOBS "JOIN plans x ON x.stage_id = t.id WHERE p.kind = 'plans' ") },
	/* A worker may have stored a blob before its plan (worker/plan_store.c). Blobs may be large, so
	 * only a few are deleted at once. */
	{ .name = "blobs without a plan",
		.days = NO_SETTING,
		.count = COUNT_OF("FROM plan_blobs WHERE " UNUSED_PLAN_BLOB),
		.remove = COMMAND("DELETE FROM plan_blobs WHERE " UNUSED_PLAN_BLOB "LIMIT 50") },
	{ .name = "events of webhooks",
		.days = SETTING(retain_deliveries_days),
		.count = COUNT_OF("FROM webhook_events WHERE at " OLDER_THAN),
		/* Also deletes the events' deliveries, including those of deleted webhooks. */
		.remove = COMMAND("DELETE e, d FROM (SELECT id FROM webhook_events WHERE at " OLDER_THAN
						  "ORDER BY at LIMIT 50) o "
						  "JOIN webhook_events e ON e.id = o.id "
						  "LEFT JOIN webhook_deliveries d ON d.event_id = e.id") },
	ROWS("e-mails", SETTING(retain_deliveries_days), "mails", "at " OLDER_THAN),
	ROWS("entries of the audit log", SETTING(retain_audit_days), "audit_log", "at " OLDER_THAN),
	ROWS("sessions", NO_SETTING, "sessions", "expires_at " OLDER_THAN),
	ROWS("links for passwords", NO_SETTING, "password_links", "expires_at " OLDER_THAN),
	ROWS("requests of terminals to sign in", NO_SETTING, "terminals", "expires_at " OLDER_THAN),
	ROWS("sign-ins with providers", NO_SETTING, "sign_ins", "expires_at " OLDER_THAN),
	ROWS("challenges of passkeys", NO_SETTING, "passkey_challenges", "expires_at " OLDER_THAN),
	ROWS("uploads", NO_SETTING, "uploads", "expires_at " OLDER_THAN),
	ROWS("idempotency keys", NO_SETTING, "idempotency_keys", "created_at " OLDER_THAN),
	ROWS("counts of attempts", NO_SETTING, "rate_limits", "window_start " OLDER_THAN),
	ROWS("counts of requests", NO_SETTING, "api_requests",
		"window_start < UNIX_TIMESTAMP() DIV 60 - 1440 * ?"),
	ROWS("minutes of removed devices", NO_SETTING, "device_vitals",
		"at " OLDER_THAN "- INTERVAL 1 DAY"),
	/* remove_blobs() removes this kind, so it has no `remove`. */
	{ .name = "contents without a reference",
		.days = NO_SETTING,
		.count = COUNT_OF("FROM blobs b WHERE NOT EXISTS (SELECT 1 FROM submissions s "
						  "WHERE s.sha256 = b.sha256) AND NOT EXISTS (SELECT 1 FROM task_files f "
						  "WHERE f.sha256 = b.sha256) AND ? > 0") },
};
_Static_assert(COUNT(KINDS) <= retention_most_kinds, "struct retention counts all kinds");

size_t retention_kinds(void)
{
	return COUNT(KINDS);
}

const char *retention_kind(size_t kind)
{
	return KINDS[kind].name;
}

int64_t retention_days(const struct config *config, size_t kind)
{
	return KINDS[kind].days == NO_SETTING
		? 1
		: *(const int64_t *)(const void *)((const char *)config + KINDS[kind].days);
}

int retention_count(struct database *db, const struct config *config, size_t kind, int64_t *count,
	struct error *error)
{
	cleanup_arena struct arena *arena = arena_new();
	int64_t days = retention_days(config, kind);
	struct number found = { 0 };
	int rc = days ? database_row(db, arena, &KINDS[kind].count, &found, error, "i", days) : 0;
	*count = found.count;
	return rc;
}

/* ---- steps ---- */

struct step {
	const struct kind *kind;
	int64_t days, removed;
	bool is_done;
};

static int remove_job_data(
	struct database *db, struct step *step, int64_t job_id, struct error *error)
{
	int rc = database_execute(db, step->kind->note, error, "ii", step->days, job_id);
	for (size_t i = 0; i < COUNT(step->kind->removals) && step->kind->removals[i] && !rc; i++) {
		rc = database_execute(db, step->kind->removals[i], error, "i", job_id);
		if (!rc && (i + 1 == COUNT(step->kind->removals) || !step->kind->removals[i + 1]))
			step->removed += (int64_t)database_affected(db);
	}
	return rc;
}

static int remove_jobs_data(struct database *db, void *context, struct error *error)
{
	struct step *step = context;
	cleanup_arena struct arena *arena = arena_new();
	struct mark mark, *jobs;
	size_t count = 0;
	step->removed = 0;
	step->is_done = true;
	int rc = database_row(db, arena, &LOCK_MARK, &mark, error, "s", step->kind->mark);
	if (rc)
		return rc == ERROR_NOT_FOUND ? 0 : rc;
	rc = database_rows(db, arena, &NEXT_JOBS, &jobs, &count, error, "ttiii", mark.finished_at_ms,
		mark.finished_at_ms, mark.job_id, step->days, (int64_t)jobs_at_once);
	for (size_t i = 0; i < count && !rc; i++)
		rc = remove_job_data(db, step, jobs[i].job_id, error);
	if (!rc && count)
		rc = database_execute(db, &MOVE_MARK, error, "tis", jobs[count - 1].finished_at_ms,
			jobs[count - 1].job_id, step->kind->mark);
	step->is_done = count < jobs_at_once;
	return rc;
}

static int remove_rows(struct database *db, struct step *step, struct error *error)
{
	int rc = database_execute(db, &step->kind->remove, error, "i", step->days);
	step->removed = rc ? 0 : (int64_t)database_affected(db);
	step->is_done = !step->removed;
	return rc;
}

/* ---- contents ---- */

struct content {
	struct blob_value sha256;
	int64_t is_used;
};
static const struct column CONTENT_COLUMNS[] = { BLOB(struct content, sha256),
	INTEGER(struct content, is_used) };
static const struct statement CONTENTS = SELECT(struct content, CONTENT_COLUMNS,
	"SELECT b.sha256, EXISTS (SELECT 1 FROM submissions s WHERE s.sha256 = b.sha256) "
	"OR EXISTS (SELECT 1 FROM task_files f WHERE f.sha256 = b.sha256) "
	"AS is_used FROM blobs b WHERE b.sha256 > ? ORDER BY b.sha256 LIMIT ?");
/* A transaction that wants to refer to a locked content waits for the lock, and stores the content
 * again if it is gone. Contents that another transaction has locked are skipped until the next
 * walk. */
static const struct statement LOCK_CONTENT = SELECT(struct content, CONTENT_COLUMNS,
	"SELECT sha256, 0 AS is_used FROM blobs WHERE sha256 = ? FOR UPDATE SKIP LOCKED");
static const struct statement REMOVE_CONTENT =
	COMMAND("DELETE FROM blobs WHERE sha256 = ? AND NOT EXISTS (SELECT 1 FROM submissions s "
			"WHERE s.sha256 = blobs.sha256) "
			"AND NOT EXISTS (SELECT 1 FROM task_files f WHERE f.sha256 = blobs.sha256)");

struct removal {
	const struct content *content;
	int64_t removed;
};

static int remove_blob(struct database *db, void *context, struct error *error)
{
	struct removal *removal = context;
	cleanup_arena struct arena *arena = arena_new();
	const struct blob_value *sha256 = &removal->content->sha256;
	struct content locked;
	int rc =
		database_row(db, arena, &LOCK_CONTENT, &locked, error, "b", sha256->bytes, sha256->length);
	if (!rc)
		rc = database_execute(db, &REMOVE_CONTENT, error, "b", sha256->bytes, sha256->length);
	removal->removed = rc ? 0 : (int64_t)database_affected(db);
	return rc == ERROR_NOT_FOUND ? 0 : rc;
}

static int remove_blobs(
	struct database *db, struct retention *retention, struct step *step, struct error *error)
{
	cleanup_arena struct arena *arena = arena_new();
	struct content *contents;
	size_t count = 0;
	int rc = database_rows(db, arena, &CONTENTS, &contents, &count, error, "bi", retention->blob,
		sizeof retention->blob, (int64_t)blobs_at_once);
	for (size_t i = 0; i < count && !rc; i++) {
		struct removal removal = { .content = &contents[i] };
		if (!contents[i].is_used)
			rc = database_transaction(db, remove_blob, &removal, error);
		step->removed += removal.removed;
	}
	if (!rc && count)
		memcpy(retention->blob, contents[count - 1].sha256.bytes, sizeof retention->blob);
	step->is_done = count < blobs_at_once;
	return rc;
}

int retention_step(struct database *db, const struct config *config, struct retention *retention,
	bool *is_done, struct error *error)
{
	struct step step = { .kind = &KINDS[retention->kind],
		.days = retention_days(config, retention->kind),
		.is_done = true };
	int rc = 0;
	if (step.kind->mark && step.days)
		rc = database_transaction(db, remove_jobs_data, &step, error);
	else if (step.kind->remove.sql && step.days)
		rc = remove_rows(db, &step, error);
	else if (step.days)
		rc = remove_blobs(db, retention, &step, error);
	if (rc)
		return rc;
	retention->removed[retention->kind] += step.removed;
	retention->kind += step.is_done;
	*is_done = retention->kind == COUNT(KINDS);
	return 0;
}
