#include "lib/judging/review.h"

#include "lib/account/audit.h"
#include "lib/account/user.h"
#include "lib/base/scope.h"
#include "lib/base/text.h"
#include "lib/gpu/floor.h"
#include "lib/job/job.h"
#include "lib/ranking/ranking.h"

#include <string.h>

/* ---- objections to a time ---- */

struct judged_task {
	const char *gpu, *flops, *bytes;
};
static const struct column JUDGED_TASK_COLUMNS[] = {
	TEXT(struct judged_task, gpu),
	TEXT(struct judged_task, flops),
	TEXT(struct judged_task, bytes),
};
static const struct statement JUDGED_TASK = SELECT(struct judged_task, JUDGED_TASK_COLUMNS,
	"SELECT j.gpu, JSON_VALUE(v.definition, '$.flops') AS flops, "
	"JSON_VALUE(v.definition, '$.bytes') AS bytes "
	"FROM jobs j LEFT JOIN rejudged_jobs r ON r.id = j.rejudged_id "
	"JOIN submissions s ON s.id = COALESCE(j.submission_id, r.submission_id) "
	"JOIN task_versions v ON v.id = s.task_version_id WHERE j.id = ?");

struct timed_case {
	const char *spec;
	double mean_ns;
};
static const struct column TIMED_CASE_COLUMNS[] = {
	TEXT(struct timed_case, spec),
	REAL(struct timed_case, mean_ns),
};
static const struct statement TIMED_CASES = SELECT(struct timed_case, TIMED_CASE_COLUMNS,
	"SELECT m.spec, m.mean_ns FROM measurements m "
	"JOIN stages t ON t.id = m.stage_id "
	"WHERE t.job_id = ? AND t.name = 'ranked' AND m.mean_ns IS NOT NULL ORDER BY m.case_index");

int review_objection(struct database *db, struct arena *arena, int64_t job_id, const char *engine,
	const char **sentence, struct error *error)
{
	struct judged_task task;
	struct timed_case *cases;
	size_t count = 0;
	*sentence = NULL;
	int rc = database_row(db, arena, &JUDGED_TASK, &task, error, "i", job_id);
	if (!rc)
		rc = database_rows(db, arena, &TIMED_CASES, &cases, &count, error, "i", job_id);
	for (size_t i = 0; i < count && !rc && !*sentence; i++) {
		const struct floor_case one = { .flops = task.flops,
			.bytes = task.bytes,
			.case_line = cases[i].spec,
			.gpu = task.gpu,
			.warm = !engine || strcmp(engine, "custom") == 0 };
		const char *objection = floor_objection(arena, &one, cases[i].mean_ns);
		if (objection)
			*sentence = arena_printf(arena, "Shape (%s): %s", cases[i].spec, objection);
	}
	return rc;
}

/* ---- waiting results ---- */

static const struct column HELD_COLUMNS[] = {
	INTEGER(struct held_result, submission_id),
	TEXT(struct held_result, leaderboard),
	TEXT(struct held_result, user),
	TEXT(struct held_result, gpu),
	TEXT(struct held_result, engine),
	REAL(struct held_result, score_ns),
	REAL(struct held_result, score_err_ns),
	TEXT(struct held_result, reason),
	TIME(struct held_result, held_at_ms),
};
#define IS_HELD SQL_IS_HELD("j")
static const struct statement WAITING = SELECT(struct held_result, HELD_COLUMNS,
	"SELECT s.id AS submission_id, l.name AS leaderboard, u.name AS user, j.gpu, j.engine, "
	"j.score_ns, j.score_err_ns, COALESCE(j.held_reason, '') AS reason, "
	"j.held_at AS held_at_ms "
	"FROM jobs j JOIN submissions s ON s.id = j.submission_id "
	"JOIN leaderboards l ON l.id = s.leaderboard_id "
	"JOIN users u ON u.id = s.user_id WHERE " IS_HELD " ORDER BY j.held_at, j.id LIMIT ?");

int reviews_waiting(struct database *db, struct arena *arena, struct held_result **results,
	size_t *count, struct error *error)
{
	return database_rows(db, arena, &WAITING, results, count, error, "i", (int64_t)reviews_most);
}

/* ---- deciding ---- */

