/* The viewer's submissions, to one leaderboard or to all. */
#include "cgi/page/history.h"

#include "cgi/http/paging.h"
#include "cgi/http/session.h"
#include "cgi/page/pages.h"
#include "cgi/render/html.h"
#include "lib/base/format.h"
#include "lib/base/quote.h"
#include "lib/base/scope.h"
#include "lib/base/text.h"
#include "lib/intake/submission.h"
#include "lib/job/job.h"
#include "lib/leaderboard/leaderboard.h"
#include "lib/leaderboard/quota.h"
#include "lib/leaderboard/visibility.h"
#include "lib/result/verdict.h"
#include "templates/history.h"

#include <stdlib.h>
#include <string.h>

enum { submissions_per_page = 50, reload_s = 5 };

static const struct column JOB_COLUMNS[] = {
	INTEGER(struct history_job, submission_id),
	TEXT(struct history_job, file_name),
	TEXT(struct history_job, mode),
	TEXT(struct history_job, leaderboard),
	TEXT(struct history_job, note),
	TEXT(struct history_job, author),
	TEXT(struct history_job, sender),
	INTEGER(struct history_job, withdrawn),
	TIME(struct history_job, submitted_at_ms),
	INTEGER(struct history_job, version_number),
	INTEGER(struct history_job, current_version),
	TEXT(struct history_job, gpu),
	TEXT(struct history_job, state),
	TEXT(struct history_job, verdict),
	TEXT(struct history_job, progress),
	REAL(struct history_job, score_ns),
	REAL(struct history_job, score_err_ns),
	INTEGER(struct history_job, is_held),
	INTEGER(struct history_job, place),
	INTEGER(struct history_job, is_tie),
};
#define JOB_IS_HELD SQL_IS_HELD("j")
#define WANTED_IS_HELD SQL_IS_HELD("w")
/* Selects the submissions of one page in the order of the index `index`, whose last column is the
 * one in `order`. A submission appears, with all its jobs, if at least one job matches the filter.
 *
 * The query names its index and avoids EXISTS. Otherwise MariaDB sorts all submissions of the user
 * or reads every job first: 40,000 rows instead of 150 for a user with 20,000 submissions. */
#define FROM_PAGE(owners, index, where, from_here, order) \
	"FROM (SELECT o.id, o.leaderboard_id, o.task_version_id, o.user_id, o.file_name, o.mode, " \
	"o.note, o.withdrawn_at, o.submitted_at, o.submitted_by " \
	"FROM " owners "submissions o FORCE INDEX (" index ") " \
	"WHERE " where " AND " from_here " AND ? IN ('', o.mode) AND NOT o.dry_run " \
	"AND (? = '' OR (SELECT 1 FROM jobs w WHERE w.submission_id = o.id AND ? IN ('', w.gpu) " \
	"AND ? IN ('', w.state, w.verdict, IF(" WANTED_IS_HELD ", 'held', '')) LIMIT 1) = 1) " \
	"ORDER BY " order " LIMIT ?) s "
#define SENDER SQL_SUBMITTED_BY("s")
#define JOB_FIELDS \
	"s.id AS submission_id, s.file_name, s.mode, l.name AS leaderboard, s.note, " \
	"a.name AS author, " SENDER " AS sender, " \
	"s.withdrawn_at IS NOT NULL AS withdrawn, s.submitted_at AS submitted_at_ms, " \
	"v.number AS version_number, v.id = l.task_version_id AS current_version, " \
	"j.gpu, j.state, j.verdict, j.progress, j.score_ns, j.score_err_ns, " JOB_IS_HELD \
	" AS is_held, r.place, r.tied AS is_tie "
#define WITH_JOBS \
	"JOIN leaderboards l ON l.id = s.leaderboard_id JOIN users a ON a.id = s.user_id " \
	"JOIN task_versions v ON v.id = s.task_version_id " \
	"LEFT JOIN jobs j ON j.submission_id = s.id " \
	"LEFT JOIN leaderboard_gpus g ON g.leaderboard_id = s.leaderboard_id AND g.gpu = j.gpu " \
	"LEFT JOIN ranking r ON r.leaderboard_id = s.leaderboard_id " \
	"AND r.task_version_id = s.task_version_id AND r.gpu = j.gpu " \
	"AND r.user_id = s.user_id AND r.job_id = j.id "
