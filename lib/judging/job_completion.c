#include "lib/ending.h"

#include "lib/job.h"
#include "lib/job_count.h"
#include "lib/log.h"
#include "lib/ranking.h"
#include "lib/review.h"
#include "lib/scope.h"
#include "lib/verdict.h"
#include "lib/wait.h"
#include "lib/webhook_event.h"

#include <math.h>

/* ---- without a verdict ---- */

struct held {
	int64_t attempt, submission_id, rejudged_id, lost_gpus;
};
static const struct column HELD_COLUMNS[] = {
	INTEGER(struct held, attempt),
	INTEGER(struct held, submission_id),
	INTEGER(struct held, rejudged_id),
	INTEGER(struct held, lost_gpus),
};
static const struct statement HOLD = SELECT(struct held, HELD_COLUMNS,
	"SELECT attempt, submission_id, rejudged_id, lost_gpus FROM jobs WHERE id = ? AND fence = ? "
    "AND state = 'running' FOR UPDATE");

/* The fence grows, so that nothing which is still on its way counts. */
static const struct statement QUEUE_AGAIN =
	COMMAND("UPDATE jobs SET state = 'queued', fence = fence + 1, attempt = ?, reason = ?, "
            "progress = '', environment = NULL, "
			"lease_owner = NULL, lease_device = NULL, lease_expires = NULL, started_at = NULL "
            "WHERE id = ?");
static const struct statement FAIL =
	COMMAND("UPDATE jobs SET state = 'failed', verdict = 'internal error', fence = fence + 1, "
			"reason = CONCAT('It was tried ', attempt, ' times. The last time: ', ?), progress = "
            "'', lease_expires = NULL, "
			"finished_at = UTC_TIMESTAMP(3) WHERE id = ?");
static const struct statement FAIL_LOST =
	COMMAND("UPDATE jobs SET state = 'failed', verdict = 'internal error', fence = fence + 1, "
            "lost_gpus = lost_gpus + 1, "
			"reason = CONCAT('GPUs stopped working ', lost_gpus, ' times while it ran, so it is "
            "not tried again. The last time: ', ?), "
			"progress = '', lease_expires = NULL, finished_at = UTC_TIMESTAMP(3) WHERE id = ?");
static const struct statement COUNT_LOSS =
	COMMAND("UPDATE jobs SET lost_gpus = lost_gpus + 1 WHERE id = ?");
static const struct statement FORGET_STAGES = COMMAND("DELETE FROM stages WHERE job_id = ?");

static int fail_job(struct database *db, const struct statement *statement, int64_t job_id,
	const char *reason, struct error *error)
{
	int rc = database_execute(db, statement, error, "si", reason, job_id);
	if (!rc)
		rc = webhook_tell_job(db, job_id, error);
	return rc ? rc : job_count_end(db, job_id, error);
}

/* `why`: as lib/job_count.h names what became of the attempt. */
static int give_back(struct database *db, int64_t job_id, int64_t attempt, const char *why,
	const char *reason, struct error *error)
{
	int rc = job_count_attempt(db, job_id, why, error);
	if (rc)
		return rc;
	if (attempt >= job_most_attempts)
		return fail_job(db, &FAIL, job_id, reason, error);
	return database_execute(db, &QUEUE_AGAIN, error, "isi", attempt, reason, job_id);
}

static int release(
	struct database *db, int64_t job_id, int64_t attempt, const char *reason, struct error *error)
{
	int rc = database_execute(db, &FORGET_STAGES, error, "i", job_id);
	return rc ? rc
			  : database_execute(
				  db, &QUEUE_AGAIN, error, "isi", attempt > 0 ? attempt - 1 : 0, reason, job_id);
}

