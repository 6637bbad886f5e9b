#include "cgi/page/board.h"

#include "cgi/http/paging.h"
#include "lib/base/quote.h"
#include "lib/base/scope.h"
#include "lib/base/text.h"
#include "lib/leaderboard/visibility.h"

#include <stdlib.h>
#include <string.h>

struct board_row {
	int64_t id, creator_id, task_version_id, version_number, version_at_ms, version_revision,
		newest_number, deadline_ms, accepting, gpu_position, entries, practice, frozen_at_ms,
		archived_at_ms, last_number, draft, sources_public;
	const char *name, *language, *gpu, *visibility;
};
static const struct column BOARD_COLUMNS[] = {
	INTEGER(struct board_row, id),
	INTEGER(struct board_row, creator_id),
	TEXT(struct board_row, name),
	TEXT(struct board_row, language),
	INTEGER(struct board_row, task_version_id),
	INTEGER(struct board_row, version_number),
	TIME(struct board_row, version_at_ms),
	INTEGER(struct board_row, version_revision),
	INTEGER(struct board_row, newest_number),
	TIME(struct board_row, deadline_ms),
	INTEGER(struct board_row, accepting),
	TEXT(struct board_row, gpu),
	INTEGER(struct board_row, gpu_position),
	INTEGER(struct board_row, entries),
	TEXT(struct board_row, visibility),
	INTEGER(struct board_row, practice),
	TIME(struct board_row, frozen_at_ms),
	TIME(struct board_row, archived_at_ms),
	INTEGER(struct board_row, sources_public),
	INTEGER(struct board_row, last_number),
	INTEGER(struct board_row, draft),
};
#define PUBLISHING_FIELDS \
	"l.visibility, l.practice, l.frozen_at AS frozen_at_ms, l.archived_at AS archived_at_ms, " \
	"l.sources_public_after_deadline AS sources_public, " \
	"(SELECT MAX(p.number) FROM task_versions p WHERE p.leaderboard_id = l.id AND NOT p.draft) " \
	"AS last_number, v.draft"
/* Positions run from 1 without gaps, so the last one is the number of entries. ORDER BY with
 * LIMIT takes one step in the index; MAX in a subquery per device would read all entries.
 *
 * The program sorts the few devices, because each further part of the query costs more than its
 * rows. The query for anonymous visitors has one part less. */
#define BOARD_BY_NAME(may_see) \
	SELECT(struct board_row, BOARD_COLUMNS, \
		"SELECT l.id, l.creator_id, l.name, v.language, l.task_version_id, v.number AS " \
		"version_number, " \
		"  v.created_at AS version_at_ms, v.revision AS version_revision, v.number AS " \
		"newest_number, l.deadline AS deadline_ms, " \
		"  l.accepting, g.gpu, g.position AS gpu_position, " \
		"  (SELECT r.position FROM ranking r FORCE INDEX (ranking_order) WHERE r.leaderboard_id " \
		"= l.id " \
		"     AND r.task_version_id = l.task_version_id AND r.gpu = g.gpu ORDER BY r.position " \
		"DESC LIMIT 1) AS entries, " PUBLISHING_FIELDS " " \
		"FROM leaderboards l JOIN task_versions v ON v.id = l.task_version_id " \
		"LEFT JOIN leaderboard_gpus g ON g.leaderboard_id = l.id " \
		"WHERE l.name = ? AND " may_see)
static const struct statement BOARD_FOR_NOBODY = BOARD_BY_NAME(SQL_IS_PUBLIC("l")),
							  BOARD_FOR_VIEWER = BOARD_BY_NAME(SQL_MAY_SEE("l"));

/* Like BOARD_BY_NAME, for a version that may be out of date. Its devices are those with a first
 * row in the ranking. */
