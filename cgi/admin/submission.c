/* Submissions for admins and creators: searching, hiding, holding their results, notes. */
#include "cgi/admin/submission.h"

#include "cgi/action/moderation.h"
#include "cgi/http/confirmation.h"
#include "cgi/http/notice.h"
#include "cgi/http/paging.h"
#include "cgi/page/pages.h"
#include "lib/base/scope.h"
#include "lib/base/text.h"
#include "lib/judging/exception.h"
#include "lib/judging/review.h"
#include "lib/leaderboard/right.h"
#include "lib/leaderboard/role.h"
#include "lib/leaderboard/visibility.h"
#include "templates/admin_submission.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { submissions_per_page = 25 };

#define WAITS_FOR_REVIEW SQL_WAITS_FOR_REVIEW("j")
static const struct column SUBMISSION_COLUMNS[] = {
	INTEGER(struct admin_submission, id),
	TIME(struct admin_submission, submitted_at_ms),
	TIME(struct admin_submission, hidden_at_ms),
	TEXT(struct admin_submission, user),
	TEXT(struct admin_submission, leaderboard),
	TEXT(struct admin_submission, file_name),
	TEXT(struct admin_submission, mode),
	TEXT(struct admin_submission, hidden_reason),
	TEXT(struct admin_submission, disqualified),
	TEXT(struct admin_submission, note),
	TEXT(struct admin_submission, outcomes),
};
#define DISQUALIFICATION \
	"(SELECT dq.reason FROM disqualifications dq WHERE dq.leaderboard_id = s.leaderboard_id AND " \
	"dq.user_id = s.user_id AND dq.submission_id = s.id)"
/* The subquery `numbers` finds the IDs of the page's rows through the index that suits the search.
 * The statement then reads the other columns for these rows only. */
#define SUBMISSIONS(numbers) \
	SELECT(struct admin_submission, SUBMISSION_COLUMNS, \
		"SELECT s.id, s.submitted_at AS submitted_at_ms, s.hidden_at AS hidden_at_ms, u.name AS " \
		"user, l.name AS leaderboard, s.file_name, " \
		"  IF(s.dry_run, 'dry run', s.mode) AS mode, s.hidden_reason, " DISQUALIFICATION \
		" AS disqualified, s.admin_note AS note, " \
		"  (SELECT GROUP_CONCAT(CONCAT_WS('\t', j.gpu, COALESCE(j.verdict, j.state), " \
		"COALESCE(j.score_ns, ''), COALESCE(j.score_err_ns, ''), COALESCE((SELECT MIN(r.place) " \
		"FROM ranking r WHERE r.job_id = j.id), ''), IF(" WAITS_FOR_REVIEW ", '1', '')) ORDER BY " \
		"j.gpu SEPARATOR '\n') FROM jobs j " \
		"WHERE j.submission_id = s.id) AS outcomes " \
		"FROM (" numbers \
		") found JOIN submissions s ON s.id = found.id JOIN users u ON u.id = s.user_id " \
		"JOIN leaderboards l ON l.id = s.leaderboard_id ORDER BY s.id DESC")
#define LATEST(key, condition) \
	SUBMISSIONS("SELECT s.id FROM submissions s FORCE INDEX (" key \
				") WHERE s.id < ? AND " condition " ORDER BY s.id DESC LIMIT ?")
#define OF_USER "s.user_id = ?"
#define OF_LEADERBOARD "s.leaderboard_id = ?"
static const struct statement ONE = SUBMISSIONS("SELECT s.id FROM submissions s WHERE s.id = ?");

/* Finds the IDs of the user and the leaderboard, so that the searches below bind IDs instead of
 * names. MariaDB can start in the middle of an index only if it knows the ID in advance. */
struct ids {
	int64_t user, leaderboard;
};
static const struct column ID_COLUMNS[] = { INTEGER(struct ids, user),
	INTEGER(struct ids, leaderboard) };
static const struct statement IDS = SELECT(struct ids, ID_COLUMNS,
	"SELECT COALESCE((SELECT id FROM users WHERE name = ?), 0) AS user, COALESCE((SELECT id "
	"FROM leaderboards WHERE name = ?), 0) AS leaderboard");