#define JOBS_OF_OWNERS(owners, index, where, from_here, order, order_of_jobs) \
	SELECT(struct history_job, JOB_COLUMNS, \
		"SELECT " JOB_FIELDS FROM_PAGE(owners, index, where, from_here, order) WITH_JOBS \
		"ORDER BY " order_of_jobs ", COALESCE(g.position, 999), j.gpu")
#define JOBS_IN_ORDER(index, where, from_here, order, order_of_jobs) \
	JOBS_OF_OWNERS("", index, where, from_here, order, order_of_jobs)
/* A member of teams, who is bound twice, and the teams. MariaDB sorts all their submissions. */
#define MEMBER_AND_TEAMS \
	"(SELECT ? AS id UNION SELECT team_id FROM team_members WHERE user_id = ?) own STRAIGHT_JOIN "
#define OF_MEMBER "o.user_id = own.id AND " SHOWN_ALL
#define SHOWN_ALL \
	"(SELECT 1 FROM leaderboards n WHERE n.id = o.leaderboard_id AND ? IN ('', " \
	"n.name) AND " SQL_MAY_SEE("n") ") = 1"
#define OF_ALL "o.user_id = ? AND " SHOWN_ALL
/* Selects the submissions to one leaderboard. Binds the leaderboard's ID as text, where OF_ALL
 * binds its name. If a subquery looked up the ID, MariaDB would not read the submissions in the
 * index's order of time. */
#define OF_ONE \
	"o.user_id = ? AND o.leaderboard_id = CAST(? AS UNSIGNED) AND (SELECT 1 FROM leaderboards n " \
	"WHERE n.id = o.leaderboard_id AND " SQL_MAY_SEE("n") ") = 1"

/* The order of a page. The next page continues below the last submission's ID. If the filter has a
 * period, it continues below the last submission's time and, for equal times, ID. */
#define BY_NUMBER(s) s ".id DESC"
#define BY_TIME(s) s ".submitted_at DESC, " s ".id DESC"
#define WITHIN \
	"o.submitted_at >= ? AND o.submitted_at < ? AND o.submitted_at <= ? AND (o.submitted_at < ? " \
	"OR o.id < ?)"
static const struct statement JOBS =
	JOBS_IN_ORDER("submissions_user", OF_ALL, "o.id < ?", BY_NUMBER("o"), BY_NUMBER("s"));
static const struct statement JOBS_OF_MEMBER = JOBS_OF_OWNERS(
	MEMBER_AND_TEAMS, "submissions_user", OF_MEMBER, "o.id < ?", BY_NUMBER("o"), BY_NUMBER("s"));
static const struct statement JOBS_OF_MEMBER_WITHIN = JOBS_OF_OWNERS(
	MEMBER_AND_TEAMS, "submissions_user_time", OF_MEMBER, WITHIN, BY_TIME("o"), BY_TIME("s"));
static const struct statement JOBS_OF_LEADERBOARD =
	JOBS_IN_ORDER("submissions_history", OF_ONE, "o.id < ?", BY_NUMBER("o"), BY_NUMBER("s"));
static const struct statement JOBS_WITHIN =
	JOBS_IN_ORDER("submissions_user_time", OF_ALL, WITHIN, BY_TIME("o"), BY_TIME("s"));
static const struct statement JOBS_OF_LEADERBOARD_WITHIN =
	JOBS_IN_ORDER("submissions_history_time", OF_ONE, WITHIN, BY_TIME("o"), BY_TIME("s"));

#define MAY_SEE_LEADERBOARD SQL_MAY_SEE("l")
/* The leaderboards to which the owner has submitted, with a row for each device. */
struct choice_row {
	int64_t leaderboard_id;
	const char *leaderboard, *gpu;
};
static const struct column CHOICE_COLUMNS[] = {
	INTEGER(struct choice_row, leaderboard_id),
	TEXT(struct choice_row, leaderboard),
	TEXT(struct choice_row, gpu),
};
static const struct statement CHOICES = SELECT(struct choice_row, CHOICE_COLUMNS,
	"SELECT STRAIGHT_JOIN l.id AS leaderboard_id, l.name AS leaderboard, g.gpu "
	"FROM leaderboards l LEFT JOIN leaderboard_gpus g ON g.leaderboard_id = l.id "
	"WHERE EXISTS (SELECT 1 FROM submissions s FORCE INDEX (submissions_history) "
	"WHERE s.user_id = ? AND s.leaderboard_id = l.id AND NOT s.dry_run) AND " MAY_SEE_LEADERBOARD
	" ORDER BY l.name, g.gpu");

