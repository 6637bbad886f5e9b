/* Whether a GPU still works, as its driver says: it answers, and has reported no error (Xid) since
 * it was last asked that only a broken GPU, bus or driver makes. Errors that a program can cause by
 * itself, such as an illegal address, do not count. */
#ifndef PODIUM_WORKER_HEALTH_H
#define PODIUM_WORKER_HEALTH_H

#include "lib/device.h"
#include "lib/error.h"
#include "lib/nvml.h"

#include <stdbool.h>
#include <stdint.h>

/* Start with all zero. */
struct health {
	struct nvml_health nvml;
	struct nvmlDevice_st *device;
	struct nvmlEventSet_st *errors; /* NULL: this driver reports none */
	bool is_open;
	int64_t reported; /* errors of any kind that the driver has reported and vitals_keep has not
	                     taken yet */
};

/* Begins to listen to the device's errors; those from before are not heard. */
int health_open(struct health *health, const struct device *device, struct error *error);
void health_close(struct health *health);

/* ERROR_SYSTEM with a sentence when it does not work. The CPU always does. Opens `health` first if
 * it is not open; after an error it is closed, so that a GPU that was reset is found anew. */
int health_check(struct health *health, const struct device *device, struct error *error);

#endif
