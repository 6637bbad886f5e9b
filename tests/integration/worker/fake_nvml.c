/* Stands in for libnvidia-ml.so.1 in tests: a driver with FAKE_GPUS GPUs (default 2) of the model
 * FAKE_MODEL. The clock starts at 1980 MHz and falls by 10 MHz with each reading. Each line of the
 * file FAKE_FAULTS reports a fault of a GPU: "1 lost", "1 xid 79". */
#include "lib/gpu/nvml.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct nvmlDevice_st {
	unsigned int index;
};
static struct nvmlDevice_st devices[16];

static unsigned int gpus(void)
{
	const char *count = getenv("FAKE_GPUS");
	return count ? (unsigned int)atoi(count) : 2;
}

/* ---- faults of the GPUs ---- */

struct nvmlEventSet_st {
	unsigned int index;
	long heard;
};

static FILE *open_faults(void)
{
	return getenv("FAKE_FAULTS") ? fopen(getenv("FAKE_FAULTS"), "r") : NULL;
}

static int is_lost(unsigned int index)
{
	FILE *file = open_faults();
	char line[64], wanted[64];
	int found = 0;
	snprintf(wanted, sizeof wanted, "%u lost\n", index);
	while (file && fgets(line, sizeof line, file))
		found |= strcmp(line, wanted) == 0;
	if (file)
		fclose(file);
	return found;
}

/* Returns the device's next Xid after the position `heard` in the file, or 0 if there is none.
 * Moves `heard` past the lines that were read. */
static unsigned long long next_xid(unsigned int index, long *heard)
{
	FILE *file = open_faults();
	char line[64];
	unsigned int device;
	unsigned long long xid = 0, found = 0;
	if (file && fseek(file, *heard, SEEK_SET) == 0)
		while (!found && fgets(line, sizeof line, file))
			found = sscanf(line, "%u xid %llu", &device, &xid) == 2 && device == index ? xid : 0;
	if (file) {
		*heard = ftell(file);
		fclose(file);
	}
	return found;
}

unsigned int nvmlEventSetCreate(struct nvmlEventSet_st **set);
unsigned int nvmlEventSetCreate(struct nvmlEventSet_st **set)
{
	*set = calloc(1, sizeof **set);
	return 0;
}

unsigned int nvmlEventSetFree(struct nvmlEventSet_st *set);
unsigned int nvmlEventSetFree(struct nvmlEventSet_st *set)
{
	free(set);
	return 0;
}

unsigned int nvmlDeviceRegisterEvents(
	struct nvmlDevice_st *device, unsigned long long kinds, struct nvmlEventSet_st *set);
unsigned int nvmlDeviceRegisterEvents(
	struct nvmlDevice_st *device, unsigned long long kinds, struct nvmlEventSet_st *set)
{
	set->index = device->index;
	while (next_xid(set->index, &set->heard)) /* skips errors from before the registration */
		;
	return kinds != NVML_EVENT_XID;
}

unsigned int nvmlEventSetWait_v2(
	struct nvmlEventSet_st *set, struct nvml_event *event, unsigned int timeout_ms);
unsigned int nvmlEventSetWait_v2(
	struct nvmlEventSet_st *set, struct nvml_event *event, unsigned int timeout_ms)
{
	(void)timeout_ms;
	*event = (struct nvml_event){ .device = &devices[set->index],
		.kind = NVML_EVENT_XID,
		.number = next_xid(set->index, &set->heard) };
	return event->number ? 0 : 10; /* NVML_ERROR_TIMEOUT */
}

/* ---- the rest ---- */

unsigned int nvmlInit_v2(void);
unsigned int nvmlInit_v2(void)
{
	return 0;
}
unsigned int nvmlShutdown(void);
unsigned int nvmlShutdown(void)
{
	return 0;
}

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
	*memory = (struct nvml_memory){ .total = 150ULL << 30, .used = 7ULL << 30 };
	return is_lost(device->index) ? NVML_GPU_IS_LOST : 0;
}

unsigned int nvmlDeviceGetCudaComputeCapability(
	struct nvmlDevice_st *device, int *major, int *minor);
unsigned int nvmlDeviceGetCudaComputeCapability(
	struct nvmlDevice_st *device, int *major, int *minor)
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
	if (strlen(uuid) != strlen("GPU-00000000") || sscanf(uuid, "GPU-%8x", &index) != 1)
		return 2;
	return nvmlDeviceGetHandleByIndex_v2(index, device);
}

unsigned int nvmlDeviceGetClockInfo(
	struct nvmlDevice_st *device, unsigned int kind, unsigned int *mhz);
unsigned int nvmlDeviceGetClockInfo(
	struct nvmlDevice_st *device, unsigned int kind, unsigned int *mhz)
{
	static unsigned int fallen;
	(void)device;
	*mhz = kind == NVML_SM_CLOCK ? 1980 - fallen++ * 10 : 3201;
	return 0;
}

unsigned int nvmlDeviceGetTemperature(
	struct nvmlDevice_st *device, unsigned int sensor, unsigned int *celsius);
unsigned int nvmlDeviceGetTemperature(
	struct nvmlDevice_st *device, unsigned int sensor, unsigned int *celsius)
{
	(void)device;
	*celsius = 41;
	return sensor != NVML_GPU_SENSOR;
}

/* Answers "not supported", as some boards do. */
unsigned int nvmlDeviceGetPowerUsage(struct nvmlDevice_st *device, unsigned int *milliwatts);
unsigned int nvmlDeviceGetPowerUsage(struct nvmlDevice_st *device, unsigned int *milliwatts)
{
	(void)device;
	(void)milliwatts;
	return 3;
}

unsigned int nvmlDeviceGetCurrentClocksThrottleReasons(
	struct nvmlDevice_st *device, unsigned long long *reasons);
unsigned int nvmlDeviceGetCurrentClocksThrottleReasons(
	struct nvmlDevice_st *device, unsigned long long *reasons)
{
	(void)device;
	*reasons = 0x1 | NVML_SLOWED_BY_POWER_CAP; /* 0x1: the GPU is idle */
	return 0;
}

/* ---- what podium-run asks about its host; FAKE_... variables replace the healthy values ---- */

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
	*mode =
		device->index == 1 ? fake("FAKE_COMPUTE_MODE", NVML_COMPUTE_DEFAULT) : NVML_COMPUTE_DEFAULT;
	return 0;
}

unsigned int nvmlDeviceGetComputeRunningProcesses_v3(
	struct nvmlDevice_st *device, unsigned int *count, void *list);
unsigned int nvmlDeviceGetComputeRunningProcesses_v3(
	struct nvmlDevice_st *device, unsigned int *count, void *list)
{
	unsigned int room = *count;
	(void)device;
	(void)list;
	*count = fake("FAKE_PROCESSES", 0);
	return *count > room ? NVML_CALL_WANTS_ROOM : 0;
}

unsigned int nvmlDeviceGetMaxClockInfo(
	struct nvmlDevice_st *device, unsigned int kind, unsigned int *mhz);
unsigned int nvmlDeviceGetMaxClockInfo(
	struct nvmlDevice_st *device, unsigned int kind, unsigned int *mhz)
{
	(void)device;
	*mhz = kind == NVML_SM_CLOCK ? 1980 : 3201;
	return 0;
}
