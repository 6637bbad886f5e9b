/* The queue: running and queued jobs and the devices, as a page and as JSON. */
#include "cgi/page/queue.h"

#include "cgi/http/kept_answer.h"
#include "cgi/page/pages.h"
#include "cgi/page/shown_leaderboard.h"
#include "lib/fleet/fleet.h"
#include "lib/job/wait.h"
#include "lib/leaderboard/visibility.h"
#include "templates/queue.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The page reads many queued jobs, to estimate when they start, but lists fewer to stay small. */
enum { most_jobs = 200, most_listed = 100, most_counted = 2000, most_devices = 200, reload_s = 5 };

static const struct column JOB_COLUMNS[] = {
	INTEGER(struct queue_job, id),
	INTEGER(struct queue_job, submission_id),
	TEXT(struct queue_job, leaderboard),
	INTEGER(struct queue_job, user_id),
	TEXT(struct queue_job, user),
	TEXT(struct queue_job, gpu),
	TEXT(struct queue_job, mode),
	TEXT(struct queue_job, state),
	TEXT(struct queue_job, progress),
	INTEGER(struct queue_job, attempt),
	TEXT(struct queue_job, lease_owner),
	TIME(struct queue_job, since_ms),
	INTEGER(struct queue_job, comparison_id),
	INTEGER(struct queue_job, rival_id),
	TEXT(struct queue_job, rival),
	INTEGER(struct queue_job, author_id),
	INTEGER(struct queue_job, leaderboard_id),
	INTEGER(struct queue_job, is_public),
	INTEGER(struct queue_job, is_frozen),
	INTEGER(struct queue_job, dry_run),
	INTEGER(struct queue_job, priority),
	REAL(struct queue_job, expected_ms),
	REAL(struct queue_job, running_ms),
};
/* Selects the first jobs in the order of the index jobs_lease, so that MariaDB reads no other jobs.
 * Queued jobs have no lease, so the index sorts them by ID. */
#define EXPECTED_MS \
	SQL_EXPECTED_MS("s.task_version_id", "j.gpu", "IF(c.id IS NULL, s.mode, 'comparison')")
#define IS_FROZEN SQL_IS_FROZEN("l")
#define JOBS_IN(state, since) \
	"(SELECT j.id, s.id AS submission_id, l.name AS leaderboard, j.user_id, u.name AS user, " \
	"j.gpu, CASE WHEN c.id IS NOT NULL THEN 'comparison' " \
	"WHEN j.rejudged_id IS NOT NULL THEN 'rejudging' " \
	"WHEN s.dry_run THEN 'dry run' ELSE s.mode END AS mode, " \
	"j.state, j.progress, j.attempt, j.lease_owner, j." since " AS since_ms, " \
	"c.id AS comparison_id, r.id AS rival_id, ru.name AS rival, s.user_id AS author_id, " \
	"l.id AS leaderboard_id, l.visibility = 'public' AS is_public, " IS_FROZEN \
	" AS is_frozen, s.dry_run, " \
	"j.priority, " EXPECTED_MS " AS expected_ms, " \
	"IF(j.state = 'running', " \
	"TIMESTAMPDIFF(MICROSECOND, j.started_at, UTC_TIMESTAMP(3)) / 1000, NULL) AS running_ms " \
	"FROM (SELECT id FROM jobs WHERE state = '" state "' " \
	"ORDER BY lease_expires, id LIMIT ?) first " \
	"JOIN jobs j ON j.id = first.id LEFT JOIN comparisons c ON c.id = j.comparison_id " \
	"LEFT JOIN rejudged_jobs a ON a.id = j.rejudged_id " \
	"JOIN submissions s " \
	"ON s.id = COALESCE(j.submission_id, c.challenger_id, a.submission_id) " \
	"JOIN leaderboards l ON l.id = s.leaderboard_id JOIN users u ON u.id = s.user_id " \
	"LEFT JOIN (submissions r JOIN users ru ON ru.id = r.user_id) ON r.id = c.incumbent_id)"
