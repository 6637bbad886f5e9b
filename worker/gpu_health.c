#include "worker/gpu_health.h"

#include "lib/base/scope.h"

#include <dlfcn.h>
#include <string.h>

/* Errors that require a reset or a replacement of the GPU. Source: NVIDIA, "XID Errors", the rows
 * whose causes are hardware or driver and not the application. */
static const struct {
	unsigned long long number;
	const char *meaning;
} BROKEN[] = {
	{ 48, "a double-bit error in its memory" },
	{ 61, "a breakpoint of its internal controller" },
	{ 62, "a halt of its internal controller" },
	{ 64, "a failure to replace broken memory" },
	{ 74, "an error on NVLink" },
	{ 79, "the GPU has fallen off the bus" },
	{ 95, "an uncontained memory error" },
	{ 119, "its system processor does not answer" },
	{ 120, "an error of its system processor" },
	{ 140, "a memory error that could not be recovered" },
	{ 143, "the GPU could not be initialized" },
};

static bool bind_nvml(struct nvml_health *nvml)
{
	nvml->library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
#define NVML_BIND(name, member, parameters) \
	*(void **)&nvml->member = nvml->library ? dlsym(nvml->library, #name) : NULL;
	NVML_HEALTH_CALLS(NVML_BIND)
#undef NVML_BIND
	return nvml->start && nvml->stop && nvml->device_by_uuid && nvml->device_memory;
}

static void listen_to_errors(struct gpu_health *health)
{
	const struct nvml_health *nvml = &health->nvml;
	if (!nvml->event_set_make || !nvml->event_set_free || !nvml->event_register || !nvml->event_wait
		|| nvml->event_set_make(&health->errors))
		health->errors = NULL;
	else if (nvml->event_register(health->device, NVML_EVENT_XID, health->errors)) {
		nvml->event_set_free(health->errors);
		health->errors = NULL;
	}
}

static int fail_silent(
	const struct device *device, const char *call, unsigned int status, struct error *error)
{
	return fail(error, ERROR_SYSTEM,
		"The %s %s has stopped working: the driver answers %s with status %u%s.", device->model,
		device->uuid, call, status, status == NVML_GPU_IS_LOST ? " (the GPU is lost)" : "");
}

int gpu_health_open(struct gpu_health *health, const struct device *device, struct error *error)
{
	if (device_is_cpu(device) || health->is_open)
		return 0;
	unsigned int status = bind_nvml(&health->nvml) ? health->nvml.start() : NVML_NOT_THERE;
	int rc = status ? fail_silent(device, "nvmlInit", status, error) : 0;
	health->is_open = !rc;
	if (!rc && (status = health->nvml.device_by_uuid(device->uuid, &health->device)))
		rc = fail_silent(device, "nvmlDeviceGetHandleByUUID", status, error);
	if (!rc)
		listen_to_errors(health);
	else
		gpu_health_close(health);
	return rc;
}

void gpu_health_close(struct gpu_health *health)
{
	if (health->errors)
		health->nvml.event_set_free(health->errors);
	if (health->is_open)
		health->nvml.stop();
	if (health->nvml.library)
		dlclose(health->nvml.library);
	*health = (struct gpu_health){ .reported = health->reported };
}

static const char *find_meaning(unsigned long long number)
{
	for (size_t i = 0; i < COUNT(BROKEN); i++)
		if (BROKEN[i].number == number)
			return BROKEN[i].meaning;
	return NULL;
}

/* Fails if an error since the last check means that the GPU is broken. */
static int read_errors(struct gpu_health *health, const struct device *device, struct error *error)
{
	enum { most_errors = 1000 };
	struct nvml_event event;
	int rc = 0;
	for (int i = 0;
		 health->errors && i < most_errors && !health->nvml.event_wait(health->errors, &event, 0);
		 i++) {
		health->reported += event.kind == NVML_EVENT_XID;
		const char *meaning = event.kind == NVML_EVENT_XID ? find_meaning(event.number) : NULL;
		if (meaning && !rc)
			rc = fail(error, ERROR_SYSTEM,
				"The %s %s has stopped working: the driver reports Xid %llu, %s.", device->model,
				device->uuid, event.number, meaning);
	}
	return rc;
}

int gpu_health_check(struct gpu_health *health, const struct device *device, struct error *error)
{
	struct nvml_memory memory;
	if (device_is_cpu(device))
		return 0;
	int rc = gpu_health_open(health, device, error);
	if (rc)
		return rc;
	unsigned int status = health->nvml.device_memory(health->device, &memory);
	rc = read_errors(health, device, error);
	if (!rc && status)
		rc = fail_silent(device, "nvmlDeviceGetMemoryInfo", status, error);
	if (rc)
		gpu_health_close(health);
	return rc;
}
