/* Compares Podium's declarations of NVIDIA's management library with the library's header: a
 * difference does not compile. The whole test is
 * `cc -fsyntax-only -Werror -I. -x c tests/gpu/declarations.h`. */
#ifndef PODIUM_TESTS_GPU_DECLARATIONS_H
#define PODIUM_TESTS_GPU_DECLARATIONS_H

#include "lib/gpu/nvml.h"

#include <stddef.h>
#if __has_include(<nvml.h>)
#include <nvml.h>
#else
#include "/usr/local/cuda/include/nvml.h"
#endif

_Static_assert(sizeof(struct nvml_memory) == sizeof(nvmlMemory_t), "nvmlMemory_t");
_Static_assert(
	offsetof(struct nvml_memory, total) == offsetof(nvmlMemory_t, total), "nvmlMemory_t.total");
_Static_assert(
	offsetof(struct nvml_memory, used) == offsetof(nvmlMemory_t, used), "nvmlMemory_t.used");
_Static_assert((int)NVML_CALL_SUCCEEDED == (int)NVML_SUCCESS, "NVML_SUCCESS");
_Static_assert((int)nvml_name_bytes == NVML_DEVICE_NAME_V2_BUFFER_SIZE, "name");
_Static_assert((int)nvml_uuid_bytes == NVML_DEVICE_UUID_V2_BUFFER_SIZE, "uuid");
_Static_assert((int)NVML_SM_CLOCK == (int)NVML_CLOCK_SM, "NVML_CLOCK_SM");
_Static_assert((int)NVML_MEMORY_CLOCK == (int)NVML_CLOCK_MEM, "NVML_CLOCK_MEM");
_Static_assert((int)NVML_GPU_SENSOR == (int)NVML_TEMPERATURE_GPU, "NVML_TEMPERATURE_GPU");
_Static_assert(NVML_SLOWED_BY_POWER_CAP == nvmlClocksThrottleReasonSwPowerCap, "SwPowerCap");
_Static_assert(NVML_SLOWED_BY_HARDWARE == nvmlClocksThrottleReasonHwSlowdown, "HwSlowdown");
_Static_assert(NVML_SLOWED_BY_SYNC_BOOST == nvmlClocksThrottleReasonSyncBoost, "SyncBoost");
_Static_assert(
	NVML_SLOWED_BY_HEAT == nvmlClocksThrottleReasonSwThermalSlowdown, "SwThermalSlowdown");
_Static_assert(NVML_SLOWED_BY_HEAT_IN_HARDWARE == nvmlClocksThrottleReasonHwThermalSlowdown,
	"HwThermalSlowdown");
_Static_assert(NVML_SLOWED_BY_POWER_BRAKE == nvmlClocksThrottleReasonHwPowerBrakeSlowdown,
	"HwPowerBrakeSlowdown");
_Static_assert((int)nvml_driver_bytes == NVML_SYSTEM_DRIVER_VERSION_BUFFER_SIZE, "driver");

_Static_assert(sizeof(struct nvml_event) == sizeof(nvmlEventData_t), "nvmlEventData_t");
_Static_assert(offsetof(struct nvml_event, kind) == offsetof(nvmlEventData_t, eventType),
	"nvmlEventData_t.eventType");
_Static_assert(offsetof(struct nvml_event, number) == offsetof(nvmlEventData_t, eventData),
	"nvmlEventData_t.eventData");
_Static_assert(NVML_EVENT_XID == nvmlEventTypeXidCriticalError, "nvmlEventTypeXidCriticalError");
_Static_assert((int)NVML_GPU_IS_LOST == (int)NVML_ERROR_GPU_IS_LOST, "NVML_ERROR_GPU_IS_LOST");
_Static_assert(
	(int)NVML_NOT_THERE == (int)NVML_ERROR_LIBRARY_NOT_FOUND, "NVML_ERROR_LIBRARY_NOT_FOUND");

