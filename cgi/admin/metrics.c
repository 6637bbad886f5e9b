/* /metrics for Prometheus: this process's requests (cgi/http/meter.h), and figures from the
 * database about queue, jobs, workers, devices and webhooks. Every podium-web reports the same
 * database figures, from counters or small tables.
 *
 * Labels are models, outcomes, routes, worker names and device numbers, never text that a
 * visitor chooses. */
#include "cgi/admin/worker.h"
#include "cgi/http/kept_answer.h"
#include "cgi/http/meter.h"
#include "cgi/page/pages.h"
#include "cgi/render/exposition.h"
#include "lib/base/scope.h"
#include "lib/job/job.h"
#include "lib/result/verdict.h"
#include "lib/webhook/webhook.h"

#include <string.h>

/* ---- queries ---- */

/* One row for each GPU model with a worker or with queued, running or finished jobs. The statement
 * finds queued and running jobs through the index on their state. */
struct queue_row {
	const char *gpu;
	int64_t waiting, running;
	double oldest_s;
};
static const struct column QUEUE_COLUMNS[] = {
	TEXT(struct queue_row, gpu),
	INTEGER(struct queue_row, waiting),
	INTEGER(struct queue_row, running),
	REAL(struct queue_row, oldest_s),
};
#define SINCE(time) "CAST(TIMESTAMPDIFF(MICROSECOND, " time ", UTC_TIMESTAMP(3)) / 1e6 AS DOUBLE)"
#define SINCE_OLDEST SINCE("MIN(oldest)")
static const struct statement QUEUE = SELECT(struct queue_row, QUEUE_COLUMNS,
	"SELECT gpu, CAST(SUM(waiting) AS SIGNED) AS waiting, "
	"CAST(SUM(running) AS SIGNED) AS running, " SINCE_OLDEST " AS oldest_s FROM ("
	"SELECT gpu, COUNT(*) AS waiting, 0 AS running, MIN(queued_at) AS oldest "
	"FROM jobs FORCE INDEX (jobs_lease) WHERE state = 'queued' GROUP BY gpu "
	"UNION ALL SELECT gpu, 0, COUNT(*), NULL "
	"FROM jobs FORCE INDEX (jobs_lease) WHERE state = 'running' GROUP BY gpu "
	"UNION ALL SELECT model, 0, 0, NULL FROM gpus "
	"UNION ALL SELECT gpu, 0, 0, NULL FROM job_counts) parts GROUP BY gpu ORDER BY gpu");

/* The number of jobs with one outcome, of one GPU model or of one worker that still exists. */
struct outcome_row {
	const char *whose, *outcome;
	int64_t jobs;
};
static const struct column OUTCOME_COLUMNS[] = {
	TEXT(struct outcome_row, whose),
	TEXT(struct outcome_row, outcome),
	INTEGER(struct outcome_row, jobs),
};
static const struct statement OUTCOMES = SELECT(struct outcome_row, OUTCOME_COLUMNS,
	"SELECT gpu AS whose, outcome, CAST(SUM(jobs) AS SIGNED) AS jobs FROM job_counts "
	"GROUP BY gpu, outcome");
static const struct statement WORKER_OUTCOMES = SELECT(struct outcome_row, OUTCOME_COLUMNS,
	"SELECT w.name AS whose, c.outcome, CAST(SUM(c.jobs) AS SIGNED) AS jobs FROM workers w "
	"JOIN job_counts c ON c.worker = w.name "
	"GROUP BY w.name, c.outcome");

struct worker_row {
	const char *name, *version, *figures;
	double silence_s, age_s;
};
static const struct column WORKER_COLUMNS[] = {
	TEXT(struct worker_row, name),
	TEXT(struct worker_row, version),
	TEXT(struct worker_row, figures),
	REAL(struct worker_row, silence_s),
	REAL(struct worker_row, age_s),
};
#define SINCE_SEEN SINCE("seen_at")
#define SINCE_START SINCE("started_at")
static const struct statement WORKERS = SELECT(struct worker_row, WORKER_COLUMNS,
	"SELECT name, version, figures, " SINCE_SEEN " AS silence_s, " SINCE_START " AS age_s "
	"FROM workers ORDER BY name");

/* All webhooks in one state. waiting: their deliveries that are not sent yet. late_s: how long ago
 * the oldest of these deliveries became due. */
