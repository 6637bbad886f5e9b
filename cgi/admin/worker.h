/* Data for the page of workers. */
#ifndef PODIUM_CGI_ADMIN_WORKER_H
#define PODIUM_CGI_ADMIN_WORKER_H

#include "cgi/admin/host.h"
#include "lib/fleet/fleet.h"
#include "lib/job/wait.h"

/* A device's newest reading, and its highest temperature and errors within the last day.
 * SQL_NULL_INTEGER: unknown. */
struct worker_vitals {
	const char *worker, *uuid;
	int64_t at_ms, temperature_c, sm_mhz, memory_mhz, most_temperature_c, errors;
};

/* Reads the vitals of all devices with a reading within the last day. Binds nothing, so that
 * callers can bundle it with other statements. */
extern const struct statement workers_vitals;

struct workers_view {
	const struct fleet_device *devices;
	size_t count;
	const struct worker_vitals *vitals;
	size_t vitals_count;
	const struct host_view *hosts;
	size_t host_count;
	const struct wait_line *lines;
	size_t line_count;
};

/* Returns the stronger of the device's and its worker's pause. */
enum pause workers_pause_of(const struct fleet_device *device);

/* Returns the device's state in a word: "quarantined", or the word of fleet_state. */
const char *workers_state_of(const struct fleet_device *device);

/* Find the device's vitals and the worker's host. Return NULL if the device has no reading within
 * the last day, or if the host was not checked. */
const struct worker_vitals *workers_vitals_of(
	const struct workers_view *view, const struct fleet_device *device);
const struct host_view *workers_host_of(const struct workers_view *view, const char *worker);

/* Whether a job runs on the worker whose devices start at index `first`. */
bool workers_run(const struct workers_view *view, size_t first);

#endif
