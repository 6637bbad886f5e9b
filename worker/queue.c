#include "worker/queue.h"

static const struct column CLAIM_COLUMNS[] = {
	INTEGER(struct claim, job_id), INTEGER(struct claim, fence), INTEGER(struct claim, attempt),
	INTEGER(struct claim, submission_id),
};
static const struct statement NEXT = SELECT(struct claim, CLAIM_COLUMNS,
	"SELECT id AS job_id, fence + 1 AS fence, attempt + 1 AS attempt, submission_id FROM jobs "
	"WHERE gpu = ? AND state = 'queued' ORDER BY priority, id LIMIT 1 FOR UPDATE SKIP LOCKED");
static const struct statement TAKE = COMMAND(
	"UPDATE jobs SET state = 'running', fence = ?, attempt = ?, lease_owner = ?, "
	"lease_expires = UTC_TIMESTAMP(3) + INTERVAL ? * 1000 MICROSECOND, started_at = UTC_TIMESTAMP(3), "
	"progress = 'starting', reason = NULL, environment = NULL WHERE id = ?");
static const struct statement FORGET_STAGES = COMMAND("DELETE FROM stages WHERE job_id = ?");

static const struct statement HOLD = SELECT(struct claim, CLAIM_COLUMNS,
	"SELECT id AS job_id, fence, attempt, submission_id FROM jobs "
	"WHERE id = ? AND fence = ? AND state = 'running' FOR UPDATE");
static const struct statement RENEW = COMMAND(
	"UPDATE jobs SET lease_expires = UTC_TIMESTAMP(3) + INTERVAL ? * 1000 MICROSECOND, progress = ? "
	"WHERE id = ? AND fence = ? AND state = 'running'");

/* The fence grows, so that nothing which is still on its way counts. */
static const struct statement QUEUE_AGAIN = COMMAND(
	"UPDATE jobs SET state = 'queued', fence = fence + 1, attempt = ?, reason = ?, progress = '', environment = NULL, "
	"lease_owner = NULL, lease_expires = NULL, started_at = NULL WHERE id = ?");
static const struct statement FAIL = COMMAND(
	"UPDATE jobs SET state = 'failed', verdict = 'internal error', fence = fence + 1, "
	"reason = CONCAT('It was tried ', attempt, ' times. The last time: ', ?), progress = '', lease_expires = NULL, "
	"finished_at = UTC_TIMESTAMP(3) WHERE id = ?");

/* A lease that is longer than any may be was given before the database's clock was set back. */
static const struct statement EXPIRED = SELECT(struct claim, CLAIM_COLUMNS,
	"SELECT id AS job_id, fence, attempt, submission_id FROM jobs "
	"WHERE state = 'running' AND (lease_expires < UTC_TIMESTAMP(3) OR lease_expires > UTC_TIMESTAMP(3) + INTERVAL 601 SECOND) "
	"LIMIT 100 FOR UPDATE SKIP LOCKED");

/* ---- claiming ---- */

struct claiming {
	struct arena *arena;
	const char *model, *owner;
	int64_t lease_ms;
	struct claim *claim;
};

static int claim_body(struct database *db, void *context, struct error *error)
{
	const struct claiming *claiming = context;
	struct claim *claim = claiming->claim;
	int rc = database_row(db, claiming->arena, &NEXT, claim, error, "s", claiming->model);
	if (!rc)
		rc = database_execute(db, &TAKE, error, "iisii", claim->fence, claim->attempt, claiming->owner, claiming->lease_ms,
			claim->job_id);
	return rc ? rc : database_execute(db, &FORGET_STAGES, error, "i", claim->job_id);
}

int queue_claim(struct database *db, struct arena *arena, const char *model, const char *owner, int64_t lease_ms,
	struct claim *claim, struct error *error)
{
	struct claiming claiming = { arena, model, owner, lease_ms, claim };
	return database_transaction(db, claim_body, &claiming, error);
}

/* ---- keeping ---- */

static int lost(const struct claim *claim, struct error *error)
{
	return fail(error, ERROR_CONFLICT, "Job %lld is no longer this worker's: its lease ran out, or it was cancelled or deleted.",
		(long long)claim->job_id);
}

int queue_hold(struct database *db, struct arena *arena, const struct claim *claim, struct error *error)
{
	struct claim held;
	int rc = database_row(db, arena, &HOLD, &held, error, "ii", claim->job_id, claim->fence);
	return rc == ERROR_NOT_FOUND ? lost(claim, error) : rc;
}

int queue_renew(struct database *db, const struct claim *claim, int64_t lease_ms, const char *progress, struct error *error)
{
	int rc = database_execute(db, &RENEW, error, "isii", lease_ms, progress, claim->job_id, claim->fence);
	return rc || database_affected(db) ? rc : lost(claim, error);
}

/* ---- giving back ---- */

/* The row is locked. */
static int give_back_held(struct database *db, const struct claim *claim, const char *reason, struct error *error)
{
	if (claim->attempt >= queue_most_attempts)
		return database_execute(db, &FAIL, error, "si", reason, claim->job_id);
	return database_execute(db, &QUEUE_AGAIN, error, "isi", claim->attempt, reason, claim->job_id);
}

struct giving_back { const struct claim *claim; const char *reason; };

static int give_back_body(struct database *db, void *context, struct error *error)
{
	const struct giving_back *giving = context;
	cleanup_arena struct arena *arena = arena_new();
	int rc = queue_hold(db, arena, giving->claim, error);
	return rc ? rc : give_back_held(db, giving->claim, giving->reason, error);
}

int queue_give_back(struct database *db, const struct claim *claim, const char *reason, struct error *error)
{
	struct giving_back giving = { claim, reason };
	return database_transaction(db, give_back_body, &giving, error);
}

static int release_body(struct database *db, void *context, struct error *error)
{
	const struct claim *claim = context;
	cleanup_arena struct arena *arena = arena_new();
	int rc = queue_hold(db, arena, claim, error);
	if (!rc)
		rc = database_execute(db, &FORGET_STAGES, error, "i", claim->job_id);
	return rc ? rc : database_execute(db, &QUEUE_AGAIN, error, "isi", claim->attempt - 1, (const char *)NULL, claim->job_id);
}

int queue_release(struct database *db, const struct claim *claim, struct error *error)
{
	struct claim copy = *claim;
	return database_transaction(db, release_body, &copy, error);
}

static int reclaim_body(struct database *db, void *context, struct error *error)
{
	cleanup_arena struct arena *arena = arena_new();
	size_t *count = context;
	struct claim *expired;
	int rc = database_rows(db, arena, &EXPIRED, &expired, count, error, "");
	for (size_t i = 0; i < *count && !rc; i++)
		rc = give_back_held(db, &expired[i], "the worker that ran it stopped answering.", error);
	return rc;
}

int queue_reclaim(struct database *db, size_t *count, struct error *error)
{
	return database_transaction(db, reclaim_body, count, error);
}