struct hook_row {
	const char *state;
	int64_t webhooks, waiting;
	double late_s;
};
static const struct column HOOK_COLUMNS[] = {
	TEXT(struct hook_row, state),
	INTEGER(struct hook_row, webhooks),
	INTEGER(struct hook_row, waiting),
	REAL(struct hook_row, late_s),
};
static const struct statement HOOKS = SELECT(struct hook_row, HOOK_COLUMNS,
	"SELECT h.state, COUNT(*) AS webhooks, CAST(SUM((SELECT COUNT(*) " SQL_DELIVERIES_THAT_WAIT
	")) AS SIGNED) AS waiting, "
	"  CAST(MAX((SELECT TIMESTAMPDIFF(MICROSECOND, MIN(d.next_at), UTC_TIMESTAMP(3)) / "
	"1e6 " SQL_DELIVERIES_THAT_WAIT ")) AS DOUBLE) AS late_s "
	"FROM webhooks h GROUP BY h.state ORDER BY h.state");

/* The e-mails in one state. late_s: how long ago the oldest of them became due. */
struct mail_row {
	const char *state;
	int64_t mails, is_waiting;
	double late_s;
};
static const struct column MAIL_COLUMNS[] = {
	TEXT(struct mail_row, state),
	INTEGER(struct mail_row, mails),
	INTEGER(struct mail_row, is_waiting),
	REAL(struct mail_row, late_s),
};
static const struct statement MAILS = SELECT(struct mail_row, MAIL_COLUMNS,
	"SELECT state, COUNT(*) AS mails, state = 'waiting' AS is_waiting, "
	"CAST(TIMESTAMPDIFF(MICROSECOND, MIN(next_at), UTC_TIMESTAMP(3)) / 1e6 AS DOUBLE) AS late_s "
	"FROM mails GROUP BY state ORDER BY state");

struct site_row {
	int64_t held, is_stopped, version;
};
static const struct column SITE_COLUMNS[] = {
	INTEGER(struct site_row, held),
	INTEGER(struct site_row, is_stopped),
	INTEGER(struct site_row, version),
};
#define JOB_IS_HELD SQL_IS_HELD("j")
static const struct statement SITE = SELECT(struct site_row, SITE_COLUMNS,
	"SELECT (SELECT COUNT(*) FROM jobs j FORCE INDEX (jobs_held) WHERE " JOB_IS_HELD ") AS held, "
	"  (SELECT COUNT(*) FROM intake_stops) AS is_stopped, "
	"(SELECT MAX(version) FROM schema_migrations) AS version");

enum {
	QUEUES,
	JOBS,
	JOBS_OF_WORKERS,
	THE_WORKERS,
	DEVICES,
	VITALS,
	THE_HOOKS,
	THE_MAILS,
	THE_SITE
};
/* Kept for a second, so that nobody can load the database by reading the figures again and again.
 */
static struct kept_answer kept_figures[] = {
	[QUEUES] = KEPT_ANSWER(&QUEUE, "", 0),
	[JOBS] = KEPT_ANSWER(&OUTCOMES, "", 0),
	[JOBS_OF_WORKERS] = KEPT_ANSWER(&WORKER_OUTCOMES, "", 0),
	[THE_WORKERS] = KEPT_ANSWER(&WORKERS, "", 0),
	[DEVICES] = KEPT_ANSWER(&fleet_devices, "", 0),
	[VITALS] = KEPT_ANSWER(&workers_vitals, "", 0),
	[THE_HOOKS] = KEPT_ANSWER(&HOOKS, "", 0),
	[THE_MAILS] = KEPT_ANSWER(&MAILS, "", 0),
	[THE_SITE] = KEPT_ANSWER(&SITE, "", 0),
};

static int read_figures_of_site(struct request *request, struct database_answer *answers)
{
	struct error unsaid = { 0 };
	int rc = database_ping(request->db, &unsaid);
	for (size_t i = 0; i < COUNT(kept_figures) && !rc; i++)
		rc = kept_answer_read(request->db, request->arena, &kept_figures[i], &answers[i], &unsaid);
	return rc;
}

/* ---- writing ---- */

/* Turns NAN (nothing to measure) and negative differences into zero. A difference is negative if
 * somebody has set the database's clock back. */
static double seconds_since(double seconds)
{
	return seconds > 0 ? seconds : 0;
}

