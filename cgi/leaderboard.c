/* A leaderboard: its page, and its ranking as JSON and CSV. */
#include "cgi/leaderboard.h"

#include "cgi/csv.h"
#include "cgi/announcement.h"
#include "cgi/pages.h"
#include "lib/format.h"
#include "lib/scope.h"
#include "templates/leaderboard.h"

enum { rows_per_page = 100 };

static const struct column RANKING_COLUMNS[] = {
	INTEGER(struct ranking_row, position), INTEGER(struct ranking_row, place), INTEGER(struct ranking_row, user_id),
	TEXT(struct ranking_row, user), REAL(struct ranking_row, score_ns), REAL(struct ranking_row, score_err_ns),
	INTEGER(struct ranking_row, submission_id), TIME(struct ranking_row, submitted_at_ms), TEXT(struct ranking_row, engine),
	TEXT(struct ranking_row, asked_for),
};
#define RANKING_FIELDS "r.position, r.place, r.user_id, u.name AS user, r.score_ns, r.score_err_ns, r.submission_id, " \
	"r.submitted_at AS submitted_at_ms, r.engine"
#define RANKING_WITH(asked_for) SELECT(struct ranking_row, RANKING_COLUMNS, \
	"SELECT " RANKING_FIELDS ", " asked_for " AS asked_for FROM ranking r JOIN users u ON u.id = r.user_id " \
	"WHERE r.leaderboard_id = ? AND r.task_version_id = ? AND r.gpu = ? AND r.position BETWEEN ? AND ? ORDER BY r.position")
static const struct statement RANKING = RANKING_WITH("NULL");
/* In the same question, because the page is to ask few. Who stands further down was compared only if he stood among the
 * first before; his submission's page tells of it. */
static const struct statement RANKING_AND_COMPARISONS = RANKING_WITH("IF(r.position <= ?, " SQL_COMPARISONS_ASKED_FOR ", NULL)");
/* A user's row, and the one below it, which tells whether the two are a tie. */
static const struct statement OWN_ROW = SELECT(struct ranking_row, RANKING_COLUMNS,
	"SELECT " RANKING_FIELDS ", NULL AS asked_for FROM ranking o "
	"JOIN ranking r ON r.leaderboard_id = o.leaderboard_id AND r.task_version_id = o.task_version_id AND r.gpu = o.gpu "
	"  AND r.position IN (o.position, o.position + 1) "
	"JOIN users u ON u.id = r.user_id "
	"WHERE o.leaderboard_id = ? AND o.task_version_id = ? AND o.gpu = ? AND o.user_id = ? ORDER BY r.position");

/* ---- the page ---- */

/* The first of a group of ties has the place that is its position, so it needs the next row. */
void ranking_mark_ties(struct ranking_row *rows, size_t count, size_t known)
{
	for (size_t i = 0; i < count; i++)
		rows[i].is_tie = rows[i].place != rows[i].position || (i + 1 < known && rows[i + 1].place == rows[i].place);
}

static void read_comparisons(struct arena *arena, struct leaderboard_view *view)
{
	for (size_t i = 0; i < view->row_count; i++) {
		struct ranking_row *row = &view->rows[i];
		row->comparison_count = comparison_parse(arena, row->asked_for, &row->comparisons);
		view->has_comparisons = view->has_comparisons || row->comparison_count;
	}
}

/* The rows of the page; one more is read for the sake of the last one's tie. */
static int read_rows(struct request *request, struct leaderboard_view *view)
{
	const struct board *board = view->board;
	size_t known;
	int rc = paging_make(&view->paging, view->gpu->entries, rows_per_page, query_number(request, "page", 1), request->error);
	if (!rc)
		rc = database_rows(request->db, request->arena, &RANKING_AND_COMPARISONS, &view->rows, &known, request->error, "iiisii",
			(int64_t)ranking_compared_positions, board->id, board->task_version_id, view->gpu->name, view->paging.first, view->paging.last + 1);
	if (rc)
		return rc;
	view->row_count = known > rows_per_page ? rows_per_page : known;
	ranking_mark_ties(view->rows, view->row_count, known);
	read_comparisons(request->arena, view);
	return 0;
}

static bool is_on_page(const struct leaderboard_view *view, int64_t user_id)
{
	for (size_t i = 0; i < view->row_count; i++)
		if (view->rows[i].user_id == user_id)
			return true;
	return false;
}

