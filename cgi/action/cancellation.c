#include "cgi/action/cancellation.h"

#include "lib/account/audit.h"
#include "lib/account/team.h"
#include "lib/account/user.h"
#include "lib/base/format.h"
#include "lib/base/scope.h"
#include "lib/database/job_count.h"

#include <string.h>

struct job {
	int64_t id;
	const char *state;
};
static const struct column JOB_COLUMNS[] = { INTEGER(struct job, id), TEXT(struct job, state) };
/* Transactions that claim, finish or cancel a job lock its row, so the first of them wins. */
static const struct statement LOCK_JOBS = SELECT(struct job, JOB_COLUMNS,
	"SELECT id, state FROM jobs WHERE submission_id = ? ORDER BY id FOR UPDATE");
/* Leaves the job's worker, device and lease unchanged, because they say which worker has to stop
 * the job. */
static const struct statement CANCEL = COMMAND(
	"UPDATE jobs SET state = 'cancelled', verdict = 'cancelled', reason = ?, cancelled_by = ?, "
	"progress = '', finished_at = UTC_TIMESTAMP(3) WHERE id = ?");
static const struct statement END_STAGES =
	COMMAND("UPDATE stages SET verdict = 'cancelled' WHERE job_id = ? AND verdict IS NULL");

struct order {
	int64_t submission_id, owner_id;
	const struct actor *actor;
	bool by_author; /* the actor acts for the owner (lib/account/team.h) */
	struct cancellation *cancellation;
};

static const char *reason_for(struct arena *arena, const struct order *order, bool running)
{
	const char *when = running ? "while it ran" : "before it started";
	if (order->by_author)
		return arena_printf(arena, "Cancelled by its author %s.", when);
	return arena_printf(arena, "Cancelled by the admin %s %s.", order->actor->name, when);
}

static int cancel_job(struct database *db, struct arena *arena, const struct order *order,
	const struct job *job, struct error *error)
{
	struct cancellation *cancellation = order->cancellation;
	bool running = strcmp(job->state, "running") == 0;
	if (!running && strcmp(job->state, "queued") != 0) {
		cancellation->ended++;
		return 0;
	}
	*(running ? &cancellation->running : &cancellation->waiting) += 1;
	/* A member cancels as the team, because the team's quota counts what its author cancelled. */
	int rc = database_execute(db, &CANCEL, error, "sii", reason_for(arena, order, running),
		order->by_author ? order->owner_id : order->actor->id, job->id);
	if (!rc)
		rc = database_execute(db, &END_STAGES, error, "i", job->id);
	return rc ? rc : job_count_end(db, job->id, error);
}

static int audit_cancellation(
	struct database *db, struct arena *arena, const struct order *order, struct error *error)
{
	const struct cancellation *cancellation = order->cancellation;
	const struct actor *actor = order->actor;
	if (actor->id == order->owner_id || cancellation->waiting + cancellation->running == 0)
		return 0;
	return audit(db, actor->id, actor->name, actor->address, "submission.cancel",
		arena_printf(arena, "submission %lld", (long long)order->submission_id),
		arena_printf(arena, "%lld waiting and %s cancelled; %lld had finished before",
			(long long)cancellation->waiting, plural(arena, cancellation->running, "running job"),
			(long long)cancellation->ended),
		error);
}

static int cancel_body(struct database *db, void *context, struct error *error)
{
	cleanup_arena struct arena *arena = arena_new();
	const struct order *order = context;
	struct job *jobs;
	size_t count;
	*order->cancellation = (struct cancellation){ 0 };
	int rc = database_rows(db, arena, &LOCK_JOBS, &jobs, &count, error, "i", order->submission_id);
	for (size_t i = 0; i < count && !rc; i++)
		rc = cancel_job(db, arena, order, &jobs[i], error);
	return rc ? rc : audit_cancellation(db, arena, order, error);
}

int submission_cancel(struct database *db, int64_t submission_id, int64_t owner_id,
	const struct actor *actor, struct cancellation *cancellation, struct error *error)
{
	struct order order = { .submission_id = submission_id,
		.owner_id = owner_id,
		.actor = actor,
		.cancellation = cancellation };
	int rc = team_acts_for(db, actor->id, owner_id, &order.by_author, error);
	return rc ? rc : database_transaction(db, cancel_body, &order, error);
}
