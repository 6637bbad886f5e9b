#include "lib/judging/job_completion.h"

#include "lib/base/log.h"
#include "lib/base/scope.h"
#include "lib/database/job_count.h"
#include "lib/job/job.h"
#include "lib/job/wait.h"
#include "lib/judging/internal_error.h"
#include "lib/judging/review.h"
#include "lib/mail/mail.h"
#include "lib/ranking/ranking.h"
#include "lib/result/verdict.h"
#include "lib/task/version.h"
#include "lib/webhook/event.h"

#include <math.h>

/* ---- without a verdict ---- */

struct claimed_job {
	int64_t attempt, submission_id, rejudged_id, lost_gpus;
};
static const struct column CLAIMED_COLUMNS[] = {
	INTEGER(struct claimed_job, attempt),
	INTEGER(struct claimed_job, submission_id),
	INTEGER(struct claimed_job, rejudged_id),
	INTEGER(struct claimed_job, lost_gpus),
};
static const struct statement LOCK_CLAIM = SELECT(struct claimed_job, CLAIMED_COLUMNS,
	"SELECT attempt, submission_id, rejudged_id, lost_gpus FROM jobs WHERE id = ? "
	"AND fence = ? AND state = 'running' FOR UPDATE");

/* Writes of a worker name the fence of its claim. A greater fence makes late writes of the old
 * claim fail. */
static const struct statement QUEUE_AGAIN =
	COMMAND("UPDATE jobs SET state = 'queued', fence = fence + 1, attempt = ?, reason = ?, "
			"progress = '', environment = NULL, lease_owner = NULL, lease_device = NULL, "
			"lease_expires = NULL, started_at = NULL WHERE id = ?");
static const struct statement FAIL =
	COMMAND("UPDATE jobs SET state = 'failed', verdict = 'internal error', fence = fence + 1, "
			"reason = CONCAT('All ', attempt, ' attempts failed. The latest error: ', ?), "
			"progress = '', lease_expires = NULL, finished_at = UTC_TIMESTAMP(3) WHERE id = ?");
static const struct statement FAIL_LOST =
	COMMAND("UPDATE jobs SET state = 'failed', verdict = 'internal error', fence = fence + 1, "
			"lost_gpus = lost_gpus + 1, "
			"reason = CONCAT('GPUs stopped working ', lost_gpus, "
			"  ' times while the job ran, so Podium does not try again. The latest error: ', ?), "
			"progress = '', lease_expires = NULL, finished_at = UTC_TIMESTAMP(3) WHERE id = ?");
static const struct statement COUNT_LOSS =
	COMMAND("UPDATE jobs SET lost_gpus = lost_gpus + 1 WHERE id = ?");
static const struct statement DELETE_STAGES = COMMAND("DELETE FROM stages WHERE job_id = ?");

static int fail_job(struct database *db, const struct statement *statement, int64_t job_id,
	const char *reason, struct error *error)
{
	int rc = database_execute(db, statement, error, "si", reason, job_id);
	if (!rc)
		rc = internal_error_note(db, job_id, error);
	if (!rc)
		rc = webhook_tell_job(db, job_id, error);
	if (!rc)
		rc = mail_tell_trouble(db, job_id, error);
	if (!rc)
		rc = mail_tell_finished(db, job_id, error);
	return rc ? rc : job_count_end(db, job_id, error);
}

/* Queues the job again, or fails it after too many attempts. `why` is an outcome from
 * lib/database/job_count.h. */
static int retry_job(struct database *db, int64_t job_id, int64_t attempt, const char *why,
	const char *reason, struct error *error)
{
	int rc = job_count_attempt(db, job_id, why, error);
	if (rc)
		return rc;
	if (attempt >= job_most_attempts)
		return fail_job(db, &FAIL, job_id, reason, error);
	return database_execute(db, &QUEUE_AGAIN, error, "isi", attempt, reason, job_id);
}

static int release_job(
	struct database *db, int64_t job_id, int64_t attempt, const char *reason, struct error *error)
{
	int rc = database_execute(db, &DELETE_STAGES, error, "i", job_id);
	return rc ? rc
			  : database_execute(
				  db, &QUEUE_AGAIN, error, "isi", attempt > 0 ? attempt - 1 : 0, reason, job_id);
}