static void write_queue(struct buffer *out, const struct database_answer *answer)
{
	const struct queue_row *rows = answer->rows;
	exposition_family(out, "podium_queue_jobs", "gauge", "Jobs that wait or run, by model.");
	for (size_t i = 0; i < answer->count; i++) {
		exposition_count(out, "podium_queue_jobs", (uint64_t)rows[i].waiting, "gpu", rows[i].gpu,
			"state", "queued", NULL);
		exposition_count(out, "podium_queue_jobs", (uint64_t)rows[i].running, "gpu", rows[i].gpu,
			"state", "running", NULL);
	}
	exposition_family(out, "podium_queue_oldest_seconds", "gauge",
		"How long the oldest job that waits was there; 0: none waits.");
	for (size_t i = 0; i < answer->count; i++)
		exposition_real(out, "podium_queue_oldest_seconds", seconds_since(rows[i].oldest_s), "gpu",
			rows[i].gpu, NULL);
}

static uint64_t jobs_of(
	const struct database_answer *answer, const char *whose, const char *outcome)
{
	const struct outcome_row *rows = answer->rows;
	for (size_t i = 0; i < answer->count; i++)
		if (strcmp(rows[i].outcome, outcome) == 0 && strcmp(rows[i].whose, whose) == 0)
			return (uint64_t)rows[i].jobs;
	return 0;
}

/* Also writes counters that are zero. Otherwise Prometheus would miss the first increase of a
 * counter, because it sees no increase when a series appears. */
static void write_outcomes_of(struct buffer *out, const char *name,
	const struct database_answer *answer, const char *label, const char *whose)
{
	static const char *const attempts[] = { "lease expired", "machine failed", "gpu lost" };
	for (enum verdict verdict = VERDICT_PASSED; verdict_name(verdict); verdict++)
		exposition_count(out, name, jobs_of(answer, whose, verdict_name(verdict)), label, whose,
			"outcome", verdict_name(verdict), NULL);
	for (size_t i = 0; i < COUNT(attempts); i++)
		exposition_count(out, name, jobs_of(answer, whose, attempts[i]), label, whose, "outcome",
			attempts[i], NULL);
}

static void write_outcomes(struct buffer *out, const struct database_answer *answers)
{
	const struct queue_row *models = answers[QUEUES].rows;
	const struct worker_row *workers = answers[THE_WORKERS].rows;
	exposition_family(out, "podium_jobs_total", "counter",
		"Jobs that ended with a verdict, and attempts that came to nothing: lease expired, machine "
		"failed, gpu lost.");
	for (size_t i = 0; i < answers[QUEUES].count; i++)
		write_outcomes_of(out, "podium_jobs_total", &answers[JOBS], "gpu", models[i].gpu);
	exposition_family(out, "podium_worker_jobs_total", "counter", "The same by worker.");
	for (size_t i = 0; i < answers[THE_WORKERS].count; i++)
		write_outcomes_of(
			out, "podium_worker_jobs_total", &answers[JOBS_OF_WORKERS], "worker", workers[i].name);
}

static const struct {
	const char *member, *name, *help;
} WORKER_FIGURES[] = {
	{ "claims", "podium_worker_claims_total", "Jobs that the worker has taken since it started." },
	{ "runners", "podium_worker_runner_starts_total", "podium-run processes that it has started." },
	{ "zygotes", "podium_worker_zygote_starts_total", "Zygotes that these have started." },
	{ "failures", "podium_worker_machine_failures_total",
		"Jobs that podium-run or the host failed at, the sandbox included." },
	{ "lost_claims", "podium_worker_lost_claims_total",
		"Jobs that were taken from it while it ran them: lease, cancelling, pause." },
};

static json_t **read_figures(struct arena *arena, const struct worker_row *rows, size_t count)
{
	json_t **figures = arena_array(arena, json_t *, count + 1);
	for (size_t i = 0; i < count; i++)
		figures[i] = rows[i].figures ? json_loads(rows[i].figures, 0, NULL) : NULL;
	return figures;
}

/* Writes one number for each worker and kind of stage. The worker stores a pair for each kind: the
 * count of stages (`place` 0) and their total time (1). */
static void write_stages(struct buffer *out, const char *name, size_t place, double unit,
	const struct worker_row *rows, json_t *const *figures, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const char *stage;
		json_t *pair;
		json_object_foreach(json_object_get(figures[i], "stages"), stage, pair) exposition_real(out,
			name, (double)json_integer_value(json_array_get(pair, place)) / unit, "worker",
			rows[i].name, "stage", stage, NULL);
	}
}