#define SUBMITTED \
	SQL_HAS_OWN("me.id", "submissions", "s", "s.leaderboard_id = l.id AND NOT s.dry_run")
static const struct statement CHOICES_OF_MEMBER = SELECT(struct choice_row, CHOICE_COLUMNS,
	"SELECT l.id AS leaderboard_id, l.name AS leaderboard, g.gpu FROM users me JOIN leaderboards l "
	"LEFT JOIN leaderboard_gpus g ON g.leaderboard_id = l.id WHERE me.id = ? AND " SUBMITTED
	" AND " MAY_SEE_LEADERBOARD " ORDER BY l.name, g.gpu");

static const struct column RANK_COLUMNS[] = {
	TEXT(struct history_rank, gpu),
	INTEGER(struct history_rank, place),
	INTEGER(struct history_rank, is_tie),
	INTEGER(struct history_rank, entries),
	REAL(struct history_rank, score_ns),
	REAL(struct history_rank, score_err_ns),
	INTEGER(struct history_rank, submission_id),
};
static const struct statement RANKS = SELECT(struct history_rank, RANK_COLUMNS,
	"SELECT g.gpu, r.place, r.tied AS is_tie, "
	"(SELECT e.position FROM ranking e WHERE e.leaderboard_id = l.id "
	"AND e.task_version_id = l.task_version_id AND e.gpu = g.gpu "
	"ORDER BY e.position DESC LIMIT 1) AS entries, "
	"r.score_ns, r.score_err_ns, r.submission_id "
	"FROM leaderboards l JOIN leaderboard_gpus g ON g.leaderboard_id = l.id "
	"LEFT JOIN ranking r ON r.leaderboard_id = l.id AND r.task_version_id = l.task_version_id "
	"AND r.gpu = g.gpu AND r.user_id = ? "
	"WHERE l.id = ? ORDER BY g.position, g.gpu");

size_t history_group(struct arena *arena, const struct history_job *rows, size_t count,
	struct history_submission **submissions)
{
	*submissions = arena_array(arena, struct history_submission, count + 1);
	size_t groups = 0;
	for (size_t i = 0; i < count; i++) {
		bool begins = !i || rows[i].submission_id != rows[i - 1].submission_id;
		if (begins)
			(*submissions)[groups++].jobs = &rows[i];
		(*submissions)[groups - 1].job_count++;
	}
	return groups;
}

bool history_shows_ranks(const struct history_view *view)
{
	bool is_ranked = false;
	for (size_t i = 0; i < view->rank_count; i++)
		is_ranked |= view->ranks[i].place != SQL_NULL_INTEGER;
	return is_ranked && view->is_first && !view->filter.is_set;
}

/* ---- the filters ---- */

const char *history_result(size_t index)
{
	static const char *const others[] = { "queued", "running", "held" };
	return index < COUNT(others)
		? others[index]
		: verdict_name((enum verdict)(index - COUNT(others) + VERDICT_PASSED));
}

static bool is_result(const char *text)
{
	for (size_t i = 0; history_result(i); i++)
		if (strcmp(history_result(i), text) == 0)
			return true;
	return false;
}

bool history_is_mode(const char *text)
{
	for (size_t i = 0; quota_mode(i); i++)
		if (strcmp(quota_mode(i), text) == 0)
			return true;
	return false;
}

static bool is_name(const char *text)
{
	return text_is_leaderboard_name(text);
}

/* Parses the value of a date field as 00:00 UTC of that day. */
static bool parse_day(const char *text, int64_t *ms)
{
	return strlen(text) == strlen("2026-11-21") && parse_utc(text, ms) == 0;
}

static bool is_day(const char *text)
{
	int64_t ms;
	return parse_day(text, &ms);
}

static const struct filter_field {
	const char *name;
	size_t offset;
	bool (*is_good)(const char *text);
	const char *what;
} FIELDS[] = {
	{ "leaderboard", offsetof(struct history_filter, leaderboard), is_name,
		"the name of a leaderboard" },
	{ "gpu", offsetof(struct history_filter, gpu), gpu_is_name, "the name of a device" },
	{ "mode", offsetof(struct history_filter, mode), history_is_mode, "a mode" },
	{ "result", offsetof(struct history_filter, result), is_result, "a verdict or state" },
	{ "from", offsetof(struct history_filter, from), is_day, "a day, like 2026-11-21" },
	{ "to", offsetof(struct history_filter, to), is_day, "a day, like 2026-11-21" },
	{ "team", offsetof(struct history_filter, team), text_is_user_name, "the name of a team" },
};

