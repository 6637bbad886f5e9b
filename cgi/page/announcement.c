#include "cgi/page/announcement.h"
#include "cgi/http/notice.h"

#include "cgi/http/confirmation.h"
#include "cgi/http/thread_cache.h"
#include "cgi/page/pages.h"
#include "lib/account/audit.h"
#include "lib/base/clock.h"
#include "lib/base/format.h"
#include "lib/base/scope.h"
#include "lib/base/text.h"
#include "lib/leaderboard/leaderboard.h"
#include "lib/leaderboard/visibility.h"
#include "lib/ranking/overtaking.h"
#include "templates/admin_announcements.h"

#include <stdlib.h>
#include <string.h>

enum { most_shown = 5, most_listed = 100, most_bytes = 1000 };

static const struct column ANNOUNCEMENT_COLUMNS[] = {
	INTEGER(struct announcement, id),
	TIME(struct announcement, from_ms),
	TIME(struct announcement, until_ms),
	TEXT(struct announcement, text),
	TEXT(struct announcement, leaderboard),
	TEXT(struct announcement, made_by),
};
/* Only admins announce on the whole site, where `l` is no row. */
#define SQL_ANNOUNCES(viewer, leaderboard) "(" SQL_RIGHT_OF(viewer, leaderboard) " >= 2) "
#define ANNOUNCEMENTS \
	"SELECT a.id, a.from_at AS from_ms, a.until_at AS until_ms, a.text, l.name AS leaderboard, " \
	"a.made_by " \
	"FROM announcements a LEFT JOIN leaderboards l ON l.id = a.leaderboard_id " \
	"JOIN users viewer ON viewer.id = ? AND " SQL_ANNOUNCES("viewer", "l")
static const struct column SHOWN_COLUMNS[] = {
	INTEGER(struct announcement, leaderboard_id),
	TIME(struct announcement, from_ms),
	TIME(struct announcement, until_ms),
	TEXT(struct announcement, text),
};
static const struct statement SHOWN = SELECT(struct announcement, SHOWN_COLUMNS,
	"SELECT leaderboard_id, from_at AS from_ms, until_at AS until_ms, text FROM announcements "
	"WHERE COALESCE(until_at > UTC_TIMESTAMP(3), TRUE) ORDER BY from_at DESC, id DESC");
static const struct statement LISTED = SELECT(struct announcement, ANNOUNCEMENT_COLUMNS,
	ANNOUNCEMENTS "ORDER BY COALESCE(a.until_at <= UTC_TIMESTAMP(3), 0), a.id DESC LIMIT ?");
static const struct statement ONE =
	SELECT(struct announcement, ANNOUNCEMENT_COLUMNS, ANNOUNCEMENTS "WHERE a.id = ?");
static const struct column NAME_COLUMNS[] = { TEXT(struct announced_leaderboard, name) };
static const struct statement LEADERBOARDS = SELECT(struct announced_leaderboard, NAME_COLUMNS,
	"SELECT l.name FROM leaderboards l JOIN users viewer ON viewer.id = ? AND " SQL_ANNOUNCES(
		"viewer", "l") "ORDER BY l.name");

/* ---- the cache of a thread ---- */

/* The cache holds all current and future announcements, so most pages read announcements without a
 * query. */
enum { kept_ms = 1000 };
struct cached_announcements {
	struct arena *arena;
	struct announcement *rows;
	size_t count;
	int64_t read_at_ms;
};

static void free_cached_announcements(void *value)
{
	struct cached_announcements *cached = value;
	arena_free(cached->arena);
	free(cached);
}

static struct thread_cache cache =
	THREAD_CACHE(sizeof(struct cached_announcements), free_cached_announcements);

