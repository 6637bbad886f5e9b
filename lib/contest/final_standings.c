/* Stores the final standings of a contest, and reads them back. */
#include "lib/contest/standings.h"

#include "lib/base/scope.h"
#include "lib/leaderboard/visibility.h"

/* ---- storing ---- */

static const struct statement FORGET_COLUMNS =
	COMMAND("DELETE FROM contest_final_columns WHERE contest_id = ?");
static const struct statement FORGET_ROWS =
	COMMAND("DELETE FROM contest_final_rows WHERE contest_id = ?");
static const struct statement MARK =
	COMMAND("UPDATE contests SET standings_stored = ? WHERE id = ?");
static const struct statement PUT_COLUMN =
	COMMAND("INSERT INTO contest_final_columns (contest_id, position, leaderboard_id, problem, "
			"gpu, is_public) SELECT ?, ?, l.id, l.name, ?, " SQL_IS_PUBLIC(
				"l") " "
					 "FROM leaderboards l WHERE l.id = ?");
static const struct statement PUT_ROW =
	COMMAND("INSERT INTO contest_final_rows (contest_id, position, user_id, place, is_tied, "
			"points) VALUES (?, ?, ?, ?, ?, ?)");
static const struct statement PUT_RESULT =
	COMMAND("INSERT INTO contest_final_results (contest_id, row_position, column_position, place, "
			"contest_rank, is_tied, points, score_ns, score_err_ns, submission_id) "
			"VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");

int standings_forget(struct database *db, int64_t contest_id, struct error *error)
{
	int rc = database_execute(db, &FORGET_COLUMNS, error, "i", contest_id);
	if (!rc)
		rc = database_execute(db, &FORGET_ROWS, error, "i", contest_id);
	return rc ? rc : database_execute(db, &MARK, error, "ii", (int64_t) false, contest_id);
}

static int put_columns(
	struct database *db, int64_t contest_id, const struct standings *standings, struct error *error)
{
	int rc = 0;
	for (size_t i = 0; i < standings->column_count && !rc; i++)
		rc = database_execute(db, &PUT_COLUMN, error, "iisi", contest_id, (int64_t)i,
			standings->columns[i].gpu, standings->columns[i].leaderboard_id);
	return rc;
}

static int put_row(struct database *db, int64_t contest_id, const struct standings *standings,
	size_t position, struct error *error)
{
	const struct standings_row *row = &standings->rows[position];
	int rc = database_execute(db, &PUT_ROW, error, "iiiiid", contest_id, (int64_t)position,
		row->user_id, row->score->place, (int64_t)row->score->is_tied, row->score->total);
	for (size_t i = 0; i < standings->column_count && !rc; i++) {
		const struct scoring_cell *cell = &row->score->cells[i];
		const struct standings_result *result = &row->results[i];
		if (cell->rank)
			rc = database_execute(db, &PUT_RESULT, error, "iiiiiidddi", contest_id,
				(int64_t)position, (int64_t)i, cell->place, cell->rank, (int64_t)cell->is_tied,
				cell->points, result->score_ns, result->score_err_ns, result->submission_id);
	}
	return rc;
}

int standings_store(
	struct database *db, struct arena *arena, const struct contest *contest, struct error *error)
{
	struct standings standings;
	int rc = standings_forget(db, contest->id, error);
	if (!rc)
		rc = standings_compute(db, arena, contest, 0, &standings, error);
	if (!rc)
		rc = put_columns(db, contest->id, &standings, error);
	for (size_t i = 0; !rc && i < standings.row_count; i++)
		rc = put_row(db, contest->id, &standings, i, error);
	return rc ? rc : database_execute(db, &MARK, error, "ii", (int64_t) true, contest->id);
}

/* ---- reading ---- */

static const struct column COLUMN_COLUMNS[] = {
	INTEGER(struct standings_column, leaderboard_id),
	TEXT(struct standings_column, problem),
	TEXT(struct standings_column, gpu),
	INTEGER(struct standings_column, is_seen),
	INTEGER(struct standings_column, is_deleted),
};
static const struct statement COLUMNS = SELECT(struct standings_column, COLUMN_COLUMNS,
	"SELECT COALESCE(l.id, 0) AS leaderboard_id, COALESCE(l.name, f.problem) AS problem, f.gpu, "
	"IF(l.id IS NULL, f.is_public, " SQL_MAY_SEE(
		"l") ") AS is_seen, l.id IS NULL AS is_deleted FROM contest_final_columns f "
			 "LEFT JOIN leaderboards l ON l.id = f.leaderboard_id WHERE f.contest_id = ? "
			 "ORDER BY f.position");