static int lose_job(struct database *db, int64_t job_id, const struct claimed_job *claimed,
	const char *reason, struct error *error)
{
	int rc = job_count_attempt(db, job_id, "gpu lost", error);
	if (rc)
		return rc;
	if (claimed->lost_gpus + 1 >= job_most_lost_gpus)
		return fail_job(db, &FAIL_LOST, job_id, reason, error);
	rc = release_job(db, job_id, claimed->attempt, reason, error);
	return rc ? rc : database_execute(db, &COUNT_LOSS, error, "i", job_id);
}

/* ---- with a verdict ---- */

static const struct statement FINISH =
	COMMAND("UPDATE jobs SET state = ?, verdict = ?, reason = ?, score_ns = ?, score_err_ns = ?, "
			"engine = ?, engine_reason = ?, held_reason = ?, "
			"held_at = IF(? IS NULL, NULL, UTC_TIMESTAMP(3)), released_by = NULL, progress = '', "
			"lease_expires = NULL, finished_at = UTC_TIMESTAMP(3) WHERE id = ?");

/* Applies the ratio of a passed comparison, or the loss of a side that failed. A comparison with
 * neither changes nothing. */
static int apply_comparison(struct database *db, struct arena *arena,
	const struct job_completion *completion, struct error *error)
{
	struct head_to_head_result passed = { completion->ratio, completion->ratio_low,
		completion->ratio_high, NULL },
							   lost = { NAN, NAN, NAN, completion->loser };
	bool is_valid = passed.low > 0 && passed.low <= passed.ratio && passed.ratio <= passed.high
		&& isfinite(passed.high);
	switch (verdict_from_name(completion->verdict)) {
	case VERDICT_PASSED:
		return is_valid ? ranking_compare(db, arena, completion->job_id, &passed, error) : 0;
	case VERDICT_INTERNAL_ERROR:
	case VERDICT_CANCELLED: return 0;
	default: return lost.loser ? ranking_compare(db, arena, completion->job_id, &lost, error) : 0;
	}
}

/* Runs after all cases are stored, so that review_objection can read their times. */
static int finish_job(struct database *db, struct arena *arena,
	const struct job_completion *completion, const struct claimed_job *claimed, struct error *error)
{
	bool is_rejudged = claimed->rejudged_id != SQL_NULL_INTEGER;
	bool is_comparison = claimed->submission_id == SQL_NULL_INTEGER && !is_rejudged;
	int64_t job = completion->job_id;
	const char *objection = NULL;
	double score_ns = is_comparison ? NAN : completion->score_ns;
	bool failed = verdict_from_name(completion->verdict) == VERDICT_INTERNAL_ERROR;
	if (!isnan(score_ns) && (score_ns <= 0 || completion->score_err_ns < 0))
		return fail(error, ERROR_SYSTEM, "The score of %g ns (standard error %g ns) is invalid.",
			score_ns, completion->score_err_ns);
	int rc = isnan(score_ns)
		? 0
		: review_objection(db, arena, job, completion->engine, &objection, error);
	if (!rc)
		rc = database_execute(db, &FINISH, error, "sssddssssi", failed ? "failed" : "done",
			completion->verdict, completion->reason, score_ns, completion->score_err_ns,
			completion->engine, completion->engine_reason, objection, objection, job);
	if (!rc && failed)
		rc = internal_error_note(db, job, error);
	if (!rc && !failed && !is_comparison && !is_rejudged && completion->engine)
		rc = task_engine_tried(db, job, error);
	if (!rc && !failed)
		rc = wait_keep(db, arena, job, error);
	if (!rc && is_comparison)
		rc = apply_comparison(db, arena, completion, error);
	if (!rc && !is_comparison && !is_rejudged)
		rc = webhook_tell_job(db, job, error);
	if (!rc && !is_comparison && !is_rejudged && failed)
		rc = mail_tell_trouble(db, job, error);
	if (!rc && !is_comparison && !is_rejudged)
		rc = mail_tell_finished(db, job, error);
	if (!rc && !isnan(score_ns) && !objection && !is_rejudged)
		rc = ranking_insert(db, arena, job, error);
	return rc ? rc : job_count_end(db, job, error);
}

/* ---- applying ---- */

static int lock_claim(struct database *db, struct arena *arena,
	const struct job_completion *completion, struct claimed_job *claimed, struct error *error)
{
	int rc = database_row(
		db, arena, &LOCK_CLAIM, claimed, error, "ii", completion->job_id, completion->fence);
	return rc == ERROR_NOT_FOUND
		? fail(error, ERROR_CONFLICT, JOB_IS_LOST, (long long)completion->job_id)
		: rc;
}