static int lose(struct database *db, int64_t job_id, const struct held *held, const char *reason,
	struct error *error)
{
	int rc = job_count_attempt(db, job_id, "gpu lost", error);
	if (rc)
		return rc;
	if (held->lost_gpus + 1 >= job_most_lost_gpus)
		return fail_job(db, &FAIL_LOST, job_id, reason, error);
	rc = release(db, job_id, held->attempt, reason, error);
	return rc ? rc : database_execute(db, &COUNT_LOSS, error, "i", job_id);
}

/* ---- with a verdict ---- */

static const struct statement FINISH =
	COMMAND("UPDATE jobs SET state = ?, verdict = ?, reason = ?, score_ns = ?, score_err_ns = ?, "
            "engine = ?, engine_reason = ?, held_reason = ?, "
			"held_at = IF(? IS NULL, NULL, UTC_TIMESTAMP(3)), released_by = NULL, progress = '', "
            "lease_expires = NULL, finished_at = UTC_TIMESTAMP(3) WHERE id = ?");

/* A comparison that has passed without saying what came of it, which podium-run never does, has
 * come to nothing. */
static int compare(
	struct database *db, struct arena *arena, const struct ending *ending, struct error *error)
{
	struct ranking_ratio ratio = { ending->ratio, ending->ratio_low, ending->ratio_high };
	bool is_there = ratio.low > 0 && ratio.low <= ratio.ratio && ratio.ratio <= ratio.high
		&& isfinite(ratio.high);
	bool has_passed = verdict_from_name(ending->verdict) == VERDICT_PASSED;
	return has_passed && is_there ? ranking_compare(db, arena, ending->job_id, &ratio, error) : 0;
}

/* When all cases are stored, so that their times can be looked at. */
static int finish(struct database *db, struct arena *arena, const struct ending *ending,
	const struct held *held, struct error *error)
{
	bool is_rejudged = held->rejudged_id != SQL_NULL_INTEGER;
	bool is_comparison = held->submission_id == SQL_NULL_INTEGER && !is_rejudged;
	int64_t job = ending->job_id;
	const char *objection = NULL;
	double score_ns = is_comparison ? NAN : ending->score_ns;
	bool failed = verdict_from_name(ending->verdict) == VERDICT_INTERNAL_ERROR;
	if (!isnan(score_ns) && (score_ns <= 0 || ending->score_err_ns < 0))
		return fail(error, ERROR_SYSTEM, "A time of %g ns (standard error %g) is none.", score_ns,
			ending->score_err_ns);
	int rc =
		isnan(score_ns) ? 0 : review_objection(db, arena, job, ending->engine, &objection, error);
	if (!rc)
		rc = database_execute(db, &FINISH, error, "sssddssssi", failed ? "failed" : "done",
			ending->verdict, ending->reason, score_ns, ending->score_err_ns, ending->engine,
			ending->engine_reason, objection, objection, job);
	if (!rc && !failed)
		rc = wait_keep(db, arena, job, error);
	if (!rc && is_comparison)
		rc = compare(db, arena, ending, error);
	if (!rc && !is_comparison && !is_rejudged)
		rc = webhook_tell_job(db, job, error);
	if (!rc && !isnan(score_ns) && !objection && !is_rejudged)
		rc = ranking_insert(db, arena, job, error);
	return rc ? rc : job_count_end(db, job, error);
}

/* ---- applying ---- */

static int hold(struct database *db, struct arena *arena, const struct ending *ending,
	struct held *held, struct error *error)
{
	int rc = database_row(db, arena, &HOLD, held, error, "ii", ending->job_id, ending->fence);
	return rc == ERROR_NOT_FOUND
		? fail(error, ERROR_CONFLICT, JOB_IS_LOST, (long long)ending->job_id)
		: rc;
}