static const struct statement BOARD_BY_VERSION = SELECT(struct board_row, BOARD_COLUMNS,
	"SELECT l.id, l.creator_id, l.name, v.language, v.id AS task_version_id, "
	"v.number AS version_number, "
	"  v.created_at AS version_at_ms, v.revision AS version_revision, n.number AS newest_number, "
	"l.deadline AS deadline_ms,   l.accepting, r.gpu, COALESCE(g.position, 4294967295) AS "
	"gpu_position, "
	"  (SELECT e.position FROM ranking e WHERE e.leaderboard_id = l.id "
	"AND e.task_version_id = v.id AND e.gpu = r.gpu "
	"    ORDER BY e.position DESC LIMIT 1) AS entries, " PUBLISHING_FIELDS " "
	"FROM leaderboards l JOIN task_versions n ON n.id = l.task_version_id "
	"JOIN task_versions v ON v.leaderboard_id = l.id AND v.number = ? "
	"LEFT JOIN ranking r ON r.leaderboard_id = l.id AND r.task_version_id = v.id "
	"AND r.position = 1 "
	"LEFT JOIN leaderboard_gpus g ON g.leaderboard_id = l.id AND g.gpu = r.gpu "
	"WHERE l.name = ? AND " SQL_MAY_SEE("l"));

static int by_gpu_position(const void *left, const void *right)
{
	const struct board_row *a = left, *b = right;
	return a->gpu_position != b->gpu_position
		? (a->gpu_position > b->gpu_position) - (a->gpu_position < b->gpu_position)
		: strcmp(a->gpu ? a->gpu : "", b->gpu ? b->gpu : "");
}

static void fill_board(
	struct arena *arena, struct board *board, struct board_row *rows, size_t count)
{
	qsort(rows, count, sizeof *rows, by_gpu_position);
	*board = (struct board){
		.id = rows->id,
		.creator_id = rows->creator_id,
		.name = rows->name,
		.language = rows->language,
		.task_version_id = rows->task_version_id,
		.version_number = rows->version_number,
		.version_at_ms = rows->version_at_ms,
		.version_revision = rows->version_revision,
		.newest_number = rows->newest_number,
		.deadline_ms = rows->deadline_ms,
		.accepting = rows->accepting,
		.visibility = rows->visibility,
		.practice = rows->practice,
		.frozen_at_ms = rows->frozen_at_ms,
		.archived_at_ms = rows->archived_at_ms,
		.last_number = rows->last_number,
		.is_draft = rows->draft,
		.sources_public = rows->sources_public,
		.gpus = arena_array(arena, struct board_gpu, count),
	};
	for (size_t i = 0; i < count; i++)
		if (rows[i].gpu)
			board->gpus[board->gpu_count++] = (struct board_gpu){ rows[i].gpu,
				rows[i].entries == SQL_NULL_INTEGER ? 0 : rows[i].entries };
}

static int ask_for_board(
	struct request *request, const char *name, struct board_row **rows, size_t *count)
{
	/* The column is ASCII; a text that is no valid name needs no query. */
	if (!text_is_leaderboard_name(name))
		return 0;
	if (!request->viewer.id)
		return database_rows(
			request->db, request->arena, &BOARD_FOR_NOBODY, rows, count, request->error, "s", name);
	return database_rows(request->db, request->arena, &BOARD_FOR_VIEWER, rows, count,
		request->error, "si", name, request->viewer.id);
}

static int take_board(struct request *request, const char *name, struct board *board,
	struct board_row *rows, size_t count)
{
	if (!count)
		return fail(request->error, ERROR_NOT_FOUND, "There is no leaderboard named %s.",
			quote(request->arena, name));
	fill_board(request->arena, board, rows, count);
	return 0;
}

int board_by_name(struct request *request, const char *name, struct board *board)
{
	struct board_row *rows = NULL;
	size_t count = 0;
	int rc = ask_for_board(request, name, &rows, &count);
	return rc ? rc : take_board(request, name, board, rows, count);
}

static int no_such_version(struct request *request, const char *name, const char *version)
{
	struct board board;
	int rc = board_by_name(request, name, &board);
	return rc ? rc
			  : fail(request->error, ERROR_NOT_FOUND,
				  "The task of %s has no version %s; the newest is %lld.", board.name,
				  quote(request->arena, version), (long long)board.newest_number);
}

static int board_by_version(
	struct request *request, const char *name, const char *version, struct board *board)
{
	struct board_row *rows = NULL;
	size_t count = 0;
	int64_t number = query_number(request, "version", 0);
	int rc = number && number <= UINT32_MAX && text_is_leaderboard_name(name)
		? database_rows(request->db, request->arena, &BOARD_BY_VERSION, &rows, &count,
			request->error, "isi", number, name, request->viewer.id)
		: 0;
	if (rc)
		return rc;
	if (!count)
		return no_such_version(request, name, version);
	if (rows->version_number == rows->newest_number)
		return board_by_name(request, name, board);
	fill_board(request->arena, board, rows, count);
	return rows->draft && !board_is_managed_by(board, &request->viewer)
		? no_such_version(request, name, version)
		: 0;
}

