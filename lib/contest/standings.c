#include "lib/contest/standings.h"

#include "lib/base/scope.h"
#include "lib/leaderboard/visibility.h"
#include "lib/ranking/ranking.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct column COLUMN_COLUMNS[] = {
	INTEGER(struct standings_column, leaderboard_id),
	TEXT(struct standings_column, problem),
	TEXT(struct standings_column, gpu),
	INTEGER(struct standings_column, is_seen),
	INTEGER(struct standings_column, is_deleted),
};
static const struct statement COLUMNS = SELECT(struct standings_column, COLUMN_COLUMNS,
	"SELECT l.id AS leaderboard_id, l.name AS problem, g.gpu, " SQL_MAY_SEE(
		"l") " AS is_seen, FALSE AS is_deleted "
			 "FROM contest_problems p JOIN leaderboards l ON l.id = p.leaderboard_id "
			 "JOIN leaderboard_gpus g ON g.leaderboard_id = l.id WHERE p.contest_id = ? "
			 "ORDER BY p.position, l.name, g.position, g.gpu");

struct entrant {
	int64_t id;
	const char *name;
};
static const struct column ENTRANT_COLUMNS[] = { INTEGER(struct entrant, id),
	TEXT(struct entrant, name) };
static const struct statement ENTRANTS = SELECT(struct entrant, ENTRANT_COLUMNS,
	"SELECT u.id, u.name FROM contest_entrants e JOIN users u ON u.id = e.user_id "
	"WHERE e.contest_id = ? AND u.banned_at IS NULL "
	"ORDER BY u.name, u.id");

struct result {
	int64_t leaderboard_id, user_id, place, submission_id;
	const char *gpu;
	double score_ns, score_err_ns;
};
static const struct column RESULT_COLUMNS[] = {
	INTEGER(struct result, leaderboard_id),
	INTEGER(struct result, user_id),
	INTEGER(struct result, place),
	INTEGER(struct result, submission_id),
	TEXT(struct result, gpu),
	REAL(struct result, score_ns),
	REAL(struct result, score_err_ns),
};
static const struct statement RESULTS = SELECT(struct result, RESULT_COLUMNS,
	"SELECT r.leaderboard_id, r.user_id, r.place, r.submission_id, r.gpu, r.score_ns, "
	"r.score_err_ns FROM contest_problems p JOIN leaderboards l ON l.id = p.leaderboard_id "
	"JOIN ranking r ON r.leaderboard_id = l.id AND r.task_version_id = l.task_version_id "
	"JOIN contest_entrants e ON e.contest_id = p.contest_id AND e.user_id = r.user_id "
	"WHERE p.contest_id = ?");

enum { ANSWER_COLUMNS, ANSWER_ENTRANTS, ANSWER_RESULTS };
static const struct statement *const PARTS[] = { &COLUMNS, &ENTRANTS, &RESULTS };
static const struct bundle STANDINGS = BUNDLE(PARTS);

/* A contestant's row number, from before scoring_apply sorts the rows. */
struct row_number {
	int64_t user_id;
	size_t number;
};

static int by_user(const void *left, const void *right)
{
	const struct row_number *a = left, *b = right;
	return (a->user_id > b->user_id) - (a->user_id < b->user_id);
}

static const struct row_number *number_rows(
	struct arena *arena, const struct entrant *entrants, size_t count)
{
	struct row_number *numbers = arena_array(arena, struct row_number, count + 1);
	for (size_t i = 0; i < count; i++)
		numbers[i] = (struct row_number){ entrants[i].id, i };
	qsort(numbers, count, sizeof *numbers, by_user);
	return numbers;
}

/* Puts a result in its cell. A result of a banned user or a removed device has no cell and is
 * skipped. */
static void put_result(struct standings_table *table, const struct standings *standings,
	const struct row_number *numbers, const struct result *result)
{
	const struct row_number wanted = { result->user_id, 0 };
	const struct row_number *row =
		bsearch(&wanted, numbers, standings->row_count, sizeof *numbers, by_user);
	if (!row)
		return;
	for (size_t i = 0; i < standings->column_count; i++) {
		const struct standings_column *column = &standings->columns[i];
		size_t at = row->number * standings->column_count + i;
		if (column->leaderboard_id != result->leaderboard_id
			|| strcmp(column->gpu, result->gpu) != 0)
			continue;
		table->cells[at].place = result->place;
		table->cells[at].time_ns = result->score_ns;
		table->results[at] = (struct standings_result){ result->submission_id, result->score_ns,
			result->score_err_ns };
	}
}

