/* Reads the jobs of a submission with their results, as far as the viewer may see them. */
#include "cgi/page/submission.h"

#include "cgi/page/job_words.h"
#include "cgi/render/html.h"
#include "lib/base/format.h"
#include "lib/base/scope.h"
#include "lib/gpu/floor.h"
#include "lib/job/job.h"
#include "lib/job/wait.h"
#include "lib/leaderboard/visibility.h"
#include "lib/ranking/ranking.h"

#include <assert.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

static const struct column JOB_COLUMNS[] = {
	INTEGER(struct job_row, id),
	TEXT(struct job_row, gpu),
	TEXT(struct job_row, state),
	TEXT(struct job_row, verdict),
	TEXT(struct job_row, reason),
	TEXT(struct job_row, progress),
	REAL(struct job_row, score_ns),
	REAL(struct job_row, score_err_ns),
	TEXT(struct job_row, engine),
	TEXT(struct job_row, engine_reason),
	TEXT(struct job_row, environment),
	TEXT(struct job_row, version_engine),
	TIME(struct job_row, held_at_ms),
	INTEGER(struct job_row, released_by),
	TEXT(struct job_row, held_reason),
	INTEGER(struct job_row, is_held),
	INTEGER(struct job_row, attempt),
	TEXT(struct job_row, lease_owner),
	TIME(struct job_row, queued_at_ms),
	TIME(struct job_row, started_at_ms),
	TIME(struct job_row, finished_at_ms),
	INTEGER(struct job_row, place),
	INTEGER(struct job_row, is_tied),
	TEXT(struct job_row, rank_reason),
	TEXT(struct job_row, rank_other),
	REAL(struct job_row, fastest_ns),
	INTEGER(struct job_row, entries),
	INTEGER(struct job_row, best_id),
	REAL(struct job_row, best_ns),
	REAL(struct job_row, best_err_ns),
	REAL(struct job_row, expected_ms),
	REAL(struct job_row, running_ms),
	REAL(struct job_row, best_before_ns),
	INTEGER(struct job_row, place_before),
	INTEGER(struct job_row, tied_before),
	INTEGER(struct job_row, place_after),
	INTEGER(struct job_row, tied_after),
	INTEGER(struct job_row, priority),
	INTEGER(struct job_row, stopping),
	INTEGER(struct job_row, silent_s),
	INTEGER(struct job_row, lease_left_s),
	TEXT(struct job_row, tail),
	INTEGER(struct job_row, file_results),
	REAL(struct job_row, file_ns),
	REAL(struct job_row, file_err_ns),
};
#define JOB_IS_HELD SQL_IS_HELD("j")
/* SQL_ENGINE_OF, SQL_HAS_OTHER_ENGINE and SQL_EXPECTED_MS as joins. Each subquery would cost the
 * database about as much as the whole row. */
#define VERSION_ENGINE "COALESCE(own_engine.engine, any_engine.engine)"
#define HAS_OTHER_ENGINE "COALESCE(j.engine <> " VERSION_ENGINE ", FALSE)"
#define JOB_IS_STOPPING SQL_IS_STOPPING("j")
#define EXPECTED_MS \
	"COALESCE(usual.median_ms, (SELECT t.median_ms FROM job_times t WHERE t.gpu = j.gpu " \
	"AND t.mode = s.mode ORDER BY t.updated_at DESC LIMIT 1))"
#define TAIL \
	"(SELECT t.tail FROM stages t WHERE t.job_id = j.id AND t.verdict IS NULL " \
	"ORDER BY t.position DESC LIMIT 1)"
/* `r` is the user's entry in the ranking, which may be that of another job. */
#define OF_RANKED(value) "IF(r.job_id = j.id, " value ", NULL)"
#define PLACE OF_RANKED("r.place")
#define TIED OF_RANKED("r.tied")
#define REASON OF_RANKED("r.reason")
#define FASTEST OF_RANKED(SQL_FASTEST_NS("s.leaderboard_id", "s.task_version_id", "j.gpu"))
#define ENTRIES \
	OF_RANKED("(SELECT e.position FROM ranking e WHERE e.leaderboard_id = s.leaderboard_id " \
			  "AND e.task_version_id = s.task_version_id AND e.gpu = j.gpu " \
			  "ORDER BY e.position DESC LIMIT 1)")
