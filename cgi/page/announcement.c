#include "cgi/page/announcement.h"
#include "cgi/http/notice.h"

#include "cgi/http/confirmation.h"
#include "cgi/http/thread_cache.h"
#include "cgi/page/pages.h"
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

enum { most_shown = 5, most_listed = 100 };

static const struct column ANNOUNCEMENT_COLUMNS[] = { ANNOUNCEMENT_MEMBERS };
/* Only admins announce on the whole site, where `l` is no row. */
#define SQL_ANNOUNCES(viewer, leaderboard) "(" SQL_RIGHT_OF(viewer, leaderboard) " >= 2) "
#define ANNOUNCEMENTS \
	"SELECT " SQL_ANNOUNCEMENT_FIELDS \
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

struct making {
	struct request *request;
	const struct announcements_view *view;
	struct announcement_order order;
};

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
	making->order.leaderboard_id = SQL_NULL_INTEGER;
	if (!*name)
		return request->viewer.role == ROLE_ADMIN
			? 0
			: fail_field(request->error, "leaderboard",
				"Choose one of your leaderboards. Only admins announce on the whole site.");
	int rc = text_is_leaderboard_name(name)
		? database_row(request->db, request->arena, &ANSWERED_LEADERBOARD, &leaderboard,
			request->error, "is", request->viewer.id, name)
		: ERROR_NOT_FOUND;
	if (!rc) {
		making->order.leaderboard_id = leaderboard.id;
		making->order.leaderboard = name;
	}
	return rc == ERROR_NOT_FOUND
		? fail_field(request->error, "leaderboard", "There is no such leaderboard.")
		: rc;
}

static int check_text(struct request *request, struct making *making)
{
	making->order.text = making->view->text;
	return announcement_check_text(making->order.text, request->error);
}

static int read_begin(struct request *request, struct making *making)
{
	return announcement_parse_time(
		"from", making->view->from, &making->order.from_ms, request->error);
}

static int read_end(struct request *request, struct making *making)
{
	int rc = announcement_parse_time(
		"until", making->view->until, &making->order.until_ms, request->error);
	return rc ? rc : announcement_check_end(&making->order, request->error);
}

/* The checks of an announcement, in the order of the form. */
typedef int announcement_check(struct request *request, struct making *making);
static announcement_check *const CHECKS[] = { check_text, find_announcement_leaderboard, read_begin,
	read_end };

static int store_announcement(struct making *making, int64_t *id)
{
	struct request *request = making->request;
	struct actor actor = actor_of(request);
	making->order.by = &actor;
	return announcement_store(request->db, &making->order, id, request->error);
}

int announcement_make(struct request *request, const struct announcements_view *view, int64_t *id)
{
	struct making making = { .request = request, .view = view };
	int rc = 0;
	for (size_t i = 0; i < COUNT(CHECKS) && !rc; i++)
		rc = CHECKS[i](request, &making);
	return rc ? rc : store_announcement(&making, id);
}

/* Like announcement_make, for the form, which shows all errors together. */
static int make_from_form(struct request *request, const struct announcements_view *view)
{
	struct making making = { .request = request, .view = view };
	int64_t id;
	int rc = 0;
	for (size_t i = 0; i < COUNT(CHECKS) && !rc; i++)
		rc = form_note(request, CHECKS[i](request, &making));
	if (!rc)
		rc = form_noted(request);
	return rc ? rc : store_announcement(&making, &id);
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

int announcement_end(struct request *request, int64_t id)
{
	struct actor actor = actor_of(request);
	struct announcement one;
	int rc = announcement_find(request, id, &one);
	return rc ? rc : announcement_stop(request->db, &one, &actor, request->error);
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