#define RUNNING_JOBS JOBS_IN("running", "started_at")
#define QUEUED_JOBS JOBS_IN("queued", "queued_at")
static const struct statement JOBS = SELECT(struct queue_job, JOB_COLUMNS,
	RUNNING_JOBS " UNION ALL " QUEUED_JOBS " ORDER BY state = 'queued', since_ms, id");
static struct kept_answer jobs_kept = KEPT_ANSWER(&JOBS, "ii", most_jobs, most_jobs);

/* The leaderboards all of which the viewer may read. */
struct read_leaderboard {
	int64_t id;
};
static const struct column READ_COLUMNS[] = { INTEGER(struct read_leaderboard, id) };
#define MAY_READ SQL_MAY_READ("l")
static const struct statement READ_LEADERBOARDS = SELECT(
	struct read_leaderboard, READ_COLUMNS, "SELECT l.id FROM leaderboards l WHERE " MAY_READ);

/* One row per device. If there is no worker, there is one row with NULL as worker. */
struct device_row {
	int64_t jobs;
	struct queue_device device;
};
#define DEVICE(kind, member) \
	{ \
#member, COLUMN_##kind, offsetof(struct device_row, device.member) \
	}
static const struct column DEVICE_COLUMNS[] = {
	INTEGER(struct device_row, jobs),
	DEVICE(INTEGER, worker_id),
	DEVICE(TEXT, worker),
	DEVICE(TEXT, version),
	DEVICE(TIME, started_at_ms),
	DEVICE(TIME, seen_at_ms),
	DEVICE(INTEGER, online),
	DEVICE(INTEGER, quarantined),
	DEVICE(TEXT, model),
	DEVICE(TEXT, product),
	DEVICE(INTEGER, memory_bytes),
	DEVICE(INTEGER, pause),
	DEVICE(INTEGER, runs),
	DEVICE(INTEGER, takes),
	DEVICE(INTEGER, waits),
};
#define DEVICE_PAUSE SQL_PAUSE("w.name", "g.uuid")
#define DEVICE_TAKES_JOBS SQL_TAKES_JOBS("g", "w")
static const struct statement DEVICES = SELECT(struct device_row, DEVICE_COLUMNS,
	"SELECT c.jobs, w.id AS worker_id, w.name AS worker, w.version, w.started_at AS started_at_ms, "
	"  COALESCE(g.seen_at, w.seen_at) AS seen_at_ms, "
	"  w.seen_at" SQL_IS_ONLINE "    AND COALESCE(g.seen_at, w.seen_at)" SQL_IS_ONLINE
	"AS online, g.quarantined_at IS NOT NULL AS quarantined, g.model, g.product, "
	"g.memory_bytes, " DEVICE_PAUSE " AS pause, "
	"busy.lease_owner IS NOT NULL AS runs, "
	"COALESCE(w.seen_at" SQL_IS_ONLINE "AND " DEVICE_TAKES_JOBS ", 0) AS takes, "
	"g.waits_since IS NOT NULL AS waits "
	"FROM (SELECT COUNT(*) AS jobs FROM (SELECT id FROM jobs "
	"WHERE state IN ('running', 'queued') LIMIT ?) open) c "
	"LEFT JOIN workers w ON TRUE LEFT JOIN gpus g ON g.worker_id = w.id "
	"LEFT JOIN (SELECT DISTINCT lease_owner, lease_device FROM jobs "
	"WHERE state = 'running') busy "
	"ON busy.lease_owner = w.name AND busy.lease_device = g.uuid "
	"ORDER BY w.seen_at" SQL_IS_ONLINE "DESC, w.name, g.model, g.uuid LIMIT ?");

static struct kept_answer devices_kept = KEPT_ANSWER(&DEVICES, "ii", most_counted, most_devices);

/* The closing of a leaderboard's devices and its extensions do not matter here. */
static const struct column MODEL_COLUMNS[] = { TEXT(struct queue_model, gpu) };
static const struct statement WANTED =
	SELECT(struct queue_model, MODEL_COLUMNS, SQL_WANTED_MODELS("l.visibility = 'public'"));
static struct kept_answer wanted_kept = KEPT_ANSWER(&WANTED, "", 0);

static bool has_private(const struct queue_view *view)
{
	for (size_t i = 0; i < view->job_count; i++)
		if (!view->jobs[i].is_public)
			return true;
	return false;
}