#define JOBS_OF(from, whose) \
	SELECT(struct job_row, JOB_COLUMNS, \
		"SELECT STRAIGHT_JOIN j.id, j.gpu, j.state, j.verdict, j.reason, j.progress, j.score_ns, " \
		"j.score_err_ns, j.engine, j.engine_reason, j.environment, " \
		"IF(" HAS_OTHER_ENGINE ", " VERSION_ENGINE ", NULL) AS version_engine, " \
		"j.held_at AS held_at_ms, j.released_by, j.held_reason, " JOB_IS_HELD " AS is_held, " \
		"j.attempt, j.lease_owner, j.queued_at AS queued_at_ms, " \
		"j.started_at AS started_at_ms, j.finished_at AS finished_at_ms, " PLACE \
		" AS place, " TIED " AS is_tied, " REASON \
		" AS rank_reason, other.name AS rank_other, " FASTEST " AS fastest_ns, " ENTRIES \
		" AS entries, " \
		"IF(r.submission_id <> s.id, r.submission_id, NULL) AS best_id, " \
		"IF(r.submission_id <> s.id, r.score_ns, NULL) AS best_ns, " \
		"IF(r.submission_id <> s.id, r.score_err_ns, NULL) AS best_err_ns, " \
		"IF(j.state IN ('queued', 'running'), " EXPECTED_MS ", NULL) AS expected_ms, " \
		"IF(j.state = 'running', " \
		"TIMESTAMPDIFF(MICROSECOND, j.started_at, UTC_TIMESTAMP(3)) / 1000, NULL) AS running_ms, " \
		"j.best_before_ns, j.place_before, j.tied_before, j.place_after, j.tied_after, " \
		"j.priority, " JOB_IS_STOPPING " AS stopping, " \
		"TIMESTAMPDIFF(SECOND, w.seen_at, UTC_TIMESTAMP(3)) AS silent_s, " \
		"TIMESTAMPDIFF(SECOND, UTC_TIMESTAMP(3), j.lease_expires) AS lease_left_s, " \
		"IF(j.state = 'running', " TAIL ", NULL) AS tail, " \
		"f.results AS file_results, f.score_ns AS file_ns, f.score_err_ns AS file_err_ns " \
		"FROM " from " " \
		"LEFT JOIN file_times f ON f.task_version_id = s.task_version_id AND f.gpu = j.gpu " \
		"AND f.sha256 = s.file_sha256 " \
		"LEFT JOIN leaderboard_gpus g ON g.leaderboard_id = s.leaderboard_id AND g.gpu = j.gpu " \
		"LEFT JOIN ranking r ON r.leaderboard_id = s.leaderboard_id " \
		"AND r.task_version_id = s.task_version_id AND r.gpu = j.gpu AND r.user_id = s.user_id " \
		"LEFT JOIN submissions named ON named.id = r.other_id AND r.job_id = j.id " \
		"LEFT JOIN users other ON other.id = named.user_id " \
		"LEFT JOIN workers w ON w.name = j.lease_owner AND j.state = 'running' " \
		"LEFT JOIN job_times usual ON usual.task_version_id = s.task_version_id " \
		"AND usual.gpu = j.gpu AND usual.mode = s.mode " \
		"LEFT JOIN task_engines own_engine ON own_engine.task_version_id = s.task_version_id " \
		"AND own_engine.gpu = j.gpu " \
		"LEFT JOIN task_engines any_engine ON any_engine.task_version_id = s.task_version_id " \
		"AND any_engine.gpu = '' " \
		"WHERE " whose " = ? ORDER BY COALESCE(g.position, 999), j.gpu")

static const struct column STAGE_COLUMNS[] = {
	INTEGER(struct stage_row, id),
	INTEGER(struct stage_row, job_id),
	INTEGER(struct stage_row, position),
	TEXT(struct stage_row, name),
	TEXT(struct stage_row, verdict),
	TEXT(struct stage_row, message),
	INTEGER(struct stage_row, exit_code),
	INTEGER(struct stage_row, duration_ms),
	INTEGER(struct stage_row, peak_host_bytes),
	INTEGER(struct stage_row, peak_device_bytes),
	TEXT(struct stage_row, command),
	TEXT(struct stage_row, out),
	TEXT(struct stage_row, err),
	TEXT(struct stage_row, kernels),
	TEXT(struct stage_row, conditions),
	INTEGER(struct stage_row, output_days),
	INTEGER(struct stage_row, samples_days),
	INTEGER(struct stage_row, artifacts_days),
};
#define STAGES_OF(whose) \
	SELECT(struct stage_row, STAGE_COLUMNS, \
		"SELECT t.id, t.job_id, t.position, t.name, t.verdict, t.message, t.exit_code, " \
		"t.duration_ms, t.peak_host_bytes, t.peak_device_bytes, t.command, " \
		"  t.stdout AS `out`, t.stderr AS err, t.kernels, t.conditions, t.output_days, " \
		"t.samples_days, t.artifacts_days " \
		"FROM stages t JOIN jobs j ON j.id = t.job_id WHERE " whose \
		" = ? ORDER BY t.job_id, t.position")

/* Reads the stages without their long columns. */
static const struct statement STAGE_NAMES = SELECT(struct stage_row, STAGE_COLUMNS,
	"SELECT t.id, t.job_id, t.position, t.name, t.verdict, '' AS message, t.exit_code, "
	"t.duration_ms, NULL AS peak_host_bytes, "
	"  NULL AS peak_device_bytes, '' AS command, '' AS `out`, '' AS err, NULL AS kernels, NULL AS "
	"conditions, t.output_days, t.samples_days, t.artifacts_days "
	"FROM stages t JOIN jobs j ON j.id = t.job_id WHERE j.submission_id = ? "
	"ORDER BY t.job_id, t.position");

static const struct column CASE_COLUMNS[] = {
	INTEGER(struct case_row, stage_id),
	INTEGER(struct case_row, case_index),
	INTEGER(struct case_row, number),
	TEXT(struct case_row, spec),
	TEXT(struct case_row, verdict),
	TEXT(struct case_row, message),
	INTEGER(struct case_row, runs),
	REAL(struct case_row, mean_ns),
	REAL(struct case_row, std_ns),
	REAL(struct case_row, err_ns),
	REAL(struct case_row, best_ns),
	REAL(struct case_row, worst_ns),
	REAL(struct case_row, median_ns),
	REAL(struct case_row, constant_ns),
	REAL(struct case_row, own_ns),
	REAL(struct case_row, gap_ns),
	INTEGER(struct case_row, blocks),
	INTEGER(struct case_row, repeated),
	TEXT(struct case_row, device),
	TEXT(struct case_row, report),
};
#define CASE_NUMBER SQL_CASE_NUMBER("m.case_index", "t", "v")
#define CASES_OF(from, whose) \
	SELECT(struct case_row, CASE_COLUMNS, \
		"SELECT STRAIGHT_JOIN m.stage_id, m.case_index, " CASE_NUMBER \
		" AS number, m.spec, m.verdict, m.message, m.runs, m.mean_ns, " \
		"m.std_ns, m.err_ns, m.best_ns, m.worst_ns, " \
		"  m.median_ns, m.constant_ns, m.own_ns, m.gap_ns, m.blocks, " \
		"m.repeated, m.device, m.report " \
		"FROM " from " JOIN task_versions v ON v.id = s.task_version_id " \
		"JOIN stages t ON t.job_id = j.id JOIN measurements m ON m.stage_id = t.id " \
		"WHERE " whose " = ? ORDER BY t.job_id, t.position, m.case_index")

