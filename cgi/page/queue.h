/* What the queue's page shows: jobs, in the order in which they were begun or sent, with their
 * places in the lines that lib/wait.h lays down; the lines; and the devices. */
#ifndef PODIUM_CGI_QUEUE_H
#define PODIUM_CGI_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct queue_job {
	int64_t id, submission_id, user_id, attempt, since_ms;
	const char *leaderboard, *user, *gpu, *mode, *state, *progress, *lease_owner;
	int64_t comparison_id; /* of a comparison: its number, */
	int64_t rival_id;      /* the submission that this one is compared with, and its user; */
	int64_t visible;       /* to the visitor; the others are left out */
	const char *rival;     /* else SQL_NULL_INTEGER and NULL */
	int64_t priority;
	double expected_ms, running_ms; /* as in lib/wait.h */
	int64_t position;  /* of one that waits: in the line for its device model, from 1 */
	const char *start; /* and when it will start, in words; NULL: not known */
};

struct queue_device { /* a row per device; a worker without any has one row with model NULL */
	int64_t worker_id, started_at_ms, seen_at_ms, online, quarantined, memory_bytes;
	int64_t pause; /* enum pause of lib/fleet.h */
	int64_t runs;  /* something runs on it */
	int64_t takes; /* it takes jobs: online, not paused, not in quarantine */
	const char *worker, *version, *model, *product;
};

/* All jobs for one device model. */
struct queue_line {
	const char *gpu;
	int64_t devices; /* that take jobs */
	int64_t running, waiting;
	const char
		*next;      /* when a job that the reader sent now would start, in words; NULL: not known */
	double next_ms; /* the same from now; NAN: not known */
};

struct queue_view {
	struct queue_job *jobs;
	size_t job_count;
	size_t running;   /* of these */
	int64_t unlisted; /* jobs that were looked at with them and are not listed */
	int64_t more;     /* jobs that nobody looked at */
	bool even_more;   /* `more` is a lower bound */
	const struct queue_device *devices;
	size_t device_count;
	struct queue_line *lines;
	size_t line_count;
};

/* All of it as the page shows it; and the devices alone. */
struct request;
int queue_read(struct request *request, struct queue_view *view);
int queue_read_devices(struct request *request, struct queue_view *view);

/* What it does, in a word: "quarantined", or as fleet_state() says. */
const char *queue_device_state(const struct queue_device *device);

#endif