static int refresh_cached_announcements(
	struct request *request, struct cached_announcements *cached)
{
	struct arena *arena = arena_new();
	struct announcement *rows;
	size_t count;
	int64_t asked_at_ms = clock_ms();
	int rc = database_rows(request->db, arena, &SHOWN, &rows, &count, request->error, "");
	if (rc) {
		arena_free(arena);
		return rc;
	}
	arena_free(cached->arena);
	*cached = (struct cached_announcements){ arena, rows, count, asked_at_ms };
	return 0;
}

static bool announcement_is_shown(
	const struct announcement *announcement, int64_t leaderboard_id, int64_t at_ms)
{
	bool is_meant = announcement->leaderboard_id == SQL_NULL_INTEGER
		|| announcement->leaderboard_id == leaderboard_id;
	return is_meant && announcement->from_ms <= at_ms
		&& (announcement->until_ms == TIME_NULL || announcement->until_ms > at_ms);
}

int announcements_read(struct request *request, int64_t leaderboard_id, struct page *page)
{
	struct cached_announcements *cached = thread_cache_get(&cache);
	int rc = cached && (!cached->arena || !thread_cache_is_fresh(cached->read_at_ms, kept_ms))
		? refresh_cached_announcements(request, cached)
		: 0;
	if (rc || !cached)
		return rc;
	struct announcement *shown = arena_array(request->arena, struct announcement, most_shown);
	for (size_t i = 0; i < cached->count && page->announcement_count < most_shown; i++)
		if (announcement_is_shown(&cached->rows[i], leaderboard_id, page->now_ms)) {
			shown[page->announcement_count] = cached->rows[i];
			shown[page->announcement_count++].text =
				arena_strdup(request->arena, cached->rows[i].text);
		}
	page->announcements = shown;
	return 0;
}

/* ---- the page of admins and of those who run a leaderboard ---- */

static int show_announcements(struct request *request, struct announcements_view *view)
{
	struct announcement *rows;
	struct announced_leaderboard *leaderboards;
	struct error error = { 0 };
	int rc = database_rows(request->db, request->arena, &LISTED, &rows, &view->count, &error, "ii",
		request->viewer.id, (int64_t)most_listed);
	if (!rc)
		rc = database_rows(request->db, request->arena, &LEADERBOARDS, &leaderboards,
			&view->leaderboard_count, &error, "i", request->viewer.id);
	if (rc) {
		*request->error = error;
		return rc;
	}
	view->rows = rows;
	view->leaderboards = leaderboards;
	struct page page = form_page_make(request, "Announcements", "admin");
	admin_announcements_page(&request->body, &page, view);
	return 0;
}

int page_admin_announcements(struct request *request)
{
	struct announcements_view view = { .leaderboard = request_query_or(request, "leaderboard", ""),
		.text = "",
		.from = "",
		.until = "" };
	return show_announcements(request, &view);
}

/* ---- creating one ---- */

static const struct statement PUT =
	COMMAND("INSERT INTO announcements (leaderboard_id, text, from_at, until_at, made_by) "
			"VALUES (?, ?, COALESCE(?, UTC_TIMESTAMP(3)), ?, ?)");

struct making {
	struct request *request;
	const struct announcements_view *view;
	int64_t leaderboard_id, from_ms, until_ms, id;
};

static int store_announcement(struct database *db, void *context, struct error *error)
{
	struct making *making = context;
	const struct viewer *viewer = &making->request->viewer;
	const char *leaderboard = making->view->leaderboard;
	int rc = database_execute(db, &PUT, error, "istts", making->leaderboard_id, making->view->text,
		making->from_ms, making->until_ms, viewer->name);
	making->id = (int64_t)database_insert_id(db);
	return rc ? rc
			  : audit(db, viewer->id, viewer->name, making->request->address, "announcement.make",
				  *leaderboard ? leaderboard : "the whole site", making->view->text, error);
}

static int read_time(struct request *request, const char *name, const char *text, int64_t *time_ms)
{
	*time_ms = TIME_NULL;
	return !*text || !parse_utc(text, time_ms)
		? 0
		: fail_field(request->error, name,
			"Type a date and time as 2026-11-21 06:10, in UTC, or leave the field empty.");
}