/* Only the first cases of a submission have a picture, to keep the page small. */
enum { most_pictures = 24 };
struct samples_row {
	int64_t stage_id, case_index;
	struct blob_value samples;
};
static const struct column SAMPLES_COLUMNS[] = {
	INTEGER(struct samples_row, stage_id),
	INTEGER(struct samples_row, case_index),
	BLOB(struct samples_row, samples),
};
#define SAMPLES_OF(whose) \
	SELECT(struct samples_row, SAMPLES_COLUMNS, \
		"SELECT m.stage_id, m.case_index, m.samples " \
		"FROM measurements m JOIN stages t ON t.id = m.stage_id JOIN jobs j ON j.id = t.job_id " \
		"WHERE " whose \
		" = ? AND m.samples IS NOT NULL ORDER BY t.job_id, t.position, m.case_index LIMIT ?")

#define SUBMISSIONS_JOBS "jobs j JOIN submissions s ON s.id = j.submission_id"
#define REJUDGED_JOBS \
	"jobs j JOIN rejudged_jobs a ON a.id = j.rejudged_id " \
	"JOIN submissions s ON s.id = a.submission_id"
/* Statements for jobs and their results. OF_SUBMISSION binds a submission's ID and reads its
 * current jobs. OF_REJUDGED binds the ID of a rejudging's result and reads the job that does not
 * count (submission_read_rejudged). */
static const struct results_of {
	struct statement jobs, stages, cases, samples;
} OF_SUBMISSION = {
	.jobs = JOBS_OF(SUBMISSIONS_JOBS, "j.submission_id"),
	.stages = STAGES_OF("j.submission_id"),
	.cases = CASES_OF(SUBMISSIONS_JOBS, "j.submission_id"),
	.samples = SAMPLES_OF("j.submission_id"),
}, OF_REJUDGED = {
	.jobs = JOBS_OF(REJUDGED_JOBS, "j.rejudged_id"),
	.stages = STAGES_OF("j.rejudged_id"),
	.cases = CASES_OF(REJUDGED_JOBS, "j.rejudged_id"),
	.samples = SAMPLES_OF("j.rejudged_id"),
};

/* Comparisons from the submission's point of view: the ratio is the submission's time divided by
 * the rival's. */
static const struct column COMPARISON_COLUMNS[] = {
	INTEGER(struct head_to_head_row, id),
	INTEGER(struct head_to_head_row, job_id),
	INTEGER(struct head_to_head_row, rival_id),
	TEXT(struct head_to_head_row, rival),
	TEXT(struct head_to_head_row, state),
	TEXT(struct head_to_head_row, reason),
	REAL(struct head_to_head_row, ratio),
	REAL(struct head_to_head_row, ratio_low),
	REAL(struct head_to_head_row, ratio_high),
	INTEGER(struct head_to_head_row, loser),
	HEAD_TO_HEAD_RANK_COLUMNS(HEAD_TO_HEAD_COLUMN),
};
#define RANKS SQL_COMPARISON_RANKS("a", "b")
#define JOB_IS_WITHHELD SQL_IS_WITHHELD("l", "j")
#define LOSER_OF_CHALLENGER SQL_COMPARISON_LOSER("challenger")
#define LOSER_OF_INCUMBENT SQL_COMPARISON_LOSER("incumbent")
static const struct statement COMPARISONS = SELECT(struct head_to_head_row, COMPARISON_COLUMNS,
	"SELECT STRAIGHT_JOIN c.id, c.job_id, c.rival_id, u.name AS rival, j.state, j.reason, c.ratio, "
	"c.ratio_low, c.ratio_high, c.loser, " RANKS " "
	"FROM (SELECT c.id, o.id AS job_id, o.submission_id AS own_id, c.gpu, "
	"    c.incumbent_id AS rival_id, c.ratio, c.ratio_low, c.ratio_high, " LOSER_OF_CHALLENGER " "
	"  FROM jobs o JOIN comparisons c ON c.challenger_job_id = o.id WHERE o.submission_id = ? "
	"  UNION ALL SELECT c.id, o.id, o.submission_id, c.gpu, c.challenger_id, 1 / c.ratio, "
	"1 / c.ratio_high, 1 / c.ratio_low, " LOSER_OF_INCUMBENT " "
	"  FROM jobs o JOIN comparisons c ON c.incumbent_job_id = o.id WHERE o.submission_id = ?) c "
	"JOIN jobs j ON j.comparison_id = c.id JOIN submissions s ON s.id = c.rival_id "
	"JOIN submissions own ON own.id = c.own_id "
	"LEFT JOIN ranking a ON " SQL_IS_ENTRY_OF(
		"a", "own", "c.gpu") "LEFT JOIN ranking b ON " SQL_IS_ENTRY_OF("b", "s",
		"c.gpu") "JOIN users u ON u.id = s.user_id "
				 "JOIN leaderboards l ON l.id = s.leaderboard_id AND NOT " JOB_IS_WITHHELD " "
				 "WHERE j.state <> 'cancelled' ORDER BY c.job_id, c.id DESC LIMIT ?");