struct standings_table standings_make_table(struct arena *arena, const struct standings *standings)
{
	size_t rows = standings->row_count, columns = standings->column_count;
	struct standings_table table = { arena_array(arena, struct scoring_row, rows),
		arena_array(arena, struct scoring_cell, rows * columns),
		arena_array(arena, struct standings_result, rows * columns) };
	for (size_t i = 0; i < rows * columns; i++) {
		table.cells[i] = (struct scoring_cell){ 0 };
		table.results[i] = (struct standings_result){ 0, NAN, NAN };
	}
	for (size_t i = 0; i < rows; i++)
		table.scores[i] = (struct scoring_row){ .cells = &table.cells[i * columns], .number = i };
	return table;
}

int standings_compute(struct database *db, struct arena *arena, const struct contest *contest,
	int64_t reader_id, struct standings *standings, struct error *error)
{
	struct database_answer answers[COUNT(PARTS)];
	struct scoring_rule rule = { .method = scoring_method_of(contest->scoring) };
	*standings = (struct standings){ 0 };
	int rc = scoring_read_points(&rule, contest->points, error);
	if (!rc)
		rc = database_answers(db, arena, &STANDINGS, answers, error, "iiii", reader_id, contest->id,
			contest->id, contest->id);
	if (rc)
		return rc;
	const struct entrant *entrants = answers[ANSWER_ENTRANTS].rows;
	const struct result *results = answers[ANSWER_RESULTS].rows;
	standings->columns = answers[ANSWER_COLUMNS].rows;
	standings->column_count = answers[ANSWER_COLUMNS].count;
	standings->row_count = answers[ANSWER_ENTRANTS].count;
	struct standings_table table = standings_make_table(arena, standings);
	const struct row_number *numbers = number_rows(arena, entrants, standings->row_count);
	for (size_t i = 0; i < answers[ANSWER_RESULTS].count; i++)
		put_result(&table, standings, numbers, &results[i]);
	scoring_apply(&rule, table.scores, standings->row_count, standings->column_count);
	standings->rows = arena_array(arena, struct standings_row, standings->row_count);
	for (size_t i = 0; i < standings->row_count; i++) {
		size_t number = table.scores[i].number;
		standings->rows[i] = (struct standings_row){ entrants[number].id, entrants[number].name,
			&table.scores[i], &table.results[number * standings->column_count] };
	}
	return 0;
}

int standings_read(struct database *db, struct arena *arena, const struct contest *contest,
	int64_t reader_id, struct standings *standings, struct error *error)
{
	return (contest->has_standings ? standings_read_stored : standings_compute)(
		db, arena, contest, reader_id, standings, error);
}

/* ---- without the freeze ---- */

static const struct statement LIFT =
	COMMAND("UPDATE leaderboards SET frozen_at = NULL WHERE id = ? AND frozen_at IS NOT NULL");

struct lifting {
	struct arena *arena;
	const struct contest *contest;
	int64_t reader_id;
	struct standings *standings;
	bool is_read;
};

static int lifting_body(struct database *db, void *context, struct error *error)
{
	struct lifting *lifting = context;
	const struct contest *contest = lifting->contest;
	struct contest_problem *problems;
	size_t count;
	lifting->is_read = false;
	int rc = contest_problems(
		db, lifting->arena, contest->id, lifting->reader_id, &problems, &count, error);
	for (size_t i = 0; i < count && !rc; i++) {
		rc = database_execute(db, &LIFT, error, "i", problems[i].leaderboard_id);
		if (!rc && database_affected(db))
			rc = ranking_rebuild(db, problems[i].leaderboard_id, error);
	}
	if (!rc)
		rc = standings_compute(
			db, lifting->arena, contest, lifting->reader_id, lifting->standings, error);
	if (rc)
		return rc;
	lifting->is_read = true;
	return fail(error, ERROR_CONFLICT, "This transaction only reads.");
}

int standings_read_final(struct database *db, struct arena *arena, const struct contest *contest,
	int64_t reader_id, struct standings *standings, struct error *error)
{
	struct lifting lifting = { arena, contest, reader_id, standings, false };
	if (contest->has_standings)
		return standings_read_stored(db, arena, contest, reader_id, standings, error);
	int rc = database_transaction(db, lifting_body, &lifting, error);
	if (!lifting.is_read)
		return rc;
	*error = (struct error){ 0 };
	return 0;
}

const struct standings_row *standings_row_of(const struct standings *standings, int64_t user_id)
{
	for (size_t i = 0; i < standings->row_count; i++)
		if (standings->rows[i].user_id == user_id)
			return &standings->rows[i];
	return NULL;
}
