#include "lib/fleet/fleet.h"

#include "lib/account/audit.h"
#include "lib/account/user.h"
#include "lib/base/quote.h"
#include "lib/base/scope.h"
#include "lib/base/text.h"

#include <string.h>

static const struct column DEVICE_COLUMNS[] = {
	INTEGER(struct fleet_device, worker_id),
	TEXT(struct fleet_device, worker),
	INTEGER(struct fleet_device, online),
	TIME(struct fleet_device, seen_at_ms),
	TEXT(struct fleet_device, version),
	INTEGER(struct fleet_device, is_too_old),
	TEXT(struct fleet_device, uuid),
	TEXT(struct fleet_device, model),
	TEXT(struct fleet_device, product),
	INTEGER(struct fleet_device, worker_pause),
	INTEGER(struct fleet_device, device_pause),
	TEXT(struct fleet_device, paused_by),
	TEXT(struct fleet_device, reason),
	TIME(struct fleet_device, broken_at_ms),
	INTEGER(struct fleet_device, submission_id),
	INTEGER(struct fleet_device, rival_id),
	TEXT(struct fleet_device, progress),
};
const struct statement fleet_devices = SELECT(struct fleet_device, DEVICE_COLUMNS,
	"SELECT w.id AS worker_id, w.name AS worker, w.seen_at" SQL_IS_ONLINE "AS online, "
	"w.seen_at AS seen_at_ms, w.version, "
	"w.protocol < (SELECT oldest_program FROM compatibility) AS is_too_old, "
	"g.uuid, g.model, g.product, COALESCE(whole.kind + 0, 0) AS worker_pause, "
	"COALESCE(one.kind + 0, 0) AS device_pause, "
	"COALESCE(one.paused_by, whole.paused_by) AS paused_by, "
	"COALESCE(one.reason, g.quarantine_reason) AS reason, g.quarantined_at AS broken_at_ms, "
	"COALESCE(j.submission_id, c.challenger_id, a.submission_id) AS submission_id, "
	"c.incumbent_id AS rival_id, j.progress "
	"FROM workers w LEFT JOIN gpus g ON g.worker_id = w.id "
	"LEFT JOIN pauses whole ON whole.worker = w.name AND whole.uuid = '' "
	"LEFT JOIN pauses one ON one.worker = w.name AND one.uuid = g.uuid "
	"LEFT JOIN jobs j FORCE INDEX (jobs_lease) ON j.state = 'running' AND j.lease_owner = w.name "
	"AND j.lease_device = g.uuid "
	"LEFT JOIN comparisons c ON c.id = j.comparison_id "
	"LEFT JOIN rejudged_jobs a ON a.id = j.rejudged_id "
	"ORDER BY w.name, g.model, g.uuid, j.id");

int fleet_list(struct database *db, struct arena *arena, struct fleet_device **devices,
	size_t *count, struct error *error)
{
	return database_rows(db, arena, &fleet_devices, devices, count, error, "");
}

const char *fleet_state(bool online, enum pause pause, bool runs)
{
	if (!online)
		return "offline";
	if (pause == PAUSE_QUARANTINE)
		return "quarantined";
	if (pause == PAUSE_PAUSE)
		return "paused";
	return pause == PAUSE_NONE ? "online" : runs ? "draining" : "drained";
}

/* ---- pausing and resuming ---- */

struct id_row {
	int64_t id;
};
static const struct column ID_COLUMNS[] = { INTEGER(struct id_row, id) };
/* A worker that claims a job locks this row in share mode, so LOCK_WORKER waits for claims in
 * progress. */
static const struct statement LOCK_WORKER =
	SELECT(struct id_row, ID_COLUMNS, "SELECT id FROM workers WHERE name = ? FOR UPDATE");
static const struct statement FIND_DEVICE = SELECT(
	struct id_row, ID_COLUMNS, "SELECT worker_id AS id FROM gpus WHERE worker_id = ? AND uuid = ?");
