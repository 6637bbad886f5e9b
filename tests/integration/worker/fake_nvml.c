/* Stands in for libnvidia-ml.so.1 in tests: a driver with FAKE_GPUS GPUs (default 2) of the model FAKE_MODEL. Each time
 * the clock is asked for it has fallen by 10 MHz, from 1980 MHz on. */
#include "worker/nvml.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct nvmlDevice_st { unsigned int index; };
static struct nvmlDevice_st devices[16];

static unsigned int gpus(void)
{
	const char *count = getenv("FAKE_GPUS");
	return count ? (unsigned int)atoi(count) : 2;
}

unsigned int nvmlInit_v2(void);
unsigned int nvmlInit_v2(void) { return 0; }
unsigned int nvmlShutdown(void);
unsigned int nvmlShutdown(void) { return 0; }

unsigned int nvmlSystemGetDriverVersion(char *version, unsigned int bytes);
unsigned int nvmlSystemGetDriverVersion(char *version, unsigned int bytes)
{
	return (unsigned int)snprintf(version, bytes, "580.00") >= bytes;
}

unsigned int nvmlDeviceGetCount_v2(unsigned int *count);
unsigned int nvmlDeviceGetCount_v2(unsigned int *count)
{
	*count = gpus();
	return 0;
}

unsigned int nvmlDeviceGetHandleByIndex_v2(unsigned int index, struct nvmlDevice_st **device);
unsigned int nvmlDeviceGetHandleByIndex_v2(unsigned int index, struct nvmlDevice_st **device)
{
	devices[index].index = index;
	*device = &devices[index];
	return index >= gpus();
}

unsigned int nvmlDeviceGetName(struct nvmlDevice_st *device, char *name, unsigned int bytes);
unsigned int nvmlDeviceGetName(struct nvmlDevice_st *device, char *name, unsigned int bytes)
{
	(void)device;
	const char *model = getenv("FAKE_MODEL");
	return (unsigned int)snprintf(name, bytes, "%s", model ? model : "NVIDIA H200") >= bytes;
}

unsigned int nvmlDeviceGetUUID(struct nvmlDevice_st *device, char *uuid, unsigned int bytes);
unsigned int nvmlDeviceGetUUID(struct nvmlDevice_st *device, char *uuid, unsigned int bytes)
{
	return (unsigned int)snprintf(uuid, bytes, "GPU-%08x", device->index) >= bytes;
}

unsigned int nvmlDeviceGetMemoryInfo(struct nvmlDevice_st *device, struct nvml_memory *memory);
unsigned int nvmlDeviceGetMemoryInfo(struct nvmlDevice_st *device, struct nvml_memory *memory)
{
	(void)device;
	*memory = (struct nvml_memory){ .total = 150ULL << 30 };
	return 0;
}

unsigned int nvmlDeviceGetCudaComputeCapability(struct nvmlDevice_st *device, int *major, int *minor);
unsigned int nvmlDeviceGetCudaComputeCapability(struct nvmlDevice_st *device, int *major, int *minor)
{
	(void)device;
	*major = 9;
	*minor = 0;
	return 0;
}

unsigned int nvmlSystemGetCudaDriverVersion_v2(int *version);
unsigned int nvmlSystemGetCudaDriverVersion_v2(int *version)
{
	*version = 13010;
	return 0;
}

unsigned int nvmlDeviceGetHandleByUUID(const char *uuid, struct nvmlDevice_st **device);
unsigned int nvmlDeviceGetHandleByUUID(const char *uuid, struct nvmlDevice_st **device)
{
	unsigned int index;
	*device = &devices[0];
	return strlen(uuid) != strlen("GPU-00000000") || sscanf(uuid, "GPU-%8x", &index) != 1 || index >= gpus();
}

unsigned int nvmlDeviceGetClockInfo(struct nvmlDevice_st *device, unsigned int kind, unsigned int *mhz);
unsigned int nvmlDeviceGetClockInfo(struct nvmlDevice_st *device, unsigned int kind, unsigned int *mhz)
{
	static unsigned int fallen;
	(void)device;
	*mhz = kind == NVML_SM_CLOCK ? 1980 - fallen++ * 10 : 3201;
	return 0;
}

unsigned int nvmlDeviceGetTemperature(struct nvmlDevice_st *device, unsigned int sensor, unsigned int *celsius);
unsigned int nvmlDeviceGetTemperature(struct nvmlDevice_st *device, unsigned int sensor, unsigned int *celsius)
{
	(void)device;
	*celsius = 41;
	return sensor != NVML_GPU_SENSOR;
}

/* "Not supported", as some boards answer. */
unsigned int nvmlDeviceGetPowerUsage(struct nvmlDevice_st *device, unsigned int *milliwatts);
unsigned int nvmlDeviceGetPowerUsage(struct nvmlDevice_st *device, unsigned int *milliwatts)
{
	(void)device;
	(void)milliwatts;
	return 3;
}

unsigned int nvmlDeviceGetCurrentClocksThrottleReasons(struct nvmlDevice_st *device, unsigned long long *reasons);
unsigned int nvmlDeviceGetCurrentClocksThrottleReasons(struct nvmlDevice_st *device, unsigned long long *reasons)
{
	(void)device;
	*reasons = 0x1 | NVML_SLOWED_BY_POWER_CAP; /* the first bit says that it is idle */
	return 0;
}

/* ---- what podium-run asks about its host; each is FAKE_... or what is healthy ---- */

static unsigned int fake(const char *name, unsigned int otherwise)
{
	const char *value = getenv(name);
	return value ? (unsigned int)atoi(value) : otherwise;
}

unsigned int nvmlDeviceGetMinorNumber(struct nvmlDevice_st *device, unsigned int *minor);
unsigned int nvmlDeviceGetMinorNumber(struct nvmlDevice_st *device, unsigned int *minor)
{
	*minor = device->index;
	return 0;
}

unsigned int nvmlDeviceGetPersistenceMode(struct nvmlDevice_st *device, unsigned int *on);
unsigned int nvmlDeviceGetPersistenceMode(struct nvmlDevice_st *device, unsigned int *on)
{
	(void)device;
	*on = fake("FAKE_PERSISTENCE", 1);
	return 0;
}

unsigned int nvmlDeviceGetComputeMode(struct nvmlDevice_st *device, unsigned int *mode);
unsigned int nvmlDeviceGetComputeMode(struct nvmlDevice_st *device, unsigned int *mode)
{
	*mode = device->index == 1 ? fake("FAKE_COMPUTE_MODE", NVML_COMPUTE_DEFAULT) : NVML_COMPUTE_DEFAULT;
	return 0;
}

unsigned int nvmlDeviceGetComputeRunningProcesses_v3(struct nvmlDevice_st *device, unsigned int *count, void *list);
unsigned int nvmlDeviceGetComputeRunningProcesses_v3(struct nvmlDevice_st *device, unsigned int *count, void *list)
{
	unsigned int room = *count;
	(void)device;
	(void)list;
	*count = fake("FAKE_PROCESSES", 0);
	return *count > room ? NVML_CALL_WANTS_ROOM : 0;
}

unsigned int nvmlDeviceGetMaxClockInfo(struct nvmlDevice_st *device, unsigned int kind, unsigned int *mhz);
unsigned int nvmlDeviceGetMaxClockInfo(struct nvmlDevice_st *device, unsigned int kind, unsigned int *mhz)
{
	(void)device;
	*mhz = kind == NVML_SM_CLOCK ? 1980 : 3201;
	return 0;
}
