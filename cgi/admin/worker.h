/* What the page of workers shows. */
#ifndef PODIUM_CGI_ADMIN_WORKER_H
#define PODIUM_CGI_ADMIN_WORKER_H

#include "cgi/admin_host.h"
#include "lib/fleet.h"
#include "lib/wait.h"

/* The newest reading of a device within the last day, and what the day had; SQL_NULL_INTEGER: not
 * known. */
struct worker_vitals {
	const char *worker, *uuid;
	int64_t at_ms, temperature_c, sm_mhz, memory_mhz, most_temperature_c, errors;
};

extern const struct statement
	workers_vitals; /* of all devices that have one; a part of a question, binds nothing */

struct workers_view {
	const struct fleet_device *devices;
	size_t count;
	const struct worker_vitals *vitals;
	size_t vitals_count;
	const struct host_view *hosts;
	size_t host_count;
	const struct wait_line *lines;
	size_t line_count;
	const char *error; /* a sentence, or NULL */
};

/* The stronger of the pauses that hold for a device. */
enum pause workers_pause_of(const struct fleet_device *device);

/* As fleet_state says, or "quarantined" for one that has stopped working. */
const char *workers_state_of(const struct fleet_device *device);

/* NULL: nothing was read of it within the last day; nothing is known of its host. */
const struct worker_vitals *workers_vitals_of(
	const struct workers_view *view, const struct fleet_device *device);
const struct host_view *workers_host_of(const struct workers_view *view, const char *worker);

/* Whether something runs on the worker whose devices begin at `first`. */
bool workers_run(const struct workers_view *view, size_t first);

#endif
