#include "lib/ranking/ranking.h"

#include "lib/ranking/baseline.h"
#include "lib/ranking/file_time.h"
#include "lib/ranking/head_to_head.h"
#include "lib/ranking/overtaking.h"
#include "lib/ranking/ranked_job.h"
#include "lib/ranking/records.h"
#include "lib/ranking/standing.h"
#include "lib/webhook/event.h"

#include <math.h>

/* ---- notices to overtaken users ---- */

/* Notifies the users whose entries are between the new and the old position of this user's
 * entry. */
static int notify_overtaken(struct database *db, const struct ranking_key *key,
	const struct standing *standing, int64_t user_id, struct error *error)
{
	const struct standing_move *move = standing_move_of(standing, user_id);
	if (!move)
		return 0;
	int64_t last = move->before.position ? move->before.position : (int64_t)standing->count;
	return overtaking_note(
		db, key, user_id, move->after.place, move->after.position + 1, last, error);
}

/* If a comparison has moved one of its two entries past the other, notifies the user who was
 * passed. */
static int notify_compared(struct database *db, const struct ranking_key *key,
	const struct standing *standing, const struct head_to_head_pair *pair, struct error *error)
{
	const struct standing_move *first = standing_move_of(standing, pair->challenger_user_id);
	const struct standing_move *second = standing_move_of(standing, pair->incumbent_user_id);
	if (!first || !second)
		return 0;
	if (first->after.position > second->after.position) {
		const struct standing_move *behind = first;
		first = second;
		second = behind;
	}
	if (first->before.place < second->before.place)
		return 0;
	return overtaking_note(db, key, first->after.user_id, first->after.place,
		second->after.position, second->after.position, error);
}

/* ---- inserting ---- */

static const struct statement PUT_RANKED_AT =
	COMMAND("UPDATE jobs SET ranked_at = UTC_TIMESTAMP(3) WHERE id = ?");

/* Updates the records of the ranking and its baselines. */
static int update_statistics(struct database *db, const struct ranked_job *job, struct error *error)
{
	struct ranking_key key = ranked_job_key(job);
	const struct record record = { .key = &key,
		.user_id = job->user_id,
		.submission_id = job->submission_id,
		.job_id = job->job_id,
		.is_first = job->results == 1 };
	int rc = database_execute(db, &PUT_RANKED_AT, error, "i", job->job_id);
	if (!rc)
		rc = records_insert(db, &record, error);
	return rc ? rc : baseline_take(db, job->job_id, error);
}

static const struct statement PUT_CHANGE =
	COMMAND("UPDATE jobs SET best_before_ns = ?, place_before = ?, tied_before = ?, "
			"place_after = ?, tied_after = ? WHERE id = ?");

/* Stores how the job changed its user's rank, for the submission's page. A job that ran again keeps
 * the change of its first run. */
static int store_change(struct database *db, const struct ranked_job *job,
	const struct ranked_job *current, const struct standing *standing, struct error *error)
{
	int64_t place = SQL_NULL_INTEGER, is_tied = SQL_NULL_INTEGER;
	bool was_ranked = current->job_id;
	if (current->job_id == job->job_id)
		return 0;
	for (size_t i = 0; i < standing->count; i++)
		if (standing->entries[i].user_id == job->user_id) {
			place = standing->entries[i].place;
			is_tied = standing->entries[i].is_tied;
		}
	return database_execute(db, &PUT_CHANGE, error, "diiiii", was_ranked ? current->score_ns : NAN,
		was_ranked ? current->place : SQL_NULL_INTEGER,
		was_ranked ? current->is_tied : SQL_NULL_INTEGER, place, is_tied, job->job_id);
}

/* Updates positions, places and comparisons after a user's entry has changed. */
static int update_order(struct database *db, struct arena *arena, const struct ranked_job *job,
	struct standing *standing, struct error *error)
{
	struct ranking_key key = ranked_job_key(job);
	int rc = standing_update(db, arena, &key, standing, error);
	if (!rc)
		rc = head_to_head_withdraw(db, arena, &key, error);
	return rc ? rc : standing_compare(db, &key, standing, job->user_id, error);
}

/* Computes the time of the job's file and puts the best jobs of its users into the ranking.
 * *current: the user's entry before; its job_id is 0 if there was none. *changed: whether the order
 * may have changed. */
