/* What a GPU says of itself beside a measurement: clocks, temperature, power, what slows it down,
 * how much of its memory is in use. */
#ifndef PODIUM_RUN_GAUGE_H
#define PODIUM_RUN_GAUGE_H

#include "lib/nvml.h"

#include <jansson.h>
#include <stdbool.h>

/* Start with all zero; the library is bound when it is first asked for, and kept. */
struct gauge {
	struct nvml_gauge nvml;
	bool is_open, has_failed;
};

struct gauge_reading {
	double sm_mhz, memory_mhz, temperature_c, power_w; /* NAN: it does not say */
	unsigned long long slowed;                         /* bits NVML_SLOWED_BY_... */
};

void gauge_close(struct gauge *gauge);

/* Adds "product", "driver" and "cuda" (the newest that the driver serves) of the first GPU in
 * `uuids`, where NVML tells them. */
void gauge_facts(struct gauge *gauge, const char *uuids, json_t *environment);

/* The state of the first GPU in `uuids` ("GPU-...", with commas between several) now. False where
 * there is none. */
bool gauge_read(struct gauge *gauge, const char *uuids, struct gauge_reading *reading);

/* How much of the memory of the first GPU in `uuids` is in use now, whoever uses it; NAN where that
 * is not known. */
double gauge_used_bytes(struct gauge *gauge, const char *uuids);

/* Of two readings what speaks more against a measurement: the lower clocks, the higher temperature
 * and power, and all that slowed the GPU down. */
void gauge_merge(struct gauge_reading *worst, const struct gauge_reading *reading);

/* {"sm_clock_mhz": 1980, "memory_clock_mhz": 3201, "temperature_c": 41, "power_w": 128.4,
 * "slowed_by": ["power cap"]}, without what is not known. */
json_t *gauge_json(const struct gauge_reading *reading);

#endif
