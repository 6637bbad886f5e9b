/* Contests: the list, a contest's page with its scoreboard, the registration, and exports. */
#include "cgi/page/contest.h"

#include "cgi/http/notice.h"
#include "cgi/http/paging.h"
#include "cgi/http/rate_limit.h"
#include "cgi/page/pages.h"
#include "cgi/page/questions.h"
#include "cgi/render/csv.h"
#include "cgi/render/json.h"
#include "cgi/render/markdown.h"
#include "lib/account/team.h"
#include "lib/base/format.h"
#include "lib/base/scope.h"
#include "lib/contest/scoring.h"
#include "lib/leaderboard/right.h"
#include "templates/contest.h"

#include <math.h>
#include <string.h>

enum { rules_heading = 3, rows_per_page = 100, reload_s = 60 };

int contest_of_request(struct request *request, struct contest *contest)
{
	return contest_by_name(request->db, request->arena, request->path_parameters[0],
		request->viewer.id, contest, request->error);
}

bool contest_is_managed_by(const struct contest *contest, const struct viewer *viewer)
{
	return viewer->id
		&& (viewer->role == ROLE_ADMIN
			|| (viewer->role == ROLE_CREATOR && viewer->id == contest->creator_id));
}

int contest_of_manager(struct request *request, struct contest *contest)
{
	int rc = contest_of_request(request, contest);
	return rc || contest_is_managed_by(contest, &request->viewer)
		? rc
		: fail(request->error, ERROR_FORBIDDEN,
			"Only the creator of the contest and admins may do this.");
}

int64_t contest_seconds_left(int64_t at_ms, int64_t now_ms)
{
	return at_ms > now_ms ? (at_ms - now_ms + 999) / 1000 : 0;
}

const char *contest_time_left(struct arena *arena, int64_t at_ms, int64_t now_ms)
{
	format_text text;
	format_span(text, contest_seconds_left(at_ms, now_ms));
	return arena_strdup(arena, text);
}

static int64_t next_of(const struct contest *contest, int64_t now_ms)
{
	const int64_t times_ms[] = { contest->starts_at_ms, contest_freezes_at_ms(contest),
		contest->ends_at_ms };
	for (size_t i = 0; i < COUNT(times_ms); i++)
		if (times_ms[i] != TIME_NULL && times_ms[i] > now_ms)
			return times_ms[i];
	return TIME_NULL;
}

const char *scoring_words(const struct contest *contest)
{
	static const char *const words[] = { [SCORING_RANKS] = "points by rank",
		[SCORING_RATIOS] = "ratio to the best time",
		[SCORING_MEAN] = "geometric mean of the ratios to the best times" };
	return words[scoring_method_of(contest->scoring)];
}

/* ---- the pages ---- */

int page_contests(struct request *request)
{
	struct contest *contests;
	size_t count;
	int rc = contests_read(
		request->db, request->arena, request->viewer.id, &contests, &count, request->error);
	if (rc)
		return rc;
	struct page page = page_make(request, "Contests", "contests");
	contests_page(&request->body, &page, contests, count);
	request->may_be_cached = true;
	return 0;
}

static const char *render_rules(struct arena *arena, const char *rules)
{
	cleanup_buffer struct buffer html = { 0 };
	markdown_render(&html, rules, strlen(rules), rules_heading);
	return arena_strdup(arena, buffer_string(&html));
}

int64_t contest_hidden_problems(const struct contest_view *view)
{
	int64_t hidden = 0;
	for (size_t i = 0; i < view->problem_count; i++)
		hidden += !view->problems[i].is_seen;
	return hidden;
}

size_t standings_first_without_points(const struct standings *standings, size_t from, size_t to)
{
	enum { few = 5 };
	size_t first = to;
	while (first > from && !(standings->rows[first - 1].score->total > 0))
		first--;
	return first == from || to - first < few ? to : first;
}

/* The jury and creators of all problems, and admins. */
static bool reads_all(const struct contest_view *view)
{
	bool reads = view->problem_count || view->is_managed;
	for (size_t i = 0; i < view->problem_count; i++)
		reads &= view->problems[i].reader_right >= RIGHT_READ;
	return reads;
}

enum { most_news = 10 };

static const struct statement *const PAGE_PARTS[] = { &contest_problems_reading, &news_reading };
static const struct bundle PAGE = BUNDLE(PAGE_PARTS);

/* Announcements are plain text, answers are Markdown. */
static void take_news(
	struct arena *arena, const struct news_item *items, size_t count, struct contest_view *view)
{
	view->news = arena_array(arena, struct news_view, count + 1);
	view->news_count = count;
	for (size_t i = 0; i < count; i++) {
		view->news[i] = (struct news_view){ .item = &items[i] };
		view->news_unread += items[i].is_new == 1;
		if (!items[i].question)
			continue;
		view->news[i].question_html = question_html(arena, items[i].question);
		view->news[i].html = question_html(arena, items[i].text);
	}
}

