#include "lib/job/wait.h"

#include "lib/base/scope.h"
#include "lib/leaderboard/leaderboard.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the order of a line ---- */

struct place {
	struct wait_job *job;
	int64_t round; /* number of jobs of its user that run or are ahead in line */
};

struct line {
	struct place *waiting; /* in the order of their starts */
	size_t count;
	double *free_ms; /* when each device will be free */
	size_t devices;
};

static int compare_integers(int64_t a, int64_t b)
{
	return (a > b) - (a < b);
}

static int by_number(const void *left, const void *right)
{
	return compare_integers(*(const int64_t *)left, *(const int64_t *)right);
}

/* The order in which workers take the jobs of one user. */
static int by_user(const void *left, const void *right)
{
	const struct wait_job *a = ((const struct place *)left)->job,
						  *b = ((const struct place *)right)->job;
	if (a->user_id != b->user_id)
		return compare_integers(a->user_id, b->user_id);
	return a->priority != b->priority ? compare_integers(a->priority, b->priority)
									  : compare_integers(a->id, b->id);
}

static int by_turn(const void *left, const void *right)
{
	const struct place *a = left, *b = right;
	if (a->job->priority != b->job->priority)
		return compare_integers(a->job->priority, b->job->priority);
	return a->round != b->round ? compare_integers(a->round, b->round)
								: compare_integers(a->job->id, b->job->id);
}

/* Sorts the line of one model. `running` has the users of all running jobs, sorted. After sorting
 * by_user, the jobs of a user are next to each other, and each counts as running for the next one.
 * Sorting by these counts then gives the line in which workers would take the jobs if none finished
 * in between. */
static void sort_line(struct line *line, const int64_t *running, size_t running_count)
{
	size_t next = 0;
	qsort(line->waiting, line->count, sizeof *line->waiting, by_user);
	for (size_t i = 0; i < line->count; i++) {
		int64_t user_id = line->waiting[i].job->user_id;
		if (i && line->waiting[i - 1].job->user_id == user_id) {
			line->waiting[i].round = line->waiting[i - 1].round + 1;
			continue;
		}
		while (next < running_count && running[next] < user_id)
			next++;
		for (; next < running_count && running[next] == user_id; next++)
			line->waiting[i].round++;
	}
	qsort(line->waiting, line->count, sizeof *line->waiting, by_turn);
	for (size_t i = 0; i < line->count; i++)
		line->waiting[i].job->position = (int64_t)i + 1;
}

/* ---- simulating the devices ---- */

static int by_size(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;
	return (a > b) - (a < b);
}

/* How long a running job still takes. A job that has exceeded its expected time by some amount is
 * assumed to need this amount again. */
static double remaining_ms(const struct wait_job *job)
{
	return isnan(job->expected_ms) ? INFINITY : fabs(job->expected_ms - job->running_ms);
}

/* Estimates when each device will be free. Devices without a job are free now. If more jobs run
 * than devices take jobs, some devices are draining. The estimate assumes that the jobs that finish
 * last run on these. */
static void occupy_devices(struct arena *arena, struct line *line, const struct wait_job *jobs,
	size_t count, const char *gpu)
{
	double *remaining = arena_array(arena, double, count + 1);
	size_t running = 0;
	for (size_t i = 0; i < count; i++)
		if (!isnan(jobs[i].running_ms) && strcmp(jobs[i].gpu, gpu) == 0)
			remaining[running++] = remaining_ms(&jobs[i]);
	qsort(remaining, running, sizeof *remaining, by_size);
	line->free_ms = arena_array(arena, double, line->devices + 1);
	memcpy(line->free_ms, remaining,
		sizeof *remaining * (running < line->devices ? running : line->devices));
}

static void simulate_queue(struct line *line)
{
	for (size_t i = 0; i < line->count; i++) {
		struct wait_job *job = line->waiting[i].job;
		size_t first = 0;
		for (size_t k = 1; k < line->devices; k++)
			if (line->free_ms[k] < line->free_ms[first])
				first = k;
		bool is_known = line->devices && isfinite(line->free_ms[first]);
		job->start_ms = is_known ? line->free_ms[first] : NAN;
		if (is_known)
			line->free_ms[first] += isnan(job->expected_ms) ? INFINITY : job->expected_ms;
	}
}

