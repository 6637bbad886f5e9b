/* Rejudging: the list, a form to start one, and the preview that an admin applies or discards. */
#include "cgi/admin/rejudging.h"

#include "cgi/http/notice.h"
#include "cgi/page/pages.h"
#include "lib/base/scope.h"
#include "lib/leaderboard/role.h"
#include "templates/admin_rejudging.h"

#include <stdlib.h>
#include <string.h>

enum { most_rejudgings = 50, results_per_page = 100, reload_s = 5 };

/* ---- the list and the form ---- */

const char *rejudging_fault(const struct rejudgings_view *view, const char *field)
{
	return form_error(view->request, field);
}

static const struct column CHOICE_COLUMNS[] = { TEXT(struct rejudging_choice, name) };
static const struct statement LEADERBOARDS = SELECT(struct rejudging_choice, CHOICE_COLUMNS,
	"SELECT l.name FROM leaderboards l WHERE " SQL_MAY_CHANGE("l") " ORDER BY l.name");
static const struct statement GPUS = SELECT(struct rejudging_choice, CHOICE_COLUMNS,
	"SELECT DISTINCT gpu AS name FROM leaderboard_gpus ORDER BY gpu");

/* Moves the open rejudgings to the front. Both parts keep their order, newest first. */
static const struct rejudging *open_first(
	struct arena *arena, const struct rejudging *rejudgings, size_t count)
{
	struct rejudging *sorted = arena_array(arena, struct rejudging, count + 1);
	size_t next = 0;
	for (int part = 0; part < 2; part++)
		for (size_t i = 0; i < count; i++)
			if ((strcmp(rejudgings[i].state, "open") == 0) == (part == 0))
				sorted[next++] = rejudgings[i];
	return sorted;
}

static int read_rejudgings(
	struct request *request, struct rejudgings_view *view, struct error *error)
{
	static const struct statement *const parts[] = { &LEADERBOARDS, &GPUS };
	static const struct bundle choices = BUNDLE(parts);
	struct database_answer answers[COUNT(parts)];
	struct rejudging *rejudgings;
	int rc = rejudgings_list(request->db, request->arena, request->viewer.id, most_rejudgings,
		&rejudgings, &view->count, error);
	if (!rc)
		rc = database_answers(
			request->db, request->arena, &choices, answers, error, "i", request->viewer.id);
	if (rc)
		return rc;
	view->rejudgings = open_first(request->arena, rejudgings, view->count);
	view->leaderboards = answers[0].rows, view->leaderboard_count = answers[0].count;
	view->gpus = answers[1].rows, view->gpu_count = answers[1].count;
	return 0;
}

static int show_rejudgings(struct request *request, struct rejudgings_view *view)
{
	struct error error = { 0 };
	int rc = read_rejudgings(request, view, &error);
	if (rc) {
		*request->error = error;
		return rc;
	}
	struct page page = form_page_make(request, "Rejudging", "admin");
	admin_rejudgings_page(&request->body, &page, view);
	return 0;
}

/* Fills the form from the query, because links on other pages prefill it. */
int page_rejudgings(struct request *request)
{
	struct rejudgings_view view = {
		.request = request,
		.scope = request_query_or(request, "scope", "top"),
		.leaderboard = request_query_or(request, "leaderboard", ""),
		.submission = request_query_or(request, "submission", ""),
		.user = request_query_or(request, "user", ""),
		.top = request_query_or(request, "top", "10"),
		.gpu = request_query_or(request, "gpu", ""),
	};
	return show_rejudgings(request, &view);
}

/* Notes the fields that the scope needs and that are empty. */
static int note_missing(struct request *request, const struct rejudgings_view *view)
{
	const struct {
		const char *scopes, *field, *value, *sentence;
	} needed[] = {
		{ "top user all", "leaderboard", view->leaderboard, "Choose a leaderboard." },
		{ "top", "gpu", view->gpu, "Choose the device whose first entries to rejudge." },
		{ "top", "top", view->top, "Enter how many first entries to rejudge." },
		{ "submission", "submission", view->submission, "Enter the number of the submission." },
		{ "user everywhere", "user", view->user, "Enter the name of the user." },
	};
	for (size_t i = 0; i < COUNT(needed); i++)
		if (strstr(needed[i].scopes, view->scope) && !*needed[i].value)
			form_note(
				request, fail_field(request->error, needed[i].field, "%s", needed[i].sentence));
	return form_noted(request);
}