static int read_problems_and_news(struct request *request, struct contest_view *view)
{
	const int64_t viewer = request->viewer.id, id = view->contest.id;
	struct database_answer answers[COUNT(PAGE_PARTS)] = { 0 };
	int rc =
		database_answers(request->db, request->arena, &PAGE, answers, request->error, "iiiiiiiiii",
			viewer, viewer, id, viewer, viewer, id, viewer, viewer, id, (int64_t)most_news);
	if (rc)
		return rc;
	view->problems = answers[0].rows;
	view->problem_count = answers[0].count;
	for (size_t i = 0; i < view->problem_count; i++)
		view->sees_problems |= view->problems[i].is_seen != 0;
	take_news(request->arena, answers[1].rows, answers[1].count, view);
	return 0;
}

/* Reads all but the scoreboard. */
static int read_problems(struct request *request, struct contest_view *view)
{
	const struct contest *contest = &view->contest;
	int64_t now = now_ms();
	view->state = contest_state(contest, now);
	view->freezes_at_ms = contest_freezes_at_ms(contest);
	view->is_frozen = contest_is_frozen(contest, now);
	view->next_ms = next_of(contest, now);
	view->is_managed = contest_is_managed_by(contest, &request->viewer);
	view->team = viewer_team_in(&request->viewer, contest->id);
	view->has_board = contest->starts_at_ms <= now;
	view->rules_html = render_rules(request->arena, contest->rules);
	int rc = read_problems_and_news(request, view);
	view->reads_all = !rc && reads_all(view);
	return rc;
}

static int make_pages(struct request *request, struct contest_view *view)
{
	return paging_make(&view->paging, (int64_t)view->standings.row_count, rows_per_page,
		query_number(request, "page", 1), request->error);
}

static int read_view(struct request *request, struct contest_view *view)
{
	int rc = read_problems(request, view);
	if (!rc && view->has_board)
		rc = standings_read(request->db, request->arena, &view->contest, request->viewer.id,
			&view->standings, request->error);
	return rc ? rc : make_pages(request, view);
}

static int show_contest(struct request *request, struct contest_view *view)
{
	view->code = request_form_or(request, "code", "");
	view->code_error = form_error(request, "code");
	struct error own = *request->error;
	int rc = read_view(request, view);
	if (rc)
		return rc;
	*request->error = own;
	struct page page = form_page_make(request, view->contest.title, "contests");
	/* A refused form is no page that the browser can get again. */
	if (view->next_ms != TIME_NULL && !page.fault_count) {
		int64_t left = contest_seconds_left(view->next_ms, page.now_ms) + 2;
		page.refresh_s = left < reload_s ? (int)left : reload_s;
		page.script = "/static/countdown.js";
	}
	contest_page(&request->body, &page, view, request->arena);
	return 0;
}

int page_contest(struct request *request)
{
	struct contest_view view = { .subpage = "" };
	int rc = contest_of_request(request, &view.contest);
	if (!rc)
		rc = show_contest(request, &view);
	request->may_be_cached = !rc;
	return rc;
}

/* ---- the scoreboard without the freeze ---- */

static const struct rate_limit UNFROZEN = { "unfrozen scoreboard", 30, 60 };

int page_contest_unfrozen(struct request *request)
{
	struct contest_view view = { .subpage = "/unfrozen" };
	int rc = contest_of_request(request, &view.contest);
	if (!rc)
		rc = read_problems(request, &view);
	if (!rc && !view.reads_all)
		rc = fail(request->error, ERROR_FORBIDDEN,
			"Only the jury and the creators of all problems of this contest, and admins, see its "
			"scoreboard without the freeze.");
	if (!rc && !view.is_frozen)
		return redirect(request, "/contest/%s", view.contest.name);
	if (!rc)
		rc = rate_limit_hit(request, &UNFROZEN, request->viewer.name);
	if (!rc)
		rc = standings_read_final(request->db, request->arena, &view.contest, request->viewer.id,
			&view.standings, request->error);
	if (!rc)
		rc = make_pages(request, &view);
	if (rc)
		return rc;
	struct page page = page_make(request,
		arena_printf(request->arena, "%s without the freeze", view.contest.title), "contests");
	contest_unfrozen_page(&request->body, &page, &view);
	return 0;
}

/* ---- news ---- */