/* ---- all lines ---- */

/* The devices of one model; all numbers are zero if none is online. */
static struct wait_devices devices_of(
	const struct wait_devices *devices, size_t count, const char *gpu)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(devices[i].gpu, gpu) == 0)
			return devices[i];
	return (struct wait_devices){ .gpu = gpu };
}

/* The line for one model. Jobs running on any model count for their users. */
static struct line gather_line(
	struct arena *arena, struct wait_job *jobs, size_t count, const char *gpu)
{
	struct line line = { .waiting = arena_array(arena, struct place, count + 1) };
	int64_t *running = arena_array(arena, int64_t, count + 1);
	size_t running_count = 0;
	for (size_t i = 0; i < count; i++) {
		if (!isnan(jobs[i].running_ms))
			running[running_count++] = jobs[i].user_id;
		else if (strcmp(jobs[i].gpu, gpu) == 0)
			line.waiting[line.count++].job = &jobs[i];
	}
	qsort(running, running_count, sizeof *running, by_number);
	sort_line(&line, running, running_count);
	return line;
}

void wait_estimate_line(struct arena *arena, struct wait_job *jobs, size_t count,
	const struct wait_devices *devices, size_t device_count, const char *gpu)
{
	struct line line = gather_line(arena, jobs, count, gpu);
	struct wait_devices own = devices_of(devices, device_count, gpu);
	/* leaves out devices in use by other programs, because nobody knows when those finish */
	int64_t taking = own.count - own.elsewhere;
	line.devices = taking > 0 ? (size_t)taking : 0;
	occupy_devices(arena, &line, jobs, count, gpu);
	simulate_queue(&line);
}

void wait_estimate(struct arena *arena, struct wait_job *jobs, size_t count,
	const struct wait_devices *devices, size_t device_count)
{
	for (size_t i = 0; i < count; i++) {
		jobs[i].position = 0;
		jobs[i].start_ms = NAN;
	}
	for (size_t i = 0; i < count; i++)
		if (!jobs[i].position && isnan(jobs[i].running_ms))
			wait_estimate_line(arena, jobs, count, devices, device_count, jobs[i].gpu);
}

/* ---- from the database ---- */

/* The limit of the queue page's list. */
enum { most_waiting = 200 };
#define MOST_LISTED "200"

/* A row is a running or waiting job, in which `devices` is NULL, or a GPU model. For a model, the
 * row has the numbers of its devices: those that take jobs, are online, are paused, and are in use
 * by another program on their host. */
struct read_row {
	int64_t id, user_id, priority, devices, online, paused, elsewhere;
	const char *gpu;
	double expected_ms, running_ms;
};
static const struct column READ_COLUMNS[] = {
	INTEGER(struct read_row, id),
	INTEGER(struct read_row, user_id),
	INTEGER(struct read_row, priority),
	INTEGER(struct read_row, devices),
	INTEGER(struct read_row, online),
	INTEGER(struct read_row, paused),
	INTEGER(struct read_row, elsewhere),
	TEXT(struct read_row, gpu),
	REAL(struct read_row, expected_ms),
	REAL(struct read_row, running_ms),
};
#define EXPECTED_MS \
	SQL_EXPECTED_MS("COALESCE(s.task_version_id, c.task_version_id)", "j.gpu", \
		"IF(c.id IS NULL, s.mode, 'comparison')")
#define JOB_FIELDS \
	"j.id, j.user_id, j.priority, NULL AS devices, NULL AS online, NULL AS paused, " \
	"NULL AS elsewhere, j.gpu, " EXPECTED_MS " AS expected_ms"
#define JOINED_JOBS \
	"first JOIN jobs j ON j.id = first.id " \
	"LEFT JOIN rejudged_jobs a ON a.id = j.rejudged_id " \
	"LEFT JOIN submissions s ON s.id = COALESCE(j.submission_id, a.submission_id) " \
	"LEFT JOIN comparisons c ON c.id = j.comparison_id"
#define TAKES_JOBS SQL_TAKES_JOBS("g", "w")
/* The parameters are a job's id and a submission's id, or 0. That job and that submission's jobs
 * are included even if they are beyond the limit. */
