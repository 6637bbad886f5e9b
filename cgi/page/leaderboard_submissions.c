/* The newest submissions to a leaderboard, as far as the viewer may see them. */
#include "cgi/page/leaderboard_charts.h"

#include "cgi/http/paging.h"
#include "cgi/page/pages.h"
#include "lib/leaderboard/visibility.h"
#include "templates/leaderboard_charts.h"

#include <math.h>

static const struct column SUBMITTED_COLUMNS[] = {
	INTEGER(struct submitted_job, submission_id),
	INTEGER(struct submitted_job, user_id),
	TIME(struct submitted_job, submitted_at_ms),
	TEXT(struct submitted_job, user),
	TEXT(struct submitted_job, mode),
	TEXT(struct submitted_job, gpu),
	TEXT(struct submitted_job, state),
	TEXT(struct submitted_job, verdict),
	REAL(struct submitted_job, score_ns),
	REAL(struct submitted_job, score_err_ns),
};
#define IS_SHOWN SQL_IS_SHOWN("s", "l")
#define RESULT_IS_SHOWN SQL_MAY_SEE_RESULT("s", "l", "j")
#define TIMES_ARE_SHOWN SQL_MAY_SEE_TIMES("s", "l", "j")
/* The inner query reads one page in the order of its index. */
static const struct statement SUBMITTED = SELECT(struct submitted_job, SUBMITTED_COLUMNS,
	"SELECT s.id AS submission_id, s.user_id, s.submitted_at AS submitted_at_ms, u.name AS user, "
	"s.mode, j.gpu, IF(" RESULT_IS_SHOWN ", j.state, 'pending') AS state, "
	"IF(" RESULT_IS_SHOWN ", j.verdict, NULL) AS verdict, IF(" TIMES_ARE_SHOWN
	", j.score_ns, NULL) AS score_ns, "
	"j.score_err_ns "
	"FROM (SELECT s.id FROM submissions s FORCE INDEX (submissions_leaderboard) "
	"JOIN leaderboards l ON l.id = s.leaderboard_id "
	"WHERE s.leaderboard_id = ? AND s.id < ? AND NOT s.dry_run AND " IS_SHOWN
	" ORDER BY s.id DESC LIMIT ?) newest "
	"JOIN submissions s ON s.id = newest.id JOIN leaderboards l ON l.id = s.leaderboard_id "
	"JOIN users u ON u.id = s.user_id LEFT JOIN jobs j ON j.submission_id = s.id "
	"LEFT JOIN leaderboard_gpus g ON g.leaderboard_id = s.leaderboard_id AND g.gpu = j.gpu "
	"ORDER BY s.id DESC, COALESCE(g.position, 999), j.gpu");

int leaderboard_submissions(struct request *request, const struct shown_leaderboard *shown)
{
	struct submissions_view view = { .shown = shown };
	struct submitted_job *jobs;
	int64_t before = query_number(request, "before", INT64_MAX);
	int rc = database_rows(request->db, request->arena, &SUBMITTED, &jobs, &view.count,
		request->error, "iiiiiii", request->viewer.id, request->viewer.id, request->viewer.id,
		shown->leaderboard.id, before, request->viewer.id, (int64_t)submissions_per_page);
	if (rc)
		return rc;
	size_t submissions = 0;
	for (size_t i = 0; i < view.count; i++) {
		submissions += !i || jobs[i].submission_id != jobs[i - 1].submission_id;
		if (isnan(jobs[i].score_ns))
			jobs[i].score_err_ns = NAN;
	}
	view.jobs = jobs;
	if (submissions == submissions_per_page)
		view.before = jobs[view.count - 1].submission_id;
	struct page page = page_make(request,
		arena_printf(request->arena, "Submissions to %s", shown->leaderboard.name), "leaderboards");
	submissions_page(&request->body, &page, &view);
	return 0;
}
