#include "lib/gpu/device.h"

#include "lib/base/buffer.h"
#include "lib/base/log.h"
#include "lib/base/scope.h"
#include "lib/gpu/nvml.h"

#include <ctype.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <strings.h>
#include <sys/file.h>

/* ---- names ---- */

static bool is_one_of(const char *word, const char *const *words, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strcasecmp(word, words[i]) == 0)
			return true;
	return false;
}

static bool is_memory_size(const char *word)
{
	size_t digits = strspn(word, "0123456789");
	return digits && strcasecmp(word + digits, "GB") == 0;
}

static bool is_left_out(const char *word)
{
	static const char *const left_out[] = { "NVIDIA", "Tesla", "GeForce", "Quadro", "Graphics",
		"Device", "Generation" };
	return is_one_of(word, left_out, COUNT(left_out)) || is_memory_size(word)
		|| strncasecmp(word, "SXM", 3) == 0 || strncasecmp(word, "HBM", 3) == 0;
}

static void append_word(struct buffer *model, const char *word)
{
	/* RTX 4090 becomes one word; H100 PCIe becomes two with a dash. */
	bool continues = model->length && isalpha((unsigned char)model->data[model->length - 1])
		&& isdigit((unsigned char)*word);
	if (model->length && !continues)
		buffer_byte(model, '-');
	for (; *word; word++)
		if (isalnum((unsigned char)*word))
			buffer_byte(model, *word);
}

const char *device_model(struct arena *arena, const char *product)
{
	enum { most_bytes = 48 }; /* the length of gpus.model */
	cleanup_buffer struct buffer model = { 0 };
	char *rest = arena_strdup(arena, product), *word;
	while ((word = strtok_r(rest, " -/()", &rest)))
		if (!is_left_out(word))
			append_word(&model, word);
	return model.length
		? arena_strndup(arena, model.data, model.length < most_bytes ? model.length : most_bytes)
		: "GPU";
}

/* ---- the CPU ---- */

const char *machine_processor(struct arena *arena)
{
	cleanup_file FILE *file = fopen("/proc/cpuinfo", "re");
	char line[512];
	while (file && fgets(line, sizeof line, file)) {
		char *colon = strchr(line, ':');
		if (colon && strncmp(line, "model name", 10) == 0)
			return arena_strndup(arena, colon + 2, strcspn(colon + 2, "\n"));
	}
	return "unknown processor";
}

int64_t machine_memory_bytes(void)
{
	return (int64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);
}

bool device_is_cpu(const struct device *device)
{
	return strcmp(device->model, "CPU") == 0;
}

int device_compare_uuid(const void *left, const void *right)
{
	const struct device *const *one = left, *const *other = right;
	return strcmp((*one)->uuid, (*other)->uuid);
}

bool gpu_runs_language(const char *model, enum task_language language)
{
	return language != TASK_CU || strcasecmp(model, "CPU") != 0;
}

static struct device cpu_device(struct arena *arena)
{
	return (struct device){ .model = "CPU",
		.product = machine_processor(arena),
		.uuid = "CPU",
		.driver = "",
		.compute_capability = "",
		.memory_bytes = machine_memory_bytes(),
		.node = -1 };
}

/* ---- GPUs ---- */

