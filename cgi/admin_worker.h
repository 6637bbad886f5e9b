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

#endif