int action_contest_news(struct request *request)
{
	struct contest contest;
	struct contest_problem *problems;
	size_t count = 0;
	const int64_t until_ms = news_read_until(request);
	int rc = contest_of_request(request, &contest);
	if (!rc)
		rc = contest_problems(request->db, request->arena, contest.id, request->viewer.id,
			&problems, &count, request->error);
	for (size_t i = 0; i < count && !rc; i++)
		rc = news_mark_read(
			request->db, problems[i].leaderboard_id, request->viewer.id, until_ms, request->error);
	return rc ? rc : redirect(request, "/contest/%s", contest.name);
}

/* ---- registration ---- */

/* Hosts choose the code, so it may be short. */
static const struct rate_limit WRONG_CODES = { "contest code", 10, 3600 };

int contest_enter(struct request *request, const struct contest *contest, const char *code)
{
	bool has_code = strcmp(contest->registration, "code") == 0;
	int rc = has_code ? rate_limit_hit(request, &WRONG_CODES, request->viewer.name) : 0;
	if (rc)
		return rc;
	rc = contest_register(
		request->db, request->arena, contest, request->viewer.id, code, request->error);
	if (!has_code || rc == ERROR_INPUT)
		return rc;
	int returned = rate_limit_return(request, &WRONG_CODES, request->viewer.name);
	return rc ? rc : returned;
}

static int run_registration(struct request *request, const struct contest *contest)
{
	const struct actor actor = actor_of(request);
	bool leaves = strcmp(request_form_or(request, "action", "register"), "leave") == 0;
	int rc = leaves ? contest_leave(request->db, request->arena, contest, &actor, request->error)
					: contest_enter(request, contest, request_form_or(request, "code", ""));
	if (!rc)
		notice_leave(request,
			leaves ? "You are no longer registered for %s." : "You are registered for %s.",
			contest->title);
	return rc;
}

int action_contest_registration(struct request *request)
{
	struct contest_view view = { .subpage = "" };
	int rc = contest_of_request(request, &view.contest);
	if (!rc)
		rc = run_registration(request, &view.contest);
	if (!rc)
		return redirect(request, "/contest/%s", view.contest.name);
	if (rc != ERROR_INPUT)
		return rc;
	request->status = 422;
	return show_contest(request, &view);
}

/* ---- exports ---- */

static json_t *columns_json(const struct standings *standings)
{
	json_t *columns = json_array();
	for (size_t i = 0; i < standings->column_count; i++) {
		const struct standings_column *column = &standings->columns[i];
		json_array_append_new(columns,
			json_pack("{s:o, s:o}", "problem", json_text(column->is_seen ? column->problem : NULL),
				"gpu", json_text(column->is_seen ? column->gpu : NULL)));
	}
	return columns;
}

static json_t *cell_json(const struct scoring_cell *cell, const struct standings_result *result,
	const struct standings_column *column)
{
	return json_pack("{s:o, s:b, s:f, s:o, s:o}", "rank",
		json_count(cell->rank ? cell->rank : SQL_NULL_INTEGER), "tie", cell->is_tied, "points",
		cell->points, "score_ns", json_number(column->is_seen ? result->score_ns : NAN),
		"submission",
		json_count(
			column->is_seen && result->submission_id ? result->submission_id : SQL_NULL_INTEGER));
}

static json_t *row_json(const struct standings *standings, const struct standings_row *row)
{
	json_t *cells = json_array();
	for (size_t i = 0; i < standings->column_count; i++)
		json_array_append_new(
			cells, cell_json(&row->score->cells[i], &row->results[i], &standings->columns[i]));
	return json_pack("{s:I, s:b, s:s, s:f, s:o}", "place", (json_int_t)row->score->place, "tie",
		row->score->is_tied, "user", row->user, "points", row->score->total, "results", cells);
}

json_t *standings_json(const struct contest *contest, const struct standings *standings,
	size_t first, size_t end, int64_t now_ms)
{
	json_t *rows = json_array();
	for (size_t i = first; i < end; i++)
		json_array_append_new(rows, row_json(standings, &standings->rows[i]));
	return json_pack("{s:s, s:s, s:b, s:b, s:s, s:o, s:o}", "contest", contest->name, "state",
		contest_state(contest, now_ms), "final", contest->final_at_ms != TIME_NULL, "frozen",
		contest_is_frozen(contest, now_ms), "scoring", contest->scoring, "columns",
		columns_json(standings), "rows", rows);
}

