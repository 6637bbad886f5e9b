/* Hides, holds, releases and rejudges submissions. */
#include "cgi/action/moderation.h"
#include "cgi/admin/leaderboard.h"
#include "cgi/admin/rejudging.h"
#include "cgi/api/admin.h"
#include "lib/judging/rejudging.h"
#include "lib/judging/review.h"
#include "lib/leaderboard/role.h"

enum { most_rejudgings = 100, results_at_once = 100 };

/* ---- single submissions ---- */

/* Reads the submission's number in the address, if the viewer may change its leaderboard. */
static int find_moderated(struct request *request, int64_t *id)
{
	int rc = api_path_id(request, 0, "submission", id);
	return rc ? rc
			  : leaderboard_right_to_submission(request->db, request->arena, request->viewer.id,
				  *id, RIGHT_CHANGE, request->error);
}

/* An action on a submission. The author reads `reason`. */
typedef int reasoned_action(struct database *db, int64_t id, const char *reason,
	const struct actor *by, struct error *error);
static int run_with_reason(struct request *request, reasoned_action *act)
{
	struct actor by = actor_of(request);
	const char *reason;
	int64_t id;
	int rc = find_moderated(request, &id);
	if (!rc)
		rc = api_text_or_nothing(request, "reason", &reason);
	if (!rc)
		rc = act(request->db, id, reason, &by, request->error);
	return rc ? rc : respond_nothing(request);
}

int api_admin_hide(struct request *request)
{
	return run_with_reason(request, submission_hide);
}

int api_admin_hold(struct request *request)
{
	return run_with_reason(request, submission_hold);
}

int api_admin_show(struct request *request)
{
	struct actor by = actor_of(request);
	int64_t id;
	int rc = find_moderated(request, &id);
	if (!rc)
		rc = submission_show(request->db, id, &by, request->error);
	return rc ? rc : respond_nothing(request);
}

static int read_review(struct request *request, struct review *review)
{
	int rc = api_path_id(request, 0, "submission", &review->submission_id);
	return rc ? rc : api_text_or_nothing(request, "gpu", &review->gpu);
}

int api_admin_release(struct request *request)
{
	struct actor by = actor_of(request);
	struct review review = { .by = &by };
	int rc = read_review(request, &review);
	if (!rc)
		rc = review_release(request->db, &review, request->error);
	return rc ? rc : respond_nothing(request);
}

int api_admin_reject(struct request *request)
{
	struct actor by = actor_of(request);
	struct review review = { .by = &by };
	const char *reason;
	int rc = read_review(request, &review);
	if (!rc)
		rc = api_text_or_nothing(request, "reason", &reason);
	if (!rc)
		rc = api_confirm(request, "the submission's number", request->path_parameters[0]);
	if (!rc)
		rc = review_reject(request->db, &review, reason, request->error);
	return rc ? rc : respond_nothing(request);
}

int api_admin_held(struct request *request)
{
	struct held_result *results;
	size_t count;
	int rc = reviews_waiting(request->db, request->arena, &results, &count, request->error);
	if (rc)
		return rc;
	json_t *items = json_array();
	for (size_t i = 0; i < count; i++)
		json_array_append_new(items,
			json_pack("{s:I, s:s, s:s, s:s, s:o, s:o, s:s, s:o}", "submission",
				(json_int_t)results[i].submission_id, "leaderboard", results[i].leaderboard, "user",
				results[i].user, "gpu", results[i].gpu, "engine", json_text(results[i].engine),
				"score_ns", json_number(results[i].score_ns), "reason", results[i].reason,
				"held_at", json_moment(results[i].held_at_ms)));
	return respond_list(request, items, NULL);
}

/* ---- rejudging ---- */

static json_t *rejudging_json(const struct rejudging *one)
{
	return json_pack("{s:I, s:o, s:s, s:s, s:s, s:s, s:o, s:o, s:o, s:I, s:I, s:I, s:o}", "id",
		(json_int_t)one->id, "leaderboard", json_text(one->leaderboard), "subject", one->subject,
		"scope", one->scope, "state", one->state, "made_by", one->made_by, "ended_by",
		json_text(one->ended_by), "made_at", json_moment(one->made_at_ms), "ended_at",
		json_moment(one->ended_at_ms), "results", (json_int_t)one->jobs, "waiting",
		(json_int_t)one->waiting, "without_result", (json_int_t)one->useless, "frozen",
		json_text(one->frozen));
}

