#include "lib/ranking.h"

#include "lib/baseline.h"
#include "lib/comparison.h"
#include "lib/job.h"
#include "lib/overtaking.h"
#include "lib/records.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- one ranking in the database ---- */

/* A passed ranked job. The key of its ranking is (leaderboard_id, task_version_id, gpu). */
struct ranked_job {
	int64_t leaderboard_id, task_version_id;
	const char *gpu;
	int64_t user_id, submission_id, job_id;
	double score_ns, score_err_ns;
	int64_t submitted_at_ms;
	const char *engine, *dialect;
	int64_t attempts;
	int64_t place;           /* only of an entry that stands in the ranking */
};

struct id_row { int64_t id; };

static const struct column RANKED_JOB_COLUMNS[] = {
	INTEGER(struct ranked_job, leaderboard_id), INTEGER(struct ranked_job, task_version_id),
	TEXT(struct ranked_job, gpu), INTEGER(struct ranked_job, user_id), INTEGER(struct ranked_job, submission_id),
	INTEGER(struct ranked_job, job_id), REAL(struct ranked_job, score_ns), REAL(struct ranked_job, score_err_ns),
	TIME(struct ranked_job, submitted_at_ms), TEXT(struct ranked_job, engine), TEXT(struct ranked_job, dialect),
	INTEGER(struct ranked_job, attempts),
};
static const struct column ENTRY_COLUMNS[] = {
	INTEGER(struct ranking_entry, user_id), INTEGER(struct ranking_entry, submission_id),
	REAL(struct ranking_entry, score_ns), REAL(struct ranking_entry, score_err_ns),
	INTEGER(struct ranking_entry, position), INTEGER(struct ranking_entry, place),
};
static const struct column ID_COLUMNS[] = { INTEGER(struct id_row, id) };

#define RANKED_JOB_FIELDS "s.leaderboard_id, s.task_version_id, j.gpu, s.user_id, s.id AS submission_id, j.id AS job_id, " \
	"j.score_ns, j.score_err_ns, s.submitted_at AS submitted_at_ms, j.engine, s.dialect"
#define IS_RANKED SQL_IS_RANKED("s", "j")

static const struct statement JOB = SELECT(struct ranked_job, RANKED_JOB_COLUMNS,
	"SELECT " RANKED_JOB_FIELDS ", 0 AS attempts FROM jobs j JOIN submissions s ON s.id = j.submission_id WHERE j.id = ?");
static const struct statement HAS_SCORE = SELECT(struct id_row, ID_COLUMNS,
	"SELECT j.id FROM jobs j JOIN submissions s ON s.id = j.submission_id WHERE j.id = ? AND " SQL_HAS_SCORE("s", "j"));
static const struct statement COUNTS = SELECT(struct id_row, ID_COLUMNS,
	"SELECT j.id FROM jobs j JOIN submissions s ON s.id = j.submission_id WHERE j.id = ? AND " IS_RANKED);
static const struct statement BEST_OF_USER = SELECT(struct ranked_job, RANKED_JOB_COLUMNS,
	"SELECT " RANKED_JOB_FIELDS ", 0 AS attempts FROM submissions s JOIN jobs j ON j.submission_id = s.id AND j.gpu = ? "
	"WHERE s.user_id = ? AND s.leaderboard_id = ? AND s.task_version_id = ? AND " IS_RANKED " "
	"ORDER BY j.score_ns, s.id LIMIT 1");
static const struct statement BEST_OF_ALL = SELECT(struct ranked_job, RANKED_JOB_COLUMNS,
	"SELECT leaderboard_id, task_version_id, gpu, user_id, submission_id, job_id, score_ns, score_err_ns, submitted_at_ms, "
	"  engine, dialect, attempts "
	"FROM (SELECT " RANKED_JOB_FIELDS ", COUNT(*) OVER (PARTITION BY s.task_version_id, j.gpu, s.user_id) AS attempts, "
	"  ROW_NUMBER() OVER (PARTITION BY s.task_version_id, j.gpu, s.user_id "
	"  ORDER BY j.score_ns, s.id) AS number "
	"  FROM submissions s JOIN jobs j ON j.submission_id = s.id WHERE s.leaderboard_id = ? AND " IS_RANKED ") numbered "
	"WHERE number = 1 ORDER BY task_version_id, gpu");
