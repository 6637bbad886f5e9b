#include "cgi/page/shown_leaderboard.h"

#include "cgi/http/paging.h"
#include "lib/base/format.h"
#include "lib/base/quote.h"
#include "lib/base/scope.h"
#include "lib/base/text.h"
#include "lib/job/job.h"
#include "lib/leaderboard/freeze.h"
#include "lib/leaderboard/visibility.h"
#include "lib/question/question.h"
#include "lib/ranking/ranking.h"

#include <assert.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* One row for each device; a leaderboard without devices has one row with gpu NULL. */
struct shown_row {
	struct shown_leaderboard shown;
	const char *gpu, *engine;
	int64_t gpu_position, entries, is_closed, turn;
	double fastest_ns;
};
/* The columns below give offsets in the embedded structs. These are also offsets in the row,
 * because each embedded struct is the first member. */
static_assert(
	offsetof(struct shown_row, shown) == 0 && offsetof(struct shown_leaderboard, leaderboard) == 0,
	"the row starts with the leaderboard");
static const struct column SHOWN_COLUMNS[] = {
	INTEGER(struct shown_leaderboard, viewer_right),
	LEADERBOARD_MEMBERS,
	TIME(struct shown_leaderboard, version_at_ms),
	INTEGER(struct shown_leaderboard, version_revision),
	INTEGER(struct shown_leaderboard, is_draft),
	INTEGER(struct shown_leaderboard, last_number),
	TEXT(struct shown_leaderboard, contest),
	TEXT(struct shown_leaderboard, contest_title),
	TIME(struct shown_leaderboard, contest_starts_ms),
	TIME(struct shown_leaderboard, contest_ends_ms),
	INTEGER(struct shown_leaderboard, unread_questions),
	INTEGER(struct shown_leaderboard, newest_number),
	TEXT(struct shown_row, gpu),
	INTEGER(struct shown_row, gpu_position),
	INTEGER(struct shown_row, entries),
	REAL(struct shown_row, fastest_ns),
	TEXT(struct shown_row, engine),
	INTEGER(struct shown_row, is_closed),
	INTEGER(struct shown_row, turn),
};
#define SHOWN_FIELDS \
	SQL_LEADERBOARD_FIELDS \
	", v.created_at AS version_at_ms, v.revision AS version_revision, v.draft AS is_draft, " \
	"(SELECT MAX(p.number) FROM task_versions p WHERE p.leaderboard_id = l.id AND NOT p.draft) " \
	"AS last_number, c.name AS contest, c.title AS contest_title, " \
	"c.starts_at AS contest_starts_ms, c.ends_at AS contest_ends_ms, "
#define JOIN_CONTEST \
	"LEFT JOIN contest_problems cp ON cp.leaderboard_id = l.id " \
	"LEFT JOIN contests c ON c.id = cp.contest_id "
#define ENGINE_ON_GPU SQL_ENGINE_OF("v.id", "g.gpu")
#define ENGINE_OF_RANKING SQL_ENGINE_OF("v.id", "r.gpu")
#define FASTEST_ON_GPU SQL_FASTEST_NS("l.id", "l.task_version_id", "g.gpu") " AS fastest_ns, "
#define FASTEST_OF_VERSION SQL_FASTEST_NS("l.id", "v.id", "r.gpu") " AS fastest_ns, "
/* Positions run from 1 without gaps, so the last position is the number of entries. ORDER BY with
 * LIMIT finds it in one step of the index, whereas MAX in a subquery would read all entries of a
 * device.
 *
 * This query runs often, so it is short: C code sorts the few devices, and the query for anonymous
 * visitors has a shorter access check. */