/* Checks only the types of the functions, because the library is not linked. */
static inline struct nvml declarations_from_library(void)
{
	__typeof__(&nvmlInit_v2) start = NULL;
	__typeof__(&nvmlSystemGetDriverVersion) driver_version = NULL;
	__typeof__(&nvmlDeviceGetCount_v2) device_count = NULL;
	__typeof__(&nvmlDeviceGetHandleByIndex_v2) device_by_index = NULL;
	__typeof__(&nvmlDeviceGetName) device_name = NULL;
	__typeof__(&nvmlDeviceGetUUID) device_uuid = NULL;
	__typeof__(&nvmlDeviceGetCudaComputeCapability) device_compute_capability = NULL;
	return (struct nvml){ .start = start,
		.stop = start,
		.driver_version = driver_version,
		.device_count = device_count,
		.device_by_index = device_by_index,
		.device_name = device_name,
		.device_uuid = device_uuid,
		.device_compute_capability = device_compute_capability };
}

/* CUDA 13 deprecates some of these functions, but older drivers lack the recommended ones. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
static inline struct nvml_gauge gauge_declarations_from_library(void)
{
	__typeof__(&nvmlInit_v2) start = NULL;
	__typeof__(&nvmlSystemGetDriverVersion) driver_version = NULL;
	__typeof__(&nvmlSystemGetCudaDriverVersion_v2) cuda_version = NULL;
	__typeof__(&nvmlDeviceGetHandleByUUID) device_by_uuid = NULL;
	__typeof__(&nvmlDeviceGetName) device_name = NULL;
	__typeof__(&nvmlDeviceGetClockInfo) clock = NULL;
	__typeof__(&nvmlDeviceGetTemperature) temperature = NULL;
	__typeof__(&nvmlDeviceGetPowerUsage) power = NULL;
	__typeof__(&nvmlDeviceGetCurrentClocksThrottleReasons) slowed = NULL;
	return (struct nvml_gauge){ .start = start,
		.stop = start,
		.driver_version = driver_version,
		.cuda_version = cuda_version,
		.device_by_uuid = device_by_uuid,
		.device_name = device_name,
		.clock = clock,
		.temperature = temperature,
		.power = power,
		.slowed = slowed };
}
#pragma GCC diagnostic pop

_Static_assert((int)NVML_CALL_WANTS_ROOM == (int)NVML_ERROR_INSUFFICIENT_SIZE, "INSUFFICIENT_SIZE");
_Static_assert((int)NVML_CALL_MIXED_VERSIONS == (int)NVML_ERROR_LIB_RM_VERSION_MISMATCH,
	"LIB_RM_VERSION_MISMATCH");
_Static_assert((int)NVML_COMPUTE_DEFAULT == (int)NVML_COMPUTEMODE_DEFAULT, "COMPUTEMODE_DEFAULT");
_Static_assert(
	(int)NVML_COMPUTE_PROHIBITED == (int)NVML_COMPUTEMODE_PROHIBITED, "COMPUTEMODE_PROHIBITED");
_Static_assert(sizeof(nvmlEnableState_t) == sizeof(unsigned int)
		&& sizeof(nvmlComputeMode_t) == sizeof(unsigned int),
	"enums");

/* Podium declares pointers to enums, and the list of processes, with other types than the header,
 * so these functions are compared with declarations of the header's types. */
static inline struct nvml_host host_declarations_from_library(void)
{
	__typeof__(&nvmlDeviceGetMinorNumber) device_minor = NULL;
	__typeof__(&nvmlDeviceGetMaxClockInfo) most_clock = NULL;
	unsigned int (*persistence)(nvmlDevice_t device, nvmlEnableState_t * on) = NULL;
	unsigned int (*compute_mode)(nvmlDevice_t device, nvmlComputeMode_t * mode) = NULL;
	unsigned int (*processes)(nvmlDevice_t device, unsigned int *count, nvmlProcessInfo_t *list) =
		NULL;
	__typeof__(&nvmlDeviceGetPersistenceMode) library_persistence = persistence;
	__typeof__(&nvmlDeviceGetComputeMode) library_compute_mode = compute_mode;
	__typeof__(&nvmlDeviceGetComputeRunningProcesses_v3) library_processes = processes;
	(void)library_persistence;
	(void)library_compute_mode;
	(void)library_processes;
	return (struct nvml_host){ .device_minor = device_minor, .most_clock = most_clock };
}

#endif