static const struct statement RANKING = SELECT(struct ranking_entry, ENTRY_COLUMNS,
	"SELECT user_id, submission_id, score_ns, score_err_ns, position, place FROM ranking "
	"WHERE leaderboard_id = ? AND task_version_id = ? AND gpu = ?");
static const struct statement LOCK_GPU = SELECT(struct id_row, ID_COLUMNS,
	"SELECT leaderboard_id AS id FROM leaderboard_gpus WHERE leaderboard_id = ? AND gpu = ? FOR UPDATE");
static const struct statement LOCK_GPUS = SELECT(struct id_row, ID_COLUMNS,
	"SELECT leaderboard_id AS id FROM leaderboard_gpus WHERE leaderboard_id = ? FOR UPDATE");
static const struct statement LOCK_LEADERBOARD = SELECT(struct id_row, ID_COLUMNS,
	"SELECT id FROM leaderboards WHERE id = ? FOR UPDATE");
static const struct statement LEADERBOARDS = SELECT(struct id_row, ID_COLUMNS,
	"SELECT id FROM leaderboards WHERE ? IN (0, id) ORDER BY id");
static const struct statement CLEAR = COMMAND("DELETE FROM ranking WHERE leaderboard_id = ?");

/* Position and place stay as they are, or 0 for a new entry, until the new order is known. */
static const struct statement PUT_ENTRY = COMMAND(
	"INSERT INTO ranking (leaderboard_id, task_version_id, gpu, user_id, submission_id, job_id, score_ns, score_err_ns, "
	"submitted_at, engine, dialect, attempts, position, place) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, 0) ON DUPLICATE KEY UPDATE "
	"submission_id = VALUES(submission_id), job_id = VALUES(job_id), score_ns = VALUES(score_ns), "
	"score_err_ns = VALUES(score_err_ns), submitted_at = VALUES(submitted_at), engine = VALUES(engine), "
	"dialect = VALUES(dialect)");
static const struct statement COUNT_ATTEMPTS = COMMAND(
	"UPDATE ranking SET attempts = (SELECT COUNT(*) FROM submissions s JOIN jobs j ON j.submission_id = s.id AND j.gpu = ? "
	"  WHERE s.user_id = ? AND s.leaderboard_id = ? AND s.task_version_id = ? AND " IS_RANKED ") "
	"WHERE leaderboard_id = ? AND task_version_id = ? AND gpu = ? AND user_id = ?");
static const struct statement MOVE_ENTRY = COMMAND(
	"UPDATE ranking SET position = ?, place = ? WHERE leaderboard_id = ? AND task_version_id = ? AND gpu = ? AND user_id = ?");
static const struct statement SHIFT_ENTRIES = COMMAND(
	"UPDATE ranking SET position = position + 1, place = place + ? "
	"WHERE leaderboard_id = ? AND task_version_id = ? AND gpu = ? AND position BETWEEN ? AND ?");

static struct ranking_key key_of(const struct ranked_job *job)
{
	return (struct ranking_key){ job->leaderboard_id, job->task_version_id, job->gpu };
}

static int put_entry(struct database *db, const struct ranked_job *job, struct error *error)
{
	return database_execute(db, &PUT_ENTRY, error, "iisiiiddtssi", job->leaderboard_id, job->task_version_id, job->gpu,
		job->user_id, job->submission_id, job->job_id, job->score_ns, job->score_err_ns, job->submitted_at_ms, job->engine,
		job->dialect, job->attempts);
}

/* ---- bringing positions up to date ---- */

struct move { struct ranking_entry before, after; };

static int by_user(const void *left, const void *right)
{
	const struct ranking_entry *a = left, *b = right;
	return (a->user_id > b->user_id) - (a->user_id < b->user_id);
}

static int by_position_before(const void *left, const void *right)
{
	const struct move *a = left, *b = right;
	return (a->before.position > b->before.position) - (a->before.position < b->before.position);
}

/* Each entry as it stands in the table beside what it should be, from the first position to the last. */
static struct move *plan_moves(struct arena *arena, struct ranking_entry *entries, const struct ranking_entry *ordered, size_t count)
{
	struct move *moves = arena_array(arena, struct move, count);
	qsort(entries, count, sizeof *entries, by_user);
	for (size_t i = 0; i < count; i++) {
		struct ranking_entry *before = bsearch(&ordered[i], entries, count, sizeof *entries, by_user);
		moves[i] = (struct move){ *before, ordered[i] };
	}
	qsort(moves, count, sizeof *moves, by_position_before);
	return moves;
}

