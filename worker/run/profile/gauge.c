#include "worker/run/profile/gauge.h"

#include "lib/base/scope.h"

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct {
	unsigned long long bit;
	const char *name;
} REASONS[] = {
	{ NVML_SLOWED_BY_POWER_CAP, "power cap" },
	{ NVML_SLOWED_BY_HEAT, "temperature" },
	{ NVML_SLOWED_BY_HEAT_IN_HARDWARE, "temperature (hardware)" },
	{ NVML_SLOWED_BY_POWER_BRAKE, "power brake" },
	{ NVML_SLOWED_BY_HARDWARE, "hardware slowdown" },
	{ NVML_SLOWED_BY_SYNC_BOOST, "sync boost" },
};

/* Loads NVML. Returns false without an NVIDIA driver. Tries only once, since a driver does not
 * appear in a running system. */
static bool open_library(struct gauge *gauge)
{
	if (gauge->is_open || gauge->has_failed)
		return gauge->is_open;
	struct nvml_gauge *nvml = &gauge->nvml;
	nvml->library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
#define NVML_BIND(name, member, parameters) \
	*(void **)&nvml->member = nvml->library ? dlsym(nvml->library, #name) : NULL;
	NVML_GAUGE_CALLS(NVML_BIND)
#undef NVML_BIND
	gauge->is_open =
		nvml->start && nvml->stop && nvml->device_by_uuid && nvml->start() == NVML_CALL_SUCCEEDED;
	gauge->has_failed = !gauge->is_open;
	return gauge->is_open;
}

void gauge_close(struct gauge *gauge)
{
	if (gauge->is_open)
		gauge->nvml.stop();
	if (gauge->nvml.library)
		dlclose(gauge->nvml.library);
	*gauge = (struct gauge){ 0 };
}

static struct nvmlDevice_st *find_device(struct gauge *gauge, const char *uuids)
{
	char uuid[nvml_uuid_bytes];
	struct nvmlDevice_st *device;
	snprintf(uuid, sizeof uuid, "%.*s", (int)strcspn(uuids, ","), uuids);
	return *uuid && open_library(gauge)
			&& gauge->nvml.device_by_uuid(uuid, &device) == NVML_CALL_SUCCEEDED
		? device
		: NULL;
}

void gauge_facts(struct gauge *gauge, const char *uuids, json_t *environment)
{
	const struct nvml_gauge *nvml = &gauge->nvml;
	struct nvmlDevice_st *device = find_device(gauge, uuids);
	char text[nvml_name_bytes] = "";
	int version;
	if (!device)
		return;
	if (nvml->device_name && !nvml->device_name(device, text, sizeof text))
		json_object_set_new(environment, "product", json_string(text));
	if (nvml->driver_version && !nvml->driver_version(text, nvml_driver_bytes))
		json_object_set_new(environment, "driver", json_string(text));
	if (nvml->cuda_version && !nvml->cuda_version(&version)) /* 13000 is 13.0 */
		json_object_set_new(
			environment, "cuda", json_sprintf("%d.%d", version / 1000, version % 1000 / 10));
}

bool gauge_read(struct gauge *gauge, const char *uuids, struct gauge_reading *reading)
{
	const struct nvml_gauge *nvml = &gauge->nvml;
	struct nvmlDevice_st *device = find_device(gauge, uuids);
	unsigned int value;
	*reading = (struct gauge_reading){
		.sm_mhz = NAN, .memory_mhz = NAN, .temperature_c = NAN, .power_w = NAN
	};
	if (!device)
		return false;
	if (nvml->clock && !nvml->clock(device, NVML_SM_CLOCK, &value))
		reading->sm_mhz = value;
	if (nvml->clock && !nvml->clock(device, NVML_MEMORY_CLOCK, &value))
		reading->memory_mhz = value;
	if (nvml->temperature && !nvml->temperature(device, NVML_GPU_SENSOR, &value))
		reading->temperature_c = value;
	if (nvml->power && !nvml->power(device, &value))
		reading->power_w = value / 1000.0;
	if (!nvml->slowed || nvml->slowed(device, &reading->slowed))
		reading->slowed = 0;
	return true;
}

double gauge_used_bytes(struct gauge *gauge, const char *uuids)
{
	struct nvmlDevice_st *device = find_device(gauge, uuids);
	struct nvml_memory memory;
	return device && gauge->nvml.device_memory && !gauge->nvml.device_memory(device, &memory)
		? (double)memory.used
		: NAN;
}

void gauge_merge(struct gauge_reading *worst, const struct gauge_reading *reading)
{
	/* If one argument is NAN, fmin and fmax return the other. */
	worst->sm_mhz = fmin(worst->sm_mhz, reading->sm_mhz);
	worst->memory_mhz = fmin(worst->memory_mhz, reading->memory_mhz);
	worst->temperature_c = fmax(worst->temperature_c, reading->temperature_c);
	worst->power_w = fmax(worst->power_w, reading->power_w);
	worst->slowed |= reading->slowed;
}

json_t *gauge_json(const struct gauge_reading *reading)
{
	const struct {
		const char *key;
		double value;
	} figures[] = {
		{ "sm_clock_mhz", reading->sm_mhz },
		{ "memory_clock_mhz", reading->memory_mhz },
		{ "temperature_c", reading->temperature_c },
		{ "power_w", reading->power_w },
	};
	json_t *json = json_object(), *slowed_by = json_array();
	for (size_t i = 0; i < COUNT(figures); i++)
		if (isfinite(figures[i].value))
			json_object_set_new(json, figures[i].key, json_real(figures[i].value));
	for (size_t i = 0; i < COUNT(REASONS); i++)
		if (reading->slowed & REASONS[i].bit)
			json_array_append_new(slowed_by, json_string(REASONS[i].name));
	json_object_set_new(json, "slowed_by", slowed_by);
	return json;
}
