/* Checks of the host's NVIDIA GPUs and their driver. */
#include "worker/run/host.h"

#include "lib/base/buffer.h"
#include "lib/base/scope.h"
#include "lib/gpu/nvml.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { most_gpus = 64 };

/* ---- the library ---- */

struct gpus {
	struct nvml_host nvml;
	unsigned int status; /* of NVML's start; 0: the other members are valid */
	struct nvmlDevice_st *devices[most_gpus];
	unsigned int count;
};

static void gpus_close(struct gpus *gpus)
{
	if (gpus->nvml.library && !gpus->status)
		gpus->nvml.stop();
	if (gpus->nvml.library)
		dlclose(gpus->nvml.library);
}
#define cleanup_gpus __attribute__((cleanup(gpus_close)))

static struct gpus gpus_open(void)
{
	struct gpus gpus = { .status = 1 };
	struct nvml_host *nvml = &gpus.nvml;
	nvml->library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
#define NVML_BIND(name, member, parameters) \
	*(void **)&nvml->member = nvml->library ? dlsym(nvml->library, #name) : NULL;
	NVML_HOST_CALLS(NVML_BIND)
#undef NVML_BIND
	if (!nvml->start || !nvml->stop || !nvml->device_count || !nvml->device_by_index)
		return gpus;
	gpus.status = nvml->start();
	unsigned int count = 0;
	if (gpus.status || nvml->device_count(&count))
		return gpus;
	for (unsigned int i = 0; i < count && gpus.count < most_gpus; i++)
		gpus.count += nvml->device_by_index(i, &gpus.devices[gpus.count]) == NVML_CALL_SUCCEEDED;
	return gpus;
}

static bool has_driver(const struct host *host)
{
	return host_file(host, "/proc/driver/nvidia/version") != NULL;
}

static const struct host_finding nothing = { HOST_GOOD, NULL };

/* Returns a warning with `sentence` that names the GPUs for which `holds` is true. If there is
 * none, returns a good finding with `otherwise`. */
static struct host_finding check_each_gpu(const struct host *host,
	bool (*holds)(const struct gpus *gpus, struct nvmlDevice_st *device), const char *otherwise,
	const char *sentence)
{
	cleanup_gpus struct gpus gpus = gpus_open();
	cleanup_buffer struct buffer named = { 0 };
	if (gpus.status || !gpus.count)
		return nothing;
	for (unsigned int i = 0; i < gpus.count; i++)
		if (holds(&gpus, gpus.devices[i]))
			buffer_printf(&named, "%s%u", named.length ? ", " : "", i);
	return named.length
		? host_found(host, HOST_WARNING, "%s (GPU %s)", sentence, buffer_string(&named))
		: host_found(host, HOST_GOOD, "%s", otherwise);
}

/* ---- the driver ---- */

static struct host_finding look_at_driver(const struct host *host)
{
	cleanup_gpus struct gpus gpus = gpus_open();
	char version[nvml_driver_bytes] = "";
	if (!gpus.nvml.library && !has_driver(host))
		return host_found(host, HOST_GOOD, "none, so the CPU is offered");
	if (!gpus.nvml.library)
		return host_found(host, HOST_FAULT,
			"the kernel has NVIDIA's driver, but its library libnvidia-ml.so.1 is missing");
	if (gpus.status == NVML_CALL_MIXED_VERSIONS)
		return host_found(
			host, HOST_FAULT, "its library and the loaded kernel module have different versions");
	if (gpus.status)
		return host_found(
			host, HOST_FAULT, "NVIDIA's driver does not answer (NVML error %u)", gpus.status);
	if (gpus.nvml.driver_version)
		gpus.nvml.driver_version(version, sizeof version);
	return host_found(host, gpus.count ? HOST_GOOD : HOST_FAULT, "NVIDIA %s, which has %u GPU%s",
		version, gpus.count, gpus.count == 1 ? "" : "s");
}

/* ---- nodes ---- */

static void note_missing_node(const struct host *host, const char *path, struct buffer *missing)
{
	enum { for_everybody = 0666 };
	struct stat node;
	if (stat(arena_printf(host->arena, "%s%s", host->root, path), &node))
		buffer_printf(missing, "%s%s is missing", missing->length ? ", " : "", path);
	else if ((node.st_mode & for_everybody) != for_everybody)
		buffer_printf(missing, "%s%s is not open to all users", missing->length ? ", " : "", path);
}

static struct host_finding look_at_nodes(const struct host *host)
{
	cleanup_gpus struct gpus gpus = gpus_open();
	cleanup_buffer struct buffer missing = { 0 };
	if (gpus.status || !gpus.count)
		return nothing;
	note_missing_node(host, "/dev/nvidiactl", &missing);
	note_missing_node(host, "/dev/nvidia-uvm", &missing);
	for (unsigned int i = 0, minor; i < gpus.count; i++)
		if (gpus.nvml.device_minor && !gpus.nvml.device_minor(gpus.devices[i], &minor))
			note_missing_node(host, arena_printf(host->arena, "/dev/nvidia%u", minor), &missing);
	return missing.length ? host_found(host, HOST_FAULT, "%s", buffer_string(&missing))
						  : host_found(host, HOST_GOOD, "all present and open to all users");
}

/* ---- counters ---- */

static struct host_finding look_at_counters(const struct host *host)
{
	static const char key[] = "RmProfilingAdminOnly: ";
	const char *parameters = host_file(host, "/proc/driver/nvidia/params"),
			   *found = parameters ? strstr(parameters, key) : NULL;
	if (!found)
		return nothing;
	bool closed = atoi(found + sizeof key - 1);
	return host_found(host, closed ? HOST_WARNING : HOST_GOOD,
		closed ? "only root may read them" : "submissions may read them");
}

/* ---- what disturbs measurements ---- */

static bool lacks_persistence(const struct gpus *gpus, struct nvmlDevice_st *device)
{
	unsigned int on = 1;
	return gpus->nvml.persistence && !gpus->nvml.persistence(device, &on) && !on;
}

static struct host_finding look_at_persistence(const struct host *host)
{
	return check_each_gpu(host, lacks_persistence, "on", "off");
}

static bool is_used(const struct gpus *gpus, struct nvmlDevice_st *device)
{
	unsigned int count = 0;
	return gpus->nvml.processes
		&& gpus->nvml.processes(device, &count, NULL) == NVML_CALL_WANTS_ROOM;
}

static struct host_finding look_at_others(const struct host *host)
{
	return check_each_gpu(
		host, is_used, "no other program uses the GPUs now", "another program uses one now");
}

static bool is_not_shared(const struct gpus *gpus, struct nvmlDevice_st *device)
{
	unsigned int mode = NVML_COMPUTE_DEFAULT;
	return gpus->nvml.compute_mode && !gpus->nvml.compute_mode(device, &mode)
		&& mode != NVML_COMPUTE_DEFAULT;
}

static struct host_finding look_at_compute_mode(const struct host *host)
{
	return check_each_gpu(host, is_not_shared, "default", "exclusive or prohibited");
}

static bool is_slowed(const struct gpus *gpus, struct nvmlDevice_st *device)
{
	static const unsigned long long at_rest = NVML_SLOWED_BY_HARDWARE | NVML_SLOWED_BY_HEAT
		| NVML_SLOWED_BY_HEAT_IN_HARDWARE | NVML_SLOWED_BY_POWER_BRAKE;
	unsigned long long reasons = 0;
	return gpus->nvml.slowed && !gpus->nvml.slowed(device, &reasons) && (reasons & at_rest);
}

static const char *describe_clocks(const struct host *host)
{
	cleanup_gpus struct gpus gpus = gpus_open();
	cleanup_buffer struct buffer text = { 0 };
	for (unsigned int i = 0, now, most; !gpus.status && i < gpus.count; i++)
		if (gpus.nvml.clock && !gpus.nvml.clock(gpus.devices[i], NVML_SM_CLOCK, &now)
			&& gpus.nvml.most_clock && !gpus.nvml.most_clock(gpus.devices[i], NVML_SM_CLOCK, &most))
			buffer_printf(&text, "%s%u of %u MHz", text.length ? ", " : "", now, most);
	return arena_strdup(
		host->arena, text.length ? buffer_string(&text) : "nothing slows them down");
}

static struct host_finding look_at_clocks(const struct host *host)
{
	return check_each_gpu(host, is_slowed, describe_clocks(host),
		"slowed down by heat or power, though nothing runs");
}

const struct host_check host_gpu_checks[] = {
	{ "GPU driver", look_at_driver, "No GPU is offered to leaderboards.",
		"After an update of the driver, restart this host; else reinstall the driver and its "
		"library in one version." },
	{ "GPU nodes", look_at_nodes,
		"CUDA does not start in jobs, which may not load modules or make nodes themselves.",
		"Run \"nvidia-modprobe -u -c 0\" when the host starts, and leave the nodes open to all "
		"(NVreg_DeviceFileMode=0666)." },
	{ "GPU counters", look_at_counters,
		"The mode profile has no report of ncu. Closed counters also keep submissions from "
		"watching each other.",
		"To open them, set the driver's option NVreg_RestrictProfilingToAdminUsers=0 in "
		"/etc/modprobe.d/ and restart." },
	{ "GPU persistence", look_at_persistence,
		"The driver forgets a GPU's state when no program uses it, and the next job waits for it.",
		"Run nvidia-persistenced, or \"nvidia-smi -pm 1\"." },
	{ "GPU compute mode", look_at_compute_mode,
		"A job may need two processes on a GPU, which this mode refuses.",
		"Run \"nvidia-smi -c DEFAULT\"." },
	{ "GPU load", look_at_others, "Other programs on the GPU falsify times.",
		"Find the program with \"nvidia-smi\" and end it, or keep it off that GPU." },
	{ "GPU clocks", look_at_clocks,
		"Times are longer than on a healthy GPU, and differ from run to run.",
		"Look at \"nvidia-smi -q -d PERFORMANCE,TEMPERATURE\"; check cooling and power." },
};
const size_t host_gpu_check_count = COUNT(host_gpu_checks);
