/* Data for the page of a worker's host: the checks that podium-run made when the worker started. */
#ifndef PODIUM_CGI_ADMIN_HOST_H
#define PODIUM_CGI_ADMIN_HOST_H

#include "lib/base/arena.h"

#include <stddef.h>
#include <stdint.h>

struct host_row {
	const char *state; /* "good", "warning", "fault" */
	const char *name, *found;
	const char *costs, *mend; /* what the problem costs, how to fix it; "" if the state is good */
};

struct host_view {
	const char *worker;
	int64_t started_at_ms;
	struct host_row *rows;
	size_t count;
	size_t warnings, faults;
	/* Required walls that the host lacks: accept_missing_walls names the accepted ones, and the
	 * others keep the worker from taking jobs. Names separated by commas; "": none. */
	const char *accepted_walls, *missing_walls;
};

/* Fills rows, warnings and faults from `json`, the text that the worker has stored in
 * workers.checks. NULL: the worker has stored no checks yet. */
void host_read(struct arena *arena, const char *json, struct host_view *view);

#endif
