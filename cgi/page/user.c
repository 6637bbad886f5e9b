/* A user's public page. */
#include "cgi/page/user.h"

#include "cgi/page/pages.h"
#include "cgi/page/shown_leaderboard.h"
#include "lib/base/format.h"
#include "lib/base/quote.h"
#include "lib/base/scope.h"
#include "lib/base/text.h"
#include "lib/leaderboard/visibility.h"
#include "lib/ranking/records.h"
#include "templates/user.h"

#include <string.h>

enum { most_places = 500 };

/* One row for each place; a user without places has one row without a place. */
struct user_row {
	int64_t id, created_at_ms, deleted_at_ms;
	const char *name, *kind;
	struct user_place place;
};
#define PLACE(kind, member) \
	{ \
#member, kind, offsetof(struct user_row, place.member) \
	}
static const struct column USER_COLUMNS[] = {
	INTEGER(struct user_row, id),
	TEXT(struct user_row, name),
	TEXT(struct user_row, kind),
	TIME(struct user_row, created_at_ms),
	TIME(struct user_row, deleted_at_ms),
	PLACE(COLUMN_INTEGER, leaderboard_id),
	PLACE(COLUMN_TEXT, leaderboard),
	PLACE(COLUMN_TEXT, gpu),
	PLACE(COLUMN_TIME, deadline_ms),
	PLACE(COLUMN_INTEGER, accepting),
	PLACE(COLUMN_INTEGER, practice),
	PLACE(COLUMN_TIME, archived_at_ms),
	PLACE(COLUMN_INTEGER, place),
	PLACE(COLUMN_INTEGER, is_tie),
	PLACE(COLUMN_INTEGER, entries),
	PLACE(COLUMN_REAL, score_ns),
	PLACE(COLUMN_REAL, score_err_ns),
	PLACE(COLUMN_INTEGER, submission_id),
	PLACE(COLUMN_TIME, submitted_at_ms),
	PLACE(COLUMN_INTEGER, is_record),
};
#define RECORDS_OF_PLACE SQL_IS_RECORD("h", "r.leaderboard_id", "r.task_version_id", "r.gpu")
#define RECORD_ORDER SQL_RECORD_ORDER("h")
#define MAY_SEE_LEADERBOARD SQL_MAY_SEE("l")
/* Reads only places that the leaderboards' pages show, too: places in the current version of the
 * task, on devices that the leaderboard still has. */
static const struct statement USER = SELECT(struct user_row, USER_COLUMNS,
	"SELECT u.id, u.name, u.kind, u.created_at AS created_at_ms, u.deleted_at AS deleted_at_ms, "
	"l.id AS leaderboard_id, l.name AS leaderboard, r.gpu, "
	"  l.deadline AS deadline_ms, l.accepting, l.practice, l.archived_at AS archived_at_ms, "
	"  r.place, r.tied AS is_tie, (SELECT e.position FROM ranking e "
	"WHERE e.leaderboard_id = r.leaderboard_id "
	"    AND e.task_version_id = r.task_version_id AND e.gpu = r.gpu "
	"ORDER BY e.position DESC LIMIT 1) AS entries, "
	"  r.score_ns, r.score_err_ns, r.submission_id, r.submitted_at AS submitted_at_ms, "
	"  (SELECT h.user_id FROM records h WHERE " RECORDS_OF_PLACE " ORDER BY " RECORD_ORDER
	" LIMIT 1) <=> u.id AS is_record "
	"FROM users u LEFT JOIN (ranking r JOIN leaderboards l ON l.id = r.leaderboard_id "
	"AND l.task_version_id = r.task_version_id "
	"    AND " MAY_SEE_LEADERBOARD " "
	"  JOIN leaderboard_gpus g ON g.leaderboard_id = l.id AND g.gpu = r.gpu) "
	"ON r.user_id = u.id "
	"WHERE u.name = ? ORDER BY r.submitted_at DESC, l.name, g.position LIMIT ?");

static const struct column DAY_COLUMNS[] = { TIME(struct activity_day, day_ms),
	INTEGER(struct activity_day, submissions) };
static const struct statement DAYS = SELECT(struct activity_day, DAY_COLUMNS,
	"SELECT CAST(d.day AS DATETIME) AS day_ms, d.submissions FROM users u "
	"JOIN user_days d ON d.user_id = u.id "
	"WHERE u.name = ? AND d.day > UTC_DATE() - INTERVAL 1 YEAR - INTERVAL 1 WEEK");

static const struct statement *const PAGE_PARTS[] = { &USER, &DAYS };
static const struct bundle PAGE = BUNDLE(PAGE_PARTS);

static void count_places(struct user_view *view)
{
	for (size_t i = 0; i < view->count; i++) {
		bool again = false;
		for (size_t k = 0; k < i && !again; k++)
			again = view->places[k].leaderboard_id == view->places[i].leaderboard_id;
		view->leaderboards += !again;
		int64_t place = view->places[i].place;
		if (place >= 1 && place <= user_medals)
			view->medals[place - 1]++;
		view->records += view->places[i].is_record == 1;
	}
}

static void take_places(
	struct arena *arena, const struct user_row *rows, size_t count, struct user_view *view)
{
	struct user_place *places = arena_array(arena, struct user_place, count);
	*view = (struct user_view){ .id = rows->id,
		.name = rows->name,
		.created_at_ms = rows->created_at_ms,
		.deleted_at_ms = rows->deleted_at_ms,
		.places = places };
	for (size_t i = 0; i < count; i++)
		if (rows[i].place.leaderboard)
			places[view->count++] = rows[i].place;
	count_places(view);
}

static int read_team(struct request *request, struct user_view *view)
{
	struct team *team = arena_alloc(request->arena, sizeof *team);
	int rc = team_by_id(request->db, request->arena, view->id, team, request->error);
	view->team = rc ? NULL : team;
	return rc;
}

int user_read(struct request *request, const char *name, struct user_view *view)
{
	struct database_answer answers[COUNT(PAGE_PARTS)] = { 0 };
	/* Text that is no valid name needs no query, and might not fit the ASCII column. */
	int rc = text_is_user_name(name) ? database_answers(request->db, request->arena, &PAGE, answers,
				 request->error, "isis", request->viewer.id, name, (int64_t)most_places, name)
									 : 0;
	if (rc)
		return rc;
	if (!answers[0].count)
		return fail(request->error, ERROR_NOT_FOUND, "There is no user named %s.",
			quote(request->arena, name));
	take_places(request->arena, answers[0].rows, answers[0].count, view);
	view->activity = activity_make(answers[1].rows, answers[1].count, now_ms());
	const struct user_row *row = answers[0].rows;
	return strcmp(row->kind, "team") == 0 ? read_team(request, view) : 0;
}

void user_group_places(struct arena *arena, struct user_view *view)
{
	struct user_place *grouped = arena_array(arena, struct user_place, view->count + 1);
	size_t count = 0;
	for (size_t i = 0; i < view->count; i++)
		for (size_t k = i, id = (size_t)view->places[i].leaderboard_id; id && k < view->count; k++)
			if (view->places[k].leaderboard_id == (int64_t)id) {
				grouped[count++] = view->places[k];
				view->places[k].leaderboard_id = 0; /* taken */
			}
	view->places = grouped;
}

int page_user(struct request *request)
{
	struct user_view view;
	int rc = user_read(request, request->path_parameters[0], &view);
	if (rc)
		return rc;
	struct page page = page_make(request, view.name, "");
	user_group_places(request->arena, &view);
	user_page(&request->body, &page, &view, request->arena);
	request->may_be_cached = true;
	return 0;
}
