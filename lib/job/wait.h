/* How long a job will wait: its position in line and its expected start.
 *
 * The order is that of claims (worker/queue.h): the lowest priority number first, then the user
 * with the fewest running jobs, then the oldest job. Each job ahead counts as running for the jobs
 * behind it.
 *
 * The start comes from a simulation of the devices working through that line. Each job takes the
 * median time of recent jobs of its kind: same task version, same model, same mode. If there are
 * none, the job takes the median of the task whose job of this model and mode finished last. If a
 * running job has exceeded its expected time by some amount, the simulation assumes that it needs
 * this amount again.
 *
 * Later submissions may still come first, so the start is only an estimate. Pages therefore show it
 * rounded. */
#ifndef PODIUM_LIB_JOB_WAIT_H
#define PODIUM_LIB_JOB_WAIT_H

#include "lib/base/arena.h"
#include "lib/base/error.h"
#include "lib/database/database.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- for one job, or for the next one: one query ---- */

struct wait {
	int64_t position; /* in the line for its GPU model, from 1; 0: the job does not wait, or does
	                     not exist */
	double start_ms; /* from now; NAN: unknown, since no such device is online or no such job ran */
	double expected_ms; /* the job's own time; NAN: unknown */
	int64_t devices;    /* number of devices of that model that take jobs */
	/* devices with an online worker; how many of them are paused */
	int64_t online, paused;
	/* devices that take jobs, but whose worker waits because another program on its host uses the
	 * device (lib/gpu/device.h) */
	int64_t elsewhere;
	bool at_least;     /* not all waiting jobs were read, so position and start are lower bounds */
	const char *words; /* "in about 4 min", see wait_words; NULL: unknown */
};

/* The wait of one queued job. */
int wait_of_job(struct database *db, struct arena *arena, int64_t job_id, struct wait *wait,
	struct error *error);

/* The waits of jobs of one submission: waits[i] belongs to job_ids[i]. `answer` is the result of
 * wait_reading, a statement for a bundle. Bind it with 0 and the submission's ID. */
extern const struct statement wait_reading;
void wait_of_jobs(struct arena *arena, const struct database_answer *answer, const int64_t *job_ids,
	size_t count, struct wait *waits);

/* Whether the job is in `answer` and still waits. */
bool wait_has_job(const struct database_answer *answer, int64_t job_id);

/* The wait of a job that the user would submit now, on each of these models: waits[i] belongs to
 * gpus[i]. `answer` is the result of wait_reading, bound with 0 and 0. */
void wait_of_next(struct arena *arena, const struct database_answer *answer, int64_t user_id,
	const char *const *gpus, size_t count, struct wait *waits);

/* "at once", "in about 20 s", "in about 4 min", "in about 1 h 20 min", "in more than a day";
 * NULL for NAN. */
const char *wait_words(struct arena *arena, double start_ms);

/* A sentence, after a space, that says why no worker takes the waiting job. "": a worker will take
 * it. */
const char *wait_obstacle(const struct wait *wait);

/* ---- for admins: the lines of all models ---- */

struct wait_line {
	const char *gpu; /* every model that a worker has or that a job is for */
	int64_t devices; /* that take jobs */
	int64_t running, waiting;
	int64_t oldest_ms; /* when the longest waiting job was queued; TIME_NULL: none waits */
	const char *last;  /* when the last job starts, see wait_words; NULL: unknown, or none waits */
	bool at_least;     /* as in struct wait, about `last` */
};
int wait_lines(struct database *db, struct arena *arena, struct wait_line **lines, size_t *count,
	struct error *error);

/* Like wait_lines, but from the answers of two statements of a bundle: wait_counting, which has no
 * parameters, and wait_reading, bound with 0 and 0. */
extern const struct statement wait_counting;
void wait_lines_read(struct arena *arena, const struct database_answer *counts,
	const struct database_answer *reading_answer, struct wait_line **lines, size_t *count);

/* ---- for pages that have read the jobs already ---- */

struct wait_job {
	int64_t id, user_id, priority;
	const char *gpu;
	double expected_ms; /* SQL_EXPECTED_MS; NAN: unknown */
	double running_ms;  /* since its start; NAN: it waits */
	/* position and start_ms are results, set for waiting jobs, as in struct wait */
	int64_t position;
	double start_ms;
};
struct wait_devices {
	const char *gpu;
	int64_t count;          /* number of devices that take jobs */
	int64_t online, paused; /* optional */
	/* of `count`, devices that another program on the host is using */
	int64_t elsewhere;
};

/* Fills position and start_ms. `jobs` must hold all running and all waiting jobs. */
void wait_estimate(struct arena *arena, struct wait_job *jobs, size_t count,
	const struct wait_devices *devices, size_t device_count);
/* The same for the line of one model only. */
void wait_estimate_line(struct arena *arena, struct wait_job *jobs, size_t count,
	const struct wait_devices *devices, size_t device_count, const char *gpu);

/* SQL expression: the median time of recent jobs of a kind in milliseconds, or NULL. For a
 * comparison, `mode_name` is 'comparison'. */
#define SQL_EXPECTED_MS(version, gpu_model, mode_name) \
	"COALESCE((SELECT t.median_ms FROM job_times t WHERE t.task_version_id = " version \
	" AND t.gpu = " gpu_model " AND t.mode = " mode_name "), " \
	"(SELECT t.median_ms FROM job_times t WHERE t.gpu = " gpu_model " AND t.mode = " mode_name \
	" ORDER BY t.updated_at DESC LIMIT 1))"

/* ---- for workers ---- */

/* Records how long a job ran, inside the transaction that finishes the job. */
int wait_keep(struct database *db, struct arena *arena, int64_t job_id, struct error *error);

/* The median of a list of milliseconds, such as "4210,3980" in job_times.recent. -1: the list is
 * empty. */
int64_t wait_median_ms(const char *recent);

#endif
