/* Cancels the unfinished jobs of a submission. */
#include "cgi/page/submission.h"

#include "cgi/action/cancellation.h"
#include "cgi/page/pages.h"
#include "templates/submission.h"

#include <string.h>

static int show_cancelling(
	struct request *request, const struct submission_row *row, const char *error)
{
	struct job_row *jobs;
	size_t count;
	int rc = submission_jobs(request, row, &jobs, &count);
	if (rc)
		return rc;
	struct cancel_form form = { .row = row,
		.is_author = viewer_acts_for(&request->viewer, row->user_id),
		.typed = request_form_or(request, "number", ""),
		.error = error };
	for (size_t i = 0; i < count; i++) {
		form.has_begun = form.has_begun || strcmp(jobs[i].state, "queued") != 0;
		if (job_can_be_cancelled(&jobs[i]))
			*(strcmp(jobs[i].state, "running") == 0 ? &form.running : &form.waiting) += 1;
	}
	struct page page = page_make(request,
		arena_printf(request->arena, "Cancel submission %lld", (long long)row->id), "leaderboards");
	submission_cancel_page(&request->body, &page, &form);
	return 0;
}

int page_submission_cancel(struct request *request)
{
	struct submission_row row;
	int rc = submission_to_cancel(request, &row);
	return rc ? rc : show_cancelling(request, &row, NULL);
}

/* An admin who cancels another user's submission must type its number. */
static bool is_confirmed(const struct request *request, const struct submission_row *row)
{
	return viewer_acts_for(&request->viewer, row->user_id)
		|| strcmp(request_form_or(request, "number", ""),
			   arena_printf(request->arena, "%lld", (long long)row->id))
		== 0;
}

int action_submission_cancel(struct request *request)
{
	struct submission_row row;
	struct cancellation done;
	struct actor actor = actor_of(request);
	int rc = submission_to_cancel(request, &row);
	if (!rc && !is_confirmed(request, &row)) {
		request->status = 422;
		return show_cancelling(request, &row,
			arena_printf(request->arena,
				"This is not its number, so nothing was cancelled; type %lld.", (long long)row.id));
	}
	if (!rc)
		rc = submission_cancel(request->db, row.id, row.user_id, &actor, &done, request->error);
	return rc ? rc
			  : redirect(request, "/submission/%lld?cancelled=%s", (long long)row.id,
				  done.waiting + done.running == 0 ? "none"
					  : done.ended                 ? "rest"
												   : "all");
}