/* Each statement binds the user's ID and the leaderboard's ID; 0: any. */
static const struct search {
	bool user, leaderboard, hidden;
	struct statement statement;
} SEARCHES[] = {
	{ false, false, false, LATEST("PRIMARY", "0 IN (?) AND 0 IN (?)") },
	{ true, false, false, LATEST("submissions_user", OF_USER " AND 0 IN (?)") },
	{ false, true, false, LATEST("submissions_leaderboard", "0 IN (?) AND " OF_LEADERBOARD) },
	{ true, true, false, LATEST("submissions_history", OF_USER " AND " OF_LEADERBOARD) },
	{ false, false, true,
		LATEST("submissions_hidden", "0 IN (?) AND 0 IN (?) AND s.hidden_at IS NOT NULL") },
	{ true, false, true,
		LATEST("submissions_user", OF_USER " AND 0 IN (?) AND s.hidden_at IS NOT NULL") },
	{ false, true, true,
		LATEST("submissions_leaderboard",
			"0 IN (?) AND " OF_LEADERBOARD " AND s.hidden_at IS NOT NULL") },
	{ true, true, true,
		LATEST(
			"submissions_history", OF_USER " AND " OF_LEADERBOARD " AND s.hidden_at IS NOT NULL") },
};

/* The same for a user's submissions to the leaderboards that the viewer may read all of. */
#define MAY_READ SQL_MAY_READ("l")
#define READABLE(key, condition) \
	SUBMISSIONS("SELECT s.id FROM submissions s FORCE INDEX (" key \
				") JOIN leaderboards l ON l.id = s.leaderboard_id " \
				"WHERE s.id < ? AND " condition " AND " MAY_READ " ORDER BY s.id DESC LIMIT ?")
static const struct statement READABLE_ALL = READABLE("submissions_user", OF_USER),
							  READABLE_HIDDEN = READABLE(
								  "submissions_user", OF_USER " AND s.hidden_at IS NOT NULL"),
							  READABLE_HIDDEN_OF_ALL = READABLE(
								  "submissions_hidden", "0 IN (?) AND s.hidden_at IS NOT NULL");

/* For everybody's submissions to those leaderboards, a statement for each finds its newest IDs, and
 * one statement reads the newest of all. */
struct found {
	int64_t id;
};
static const struct column FOUND_COLUMNS[] = { INTEGER(struct found, id) };
static const struct statement NEWEST = SELECT(struct found, FOUND_COLUMNS,
	"SELECT s.id FROM submissions s FORCE INDEX (submissions_leaderboard) WHERE " OF_LEADERBOARD
	" AND s.id > ? AND s.id < ? ORDER BY s.id DESC LIMIT ?");
static const struct statement THESE = SUBMISSIONS(
	"SELECT asked.id FROM JSON_TABLE(?, '$[*]' COLUMNS (id BIGINT UNSIGNED PATH '$')) asked");

static double number_or_nan(const char *text)
{
	return text && *text ? strtod(text, NULL) : NAN;
}

/* A line is "GPU\tSTATE\tSCORE\tERROR\tPLACE\tHELD"; the last four may be empty. */
static void split_outcomes(struct arena *arena, struct admin_submission *row)
{
	char *rest = arena_strdup(arena, row->outcomes ? row->outcomes : ""), *line;
	row->results = arena_array(arena, struct submission_outcome, strlen(rest) / 2 + 1);
	while ((line = strsep(&rest, "\n"))) {
		const char *gpu = strsep(&line, "\t"), *state = strsep(&line, "\t");
		const char *score = strsep(&line, "\t"), *err = strsep(&line, "\t"),
				   *place = strsep(&line, "\t");
		if (state)
			row->results[row->result_count++] =
				(struct submission_outcome){ gpu, state, number_or_nan(score), number_or_nan(err),
					place ? strtoll(place, NULL, 10) : 0, line && *line };
	}
}

/* ---- search ---- */

/* Whether the names are valid or empty. Any other name matches nothing, and might not fit the ASCII
 * columns. */
static bool can_be_found(const struct submissions_view *view)
{
	return (!*view->user || text_is_user_name(view->user))
		&& (!*view->leaderboard || text_is_leaderboard_name(view->leaderboard));
}

static const struct column SEARCHED_COLUMNS[] = { INTEGER(struct searched_leaderboard, id),
	TEXT(struct searched_leaderboard, name) };