static const struct column ARTIFACT_COLUMNS[] = {
	INTEGER(struct artifact_row, id),
	INTEGER(struct artifact_row, stage_id),
	TEXT(struct artifact_row, name),
	INTEGER(struct artifact_row, size),
};
static const struct statement ARTIFACTS = SELECT(struct artifact_row, ARTIFACT_COLUMNS,
	"SELECT a.id, a.stage_id, a.name, a.size FROM artifacts a "
	"JOIN stages t ON t.id = a.stage_id JOIN jobs j ON j.id = t.job_id "
	"WHERE j.submission_id = ? ORDER BY a.stage_id, a.name");

/* Everything that a page shows of a submission, read in one round trip with the submission's row.
 * Files and plans reveal as much as the source, so visitors who are not logged in seldom see them.
 * For them, the page reads these SECRETS only when it shows them. For others it always reads them,
 * and drops what the viewer may not see. */
enum part {
	ROW,
	JOBS,
	STAGES,
	CASES,
	SAMPLES,
	COMPARED,
	SECRETS,
	FILES = SECRETS,
	PLANS,
	BEST_PLANS,
	PARTS_OF_PAGE
};
static const struct statement *const PAGE_PARTS[] = {
	[ROW] = &submission_and_source_reading,
	[JOBS] = &OF_SUBMISSION.jobs,
	[STAGES] = &OF_SUBMISSION.stages,
	[CASES] = &OF_SUBMISSION.cases,
	[SAMPLES] = &OF_SUBMISSION.samples,
	[COMPARED] = &COMPARISONS,
	[FILES] = &ARTIFACTS,
	[PLANS] = &plans_of_submission,
	[BEST_PLANS] = &plans_of_best,
};
static const struct bundle PAGE = BUNDLE(PAGE_PARTS), PAGE_FOR_NOBODY = { PAGE_PARTS, SECRETS },
						   SECRETS_OF_PAGE = { PAGE_PARTS + SECRETS, PARTS_OF_PAGE - SECRETS };
static const struct statement *const REJUDGED_PARTS[] = {
	[ROW] = &submission_and_task_reading,
	[JOBS] = &OF_REJUDGED.jobs,
	[STAGES] = &OF_REJUDGED.stages,
	[CASES] = &OF_REJUDGED.cases,
	[SAMPLES] = &OF_REJUDGED.samples,
};
static const struct bundle REJUDGED = BUNDLE(REJUDGED_PARTS);
/* The results that programs read. */
enum result_part {
	RESULT_ROW,
	RESULT_JOBS,
	RESULT_STAGES,
	RESULT_CASES,
	RESULT_SECRETS,
	RESULT_FILES = RESULT_SECRETS,
	RESULT_PLANS,
	PARTS_OF_RESULTS
};
static const struct statement *const RESULT_PARTS[] = {
	[RESULT_ROW] = &submission_and_task_reading,
	[RESULT_JOBS] = &OF_SUBMISSION.jobs,
	[RESULT_STAGES] = &OF_SUBMISSION.stages,
	[RESULT_CASES] = &OF_SUBMISSION.cases,
	[RESULT_FILES] = &ARTIFACTS,
	[RESULT_PLANS] = &plans_of_submission,
};
static const struct bundle RESULTS = BUNDLE(RESULT_PARTS),
						   RESULTS_FOR_NOBODY = { RESULT_PARTS, RESULT_SECRETS },
						   SECRETS_OF_RESULTS = { RESULT_PARTS + RESULT_SECRETS,
							   PARTS_OF_RESULTS - RESULT_SECRETS };
static const struct statement *const SAMPLE_PARTS[] = {
	[ROW] = &submission_reading,
	[JOBS] = &OF_SUBMISSION.jobs,
	[STAGES] = &STAGE_NAMES,
	[CASES] = &OF_SUBMISSION.cases,
	[SAMPLES] = &OF_SUBMISSION.samples,
};
static const struct bundle SAMPLES_AND_CASES = BUNDLE(SAMPLE_PARTS);
/* The state that programs and live.js poll; only live.js reads the comparisons. */
static const struct statement *const STATUS_PARTS[] = { &submission_reading, &OF_SUBMISSION.jobs,
	&COMPARISONS };
static const struct bundle STATE = { STATUS_PARTS, 2 }, STATUS = BUNDLE(STATUS_PARTS);

/* The open jobs of a submission that everybody may see, which live.js polls every two seconds. An
 * open job was never ranked, compared or held, so its row needs few columns and tables. This takes
 * the database a tenth of the time of STATUS, most of which are the rights. */
struct open_row {
	struct job_row job;
	int64_t author_id, is_frozen;
};
static_assert(offsetof(struct open_row, job) == 0, "the columns of a job are members of `job`");
#define WAITING \
	INTEGER(struct open_row, author_id), INTEGER(struct open_row, is_frozen), \
		INTEGER(struct job_row, id), TEXT(struct job_row, gpu), TEXT(struct job_row, state), \
		TEXT(struct job_row, reason), TEXT(struct job_row, progress), \
		TEXT(struct job_row, engine), INTEGER(struct job_row, attempt)
#define WAITING_FIELDS \
	"s.user_id AS author_id, " SQL_IS_FROZEN( \
		"l") " AS is_frozen, j.id, j.gpu, j.state, j.reason, j.progress, j.engine, j.attempt"
#define FROM_JOBS \
	" FROM submissions s JOIN leaderboards l ON l.id = s.leaderboard_id " \
	"JOIN jobs j FORCE INDEX (jobs_submission) ON j.submission_id = s.id " \
	"LEFT JOIN leaderboard_gpus g ON g.leaderboard_id = s.leaderboard_id AND g.gpu = j.gpu "
#define THAT_ALL_SEE \
	"WHERE s.id = ? AND " SQL_IS_PUBLIC("l") " AND NOT s.dry_run AND s.hidden_at IS NULL " \
											 "ORDER BY COALESCE(g.position, 999), j.gpu"
