/* Questions about a leaderboard, and their answers. */
#include "cgi/api/admin.h"
#include "cgi/api/calls.h"
#include "cgi/page/questions.h"
#include "lib/base/format.h"

static json_t *question_json(const struct question *one)
{
	return json_pack("{s:I, s:s, s:o, s:s, s:o, s:o, s:o, s:b, s:b, s:b}", "id",
		(json_int_t)one->id, "leaderboard", one->leaderboard, "asked_by", json_text(one->asker),
		"text", one->text, "asked_at", json_moment(one->asked_at_ms), "answer",
		json_text(one->answer), "answered_at", json_moment(one->answered_at_ms), "for_all",
		(int)(one->for_all == 1), "own", (int)(one->is_own == 1), "unread",
		(int)(one->is_unseen == 1));
}

int api_questions(struct request *request)
{
	struct shown_leaderboard shown;
	struct question *rows;
	struct api_list list;
	size_t count;
	int rc = shown_leaderboard_by_name(request, request->path_parameters[0], &shown);
	if (!rc)
		rc = api_list_read(request, &list);
	if (!rc)
		rc = questions_list(request->db, request->arena, shown.leaderboard.id, request->viewer.id,
			QUESTIONS_ALL, list.is_first ? INT64_MAX : list.after[0], list.limit + 1, &rows, &count,
			request->error);
	if (rc)
		return rc;
	json_t *items = json_array();
	size_t shown_count = (int64_t)count > list.limit ? (size_t)list.limit : count;
	for (size_t i = 0; i < shown_count; i++)
		json_array_append_new(items, question_json(&rows[i]));
	return respond_list(request, items,
		shown_count < count ? api_cursor(request, rows[shown_count - 1].id, 0) : NULL);
}

static int respond_question(struct request *request, int64_t id, bool is_new)
{
	struct question question;
	int rc = question_find(
		request->db, request->arena, id, request->viewer.id, &question, request->error);
	if (rc)
		return rc;
	return is_new ? respond_created(request, question_json(&question),
			   "/api/v1/leaderboards/%s/questions", question.leaderboard)
				  : respond_json(request, question_json(&question));
}

int api_question_ask(struct request *request)
{
	struct shown_leaderboard shown;
	const char *text;
	int64_t id;
	int rc = shown_leaderboard_by_name(request, request->path_parameters[0], &shown);
	if (!rc)
		rc = api_text_or_nothing(request, "text", &text);
	if (!rc)
		rc = question_send_limited(request, &shown.leaderboard, text, &id);
	return rc ? rc : respond_question(request, id, true);
}

int api_questions_read(struct request *request)
{
	struct shown_leaderboard shown;
	int rc = shown_leaderboard_by_name(request, request->path_parameters[0], &shown);
	if (!rc)
		rc = questions_mark_read(
			request->db, shown.leaderboard.id, request->viewer.id, now_ms(), request->error);
	return rc ? rc : respond_nothing(request);
}

int api_admin_question_answer(struct request *request)
{
	const struct actor by = actor_of(request);
	struct question question;
	const char *text;
	bool for_all;
	int64_t id;
	int rc = api_path_id(request, 0, "question", &id);
	if (!rc)
		rc = question_to_answer(request, id, &question);
	if (!rc)
		rc = api_text_or_nothing(request, "answer", &text);
	if (!rc)
		rc = api_boolean(request, "for_all", false, &for_all);
	if (rc)
		return rc;
	const struct question_answering answering = { .id = id,
		.leaderboard = question.leaderboard,
		.text = text,
		.for_all = for_all,
		.replaces_any = true,
		.by = &by };
	rc = question_answer(request->db, &answering, request->error);
	return rc ? rc : respond_question(request, id, false);
}