static const struct statement SEARCHED = SELECT(struct searched_leaderboard, SEARCHED_COLUMNS,
	"SELECT l.id, l.name FROM leaderboards l WHERE " SQL_MAY_READ(
		"l") " ORDER BY l.name LIMIT 200");

enum { ANSWER_IDS, ANSWER_SEARCHED };
static const struct statement *const FORM_PARTS[] = { &IDS, &SEARCHED };
static const struct bundle FORM = BUNDLE(FORM_PARTS);

/* Reads the IDs of the names in the form, and the leaderboards that it suggests. */
static int read_search_form(struct request *request, struct submissions_view *view, struct ids *ids)
{
	struct database_answer answers[COUNT(FORM_PARTS)];
	bool is_found = can_be_found(view);
	int rc = database_answers(request->db, request->arena, &FORM, answers, request->error, "ssi",
		is_found ? view->user : "", is_found ? view->leaderboard : "", request->viewer.id);
	if (rc)
		return rc;
	*ids = *(const struct ids *)answers[ANSWER_IDS].rows;
	view->leaderboards = answers[ANSWER_SEARCHED].rows;
	view->leaderboard_count = answers[ANSWER_SEARCHED].count;
	view->may_search |= !*view->leaderboard && view->leaderboard_count;
	return 0;
}

/* Puts the ID into its place among at most submissions_per_page + 1, the newest first. */
static void keep_newest(int64_t *ids, size_t *count, int64_t id)
{
	size_t at = *count;
	if (*count <= submissions_per_page)
		++*count;
	else if (ids[--at] > id)
		return;
	for (; at && ids[at - 1] < id; at--)
		ids[at] = ids[at - 1];
	ids[at] = id;
}

/* Reads the newest submissions to all leaderboards of the form. */
static int read_newest(struct request *request, const struct submissions_view *view, int64_t before,
	struct admin_submission **rows, size_t *count)
{
	int64_t newest[submissions_per_page + 1];
	size_t newest_count = 0;
	for (size_t i = 0; i < view->leaderboard_count; i++) {
		struct found *found;
		size_t found_count;
		const int64_t after =
			newest_count > submissions_per_page ? newest[submissions_per_page] : 0;
		int rc = database_rows(request->db, request->arena, &NEWEST, &found, &found_count,
			request->error, "iiii", view->leaderboards[i].id, after, before,
			(int64_t)submissions_per_page + 1);
		if (rc)
			return rc;
		for (size_t k = 0; k < found_count; k++)
			keep_newest(newest, &newest_count, found[k].id);
	}
	const char *list = "";
	for (size_t i = 0; i < newest_count; i++)
		list = arena_printf(request->arena, "%s%s%lld", list, i ? ", " : "", (long long)newest[i]);
	return database_rows(request->db, request->arena, &THESE, rows, count, request->error, "s",
		arena_printf(request->arena, "[%s]", list));
}

/* Reads what a viewer without all rights may read of all leaderboards. */
static int read_readable(struct request *request, const struct submissions_view *view,
	int64_t user_id, int64_t before, struct admin_submission **rows, size_t *count)
{
	if (!*view->user && !view->hidden)
		return read_newest(request, view, before, rows, count);
	const struct statement *statement = !*view->user ? &READABLE_HIDDEN_OF_ALL
		: view->hidden                               ? &READABLE_HIDDEN
													 : &READABLE_ALL;
	return database_rows(request->db, request->arena, statement, rows, count, request->error,
		"iiii", before, user_id, request->viewer.id, (int64_t)submissions_per_page + 1);
}

static int find_submissions(
	struct request *request, struct submissions_view *view, const struct ids *ids)
{
	struct admin_submission *rows;
	const struct search *search = SEARCHES;
	if (!view->may_search || !can_be_found(view))
		return 0;
	while (search->user != (*view->user != 0) || search->leaderboard != (*view->leaderboard != 0)
		|| search->hidden != view->hidden)
		search++;
	const int64_t before = query_number(request, "before", INT64_MAX);
	int rc = view->is_admin || *view->leaderboard
		? database_rows(request->db, request->arena, &search->statement, &rows, &view->count,
			request->error, "iiii", before, ids->user, ids->leaderboard,
			(int64_t)submissions_per_page + 1)
		: read_readable(request, view, ids->user, before, &rows, &view->count);
	if (rc)
		return rc;
	view->rows = rows;
	for (size_t i = 0; i < view->count; i++)
		split_outcomes(request->arena, &rows[i]);
	if (view->count > submissions_per_page) {
		view->count = submissions_per_page;
		view->before = rows[view->count - 1].id;
	}
	return 0;
}