static const struct column OPEN_COLUMNS[] = {
	WAITING,
	TEXT(struct job_row, lease_owner),
	REAL(struct job_row, expected_ms),
	REAL(struct job_row, running_ms),
	INTEGER(struct job_row, silent_s),
	INTEGER(struct job_row, lease_left_s),
	TEXT(struct job_row, tail),
};
static const struct statement OPEN_JOBS = SELECT(struct open_row, OPEN_COLUMNS,
	"SELECT STRAIGHT_JOIN " WAITING_FIELDS ", j.lease_owner, t.median_ms AS expected_ms, "
	"TIMESTAMPDIFF(MICROSECOND, j.started_at, UTC_TIMESTAMP(3)) / 1000 AS running_ms, "
	"TIMESTAMPDIFF(SECOND, w.seen_at, UTC_TIMESTAMP(3)) AS silent_s, "
	"TIMESTAMPDIFF(SECOND, UTC_TIMESTAMP(3), j.lease_expires) AS lease_left_s, "
	"IF(j.state = 'running', " TAIL ", NULL) AS tail" FROM_JOBS
	"LEFT JOIN job_times t ON t.task_version_id = s.task_version_id AND t.gpu = j.gpu "
	"AND t.mode = s.mode "
	"LEFT JOIN workers w ON w.name = j.lease_owner AND j.state = 'running' " THAT_ALL_SEE);

/* The same of a submission whose jobs all wait. The kept queue has their expected times
 * (waits_read), and no visitor sees more of them than others. */
static const struct column WAITING_COLUMNS[] = { WAITING };
static const struct statement WAITING_JOBS = SELECT(struct open_row, WAITING_COLUMNS,
	"SELECT STRAIGHT_JOIN " WAITING_FIELDS FROM_JOBS THAT_ALL_SEE);

/* ---- reading ---- */

/* Sets what an open job does not have to the values of SQL NULL. */
static void empty_results(struct job_row *job)
{
	job->score_ns = job->score_err_ns = job->fastest_ns = NAN;
	job->best_ns = job->best_err_ns = job->best_before_ns = job->file_ns = job->file_err_ns = NAN;
	job->queued_at_ms = job->started_at_ms = job->finished_at_ms = job->held_at_ms = TIME_NULL;
	job->place = job->is_tied = job->best_id = job->released_by = SQL_NULL_INTEGER;
	job->place_before = job->tied_before = job->place_after = job->tied_after = SQL_NULL_INTEGER;
	job->file_results = SQL_NULL_INTEGER;
}

/* Only its readers see times that are held for review or rejected. */
static void hide_held(
	const struct request *request, const struct submission_row *row, struct job_row *job)
{
	if (job->held_at_ms == TIME_NULL || job->released_by != SQL_NULL_INTEGER
		|| submission_is_read(request, row))
		return;
	job->hides_times = true;
	job->held_reason = NULL;
	job->score_ns = job->score_err_ns = NAN;
}

/* During a freeze, others learn that a job exists and nothing else: not whether it has finished,
 * with which verdict, or after how long. */
static void hide_withheld(
	const struct request *request, const struct submission_row *row, struct job_row *job)
{
	int64_t at_ms = job->finished_at_ms != TIME_NULL ? job->finished_at_ms : now_ms();
	bool is_later = row->frozen_at_ms != TIME_NULL && at_ms > row->frozen_at_ms;
	if (!is_later || submission_is_read(request, row))
		return;
	*job = (struct job_row){ .id = job->id,
		.gpu = job->gpu,
		.state = "pending",
		.reason = "",
		.progress = "",
		.expected_ms = NAN,
		.running_ms = NAN,
		.silent_s = SQL_NULL_INTEGER,
		.lease_left_s = SQL_NULL_INTEGER,
		.hides_times = true,
		.is_withheld = true };
	empty_results(job);
}

/* Reads the data for the estimates of queued jobs. The kept queue lacks a job that is too far back,
 * and one that another program has just queued. */
static int ask_for_waits(struct request *request, const struct submission_row *row,
	const struct job_row *jobs, size_t count, struct database_answer *waits)
{
	bool is_waiting = false, is_kept = true;
	for (size_t i = 0; i < count; i++)
		is_waiting = is_waiting || strcmp(jobs[i].state, "queued") == 0;
	int rc = is_waiting ? waits_read(request, waits) : 0;
	for (size_t i = 0; i < count && is_waiting && !rc; i++)
		is_kept =
			is_kept && (strcmp(jobs[i].state, "queued") != 0 || wait_has_job(waits, jobs[i].id));
	return rc || is_kept ? rc
						 : database_rows(request->db, request->arena, &wait_reading, &waits->rows,
							 &waits->count, request->error, "ii", (int64_t)0, row->id);
}

/* Fills what the rows of the jobs do not have, and hides what the viewer may not see. */
static int finish_jobs(
	struct request *request, const struct submission_row *row, struct job_row *jobs, size_t count)
{
	struct database_answer waits = { 0 };
	int rc = ask_for_waits(request, row, jobs, count, &waits);
	if (rc)
		return rc;
	for (size_t i = 0; i < count; i++) {
		hide_held(request, row, &jobs[i]);
		hide_withheld(request, row, &jobs[i]);
		if (!submission_is_read(request, row))
			jobs[i].tail = NULL;
	}
	job_words_fill(request->arena, row, jobs, count, &waits);
	return 0;
}

bool job_can_be_cancelled(const struct job_row *job)
{
	return strcmp(job->state, "queued") == 0 || strcmp(job->state, "running") == 0;
}

/* Attaches the cases to their stages and the stages to their jobs. The rows of stages and of cases
 * are in the order of the jobs. */