static const char **field_of(struct history_filter *filter, const struct filter_field *field)
{
	return (const char **)((char *)filter + field->offset);
}

static int read_history_filter(struct request *request, struct history_filter *filter)
{
	enum { day_ms = 24 * 3600 * 1000 };
	for (size_t i = 0; i < COUNT(FIELDS); i++) {
		const char *text = request_query(request, FIELDS[i].name);
		*field_of(filter, &FIELDS[i]) = text ? text : "";
		if (text && *text && !FIELDS[i].is_good(text))
			return fail(request->error, ERROR_INPUT, "In the address, %s is not %s, but %s is.",
				quote(request->arena, text), FIELDS[i].what, FIELDS[i].name);
		/* The team says whose submissions, not which of them. */
		filter->is_set = filter->is_set || (text && *text && strcmp(FIELDS[i].name, "team") != 0);
	}
	filter->from_ms = 0;
	filter->until_ms =
		INT64_C(253402300799000); /* end of the year 9999, the last time in the database */
	if (*filter->from)
		parse_day(filter->from, &filter->from_ms);
	if (*filter->to && parse_day(filter->to, &filter->until_ms))
		filter->until_ms += day_ms;
	return 0;
}

static bool has_period(const struct history_filter *filter)
{
	return *filter->from || *filter->to;
}

/* Returns the address, with the filters, of the page that begins after `last`. NULL: of the first
 * page. */
static const char *page_address(
	struct request *request, struct history_view *view, const struct history_job *last)
{
	cleanup_buffer struct buffer out = { 0 };
	const char *between = "?";
	buffer_text(&out, view->path);
	for (size_t i = 0; i < COUNT(FIELDS); i++) {
		const char *value = *field_of(&view->filter, &FIELDS[i]);
		if (!*value)
			continue;
		buffer_printf(&out, "%s%s=", between, FIELDS[i].name);
		html_url_part(&out, value);
		between = "&";
	}
	if (last)
		buffer_printf(&out, "%sbefore=%lld", between, (long long)last->submission_id);
	if (last && has_period(&view->filter))
		buffer_printf(&out, "&at=%lld", (long long)last->submitted_at_ms);
	return arena_strdup(request->arena, buffer_string(&out));
}

/* ---- reading ---- */

enum { ANSWER_JOBS, ANSWER_CHOICES, ANSWER_RANKS };
#define PARTS(jobs) PARTS_WITH(jobs, CHOICES)
#define PARTS_WITH(jobs, choices) \
	{ \
		[ANSWER_JOBS] = &jobs, [ANSWER_CHOICES] = &choices, [ANSWER_RANKS] = &RANKS \
	}
static const struct statement *const
	ALL[] = PARTS(JOBS),
	*const OF_LEADERBOARD[] = PARTS(JOBS_OF_LEADERBOARD), *const WITHIN_ALL[] = PARTS(JOBS_WITHIN),
	*const WITHIN_LEADERBOARD[] = PARTS(JOBS_OF_LEADERBOARD_WITHIN),
	*const OF_MEMBER_ALL[] = PARTS_WITH(JOBS_OF_MEMBER, CHOICES_OF_MEMBER),
	*const OF_MEMBER_WITHIN[] = PARTS_WITH(JOBS_OF_MEMBER_WITHIN, CHOICES_OF_MEMBER);
static const struct bundle PAGES[] = { BUNDLE(ALL), BUNDLE(OF_LEADERBOARD) },
						   PAGES_WITHIN[] = { BUNDLE(WITHIN_ALL), BUNDLE(WITHIN_LEADERBOARD) },
						   PAGE_OF_MEMBER = BUNDLE(OF_MEMBER_ALL),
						   PAGE_OF_MEMBER_WITHIN = BUNDLE(OF_MEMBER_WITHIN);

