/* Stands in for libnvidia-ml.so.1 in tests: a driver with FAKE_GPUS GPUs (default 2) of the model FAKE_MODEL. */
#include "worker/nvml.h"

#include <stdio.h>
#include <stdlib.h>

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
