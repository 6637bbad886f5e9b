/* The state that a GPU reports during a measurement: clocks, temperature, power, reasons for
 * slowdown, and memory use. */
#ifndef PODIUM_WORKER_RUN_PROFILE_GAUGE_H
#define PODIUM_WORKER_RUN_PROFILE_GAUGE_H

#include "lib/gpu/nvml.h"

#include <jansson.h>
#include <stdbool.h>

/* Initialize with zeros. The first use loads the library, which then stays loaded. */
struct gauge {
	struct nvml_gauge nvml;
	bool is_open, has_failed;
};

struct gauge_reading {
	double sm_mhz, memory_mhz, temperature_c, power_w; /* NAN: unknown */
	unsigned long long slowed;                         /* bits NVML_SLOWED_BY_... */
};

void gauge_close(struct gauge *gauge);

/* Adds "product", "driver" and "cuda" (the newest version that the driver supports) of the first
 * GPU in `uuids`, as far as NVML reports them. */
void gauge_facts(struct gauge *gauge, const char *uuids, json_t *environment);

/* Reads the current state of the first GPU in `uuids` ("GPU-...", separated by commas). False if
 * there is none. */
bool gauge_read(struct gauge *gauge, const char *uuids, struct gauge_reading *reading);

/* The memory in use on the first GPU in `uuids`, by anybody, in bytes; NAN if unknown. */
double gauge_used_bytes(struct gauge *gauge, const char *uuids);

/* Merges a reading into the worst one: the lower clocks, the higher temperature and power, and
 * every reason for slowdown. */
void gauge_merge(struct gauge_reading *worst, const struct gauge_reading *reading);

/* {"sm_clock_mhz": 1980, "memory_clock_mhz": 3201, "temperature_c": 41, "power_w": 128.4,
 * "slowed_by": ["power cap"]}, without unknown values. The caller owns the object. */
json_t *gauge_json(const struct gauge_reading *reading);

#endif
