#include "worker/queue.h"

#include "lib/base/scope.h"
#include "lib/job/job.h"

#include <math.h>

/* ---- statements: claiming ---- */

/* Locks the worker's row. Pausing (lib/fleet/fleet.c) takes this lock exclusively, so a claim sees
 * the pause or commits before it. For a program that is too old, the join returns no row. */
struct found {
	int64_t id;
};
static const struct column FOUND_COLUMNS[] = { INTEGER(struct found, id) };
static const struct statement LOCK_WORKER = SELECT(struct found, FOUND_COLUMNS,
	"SELECT w.id FROM workers w JOIN compatibility c ON w.protocol >= c.oldest_program "
	"WHERE w.name = ? LOCK IN SHARE MODE");

/* Whose turn it is: the oldest waiting job of each user for this model, fewest running jobs first,
 * then the oldest first. TURNS_OF_IDLE and TURNS lock nothing; the claim checks the job again under
 * its lock.
 *
 * TURNS_OF_IDLE leaves out users who have a running job. These users are few, and each has at most
 * queued_jobs_per_user waiting jobs. The statement reads the jobs by age (index jobs_age) and skips
 * only the waiting jobs of these users. It therefore reads few rows, however long the queue is. */
struct turn {
	int64_t id, user_id;
};
static const struct column TURN_COLUMNS[] = { INTEGER(struct turn, id),
	INTEGER(struct turn, user_id) };
#define IS_NOT_PAUSED "NOT EXISTS (SELECT 1 FROM pauses WHERE worker = ? AND uuid IN ('', ?)) "
#define IS_SOONEST "priority = (SELECT MIN(priority) FROM queue_by_age WHERE gpu = ?) "
static const struct statement TURNS_OF_IDLE = SELECT(struct turn, TURN_COLUMNS,
	"SELECT id, user_id FROM queue_by_age "
	"WHERE gpu = ? AND " IS_SOONEST "AND user_id NOT IN (SELECT user_id FROM queue_running) "
	"AND " IS_NOT_PAUSED "ORDER BY priority, id LIMIT ?");
/* Used when every waiting user has a running job. There are fewer such users than devices, so this
 * statement may read all their waiting jobs. */
static const struct statement TURNS = SELECT(struct turn, TURN_COLUMNS,
	"SELECT oldest.id, oldest.user_id FROM "
	"(SELECT user_id, MIN(id) AS id FROM queue_by_turn "
	"WHERE gpu = ? AND " IS_SOONEST "GROUP BY user_id) oldest "
	"LEFT JOIN (SELECT user_id, COUNT(*) AS jobs FROM queue_running GROUP BY user_id) running "
	"ON running.user_id = oldest.user_id "
	"WHERE " IS_NOT_PAUSED "ORDER BY COALESCE(running.jobs, 0), oldest.id LIMIT ?");

static const struct column CLAIM_COLUMNS[] = {
	INTEGER(struct claim, job_id),
	INTEGER(struct claim, fence),
	INTEGER(struct claim, attempt),
	INTEGER(struct claim, submission_id),
	INTEGER(struct claim, rejudged_id),
};
#define CLAIM \
	"SELECT id AS job_id, fence + 1 AS fence, attempt + 1 AS attempt, submission_id, rejudged_id " \
	"FROM jobs "
/* Locks the oldest of 16 given jobs that is still free. When many devices claim at the same time,
 * one statement for 16 jobs replaces up to 16 tries. */
enum { tried_at_once = 16 };
static const struct statement LOCK_ONE_OF = SELECT(struct claim, CLAIM_COLUMNS,
	CLAIM "FORCE INDEX (PRIMARY) WHERE id IN (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) "
		  "AND state = 'queued' ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED");
static const struct statement LOCK_OLDEST = SELECT(struct claim, CLAIM_COLUMNS,
	CLAIM "FORCE INDEX (jobs_age) WHERE gpu = ? AND state = 'queued' "
		  "ORDER BY priority, id LIMIT 1 FOR UPDATE SKIP LOCKED");
