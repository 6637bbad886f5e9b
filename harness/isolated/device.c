/* The state of the GPU from NVML. NVML is bound at its first use and stays loaded. */
#include "inside.h"

#include "driver.h"

#include <dlfcn.h>
#include <math.h>

static int bind_library(struct nvml_state *nvml)
{
	if (nvml->library)
		return 0;
	void *library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
	if (!library)
		return isolated_fail(
			ISOLATED_FAILED, "NVIDIA's libnvidia-ml.so.1 cannot be loaded: %s.", dlerror());
#define NVML_BIND(name, member, parameters) *(void **)&nvml->member = dlsym(library, #name);
	NVML_STATE_CALLS(NVML_BIND)
#undef NVML_BIND
	if (!nvml->start || !nvml->device_by_uuid)
		return isolated_fail(ISOLATED_FAILED,
			"NVIDIA's libnvidia-ml.so.1 lacks nvmlInit_v2 or nvmlDeviceGetHandleByUUID.");
	unsigned int status = nvml->start();
	if (status != NVML_STATE_SUCCEEDED)
		return isolated_fail(
			ISOLATED_FAILED, "NVIDIA's libnvidia-ml.so.1 does not start (status %u).", status);
	nvml->library = library;
	return 0;
}

static double clock_mhz(
	const struct nvml_state *nvml, struct nvmlDevice_st *device, unsigned int kind)
{
	unsigned int mhz;
	return nvml->clock && nvml->clock(device, kind, &mhz) == NVML_STATE_SUCCEEDED ? mhz : NAN;
}

static void read_state(const struct nvml_state *nvml, struct nvmlDevice_st *device,
	struct isolated_device_state *state)
{
	unsigned int celsius, milliwatts;
	unsigned long long reasons;
	state->sm_mhz = clock_mhz(nvml, device, NVML_STATE_SM_CLOCK);
	state->memory_mhz = clock_mhz(nvml, device, NVML_STATE_MEMORY_CLOCK);
	if (nvml->temperature
		&& nvml->temperature(device, NVML_STATE_GPU_SENSOR, &celsius) == NVML_STATE_SUCCEEDED)
		state->temperature_c = celsius;
	if (nvml->power && nvml->power(device, &milliwatts) == NVML_STATE_SUCCEEDED)
		state->power_w = milliwatts / 1e3;
	if (nvml->slowed && nvml->slowed(device, &reasons) == NVML_STATE_SUCCEEDED)
		state->slowed_by = reasons;
}

int isolated_device_look(const char *uuid, struct isolated_device_state *state)
{
	static struct nvml_state nvml;
	struct nvmlDevice_st *device = NULL;
	*state = (struct isolated_device_state){
		.sm_mhz = NAN, .memory_mhz = NAN, .temperature_c = NAN, .power_w = NAN
	};
	int rc = bind_library(&nvml);
	if (rc)
		return rc;
	unsigned int status = nvml.device_by_uuid(uuid, &device);
	if (status != NVML_STATE_SUCCEEDED)
		return isolated_fail(ISOLATED_FAILED, "NVML knows no GPU %s (status %u).", uuid, status);
	read_state(&nvml, device, state);
	return 0;
}