static void csv_header(struct buffer *out, const struct standings *standings)
{
	csv_text(out, "place");
	csv_text(out, "tie");
	csv_text(out, "user");
	csv_text(out, "points");
	for (size_t i = 0; i < standings->column_count; i++) {
		static const char *const parts[] = { "rank", "points", "score_ns" };
		const struct standings_column *column = &standings->columns[i];
		for (size_t part = 0; part < COUNT(parts); part++) {
			cleanup_buffer struct buffer title = { 0 };
			buffer_printf(&title, "%s %s %s", column->is_seen ? column->problem : "hidden",
				column->is_seen ? column->gpu : "device", parts[part]);
			csv_text(out, buffer_string(&title));
		}
	}
	csv_end_line(out);
}

static void csv_row(
	struct buffer *out, const struct standings *standings, const struct standings_row *row)
{
	csv_integer(out, row->score->place);
	csv_text(out, row->score->is_tied ? "true" : "false");
	csv_text(out, row->user);
	csv_real(out, row->score->total);
	for (size_t i = 0; i < standings->column_count; i++) {
		const struct scoring_cell *cell = &row->score->cells[i];
		if (cell->rank)
			csv_integer(out, cell->rank);
		else
			csv_text(out, "");
		csv_real(out, cell->points);
		csv_real(out, standings->columns[i].is_seen ? row->results[i].score_ns : NAN);
	}
	csv_end_line(out);
}

int standings_of_request(
	struct request *request, struct contest *contest, struct standings *standings)
{
	int rc = contest_of_request(request, contest);
	if (!rc && contest->starts_at_ms > now_ms())
		rc = fail(
			request->error, ERROR_NOT_FOUND, "The contest %s has not started yet.", contest->name);
	return rc ? rc
			  : standings_read(request->db, request->arena, contest, request->viewer.id, standings,
				  request->error);
}

struct csv_progress {
	struct standings standings;
	size_t next; /* row */
};

static int write_csv_rows(struct request *request)
{
	enum { most_bytes = 64 * 1024 };
	struct csv_progress *progress = request->stream_state;
	const struct standings *standings = &progress->standings;
	while (progress->next < standings->row_count && request->body.length < most_bytes)
		csv_row(&request->body, standings, &standings->rows[progress->next++]);
	return 0;
}

int page_contest_csv(struct request *request)
{
	struct contest contest;
	struct csv_progress *progress = arena_alloc(request->arena, sizeof *progress);
	*progress = (struct csv_progress){ 0 };
	int rc = standings_of_request(request, &contest, &progress->standings);
	if (rc)
		return rc;
	response_as_text(request, arena_printf(request->arena, "%s.csv", contest.name), true);
	request->content_type = "text/csv; charset=utf-8; header=present";
	csv_header(&request->body, &progress->standings);
	request->stream = write_csv_rows;
	request->stream_state = progress;
	request->may_be_cached = true;
	return 0;
}

/* ---- the reveal ---- */

/* After the first step, the page shows so many contestants without a place, so that the newest row
 * is in sight. */
enum { waiting_most = 4 };

static void leave_out(struct reveal_view *view)
{
	size_t waiting = 0;
	for (size_t i = view->shown.row_count; view->step && i-- > 0;)
		if (view->waits[i] && ++waiting > waiting_most) {
			view->waits[i] = false;
			view->left_out++;
		}
}

/* The rows of `final` from first_revealed on are revealed, the last place first. All others stand
 * as they did at the freeze. */
static void take_step(struct arena *arena, struct reveal_view *view)
{
	size_t rows = view->final.row_count;
	view->last_step = (int64_t)rows;
	if (view->step > view->last_step)
		view->step = view->last_step;
	view->first_revealed = rows - (size_t)view->step;
	view->waits = arena_array(arena, bool, view->shown.row_count);
	for (size_t i = 0; i < view->shown.row_count; i++) {
		const struct standings_row *row =
			standings_row_of(&view->final, view->shown.rows[i].user_id);
		view->waits[i] = row && (size_t)(row - view->final.rows) < view->first_revealed;
	}
	leave_out(view);
}

int page_contest_reveal(struct request *request)
{
	struct reveal_view view = { .step = query_number(request, "step", 0) };
	int rc = contest_of_manager(request, &view.contest);
	const struct contest *contest = &view.contest;
	if (!rc && contest->ends_at_ms > now_ms())
		rc = fail(request->error, ERROR_CONFLICT,
			"The contest has not ended yet. The reveal shows the standings after the end.");
	if (!rc)
		rc = standings_read(
			request->db, request->arena, contest, request->viewer.id, &view.shown, request->error);
	if (!rc)
		rc = standings_read_final(
			request->db, request->arena, contest, request->viewer.id, &view.final, request->error);
	if (rc)
		return rc;
	take_step(request->arena, &view);
	struct page page = page_make(request, contest->title, "contests");
	page.script = "/static/reveal.js";
	contest_reveal_page(&request->body, &page, &view);
	return 0;
}
