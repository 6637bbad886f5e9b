/* What callers send: jobs, which wait until their turn, and cancellations, which do not. */
#ifndef PODIUM_RUN_INBOX_H
#define PODIUM_RUN_INBOX_H

#include "lib/buffer.h"
#include "lib/error.h"
#include "worker/run/event.h"
#include "worker/run/process.h"

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
	bool once;           /* one job only, and the end of input does not cancel it */
	bool told_to_end;    /* by a signal */
	bool cancelled;      /* the running job */
	int64_t running;     /* id of the running job, -1: none */
	struct buffer bytes; /* not yet a line */
	size_t scanned;      /* of them, known to hold no line end */
	bool skipping;       /* the rest of a line that was too long */
	json_t *waiting[inbox_most_waiting];
	size_t waiting_count;
	struct events *events; /* for the verdict on a message that is no job */
};

/* Reads from descriptor 0; SIGTERM, SIGINT and SIGHUP are taken over and mean the end. */
int inbox_open(struct inbox *inbox, struct events *events, bool once, struct error *error);
void inbox_close(struct inbox *inbox);

/* Waits for the next job's message; NULL at the end. The caller owns it. */
json_t *inbox_next(struct inbox *inbox);

/* Reads what is there. True when the running job is to stop. */
bool inbox_look(struct inbox *inbox);

/* For process_run. */
struct process_watch inbox_watch(struct inbox *inbox);

#endif