#define BY_NAME(right, questions, may_see) \
	SELECT(struct shown_row, SHOWN_COLUMNS, \
		"SELECT " right " AS viewer_right, " SHOWN_FIELDS questions " AS unread_questions, " \
		"v.number AS newest_number, g.gpu, g.position AS gpu_position, " \
		"  (SELECT r.position FROM ranking r FORCE INDEX (ranking_order) WHERE r.leaderboard_id " \
		"= l.id " \
		"     AND r.task_version_id = l.task_version_id AND r.gpu = g.gpu ORDER BY r.position " \
		"DESC LIMIT 1) AS entries, " FASTEST_ON_GPU ENGINE_ON_GPU " AS engine, " SQL_IS_CLOSED( \
			"l", "g") " AS is_closed, g.turn " \
					  "FROM leaderboards l JOIN task_versions v ON v.id = l.task_version_id " \
					  "LEFT JOIN leaderboard_gpus g ON g.leaderboard_id = l.id " JOIN_CONTEST \
					  "WHERE l.name = ? AND " may_see)
static const struct statement BY_NAME_FOR_NOBODY = BY_NAME("0", "0", SQL_IS_PUBLIC("l")),
							  /* a public leaderboard, for a user without a right on any who is no
                               * contestant, so that there are no news */
	BY_NAME_FOR_PARTICIPANT = BY_NAME("0", SQL_UNSEEN_ANSWERS("l"), SQL_IS_PUBLIC("l")),
							  BY_NAME_FOR_VIEWER = BY_NAME(
								  SQL_RIGHT("l"), SQL_UNREAD_QUESTIONS("l"), SQL_MAY_SEE("l"));

/* Like BY_NAME, for any version. The devices are those on which somebody is ranked in this
 * version. */
#define RIGHT SQL_RIGHT("l")
#define UNREAD SQL_UNREAD_QUESTIONS("l")
static const struct statement BY_VERSION = SELECT(struct shown_row, SHOWN_COLUMNS,
	"SELECT " RIGHT " AS viewer_right, " SHOWN_FIELDS UNREAD " AS unread_questions, "
	"n.number AS newest_number, r.gpu, "
	"  COALESCE(g.position, 4294967295) AS gpu_position, "
	"  (SELECT e.position FROM ranking e WHERE e.leaderboard_id = l.id "
	"AND e.task_version_id = v.id AND e.gpu = r.gpu "
	"    ORDER BY e.position DESC LIMIT 1) AS entries, " FASTEST_OF_VERSION ENGINE_OF_RANKING
	" AS engine, 0 AS is_closed, NULL AS turn "
	"FROM leaderboards l JOIN task_versions n ON n.id = l.task_version_id "
	"JOIN task_versions v ON v.leaderboard_id = l.id AND v.number = ? "
	"LEFT JOIN ranking r ON r.leaderboard_id = l.id AND r.task_version_id = v.id "
	"AND r.position = 1 "
	"LEFT JOIN leaderboard_gpus g ON g.leaderboard_id = l.id AND g.gpu = r.gpu " JOIN_CONTEST
	"WHERE l.name = ? AND " SQL_MAY_SEE("l"));

static int by_gpu_position(const void *left, const void *right)
{
	const struct shown_row *a = left, *b = right;
	return a->gpu_position != b->gpu_position
		? (a->gpu_position > b->gpu_position) - (a->gpu_position < b->gpu_position)
		: strcmp(a->gpu ? a->gpu : "", b->gpu ? b->gpu : "");
}

static void take_shown_rows(
	struct arena *arena, struct shown_leaderboard *shown, struct shown_row *rows, size_t count)
{
	qsort(rows, count, sizeof *rows, by_gpu_position);
	*shown = rows->shown;
	shown->gpus = arena_array(arena, struct ranked_gpu, count);
	shown->gpu_count = 0;
	for (size_t i = 0; i < count; i++)
		if (rows[i].gpu)
			shown->gpus[shown->gpu_count++] = (struct ranked_gpu){ .name = rows[i].gpu,
				.entries = rows[i].entries == SQL_NULL_INTEGER ? 0 : rows[i].entries,
				.fastest_ns = rows[i].fastest_ns,
				.engine = rows[i].engine,
				.is_closed = rows[i].is_closed == 1,
				.turn = rows[i].turn };
}