int api_admin_rejudgings(struct request *request)
{
	struct rejudging *rows;
	size_t count;
	int rc = rejudgings_list(request->db, request->arena, request->viewer.id, most_rejudgings,
		&rows, &count, request->error);
	if (rc)
		return rc;
	json_t *items = json_array();
	for (size_t i = 0; i < count; i++)
		json_array_append_new(items, rejudging_json(&rows[i]));
	return respond_list(request, items, NULL);
}

static int start_rejudging_of_order(struct request *request, struct rejudging_order *order)
{
	struct actor by = actor_of(request);
	struct rejudging one;
	int64_t id;
	order->by = &by;
	order->may_all = request->viewer.role == ROLE_ADMIN;
	int rc = rejudging_start(request->db, request->arena, order, &id, request->error);
	if (!rc)
		rc = rejudging_find(request->db, request->arena, id, &one, request->error);
	return rc ? rc
			  : respond_created(
				  request, rejudging_json(&one), "/api/v1/admin/rejudgings/%lld", (long long)id);
}

int api_admin_rejudging_start(struct request *request)
{
	struct rejudging_order order = { 0 };
	const char *scope;
	int rc = api_text_or_nothing(request, "scope", &scope);
	if (!rc && rejudging_scope_from_name(scope, &order.scope))
		rc = fail_field(
			request->error, "scope", "The scope is submission, user, everywhere, top or all.");
	if (!rc)
		rc = api_text_or_nothing(request, "leaderboard", &order.leaderboard);
	if (!rc)
		rc = api_text_or_nothing(request, "user", &order.user);
	if (!rc)
		rc = api_text_or_nothing(request, "gpu", &order.gpu);
	if (!rc)
		rc = api_integer(request, "submission", 0, &order.submission_id);
	if (!rc)
		rc = api_integer(request, "top", 0, &order.top);
	return rc ? rc : start_rejudging_of_order(request, &order);
}

int api_admin_rejudge(struct request *request)
{
	struct rejudging_order order = {
		.scope = REJUDGE_SUBMISSION, .leaderboard = "", .user = "", .gpu = ""
	};
	int rc = api_path_id(request, 0, "submission", &order.submission_id);
	return rc ? rc : start_rejudging_of_order(request, &order);
}

static int find_rejudging(struct request *request, struct rejudging *one)
{
	int64_t id;
	int rc = api_path_id(request, 0, "rejudging", &id);
	return rc ? rc : rejudging_of_viewer(request, id, one);
}

static json_t *rejudged_result_json(const struct rejudged_result *one)
{
	return json_pack("{s:I, s:s, s:s, s:s, s:o, s:o, s:s, s:o, s:o, s:o, s:b}", "submission",
		(json_int_t)one->submission_id, "leaderboard", one->leaderboard, "user", one->user, "gpu",
		one->gpu, "old_verdict", json_text(one->old_verdict), "old_score_ns",
		json_number(one->old_score_ns), "state", one->state, "verdict", json_text(one->verdict),
		"reason", json_text(one->reason), "score_ns", json_number(one->score_ns), "differs",
		(int)one->differs);
}

/* Answers with a rejudging and the beginning of its results. Results with a changed verdict come
 * first. */
static int respond_rejudging(struct request *request, const struct rejudging *one)
{
	struct rejudged_result *results;
	size_t count;
	int rc = rejudging_results(
		request->db, request->arena, one->id, 0, results_at_once, &results, &count, request->error);
	if (rc)
		return rc;
	json_t *json = rejudging_json(one), *list = json_array();
	for (size_t i = 0; i < count; i++)
		json_array_append_new(list, rejudged_result_json(&results[i]));
	json_object_set_new(json, "first_results", list);
	return respond_json(request, json);
}

int api_admin_rejudging(struct request *request)
{
	struct rejudging one;
	int rc = find_rejudging(request, &one);
	return rc ? rc : respond_rejudging(request, &one);
}

static int end_rejudging(struct request *request,
	int (*act)(struct database *db, int64_t id, const struct actor *by, struct error *error))
{
	struct actor by = actor_of(request);
	struct rejudging one;
	int rc = find_rejudging(request, &one);
	if (!rc)
		rc = api_confirm(
			request, one.leaderboard ? "the leaderboard's name" : "the user's name", one.subject);
	if (!rc)
		rc = act(request->db, one.id, &by, request->error);
	if (!rc)
		rc = find_rejudging(request, &one);
	return rc ? rc : respond_rejudging(request, &one);
}

int api_admin_rejudging_apply(struct request *request)
{
	return end_rejudging(request, rejudging_apply);
}

int api_admin_rejudging_discard(struct request *request)
{
	return end_rejudging(request, rejudging_discard);
}
