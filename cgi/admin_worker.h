/* What the page of workers shows. */
#ifndef PODIUM_CGI_ADMIN_WORKER_H
#define PODIUM_CGI_ADMIN_WORKER_H

#include "lib/fleet.h"

struct workers_view {
	const struct fleet_device *devices; size_t count;
	const char *error;            /* a sentence, or NULL */
};

/* The stronger of the pauses that hold for a device. */
enum pause workers_pause_of(const struct fleet_device *device);

/* Whether something runs on the worker whose devices begin at `first`. */
bool workers_run(const struct workers_view *view, size_t first);

#endif