const struct statement wait_reading = SELECT(struct read_row, READ_COLUMNS,
	"SELECT " JOB_FIELDS
	", TIMESTAMPDIFF(MICROSECOND, j.started_at, UTC_TIMESTAMP(3)) / 1000 AS running_ms "
	"FROM (SELECT id FROM jobs FORCE INDEX (jobs_lease) WHERE state = 'running' "
	"  LIMIT " MOST_LISTED ") " JOINED_JOBS " "
	"UNION ALL SELECT " JOB_FIELDS ", NULL AS running_ms "
	"FROM ((SELECT id FROM jobs WHERE state = 'queued' ORDER BY lease_expires, id "
	"  LIMIT " MOST_LISTED ") "
	"  UNION SELECT id FROM jobs WHERE id = ? AND state = 'queued' "
	"  UNION SELECT id FROM jobs WHERE submission_id = ? AND state = 'queued') " JOINED_JOBS " "
	"UNION ALL SELECT NULL, NULL, NULL, CAST(SUM(" TAKES_JOBS ") AS SIGNED), COUNT(*), "
	"CAST(SUM(EXISTS (SELECT 1 FROM pauses p WHERE p.worker = w.name "
	"  AND p.uuid IN ('', g.uuid))) AS SIGNED), "
	"CAST(SUM(g.waits_since IS NOT NULL AND " TAKES_JOBS ") AS SIGNED), g.model, NULL, NULL "
	"FROM gpus g JOIN workers w ON w.id = g.worker_id WHERE g.seen_at" SQL_IS_ONLINE
	"GROUP BY g.model");

struct reading {
	struct wait_job *jobs;
	size_t count; /* jobs read; the array has room for more, see read_rows */
	struct wait_devices *devices;
	size_t device_count;
	bool is_cut;
};

static void read_rows(struct arena *arena, const struct read_row *rows, size_t count, size_t room,
	struct reading *reading)
{
	size_t waiting = 0;
	*reading = (struct reading){ .jobs = arena_array(arena, struct wait_job, count + room + 1),
		.devices = arena_array(arena, struct wait_devices, count + 1) };
	for (size_t i = 0; i < count; i++) {
		const struct read_row *row = &rows[i];
		if (row->devices != SQL_NULL_INTEGER) {
			reading->devices[reading->device_count++] = (struct wait_devices){ .gpu = row->gpu,
				.count = row->devices,
				.online = row->online,
				.paused = row->paused,
				.elsewhere = row->elsewhere };
			continue;
		}
		waiting += isnan(row->running_ms);
		reading->jobs[reading->count++] = (struct wait_job){ .id = row->id,
			.user_id = row->user_id,
			.priority = row->priority,
			.gpu = row->gpu,
			.expected_ms = row->expected_ms,
			.running_ms = row->running_ms };
	}
	reading->is_cut = waiting >= most_waiting;
}

static struct wait wait_in(
	struct arena *arena, const struct reading *reading, const struct wait_job *job)
{
	struct wait_devices devices = devices_of(reading->devices, reading->device_count, job->gpu);
	return (struct wait){ .position = job->position,
		.start_ms = job->start_ms,
		.expected_ms = job->expected_ms,
		.at_least = reading->is_cut,
		.devices = devices.count,
		.online = devices.online,
		.paused = devices.paused,
		.elsewhere = devices.elsewhere,
		.words = wait_words(arena, job->start_ms) };
}

static struct wait_job *find_waiting(const struct reading *reading, int64_t job_id)
{
	for (size_t i = 0; i < reading->count; i++)
		if (reading->jobs[i].id == job_id && isnan(reading->jobs[i].running_ms))
			return &reading->jobs[i];
	return NULL;
}

int wait_of_job(struct database *db, struct arena *arena, int64_t job_id, struct wait *wait,
	struct error *error)
{
	struct database_answer answer;
	int rc = database_rows(
		db, arena, &wait_reading, &answer.rows, &answer.count, error, "ii", job_id, (int64_t)0);
	if (!rc)
		wait_of_jobs(arena, &answer, &job_id, 1, wait);
	return rc;
}