/* Admins search everywhere; others on the leaderboards that they may read all of. */
static int check_search(struct request *request, struct submissions_view *view)
{
	struct leaderboard leaderboard;
	enum leaderboard_right right = RIGHT_NONE;
	view->is_admin = view->may_search = view->may_moderate = request->viewer.role == ROLE_ADMIN;
	if (view->is_admin || !*view->leaderboard)
		return 0;
	int rc = leaderboard_seen_by(request->db, request->arena, request->viewer.id, view->leaderboard,
		&leaderboard, request->error);
	if (!rc)
		rc = leaderboard_check_right(request->db, request->arena, request->viewer.id, &leaderboard,
			RIGHT_READ, request->error);
	if (!rc)
		rc = leaderboard_right(request->db, request->arena, request->viewer.id, leaderboard.id,
			&right, request->error);
	view->may_search = !rc;
	view->may_moderate = right >= RIGHT_CHANGE;
	return rc;
}

int page_admin_submissions(struct request *request)
{
	struct submissions_view view = {
		.user = request_query_or(request, "user", ""),
		.leaderboard = request_query_or(request, "leaderboard", ""),
		.number = request_query_or(request, "number", ""),
		.hidden = request_query(request, "hidden"),
	};
	int64_t number = query_number(request, "number", 0);
	if (number)
		return redirect(request, "/admin/submission/%lld", (long long)number);
	struct ids ids;
	int rc = check_search(request, &view);
	if (!rc)
		rc = read_search_form(request, &view, &ids);
	if (!rc)
		rc = find_submissions(request, &view, &ids);
	if (rc)
		return rc;
	struct page page = page_make(request, "Submissions", "admin");
	admin_submissions_page(&request->body, &page, &view);
	return 0;
}

/* ---- one submission ---- */

static int check_may_moderate(struct request *request)
{
	return leaderboard_right_to_submission(request->db, request->arena, request->viewer.id,
		path_number(request, 0), RIGHT_CHANGE, request->error);
}

static int show_submission(struct request *request, struct admin_submission_view *view)
{
	struct admin_submission row;
	struct error error = { 0 };
	int rc =
		database_row(request->db, request->arena, &ONE, &row, &error, "i", path_number(request, 0));
	if (rc == ERROR_NOT_FOUND)
		return fail(request->error, rc, "There is no submission with this number.");
	if (rc) {
		*request->error = error;
		return rc;
	}
	split_outcomes(request->arena, &row);
	view->row = &row;
	view->is_admin = request->viewer.role == ROLE_ADMIN;
	view->note = view->note ? view->note : row.note ? row.note : "";
	struct page page = form_page_make(request,
		arena_printf(request->arena, "Submission %lld, for admins", (long long)row.id), "admin");
	admin_submission_page(&request->body, &page, view);
	return 0;
}

int page_admin_submission(struct request *request)
{
	struct admin_submission_view view = { .action = "", .reason = "" };
	int rc = check_may_moderate(request);
	return rc ? rc : show_submission(request, &view);
}

/* Actions that remove a submission from the ranking, with the texts of their confirmation pages.
 * Each of these actions can be undone. */
static const struct removal {
	const char *action, *verb, *purpose, *effect, *back;
} REMOVALS[] = {
	{
		.action = "hide",
		.verb = "Hide",
		.purpose = "",
		.effect = "It leaves the ranking, where its author’s next best takes its place. Only its "
				  "author, the leaderboard’s creators and jury, and admins see its page, source "
				  "and files.",
		.back = "It can be shown and ranked again.",
	},
	{
		.action = "hold",
		.verb = "Hold",
		.purpose = " for review",
		.effect = "What has passed of it leaves the ranking, where its author’s next best takes "
				  "its place, until an admin releases or rejects it.",
		.back = "Releasing it ranks it again.",
	},
	{
		.action = "disqualify",
		.verb = "Disqualify",
		.purpose = "",
		.effect = "It leaves the ranking, where its author’s next best takes its place. Its page "
				  "says that it is disqualified.",
		.back = "It can be ranked again.",
	},
};