static int start_rejudging_of_form(
	struct request *request, const struct rejudgings_view *view, int64_t *id)
{
	const struct actor by = actor_of(request);
	struct rejudging_order order = {
		.leaderboard = view->leaderboard,
		.submission_id = strtoll(view->submission, NULL, 10),
		.user = view->user,
		.top = strtoll(view->top, NULL, 10),
		.gpu = view->gpu,
		.by = &by,
		.may_all = request->viewer.role == ROLE_ADMIN,
	};
	if (rejudging_scope_from_name(view->scope, &order.scope))
		return fail_field(request->error, "scope", "Choose what is rejudged.");
	int rc = note_missing(request, view);
	return rc ? rc : rejudging_start(request->db, request->arena, &order, id, request->error);
}

int action_rejudgings(struct request *request)
{
	struct rejudgings_view view = {
		.request = request,
		.scope = request_form_or(request, "scope", ""),
		.leaderboard = request_form_or(request, "leaderboard", ""),
		.submission = request_form_or(request, "submission", ""),
		.user = request_form_or(request, "user", ""),
		.top = request_form_or(request, "top", ""),
		.gpu = request_form_or(request, "gpu", ""),
	};
	int64_t id;
	int rc = start_rejudging_of_form(request, &view, &id);
	if (!rc) {
		notice_leave(request, "Rejudging %lld has started.", (long long)id);
		return redirect(request, "/admin/rejudgings/%lld", (long long)id);
	}
	if (rc != ERROR_INPUT)
		return rc;
	request->status = 422;
	return show_rejudgings(request, &view);
}

/* ---- one rejudging ---- */

int rejudging_of_viewer(struct request *request, int64_t id, struct rejudging *rejudging)
{
	enum leaderboard_right right = RIGHT_NONE;
	int rc = rejudging_find(request->db, request->arena, id, rejudging, request->error);
	if (rc || request->viewer.role == ROLE_ADMIN)
		return rc;
	if (rejudging->leaderboard_id != SQL_NULL_INTEGER)
		rc = leaderboard_right(request->db, request->arena, request->viewer.id,
			rejudging->leaderboard_id, &right, request->error);
	return rc || right >= RIGHT_CHANGE
		? rc
		: fail(request->error, ERROR_NOT_FOUND, "There is no rejudging with this number.");
}

bool rank_change_is_remeasured(const struct rank_change *change)
{
	return change->old_place == SQL_NULL_INTEGER || change->new_place == SQL_NULL_INTEGER
		|| change->old_score_ns != change->new_score_ns;
}

/* 0: a rank is lost; 1: another time or a first rank; 2: only the rank moves. */
static int part_of(const struct rank_change *change)
{
	return change->new_place == SQL_NULL_INTEGER ? 0 : rank_change_is_remeasured(change) ? 1 : 2;
}

/* Lost ranks come first, then changes with another time. The parts keep their order. */
static void sort_changes(
	struct arena *arena, struct rejudging_view *view, const struct rank_change *changes)
{
	struct rank_change *sorted = arena_array(arena, struct rank_change, view->change_count + 1);
	size_t count = 0;
	for (int part = 0; part < 3; part++) {
		for (size_t i = 0; i < view->change_count; i++) {
			if (part_of(&changes[i]) == part)
				sorted[count++] = changes[i];
			view->several_gpus |= strcmp(changes[i].gpu, changes[0].gpu) != 0;
			view->several_versions |= changes[i].version != changes[0].version;
		}
		if (part == 1)
			view->remeasured_count = count;
	}
	view->changes = sorted;
}

static int read_preview(struct request *request, struct rejudging_view *view, struct error *error)
{
	struct rank_change *changes;
	const struct rejudging *one = view->rejudging;
	/* The preview costs as many database writes as applying the rejudging, so only page 1 makes
	 * it. */
	view->has_preview =
		strcmp(one->state, "open") == 0 && !one->waiting && !one->frozen && view->paging.page == 1;
	if (!view->has_preview)
		return 0;
	int rc = rejudging_preview(
		request->db, request->arena, view->rejudging, &changes, &view->change_count, error);
	if (!rc)
		sort_changes(request->arena, view, changes);
	return rc;
}

static int read_one(struct request *request, struct rejudging *rejudging,
	struct rejudging_view *view, struct error *error)
{
	struct rejudged_result *results;
	int rc = rejudging_of_viewer(request, path_number(request, 0), rejudging);
	if (rc)
		*error = *request->error;
	view->rejudging = rejudging;
	if (!rc)
		rc = paging_make(&view->paging, rejudging->jobs, results_per_page,
			query_number(request, "page", 1), error);
	if (!rc)
		rc = rejudging_results(request->db, request->arena, rejudging->id,
			(view->paging.page - 1) * results_per_page, results_per_page, &results, &view->count,
			error);
	view->results = rc ? NULL : results;
	for (size_t i = 0; !rc && i < view->count; i++)
		view->differing += results[i].differs == 1;
	return rc ? rc : read_preview(request, view, error);
}

