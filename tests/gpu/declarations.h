/* Our declarations of NVIDIA's management library against its own header. What differs does not compile.
 * `cc -fsyntax-only -Werror -I. -x c tests/gpu/declarations.h` is the whole test. */
#ifndef PODIUM_TESTS_GPU_DECLARATIONS_H
#define PODIUM_TESTS_GPU_DECLARATIONS_H

#include "worker/nvml.h"

#include <stddef.h>
#if __has_include(<nvml.h>)
#include <nvml.h>
#else
#include "/usr/local/cuda/include/nvml.h"
#endif

_Static_assert(sizeof(struct nvml_memory) == sizeof(nvmlMemory_t), "nvmlMemory_t");
_Static_assert(offsetof(struct nvml_memory, total) == offsetof(nvmlMemory_t, total), "nvmlMemory_t.total");
_Static_assert(offsetof(struct nvml_memory, used) == offsetof(nvmlMemory_t, used), "nvmlMemory_t.used");
_Static_assert((int)NVML_CALL_SUCCEEDED == (int)NVML_SUCCESS, "NVML_SUCCESS");
_Static_assert((int)nvml_name_bytes == NVML_DEVICE_NAME_V2_BUFFER_SIZE, "name");
_Static_assert((int)nvml_uuid_bytes == NVML_DEVICE_UUID_V2_BUFFER_SIZE, "uuid");
_Static_assert((int)nvml_driver_bytes == NVML_SYSTEM_DRIVER_VERSION_BUFFER_SIZE, "driver");

/* The library is not linked, so only the types of its functions are looked at. */
static inline struct nvml declarations_from_library(void)
{
	__typeof__(&nvmlInit_v2) start = NULL;
	__typeof__(&nvmlSystemGetDriverVersion) driver_version = NULL;
	__typeof__(&nvmlDeviceGetCount_v2) device_count = NULL;
	__typeof__(&nvmlDeviceGetHandleByIndex_v2) device_by_index = NULL;
	__typeof__(&nvmlDeviceGetName) device_name = NULL;
	__typeof__(&nvmlDeviceGetUUID) device_uuid = NULL;
	__typeof__(&nvmlDeviceGetCudaComputeCapability) device_compute_capability = NULL;
	return (struct nvml){ .start = start, .stop = start, .driver_version = driver_version, .device_count = device_count,
		.device_by_index = device_by_index, .device_name = device_name, .device_uuid = device_uuid,
		.device_compute_capability = device_compute_capability };
}

#endif