struct stored_row {
	int64_t position, user_id, place, is_tied;
	const char *name;
	double points;
};
static const struct column ROW_COLUMNS[] = {
	INTEGER(struct stored_row, position),
	INTEGER(struct stored_row, user_id),
	INTEGER(struct stored_row, place),
	INTEGER(struct stored_row, is_tied),
	TEXT(struct stored_row, name),
	REAL(struct stored_row, points),
};
static const struct statement ROWS = SELECT(struct stored_row, ROW_COLUMNS,
	"SELECT r.position, r.user_id, r.place, r.is_tied, u.name, r.points FROM contest_final_rows r "
	"JOIN users u ON u.id = r.user_id WHERE r.contest_id = ? ORDER BY r.position");

struct stored_result {
	int64_t row_position, column_position, place, contest_rank, is_tied, submission_id;
	double points, score_ns, score_err_ns;
};
static const struct column RESULT_COLUMNS[] = {
	INTEGER(struct stored_result, row_position),
	INTEGER(struct stored_result, column_position),
	INTEGER(struct stored_result, place),
	INTEGER(struct stored_result, contest_rank),
	INTEGER(struct stored_result, is_tied),
	INTEGER(struct stored_result, submission_id),
	REAL(struct stored_result, points),
	REAL(struct stored_result, score_ns),
	REAL(struct stored_result, score_err_ns),
};
static const struct statement RESULTS = SELECT(struct stored_result, RESULT_COLUMNS,
	"SELECT row_position, column_position, place, contest_rank, is_tied, "
	"COALESCE(submission_id, 0) AS submission_id, points, score_ns, score_err_ns "
	"FROM contest_final_results WHERE contest_id = ? ORDER BY row_position, column_position");

enum { ANSWER_COLUMNS, ANSWER_ROWS, ANSWER_RESULTS };
static const struct statement *const PARTS[] = { &COLUMNS, &ROWS, &RESULTS };
static const struct bundle STORED = BUNDLE(PARTS);

/* Fills one row from `results`, which are sorted by row and then by column. Returns how many of
 * them belong to this row. `columns` is the length of score->cells and of `cells`. */
static size_t fill_row(const struct stored_row *stored, const struct stored_result *results,
	size_t count, size_t columns, struct scoring_row *score, struct standings_result *cells)
{
	size_t used = 0;
	score->total = stored->points;
	score->place = stored->place;
	score->is_tied = stored->is_tied != 0;
	for (; used < count && results[used].row_position <= stored->position; used++) {
		const struct stored_result *from = &results[used];
		size_t column = (size_t)from->column_position;
		if (from->row_position < stored->position || column >= columns)
			continue; /* its account or column was deleted */
		score->cells[column] = (struct scoring_cell){ .place = from->place,
			.time_ns = from->score_ns,
			.rank = from->contest_rank,
			.is_tied = from->is_tied != 0,
			.points = from->points };
		cells[column] =
			(struct standings_result){ from->submission_id, from->score_ns, from->score_err_ns };
	}
	return used;
}

int standings_read_stored(struct database *db, struct arena *arena, const struct contest *contest,
	int64_t reader_id, struct standings *standings, struct error *error)
{
	struct database_answer answers[COUNT(PARTS)];
	*standings = (struct standings){ 0 };
	int rc = database_answers(db, arena, &STORED, answers, error, "iiii", reader_id, contest->id,
		contest->id, contest->id);
	if (rc)
		return rc;
	const struct stored_row *rows = answers[ANSWER_ROWS].rows;
	const struct stored_result *results = answers[ANSWER_RESULTS].rows;
	size_t columns = answers[ANSWER_COLUMNS].count, used = 0;
	standings->columns = answers[ANSWER_COLUMNS].rows;
	standings->column_count = columns;
	standings->row_count = answers[ANSWER_ROWS].count;
	struct standings_table table = standings_make_table(arena, standings);
	standings->rows = arena_array(arena, struct standings_row, standings->row_count);
	for (size_t i = 0; i < standings->row_count; i++) {
		struct standings_result *cells = &table.results[i * columns];
		used += fill_row(&rows[i], results + used, answers[ANSWER_RESULTS].count - used, columns,
			&table.scores[i], cells);
		standings->rows[i] =
			(struct standings_row){ rows[i].user_id, rows[i].name, &table.scores[i], cells };
	}
	return 0;
}
