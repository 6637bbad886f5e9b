/* Authors cancel, withdraw and restore their submissions and write notes. */
#include "cgi/action/cancellation.h"
#include "cgi/action/withdrawal.h"
#include "cgi/api/api.h"
#include "cgi/api/calls.h"
#include "cgi/api/submission.h"

/* Fails if the submission is another user's and the token lacks the scope admin. */
static int check_owner(struct request *request, const struct submission_row *row)
{
	if (viewer_acts_for(&request->viewer, row->user_id) || api_may(request, TOKEN_ADMIN))
		return 0;
	return api_fail(request, 403, ERROR_FORBIDDEN, "insufficient_scope",
		"This is somebody else's submission, and this token lacks the scope admin.");
}

int api_submission_cancel(struct request *request)
{
	struct submission_row row;
	struct cancellation done;
	const struct actor actor = actor_of(request);
	int rc = submission_to_cancel(request, &row);
	if (!rc)
		rc = check_owner(request, &row);
	if (!rc)
		rc = submission_cancel(request->db, row.id, row.user_id, &actor, &done, request->error);
	return rc ? rc : respond_submission(request);
}

int api_submission_withdraw(struct request *request)
{
	struct submission_row row;
	const struct actor actor = actor_of(request);
	int rc = submission_of_author(request, "withdraw a submission", &row);
	if (!rc)
		rc = submission_withdraw(request->db, row.id, row.user_id, &actor, request->error);
	return rc ? rc : respond_submission(request);
}

int api_submission_restore(struct request *request)
{
	struct submission_row row;
	const struct actor actor = actor_of(request);
	int rc = submission_of_author(request, "let a submission count again", &row);
	if (!rc)
		rc = submission_restore(request->db, row.id, row.user_id, &actor, request->error);
	return rc ? rc : respond_submission(request);
}

int api_submission_note(struct request *request)
{
	struct submission_row row;
	const char *note;
	int rc = api_text(request, "note", &note);
	if (!rc && !note)
		rc = fail_field(
			request->error, "note", "The member note is missing. Send \"\" to delete the note.");
	if (!rc)
		rc = submission_of_author(request, "write a note on a submission", &row);
	if (!rc)
		rc = submission_note(request->db, row.id, note, request->error);
	return rc ? rc : respond_submission(request);
}
