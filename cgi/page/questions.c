#include "cgi/page/questions.h"

#include "cgi/http/notice.h"
#include "cgi/http/paging.h"
#include "cgi/http/rate_limit.h"
#include "cgi/page/pages.h"
#include "cgi/render/html.h"
#include "cgi/render/markdown.h"
#include "lib/base/format.h"
#include "lib/base/scope.h"
#include "templates/questions.h"

#include <stdlib.h>
#include <string.h>

enum { most_open_shown = 200 };
static const struct rate_limit QUESTIONS_OF_USER = { "ask questions", 20, 3600 };

/* ---- the page ---- */

const char *question_html(struct arena *arena, const char *text)
{
	enum { top_heading = 4, most_html_bytes = 8 * question_most_bytes };
	cleanup_buffer struct buffer html = { 0 };
	markdown_render(&html, text, strlen(text), top_heading);
	if (html.length > most_html_bytes) {
		buffer_clear(&html);
		buffer_text(&html, "<p class=\"plain\">");
		html_text(&html, text);
		buffer_text(&html, "</p>");
	}
	return arena_strdup(arena, buffer_string(&html));
}

int64_t questions_first_unseen(const struct questions_view *view)
{
	for (size_t i = 0; i < view->count; i++)
		if (view->rows[i].is_unseen)
			return view->rows[i].id;
	return 0;
}

int64_t questions_unseen(const struct questions_view *view)
{
	int64_t count = 0;
	for (size_t i = 0; i < view->count; i++)
		count += view->rows[i].is_unseen;
	return count;
}

static int read_questions(struct request *request, struct questions_view *view)
{
	const struct leaderboard *leaderboard = &view->shown->leaderboard;
	struct question *open, *rows;
	int64_t before = query_number(request, "before", INT64_MAX), viewer = request->viewer.id;
	int rc = 0;
	if (view->may_answer && before == INT64_MAX)
		rc = questions_list(request->db, request->arena, leaderboard->id, viewer, QUESTIONS_OPEN,
			INT64_MAX, most_open_shown, &open, &view->open_count, request->error);
	if (!rc)
		rc = questions_list(request->db, request->arena, leaderboard->id, viewer,
			view->may_answer ? QUESTIONS_ANSWERED : QUESTIONS_ALL, before, questions_per_page + 1,
			&rows, &view->count, request->error);
	if (rc)
		return rc;
	view->open = open;
	view->rows = rows;
	if (view->count > questions_per_page) {
		view->count = questions_per_page;
		view->before = rows[view->count - 1].id;
	}
	if (!view->may_answer)
		view->unread = view->shown->unread_questions;
	return 0;
}

static int show_questions(struct request *request, struct questions_view *view)
{
	const struct leaderboard *leaderboard = &view->shown->leaderboard;
	struct error own = { 0 }, *refusal = request->error;
	view->arena = request->arena;
	view->may_answer = view->shown->viewer_right >= RIGHT_READ;
	view->may_ask = request->viewer.id && leaderboard->archived_at_ms == TIME_NULL;
	request->error = &own;
	int rc = read_questions(request, view);
	request->error = refusal;
	if (rc) {
		*refusal = own;
		return rc;
	}
	struct page page = form_page_make(request,
		arena_printf(request->arena, "Questions about %s", leaderboard->name), "leaderboards");
	questions_page(&request->body, &page, view);
	return 0;
}

int page_questions(struct request *request)
{
	struct shown_leaderboard shown;
	struct questions_view view = { .shown = &shown, .text = "", .answer = "" };
	int rc = shown_leaderboard_by_name(request, request->path_parameters[0], &shown);
	return rc ? rc : show_questions(request, &view);
}

/* ---- asking and answering ---- */

int question_send_limited(
	struct request *request, const struct leaderboard *leaderboard, const char *text, int64_t *id)
{
	const struct actor asker = actor_of(request);
	int rc = rate_limit_hit(request, &QUESTIONS_OF_USER, request->viewer.name);
	return rc ? rc : question_send(request->db, leaderboard, text, &asker, id, request->error);
}

int question_to_answer(struct request *request, int64_t id, struct question *question)
{
	int rc = question_find(
		request->db, request->arena, id, request->viewer.id, question, request->error);
	if (!rc && question->may_answer != 1)
		rc = fail(request->error, ERROR_FORBIDDEN,
			"Only admins and those who run the leaderboard answer its questions.");
	return rc;
}

static int answer_one(struct request *request, struct questions_view *view)
{
	const struct actor by = actor_of(request);
	struct question question;
	int rc = question_to_answer(request, view->answer_id, &question);
	if (!rc && question.leaderboard_id != view->shown->leaderboard.id)
		rc = fail(request->error, ERROR_NOT_FOUND, "There is no question with this number.");
	if (rc)
		return rc;
	const char *replaces = request_form_or(request, "replaces", "");
	const struct question_answering answering = { .id = question.id,
		.leaderboard = question.leaderboard,
		.text = view->answer,
		.for_all = view->for_all,
		.replaces_ms = *replaces ? strtoll(replaces, NULL, 10) : TIME_NULL,
		.by = &by };
	return question_answer(request->db, &answering, request->error);
}

int64_t news_read_until(struct request *request)
{
	int64_t until_ms = strtoll(request_form_or(request, "until", ""), NULL, 10), now = now_ms();
	return until_ms > 0 && until_ms < now ? until_ms : now;
}

int action_questions(struct request *request)
{
	struct shown_leaderboard shown;
	struct questions_view view = {
		.shown = &shown,
		.text = request_form_or(request, "text", ""),
		.answer = request_form_or(request, "answer", ""),
		.for_all = strcmp(request_form_or(request, "for", ""), "all") == 0,
	};
	const char *action = request_form_or(request, "action", ""), *done = NULL;
	int64_t id;
	int rc = shown_leaderboard_by_name(request, request->path_parameters[0], &shown);
	if (rc)
		return rc;
	if (strcmp(action, "ask") == 0) {
		rc = question_send_limited(request, &shown.leaderboard, view.text, &id);
		done = "Your question was sent.";
	} else if (strcmp(action, "answer") == 0) {
		view.answer_id = strtoll(request_form_or(request, "question", ""), NULL, 10);
		rc = answer_one(request, &view);
		done = "The answer was sent.";
	} else if (strcmp(action, "read") == 0)
		rc = questions_mark_read(request->db, shown.leaderboard.id, request->viewer.id,
			news_read_until(request), request->error);
	else
		rc = fail(
			request->error, ERROR_INPUT, "This page has no such action; reload it and try again.");
	if (!rc) {
		if (done)
			notice_leave(request, "%s", done);
		return redirect(request, "/leaderboard/%s/questions", shown.leaderboard.name);
	}
	if (rc != ERROR_INPUT && rc != ERROR_LIMIT)
		return rc;
	request->status = rc == ERROR_LIMIT ? 429 : 422;
	view.text_error = form_error(request, "text");
	view.answer_error = form_error(request, "answer");
	return show_questions(request, &view);
}