static int ask_by_name(
	struct request *request, const char *name, struct shown_row **rows, size_t *count)
{
	/* Text that is no valid name needs no query, and might not fit the ASCII column. */
	if (!text_is_leaderboard_name(name))
		return 0;
	if (!request->viewer.id)
		return database_rows(request->db, request->arena, &BY_NAME_FOR_NOBODY, rows, count,
			request->error, "s", name);
	int64_t viewer = request->viewer.id;
	int rc = viewer_is_staff(&request->viewer) || request->viewer.in_contests
		? 0
		: database_rows(request->db, request->arena, &BY_NAME_FOR_PARTICIPANT, rows, count,
			request->error, "is", viewer, name);
	return rc || *count ? rc
						: database_rows(request->db, request->arena, &BY_NAME_FOR_VIEWER, rows,
							count, request->error, "iiisi", viewer, viewer, viewer, name, viewer);
}

static int take_named_rows(struct request *request, const char *name,
	struct shown_leaderboard *shown, struct shown_row *rows, size_t count)
{
	if (!count)
		return fail(request->error, ERROR_NOT_FOUND, "There is no leaderboard named %s.",
			quote(request->arena, name));
	take_shown_rows(request->arena, shown, rows, count);
	return 0;
}

int shown_leaderboard_by_name(
	struct request *request, const char *name, struct shown_leaderboard *shown)
{
	struct shown_row *rows = NULL;
	size_t count = 0;
	int rc = ask_by_name(request, name, &rows, &count);
	return rc ? rc : take_named_rows(request, name, shown, rows, count);
}

static int no_such_version(struct request *request, const char *name, const char *version)
{
	struct shown_leaderboard shown;
	int rc = shown_leaderboard_by_name(request, name, &shown);
	return rc ? rc
			  : fail(request->error, ERROR_NOT_FOUND,
				  "The task of %s has no version %s; the newest is %lld.", shown.leaderboard.name,
				  quote(request->arena, version), (long long)shown.newest_number);
}

static int shown_leaderboard_by_version(
	struct request *request, const char *name, const char *version, struct shown_leaderboard *shown)
{
	struct shown_row *rows = NULL;
	size_t count = 0;
	int64_t number = query_number(request, "version", 0), viewer = request->viewer.id;
	int rc = number && number <= UINT32_MAX && text_is_leaderboard_name(name)
		? database_rows(request->db, request->arena, &BY_VERSION, &rows, &count, request->error,
			"iiiisi", viewer, viewer, viewer, number, name, viewer)
		: 0;
	if (rc)
		return rc;
	if (!count)
		return no_such_version(request, name, version);
	if (rows->shown.leaderboard.version_number == rows->shown.newest_number)
		return shown_leaderboard_by_name(request, name, shown);
	take_shown_rows(request->arena, shown, rows, count);
	return shown->is_draft && shown->viewer_right < RIGHT_READ
		? no_such_version(request, name, version)
		: 0;
}

int shown_leaderboard_of_request(struct request *request, struct shown_leaderboard *shown)
{
	const char *name = request->path_parameters[0], *version = request_query(request, "version");
	return version && *version ? shown_leaderboard_by_version(request, name, version, shown)
							   : shown_leaderboard_by_name(request, name, shown);
}

static const struct statement *const WITH_QUOTAS_PARTS[] = { &BY_NAME_FOR_VIEWER, &quotas_reading };
static const struct bundle WITH_QUOTAS = BUNDLE(WITH_QUOTAS_PARTS);

int shown_leaderboard_with_quotas(struct request *request, struct shown_leaderboard *shown,
	struct quota quotas[static quota_modes])
{
	const char *name = request->path_parameters[0], *version = request_query(request, "version");
	struct database_answer answers[COUNT(WITH_QUOTAS_PARTS)] = { 0 };
	int64_t viewer = request->viewer.id;
	int rc;
	if (version && *version) {
		rc = shown_leaderboard_by_version(request, name, version, shown);
		return rc ? rc
				  : quotas_of_leaderboard(
					  request->db, request->arena, shown->leaderboard.id, quotas, request->error);
	}
	rc = text_is_leaderboard_name(name)
		? database_answers(request->db, request->arena, &WITH_QUOTAS, answers, request->error,
			"iiisis", viewer, viewer, viewer, name, viewer, name)
		: 0;
	if (!rc)
		rc = take_named_rows(request, name, shown, answers[0].rows, answers[0].count);
	if (!rc)
		quotas_read(&answers[1], quotas);
	return rc;
}

