/* An author withdraws or restores a submission, or edits its note. */
#include "cgi/page/participant.h"

#include "cgi/action/withdrawal.h"
#include "cgi/page/pages.h"
#include "lib/base/scope.h"
#include "lib/job/job.h"
#include "templates/participant.h"

#include <string.h>

static const struct column RANK_COLUMNS[] = {
	TEXT(struct withdraw_rank, gpu),
	INTEGER(struct withdraw_rank, place),
	INTEGER(struct withdraw_rank, is_tied),
	INTEGER(struct withdraw_rank, next_id),
};
#define IS_RANKED SQL_IS_RANKED("s", "j")
static const struct statement RANKS = SELECT(struct withdraw_rank, RANK_COLUMNS,
	"SELECT r.gpu, r.place, r.tied AS is_tied, (SELECT s.id FROM submissions s "
	"JOIN jobs j ON j.submission_id = s.id AND j.gpu = r.gpu "
	"    WHERE s.user_id = r.user_id AND s.leaderboard_id = r.leaderboard_id "
	"AND s.task_version_id = r.task_version_id "
	"    AND s.id <> r.submission_id AND " IS_RANKED
	" ORDER BY j.score_ns, s.id LIMIT 1) AS next_id "
	"FROM jobs own JOIN ranking r ON r.job_id = own.id WHERE own.submission_id = ? "
	"ORDER BY r.gpu");

struct open_jobs {
	int64_t open;
};
static const struct column OPEN_COLUMNS[] = { INTEGER(struct open_jobs, open) };
static const struct statement OPEN = SELECT(struct open_jobs, OPEN_COLUMNS,
	"SELECT COUNT(*) AS open FROM jobs WHERE submission_id = ? AND state IN ('queued', 'running')");

static const struct statement *const WITHDRAWAL_PARTS[] = { &RANKS, &OPEN };
static const struct bundle WITHDRAWAL = BUNDLE(WITHDRAWAL_PARTS);

/* ---- withdrawing ---- */

static int show_withdrawal(struct request *request, const struct submission_row *row)
{
	struct withdraw_form form = { .row = row,
		.typed = request_form_or(request, "number", ""),
		.typed_error = form_error(request, "number") };
	struct database_answer answers[COUNT(WITHDRAWAL_PARTS)] = { 0 };
	struct error own = { 0 };
	int rc = database_answers(
		request->db, request->arena, &WITHDRAWAL, answers, &own, "ii", row->id, row->id);
	if (rc) {
		*request->error = own;
		return rc;
	}
	form.ranks = answers[0].rows;
	form.rank_count = answers[0].count;
	form.open = ((const struct open_jobs *)answers[1].rows)->open;
	struct page page = form_page_make(request,
		arena_printf(request->arena, "Withdraw submission %lld", (long long)row->id),
		"leaderboards");
	submission_withdraw_page(&request->body, &page, &form);
	return 0;
}

int page_submission_withdraw(struct request *request)
{
	struct submission_row row;
	int rc = submission_of_author(request, "withdraw a submission", &row);
	return rc ? rc : show_withdrawal(request, &row);
}

int action_submission_withdraw(struct request *request)
{
	struct submission_row row;
	const struct actor actor = actor_of(request);
	int rc = submission_of_author(request, "withdraw a submission", &row);
	if (rc)
		return rc;
	if (strcmp(request_form_or(request, "number", ""),
			arena_printf(request->arena, "%lld", (long long)row.id))
		!= 0) {
		request->status = 422;
		fail_field(request->error, "number", "Type %lld to confirm.", (long long)row.id);
		return show_withdrawal(request, &row);
	}
	rc = submission_withdraw(request->db, row.id, row.user_id, &actor, request->error);
	if (rc == ERROR_CONFLICT) {
		request->status = 409;
		return show_withdrawal(request, &row);
	}
	return rc ? rc : redirect(request, "/submission/%lld?done=withdrawn", (long long)row.id);
}

int action_submission_restore(struct request *request)
{
	struct submission_row row;
	const struct actor actor = actor_of(request);
	int rc = submission_of_author(request, "let a submission count again", &row);
	if (!rc)
		rc = submission_restore(request->db, row.id, row.user_id, &actor, request->error);
	return rc ? rc : redirect(request, "/submission/%lld?done=restored", (long long)row.id);
}

/* ---- the note ---- */

static int show_note(struct request *request, const struct submission_row *row, const char *typed)
{
	struct note_form form = { .row = row, .typed = typed, .error = form_error(request, "note") };
	struct page page = form_page_make(request,
		arena_printf(request->arena, "Note on submission %lld", (long long)row->id),
		"leaderboards");
	submission_note_page(&request->body, &page, &form);
	return 0;
}

int page_submission_note(struct request *request)
{
	struct submission_row row;
	int rc = submission_of_author(request, "write a note on a submission", &row);
	return rc ? rc : show_note(request, &row, row.note);
}

int action_submission_note(struct request *request)
{
	struct submission_row row;
	const char *note = request_form_or(request, "note", "");
	int rc = submission_of_author(request, "write a note on a submission", &row);
	if (!rc)
		rc = submission_note(request->db, row.id, note, request->error);
	if (!rc)
		return redirect(request, "/submission/%lld?done=noted", (long long)row.id);
	if (rc != ERROR_INPUT)
		return rc;
	request->status = 422;
	return show_note(request, &row, note);
}