void wait_of_jobs(struct arena *arena, const struct database_answer *answer, const int64_t *job_ids,
	size_t count, struct wait *waits)
{
	struct reading reading;
	read_rows(arena, answer->rows, answer->count, 0, &reading);
	for (size_t i = 0; i < count; i++) {
		waits[i] = (struct wait){ .start_ms = NAN, .expected_ms = NAN };
		struct wait_job *job = find_waiting(&reading, job_ids[i]);
		if (job && !job->position)
			wait_estimate_line(arena, reading.jobs, reading.count, reading.devices,
				reading.device_count, job->gpu);
		if (job)
			waits[i] = wait_in(arena, &reading, job);
	}
}

bool wait_has_job(const struct database_answer *answer, int64_t job_id)
{
	const struct read_row *rows = answer->rows;
	for (size_t i = 0; i < answer->count; i++)
		if (rows[i].devices == SQL_NULL_INTEGER && rows[i].id == job_id
			&& isnan(rows[i].running_ms))
			return true;
	return false;
}

/* The next job of the user would be younger than all others, and its own duration does not matter
 * for its start. A submission for several models has a job for each. Nobody knows which of these
 * runs first, so each estimate ignores the others. */
void wait_of_next(struct arena *arena, const struct database_answer *answer, int64_t user_id,
	const char *const *gpus, size_t count, struct wait *waits)
{
	struct reading reading;
	read_rows(arena, answer->rows, answer->count, 1, &reading);
	struct wait_job *next = &reading.jobs[reading.count];
	for (size_t i = 0; i < count; i++) {
		*next = (struct wait_job){ .id = INT64_MAX,
			.user_id = user_id,
			.gpu = gpus[i],
			.expected_ms = NAN,
			.running_ms = NAN };
		wait_estimate_line(
			arena, reading.jobs, reading.count + 1, reading.devices, reading.device_count, gpus[i]);
		waits[i] = wait_in(arena, &reading, next);
	}
}

/* ---- all lines, for admins ---- */

struct line_row {
	const char *gpu;
	int64_t devices, running, waiting, oldest_ms;
};
static const struct column LINE_COLUMNS[] = {
	TEXT(struct line_row, gpu),
	INTEGER(struct line_row, devices),
	INTEGER(struct line_row, running),
	INTEGER(struct line_row, waiting),
	TIME(struct line_row, oldest_ms),
};
const struct statement wait_counting = SELECT(struct line_row, LINE_COLUMNS,
	"SELECT gpu, CAST(SUM(devices) AS SIGNED) AS devices, CAST(SUM(running) AS SIGNED) AS running, "
	"  CAST(SUM(waiting) AS SIGNED) AS waiting, MIN(oldest) AS oldest_ms FROM ("
	"  SELECT gpu, 0 AS devices, COUNT(*) AS running, 0 AS waiting, NULL AS oldest FROM jobs "
	"WHERE state = 'running' GROUP BY gpu "
	"  UNION ALL SELECT gpu, 0, 0, COUNT(*), MIN(queued_at) FROM jobs "
	"WHERE state = 'queued' GROUP BY gpu "
	"  UNION ALL SELECT g.model, CAST(SUM(" TAKES_JOBS ") AS SIGNED), 0, 0, NULL "
	"  FROM gpus g JOIN workers w ON w.id = g.worker_id GROUP BY g.model) parts "
	"GROUP BY gpu ORDER BY gpu");

static void find_last(struct arena *arena, const struct reading *reading, struct wait_line *line)
{
	const struct wait_job *last = NULL;
	for (size_t i = 0; i < reading->count; i++) {
		const struct wait_job *job = &reading->jobs[i];
		if (job->position && strcmp(job->gpu, line->gpu) == 0
			&& (!last || job->position > last->position))
			last = job;
	}
	line->last = last ? wait_words(arena, last->start_ms) : NULL;
	line->at_least = last && last->position < line->waiting;
}

void wait_lines_read(struct arena *arena, const struct database_answer *counts,
	const struct database_answer *reading_answer, struct wait_line **lines, size_t *count)
{
	const struct line_row *rows = counts->rows;
	struct reading reading;
	read_rows(arena, reading_answer->rows, reading_answer->count, 0, &reading);
	wait_estimate(arena, reading.jobs, reading.count, reading.devices, reading.device_count);
	*count = counts->count;
	*lines = arena_array(arena, struct wait_line, *count + 1);
	for (size_t i = 0; i < *count; i++) {
		(*lines)[i] = (struct wait_line){ .gpu = rows[i].gpu,
			.devices = rows[i].devices,
			.running = rows[i].running,
			.waiting = rows[i].waiting,
			.oldest_ms = rows[i].oldest_ms };
		find_last(arena, &reading, &(*lines)[i]);
	}
}

