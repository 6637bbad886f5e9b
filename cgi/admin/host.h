/* What the page of a worker's host shows: what podium-run found there when the worker started. */
#ifndef PODIUM_CGI_ADMIN_HOST_H
#define PODIUM_CGI_ADMIN_HOST_H

#include "lib/arena.h"

#include <stddef.h>
#include <stdint.h>

struct host_row {
	const char *state; /* "good", "warning", "fault" */
	const char *name, *found;
	const char *costs, *mend; /* "" where it is good */
};

struct host_view {
	const char *worker;
	int64_t started_at_ms;
	struct host_row *rows;
	size_t count;
	size_t warnings, faults;
};

/* Fills rows, warnings and faults from what the worker has stored (workers.checks); NULL: nothing
 * yet. */
void host_read(struct arena *arena, const char *json, struct host_view *view);

#endif
