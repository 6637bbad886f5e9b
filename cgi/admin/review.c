/* Results that wait for review: an admin releases or rejects them. */
#include "cgi/admin/review.h"

#include "cgi/http/confirmation.h"
#include "cgi/http/notice.h"
#include "cgi/page/pages.h"
#include "lib/base/scope.h"
#include "templates/admin_review.h"

#include <stdlib.h>
#include <string.h>

static int show_held(struct request *request, struct review_view *view)
{
	struct held_result *results;
	struct error error = { 0 };
	int rc = reviews_waiting(request->db, request->arena, &results, &view->count, &error);
	if (rc) {
		*request->error = error;
		return rc;
	}
	view->results = results;
	struct page page = form_page_make(request, "Held results", "review");
	admin_review_page(&request->body, &page, view);
	return 0;
}

int page_review(struct request *request)
{
	struct review_view view = { 0 };
	return show_held(request, &view);
}

/* Asks before a rejection, because it is final and takes a result away from its author. */
static struct confirmation rejection_question(
	struct request *request, const struct review_view *view, const char *reason)
{
	const char *number = arena_printf(request->arena, "%lld", (long long)view->submission_id);
	struct confirmation question = {
		.title = arena_printf(request->arena, "Reject submission %s on %s?", number, view->gpu),
		.section = "review",
		.what = "the submission’s number",
		.typed = number,
		.button = "Reject it",
		.back = "/admin/review",
	};
	confirmation_says(request, &question,
		"Its result on this device becomes a protocol violation, loses its time and is never "
		"ranked. "
		"That is final. The author can submit again.");
	confirmation_says(request, &question, "Its author reads: “Rejected by the admin %s: %s”",
		request->viewer.name, reason);
	return question;
}

/* Sets `waits` if the result still waits for review, or if the list is full, because the result may
 * then be beyond its end. If `waits` is false, the caller asks nothing, and review_reject reports
 * the error. */
static int find_waiting(struct request *request, const struct review *review, bool *waits)
{
	struct held_result *results;
	size_t count;
	int rc = reviews_waiting(request->db, request->arena, &results, &count, request->error);
	*waits = count == reviews_most;
	for (size_t i = 0; i < count && !rc; i++)
		*waits = *waits
			|| (results[i].submission_id == review->submission_id
				&& strcmp(results[i].gpu, review->gpu) == 0);
	return rc;
}

static int reject_result(
	struct request *request, const struct review *review, const struct review_view *view)
{
	const char *reason;
	int rc = review_check_reason(request->arena, view->reason, &reason, request->error);
	if (rc)
		return rc;
	struct confirmation question = rejection_question(request, view, reason);
	bool waits;
	if (!confirmation_given(request, &question)) {
		rc = find_waiting(request, review, &waits);
		if (rc || waits)
			return rc ? rc : confirmation_ask(request, &question);
	}
	rc = review_reject(request->db, review, reason, request->error);
	if (rc)
		return rc;
	notice_leave(request, "Submission %lld was rejected on %s. Its author reads your reason.",
		(long long)review->submission_id, review->gpu);
	return redirect(request, "/admin/review");
}

static int release_result(
	struct request *request, const struct review *review, const struct review_view *view)
{
	(void)view;
	int rc = review_release(request->db, review, request->error);
	if (rc)
		return rc;
	notice_leave(request, "Submission %lld was released on %s and is ranked.",
		(long long)review->submission_id, review->gpu);
	return redirect(request, "/admin/review");
}

int action_review(struct request *request)
{
	const struct actor by = actor_of(request);
	const char *action = request_form_or(request, "action", "");
	struct review_view view = {
		.submission_id = strtoll(request_form_or(request, "submission", ""), NULL, 10),
		.gpu = request_form_or(request, "gpu", ""),
		.reason = request_form_or(request, "reason", ""),
	};
	const struct review review = { view.submission_id, view.gpu, &by };
	bool releases = strcmp(action, "release") == 0;
	if (!releases && strcmp(action, "reject") != 0)
		return fail(
			request->error, ERROR_INPUT, "This page has no such action; reload it and try again.");
	int rc = (releases ? release_result : reject_result)(request, &review, &view);
	if (rc != ERROR_INPUT)
		return rc;
	request->status = 422;
	view.error = arena_strdup(request->arena, request->error->text);
	fail_field(request->error,
		arena_printf(request->arena, "reason-%lld-%s", (long long)view.submission_id, view.gpu),
		"%s", view.error);
	return show_held(request, &view);
}