/* Whether a job shows more to those who may read all of its leaderboard. */
static bool has_secrets(const struct queue_view *view)
{
	for (size_t i = 0; i < view->job_count; i++)
		if (view->jobs[i].dry_run || view->jobs[i].is_frozen)
			return true;
	return false;
}

/* Sets which jobs the visitor may see, as SQL_MAY_SEE and SQL_MAY_SEE_TRIAL say, and of which also
 * the progress, as SQL_MAY_SEE_RESULT says (lib/leaderboard/visibility.h). */
static int mark_visible(struct request *request, struct queue_view *view)
{
	const struct viewer *viewer = &request->viewer;
	struct seen_leaderboards seen = { 0 }, read = { 0 };
	int rc = has_private(view) ? seen_leaderboards_read(request, &seen) : 0;
	if (!rc && viewer->id && has_secrets(view))
		rc = database_rows(request->db, request->arena, &READ_LEADERBOARDS, &read.ids, &read.count,
			request->error, "i", viewer->id);
	for (size_t i = 0; i < view->job_count && !rc; i++) {
		struct queue_job *job = &view->jobs[i];
		bool is_read = viewer_acts_for(viewer, job->author_id)
			|| seen_leaderboards_have(&read, job->leaderboard_id);
		job->visible = (job->is_public || seen_leaderboards_have(&seen, job->leaderboard_id))
			&& (!job->dry_run || is_read);
		if (job->is_frozen && !is_read)
			job->progress = "";
	}
	return rc;
}

static int read_queue_jobs(struct request *request, struct queue_view *view)
{
	struct database_answer answer;
	int rc = kept_answer_read(request->db, request->arena, &jobs_kept, &answer, request->error);
	if (rc)
		return rc;
	view->jobs = answer.rows;
	view->job_count = answer.count < most_jobs ? answer.count : most_jobs;
	while (
		view->running < view->job_count && strcmp(view->jobs[view->running].state, "running") == 0)
		view->running++;
	return mark_visible(request, view);
}

/* Also finds out how many queued and running jobs were not read. There can be some only if the list
 * of jobs is full. */
int queue_read_devices(struct request *request, struct queue_view *view)
{
	struct database_answer answer;
	int rc = kept_answer_read(request->db, request->arena, &devices_kept, &answer, request->error);
	if (rc)
		return rc;
	const struct device_row *rows = answer.rows;
	const size_t count = answer.count;
	int64_t jobs = count && view->job_count == most_jobs ? rows[0].jobs : 0;
	view->more = jobs > (int64_t)view->job_count ? jobs - (int64_t)view->job_count : 0;
	view->even_more = jobs == most_counted;
	struct queue_device *devices = arena_array(request->arena, struct queue_device, count + 1);
	for (size_t i = 0; i < count; i++)
		if (rows[i].device.worker)
			devices[view->device_count++] = rows[i].device;
	view->devices = devices;
	return 0;
}

/* Removes jobs from the list that the visitor may not see, such as jobs of hidden leaderboards and
 * of others' dry runs. The lines have counted them already. */
static void keep_visible(struct queue_view *view)
{
	size_t kept = 0, running = 0;
	for (size_t i = 0; i < view->job_count; i++)
		if (view->jobs[i].visible) {
			running += i < view->running;
			view->jobs[kept++] = view->jobs[i];
		}
	view->job_count = kept;
	view->running = running;
}

static void cut_list(struct queue_view *view)
{
	if (view->job_count <= most_listed)
		return;
	view->unlisted = (int64_t)(view->job_count - most_listed);
	view->job_count = most_listed;
}

/* ---- the lines: one for each model with devices or queued jobs ---- */

static struct queue_line *find_line(struct queue_line *lines, size_t count, const char *gpu)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(lines[i].gpu, gpu) == 0)
			return &lines[i];
	return NULL;
}

static struct queue_line *queue_line_of(struct queue_line *lines, size_t *count, const char *gpu)
{
	struct queue_line *known = find_line(lines, *count, gpu);
	if (known)
		return known;
	lines[*count] = (struct queue_line){ .gpu = gpu, .next_ms = NAN };
	return &lines[(*count)++];
}