static void write_workers(
	struct arena *arena, struct buffer *out, const struct database_answer *answer)
{
	const struct worker_row *rows = answer->rows;
	size_t count = answer->count;
	json_t **figures = read_figures(arena, rows, count);
	exposition_family(out, "podium_worker_info", "gauge",
		"1; its label is the version that the worker was started with.");
	for (size_t i = 0; i < count; i++)
		exposition_count(
			out, "podium_worker_info", 1, "worker", rows[i].name, "version", rows[i].version, NULL);
	exposition_family(
		out, "podium_worker_silence_seconds", "gauge", "Since the worker was last heard of.");
	for (size_t i = 0; i < count; i++)
		exposition_real(out, "podium_worker_silence_seconds", seconds_since(rows[i].silence_s),
			"worker", rows[i].name, NULL);
	exposition_family(
		out, "podium_worker_uptime_seconds", "gauge", "Since the worker was started.");
	for (size_t i = 0; i < count; i++)
		exposition_real(out, "podium_worker_uptime_seconds", seconds_since(rows[i].age_s), "worker",
			rows[i].name, NULL);
	for (size_t k = 0; k < COUNT(WORKER_FIGURES); k++) {
		exposition_family(out, WORKER_FIGURES[k].name, "counter", WORKER_FIGURES[k].help);
		for (size_t i = 0; i < count; i++)
			if (figures[i])
				exposition_count(out, WORKER_FIGURES[k].name,
					(uint64_t)json_integer_value(
						json_object_get(figures[i], WORKER_FIGURES[k].member)),
					"worker", rows[i].name, NULL);
	}
	exposition_family(
		out, "podium_worker_stage_seconds", "summary", "How long the stages of its jobs took.");
	write_stages(out, "podium_worker_stage_seconds_count", 0, 1, rows, figures, count);
	write_stages(out, "podium_worker_stage_seconds_sum", 1, 1000, rows, figures, count);
	for (size_t i = 0; i < count; i++)
		json_decref(figures[i]);
}

/* Whether row `i` is the first of its device. A device that runs several jobs has several adjacent
 * rows but must be counted once. */
static bool is_device(const struct fleet_device *devices, size_t i)
{
	return devices[i].uuid
		&& (!i || !devices[i - 1].uuid || devices[i].worker_id != devices[i - 1].worker_id
			|| strcmp(devices[i].uuid, devices[i - 1].uuid) != 0);
}

static bool is_up(const struct fleet_device *device)
{
	return device->online == 1;
}
static bool device_runs(const struct fleet_device *device)
{
	return device->submission_id != SQL_NULL_INTEGER;
}
static bool is_paused(const struct fleet_device *device)
{
	return workers_pause_of(device) != PAUSE_NONE;
}
static bool is_quarantined(const struct fleet_device *device)
{
	return device->broken_at_ms != TIME_NULL || workers_pause_of(device) == PAUSE_QUARANTINE;
}

static const struct {
	const char *name, *help;
	bool (*holds)(const struct fleet_device *device);
} DEVICE_FLAGS[] = {
	{ "podium_gpu_up", "1: its worker was heard of within a minute.", is_up },
	{ "podium_gpu_busy", "1: a job runs on it.", device_runs },
	{ "podium_gpu_paused",
		"1: an admin keeps it from taking jobs: drained, paused or in quarantine.", is_paused },
	{ "podium_gpu_quarantined", "1: it has stopped working, or an admin does not trust it.",
		is_quarantined },
};

static void write_devices(struct buffer *out, const struct database_answer *answer)
{
	const struct fleet_device *devices = answer->rows;
	for (size_t k = 0; k < COUNT(DEVICE_FLAGS); k++) {
		exposition_family(out, DEVICE_FLAGS[k].name, "gauge", DEVICE_FLAGS[k].help);
		for (size_t i = 0; i < answer->count; i++)
			if (is_device(devices, i))
				exposition_count(out, DEVICE_FLAGS[k].name, DEVICE_FLAGS[k].holds(&devices[i]),
					"worker", devices[i].worker, "gpu", devices[i].model, "uuid", devices[i].uuid,
					NULL);
	}
}

static const struct {
	const char *name, *help;
	size_t member;
	int64_t unit;
} VITAL_FIGURES[] = {
	{ "podium_gpu_temperature_celsius", "As last read, once a minute.",
		offsetof(struct worker_vitals, temperature_c), 1 },
	{ "podium_gpu_sm_clock_hertz", "Clock of the multiprocessors, likewise.",
		offsetof(struct worker_vitals, sm_mhz), 1000000 },
	{ "podium_gpu_memory_clock_hertz", "Clock of the memory, likewise.",
		offsetof(struct worker_vitals, memory_mhz), 1000000 },
	{ "podium_gpu_errors_day", "Errors (Xid) that the driver has reported within a day.",
		offsetof(struct worker_vitals, errors), 1 },
};

