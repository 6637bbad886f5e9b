/* Checks a GPU through its driver. A GPU works if the driver answers and, since the last check, has
 * reported no error (Xid) that only a broken GPU, bus or driver causes. Errors that a program can
 * cause, such as an illegal address, do not count. */
#ifndef PODIUM_WORKER_GPU_HEALTH_H
#define PODIUM_WORKER_GPU_HEALTH_H

#include "lib/base/error.h"
#include "lib/gpu/device.h"
#include "lib/gpu/nvml.h"

#include <stdbool.h>
#include <stdint.h>

/* Initialize with zeros. */
struct gpu_health {
	struct nvml_health nvml;
	struct nvmlDevice_st *device;
	struct nvmlEventSet_st *errors; /* NULL: this driver does not report errors */
	bool is_open;
	/* Errors of any kind from the driver since vitals_keep last stored the count. */
	int64_t reported;
};

/* Starts to listen for the device's errors; earlier errors are not seen. */
int gpu_health_open(struct gpu_health *health, const struct device *device, struct error *error);
void gpu_health_close(struct gpu_health *health);

/* ERROR_SYSTEM with a message when the device does not work. The CPU always works. Opens `health`
 * if it is closed. Closes it after an error, so that the next check finds a GPU that was reset. */
int gpu_health_check(struct gpu_health *health, const struct device *device, struct error *error);

#endif