static int apply_held(struct database *db, struct arena *arena, const struct ending *ending,
	const struct held *held, struct error *error)
{
	int64_t job = ending->job_id;
	switch (ending->kind) {
	case ENDING_VERDICT: return finish(db, arena, ending, held, error);
	case ENDING_FAULT:
		return give_back(db, job, held->attempt, "machine failed", ending->reason, error);
	case ENDING_LOSS: return lose(db, job, held, ending->reason, error);
	case ENDING_RELEASE: return release(db, job, held->attempt, ending->reason, error);
	}
	return fail(
		error, ERROR_SYSTEM, "Job %lld was to end in a way that there is not.", (long long)job);
}

int ending_apply(
	struct database *db, struct arena *arena, const struct ending *ending, struct error *error)
{
	struct held held;
	int rc = hold(db, arena, ending, &held, error);
	if (rc)
		return rc;
	rc = apply_held(db, arena, ending, &held, error);
	/* What is missing or doubled here says nothing about the claim. */
	return rc == ERROR_CONFLICT || rc == ERROR_NOT_FOUND ? ERROR_SYSTEM : rc;
}

/* ---- handing in ---- */

static const struct statement HAND_IN =
	COMMAND("INSERT INTO endings (job_id, fence, kind, reason, verdict, score_ns, score_err_ns, "
            "engine, engine_reason, ratio, ratio_low, ratio_high) "
			"VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");

int ending_hand_in(struct database *db, const struct ending *e, struct error *error)
{
	int rc = database_execute(db, &HAND_IN, error, "iiissddssddd", e->job_id, e->fence, e->kind,
		e->reason, e->verdict, e->score_ns, e->score_err_ns, e->engine, e->engine_reason, e->ratio,
		e->ratio_low, e->ratio_high);
	return rc == ERROR_CONFLICT ? 0 : rc; /* the answer to the first time was lost */
}

struct handed_in {
	int64_t job_id, fence, is_old;
};
static const struct column HANDED_IN_COLUMNS[] = {
	INTEGER(struct handed_in, job_id),
	INTEGER(struct handed_in, fence),
	INTEGER(struct handed_in, is_old),
};
static const struct statement HANDED_IN = SELECT(struct handed_in, HANDED_IN_COLUMNS,
	"SELECT job_id, fence, handed_in_at < UTC_TIMESTAMP(3) - INTERVAL 30 SECOND AS is_old FROM "
    "endings ORDER BY handed_in_at LIMIT 100");

static const struct column ENDING_COLUMNS[] = {
	INTEGER(struct ending, job_id),
	INTEGER(struct ending, fence),
	INTEGER(struct ending, kind),
	TEXT(struct ending, reason),
	TEXT(struct ending, verdict),
	TEXT(struct ending, engine),
	TEXT(struct ending, engine_reason),
	REAL(struct ending, score_ns),
	REAL(struct ending, score_err_ns),
	REAL(struct ending, ratio),
	REAL(struct ending, ratio_low),
	REAL(struct ending, ratio_high),
};
static const struct statement LOCK_JOB = SELECT(struct held, HELD_COLUMNS,
	"SELECT attempt, submission_id, rejudged_id, lost_gpus FROM jobs WHERE id = ? FOR UPDATE");
static const struct statement LOCK_ENDING = SELECT(struct ending, ENDING_COLUMNS,
	"SELECT job_id, fence, kind + 0 AS kind, reason, verdict, engine, engine_reason, score_ns, "
    "score_err_ns, "
	"ratio, ratio_low, ratio_high FROM endings WHERE job_id = ? AND fence = ? FOR UPDATE SKIP "
    "LOCKED");
static const struct statement FORGET_ENDING =
	COMMAND("DELETE FROM endings WHERE job_id = ? AND fence = ?");

struct settling {
	const struct handed_in *which;
	bool is_refused;
};

static const struct ending *read_as(
	struct arena *arena, const struct ending *ending, bool is_refused)
{
	if (!is_refused && !(ending->kind == ENDING_VERDICT && !ending->verdict))
		return ending;
	struct ending *fault = arena_alloc(arena, sizeof *fault);
	*fault = (struct ending){ .job_id = ending->job_id,
		.fence = ending->fence,
		.kind = ENDING_FAULT,
		.reason = "its result could not be stored." };
	return fault;
}