int wait_lines(struct database *db, struct arena *arena, struct wait_line **lines, size_t *count,
	struct error *error)
{
	static const struct statement *const parts[] = { &wait_counting, &wait_reading };
	static const struct bundle both = BUNDLE(parts);
	struct database_answer answers[COUNT(parts)];
	int rc = database_answers(db, arena, &both, answers, error, "ii", (int64_t)0, (int64_t)0);
	if (!rc)
		wait_lines_read(arena, &answers[0], &answers[1], lines, count);
	return rc;
}

/* ---- the times of finished jobs ---- */

enum { most_recent = 31 };

/* The time is never negative, even after the clock was set back. Dry runs do not count, because an
 * author's samples may fail on purpose. */
static const struct statement RECORD_TIME =
	COMMAND("INSERT INTO job_times (task_version_id, gpu, mode, recent, updated_at) "
			"SELECT COALESCE(s.task_version_id, c.task_version_id), j.gpu, "
			"IF(c.id IS NULL, s.mode, 'comparison'), "
			"GREATEST(TIMESTAMPDIFF(MICROSECOND, j.started_at, j.finished_at) DIV 1000, 0), "
			"j.finished_at "
			"FROM jobs j LEFT JOIN submissions s ON s.id = j.submission_id "
			"LEFT JOIN comparisons c ON c.id = j.comparison_id "
			"WHERE j.id = ? AND j.started_at IS NOT NULL AND j.finished_at IS NOT NULL "
			"AND COALESCE(s.id, c.id) IS NOT NULL AND NOT COALESCE(s.dry_run, FALSE) "
			"ON DUPLICATE KEY UPDATE "
			"recent = SUBSTRING_INDEX(CONCAT(VALUES(recent), ',', job_times.recent), ',', ?), "
			"updated_at = VALUES(updated_at)");
struct recent_times {
	int64_t task_version_id;
	const char *gpu, *mode, *recent;
};
static const struct column RECENT_COLUMNS[] = {
	INTEGER(struct recent_times, task_version_id),
	TEXT(struct recent_times, gpu),
	TEXT(struct recent_times, mode),
	TEXT(struct recent_times, recent),
};
static const struct statement RECENT_TIMES = SELECT(struct recent_times, RECENT_COLUMNS,
	"SELECT t.task_version_id, t.gpu, t.mode, t.recent FROM jobs j "
	"LEFT JOIN submissions s ON s.id = j.submission_id "
	"LEFT JOIN comparisons c ON c.id = j.comparison_id "
	"JOIN job_times t ON t.task_version_id = COALESCE(s.task_version_id, c.task_version_id) "
	"  AND t.gpu = j.gpu AND t.mode = IF(c.id IS NULL, s.mode, 'comparison') WHERE j.id = ?");
static const struct statement PUT_MEDIAN = COMMAND(
	"UPDATE job_times SET median_ms = ? WHERE task_version_id = ? AND gpu = ? AND mode = ?");

int64_t wait_median_ms(const char *recent)
{
	double numbers[most_recent];
	size_t count = 0;
	for (char *end; count < most_recent && *recent; recent = *end == ',' ? end + 1 : end) {
		numbers[count++] = strtod(recent, &end);
		if (end == recent)
			return -1;
	}
	qsort(numbers, count, sizeof *numbers, by_size);
	return count ? (int64_t)llround((numbers[(count - 1) / 2] + numbers[count / 2]) / 2) : -1;
}

int wait_keep(struct database *db, struct arena *arena, int64_t job_id, struct error *error)
{
	struct recent_times times;
	int rc = database_execute(db, &RECORD_TIME, error, "ii", job_id, (int64_t)most_recent);
	if (!rc)
		rc = database_row(db, arena, &RECENT_TIMES, &times, error, "i", job_id);
	if (rc == ERROR_NOT_FOUND) /* the job never started, or is of a kind without estimates */
		return 0;
	if (rc)
		return rc;
	return database_execute(db, &PUT_MEDIAN, error, "iiss", wait_median_ms(times.recent),
		times.task_version_id, times.gpu, times.mode);
}