static void write_vitals(struct buffer *out, const struct database_answer *answer)
{
	const struct worker_vitals *rows = answer->rows;
	for (size_t k = 0; k < COUNT(VITAL_FIGURES); k++) {
		exposition_family(out, VITAL_FIGURES[k].name, "gauge", VITAL_FIGURES[k].help);
		for (size_t i = 0; i < answer->count; i++) {
			int64_t value;
			memcpy(&value, (const char *)&rows[i] + VITAL_FIGURES[k].member, sizeof value);
			if (value != SQL_NULL_INTEGER)
				exposition_real(out, VITAL_FIGURES[k].name, (double)(value * VITAL_FIGURES[k].unit),
					"worker", rows[i].worker, "uuid", rows[i].uuid, NULL);
		}
	}
}

static void write_hooks(struct buffer *out, const struct database_answer *answer)
{
	const struct hook_row *rows = answer->rows;
	exposition_family(
		out, "podium_webhooks", "gauge", "Webhooks, by state; off: it failed too often.");
	for (size_t i = 0; i < answer->count; i++)
		exposition_count(
			out, "podium_webhooks", (uint64_t)rows[i].webhooks, "state", rows[i].state, NULL);
	exposition_family(out, "podium_webhook_deliveries_waiting", "gauge",
		"Deliveries that are still to be made, by their webhook's state.");
	for (size_t i = 0; i < answer->count; i++)
		exposition_count(out, "podium_webhook_deliveries_waiting", (uint64_t)rows[i].waiting,
			"state", rows[i].state, NULL);
	exposition_family(out, "podium_webhook_delay_seconds", "gauge",
		"How long the delivery that is most overdue is.");
	for (size_t i = 0; i < answer->count; i++)
		exposition_real(out, "podium_webhook_delay_seconds", seconds_since(rows[i].late_s), "state",
			rows[i].state, NULL);
}

static void write_mails(struct buffer *out, const struct database_answer *answer)
{
	const struct mail_row *rows = answer->rows;
	exposition_family(out, "podium_mails", "gauge",
		"E-mails of the last retain_deliveries_days, by state; withheld: not to be sent any more.");
	for (size_t i = 0; i < answer->count; i++)
		exposition_count(
			out, "podium_mails", (uint64_t)rows[i].mails, "state", rows[i].state, NULL);
	exposition_family(out, "podium_mail_delay_seconds", "gauge",
		"How long the e-mail that is most overdue is; 0: none waits.");
	double late_s = 0;
	for (size_t i = 0; i < answer->count; i++)
		if (rows[i].is_waiting)
			late_s = seconds_since(rows[i].late_s);
	exposition_real(out, "podium_mail_delay_seconds", late_s, NULL);
}

static void write_site(struct buffer *out, const struct database_answer *answer)
{
	const struct site_row *site = answer->rows;
	if (!answer->count)
		return;
	exposition_family(
		out, "podium_held_results", "gauge", "Results that wait for an admin's decision.");
	exposition_count(out, "podium_held_results", (uint64_t)site->held, NULL);
	exposition_family(
		out, "podium_intake_stopped", "gauge", "1: an admin has stopped the site's intake.");
	exposition_count(out, "podium_intake_stopped", (uint64_t)site->is_stopped, NULL);
	exposition_family(out, "podium_schema_version", "gauge",
		"The database's version, as podium-admin migrate counts.");
	exposition_count(out, "podium_schema_version", (uint64_t)site->version, NULL);
}

/* Without the database, still reports the figures of this process. */
int page_metrics(struct request *request)
{
	struct buffer *out = &request->body;
	struct database_answer answers[COUNT(kept_figures)] = { 0 };
	int rc = read_figures_of_site(request, answers);
	request->content_type = EXPOSITION_TYPE;
	meter_write(out);
	exposition_family(out, "podium_database_up", "gauge",
		"1: the database has answered; 0: what it would say is missing here.");
	exposition_count(out, "podium_database_up", !rc, NULL);
	if (rc)
		return 0;
	write_queue(out, &answers[QUEUES]);
	write_outcomes(out, answers);
	write_workers(request->arena, out, &answers[THE_WORKERS]);
	write_devices(out, &answers[DEVICES]);
	write_vitals(out, &answers[VITALS]);
	write_hooks(out, &answers[THE_HOOKS]);
	write_mails(out, &answers[THE_MAILS]);
	write_site(out, &answers[THE_SITE]);
	return 0;
}

/* ---- /healthz ---- */

int page_healthz(struct request *request)
{
	int rc = database_ping(request->db, request->error);
	if (rc)
		return rc;
	request->content_type = "text/plain; charset=utf-8";
	buffer_text(&request->body, "ok\n");
	return 0;
}
