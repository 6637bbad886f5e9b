/* The page of a comparison: the two entries, and the result case by case. */
#include "cgi/page/head_to_head_page.h"

#include "cgi/http/paging.h"
#include "cgi/page/pages.h"
#include "lib/job/job.h"
#include "lib/leaderboard/visibility.h"
#include "templates/head_to_head.h"

#include <jansson.h>

enum { reload_s = 5 };

struct comparison_found {
	struct head_to_head compared;
	struct head_to_head_row outcome;
	int64_t withheld, right;
};
#define COMPARED(kind, member) \
	{ \
#member, kind, offsetof(struct comparison_found, compared.member) \
	}
#define OUTCOME(kind, member) \
	{ \
#member, kind, offsetof(struct comparison_found, outcome.member) \
	}
static const struct column COMPARISON_COLUMNS[] = {
	COMPARED(COLUMN_INTEGER, id),
	COMPARED(COLUMN_INTEGER, version_number),
	COMPARED(COLUMN_INTEGER, current_version),
	COMPARED(COLUMN_INTEGER, challenger_id),
	COMPARED(COLUMN_INTEGER, incumbent_id),
	COMPARED(COLUMN_TEXT, leaderboard),
	COMPARED(COLUMN_TEXT, gpu),
	COMPARED(COLUMN_TEXT, challenger),
	COMPARED(COLUMN_TEXT, incumbent),
	COMPARED(COLUMN_TEXT, progress),
	COMPARED(COLUMN_TEXT, worker),
	COMPARED(COLUMN_TIME, made_at_ms),
	COMPARED(COLUMN_TIME, finished_at_ms),
	OUTCOME(COLUMN_TEXT, state),
	OUTCOME(COLUMN_TEXT, reason),
	OUTCOME(COLUMN_REAL, ratio),
	OUTCOME(COLUMN_REAL, ratio_low),
	OUTCOME(COLUMN_REAL, ratio_high),
	OUTCOME(COLUMN_INTEGER, loser),
	HEAD_TO_HEAD_RANK_COLUMNS(OUTCOME),
	OUTCOME(COLUMN_INTEGER, job_id),
	INTEGER(struct comparison_found, withheld),
	INTEGER(struct comparison_found, right),
};
#define IS_WITHHELD SQL_IS_WITHHELD("l", "j")
#define RIGHT SQL_RIGHT("l")
#define LOSER SQL_COMPARISON_LOSER("challenger")
#define RANKS SQL_COMPARISON_RANKS("a", "b")
#define MAY_SEE_LEADERBOARD SQL_MAY_SEE("l")
#define BOTH_ARE_SHOWN SQL_IS_SHOWN("cs", "l") " AND " SQL_IS_SHOWN("ics", "l")
static const struct statement COMPARISON = SELECT(struct comparison_found, COMPARISON_COLUMNS,
	"SELECT c.id, v.number AS version_number, v.id = l.task_version_id AS current_version, "
	"c.challenger_id, c.incumbent_id, "
	"  l.name AS leaderboard, c.gpu, cu.name AS challenger, iu.name AS incumbent, j.progress, "
	"j.lease_owner AS worker, c.made_at AS made_at_ms, j.finished_at AS finished_at_ms, j.state, "
	"j.reason, c.ratio, c.ratio_low, c.ratio_high, " LOSER ", " RANKS ", j.id AS job_id, "
	"  " IS_WITHHELD " AS withheld, " RIGHT " AS `right` "
	"FROM comparisons c JOIN jobs j ON j.comparison_id = c.id "
	"JOIN leaderboards l ON l.id = c.leaderboard_id "
	"JOIN task_versions v ON v.id = c.task_version_id "
	"JOIN submissions cs ON cs.id = c.challenger_id JOIN users cu ON cu.id = cs.user_id "
	"JOIN submissions ics ON ics.id = c.incumbent_id JOIN users iu ON iu.id = ics.user_id "
	"LEFT JOIN ranking a ON " SQL_IS_ENTRY_OF(
		"a", "cs", "c.gpu") "LEFT JOIN ranking b ON " SQL_IS_ENTRY_OF("b", "ics",
		"c.gpu") "WHERE c.id = ? AND " MAY_SEE_LEADERBOARD " "
				 "AND " BOTH_ARE_SHOWN);