struct answered_leaderboard {
	int64_t id;
};
static const struct column ANSWERED_COLUMNS[] = { INTEGER(struct answered_leaderboard, id) };
static const struct statement ANSWERED_LEADERBOARD =
	SELECT(struct answered_leaderboard, ANSWERED_COLUMNS,
		"SELECT l.id FROM leaderboards l JOIN users viewer ON viewer.id = ? AND " SQL_ANNOUNCES(
			"viewer", "l") "WHERE l.name = ?");

static int find_announcement_leaderboard(struct request *request, struct making *making)
{
	const char *name = making->view->leaderboard;
	struct answered_leaderboard leaderboard;
	making->leaderboard_id = SQL_NULL_INTEGER;
	if (!*name)
		return request->viewer.role == ROLE_ADMIN
			? 0
			: fail_field(request->error, "leaderboard",
				"Choose one of your leaderboards. Only admins announce on the whole site.");
	int rc = text_is_leaderboard_name(name)
		? database_row(request->db, request->arena, &ANSWERED_LEADERBOARD, &leaderboard,
			request->error, "is", request->viewer.id, name)
		: ERROR_NOT_FOUND;
	making->leaderboard_id = rc ? SQL_NULL_INTEGER : leaderboard.id;
	return rc == ERROR_NOT_FOUND
		? fail_field(request->error, "leaderboard", "There is no such leaderboard.")
		: rc;
}

static int check_text(struct request *request, struct making *making)
{
	const char *text = making->view->text;
	size_t length = strlen(text);
	if (!text[strspn(text, " \t\r\n")])
		return fail_field(request->error, "text", "Write the announcement.");
	if (length > most_bytes)
		return fail_field(request->error, "text", "The text is %zu bytes long. %d are allowed.",
			length, most_bytes);
	return 0;
}

static int read_begin(struct request *request, struct making *making)
{
	return read_time(request, "from", making->view->from, &making->from_ms);
}

static int read_end(struct request *request, struct making *making)
{
	int rc = read_time(request, "until", making->view->until, &making->until_ms);
	return !rc && making->until_ms != TIME_NULL
			&& (making->until_ms <= making->from_ms || making->until_ms <= now_ms())
		? fail_field(request->error, "until",
			"The announcement would end before anybody sees it. Choose a later time.")
		: rc;
}

/* The checks of an announcement, in the order of the form. */
typedef int announcement_check(struct request *request, struct making *making);
static announcement_check *const CHECKS[] = { check_text, find_announcement_leaderboard, read_begin,
	read_end };

int announcement_make(struct request *request, const struct announcements_view *view, int64_t *id)
{
	struct making making = { .request = request, .view = view };
	int rc = 0;
	for (size_t i = 0; i < COUNT(CHECKS) && !rc; i++)
		rc = CHECKS[i](request, &making);
	if (!rc)
		rc = database_transaction(request->db, store_announcement, &making, request->error);
	*id = making.id;
	return rc;
}

/* Like announcement_make, for the form, which shows all errors together. */
static int make_from_form(struct request *request, const struct announcements_view *view)
{
	struct making making = { .request = request, .view = view };
	int rc = 0;
	for (size_t i = 0; i < COUNT(CHECKS) && !rc; i++)
		rc = form_note(request, CHECKS[i](request, &making));
	if (!rc)
		rc = form_noted(request);
	return rc ? rc : database_transaction(request->db, store_announcement, &making, request->error);
}

int announcement_find(struct request *request, int64_t id, struct announcement *one)
{
	int rc = database_row(
		request->db, request->arena, &ONE, one, request->error, "ii", request->viewer.id, id);
	return rc == ERROR_NOT_FOUND ? fail(request->error, rc, "There is no such announcement.") : rc;
}

int announcements_list(struct request *request, struct announcement **rows, size_t *count)
{
	return database_rows(request->db, request->arena, &LISTED, rows, count, request->error, "ii",
		request->viewer.id, (int64_t)most_listed);
}