static bool is_shift(const struct move *move)
{
	return move->before.position && move->after.position == move->before.position + 1;
}

static int64_t place_shift(const struct move *move)
{
	return move->after.place - move->before.place;
}

/* An entry that comes in pushes all below it down by one: each run of neighbours that move alike is one
 * statement. From the last to the first, so that no entry that has moved is found a second time. */
static int shift_runs(struct database *db, const struct ranking_key *key, const struct move *moves, size_t count,
	struct error *error)
{
	int rc = 0;
	for (size_t last = count; last-- > 0 && !rc;) {
		if (!is_shift(&moves[last]))
			continue;
		size_t first = last;
		while (first > 0 && is_shift(&moves[first - 1]) && place_shift(&moves[first - 1]) == place_shift(&moves[last])
			&& moves[first - 1].before.position + 1 == moves[first].before.position)
			first--;
		rc = database_execute(db, &SHIFT_ENTRIES, error, "iiisii", place_shift(&moves[last]), key->leaderboard_id,
			key->task_version_id, key->gpu, moves[first].before.position, moves[last].before.position);
		last = first;
	}
	return rc;
}

static int move_others(struct database *db, const struct ranking_key *key, const struct move *moves, size_t count,
	struct error *error)
{
	int rc = 0;
	for (size_t i = 0; i < count && !rc; i++) {
		const struct ranking_entry *before = &moves[i].before, *after = &moves[i].after;
		if (!is_shift(&moves[i]) && (before->position != after->position || before->place != after->place))
			rc = database_execute(db, &MOVE_ENTRY, error, "iiiisi", after->position, after->place, key->leaderboard_id,
				key->task_version_id, key->gpu, after->user_id);
	}
	return rc;
}

/* A ranking as it is to be, from the first position to the last; and what becomes of each entry, in the order of before. */
struct standing { struct ranking_entry *entries; struct move *moves; size_t count; };

static int update_positions(struct database *db, struct arena *arena, const struct ranking_key *key, struct standing *standing,
	struct error *error)
{
	struct ranking_entry *entries;
	struct ranking_comparison *comparisons;
	size_t count, comparison_count;
	int rc = database_rows(db, arena, &RANKING, &entries, &count, error, "iis", key->leaderboard_id, key->task_version_id,
		key->gpu);
	if (!rc)
		rc = comparison_read(db, arena, key, &comparisons, &comparison_count, error);
	*standing = (struct standing){0};
	if (rc || !count)
		return rc;
	*standing = (struct standing){ .entries = arena_copy(arena, entries, count * sizeof *entries), .count = count };
	ranking_order(standing->entries, count, comparisons, comparison_count);
	standing->moves = plan_moves(arena, entries, standing->entries, count);
	rc = shift_runs(db, key, standing->moves, count, error);
	return rc ? rc : move_others(db, key, standing->moves, count, error);
}

/* ---- asking for comparisons ---- */

static int open_comparisons(struct database *db, const struct ranking_key *key, const struct standing *standing, int64_t user_id,
	struct error *error)
{
	const struct ranking_entry *rivals[2];
	size_t count = ranking_rivals(standing->entries, standing->count, user_id, rivals);
	int rc = 0;
	for (size_t i = 0; i < count && !rc; i++)
		rc = comparison_open(db, key, user_id, rivals[i]->user_id, error);
	return rc;
}

/* ---- telling who was overtaken ---- */

static const struct move *move_of(const struct standing *standing, int64_t user_id)
{
	for (size_t i = 0; i < standing->count; i++)
		if (standing->moves[i].after.user_id == user_id)
			return &standing->moves[i];
	return NULL;
}

/* Those that now stand between where the entry is and where it was. */
static int tell_overtaken(struct database *db, const struct ranking_key *key, const struct standing *standing, int64_t user_id,
	struct error *error)
{
	const struct move *move = move_of(standing, user_id);
	if (!move)
		return 0;
	int64_t last = move->before.position ? move->before.position : (int64_t)standing->count;
	return overtaking_note(db, key, user_id, move->after.place, move->after.position + 1, last, error);
}