/* Finds whose submissions the filter wants. Without a team, leaves *owner_id. */
static int find_owner(
	struct request *request, const struct history_filter *filter, int64_t *owner_id)
{
	struct team team;
	if (!filter->team || !*filter->team)
		return 0;
	int rc = team_by_name(request->db, request->arena, filter->team, &team, request->error);
	if (!rc && !viewer_acts_for(&request->viewer, team.id))
		rc = fail(request->error, ERROR_FORBIDDEN, "You are no member of the team %s.", team.name);
	if (!rc)
		*owner_id = team.id;
	return rc;
}

/* Reads the page's rows, the choices for the filters, and the viewer's ranks. On the page for all
 * leaderboards, binds leaderboard 0, so there are no ranks. */
static int read_answers(struct request *request, const struct history_view *view, int64_t before,
	struct database_answer *answers)
{
	const struct history_filter *filter = &view->filter;
	int64_t viewer = request->viewer.id, owner = view->owner_id,
			leaderboard_id = view->shown ? view->shown->leaderboard.id : 0,
			most = submissions_per_page + 1;
	const char *name = view->shown ? arena_printf(request->arena, "%lld", (long long)leaderboard_id)
								   : filter->leaderboard;
	const char *one_job = *filter->gpu ? filter->gpu : filter->result;
	if (!has_period(filter) && view->has_teams)
		return database_answers(request->db, request->arena, &PAGE_OF_MEMBER, answers,
			request->error,
			"iisiissssi"
			"ii"
			"ii",
			owner, owner, name, viewer, before, filter->mode, one_job, filter->gpu, filter->result,
			most, owner, viewer, owner, leaderboard_id);
	if (!has_period(filter))
		return database_answers(request->db, request->arena, &PAGES[view->shown != NULL], answers,
			request->error,
			"isiissssi"
			"ii"
			"ii",
			owner, name, viewer, before, filter->mode, one_job, filter->gpu, filter->result, most,
			owner, viewer, owner, leaderboard_id);
	int64_t at_ms = query_number(request, "at", filter->until_ms);
	at_ms = at_ms < filter->until_ms ? at_ms : filter->until_ms;
	if (view->has_teams)
		return database_answers(request->db, request->arena, &PAGE_OF_MEMBER_WITHIN, answers,
			request->error,
			"iisittttissssi"
			"ii"
			"ii",
			owner, owner, name, viewer, filter->from_ms, filter->until_ms, at_ms, at_ms, before,
			filter->mode, one_job, filter->gpu, filter->result, most, owner, viewer, owner,
			leaderboard_id);
	return database_answers(request->db, request->arena, &PAGES_WITHIN[view->shown != NULL],
		answers, request->error,
		"isittttissssi"
		"ii"
		"ii",
		owner, name, viewer, filter->from_ms, filter->until_ms, at_ms, at_ms, before, filter->mode,
		one_job, filter->gpu, filter->result, most, owner, viewer, owner, leaderboard_id);
}

int history_read(struct request *request, const struct history_filter *filter, int64_t before,
	int64_t most, struct history_submission **submissions, size_t *count)
{
	struct history_job *rows;
	size_t row_count;
	const char *one_job = *filter->gpu ? filter->gpu : filter->result;
	int64_t viewer = request->viewer.id, owner = viewer;
	int rc = find_owner(request, filter, &owner);
	if (rc)
		return rc;
	rc = database_rows(request->db, request->arena, &JOBS, &rows, &row_count, request->error,
		"isiissssi", owner, filter->leaderboard, viewer, before, filter->mode, one_job, filter->gpu,
		filter->result, most);
	*count = rc ? 0 : history_group(request->arena, rows, row_count, submissions);
	return rc;
}

/* Adds the chosen device to the choices if it is missing, so that the form shows the filter that
 * applies. */
static void keep_choice(struct arena *arena, struct history_view *view)
{
	const char *gpu = view->filter.gpu;
	for (size_t i = 0; i < view->choice_count; i++)
		if (strcmp(view->choices[i].kind, "gpu") == 0 && strcmp(view->choices[i].name, gpu) == 0)
			return;
	struct history_choice *choices =
		arena_array(arena, struct history_choice, view->choice_count + 1);
	for (size_t i = 0; i < view->choice_count; i++)
		choices[i] = view->choices[i];
	choices[view->choice_count++] = (struct history_choice){ .kind = "gpu", .name = gpu };
	view->choices = choices;
}

static int by_name(const void *left, const void *right)
{
	const struct history_choice *a = left, *b = right;
	return strcmp(a->name, b->name);
}