static int apply_to_claim(struct database *db, struct arena *arena,
	const struct job_completion *completion, const struct claimed_job *claimed, struct error *error)
{
	int64_t job = completion->job_id;
	switch (completion->kind) {
	case JOB_COMPLETION_VERDICT: return finish_job(db, arena, completion, claimed, error);
	case JOB_COMPLETION_FAULT:
		return retry_job(db, job, claimed->attempt, "machine failed", completion->reason, error);
	case JOB_COMPLETION_LOSS: return lose_job(db, job, claimed, completion->reason, error);
	case JOB_COMPLETION_RELEASE:
		return release_job(db, job, claimed->attempt, completion->reason, error);
	}
	return fail(
		error, ERROR_SYSTEM, "The completion of job %lld has an unknown kind.", (long long)job);
}

int job_completion_apply(struct database *db, struct arena *arena,
	const struct job_completion *completion, struct error *error)
{
	struct claimed_job claimed;
	int rc = lock_claim(db, arena, completion, &claimed, error);
	if (rc)
		return rc;
	rc = apply_to_claim(db, arena, completion, &claimed, error);
	/* To the caller, ERROR_CONFLICT means a lost claim. A missing or duplicate row is an error of
	 * Podium itself, so its code becomes ERROR_SYSTEM. */
	return rc == ERROR_CONFLICT || rc == ERROR_NOT_FOUND ? ERROR_SYSTEM : rc;
}

/* ---- handing in a completion ---- */

static const struct statement HAND_IN =
	COMMAND("INSERT INTO endings (job_id, fence, kind, reason, verdict, score_ns, score_err_ns, "
			"engine, engine_reason, ratio, ratio_low, ratio_high, loser) "
			"VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");

int job_completion_hand_in(struct database *db, const struct job_completion *e, struct error *error)
{
	int rc = database_execute(db, &HAND_IN, error, "iiissddssddds", e->job_id, e->fence, e->kind,
		e->reason, e->verdict, e->score_ns, e->score_err_ns, e->engine, e->engine_reason, e->ratio,
		e->ratio_low, e->ratio_high, e->loser);
	/* handed in before: the database's answer had been lost, so the worker tried again */
	return rc == ERROR_CONFLICT ? 0 : rc;
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
	"SELECT job_id, fence, handed_in_at < UTC_TIMESTAMP(3) - INTERVAL 30 SECOND AS is_old "
	"FROM endings ORDER BY handed_in_at LIMIT 100");

static const struct column JOB_COMPLETION_COLUMNS[] = {
	INTEGER(struct job_completion, job_id),
	INTEGER(struct job_completion, fence),
	INTEGER(struct job_completion, kind),
	TEXT(struct job_completion, reason),
	TEXT(struct job_completion, verdict),
	TEXT(struct job_completion, engine),
	TEXT(struct job_completion, engine_reason),
	REAL(struct job_completion, score_ns),
	REAL(struct job_completion, score_err_ns),
	REAL(struct job_completion, ratio),
	REAL(struct job_completion, ratio_low),
	REAL(struct job_completion, ratio_high),
	TEXT(struct job_completion, loser),
};
static const struct statement LOCK_JOB = SELECT(struct claimed_job, CLAIMED_COLUMNS,
	"SELECT attempt, submission_id, rejudged_id, lost_gpus FROM jobs WHERE id = ? FOR UPDATE");
static const struct statement LOCK_ENDING = SELECT(struct job_completion, JOB_COMPLETION_COLUMNS,
	"SELECT job_id, fence, kind + 0 AS kind, reason, verdict, engine, engine_reason, "
	"score_ns, score_err_ns, ratio, ratio_low, ratio_high, loser "
	"FROM endings WHERE job_id = ? AND fence = ? FOR UPDATE SKIP LOCKED");
static const struct statement DELETE_ENDING =
	COMMAND("DELETE FROM endings WHERE job_id = ? AND fence = ?");

struct pending_completion {
	const struct handed_in *which;
	bool is_refused;
};