static int ask_to_remove(struct request *request, const struct removal *removal, const char *reason)
{
	struct admin_submission row;
	int rc = database_row(
		request->db, request->arena, &ONE, &row, request->error, "i", path_number(request, 0));
	if (rc)
		return rc == ERROR_NOT_FOUND
			? fail(request->error, rc, "There is no submission with this number.")
			: rc;
	struct confirmation question = {
		.title = arena_printf(request->arena, "%s submission %lld%s?", removal->verb,
			(long long)row.id, removal->purpose),
		.section = "admin",
		.button = arena_printf(request->arena, "%s it", removal->verb),
		.back = arena_printf(request->arena, "/admin/submission/%lld", (long long)row.id),
	};
	confirmation_says(
		request, &question, "%s submitted %s to %s.", row.user, row.file_name, row.leaderboard);
	confirmation_says(request, &question, "%s", removal->effect);
	confirmation_says(request, &question, "Its author reads: “%s”", reason);
	confirmation_says(request, &question, "%s", removal->back);
	return confirmation_ask(request, &question);
}

/* If the action is one of REMOVALS and the user has not confirmed it, shows the confirmation page
 * and sets *asked; the caller then returns without acting. */
static int check_removal(struct request *request, const char *action, bool *asked)
{
	const char *reason;
	const struct confirmation any = { 0 };
	for (size_t i = 0; i < COUNT(REMOVALS); i++)
		if (strcmp(REMOVALS[i].action, action) == 0 && !confirmation_given(request, &any)) {
			int rc = review_check_reason(
				request->arena, request_form_or(request, "reason", ""), &reason, request->error);
			*asked = !rc;
			return rc ? rc : ask_to_remove(request, &REMOVALS[i], reason);
		}
	return 0;
}

static void report_submission_action(struct request *request, const char *action)
{
	static const struct {
		const char *action, *sentence;
	} outcomes[] = {
		{ "hide", "The submission is hidden and not ranked. Its author reads your reason." },
		{ "show", "The submission is visible and ranked again." },
		{ "hold", "The results that passed are held until you release or reject them." },
		{ "disqualify", "The submission is disqualified. Its author reads your reason." },
		{ "requalify", "The submission is no longer disqualified." },
		{ "note", "The note was saved." },
	};
	for (size_t i = 0; i < COUNT(outcomes); i++)
		if (strcmp(outcomes[i].action, action) == 0)
			notice_leave(request, "%s", outcomes[i].sentence);
}

static int run_submission_action(struct request *request, const char *action)
{
	const struct actor by = actor_of(request);
	const char *reason = request_form_or(request, "reason", "");
	int64_t id = path_number(request, 0);
	if (strcmp(action, "hide") == 0)
		return submission_hide(request->db, id, reason, &by, request->error);
	if (strcmp(action, "show") == 0)
		return submission_show(request->db, id, &by, request->error);
	if (strcmp(action, "hold") == 0)
		return submission_hold(request->db, id, reason, &by, request->error);
	if (strcmp(action, "disqualify") == 0)
		return exception_disqualify_submission(request->db, id, reason, &by, request->error);
	if (strcmp(action, "requalify") == 0)
		return exception_disqualify_submission(request->db, id, NULL, &by, request->error);
	if (strcmp(action, "note") == 0)
		return submission_admin_note(
			request->db, id, request_form_or(request, "note", ""), &by, request->error);
	return fail(
		request->error, ERROR_INPUT, "This page has no such action; reload it and try again.");
}

int action_admin_submission(struct request *request)
{
	const char *action = request_form_or(request, "action", "");
	struct admin_submission_view view = { .action = action,
		.reason = request_form_or(request, "reason", ""),
		.note = request_form(request, "note") };
	bool asked = false;
	int rc = check_may_moderate(request);
	if (!rc)
		rc = check_removal(request, action, &asked);
	if (asked)
		return rc;
	if (!rc)
		rc = run_submission_action(request, action);
	if (!rc) {
		report_submission_action(request, action);
		return redirect(request, "/admin/submission/%lld", (long long)path_number(request, 0));
	}
	if (rc != ERROR_INPUT)
		return rc;
	request->status = 422;
	view.field = arena_strdup(request->arena, request->error->field);
	view.error = arena_strdup(request->arena, request->error->text);
	return show_submission(request, &view);
}