static void add_choice(
	struct history_view *view, struct history_choice *choices, const char *kind, const char *name)
{
	for (size_t i = 0; i < view->choice_count; i++)
		if (strcmp(choices[i].kind, kind) == 0 && strcmp(choices[i].name, name) == 0)
			return;
	choices[view->choice_count++] = (struct history_choice){ .kind = kind, .name = name };
}

/* The choices of the filter: devices, then leaderboards. On the page of a leaderboard, or if the
 * filter names one, only its devices. The rows are sorted by leaderboard. */
static void take_choices(
	struct arena *arena, const struct choice_row *rows, size_t count, struct history_view *view)
{
	struct history_choice *choices = arena_array(arena, struct history_choice, 2 * count + 1);
	for (size_t i = 0; i < count; i++) {
		bool is_meant = view->shown ? rows[i].leaderboard_id == view->shown->leaderboard.id
									: !*view->filter.leaderboard
				|| strcmp(view->filter.leaderboard, rows[i].leaderboard) == 0;
		if (rows[i].gpu && is_meant)
			add_choice(view, choices, "gpu", rows[i].gpu);
	}
	qsort(choices, view->choice_count, sizeof *choices, by_name);
	for (size_t i = 0; i < count; i++)
		add_choice(view, choices, "leaderboard", rows[i].leaderboard);
	view->choices = choices;
}

static int read_history(struct request *request, struct history_view *view)
{
	int64_t before = query_number(request, "before", INT64_MAX);
	struct database_answer answers[COUNT(ALL)];
	int rc = read_answers(request, view, before, answers);
	if (rc)
		return rc;
	view->is_first = before == INT64_MAX;
	view->count = history_group(
		request->arena, answers[ANSWER_JOBS].rows, answers[ANSWER_JOBS].count, &view->submissions);
	view->newest = page_address(request, view, NULL);
	if (view->count > submissions_per_page) {
		view->count = submissions_per_page;
		view->older = page_address(request, view, view->submissions[view->count - 1].jobs);
	}
	take_choices(request->arena, answers[ANSWER_CHOICES].rows, answers[ANSWER_CHOICES].count, view);
	if (*view->filter.gpu)
		keep_choice(request->arena, view);
	view->ranks = answers[ANSWER_RANKS].rows, view->rank_count = answers[ANSWER_RANKS].count;
	return 0;
}

static bool has_open_jobs(const struct history_view *view)
{
	for (size_t i = 0; i < view->count; i++)
		for (size_t j = 0; j < view->submissions[i].job_count; j++) {
			const char *state = view->submissions[i].jobs[j].state;
			if (state && (strcmp(state, "queued") == 0 || strcmp(state, "running") == 0))
				return true;
		}
	return false;
}

static void take_teams(const struct viewer *viewer, struct history_view *view)
{
	view->teams = viewer->teams;
	view->team_count = viewer->team_count;
	for (size_t i = 0; i < view->team_count; i++)
		if (viewer->teams[i].id == view->owner_id)
			view->team = viewer->teams[i].name;
	view->has_teams = !view->shown && view->team_count && !view->team;
}

static int show_history(struct request *request, struct history_view *view, const char *title)
{
	int rc = read_history_filter(request, &view->filter);
	view->owner_id =
		view->shown ? viewer_author_on(request, view->shown->leaderboard.id) : request->viewer.id;
	if (!rc)
		rc = find_owner(request, &view->filter, &view->owner_id);
	take_teams(&request->viewer, view);
	if (!rc)
		rc = read_history(request, view);
	if (rc)
		return rc;
	struct page page = page_make(request, title, view->shown ? "leaderboards" : "mine");
	view->state = view->shown ? leaderboard_state(&view->shown->leaderboard, page.now_ms) : "";
	page.refresh_s = has_open_jobs(view) ? reload_s : 0;
	history_page(&request->body, &page, view);
	return 0;
}

int page_history(struct request *request)
{
	struct shown_leaderboard shown;
	struct history_view view = { .shown = &shown };
	int rc = shown_leaderboard_by_name(request, request->path_parameters[0], &shown);
	if (rc)
		return rc;
	view.path = arena_printf(request->arena, "/leaderboard/%s/mine", shown.leaderboard.name);
	return show_history(request, &view,
		arena_printf(request->arena, "My submissions to %s", shown.leaderboard.name));
}

int page_history_of_all(struct request *request)
{
	struct history_view view = { .path = "/mine" };
	return show_history(request, &view, "My submissions");
}