static bool bind_nvml(struct nvml *nvml)
{
	nvml->library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
	if (!nvml->library)
		return false;
	bool is_complete = true;
#define NVML_BIND(name, member, parameters) \
	*(void **)&nvml->member = dlsym(nvml->library, #name); \
	is_complete = is_complete && nvml->member;
	NVML_CALLS(NVML_BIND)
#undef NVML_BIND
	if (!is_complete)
		log_warning("The NVIDIA driver's libnvidia-ml.so.1 is too old: it lacks calls that Podium "
					"needs. No GPU is offered.");
	return is_complete;
}

static bool read_gpu(struct arena *arena, const struct nvml *nvml, unsigned int index,
	const char *driver, struct device *device)
{
	struct nvmlDevice_st *handle;
	struct nvml_memory memory;
	char product[nvml_name_bytes], uuid[nvml_uuid_bytes];
	int major, minor;
	unsigned int node;
	if (nvml->device_by_index(index, &handle) || nvml->device_name(handle, product, sizeof product)
		|| nvml->device_uuid(handle, uuid, sizeof uuid) || nvml->device_memory(handle, &memory)
		|| nvml->device_compute_capability(handle, &major, &minor))
		return false;
	*device = (struct device){
		.model = device_model(arena, product),
		.product = arena_strdup(arena, product),
		.uuid = arena_strdup(arena, uuid),
		.driver = driver,
		.compute_capability = arena_printf(arena, "%d.%d", major, minor),
		.memory_bytes = (int64_t)memory.total,
		.node = nvml->device_minor(handle, &node) ? -1 : (int)node,
	};
	return true;
}

static size_t read_gpus(struct arena *arena, const struct nvml *nvml, struct device **devices)
{
	char driver[nvml_driver_bytes] = "";
	unsigned int gpu_count = 0;
	size_t count = 0;
	if (nvml->driver_version(driver, sizeof driver) || nvml->device_count(&gpu_count))
		log_warning("The NVIDIA driver does not list its GPUs. No GPU is offered.");
	*devices = arena_array(arena, struct device, gpu_count + 1); /* one more for the CPU */
	const char *shared_driver = arena_strdup(arena, driver);
	for (unsigned int i = 0; i < gpu_count; i++) {
		if (read_gpu(arena, nvml, i, shared_driver, &(*devices)[count]))
			count++;
		else
			log_warning("GPU %u does not answer the driver, so it is not offered.", i);
	}
	return count;
}

void devices_find(struct arena *arena, bool with_cpu, struct device **devices, size_t *count)
{
	struct nvml nvml = { 0 };
	*count = 0;
	*devices = arena_array(arena, struct device, 1);
	if (bind_nvml(&nvml)) {
		unsigned int status = nvml.start();
		if (status == NVML_CALL_SUCCEEDED) {
			*count = read_gpus(arena, &nvml, devices);
			nvml.stop();
		} else {
			log_warning(
				"The NVIDIA driver does not start (NVML status %u). No GPU is offered.", status);
		}
	}
	if (nvml.library)
		dlclose(nvml.library);
	if (with_cpu || !*count)
		(*devices)[(*count)++] = cpu_device(arena);
}

/* ---- locks ---- */

static int open_lock_file(
	const char *directory, const char *uuid, const char *what, struct error *error)
{
	cleanup_buffer struct buffer path = { 0 };
	buffer_printf(&path, "%s/podium-%s.%s", directory, uuid, what);
	/* Opens without O_CREAT first: in a world-writable folder the kernel refuses O_CREAT for
	 * another user's file. */
	int lock = open(path.data, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	if (lock < 0 && errno == ENOENT)
		lock = open(path.data, O_RDONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0644);
	if (lock < 0)
		return fail(error, ERROR_SYSTEM,
			"Cannot open the device's lock file %s: %s. Remove it, or choose another folder with "
			"PODIUM_DEVICE_LOCKS.",
			path.data, strerror(errno));
	return lock;
}

int device_lock_open(struct device_lock *lock, const struct device *device, const char *directory,
	struct error *error)
{
	if (!*directory)
		directory = access("/run/lock", W_OK) == 0 ? "/run/lock" : "/tmp";
	*lock = (struct device_lock){ .turn = open_lock_file(directory, device->uuid, "turn", error),
		.use = -1 };
	if (lock->turn >= 0)
		lock->use = open_lock_file(directory, device->uuid, "lock", error);
	if (lock->use >= 0)
		return 0;
	device_lock_close(lock);
	return ERROR_SYSTEM;
}

bool device_lock_try(struct device_lock *lock)
{
	lock->has_turn = lock->has_turn || flock(lock->turn, LOCK_EX | LOCK_NB) == 0;
	if (!lock->has_turn || flock(lock->use, LOCK_EX | LOCK_NB))
		return false;
	flock(lock->turn, LOCK_UN);
	lock->has_turn = false;
	return true;
}

void device_lock_release(struct device_lock *lock)
{
	flock(lock->use, LOCK_UN);
}

void device_lock_close(struct device_lock *lock)
{
	if (lock->turn >= 0)
		close(lock->turn);
	if (lock->use >= 0)
		close(lock->use);
	*lock = (struct device_lock){ .turn = -1, .use = -1 };
}