static const struct statement PUT_PAUSE =
	COMMAND("INSERT INTO pauses (worker, uuid, kind, paused_by, reason) "
			"VALUES (?, ?, ?, ?, ?) ON DUPLICATE KEY UPDATE kind = VALUES(kind), "
			"paused_by = VALUES(paused_by), reason = VALUES(reason), paused_at = UTC_TIMESTAMP(3)");
static const struct statement DELETE_PAUSE =
	COMMAND("DELETE FROM pauses WHERE worker = ? AND uuid = ?");

static const struct statement LOCK_RUNNING = SELECT(struct id_row, ID_COLUMNS,
	"SELECT id FROM jobs WHERE state = 'running' AND lease_owner = ? "
	"AND ? IN ('', lease_device) FOR UPDATE");
static const struct statement DELETE_STAGES = COMMAND("DELETE FROM stages WHERE job_id = ?");
/* Increments the fence. The worker's writes name the old fence, so its late writes match no row. */
static const struct statement QUEUE_AGAIN = COMMAND(
	"UPDATE jobs SET state = 'queued', fence = fence + 1, attempt = GREATEST(attempt, 1) - 1, "
	"reason = ?, progress = '', environment = NULL, "
	"lease_owner = NULL, lease_device = NULL, lease_expires = NULL, started_at = NULL "
	"WHERE id = ?");

struct change {
	const char *worker, *uuid;
	enum pause pause;
	const struct actor *actor;
	const char *reason;
	int64_t given_back;
};

/* The name of each kind in the tables, and its entry in the audit log. */
static const struct {
	const char *kind, *action, *detail;
} KINDS[] = {
	[PAUSE_DRAIN] = { "drain", "worker.drain", "takes no new jobs; the current job finishes" },
	[PAUSE_PAUSE] = { "pause", "worker.pause", "takes no jobs" },
	[PAUSE_QUARANTINE] = { "quarantine", "worker.quarantine", "in quarantine" },
};

static int lock_worker(struct database *db, struct arena *arena, const struct change *change,
	struct id_row *worker, struct error *error)
{
	int rc = !text_is_ascii(change->worker)
		? ERROR_NOT_FOUND
		: database_row(db, arena, &LOCK_WORKER, worker, error, "s", change->worker);
	return rc == ERROR_NOT_FOUND
		? fail(error, rc, "There is no worker named %s.", quote(arena, change->worker))
		: rc;
}

static int check_device(struct database *db, struct arena *arena, const struct change *change,
	int64_t worker_id, struct error *error)
{
	struct id_row device;
	int rc = !*change->uuid ? 0
		: !text_is_ascii(change->uuid)
		? ERROR_NOT_FOUND
		: database_row(db, arena, &FIND_DEVICE, &device, error, "is", worker_id, change->uuid);
	return rc == ERROR_NOT_FOUND ? fail(error, rc, "The worker %s has no device %s.",
			   change->worker, quote(arena, change->uuid))
								 : rc;
}

/* Queues the running jobs of one device again; `uuid` "": those of the whole worker. */
static int requeue_jobs(struct database *db, struct arena *arena, const char *worker,
	const char *uuid, const char *reason, int64_t *given_back, struct error *error)
{
	struct id_row *jobs;
	size_t count = 0;
	int rc = database_rows(db, arena, &LOCK_RUNNING, &jobs, &count, error, "ss", worker, uuid);
	for (size_t i = 0; i < count && !rc; i++) {
		rc = database_execute(db, &DELETE_STAGES, error, "i", jobs[i].id);
		if (!rc)
			rc = database_execute(db, &QUEUE_AGAIN, error, "si", reason, jobs[i].id);
	}
	*given_back = (int64_t)count;
	return rc;
}

static int requeue_with_reason(
	struct database *db, struct arena *arena, struct change *change, struct error *error)
{
	const char *reason = change->pause == PAUSE_QUARANTINE
		? arena_printf(
			arena, "an admin quarantined the device that it ran on (worker %s).", change->worker)
		: *change->uuid ? arena_printf(
			  arena, "an admin paused the device that it ran on (worker %s).", change->worker)
						: arena_printf(arena, "an admin paused worker %s.", change->worker);
	return requeue_jobs(
		db, arena, change->worker, change->uuid, reason, &change->given_back, error);
}