int board_of_request(struct request *request, struct board *board)
{
	const char *name = request->path_parameters[0], *version = request_query(request, "version");
	return version && *version ? board_by_version(request, name, version, board)
							   : board_by_name(request, name, board);
}

static const struct statement *const WITH_QUOTAS_PARTS[] = { &BOARD_FOR_VIEWER, &quotas_reading };
static const struct bundle WITH_QUOTAS = BUNDLE(WITH_QUOTAS_PARTS);

int board_with_quotas(
	struct request *request, struct board *board, struct quota quotas[static quota_modes])
{
	const char *name = request->path_parameters[0], *version = request_query(request, "version");
	struct database_answer answers[COUNT(WITH_QUOTAS_PARTS)] = { 0 };
	int rc;
	if (version && *version) {
		rc = board_by_version(request, name, version, board);
		return rc
			? rc
			: quotas_of_leaderboard(request->db, request->arena, board->id, quotas, request->error);
	}
	rc = text_is_leaderboard_name(name) ? database_answers(request->db, request->arena,
			 &WITH_QUOTAS, answers, request->error, "sis", name, request->viewer.id, name)
										: 0;
	if (!rc)
		rc = take_board(request, name, board, answers[0].rows, answers[0].count);
	if (!rc)
		quotas_read(&answers[1], quotas);
	return rc;
}

bool board_is_old(const struct board *board)
{
	return board->version_number != board->newest_number;
}

static int unknown_gpu(struct request *request, const struct board *board, const char *wanted)
{
	cleanup_buffer struct buffer names = { 0 };
	for (size_t i = 0; i < board->gpu_count; i++)
		buffer_printf(&names, "%s%s", i ? ", " : "", board->gpus[i].name);
	if (board_is_old(board))
		return fail(request->error, ERROR_NOT_FOUND,
			"Version %lld of %s has no ranking on %s. It has: %s.",
			(long long)board->version_number, board->name, quote(request->arena, wanted),
			board->gpu_count ? names.data : "none");
	return fail(request->error, ERROR_NOT_FOUND,
		"The leaderboard %s has no GPU named %s. It has: %s.", board->name,
		quote(request->arena, wanted), board->gpu_count ? names.data : "none yet");
}

int board_chosen_gpu(
	struct request *request, const struct board *board, const struct board_gpu **gpu)
{
	const char *wanted = request_query(request, "gpu");
	*gpu = board->gpu_count ? &board->gpus[0] : NULL;
	if (!wanted || !*wanted)
		return 0;
	for (size_t i = 0; i < board->gpu_count; i++) {
		*gpu = &board->gpus[i];
		if (strcmp(board->gpus[i].name, wanted) == 0)
			return 0;
	}
	return unknown_gpu(request, board, wanted);
}

const char *board_state(int64_t deadline_ms, int64_t accepting, int64_t now_ms)
{
	if (deadline_ms != TIME_NULL && deadline_ms <= now_ms)
		return "ended";
	return accepting ? "active" : "closed";
}

const char *board_condition(const struct board *board, int64_t now_ms)
{
	return board_condition_of(
		board->deadline_ms, board->accepting, board->practice, board->archived_at_ms, now_ms);
}

const char *board_condition_of(int64_t deadline_ms, int64_t accepting, int64_t practice,
	int64_t archived_at_ms, int64_t now_ms)
{
	const char *state = board_state(deadline_ms, accepting, now_ms);
	if (archived_at_ms != TIME_NULL)
		return "archived";
	return strcmp(state, "ended") == 0 && practice && accepting ? "practice" : state;
}

const char *language_title(const char *language)
{
	return strcmp(language, "cu") == 0 ? "CUDA C++" : "Python";
}

bool board_is_managed_by(const struct board *board, const struct viewer *viewer)
{
	return viewer->role == ROLE_ADMIN
		|| (viewer->role == ROLE_CREATOR && viewer->id == board->creator_id);
}