struct held_job {
	int64_t id, is_held;
};
static const struct column HELD_JOB_COLUMNS[] = {
	INTEGER(struct held_job, id),
	INTEGER(struct held_job, is_held),
};
/* Locks the job: if two admins decide at the same time, the first one wins. */
static const struct statement LOCK_JOB = SELECT(struct held_job, HELD_JOB_COLUMNS,
	"SELECT j.id, " IS_HELD " AS is_held FROM jobs j "
	"WHERE j.submission_id = ? AND j.gpu = ? FOR UPDATE");
static const struct statement RELEASE = COMMAND("UPDATE jobs SET released_by = ? WHERE id = ?");
static const struct statement REJECT =
	COMMAND("UPDATE jobs SET verdict = 'protocol violation', reason = ?, score_ns = NULL, "
			"score_err_ns = NULL WHERE id = ?");
static const struct statement REJECT_STAGE =
	COMMAND("UPDATE stages SET verdict = 'protocol violation', message = ? WHERE job_id = ? "
			"AND name = 'ranked'");

struct decision {
	const struct review *review;
	const char *reason; /* NULL: released */
};

static int lock_held(struct database *db, struct arena *arena, const struct review *review,
	struct held_job *job, struct error *error)
{
	/* The column is ASCII, so a query with another text would fail. */
	int rc = gpu_is_name(review->gpu)
		? database_row(db, arena, &LOCK_JOB, job, error, "is", review->submission_id, review->gpu)
		: ERROR_NOT_FOUND;
	if (rc == ERROR_NOT_FOUND)
		return fail(error, rc, "There is no submission with this number that ran on this GPU.");
	return rc || job->is_held ? rc
							  : fail(error, ERROR_CONFLICT,
								  "The result of submission %lld on %s does not wait for a review.",
								  (long long)review->submission_id, review->gpu);
}

static int release_result(struct database *db, struct arena *arena, const struct held_job *job,
	const struct decision *decision, struct error *error)
{
	int rc = database_execute(db, &RELEASE, error, "ii", decision->review->by->id, job->id);
	return rc ? rc : ranking_insert(db, arena, job->id, error);
}

static int reject_result(struct database *db, struct arena *arena, const struct held_job *job,
	const struct decision *decision, struct error *error)
{
	const struct actor *by = decision->review->by;
	const char *reason = by->id
		? arena_printf(arena, "Rejected by the admin %s: %s", by->name, decision->reason)
		: arena_printf(arena, "Rejected by an admin: %s", decision->reason);
	int rc = database_execute(db, &REJECT, error, "si", reason, job->id);
	return rc ? rc : database_execute(db, &REJECT_STAGE, error, "si", reason, job->id);
}

static int decide_body(struct database *db, void *context, struct error *error)
{
	cleanup_arena struct arena *arena = arena_new();
	const struct decision *decision = context;
	const struct review *review = decision->review;
	struct held_job job;
	int rc = lock_held(db, arena, review, &job, error);
	if (!rc)
		rc = (decision->reason ? reject_result : release_result)(db, arena, &job, decision, error);
	return rc ? rc
			  : audit(db, review->by->id, review->by->name, review->by->address,
				  decision->reason ? "review.reject" : "review.release",
				  arena_printf(arena, "submission %lld on %s", (long long)review->submission_id,
					  review->gpu),
				  decision->reason ? decision->reason : "it was ranked", error);
}

static int decide_result(
	struct database *db, const struct review *review, const char *reason, struct error *error)
{
	struct decision decision = { .review = review, .reason = reason };
	return database_transaction(db, decide_body, &decision, error);
}

int review_release(struct database *db, const struct review *review, struct error *error)
{
	return decide_result(db, review, NULL, error);
}

int review_check_reason(
	struct arena *arena, const char *reason, const char **checked, struct error *error)
{
	reason += strspn(reason, " ");
	size_t length = strlen(reason);
	while (length && reason[length - 1] == ' ')
		length--;
	if (!length)
		return fail_field(error, "reason", "Give a reason. The author sees it.");
	if (length > review_most_reason_bytes)
		return fail_field(error, "reason", "The reason is %zu bytes long; at most %d are allowed.",
			length, review_most_reason_bytes);
	if (text_has_control(reason) || !text_is_utf8(reason, length))
		return fail_field(
			error, "reason", "The reason must be one line of text without control characters.");
	*checked = arena_strndup(arena, reason, length);
	return 0;
}

int review_reject(
	struct database *db, const struct review *review, const char *reason, struct error *error)
{
	cleanup_arena struct arena *arena = arena_new();
	int rc = review_check_reason(arena, reason, &reason, error);
	return rc ? rc : decide_result(db, review, reason, error);
}