static int settle_body(struct database *db, void *context, struct error *error)
{
	const struct settling *settling = context;
	const struct handed_in *which = settling->which;
	cleanup_arena struct arena *arena = arena_new();
	struct held job;
	struct ending ending;
	/* The job's row first, as everybody locks them who ends, cancels or deletes it. */
	int rc = database_row(db, arena, &LOCK_JOB, &job, error, "i", which->job_id);
	if (!rc)
		rc = database_row(
			db, arena, &LOCK_ENDING, &ending, error, "ii", which->job_id, which->fence);
	if (rc)
		return rc;
	rc = ending_apply(db, arena, read_as(arena, &ending, settling->is_refused), error);
	/* Of a claim that was lost meanwhile nothing counts. */
	return rc && rc != ERROR_CONFLICT
		? rc
		: database_execute(db, &FORGET_ENDING, error, "ii", which->job_id, which->fence);
}

static int settle_one(struct database *db, const struct handed_in *which, struct error *error)
{
	struct settling settling = { which, false };
	int rc = database_transaction(db, settle_body, &settling, error);
	if (!rc || rc == ERROR_NOT_FOUND || !which->is_old || !database_is_connected(db))
		return rc;
	log_error("job %lld: %s It is given back.", (long long)which->job_id, error->text);
	settling.is_refused = true;
	return database_transaction(db, settle_body, &settling, error);
}

/* One that is refused keeps nobody else waiting. */
int endings_settle(struct database *db, size_t *count, struct error *error)
{
	cleanup_arena struct arena *arena = arena_new();
	struct handed_in *found;
	size_t all = 0;
	*count = 0;
	int first = database_rows(db, arena, &HANDED_IN, &found, &all, error, "");
	for (size_t i = 0; i < all && database_is_connected(db); i++) {
		struct error its = { 0 };
		int rc = settle_one(db, &found[i], &its);
		*count += !rc;
		if (rc && rc != ERROR_NOT_FOUND && !first) { /* not found: another host is at it, or was */
			first = rc;
			*error = its;
		}
	}
	return first;
}

/* ---- taking back ---- */

struct expired {
	int64_t job_id, attempt;
	const char *lease_owner;
};
static const struct column EXPIRED_COLUMNS[] = {
	INTEGER(struct expired, job_id),
	INTEGER(struct expired, attempt),
	TEXT(struct expired, lease_owner),
};
/* A lease that is longer than any may be was given before the database's clock was set back. */
static const struct statement EXPIRED = SELECT(struct expired, EXPIRED_COLUMNS,
	"SELECT id AS job_id, attempt, lease_owner FROM jobs "
	"WHERE state = 'running' AND (lease_expires < UTC_TIMESTAMP(3) OR lease_expires > "
    "UTC_TIMESTAMP(3) + INTERVAL 601 SECOND) "
	"AND NOT EXISTS (SELECT 1 FROM endings e WHERE e.job_id = jobs.id AND e.fence = jobs.fence) "
	"LIMIT 100 FOR UPDATE SKIP LOCKED");

static int reclaim_body(struct database *db, void *context, struct error *error)
{
	cleanup_arena struct arena *arena = arena_new();
	size_t *count = context;
	struct expired *expired;
	int rc = database_rows(db, arena, &EXPIRED, &expired, count, error, "");
	for (size_t i = 0; i < *count && !rc; i++)
		rc = give_back(db, expired[i].job_id, expired[i].attempt, "lease expired",
			arena_printf(arena, "worker %s" JOB_STOPPED_ANSWERING,
				expired[i].lease_owner ? expired[i].lease_owner : "unknown"),
			error);
	return rc;
}

int endings_reclaim(struct database *db, size_t *count, struct error *error)
{
	return database_transaction(db, reclaim_body, count, error);
}