static const struct job_completion *completion_or_fault(
	struct arena *arena, const struct job_completion *completion, bool is_refused)
{
	if (!is_refused && !(completion->kind == JOB_COMPLETION_VERDICT && !completion->verdict))
		return completion;
	struct job_completion *fault = arena_alloc(arena, sizeof *fault);
	*fault = (struct job_completion){ .job_id = completion->job_id,
		.fence = completion->fence,
		.kind = JOB_COMPLETION_FAULT,
		.reason = "its result could not be stored." };
	return fault;
}

static int pending_completion_body(struct database *db, void *context, struct error *error)
{
	const struct pending_completion *pending = context;
	const struct handed_in *which = pending->which;
	cleanup_arena struct arena *arena = arena_new();
	struct claimed_job job;
	struct job_completion completion;
	/* Locks the job's row first, as does every transaction that finishes, cancels or deletes
	 * jobs. */
	int rc = database_row(db, arena, &LOCK_JOB, &job, error, "i", which->job_id);
	if (!rc)
		rc = database_row(
			db, arena, &LOCK_ENDING, &completion, error, "ii", which->job_id, which->fence);
	if (rc)
		return rc;
	rc = job_completion_apply(
		db, arena, completion_or_fault(arena, &completion, pending->is_refused), error);
	/* A completion of a lost claim does not count and is deleted. */
	return rc && rc != ERROR_CONFLICT
		? rc
		: database_execute(db, &DELETE_ENDING, error, "ii", which->job_id, which->fence);
}

static int settle_one(struct database *db, const struct handed_in *which, struct error *error)
{
	struct pending_completion pending = { .which = which };
	int rc = database_transaction(db, pending_completion_body, &pending, error);
	if (!rc || rc == ERROR_NOT_FOUND || !which->is_old || !database_is_connected(db))
		return rc;
	log_error(
		"job %lld: %s Podium gives up on this attempt.", (long long)which->job_id, error->text);
	pending.is_refused = true;
	return database_transaction(db, pending_completion_body, &pending, error);
}

/* A completion that fails does not delay the others. */
int job_completions_settle(struct database *db, size_t *count, struct error *error)
{
	cleanup_arena struct arena *arena = arena_new();
	struct handed_in *found;
	size_t all = 0;
	*count = 0;
	int first = database_rows(db, arena, &HANDED_IN, &found, &all, error, "");
	for (size_t i = 0; i < all && database_is_connected(db); i++) {
		struct error one_error = { 0 };
		int rc = settle_one(db, &found[i], &one_error);
		*count += !rc;
		/* Not found: another program is applying this completion or has applied it. */
		if (rc && rc != ERROR_NOT_FOUND && !first) {
			first = rc;
			*error = one_error;
		}
	}
	return first;
}

/* ---- expired leases ---- */

struct expired {
	int64_t job_id, attempt;
	const char *lease_owner;
};
static const struct column EXPIRED_COLUMNS[] = {
	INTEGER(struct expired, job_id),
	INTEGER(struct expired, attempt),
	TEXT(struct expired, lease_owner),
};
/* A lease that ends later than any lease may (600 s from now) counts as expired too. Such a lease
 * was written before the database's clock was set back. */
static const struct statement EXPIRED = SELECT(struct expired, EXPIRED_COLUMNS,
	"SELECT id AS job_id, attempt, lease_owner FROM jobs "
	"WHERE state = 'running' AND (lease_expires < UTC_TIMESTAMP(3) "
	"OR lease_expires > UTC_TIMESTAMP(3) + INTERVAL 601 SECOND) "
	"AND NOT EXISTS (SELECT 1 FROM endings e WHERE e.job_id = jobs.id AND e.fence = jobs.fence) "
	"LIMIT 100 FOR UPDATE SKIP LOCKED");

static int reclaim_body(struct database *db, void *context, struct error *error)
{
	cleanup_arena struct arena *arena = arena_new();
	size_t *count = context;
	struct expired *expired;
	int rc = database_rows(db, arena, &EXPIRED, &expired, count, error, "");
	for (size_t i = 0; i < *count && !rc; i++)
		rc = retry_job(db, expired[i].job_id, expired[i].attempt, "lease expired",
			arena_printf(arena, "worker %s" JOB_STOPPED_ANSWERING,
				expired[i].lease_owner ? expired[i].lease_owner : "unknown"),
			error);
	return rc;
}

int job_leases_reclaim(struct database *db, size_t *count, struct error *error)
{
	return database_transaction(db, reclaim_body, count, error);
}
