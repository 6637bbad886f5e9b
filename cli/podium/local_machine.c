#include "cli/podium/local_machine.h"

#include "lib/base/buffer.h"
#include "lib/base/scope.h"
#include "lib/job/message.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- devices ---- */

struct machine {
	struct device *devices;
	size_t count;
};

static const char *list_of(struct arena *arena, const struct machine *machine)
{
	cleanup_buffer struct buffer list = { 0 };
	for (size_t i = 0; i < machine->count; i++)
		buffer_printf(&list, "%s%s (%s)", i ? ", " : "",
			device_is_cpu(&machine->devices[i]) ? "cpu" : machine->devices[i].uuid,
			machine->devices[i].product);
	return arena_strdup(arena, buffer_string(&list));
}

/* Returns the device whose UUID is `gpu`. If `gpu` is NULL, returns the first device that can run
 * the task's language; the CPU comes last. Returns NULL if there is none. */
static const struct device *choose_device(
	const struct machine *machine, const struct task *task, const char *gpu)
{
	for (size_t i = 0; i < machine->count; i++)
		if (gpu ? strcasecmp(machine->devices[i].uuid, gpu) == 0
				: gpu_runs_language(machine->devices[i].model, task->language))
			return &machine->devices[i];
	return NULL;
}

/* Adds devices of the first device's model until there are `wanted`, and sorts all of them by UUID.
 * All programs lock devices in this order, to avoid deadlock. */
static int add_others(
	struct local_machine *local, const struct machine *machine, size_t wanted, struct error *error)
{
	const struct device *first = local->devices[0];
	size_t there = 0;
	for (size_t i = 0; i < machine->count; i++) {
		const struct device *device = &machine->devices[i];
		bool fits = strcmp(device->model, first->model) == 0;
		there += fits;
		if (fits && device != first && local->device_count < wanted
			&& local->device_count < local_machine_most_devices)
			local->devices[local->device_count++] = device;
	}
	if (local->device_count < wanted)
		return fail(error, ERROR_NOT_FOUND,
			"The task needs %zu GPUs of one model, but this machine has %zu of the model %s.",
			wanted, there, first->model);
	qsort(local->devices, local->device_count, sizeof *local->devices, device_compare_uuid);
	return 0;
}

static int find_devices(struct arena *arena, const struct task *task, const char *gpu,
	struct local_machine *local, struct error *error)
{
	struct machine machine;
	devices_find(arena, true, &machine.devices, &machine.count);
	const struct device *device = choose_device(&machine, task, gpu);
	if (!device && gpu)
		return fail(error, ERROR_NOT_FOUND, "This machine has no device %.80s. It has %s.", gpu,
			list_of(arena, &machine));
	if (!device || !gpu_runs_language(device->model, task->language))
		return fail(error, ERROR_NOT_FOUND, "The task is in CUDA C++, which needs an NVIDIA GPU%s.",
			device ? ". Name one with --gpu, or leave out --gpu"
				   : ", and this machine has none. Check whether nvidia-smi lists one");
	local->devices[0] = device;
	local->device_count = 1;
	return add_others(local, &machine, (size_t)job_gpu_count(task, device), error);
}

const char *local_machine_uuids(struct arena *arena, const struct local_machine *local)
{
	cleanup_buffer struct buffer uuids = { 0 };
	for (size_t i = 0; i < local->device_count; i++)
		buffer_printf(&uuids, "%s%s", i ? "," : "", local->devices[i]->uuid);
	return arena_strdup(arena, buffer_string(&uuids));
}

/* ---- programs ---- */

static int find_runner(struct arena *arena, const struct config *config,
	struct local_machine *local, struct error *error)
{
	local->runner = tools_find_runner(arena, config);
	if (access(local->runner, X_OK) == 0)
		return 0;
	return fail(error, ERROR_NOT_FOUND, "There is no podium-run at %s%s. podium check needs it.",
		local->runner,
		config->worker_runner[0] ? " (the setting worker_runner)" : " or on the PATH");
}

static int find_python(struct arena *arena, const struct config *config,
	struct interrupt *interrupt, struct local_machine *local, struct error *error)
{
	const char *python = tools_find_python(arena, config, local->runner, interrupt->descriptor);
	local->tools.python = python ? python : "";
	if (!python || *python)
		return 0;
	if (config->python[0])
		return fail(error, ERROR_NOT_FOUND,
			"%s is not a Python that can import torch. Install torch for it, or name another one "
			"with --python.",
			config->python);
	return fail(error, ERROR_NOT_FOUND,
		"The task is in Python, and no python3 on the PATH or in /usr/bin can import torch. "
		"Install it (Debian: python3-torch), or name an interpreter that has it with --python.");
}

static int find_nvcc(struct arena *arena, const struct config *config, struct local_machine *local,
	struct error *error)
{
	local->tools.nvcc = tools_find_nvcc(arena, config);
	if (access(local->tools.nvcc, X_OK) == 0)
		return 0;
	return fail(error, ERROR_NOT_FOUND,
		"The task is in CUDA C++, and there is no nvcc%s%s. Install the CUDA toolkit, or name its "
		"nvcc with PODIUM_NVCC.",
		config->nvcc[0] ? " at " : " on the PATH or in /usr/local/cuda/bin", config->nvcc);
}

/* Finds the tools of both languages. Only the tool of the task's language is required, but a task's
 * harness may call nvcc from Python. */
static int find_tools(struct arena *arena, const struct config *config, const struct task *task,
	struct interrupt *interrupt, struct local_machine *local, struct error *error)
{
	local->tools = (struct tools){ .python = "", .nvcc = tools_find_nvcc(arena, config) };
	return task->language == TASK_CU ? find_nvcc(arena, config, local, error)
									 : find_python(arena, config, interrupt, local, error);
}

int local_machine_find(struct arena *arena, const struct config *config, const struct task *task,
	const char *gpu, struct interrupt *interrupt, struct local_machine *local, struct error *error)
{
	int rc = find_runner(arena, config, local, error);
	if (!rc)
		rc = find_devices(arena, task, gpu, local, error);
	return rc ? rc : find_tools(arena, config, task, interrupt, local, error);
}

/* ---- locks ---- */

static void lock_one(struct device_lock *lock, const struct device *device,
	struct interrupt *interrupt, struct progress *progress)
{
	enum { look_again_ms = 50 };
	while (!device_lock_try(lock)) {
		progress_say(progress, "waiting until a worker has finished with %s", device->product);
		if (interrupt_wait(interrupt, look_again_ms))
			return;
	}
}

int local_machine_lock(struct local_machine *local, const struct config *config,
	struct interrupt *interrupt, struct progress *progress, struct error *error)
{
	for (size_t i = 0; i < local->device_count && !interrupt->signal; i++) {
		int rc = device_lock_open(&local->locks[i], local->devices[i], config->device_locks, error);
		if (rc)
			return rc;
		local->lock_count++;
		lock_one(&local->locks[i], local->devices[i], interrupt, progress);
	}
	return 0;
}

void local_machine_unlock(struct local_machine *local)
{
	for (size_t i = 0; i < local->lock_count; i++)
		device_lock_close(&local->locks[i]); /* releases the lock */
	local->lock_count = 0;
}