/* Keeps the column `reason`: it says what happened to the previous attempt. */
static const struct statement TAKE =
	COMMAND("UPDATE jobs SET state = 'running', fence = ?, attempt = ?, "
			"lease_owner = ?, lease_device = ?, "
			"lease_expires = UTC_TIMESTAMP(3) + INTERVAL ? * 1000 MICROSECOND, "
			"started_at = UTC_TIMESTAMP(3), progress = 'starting', environment = NULL "
			"WHERE id = ?");
static const struct statement FORGET_STAGES = COMMAND("DELETE FROM stages WHERE job_id = ?");
/* Does the same as the four statements above, for a worker with few rights (sql/worker_rights.sql).
 * Takes the oldest of the given jobs that is still free, or with 0 the oldest job of all. Returns
 * no row if no job is free or the device is paused. */
static const struct statement TAKE_FOR_US = SELECT(struct claim, CLAIM_COLUMNS,
	"CALL take_job(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
static const struct statement *const TAKING[] = { &TAKE_FOR_US };
static const struct bundle TAKE_JOB = BUNDLE(TAKING);

/* ---- statements: keeping and giving back ---- */

static const struct statement HOLD = SELECT(struct claim, CLAIM_COLUMNS,
	"SELECT id AS job_id, fence, attempt, submission_id, rejudged_id FROM jobs "
	"WHERE id = ? AND fence = ? AND state = 'running' FOR UPDATE");
static const struct statement RENEW =
	COMMAND("UPDATE jobs SET progress = ?, "
			"lease_expires = UTC_TIMESTAMP(3) + INTERVAL ? * 1000 MICROSECOND "
			"WHERE id = ? AND fence = ? AND state = 'running'");

static const struct statement LET_GO =
	COMMAND("UPDATE jobs SET lease_expires = NULL "
			"WHERE id = ? AND fence = ? AND state = 'cancelled'");

/* ---- claiming ---- */

struct claiming {
	struct arena *arena;
	const struct claimant *claimant;
	struct claim *claim;
};

/* Keeps each user's first job. If another device is claiming that job, this claim must not take a
 * second job of the same user. */
static size_t keep_first_of_each(struct turn *turns, size_t count)
{
	size_t kept = 0;
	for (size_t i = 0; i < count; i++) {
		bool again = false;
		for (size_t k = 0; k < kept && !again; k++)
			again = turns[k].user_id == turns[i].user_id;
		if (!again)
			turns[kept++] = turns[i];
	}
	return kept;
}

static int fail_no_job(struct error *error)
{
	return fail(error, ERROR_NOT_FOUND, "No job waits for this device, or it is paused.");
}

static int call_take_job(struct database *db, const struct claiming *claiming,
	const int64_t id[static tried_at_once], struct error *error)
{
	const struct claimant *claimant = claiming->claimant;
	struct database_answer answer;
	int rc = database_answers(db, claiming->arena, &TAKE_JOB, &answer, error,
		"s"
		"iiiiiiiiiiiiiiii"
		"i",
		claimant->uuid, claimant->lease_ms, id[0], id[1], id[2], id[3], id[4], id[5], id[6], id[7],
		id[8], id[9], id[10], id[11], id[12], id[13], id[14], id[15]);
	if (!rc && !answer.count)
		return fail_no_job(error);
	if (!rc)
		*claiming->claim = *(const struct claim *)answer.rows;
	return rc;
}

static int lock_one_of(struct database *db, const struct claiming *claiming,
	const struct turn *turns, size_t count, struct error *error)
{
	int64_t id[tried_at_once];
	for (size_t i = 0; i < tried_at_once; i++)
		id[i] = turns[i < count ? i : 0].id;
	if (claiming->claimant->hands_in)
		return call_take_job(db, claiming, id, error);
	return database_row(db, claiming->arena, &LOCK_ONE_OF, claiming->claim, error,
		"iiiiiiiiiiiiiiii", id[0], id[1], id[2], id[3], id[4], id[5], id[6], id[7], id[8], id[9],
		id[10], id[11], id[12], id[13], id[14], id[15]);
}

/* Locks the first job that no other claim holds, trying `at_once` jobs a statement. ERROR_NOT_FOUND
 * when there is none. */
static int lock_first(struct database *db, const struct claiming *claiming, struct turn *turns,
	size_t count, size_t at_once, struct error *error)
{
	int rc = fail_no_job(error);
	count = keep_first_of_each(turns, count);
	for (size_t i = 0; i < count && rc == ERROR_NOT_FOUND; i += at_once)
		rc = lock_one_of(db, claiming, turns + i, count - i < at_once ? count - i : at_once, error);
	return rc;
}

static int lock_oldest(struct database *db, const struct claiming *claiming, struct error *error)
{
	static const int64_t any[tried_at_once] = { 0 };
	if (claiming->claimant->hands_in)
		return call_take_job(db, claiming, any, error);
	return database_row(
		db, claiming->arena, &LOCK_OLDEST, claiming->claim, error, "s", claiming->claimant->model);
}

/* Reads few turns first: the first job is free unless many devices claim at the same moment. If
 * other claims hold a job of every waiting user, the oldest remaining job is as fair as any. */
static int lock_next(struct database *db, const struct claiming *claiming, struct error *error)
{
	static const struct {
		const struct statement *turns;
		int64_t most;
		size_t at_once;
	} looks[] = {
		{ &TURNS_OF_IDLE, 128, tried_at_once },
		{ &TURNS_OF_IDLE, 1024, tried_at_once },
		{ &TURNS, 64, 1 },
	};
	const struct claimant *claimant = claiming->claimant;
	struct turn *turns;
	size_t count = 0;
	int rc = ERROR_NOT_FOUND;
	for (size_t i = 0; i < COUNT(looks) && rc == ERROR_NOT_FOUND; i++) {
		if (i && looks[i].turns == looks[i - 1].turns && (int64_t)count < looks[i - 1].most)
			continue; /* the previous statement returned all turns */
		rc = database_rows(db, claiming->arena, looks[i].turns, &turns, &count, error, "ssssi",
			claimant->model, claimant->model, claimant->worker, claimant->uuid, looks[i].most);
		if (!rc)
			rc = lock_first(db, claiming, turns, count, looks[i].at_once, error);
	}
	return rc == ERROR_NOT_FOUND && count ? lock_oldest(db, claiming, error) : rc;
}

static int claim_body(struct database *db, void *context, struct error *error)
{
	const struct claiming *claiming = context;
	const struct claimant *claimant = claiming->claimant;
	const struct claim *claim = claiming->claim;
	struct found worker;
	int rc = database_row(db, claiming->arena, &LOCK_WORKER, &worker, error, "s", claimant->worker);
	if (!rc)
		rc = lock_next(db, claiming, error);
	if (!rc)
		claiming->claim->hands_in = claimant->hands_in;
	if (rc || claimant->hands_in)
		return rc;
	rc = database_execute(db, &TAKE, error, "iissii", claim->fence, claim->attempt,
		claimant->worker, claimant->uuid, claimant->lease_ms, claim->job_id);
	return rc ? rc : database_execute(db, &FORGET_STAGES, error, "i", claim->job_id);
}

/* An idle device runs this statement five times a second and claims a job only if one waits. The
 * statement takes one round trip, a claim that finds no job takes five. With many devices, such
 * claims would be the first limit of the database (docs/scale.md). */
static const struct statement ANY_WAITS =
	SELECT(struct found, FOUND_COLUMNS, "SELECT id FROM queue_by_age WHERE gpu = ? LIMIT 1");

int queue_claim(struct database *db, struct arena *arena, const struct claimant *claimant,
	struct claim *claim, struct error *error)
{
	struct claiming claiming = { arena, claimant, claim };
	struct found waits;
	int rc = database_row(db, arena, &ANY_WAITS, &waits, error, "s", claimant->model);
	if (rc == ERROR_NOT_FOUND)
		return fail(error, rc, "No job waits for this device.");
	return rc ? rc : database_transaction(db, claim_body, &claiming, error);
}

static const struct statement PAUSES = SELECT(struct found, FOUND_COLUMNS,
	"SELECT COUNT(*) AS id FROM pauses WHERE worker = ? AND uuid IN ('', ?)");

bool queue_is_paused(struct database *db, const char *worker, const char *uuid)
{
	cleanup_arena struct arena *arena = arena_new();
	struct found pauses = { 0 };
	return !database_row(db, arena, &PAUSES, &pauses, NULL, "ss", worker, uuid) && pauses.id > 0;
}

/* ---- keeping ---- */

static int fail_lost(const struct claim *claim, struct error *error)
{
	return fail(error, ERROR_CONFLICT, JOB_IS_LOST, (long long)claim->job_id);
}

int queue_hold(
	struct database *db, struct arena *arena, const struct claim *claim, struct error *error)
{
	struct claim locked;
	int rc = database_row(db, arena, &HOLD, &locked, error, "ii", claim->job_id, claim->fence);
	return rc == ERROR_NOT_FOUND ? fail_lost(claim, error) : rc;
}

int queue_renew(struct database *db, const struct claim *claim, int64_t lease_ms,
	const char *progress, struct error *error)
{
	int rc = database_execute(
		db, &RENEW, error, "siii", progress, lease_ms, claim->job_id, claim->fence);
	return rc || database_affected(db) ? rc : fail_lost(claim, error);
}

int queue_let_go(struct database *db, const struct claim *claim, struct error *error)
{
	return database_execute(db, &LET_GO, error, "ii", claim->job_id, claim->fence);
}

/* ---- completion ---- */

struct end {
	const struct claim *claim;
	struct job_completion completion;
};

static int end_body(struct database *db, void *context, struct error *error)
{
	const struct end *end = context;
	cleanup_arena struct arena *arena = arena_new();
	if (!end->claim->hands_in)
		return job_completion_apply(db, arena, &end->completion, error);
	int rc = queue_hold(db, arena, end->claim, error);
	return rc ? rc : job_completion_hand_in(db, &end->completion, error);
}

int queue_end(struct database *db, const struct claim *claim, struct job_completion completion,
	struct error *error)
{
	completion.job_id = claim->job_id;
	completion.fence = claim->fence;
	struct end end = { claim, completion };
	return database_transaction(db, end_body, &end, error);
}

/* Ends an attempt that has no verdict. Such an attempt has no figures, so they are NAN. */
static int end_without_figures(struct database *db, const struct claim *claim,
	enum job_completion_kind kind, const char *reason, struct error *error)
{
	const struct job_completion completion = { .kind = kind,
		.reason = reason,
		.score_ns = NAN,
		.score_err_ns = NAN,
		.ratio = NAN,
		.ratio_low = NAN,
		.ratio_high = NAN };
	return queue_end(db, claim, completion, error);
}

int queue_give_back(
	struct database *db, const struct claim *claim, const char *reason, struct error *error)
{
	return end_without_figures(db, claim, JOB_COMPLETION_FAULT, reason, error);
}

int queue_give_back_lost(
	struct database *db, const struct claim *claim, const char *reason, struct error *error)
{
	return end_without_figures(db, claim, JOB_COMPLETION_LOSS, reason, error);
}

int queue_release(struct database *db, const struct claim *claim, struct error *error)
{
	return end_without_figures(db, claim, JOB_COMPLETION_RELEASE, NULL, error);
}