static const struct column CASE_COLUMNS[] = {
	INTEGER(struct head_to_head_case, number),
	TEXT(struct head_to_head_case, spec),
	TEXT(struct head_to_head_case, message),
	REAL(struct head_to_head_case, mean_ns),
	REAL(struct head_to_head_case, rival_ns),
	REAL(struct head_to_head_case, ratio),
	REAL(struct head_to_head_case, ratio_low),
	REAL(struct head_to_head_case, ratio_high),
};
#define CASE_NUMBER SQL_CASE_NUMBER("m.case_index", "t", "v")
static const struct statement CASES = SELECT(struct head_to_head_case, CASE_COLUMNS,
	"SELECT " CASE_NUMBER
	" AS number, m.spec, m.message, m.mean_ns, m.rival_ns, m.ratio, m.ratio_low, "
	"m.ratio_high "
	"FROM jobs j JOIN comparisons c ON c.id = j.comparison_id "
	"JOIN task_versions v ON v.id = c.task_version_id JOIN stages t ON t.job_id = j.id "
	"JOIN measurements m ON m.stage_id = t.id WHERE j.id = ? "
	"AND m.ratio IS NOT NULL ORDER BY t.position, m.case_index");

static int find_comparison(struct request *request, struct comparison_found *found)
{
	const int64_t id = path_number(request, 0), viewer = request->viewer.id;
	int rc = !id ? ERROR_NOT_FOUND
				 : database_row(request->db, request->arena, &COMPARISON, found, request->error,
					 "iiiii", viewer, id, viewer, viewer, viewer);
	if (rc == ERROR_NOT_FOUND)
		return fail(request->error, rc, "There is no comparison with this number.");
	return rc || !found->withheld || found->right >= RIGHT_READ
		? rc
		: fail(request->error, ERROR_FORBIDDEN,
			"The ranking of %s is frozen, so this comparison is shown when the freeze is lifted.",
			found->compared.leaderboard);
}

int page_head_to_head(struct request *request)
{
	struct comparison_found found;
	struct head_to_head_case *cases;
	struct head_to_head_view view = { .compared = &found.compared };
	int rc = find_comparison(request, &found);
	if (!rc)
		rc = database_rows(request->db, request->arena, &CASES, &cases, &view.case_count,
			request->error, "i", found.outcome.job_id);
	if (rc)
		return rc;
	view.may_read_all = found.right >= RIGHT_READ;
	view.outcome = found.outcome;
	view.outcome.rival = found.compared.incumbent;
	view.cases = cases;
	struct page page = page_make(request,
		arena_printf(
			request->arena, "%s against %s", found.compared.challenger, found.compared.incumbent),
		"leaderboards");
	page.sheet = "/static/submission.css";
	if (head_to_head_is_open(&view.outcome)) {
		page.refresh_s = reload_s;
		page.live_url =
			arena_printf(request->arena, "/comparison/%lld/status", (long long)found.compared.id);
	}
	head_to_head_page(&request->body, &page, &view, request->arena);
	request->may_be_cached = true;
	return 0;
}

/* Answers live.js with the parts that change while the comparison is queued or running, as JSON. */
int page_head_to_head_status(struct request *request)
{
	struct comparison_found found;
	int rc = find_comparison(request, &found);
	return rc ? rc
			  : respond_json(request,
				  json_pack("{s:I, s:s, s:s}", "id", (json_int_t)found.compared.id, "state",
					  found.outcome.state, "stage", found.compared.progress));
}