static void join_rows(struct job_row *jobs, size_t job_count, struct stage_row *stages,
	size_t stage_count, struct case_row *cases, size_t case_count)
{
	for (size_t i = 0; i < stage_count; i++)
		for (size_t c = 0; c < case_count; c++)
			if (cases[c].stage_id == stages[i].id) {
				if (!stages[i].case_count++)
					stages[i].cases = &cases[c];
			}
	for (size_t j = 0; j < job_count; j++)
		for (size_t i = 0; i < stage_count; i++)
			if (stages[i].job_id == jobs[j].id) {
				if (!jobs[j].stage_count++)
					jobs[j].stages = &stages[i];
			}
}

static void drop_hidden_times(struct job_row *jobs, size_t count)
{
	for (size_t j = 0; j < count; j++) {
		if (jobs[j].is_withheld)
			jobs[j].stage_count = 0;
		for (size_t i = 0; jobs[j].hides_times && i < jobs[j].stage_count; i++)
			if (strcmp(jobs[j].stages[i].name, "ranked") == 0)
				jobs[j].stages[i].case_count = 0;
	}
}

static void join_samples(struct arena *arena, struct case_row *cases, size_t case_count,
	const struct samples_row *rows, size_t count)
{
	for (size_t c = 0; c < case_count; c++) {
		struct case_row *one = &cases[c];
		one->samples = (struct samples){ .time_ns = one->mean_ns, .blocks = one->blocks };
		for (size_t i = 0; i < count; i++)
			if (rows[i].stage_id == one->stage_id && rows[i].case_index == one->case_index)
				one->samples.ns = samples_read(
					arena, rows[i].samples.bytes, rows[i].samples.length, &one->samples.count);
	}
}

/* A report reveals as much as the source. */
static void drop_reports(struct case_row *cases, size_t count)
{
	for (size_t c = 0; c < count; c++)
		cases[c].report = NULL;
}

/* Attaches the plans to the cases that the viewer sees. */
static void join_plans(
	struct stage_row *stages, size_t stage_count, const struct plan_view *plans, size_t count)
{
	for (size_t i = 0; i < stage_count; i++)
		for (size_t c = 0; c < stages[i].case_count; c++)
			for (size_t p = 0; p < count; p++)
				if (plans[p].row->stage_id == stages[i].id
					&& plans[p].row->case_index == stages[i].cases[c].case_index)
					stages[i].cases[c].plan = &plans[p];
}

static struct plan_view *read_plans(struct arena *arena, const struct database_answer *answer)
{
	return plan_read_rows(arena, answer->rows, answer->count, plan_most_rows);
}

static void join_artifacts_of_stages(struct stage_row *stages, size_t stage_count,
	const struct artifact_row *artifacts, size_t count)
{
	for (size_t i = 0; i < stage_count; i++)
		for (size_t a = 0; a < count; a++)
			if (artifacts[a].stage_id == stages[i].id && !stages[i].artifact_count++)
				stages[i].artifacts = &artifacts[a];
}

/* A profile has the times. */
static void join_artifacts(
	struct job_row *jobs, size_t job_count, const struct artifact_row *artifacts, size_t count)
{
	for (size_t j = 0; j < job_count; j++)
		if (!jobs[j].hides_times)
			join_artifacts_of_stages(jobs[j].stages, jobs[j].stage_count, artifacts, count);
}

static void join_comparisons(struct job_row *jobs, size_t job_count,
	const struct head_to_head_row *comparisons, size_t count)
{
	for (size_t j = 0; j < job_count; j++)
		for (size_t c = 0; c < count; c++)
			if (comparisons[c].job_id == jobs[j].id && !jobs[j].comparison_count++)
				jobs[j].comparisons = &comparisons[c];
}

enum { most_comparisons = 100 };

struct stages {
	struct stage_row *rows;
	size_t count;
};

/* The intervals in the pictures, which depend on the jobs' GPUs. */
static void set_intervals(const struct job_row *jobs, size_t count)
{
	for (size_t j = 0; j < count; j++)
		for (size_t i = 0; i < jobs[j].stage_count; i++)
			for (size_t c = 0; c < jobs[j].stages[i].case_count; c++) {
				struct case_row *one = &jobs[j].stages[i].cases[c];
				one->samples.interval = floor_interval_of(jobs[j].gpu, one->mean_ns, one->err_ns);
			}
}

/* Returns the stages with their cases and files. */
static struct stages join_stages(struct arena *arena, const struct database_answer *answers)
{
	struct stages stages = { answers[STAGES].rows, answers[STAGES].count };
	join_samples(arena, answers[CASES].rows, answers[CASES].count, answers[SAMPLES].rows,
		answers[SAMPLES].count);
	join_rows(answers[JOBS].rows, answers[JOBS].count, stages.rows, stages.count,
		answers[CASES].rows, answers[CASES].count);
	set_intervals(answers[JOBS].rows, answers[JOBS].count);
	return stages;
}

int submission_read_rejudged(struct request *request, int64_t submission_id, int64_t result_id,
	struct submission_row *row, struct submission_view *view)
{
	const int64_t viewer = request->viewer.id;
	struct database_answer answers[COUNT(REJUDGED_PARTS)];
	int rc = database_answers(request->db, request->arena, &REJUDGED, answers, request->error,
		"iiiiiiiiii", viewer, viewer, submission_id, viewer, viewer, result_id, result_id,
		result_id, result_id, (int64_t)most_pictures);
	if (!rc)
		rc = submission_take(request, &answers[ROW], row);
	if (rc)
		return rc;
	join_stages(request->arena, answers);
	view->row = row;
	view->jobs = answers[JOBS].rows;
	view->job_count = answers[JOBS].count;
	view->may_see_source = view->may_see_output = view->may_read_all = true;
	return 0;
}