/* A comparison is about two: one may have come before the other. */
static int tell_compared(struct database *db, const struct ranking_key *key, const struct standing *standing,
	const struct comparison_pair *pair, struct error *error)
{
	const struct move *first = move_of(standing, pair->challenger_user_id), *second = move_of(standing, pair->incumbent_user_id);
	if (!first || !second)
		return 0;
	if (first->after.position > second->after.position) {
		const struct move *behind = first;
		first = second;
		second = behind;
	}
	if (first->before.place < second->before.place)
		return 0;
	return overtaking_note(db, key, first->after.user_id, first->after.place, second->after.position, second->after.position, error);
}

/* ---- inserting ---- */

/* A GPU that the leaderboard has no more has no row to lock; the leaderboard's own stands in for it. */
static int lock_ranking(struct database *db, struct arena *arena, const struct ranking_key *key, struct error *error)
{
	struct id_row row;
	int rc = database_row(db, arena, &LOCK_GPU, &row, error, "is", key->leaderboard_id, key->gpu);
	return rc != ERROR_NOT_FOUND ? rc : database_row(db, arena, &LOCK_LEADERBOARD, &row, error, "i", key->leaderboard_id);
}

static const struct column CURRENT_COLUMNS[] = {
	INTEGER(struct ranked_job, submission_id), INTEGER(struct ranked_job, job_id), REAL(struct ranked_job, score_ns),
	INTEGER(struct ranked_job, place),
};
static const struct statement CURRENT = SELECT(struct ranked_job, CURRENT_COLUMNS,
	"SELECT submission_id, job_id, score_ns, place FROM ranking "
	"WHERE leaderboard_id = ? AND task_version_id = ? AND gpu = ? AND user_id = ?");

static bool is_better(const struct ranked_job *job, const struct ranked_job *current)
{
	if (job->score_ns != current->score_ns)
		return job->score_ns < current->score_ns;
	return job->submission_id < current->submission_id;
}

/* Puts the user's entry in its place; a job that was there already and ran again may have become slower, so
 * that another one is the best. *changed tells whether the order may be a new one, *current what stood there before: its
 * job_id is 0 if nothing did. */
static int take_in(struct database *db, struct arena *arena, const struct ranked_job *job, struct ranked_job *current, bool *changed,
	struct error *error)
{
	struct ranked_job best = *job;
	*changed = true;
	*current = (struct ranked_job){0};
	int rc = database_row(db, arena, &CURRENT, current, error, "iisi", job->leaderboard_id, job->task_version_id, job->gpu,
		job->user_id);
	if (rc == ERROR_NOT_FOUND)
		return put_entry(db, job, error);
	if (rc)
		return rc;
	if (current->job_id == job->job_id)
		rc = database_row(db, arena, &BEST_OF_USER, &best, error, "siii", job->gpu, job->user_id, job->leaderboard_id,
			job->task_version_id);
	else if (!is_better(job, current))
		*changed = false;
	return rc || !*changed ? rc : put_entry(db, &best, error);
}

static int count_attempts(struct database *db, const struct ranked_job *job, struct error *error)
{
	return database_execute(db, &COUNT_ATTEMPTS, error, "siiiiisi", job->gpu, job->user_id, job->leaderboard_id, job->task_version_id,
		job->leaderboard_id, job->task_version_id, job->gpu, job->user_id);
}

/* What is kept beside the entry: the user's attempts, the records of the ranking and its baselines. */
static int keep_figures(struct database *db, const struct ranked_job *job, struct error *error)
{
	struct ranking_key key = key_of(job);
	const struct record record = { &key, job->user_id, job->submission_id, job->job_id, job->score_ns };
	int rc = count_attempts(db, job, error);
	if (!rc)
		rc = records_insert(db, &record, error);
	return rc ? rc : baseline_take(db, job->job_id, error);
}

static const struct statement PUT_CHANGE = COMMAND(
	"UPDATE jobs SET best_before_ns = ?, place_before = ?, place_after = ? WHERE id = ?");