static int put_job(struct database *db, struct arena *arena, struct ranked_job *job,
	struct ranked_job *current, bool *changed, struct error *error)
{
	struct ranked_job best;
	*current = (struct ranked_job){ 0 };
	int rc = ranked_job_current(db, arena, job, current, error);
	if (rc == ERROR_NOT_FOUND)
		rc = 0;
	if (!rc)
		rc = file_time_refresh(db, job->job_id, error);
	if (!rc)
		rc = ranked_job_find(db, arena, job->job_id, job, error);
	if (!rc)
		rc = ranked_job_put_best(db, job, error);
	if (!rc)
		rc = ranked_job_current(db, arena, job, &best, error);
	if (!rc)
		*changed = job->results > 1 || current->job_id == job->job_id || best.job_id == job->job_id;
	return rc;
}

static int insert_job(
	struct database *db, struct arena *arena, struct ranked_job *job, struct error *error)
{
	struct ranking_key key = ranked_job_key(job);
	struct ranked_job current;
	struct standing standing = { 0 };
	bool changed;
	int rc = put_job(db, arena, job, &current, &changed, error);
	if (!rc)
		rc = update_statistics(db, job, error);
	if (!rc && changed)
		rc = update_order(db, arena, job, &standing, error);
	if (!rc && changed)
		rc = notify_overtaken(db, &key, &standing, job->user_id, error);
	if (!rc)
		rc = store_change(db, job, &current, &standing, error);
	/* A job that ran again has caused its event already. */
	return rc || current.job_id == job->job_id ? rc : webhook_tell_ranked(db, job->job_id, error);
}

int ranking_insert(struct database *db, struct arena *arena, int64_t job_id, struct error *error)
{
	struct ranked_job job;
	struct ranking_key key;
	bool has_score = false, counts = false;
	int rc = ranked_job_has_score(db, arena, job_id, &has_score, error);
	if (!rc && !has_score)
		return fail(
			error, ERROR_NOT_FOUND, "Job %lld is not a ranked job that passed.", (long long)job_id);
	if (!rc)
		rc = ranked_job_find(db, arena, job_id, &job, error);
	if (rc)
		return rc;
	key = ranked_job_key(&job);
	rc = ranked_job_lock(db, arena, &key, error);
	/* Checks while the ranking is locked. If a freeze came first, the check sees it; if it comes
	 * later, this job is in the ranking already. */
	if (!rc)
		rc = ranked_job_counts(db, arena, job_id, &counts, error);
	if (rc)
		return rc;
	return counts ? insert_job(db, arena, &job, error)
				  : baseline_take(db, job_id, error); /* a dry run may have timed a sample */
}

int ranking_refresh_job(
	struct database *db, struct arena *arena, int64_t job_id, struct error *error)
{
	struct ranked_job job;
	struct ranking_key key;
	struct standing standing;
	int rc = ranked_job_find(db, arena, job_id, &job, error);
	if (rc)
		return rc == ERROR_NOT_FOUND
			? fail(error, rc, "Job %lld does not exist or has no submission.", (long long)job_id)
			: rc;
	key = ranked_job_key(&job);
	rc = ranked_job_lock(db, arena, &key, error);
	if (!rc)
		rc = file_time_refresh(db, job_id, error);
	if (!rc)
		rc = ranked_job_put_best(db, &job, error);
	if (!rc)
		rc = records_refresh(db, &key, job.submission_id, error);
	if (!rc)
		rc = baseline_take(db, job.job_id, error);
	return rc ? rc : update_order(db, arena, &job, &standing, error);
}

int ranking_compare(struct database *db, struct arena *arena, int64_t job_id,
	const struct head_to_head_result *result, struct error *error)
{
	struct ranking_key key;
	struct head_to_head_pair pair;
	struct standing standing;
	int rc = head_to_head_find(db, arena, job_id, &key, &pair, error);
	if (!rc)
		rc = ranked_job_lock(db, arena, &key, error);
	if (!rc)
		rc = head_to_head_store(db, job_id, result, error);
	if (!rc)
		rc = standing_update(db, arena, &key, &standing, error);
	return rc ? rc : notify_compared(db, &key, &standing, &pair, error);
}