static struct submission_view view_of(
	const struct request *request, const struct submission_row *row, struct database_answer jobs)
{
	return (struct submission_view){ .row = row,
		.jobs = jobs.rows,
		.job_count = jobs.count,
		.may_see_source = submission_may_see_source(request, row),
		.may_see_output = submission_is_read(request, row),
		.is_admin = request->viewer.role == ROLE_ADMIN,
		.may_moderate = row->right >= RIGHT_CHANGE,
		.may_read_all = row->right >= RIGHT_READ,
		.is_author = viewer_acts_for(&request->viewer, row->user_id) };
}

static int ask_for_results(struct request *request, int64_t id, struct database_answer *answers)
{
	const int64_t viewer = request->viewer.id;
	return viewer ? database_answers(request->db, request->arena, &RESULTS, answers, request->error,
			   "iiiiiiiiii", viewer, viewer, id, viewer, viewer, id, id, id, id, id)
				  : database_answers(request->db, request->arena, &RESULTS_FOR_NOBODY, answers,
					  request->error, "iiiiiiii", viewer, viewer, id, viewer, viewer, id, id, id);
}

/* Reads the files and plans for a visitor who is not logged in. */
static int ask_for_secrets(
	struct request *request, const struct submission_row *row, struct database_answer *answers)
{
	return request->viewer.id || !submission_may_see_source(request, row)
		? 0
		: database_answers(request->db, request->arena, &SECRETS_OF_RESULTS,
			&answers[RESULT_SECRETS], request->error, "ii", row->id, row->id);
}

int submission_read_results(
	struct request *request, int64_t id, struct submission_row *row, struct submission_view *view)
{
	struct database_answer answers[PARTS_OF_RESULTS] = { 0 }, *jobs = &answers[RESULT_JOBS],
						   *stages = &answers[RESULT_STAGES], *cases = &answers[RESULT_CASES],
						   *files = &answers[RESULT_FILES], *plans = &answers[RESULT_PLANS];
	int rc = ask_for_results(request, id, answers);
	if (!rc)
		rc = submission_take(request, &answers[RESULT_ROW], row);
	if (!rc)
		rc = ask_for_secrets(request, row, answers);
	if (!rc)
		rc = finish_jobs(request, row, jobs->rows, jobs->count);
	if (rc)
		return rc;
	join_rows(jobs->rows, jobs->count, stages->rows, stages->count, cases->rows, cases->count);
	drop_hidden_times(jobs->rows, jobs->count);
	*view = view_of(request, row, *jobs);
	if (!view->may_see_source) {
		drop_reports(cases->rows, cases->count);
		return 0;
	}
	join_artifacts(jobs->rows, jobs->count, files->rows, files->count);
	join_plans(stages->rows, stages->count, read_plans(request->arena, plans), plans->count);
	return 0;
}

int submission_read_state(
	struct request *request, int64_t id, struct submission_row *row, struct submission_view *view)
{
	const int64_t viewer = request->viewer.id;
	struct database_answer answers[COUNT(STATUS_PARTS)] = { 0 };
	int rc = database_answers(request->db, request->arena, &STATE, answers, request->error,
		"iiiiii", viewer, viewer, id, viewer, viewer, id);
	if (!rc)
		rc = submission_take(request, &answers[ROW], row);
	if (!rc)
		rc = finish_jobs(request, row, answers[JOBS].rows, answers[JOBS].count);
	if (!rc)
		*view = view_of(request, row, answers[JOBS]);
	return rc;
}

int submission_read_samples(
	struct request *request, int64_t id, struct submission_row *row, struct submission_view *view)
{
	const int64_t viewer = request->viewer.id;
	struct database_answer answers[PARTS_OF_PAGE] = { 0 }, *jobs = &answers[JOBS];
	int rc =
		database_answers(request->db, request->arena, &SAMPLES_AND_CASES, answers, request->error,
			"iiiiiiiiii", viewer, viewer, id, viewer, viewer, id, id, id, id, INT64_MAX);
	if (!rc)
		rc = submission_take(request, &answers[ROW], row);
	if (rc)
		return rc;
	struct job_row *rows = jobs->rows;
	for (size_t i = 0; i < jobs->count; i++) {
		hide_held(request, row, &rows[i]);
		hide_withheld(request, row, &rows[i]);
	}
	join_stages(request->arena, answers);
	drop_hidden_times(rows, jobs->count);
	drop_reports(answers[CASES].rows, answers[CASES].count);
	*view = view_of(request, row, *jobs);
	return 0;
}

/* Secrets that were not queried stay empty. */
static int ask_for_page(struct request *request, int64_t id, struct database_answer *answers)
{
	const int64_t pictures = most_pictures, comparisons = most_comparisons,
				  viewer = request->viewer.id;
	return viewer ? database_answers(request->db, request->arena, &PAGE, answers, request->error,
			   "iiiiiiiiiiiiiiiii", viewer, viewer, id, viewer, viewer, id, id, id, id, pictures,
			   id, id, comparisons, id, id, id, viewer)
				  : database_answers(request->db, request->arena, &PAGE_FOR_NOBODY, answers,
					  request->error, "iiiiiiiiiiiii", viewer, viewer, id, viewer, viewer, id, id,
					  id, id, pictures, id, id, comparisons);
}

static int ask_for_secrets_of_page(
	struct request *request, const struct submission_row *row, struct database_answer *answers)
{
	return request->viewer.id || !submission_may_see_source(request, row)
		? 0
		: database_answers(request->db, request->arena, &SECRETS_OF_PAGE, &answers[SECRETS],
			request->error, "iiii", row->id, row->id, row->id, request->viewer.id);
}

static void show_plans(
	struct arena *arena, const struct database_answer *answers, const struct stages *stages)
{
	struct plan_view *plans = read_plans(arena, &answers[PLANS]);
	plan_join_best(plans, answers[PLANS].count, read_plans(arena, &answers[BEST_PLANS]),
		answers[BEST_PLANS].count);
	join_plans(stages->rows, stages->count, plans, answers[PLANS].count);
}