static int read_own_row(struct request *request, struct leaderboard_view *view)
{
	struct ranking_row *rows;
	size_t known;
	int rc = database_rows(request->db, request->arena, &OWN_ROW, &rows, &known, request->error, "iisi", view->board->id,
		view->board->task_version_id, view->gpu->name, request->viewer.id);
	if (rc || !known)
		return rc;
	ranking_mark_ties(rows, 1, known);
	view->own = rows;
	view->own_page = paging_page_of(rows->position, rows_per_page);
	return 0;
}

static int read_ranking(struct request *request, struct leaderboard_view *view)
{
	int rc = view->gpu ? read_rows(request, view) : 0;
	bool elsewhere = view->paging.pages > 1 && request->viewer.id && !is_on_page(view, request->viewer.id);
	return rc || !elsewhere ? rc : read_own_row(request, view);
}

int page_leaderboard(struct request *request)
{
	struct board board;
	struct page page = page_make(request, "", "leaderboards");
	struct leaderboard_view view = { .board = &board };
	int rc = board_of_request(request, &board);
	if (!rc)
		rc = board_chosen_gpu(request, &board, &view.gpu);
	if (!rc)
		rc = read_ranking(request, &view);
	if (!rc)
		rc = task_view_get(request, board.task_version_id, board.version_revision, &view.task);
	if (!rc)
		rc = announcements_read(request, board.id, &page);
	if (rc)
		return rc;
	page.title = board.name;
	view.state = board_state(board.deadline_ms, board.accepting, page.now_ms);
	view.may_edit = board_is_managed_by(&board, &request->viewer);
	leaderboard_page(&request->body, &page, &view, request->arena);
	request->may_be_cached = true;
	return 0;
}

/* ---- the whole ranking for programs ---- */

struct whole_ranking {
	struct board board;
	const struct board_gpu *gpu; /* NULL: none, and no rows */
	struct ranking_row *rows; size_t count;
};

static int read_whole(struct request *request, struct whole_ranking *whole)
{
	int rc = board_of_request(request, &whole->board);
	if (!rc)
		rc = board_chosen_gpu(request, &whole->board, &whole->gpu);
	if (!rc && whole->gpu)
		rc = database_rows(request->db, request->arena, &RANKING, &whole->rows, &whole->count, request->error, "iisii",
			whole->board.id, whole->board.task_version_id, whole->gpu->name, (int64_t)1, (int64_t)UINT32_MAX);
	request->may_be_cached = !rc;
	return rc;
}

static json_t *row_json(const struct ranking_row *row)
{
	format_text submitted_at;
	format_iso(submitted_at, row->submitted_at_ms);
	return json_pack("{s:I, s:s, s:f, s:I, s:s, s:s?}", "rank", (json_int_t)row->place, "user", row->user, "score_ns", row->score_ns,
		"submission", (json_int_t)row->submission_id, "submitted_at", submitted_at, "engine", row->engine);
}

int page_leaderboard_json(struct request *request)
{
	struct whole_ranking whole = {0};
	int rc = read_whole(request, &whole);
	if (rc)
		return rc;
	json_t *rows = json_array();
	for (size_t i = 0; i < whole.count; i++)
		json_array_append_new(rows, row_json(&whole.rows[i]));
	return respond_json(request, json_pack("{s:s, s:s?, s:I, s:o}", "leaderboard", whole.board.name,
		"gpu", whole.gpu ? whole.gpu->name : NULL, "version", (json_int_t)whole.board.version_number, "rows", rows));
}

static void csv_row(struct buffer *out, const struct ranking_row *row)
{
	format_text submitted_at;
	format_iso(submitted_at, row->submitted_at_ms);
	csv_integer(out, row->place);
	csv_text(out, row->user);
	csv_real(out, row->score_ns);
	csv_integer(out, row->submission_id);
	csv_text(out, submitted_at);
	csv_text(out, row->engine ? row->engine : "");
	csv_end_line(out);
}

int page_leaderboard_csv(struct request *request)
{
	static const char *const header[] = { "rank", "user", "score_ns", "submission", "submitted_at", "engine" };
	struct whole_ranking whole = {0};
	int rc = read_whole(request, &whole);
	if (rc)
		return rc;
	const char *gpu = whole.gpu ? whole.gpu->name : "none";
	const char *version = board_is_old(&whole.board)
		? arena_printf(request->arena, "-version-%lld", (long long)whole.board.version_number) : "";
	response_as_text(request, arena_printf(request->arena, "%s%s-%s.csv", whole.board.name, version, gpu), true);
	request->content_type = "text/csv; charset=utf-8; header=present";
	for (size_t i = 0; i < COUNT(header); i++)
		csv_text(&request->body, header[i]);
	csv_end_line(&request->body);
	for (size_t i = 0; i < whole.count; i++)
		csv_row(&request->body, &whole.rows[i]);
	return 0;
}
