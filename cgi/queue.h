/* What the queue's page shows. */
#ifndef PODIUM_CGI_QUEUE_H
#define PODIUM_CGI_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct queue_job {
	int64_t id, submission_id, user_id, attempt, since_ms;
	const char *leaderboard, *user, *gpu, *mode, *state, *progress, *lease_owner;
};

struct queue_device {            /* a row per device; a worker without any has one row with model NULL */
	int64_t worker_id, started_at_ms, seen_at_ms, online, quarantined, memory_bytes;
	const char *worker, *version, *model, *product;
};

struct queue_view {
	const struct queue_job *jobs; size_t job_count;
	size_t running;              /* of these */
	int64_t more;                /* jobs that are not among them */
	bool even_more;              /* `more` is a lower bound */
	const struct queue_device *devices; size_t device_count;
};

#endif
