/* Data for the queue's page: running and queued jobs with their positions (lib/job/wait.h), one
 * line for each device model, and the devices. Running jobs are sorted by their start, queued jobs
 * by their position in line. */
#ifndef PODIUM_CGI_PAGE_QUEUE_H
#define PODIUM_CGI_PAGE_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct queue_job {
	int64_t id, submission_id, user_id, author_id, leaderboard_id, attempt, since_ms;
	int64_t is_public, is_frozen, dry_run; /* the leaderboard twice; the submission */
	const char *leaderboard, *user, *gpu, *mode, *state, *progress, *lease_owner;
	int64_t comparison_id; /* ID of the comparison; SQL_NULL_INTEGER: the job is no comparison */
	int64_t rival_id;      /* the rival's submission in a comparison; else SQL_NULL_INTEGER */
	bool visible;          /* the visitor may see the job; the list omits others */
	const char *rival;     /* user of the rival; NULL: no comparison */
	int64_t priority;
	double expected_ms, running_ms; /* as in lib/job/wait.h */
	int64_t position;  /* a queued job's position in the line for its device model, from 1 */
	const char *start; /* expected start of a queued job, in words; NULL: unknown */
};

struct queue_device { /* one row per device; a worker without devices has one row with model NULL */
	int64_t worker_id, started_at_ms, seen_at_ms, online, quarantined, memory_bytes;
	int64_t pause; /* enum pause of lib/fleet/fleet.h */
	int64_t runs;  /* a job runs on the device */
	int64_t takes; /* accepts jobs: online, not paused, not in quarantine */
	int64_t waits; /* its worker waits for another Podium on the machine, which uses the device */
	const char *worker, *version, *model, *product;
};

/* All jobs for one device model. */
struct queue_line {
	const char *gpu;
	int64_t devices;   /* devices that accept jobs */
	int64_t elsewhere; /* those of them that another Podium on their machine uses now */
	int64_t running, waiting;
	/* Expected start, in words, of a job that the viewer would submit now; NULL: unknown. */
	const char *next;
	/* The expected start in ms from now; NAN: unknown. */
	double next_ms;
};

struct queue_model {
	const char *gpu;
};

struct queue_view {
	struct queue_job *jobs;
	size_t job_count;
	size_t running;   /* the first `running` of the jobs are running */
	int64_t unlisted; /* visible jobs that were read but are beyond the list's end */
	int64_t more;     /* queued and running jobs that were not read */
	bool even_more;   /* `more` is a lower bound */
	const struct queue_device *devices;
	size_t device_count;
	struct queue_line *lines;
	size_t line_count;
	/* Device models of public leaderboards that take submissions; those without a line have no
	 * device. Only the page reads them. */
	const struct queue_model *wanted;
	size_t wanted_count;
};

/* queue_read reads everything that the page shows; queue_read_devices reads only the devices. */
struct request;
int queue_read(struct request *request, struct queue_view *view);
int queue_read_devices(struct request *request, struct queue_view *view);

/* Returns the device's state in a word: "quarantined", or the word of fleet_state(). */
const char *queue_device_state(const struct queue_device *device);

/* The device's number among those of its model on its worker, from 1; 0: it is the only one. */
size_t queue_device_number(const struct queue_view *view, size_t index);

/* When a new job for the device starts, in words, such as "at once". */
const char *queue_start_words(const struct queue_view *view, const struct queue_line *line);

bool queue_has_line(const struct queue_view *view, const char *gpu);

/* Whether a device has jobs although the viewer may see none: dry runs, or hidden leaderboards. */
bool queue_has_hidden_jobs(const struct queue_view *view);

#endif
