/* What the viewer has handed in to one leaderboard. */
#include "cgi/history.h"

#include "cgi/pages.h"
#include "cgi/paging.h"
#include "lib/job.h"
#include "templates/history.h"

#include <string.h>

enum { submissions_per_page = 50, reload_s = 5 };

static const struct column JOB_COLUMNS[] = {
	INTEGER(struct history_job, submission_id), TEXT(struct history_job, file_name), TEXT(struct history_job, mode),
	TIME(struct history_job, submitted_at_ms), INTEGER(struct history_job, version_number), TEXT(struct history_job, gpu),
	TEXT(struct history_job, state), TEXT(struct history_job, verdict), TEXT(struct history_job, progress),
	REAL(struct history_job, score_ns), REAL(struct history_job, score_err_ns), INTEGER(struct history_job, is_held),
	INTEGER(struct history_job, place),
};
static const struct statement JOBS = SELECT(struct history_job, JOB_COLUMNS,
	"SELECT s.id AS submission_id, s.file_name, s.mode, s.submitted_at AS submitted_at_ms, v.number AS version_number, "
	"  j.gpu, j.state, j.verdict, j.progress, j.score_ns, j.score_err_ns, " SQL_IS_HELD("j") " AS is_held, r.place "
	"FROM (SELECT id, leaderboard_id, task_version_id, user_id, file_name, mode, submitted_at FROM submissions "
	"  WHERE user_id = ? AND leaderboard_id = ? AND id < ? ORDER BY id DESC LIMIT ?) s "
	"JOIN task_versions v ON v.id = s.task_version_id "
	"LEFT JOIN jobs j ON j.submission_id = s.id "
	"LEFT JOIN leaderboard_gpus g ON g.leaderboard_id = s.leaderboard_id AND g.gpu = j.gpu "
	"LEFT JOIN ranking r ON r.leaderboard_id = s.leaderboard_id AND r.task_version_id = s.task_version_id AND r.gpu = j.gpu "
	"  AND r.user_id = s.user_id AND r.job_id = j.id "
	"ORDER BY s.id DESC, COALESCE(g.position, 999), j.gpu");

static const struct column RANK_COLUMNS[] = {
	TEXT(struct history_rank, gpu), INTEGER(struct history_rank, place), INTEGER(struct history_rank, entries),
	REAL(struct history_rank, score_ns), REAL(struct history_rank, score_err_ns), INTEGER(struct history_rank, submission_id),
};
static const struct statement RANKS = SELECT(struct history_rank, RANK_COLUMNS,
	"SELECT g.gpu, r.place, (SELECT e.position FROM ranking e WHERE e.leaderboard_id = l.id "
	"    AND e.task_version_id = l.task_version_id AND e.gpu = g.gpu ORDER BY e.position DESC LIMIT 1) AS entries, "
	"  r.score_ns, r.score_err_ns, r.submission_id "
	"FROM leaderboards l JOIN leaderboard_gpus g ON g.leaderboard_id = l.id "
	"LEFT JOIN ranking r ON r.leaderboard_id = l.id AND r.task_version_id = l.task_version_id AND r.gpu = g.gpu "
	"  AND r.user_id = ? "
	"WHERE l.id = ? ORDER BY g.position, g.gpu");

size_t history_group(struct arena *arena, const struct history_job *rows, size_t count, struct history_submission **submissions)
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

static int read_submissions(struct request *request, struct history_view *view)
{
	int64_t before = query_number(request, "before", INT64_MAX);
	struct history_job *rows;
	size_t count;
	int rc = database_rows(request->db, request->arena, &JOBS, &rows, &count, request->error, "iiii", request->viewer.id,
		view->board->id, before, (int64_t)submissions_per_page + 1);
	if (rc)
		return rc;
	view->is_first = before == INT64_MAX;
	view->count = history_group(request->arena, rows, count, &view->submissions);
	if (view->count > submissions_per_page) {
		view->count = submissions_per_page;
		view->before = view->submissions[view->count - 1].jobs->submission_id;
	}
	return 0;
}

static bool is_going_on(const struct history_view *view)
{
	for (size_t i = 0; i < view->count; i++)
		for (size_t j = 0; j < view->submissions[i].job_count; j++) {
			const char *state = view->submissions[i].jobs[j].state;
			if (state && (strcmp(state, "queued") == 0 || strcmp(state, "running") == 0))
				return true;
		}
	return false;
}

int page_history(struct request *request)
{
	struct board board;
	struct history_view view = { .board = &board };
	struct history_rank *ranks;
	int rc = board_by_name(request, request->path_parameters[0], &board);
	if (!rc)
		rc = read_submissions(request, &view);
	if (!rc)
		rc = database_rows(request->db, request->arena, &RANKS, &ranks, &view.rank_count, request->error, "ii",
			request->viewer.id, board.id);
	if (rc)
		return rc;
	view.ranks = ranks;
	struct page page = page_make(request, arena_printf(request->arena, "My submissions to %s", board.name), "leaderboards");
	view.state = board_condition(&board, page.now_ms);
	page.refresh_s = is_going_on(&view) ? reload_s : 0;
	history_page(&request->body, &page, &view);
	return 0;
}