/* What the job changed for its user, for its page. One that ran again is held against what it changed at first. */
static int note_change(struct database *db, const struct ranked_job *job, const struct ranked_job *current,
	const struct standing *standing, struct error *error)
{
	int64_t place = SQL_NULL_INTEGER;
	bool was_ranked = current->job_id;
	if (current->job_id == job->job_id)
		return 0;
	for (size_t i = 0; i < standing->count; i++)
		if (standing->entries[i].user_id == job->user_id)
			place = standing->entries[i].place;
	return database_execute(db, &PUT_CHANGE, error, "diii", was_ranked ? current->score_ns : NAN,
		was_ranked ? current->place : SQL_NULL_INTEGER, place, job->job_id);
}

/* Positions, places and comparisons after a user's entry has become another. */
static int settle(struct database *db, struct arena *arena, const struct ranked_job *job, struct standing *standing, struct error *error)
{
	struct ranking_key key = key_of(job);
	int rc = update_positions(db, arena, &key, standing, error);
	if (!rc)
		rc = comparison_withdraw(db, arena, &key, error);
	return rc ? rc : open_comparisons(db, &key, standing, job->user_id, error);
}

static int asks(struct database *db, struct arena *arena, const struct statement *question, int64_t job_id, bool *answer, struct error *error)
{
	struct id_row row;
	int rc = database_row(db, arena, question, &row, error, "i", job_id);
	*answer = rc == 0;
	return rc == ERROR_NOT_FOUND ? 0 : rc;
}

static int insert(struct database *db, struct arena *arena, const struct ranked_job *job, struct error *error)
{
	struct ranking_key key = key_of(job);
	struct ranked_job current;
	struct standing standing = {0};
	bool changed;
	int rc = take_in(db, arena, job, &current, &changed, error);
	if (!rc)
		rc = keep_figures(db, job, error);
	if (!rc && changed)
		rc = settle(db, arena, job, &standing, error);
	if (!rc && changed)
		rc = tell_overtaken(db, &key, &standing, job->user_id, error);
	return rc ? rc : note_change(db, job, &current, &standing, error);
}

int ranking_insert(struct database *db, struct arena *arena, int64_t job_id, struct error *error)
{
	struct ranked_job job;
	struct ranking_key key;
	bool has_score = false, counts = false;
	int rc = asks(db, arena, &HAS_SCORE, job_id, &has_score, error);
	if (!rc && !has_score)
		return fail(error, ERROR_NOT_FOUND, "Job %lld is not a ranked job that passed.", (long long)job_id);
	if (!rc)
		rc = database_row(db, arena, &JOB, &job, error, "i", job_id);
	if (rc)
		return rc;
	key = key_of(&job);
	rc = lock_ranking(db, arena, &key, error);
	if (!rc) /* behind the lock, so that a freeze either sees this job in the ranking or is seen here */
		rc = asks(db, arena, &COUNTS, job_id, &counts, error);
	if (rc)
		return rc;
	return counts ? insert(db, arena, &job, error) : baseline_take(db, job_id, error); /* a sample that a dry run has timed */
}

static const struct statement DROP_ENTRY = COMMAND(
	"DELETE FROM ranking WHERE leaderboard_id = ? AND task_version_id = ? AND gpu = ? AND user_id = ?");

static int put_best(struct database *db, struct arena *arena, const struct ranked_job *job, struct error *error)
{
	struct ranked_job best;
	int rc = database_row(db, arena, &BEST_OF_USER, &best, error, "siii", job->gpu, job->user_id, job->leaderboard_id, job->task_version_id);
	if (rc == ERROR_NOT_FOUND)
		return database_execute(db, &DROP_ENTRY, error, "iisi", job->leaderboard_id, job->task_version_id, job->gpu, job->user_id);
	return rc ? rc : put_entry(db, &best, error);
}

int ranking_refresh(struct database *db, struct arena *arena, int64_t job_id, struct error *error)
{
	struct ranked_job job;
	struct ranking_key key;
	struct standing standing;
	int rc = database_row(db, arena, &JOB, &job, error, "i", job_id);
	if (rc)
		return rc == ERROR_NOT_FOUND ? fail(error, rc, "There is no job %lld of a submission.", (long long)job_id) : rc;
	key = key_of(&job);
	rc = lock_ranking(db, arena, &key, error);
	if (!rc)
		rc = put_best(db, arena, &job, error);
	if (!rc)
		rc = count_attempts(db, &job, error);
	if (!rc)
		rc = records_renew(db, &key, job.user_id, error);
	if (!rc)
		rc = baseline_take(db, job.job_id, error);
	return rc ? rc : settle(db, arena, &job, &standing, error);
}

