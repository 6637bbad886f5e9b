/* A library for LD_PRELOAD on a host with a real GPU. While the file LOSE_FILE exists,
 * podium-worker sees a GPU that has fallen off the bus, because this library answers in NVML's
 * place. If the file contains "lost", the GPU is lost as long as the file exists. If it
 * contains "xid 79", the driver reports that error once. All other calls reach the real library. A
 * test cannot unplug the GPU of a rented machine. */
#include "lib/gpu/nvml.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned int (*real_memory)(struct nvmlDevice_st *device, struct nvml_memory *memory);
static unsigned int (*real_wait)(
	struct nvmlEventSet_st *set, struct nvml_event *event, unsigned int timeout_ms);

static int says(const char *wanted)
{
	const char *path = getenv("LOSE_FILE");
	FILE *file = path ? fopen(path, "r") : NULL;
	char line[32] = "";
	if (!file)
		return 0;
	int found = fgets(line, sizeof line, file) && strncmp(line, wanted, strlen(wanted)) == 0;
	fclose(file);
	return found;
}

static unsigned int memory_or_lost(struct nvmlDevice_st *device, struct nvml_memory *memory)
{
	return says("lost") ? NVML_GPU_IS_LOST : real_memory(device, memory);
}

static unsigned int wait_or_xid(
	struct nvmlEventSet_st *set, struct nvml_event *event, unsigned int timeout_ms)
{
	static atomic_int told;
	int is_xid = says("xid 79");
	if (is_xid && !atomic_exchange(&told, 1)) {
		*event = (struct nvml_event){ .kind = NVML_EVENT_XID, .number = 79 };
		return NVML_CALL_SUCCEEDED;
	}
	if (!is_xid)
		atomic_store(&told, 0);
	return real_wait(set, event, timeout_ms);
}

/* Replaces dlsym(), because Podium looks up NVML's functions by it. */
void *dlsym(void *library, const char *name)
{
	static void *(*real_dlsym)(void *library, const char *name);
	if (!real_dlsym)
		real_dlsym = (void *(*)(void *, const char *))dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.34");
	if (!real_dlsym)
		real_dlsym = (void *(*)(void *, const char *))dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5");
	void *found = real_dlsym(library, name);
	if (found && strcmp(name, "nvmlDeviceGetMemoryInfo") == 0) {
		*(void **)&real_memory = found;
		return (void *)memory_or_lost;
	}
	if (found && strcmp(name, "nvmlEventSetWait_v2") == 0) {
		*(void **)&real_wait = found;
		return (void *)wait_or_xid;
	}
	return found;
}