static int show_rejudging(struct request *request, struct rejudging_view *view)
{
	struct error error = { 0 };
	struct rejudging rejudging;
	int rc = read_one(request, &rejudging, view, &error);
	if (rc) {
		*request->error = error;
		return rc;
	}
	struct page page = form_page_make(
		request, arena_printf(request->arena, "Rejudging %lld", (long long)rejudging.id), "admin");
	page.refresh_s = rejudging.waiting ? reload_s : 0;
	admin_rejudging_page(&request->body, &page, view);
	return 0;
}

int page_rejudging(struct request *request)
{
	struct rejudging_view view = { .typed = "" };
	return show_rejudging(request, &view);
}

/* To apply or discard a rejudging, an admin types the name of its leaderboard or user. */
static int apply_or_discard(struct request *request, const char *typed)
{
	static const struct {
		const char *name, *outcome;
		int (*run)(struct database *db, int64_t id, const struct actor *by, struct error *error);
	} endings[] = {
		{ "apply", "The new results were applied, and the rankings follow them.", rejudging_apply },
		{ "discard", "The rejudging was discarded. Every result is as before.", rejudging_discard },
	};
	const struct actor by = actor_of(request);
	struct rejudging rejudging;
	int rc = rejudging_of_viewer(request, path_number(request, 0), &rejudging);
	if (!rc)
		rc = rejudging_check_name(&rejudging, typed, request->error);
	if (rc)
		return rc;
	for (size_t i = 0; i < COUNT(endings); i++)
		if (strcmp(endings[i].name, request_form_or(request, "action", "")) == 0) {
			rc = endings[i].run(request->db, rejudging.id, &by, request->error);
			if (!rc)
				notice_leave(request, "%s", endings[i].outcome);
			return rc;
		}
	return fail(
		request->error, ERROR_INPUT, "This page has no such action; reload it and try again.");
}

int action_rejudging(struct request *request)
{
	struct rejudging_view view = { .typed = request_form_or(request, "name", "") };
	int rc = apply_or_discard(request, view.typed);
	if (!rc)
		return redirect(request, "/admin/rejudgings/%lld", (long long)path_number(request, 0));
	if (rc != ERROR_INPUT)
		return rc;
	request->status = 422;
	view.error = arena_strdup(request->arena, request->error->text);
	return show_rejudging(request, &view);
}

/* ---- the results of one job ---- */

static const char *rejudged_words(
	const struct rejudging *rejudging, const struct rejudged_result *result)
{
	if (!result->verdict)
		return "The new job has not finished. It runs when no other job waits.";
	if (strcmp(result->state, "done") != 0)
		return "The rejudge failed, through no fault of the submission. The old result stays.";
	if (strcmp(rejudging->state, "applied") == 0)
		return "This is the old result. The submission has another one now.";
	return strcmp(rejudging->state, "open") == 0
		? "This is the new result. The submission keeps its old one until the rejudging is applied."
		: "This was the new result. The rejudging was discarded, so the submission kept its old "
		  "one.";
}

static int read_rejudged(struct request *request, struct rejudging *rejudging,
	struct rejudged_result *result, struct submission_row *row, struct rejudged_view *view)
{
	int rc = rejudging_of_viewer(request, path_number(request, 0), rejudging);
	if (!rc)
		rc = rejudging_result(request->db, request->arena, rejudging->id, path_number(request, 1),
			result, request->error);
	return rc ? rc
			  : submission_read_rejudged(
				  request, result->submission_id, result->id, row, &view->submission);
}

int page_rejudged(struct request *request)
{
	struct rejudging rejudging;
	struct rejudged_result result;
	struct submission_row row;
	struct job_row job;
	struct rejudged_view view = { .rejudging = &rejudging, .result = &result };
	int rc = read_rejudged(request, &rejudging, &result, &row, &view);
	if (rc)
		return rc;
	if (view.submission.job_count) {
		job = view.submission.jobs[0];
		job.sentence = rejudged_words(&rejudging, &result);
		job.score_ns = NAN; /* the table has it */
		view.job = &job;
	}
	struct page page = page_make(request,
		arena_printf(request->arena, "Submission %lld on %s, rejudged",
			(long long)result.submission_id, result.gpu),
		"admin");
	page.sheet = "/static/submission.css";
	page.refresh_s = result.verdict ? 0 : reload_s;
	admin_rejudged_page(&request->body, &page, &view, request->arena);
	return 0;
}
