/* How long a job will wait: its place in line and its expected start.
 *
 * The order is that of claims (worker/queue.h): the lowest priority number first, then the user
 * with the fewest jobs running, then the oldest job; a job that stands before counts as running for
 * those behind it. The start comes of letting the devices work off that line, each job taking as
 * long as the median of the last ones like it: same task version, same model, same mode (else the
 * same mode on that model, of whatever leaderboard). One that runs and is late by then is taken to
 * be late by as much again. Who comes later may still come first, so it is an expectation, and is
 * never shown finer than people can plan with. */
#ifndef PODIUM_LIB_WAIT_H
#define PODIUM_LIB_WAIT_H

#include "lib/arena.h"
#include "lib/database.h"
#include "lib/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- for one job, or for the next: one question to the database ---- */

struct wait {
	int64_t position; /* in the line for its device model, from 1; 0: it does not wait, or there is
	                     no such job */
	double start_ms;  /* from now; NAN: not known, because no such device is online or nothing like
	                     it ever ended */
	int64_t devices;  /* of that model that take jobs, */
	int64_t online, paused; /* whose worker is there, and which of these an admin has paused */
	bool at_least; /* more wait than were looked at, so position and start are the least that they
	                  can be */
	const char *words; /* "in about 4 min", see wait_words; NULL: not known */
};

/* A job that waits. */
int wait_of_job(struct database *db, struct arena *arena, int64_t job_id, struct wait *wait,
	struct error *error);

/* Jobs of one submission: waits[i] belongs to job_ids[i]. The question is a part of another one,
 * bound by (0, submission), and its answer comes from there. */
extern const struct statement wait_reading;
void wait_of_jobs(struct arena *arena, const struct database_answer *answer, const int64_t *job_ids,
	size_t count, struct wait *waits);

/* A job that the user would send now, on each of these models: waits[i] belongs to gpus[i]. The
 * same question, bound by (0, 0). */
void wait_of_next(struct arena *arena, const struct database_answer *answer, int64_t user_id,
	const char *const *gpus, size_t count, struct wait *waits);

/* "at any moment", "in about 20 s", "in about 4 min", "in about 1 h 20 min", "in more than a day";
 * NULL for NAN. */
const char *wait_words(struct arena *arena, double start_ms);

/* ---- for admins: every line, whoever waits in it ---- */

struct wait_line {
	const char *gpu; /* of each model that a worker has, or that a job is for */
	int64_t devices; /* that take jobs */
	int64_t running, waiting;
	int64_t oldest_ms; /* when the one that has waited longest was queued; TIME_NULL: none waits */
	const char
		*last;     /* when the last in line starts, as wait_words; NULL: not known, or none waits */
	bool at_least; /* as in struct wait, about `last` */
};
int wait_lines(struct database *db, struct arena *arena, struct wait_line **lines, size_t *count,
	struct error *error);

/* The same from two parts of another question: wait_counting, which binds nothing, and
 * wait_reading, bound by (0, 0). */
extern const struct statement wait_counting;
void wait_lines_read(struct arena *arena, const struct database_answer *counts,
	const struct database_answer *reading_answer, struct wait_line **lines, size_t *count);

/* ---- for pages that have read the jobs themselves ---- */

struct wait_job {
	int64_t id, user_id, priority;
	const char *gpu;
	double expected_ms; /* SQL_EXPECTED_MS; NAN: not known */
	double running_ms;  /* since it was started; NAN: it waits */
	int64_t position;   /* these two are filled for jobs that wait, as in struct wait */
	double start_ms;
};
struct wait_devices {
	const char *gpu;
	int64_t count, online, paused;
}; /* the last two need not be known */

/* Fills position and start_ms, given all that runs and all that waits. */
void wait_estimate(struct arena *arena, struct wait_job *jobs, size_t count,
	const struct wait_devices *devices, size_t device_count);

/* Parts of statements. The median of the last jobs of a kind in milliseconds, or NULL; the mode of
 * a comparison is 'comparison'. And of rows of gpus and workers: whether the device takes jobs. */
#define SQL_EXPECTED_MS(version, gpu_model, mode_name) \
	"COALESCE((SELECT t.median_ms FROM job_times t WHERE t.task_version_id = " version \
	" AND t.gpu = " gpu_model "  AND t.mode = " mode_name \
	"), (SELECT t.median_ms FROM job_times t WHERE t.gpu = " gpu_model " AND t.mode = " mode_name \
	"  ORDER BY t.updated_at DESC LIMIT 1))"
#define SQL_TAKES_JOBS(gpu, worker) \
	gpu ".seen_at" SQL_IS_ONLINE "AND " gpu ".quarantined_at IS NULL " \
		"AND " worker ".protocol >= (SELECT oldest_program FROM compatibility) AND NOT EXISTS " \
		"(SELECT 1 FROM pauses p WHERE p.worker = " worker ".name AND p.uuid IN ('', " gpu \
		".uuid)) "

/* ---- for workers ---- */

/* Inside the transaction that ends a job: keeps how long it ran. */
int wait_keep(struct database *db, struct arena *arena, int64_t job_id, struct error *error);

/* The median of such a list of milliseconds as job_times.recent: "4210,3980". -1 for an empty one.
 */
int64_t wait_median_ms(const char *recent);

#endif