int submission_read_view(
	struct request *request, int64_t id, struct submission_row *row, struct submission_view *view)
{
	struct database_answer answers[PARTS_OF_PAGE] = { 0 };
	int rc = ask_for_page(request, id, answers);
	struct job_row *jobs = answers[JOBS].rows;
	size_t job_count = answers[JOBS].count;
	if (!rc)
		rc = submission_take(request, &answers[ROW], row);
	if (!rc)
		rc = ask_for_secrets_of_page(request, row, answers);
	if (!rc)
		rc = finish_jobs(request, row, jobs, job_count);
	if (rc)
		return rc;
	struct stages stages = join_stages(request->arena, answers);
	join_comparisons(jobs, job_count, answers[COMPARED].rows, answers[COMPARED].count);
	drop_hidden_times(jobs, job_count);
	*view = view_of(request, row, answers[JOBS]);
	if (!view->may_see_source)
		row->source = (struct blob_value){ 0 };
	bool is_open = false;
	for (size_t i = 0; i < job_count; i++)
		is_open = is_open || job_can_be_cancelled(&jobs[i]);
	view->may_cancel = is_open && submission_can_cancel(request, row);
	view->may_withdraw = !is_open && view->is_author && !row->dry_run && !row->is_final
		&& strcmp(row->mode, "ranked") == 0;
	if (!view->may_see_source) {
		drop_reports(answers[CASES].rows, answers[CASES].count);
		return 0;
	}
	if (!row->source.bytes)
		return fail(
			request->error, ERROR_SYSTEM, "The content of a file is missing from the database.");
	join_artifacts(jobs, job_count, answers[FILES].rows, answers[FILES].count);
	show_plans(request->arena, answers, &stages);
	view->source =
		html_lines_are_many(row->source.bytes, row->source.length) ? NULL : row->source.bytes;
	view->lines = line_link_source(row->slot, view->source);
	return 0;
}

/* Whether the page needs no other rows than these. The viewer must be the author, or a visitor from
 * whom no freeze hides the jobs. Every job must be open and have an expected time. */
static bool is_whole_answer(const struct viewer *viewer, const struct open_row *rows, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!job_can_be_cancelled(&rows[i].job) || isnan(rows[i].job.expected_ms))
			return false;
	return count && ((!viewer->id && !rows->is_frozen) || viewer_acts_for(viewer, rows->author_id));
}

static int take_open(struct request *request, int64_t id, const struct open_row *rows, size_t count,
	struct submission_row *row, struct submission_view *view)
{
	struct job_row *jobs = arena_array(request->arena, struct job_row, count);
	for (size_t i = 0; i < count; i++) {
		jobs[i] = rows[i].job;
		empty_results(&jobs[i]);
	}
	*row =
		(struct submission_row){ .id = id, .user_id = rows->author_id, .frozen_at_ms = TIME_NULL };
	int rc = finish_jobs(request, row, jobs, count);
	*view = view_of(request, row, (struct database_answer){ jobs, count });
	return rc;
}

int submission_read_waiting(struct request *request, int64_t id, struct submission_row *row,
	struct submission_view *view, bool *found)
{
	struct open_row *rows;
	size_t count;
	int rc = database_rows(
		request->db, request->arena, &WAITING_JOBS, &rows, &count, request->error, "i", id);
	*found = !rc && count;
	request->has_no_open_job = !rc;
	for (size_t i = 0; i < count; i++) {
		*found = *found && strcmp(rows[i].job.state, "queued") == 0 && !rows[i].is_frozen;
		request->has_no_open_job = request->has_no_open_job && !job_can_be_cancelled(&rows[i].job);
		rows[i].job.expected_ms = rows[i].job.running_ms = NAN;
		rows[i].job.silent_s = rows[i].job.lease_left_s = SQL_NULL_INTEGER;
	}
	return *found ? take_open(request, id, rows, count, row, view) : rc;
}

/* *found: OPEN_JOBS had the whole answer. */
static int read_open(struct request *request, int64_t id, struct submission_row *row,
	struct submission_view *view, bool *found)
{
	struct open_row *rows;
	size_t count;
	int rc = database_rows(
		request->db, request->arena, &OPEN_JOBS, &rows, &count, request->error, "i", id);
	*found = !rc && is_whole_answer(&request->viewer, rows, count);
	return *found ? take_open(request, id, rows, count, row, view) : rc;
}

int submission_read_status(
	struct request *request, int64_t id, struct submission_row *row, struct submission_view *view)
{
	const int64_t viewer = request->viewer.id;
	struct database_answer answers[COUNT(STATUS_PARTS)] = { 0 }, *jobs = &answers[JOBS];
	bool found = false;
	int rc = request->has_no_open_job ? 0 : read_open(request, id, row, view, &found);
	if (rc || found)
		return rc;
	rc = database_answers(request->db, request->arena, &STATUS, answers, request->error,
		"iiiiiiiii", viewer, viewer, id, viewer, viewer, id, id, id, (int64_t)most_comparisons);
	if (!rc)
		rc = submission_take(request, &answers[ROW], row);
	if (!rc)
		rc = finish_jobs(request, row, jobs->rows, jobs->count);
	if (rc)
		return rc;
	join_comparisons(jobs->rows, jobs->count, answers[2].rows, answers[2].count);
	*view = view_of(request, row, *jobs);
	return 0;
}

int submission_jobs(
	struct request *request, const struct submission_row *row, struct job_row **jobs, size_t *count)
{
	return database_rows(request->db, request->arena, &OF_SUBMISSION.jobs, jobs, count,
		request->error, "i", row->id);
}
