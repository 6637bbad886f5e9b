/* Accepts the submission that a form sends. */
#include "cgi/page/submit.h"

#include "cgi/http/session.h"
#include "cgi/page/pages.h"
#include "lib/base/quote.h"
#include "lib/base/scope.h"
#include "lib/base/text.h"
#include "lib/intake/submission.h"
#include "lib/submission/directive.h"
#include "lib/submission/file.h"

#include <string.h>

/* If no quota says when to retry, the queue was full, and the client should wait for
 * queue_wait_s. */
int submit_say_when(
	struct request *request, const struct leaderboard *leaderboard, const char *mode)
{
	enum { queue_wait_s = 30 };
	struct quota_use uses[quota_modes];
	struct error own = { 0 };
	int64_t wait_s = queue_wait_s;
	int rc = quota_uses(request->db, request->arena, request->config, leaderboard->id,
		viewer_author_on(request, leaderboard->id), uses, &own);
	for (size_t i = 0; i < quota_modes && !rc; i++)
		if (strcmp(uses[i].mode, mode) == 0 && uses[i].wait_s)
			wait_s = uses[i].wait_s;
	if (rc) {
		*request->error = own;
		return rc;
	}
	response_header(
		request, "Retry-After", arena_printf(request->arena, "%lld", (long long)wait_s));
	request->status = 429;
	return 0;
}

/* Replaces CR LF by LF. Browsers end each line of a text field with CR LF, whatever was pasted
 * (HTML, "constructing the entry list"). With LF, an unchanged template or resubmission equals its
 * original byte for byte. */
static const char *with_plain_lines(struct arena *arena, const char *code)
{
	char *plain = arena_strdup(arena, code), *end = plain;
	for (const char *at = plain; *at; at++)
		if (at[0] != '\r' || at[1] != '\n')
			*end++ = *at;
	*end = '\0';
	return plain;
}

/* Accepts a file or pasted code, but not both: a guess could rank the wrong one. Code that the form
 * itself has offered, and that nobody has changed, does not count beside a file. */
static int read_form_source(struct request *request, struct submission_request *submission)
{
	const struct upload *upload = request_upload(request, "file");
	const char *code = with_plain_lines(request->arena, request_form_or(request, "code", ""));
	const char *offered = request_form_or(request, "offered", "");
	if (upload && strcmp(submit_digest(request->arena, code), offered) == 0)
		code = "";
	if (upload && *code) {
		submission->source = code;
		submission->length = strlen(code);
		return fail_field(request->error, "code",
			"The form has code and a file. Clear one of them and send the form again.");
	}
	if (upload) {
		submission->file_name = *upload->file_name ? upload->file_name : "file";
		submission->source = upload->bytes;
		submission->length = upload->length;
	} else {
		submission->source = code;
		submission->length = strlen(code);
	}
	return 0;
}

/* Gives code the name of the file that was dropped on the editor, if the leaderboard takes that
 * name: the visitor sees the code and cannot change the name. */
static void name_code(struct request *request, const struct leaderboard *leaderboard,
	struct submission_request *submission)
{
	const char *name = request_form_or(request, "code_name", "");
	struct submission_file file;
	struct error unfit = { 0 };
	if (!submission->file_name && *name
		&& !submission_file_take(request->arena, leaderboard->language, name, submission->source,
			submission->length, &file, &unfit))
		submission->file_name = name;
}

/* The form sends the license that it showed, so that nobody accepts one unseen. /submit shows those
 * of all leaderboards. */
static int check_license(struct request *request, const struct leaderboard *leaderboard)
{
	const char *accepted = request_form_or(request, "license", "");
	if (!leaderboard_asks_license(leaderboard) || strcmp(accepted, leaderboard->license) == 0
		|| strcmp(accepted, "any of them") == 0)
		return 0;
	return fail_field(request->error, "license",
		"Sources on %s open under the license %s. Accept it to submit.", leaderboard->name,
		leaderboard->license);
}

static int store_submission(struct request *request, const struct leaderboard *leaderboard,
	struct submission_request *submission)
{
	int64_t id = 0;
	name_code(request, leaderboard, submission);
	int rc = check_license(request, leaderboard);
	if (!rc)
		rc = submission_create(
			request->db, request->arena, leaderboard, submission, &id, request->error);
	request->stored = rc ? 0 : id;
	return rc;
}

/* Notes an error of the form. Code with a file's name is in the field for code all the same. */
static int note_fault(void *context, int rc)
{
	struct request *request = context;
	if (!request_upload(request, "file") && strcmp(request->error->field, "file") == 0)
		strcpy(request->error->field, "code");
	return form_note(request, rc);
}