int ranking_compare(struct database *db, struct arena *arena, int64_t job_id, const struct ranking_ratio *ratio,
	struct error *error)
{
	struct ranking_key key;
	struct comparison_pair pair;
	struct standing standing;
	int rc = comparison_find(db, arena, job_id, &key, &pair, error);
	if (!rc)
		rc = lock_ranking(db, arena, &key, error);
	if (!rc)
		rc = comparison_store(db, job_id, ratio, error);
	if (!rc)
		rc = update_positions(db, arena, &key, &standing, error);
	return rc ? rc : tell_compared(db, &key, &standing, &pair, error);
}

/* ---- rebuilding ---- */

static bool same_ranking(const struct ranked_job *a, const struct ranked_job *b)
{
	return a->task_version_id == b->task_version_id && strcmp(a->gpu, b->gpu) == 0;
}

/* A leaderboard whose rankings are made anew, and whether comparisons follow from it. */
struct rebuild { int64_t leaderboard_id; bool compares; };

static int ask_for_comparisons(struct database *db, struct arena *arena, const struct ranking_key *key, const struct standing *standing,
	struct error *error)
{
	int rc = comparison_withdraw(db, arena, key, error);
	for (size_t i = 0; i < standing->count && i < ranking_compared_positions && !rc; i++)
		rc = open_comparisons(db, key, standing, standing->entries[i].user_id, error);
	return rc;
}

static int insert_all(struct database *db, struct arena *arena, const struct rebuild *rebuild, const struct ranked_job *jobs,
	size_t count, struct error *error)
{
	int rc = 0;
	for (size_t i = 0; i < count && !rc; i++) {
		rc = put_entry(db, &jobs[i], error);
		bool last_of_ranking = i + 1 == count || !same_ranking(&jobs[i], &jobs[i + 1]);
		struct ranking_key key = key_of(&jobs[i]);
		struct standing standing;
		if (!rc && last_of_ranking)
			rc = update_positions(db, arena, &key, &standing, error);
		if (!rc && last_of_ranking && rebuild->compares)
			rc = ask_for_comparisons(db, arena, &key, &standing, error);
	}
	return rc;
}

static int rebuild_leaderboard(struct database *db, void *context, struct error *error)
{
	const struct rebuild *rebuild = context;
	cleanup_arena struct arena *arena = arena_new();
	struct id_row *locked, row;
	struct ranked_job *jobs;
	size_t count;
	int rc = database_rows(db, arena, &LOCK_GPUS, &locked, &count, error, "i", rebuild->leaderboard_id);
	if (!rc)
		rc = database_row(db, arena, &LOCK_LEADERBOARD, &row, error, "i", rebuild->leaderboard_id);
	if (!rc)
		rc = database_rows(db, arena, &BEST_OF_ALL, &jobs, &count, error, "i", rebuild->leaderboard_id);
	if (!rc)
		rc = database_execute(db, &CLEAR, error, "i", rebuild->leaderboard_id);
	if (!rc)
		rc = insert_all(db, arena, rebuild, jobs, count, error);
	if (!rc)
		rc = baseline_rebuild(db, rebuild->leaderboard_id, error);
	return rc ? rc : records_rebuild(db, rebuild->leaderboard_id, error);
}

int ranking_renew(struct database *db, int64_t leaderboard_id, struct error *error)
{
	struct rebuild rebuild = { leaderboard_id, true };
	return database_transaction(db, rebuild_leaderboard, &rebuild, error);
}

int ranking_rebuild(struct database *db, int64_t leaderboard_id, struct error *error)
{
	cleanup_arena struct arena *arena = arena_new();
	struct id_row *leaderboards;
	size_t count;
	int rc = database_rows(db, arena, &LEADERBOARDS, &leaderboards, &count, error, "i", leaderboard_id);
	for (size_t i = 0; i < count && !rc; i++) {
		struct rebuild rebuild = { leaderboards[i].id, false };
		rc = database_transaction(db, rebuild_leaderboard, &rebuild, error);
		if (rc == ERROR_NOT_FOUND) /* deleted meanwhile */
			rc = 0;
	}
	return rc;
}