bool shows_old_version(const struct shown_leaderboard *shown)
{
	return shown->leaderboard.version_number != shown->newest_number;
}

struct id_row {
	int64_t id;
};
static_assert(sizeof(struct id_row) == sizeof(int64_t), "the rows are an array of IDs");
static const struct column ID_COLUMNS[] = { INTEGER(struct id_row, id) };
static const struct statement SEEN = SELECT(struct id_row, ID_COLUMNS,
	"SELECT l.id FROM leaderboards l WHERE l.visibility <> 'public' AND " SQL_MAY_SEE("l"));

int seen_leaderboards_read(struct request *request, struct seen_leaderboards *seen)
{
	*seen = (struct seen_leaderboards){ 0 };
	return request->viewer.id ? database_rows(request->db, request->arena, &SEEN, &seen->ids,
			   &seen->count, request->error, "i", request->viewer.id)
							  : 0;
}

bool seen_leaderboards_have(const struct seen_leaderboards *seen, int64_t id)
{
	for (size_t i = 0; i < seen->count; i++)
		if (seen->ids[i] == id)
			return true;
	return false;
}

static int unknown_gpu(
	struct request *request, const struct shown_leaderboard *shown, const char *wanted)
{
	cleanup_buffer struct buffer names = { 0 };
	for (size_t i = 0; i < shown->gpu_count; i++)
		buffer_printf(&names, "%s%s", i ? ", " : "", shown->gpus[i].name);
	if (shows_old_version(shown))
		return fail(request->error, ERROR_NOT_FOUND,
			"Version %lld of %s has no ranking on %s. It has: %s.",
			(long long)shown->leaderboard.version_number, shown->leaderboard.name,
			quote(request->arena, wanted), shown->gpu_count ? names.data : "none");
	return fail(request->error, ERROR_NOT_FOUND,
		"The leaderboard %s has no GPU named %s. It has: %s.", shown->leaderboard.name,
		quote(request->arena, wanted), shown->gpu_count ? names.data : "none yet");
}

int ranked_gpu_named(struct request *request, const struct shown_leaderboard *shown,
	const char *name, const struct ranked_gpu **gpu)
{
	for (size_t i = 0; i < shown->gpu_count; i++) {
		*gpu = &shown->gpus[i];
		if (strcmp(shown->gpus[i].name, name) == 0)
			return 0;
	}
	return unknown_gpu(request, shown, name);
}

int ranked_gpu_of_request(
	struct request *request, const struct shown_leaderboard *shown, const struct ranked_gpu **gpu)
{
	const char *wanted = request_query(request, "gpu");
	*gpu = shown->gpu_count ? &shown->gpus[0] : NULL;
	return wanted && *wanted ? ranked_gpu_named(request, shown, wanted, gpu) : 0;
}

bool judges_contest_of(const struct shown_leaderboard *shown, int64_t now_ms)
{
	return shown->contest && shown->contest_ends_ms > now_ms && shown->viewer_right == RIGHT_READ;
}

bool board_is_frozen(const struct shown_leaderboard *shown, int64_t now_ms)
{
	return freeze_stands(shown->leaderboard.frozen_at_ms, now_ms);
}

const char *leaderboard_state(const struct leaderboard *leaderboard, int64_t now_ms)
{
	return leaderboard_state_of(leaderboard->deadline_ms, leaderboard->accepting,
		leaderboard->practice, leaderboard->archived_at_ms, now_ms);
}

const char *leaderboard_state_of(int64_t deadline_ms, int64_t accepting, int64_t practice,
	int64_t archived_at_ms, int64_t now_ms)
{
	bool has_ended = deadline_ms != TIME_NULL && deadline_ms <= now_ms;
	if (archived_at_ms != TIME_NULL)
		return "archived";
	if (has_ended)
		return practice && accepting ? "practice" : "ended";
	return accepting ? "active" : "closed";
}

const char *language_title(const char *language)
{
	return strcmp(language, "cu") == 0 ? "CUDA C++" : "Python";
}