/* Counts the jobs in the line of each model, including jobs that the visitor may not see. A model
 * without devices has a line only if the visitor may see one of its jobs. */
static void count_queue_lines(struct arena *arena, struct queue_view *view)
{
	struct queue_line *lines =
		arena_array(arena, struct queue_line, view->job_count + view->device_count + 1);
	for (size_t i = 0; i < view->device_count; i++)
		if (view->devices[i].model) {
			struct queue_line *line =
				queue_line_of(lines, &view->line_count, view->devices[i].model);
			line->devices += view->devices[i].takes == 1;
			line->elsewhere += view->devices[i].takes == 1 && view->devices[i].waits == 1;
		}
	for (size_t i = 0; i < view->job_count; i++)
		if (view->jobs[i].visible)
			queue_line_of(lines, &view->line_count, view->jobs[i].gpu);
	for (size_t i = 0; i < view->job_count; i++) {
		struct queue_line *line = find_line(lines, view->line_count, view->jobs[i].gpu);
		if (line)
			*(i < view->running ? &line->running : &line->waiting) += 1;
	}
	view->lines = lines;
}

static struct wait_job wait_job_of(const struct queue_job *job)
{
	return (struct wait_job){ .id = job->id,
		.user_id = job->user_id,
		.priority = job->priority,
		.gpu = job->gpu,
		.expected_ms = job->expected_ms,
		.running_ms = job->running_ms };
}

/* Estimates for each model when a job that `user_id` submits now would start. Adds this job to the
 * end of `jobs`, as the youngest. */
static void expect_next(struct arena *arena, struct queue_view *view, int64_t user_id,
	struct wait_job *jobs, const struct wait_devices *devices)
{
	for (size_t i = 0; i < view->line_count; i++) {
		struct queue_line *line = &view->lines[i];
		jobs[view->job_count] = (struct wait_job){ .id = INT64_MAX,
			.user_id = user_id,
			.gpu = line->gpu,
			.expected_ms = NAN,
			.running_ms = NAN };
		wait_estimate_line(arena, jobs, view->job_count + 1, devices, view->line_count, line->gpu);
		line->next_ms = jobs[view->job_count].start_ms;
		line->next = wait_words(arena, line->next_ms);
	}
}

/* Estimates when the queued jobs start. If more jobs are queued than were read, nobody knows when a
 * new job would start. */
static void expect_queue_starts(struct request *request, struct queue_view *view)
{
	struct arena *arena = request->arena;
	struct wait_job *jobs = arena_array(arena, struct wait_job, view->job_count + 1);
	struct wait_devices *devices = arena_array(arena, struct wait_devices, view->line_count + 1);
	for (size_t i = 0; i < view->line_count; i++)
		devices[i] = (struct wait_devices){ .gpu = view->lines[i].gpu,
			.count = view->lines[i].devices,
			.elsewhere = view->lines[i].elsewhere };
	for (size_t i = 0; i < view->job_count; i++)
		jobs[i] = wait_job_of(&view->jobs[i]);
	wait_estimate(arena, jobs, view->job_count, devices, view->line_count);
	for (size_t i = 0; i < view->job_count; i++) {
		view->jobs[i].position = jobs[i].position;
		view->jobs[i].start = wait_words(arena, jobs[i].start_ms);
	}
	if (!view->more)
		expect_next(arena, view, request->viewer.id ? request->viewer.id : -1, jobs, devices);
}

static int by_turn(const void *left, const void *right)
{
	const struct queue_job *a = left, *b = right;
	return a->position != b->position ? (a->position > b->position) - (a->position < b->position)
									  : (a->id > b->id) - (a->id < b->id);
}

/* Sorts the queued jobs by their positions. The lines of several models are merged. */
static void sort_by_turns(struct queue_view *view)
{
	if (view->job_count > view->running)
		qsort(view->jobs + view->running, view->job_count - view->running, sizeof *view->jobs,
			by_turn);
}