/* ---- ending one ---- */

static const struct statement END =
	COMMAND("UPDATE announcements SET until_at = UTC_TIMESTAMP(3) WHERE id = ? "
			"AND COALESCE(until_at > UTC_TIMESTAMP(3), TRUE)");

struct announcement_ending {
	struct request *request;
	int64_t id;
};

static int end_body(struct database *db, void *context, struct error *error)
{
	const struct announcement_ending *ending = context;
	struct request *request = ending->request;
	struct announcement one;
	int64_t id = ending->id;
	int rc = database_row(db, request->arena, &ONE, &one, error, "ii", request->viewer.id, id);
	if (rc == ERROR_NOT_FOUND)
		return fail(error, rc, "There is no such announcement.");
	if (!rc)
		rc = database_execute(db, &END, error, "i", id);
	if (!rc && !database_affected(db))
		rc = fail(error, ERROR_CONFLICT, "This announcement has ended already.");
	return rc
		? rc
		: audit(db, request->viewer.id, request->viewer.name, request->address, "announcement.end",
			one.leaderboard ? one.leaderboard : "the whole site", one.text, error);
}

int announcement_end(struct request *request, int64_t id)
{
	struct announcement_ending ending = { request, id };
	return database_transaction(request->db, end_body, &ending, request->error);
}

/* Ends an announcement, after a confirmation by a button. Typing a word is not necessary, because
 * an admin can create the announcement again. */
static int end_one(struct request *request, bool *asked)
{
	struct announcement one;
	struct confirmation question = { .title = "End this announcement?",
		.section = "admin",
		.button = "End it now",
		.back = "/admin/announcements" };
	int64_t id = strtoll(request_form_or(request, "id", ""), NULL, 10);
	if (confirmation_given(request, &question))
		return announcement_end(request, id);
	int rc = announcement_find(request, id, &one);
	if (rc)
		return rc;
	*asked = true;
	confirmation_says(request, &question, "“%s”", one.text);
	confirmation_says(request, &question,
		"Podium shows it no longer on %s. You cannot undo this, but you can create another "
		"announcement.",
		one.leaderboard ? one.leaderboard : "the front page and on leaderboards");
	return confirmation_ask(request, &question);
}

int action_admin_announcement(struct request *request)
{
	struct announcements_view view = {
		.leaderboard = request_form_or(request, "leaderboard", ""),
		.text = request_form_or(request, "text", ""),
		.from = request_form_or(request, "from", ""),
		.until = request_form_or(request, "until", ""),
	};
	const char *action = request_form_or(request, "action", "");
	bool asked = false;
	int rc;
	if (strcmp(action, "make") == 0)
		rc = make_from_form(request, &view);
	else if (strcmp(action, "end") == 0)
		rc = end_one(request, &asked);
	else
		rc = fail(
			request->error, ERROR_INPUT, "This page has no such action; reload it and try again.");
	if (asked)
		return rc;
	if (!rc) {
		notice_leave(request,
			strcmp(action, "end") == 0 ? "The announcement has ended."
									   : "The announcement was created.");
		return redirect(request, "/admin/announcements");
	}
	if (rc != ERROR_INPUT)
		return rc;
	request->status = 422;
	view.text_error = form_error(request, "text");
	view.leaderboard_error = form_error(request, "leaderboard");
	view.from_error = form_error(request, "from");
	view.until_error = form_error(request, "until");
	return show_announcements(request, &view);
}

/* ---- "you were overtaken", at the top of every page (templates/layout.html) ---- */

int action_overtaken(struct request *request)
{
	const char *gpu = request_form_or(request, "gpu", "");
	int rc = !text_is_ascii(gpu)
		? 0
		: overtaking_dismiss(request->db, request->viewer.id,
			atoll(request_form_or(request, "leaderboard", "0")), gpu, request->error);
	return rc ? rc : redirect(request, "%s", own_path(request_form(request, "next")));
}
