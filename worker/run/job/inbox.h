/* The caller's messages: jobs, which wait for their turn, and cancellations, which take effect as
 * they arrive. */
#ifndef PODIUM_WORKER_RUN_JOB_INBOX_H
#define PODIUM_WORKER_RUN_JOB_INBOX_H

#include "lib/base/buffer.h"
#include "lib/base/error.h"
#include "worker/run/job/event.h"
#include "worker/run/sandbox/process.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	inbox_most_line_bytes = 64 * 1024 * 1024,
	inbox_most_waiting = 8,
};

struct inbox {
	int input, signals;  /* descriptors; input is -1 after its end */
	bool once;           /* run one job only, and ignore the end of input meanwhile */
	bool told_to_end;    /* a signal arrived */
	bool cancelled;      /* the running job is cancelled */
	int64_t running;     /* the running job's id; -1: none */
	struct buffer bytes; /* input without a line end yet */
	size_t scanned;      /* how many of `bytes` were searched for a line end */
	bool skipping;       /* skips the rest of a line that was too long */
	json_t *waiting[inbox_most_waiting];
	size_t waiting_count;
	struct events *events; /* for the verdict on a malformed message */
};

/* Reads from descriptor 0. From now on SIGTERM, SIGINT and SIGHUP tell podium-run to end. */
int inbox_open(struct inbox *inbox, struct events *events, bool once, struct error *error);
void inbox_close(struct inbox *inbox);

/* Waits for the next job's message, which the caller then owns; NULL at the end. */
json_t *inbox_next(struct inbox *inbox);

/* Reads the available input without waiting. True when the running job must stop. */
bool inbox_look(struct inbox *inbox);

/* The descriptors and the callback that process_run watches. */
struct process_watch inbox_watch(struct inbox *inbox);

#endif