int queue_read(struct request *request, struct queue_view *view)
{
	int rc = read_queue_jobs(request, view);
	if (!rc)
		rc = queue_read_devices(request, view);
	if (rc)
		return rc;
	count_queue_lines(request->arena, view);
	expect_queue_starts(request, view);
	sort_by_turns(view);
	keep_visible(view);
	cut_list(view);
	request->may_be_cached = true;
	return 0;
}

static int read_wanted(struct request *request, struct queue_view *view)
{
	struct database_answer answer;
	int rc = kept_answer_read(request->db, request->arena, &wanted_kept, &answer, request->error);
	view->wanted = answer.rows;
	view->wanted_count = rc ? 0 : answer.count;
	return rc;
}

bool queue_has_line(const struct queue_view *view, const char *gpu)
{
	return find_line(view->lines, view->line_count, gpu) != NULL;
}

const char *queue_start_words(const struct queue_view *view, const struct queue_line *line)
{
	if (line->next)
		return line->next;
	for (size_t i = 0; i < view->device_count; i++)
		if (view->devices[i].model && strcmp(view->devices[i].model, line->gpu) == 0)
			return line->devices ? "not known yet" : "when a device takes jobs again";
	return "when a device is online";
}

int page_queue(struct request *request)
{
	struct queue_view view = { 0 };
	int rc = queue_read(request, &view);
	if (!rc)
		rc = read_wanted(request, &view);
	if (rc)
		return rc;
	struct page page = page_make(request, "Queue", "queue");
	page.refresh_s = reload_s;
	page.live_url = "/queue/status";
	queue_page(&request->body, &page, &view);
	return 0;
}

/* ---- the changing part as JSON ---- */

static json_t *queue_job_json(const struct queue_job *job)
{
	json_t *rival = job->rival ? json_integer(job->rival_id) : json_null();
	return json_pack("{s:I, s:I, s:o, s:s, s:s, s:s, s:I}", "id", (json_int_t)job->id, "submission",
		(json_int_t)job->submission_id, "compared_with", rival, "gpu", job->gpu, "state",
		job->state, "stage", job->progress, "attempt", (json_int_t)job->attempt);
}

const char *queue_device_state(const struct queue_device *device)
{
	return device->quarantined == 1
		? "quarantined"
		: fleet_state(device->online == 1, (enum pause)device->pause, device->runs == 1);
}

/* Devices are sorted by worker and model. */
static bool is_same_model(const struct queue_device *one, const struct queue_device *other)
{
	return one->model && other->model && one->worker_id == other->worker_id
		&& strcmp(one->model, other->model) == 0;
}

size_t queue_device_number(const struct queue_view *view, size_t index)
{
	size_t first = index;
	while (first && is_same_model(&view->devices[first - 1], &view->devices[index]))
		first--;
	bool is_alone = first == index
		&& (index + 1 == view->device_count
			|| !is_same_model(&view->devices[index], &view->devices[index + 1]));
	return is_alone ? 0 : index - first + 1;
}

bool queue_has_hidden_jobs(const struct queue_view *view)
{
	int64_t jobs = 0;
	for (size_t i = 0; i < view->line_count; i++)
		jobs += view->lines[i].waiting + view->lines[i].running;
	return jobs && !view->job_count;
}

static json_t *queue_device_json(const struct queue_device *device)
{
	return json_pack("{s:s, s:s?, s:b, s:b, s:s}", "worker", device->worker, "gpu", device->model,
		"online", (int)(device->online == 1), "quarantined", (int)(device->quarantined == 1),
		"state", queue_device_state(device));
}

/* Answers "queued" even if the queue is empty: live.js then keeps polling. */
int page_queue_status(struct request *request)
{
	struct queue_view view = { 0 };
	int rc = queue_read(request, &view);
	if (rc)
		return rc;
	json_t *jobs = json_array(), *devices = json_array();
	for (size_t i = 0; i < view.job_count; i++)
		json_array_append_new(jobs, queue_job_json(&view.jobs[i]));
	for (size_t i = 0; i < view.device_count; i++)
		json_array_append_new(devices, queue_device_json(&view.devices[i]));
	return respond_json(request,
		json_pack("{s:s, s:o, s:I, s:o}", "state", view.running ? "running" : "queued", "jobs",
			jobs, "more", (json_int_t)(view.unlisted + view.more), "devices", devices));
}