/* Finds all errors of a form of which one is known: `rc`. */
static int collect_faults(struct request *request, const struct leaderboard *leaderboard,
	const struct submission_request *submission, int rc)
{
	if (rc != ERROR_INPUT || strcmp(request->error->field, "leaderboard") == 0
		|| strcmp(request->error->field, "author") == 0)
		return rc;
	rc = note_fault(request, rc);
	if (!rc)
		rc = submission_check(request->db, request->arena, leaderboard, submission, note_fault,
			request, request->error);
	return rc ? rc : form_noted(request);
}

/* Sets the status for a refused submission. Returns 0 if the form should be shown again with the
 * reason, else the error. */
static int explain_refusal(
	struct request *request, const struct leaderboard *leaderboard, const char *mode, int rc)
{
	if (rc == ERROR_LIMIT)
		return submit_say_when(request, leaderboard, mode);
	if (rc != ERROR_INPUT)
		return rc;
	request->status = 422;
	return 0;
}

int action_submit(struct request *request)
{
	struct leaderboard leaderboard;
	int rc = leaderboard_seen_by(request->db, request->arena, request->viewer.id,
		request->path_parameters[0], &leaderboard, request->error);
	if (rc)
		return rc;
	struct submission_request submission = { .user_id = request->viewer.id,
		.mode = request_form(request, "mode"),
		.config = request->config };
	const struct actor by = actor_of(request);
	submission.gpu_count = request_form_values(request, "gpu", &submission.gpus);
	rc = submission_choose_author(request->db, request->arena, &leaderboard, &by,
		request_form(request, "author"), &submission, request->error);
	if (!rc)
		rc = read_form_source(request, &submission);
	if (!rc)
		rc = store_submission(request, &leaderboard, &submission);
	if (!rc)
		return redirect(request, "/submission/%lld", (long long)request->stored);
	rc = collect_faults(request, &leaderboard, &submission, rc);
	rc = explain_refusal(request, &leaderboard, submission.mode, rc);
	return rc ? rc : submit_show_again(request, &leaderboard);
}

/* ---- /submit: the file or the user names the leaderboard ---- */

/* Finds the leaderboard that the user chose, else the one that the source's header names. The form
 * preselects the leaderboard of the last submission (`last`); an unchanged preselection only counts
 * if the header names none. */
static int find_target(struct request *request, const struct submission_request *submission,
	struct leaderboard *leaderboard)
{
	const char *typed = request_form_or(request, "leaderboard", ""),
			   *last = request_form_or(request, "last", "");
	const char *chosen = strcmp(typed, last) == 0 ? "" : typed,
			   *field = request_upload(request, "file") ? "file" : "code";
	struct directives header = { 0 };
	/* For a source that is no text, directives_parse finds no header. Such a source is rejected
	 * later, when the leaderboard is known. */
	int rc = *chosen ? 0
					 : directives_parse(request->arena,
						 arena_strndup(request->arena, submission->source, submission->length),
						 &header, request->error);
	if (rc)
		return fail_field(
			request->error, field, "%s", arena_strdup(request->arena, request->error->text));
	const char *name = *chosen ? chosen : header.leaderboard ? header.leaderboard : typed;
	if (!*name)
		return fail_field(request->error, "leaderboard",
			"Choose a leaderboard, or begin the file with a line that names it: #!POPCORN "
			"leaderboard NAME (in CUDA C++, //!POPCORN leaderboard NAME).");
	rc = leaderboard_seen_by(
		request->db, request->arena, request->viewer.id, name, leaderboard, request->error);
	return rc == ERROR_NOT_FOUND
		? fail_field(request->error, name == typed || *chosen ? "leaderboard" : field,
			"There is no leaderboard named %s.", quote(request->arena, name))
		: rc;
}

int action_submit_anywhere(struct request *request)
{
	struct submission_request submission = { .user_id = request->viewer.id,
		.mode = request_form(request, "mode"),
		.config = request->config };
	struct leaderboard leaderboard;
	int rc = form_note(request, read_form_source(request, &submission));
	if (!rc)
		rc = find_target(request, &submission, &leaderboard);
	bool is_known = !rc;
	if (!rc)
		rc = form_noted(request);
	if (!rc)
		rc = store_submission(request, &leaderboard, &submission);
	if (!rc)
		return redirect(request, "/submission/%lld", (long long)request->stored);
	if (is_known)
		rc = collect_faults(request, &leaderboard, &submission, rc);
	rc = explain_refusal(request, &leaderboard, submission.mode, rc);
	return rc ? rc : page_submit_anywhere(request);
}