int fleet_take_back(struct database *db, struct arena *arena, const char *worker,
	const char *reason, int64_t *count, struct error *error)
{
	return requeue_jobs(db, arena, worker, "", reason, count, error);
}

static int write_audit(struct database *db, struct arena *arena, const struct change *change,
	const char *action, const char *detail, struct error *error)
{
	const struct actor *actor = change->actor;
	const char *subject =
		*change->uuid ? arena_printf(arena, "%s %s", change->worker, change->uuid) : change->worker;
	return audit(db, actor->id, actor->name, actor->address, action, subject, detail, error);
}

static int pause_body(struct database *db, void *context, struct error *error)
{
	cleanup_arena struct arena *arena = arena_new();
	struct change *change = context;
	struct id_row worker;
	bool gives_back = change->pause != PAUSE_DRAIN;
	int rc = lock_worker(db, arena, change, &worker, error);
	if (!rc)
		rc = check_device(db, arena, change, worker.id, error);
	if (!rc)
		rc = database_execute(db, &PUT_PAUSE, error, "sssss", change->worker, change->uuid,
			KINDS[change->pause].kind, change->actor->name, change->reason);
	if (!rc && gives_back)
		rc = requeue_with_reason(db, arena, change, error);
	if (rc)
		return rc;
	const char *detail = KINDS[change->pause].detail;
	if (gives_back)
		detail = arena_printf(arena, "%s; %lld running queued again%s%s", detail,
			(long long)change->given_back, change->reason ? ": " : "",
			change->reason ? change->reason : "");
	return write_audit(db, arena, change, KINDS[change->pause].action, detail, error);
}

int fleet_pause(struct database *db, const char *worker, const char *uuid, enum pause pause,
	const struct actor *actor, int64_t *given_back, struct error *error)
{
	struct change change = { .worker = worker, .uuid = uuid, .pause = pause, .actor = actor };
	int rc = database_transaction(db, pause_body, &change, error);
	*given_back = change.given_back;
	return rc;
}

int fleet_quarantine(struct database *db, const char *worker, const char *uuid, const char *reason,
	const struct actor *actor, int64_t *given_back, struct error *error)
{
	cleanup_arena struct arena *arena = arena_new();
	struct change change = {
		.worker = worker, .uuid = uuid, .pause = PAUSE_QUARANTINE, .actor = actor
	};
	int rc = !*uuid ? fail(error, ERROR_INPUT,
				 "Only a single device can be quarantined; pause the worker instead.")
		: text_is_line(reason, fleet_most_reason_bytes)
		? 0
		: fail_field(error, "reason",
			"Give the reason for the quarantine in one line of at most %d bytes.",
			fleet_most_reason_bytes);
	change.reason = reason;
	if (!rc)
		rc = database_transaction(db, pause_body, &change, error);
	*given_back = change.given_back;
	return rc;
}

static int resume_body(struct database *db, void *context, struct error *error)
{
	cleanup_arena struct arena *arena = arena_new();
	const struct change *change = context;
	struct id_row worker;
	int rc = lock_worker(db, arena, change, &worker, error);
	bool is_paused = !rc && text_is_ascii(change->uuid);
	if (is_paused)
		rc = database_execute(db, &DELETE_PAUSE, error, "ss", change->worker, change->uuid);
	if (!rc && (!is_paused || !database_affected(db)))
		rc = *change->uuid
			? fail(error, ERROR_CONFLICT,
				"The device %s of %s is not paused separately, so there is nothing to resume. "
				"Resume the worker instead if that is paused.",
				quote(arena, change->uuid), change->worker)
			: fail(error, ERROR_CONFLICT,
				"The worker %s is not paused, so there is nothing to resume.", change->worker);
	return rc ? rc : write_audit(db, arena, change, "worker.resume", "takes jobs again", error);
}

int fleet_resume(struct database *db, const char *worker, const char *uuid,
	const struct actor *actor, struct error *error)
{
	struct change change = { .worker = worker, .uuid = uuid, .actor = actor };
	return database_transaction(db, resume_body, &change, error);
}
