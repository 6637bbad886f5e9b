#include "worker/run/slurm_devices.h"

#include "lib/base/arena.h"
#include "lib/base/buffer.h"
#include "lib/base/clock.h"
#include "lib/base/scope.h"
#include "lib/gpu/device.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- choosing ---- */

struct slurm_device_words slurm_device_words(void)
{
	const char *step = getenv("SLURM_STEP_GPUS"), *job = getenv("SLURM_JOB_GPUS");
	return (
		struct slurm_device_words){ getenv("CUDA_VISIBLE_DEVICES"), step && *step ? step : job };
}

/* Counts the words between commas. Slurm's words for "no GPU" count as none. */
static size_t count_words(const char *list)
{
	size_t count = 1;
	if (!list || !*list || strcmp(list, "NoDevFiles") == 0)
		return 0;
	for (; (list = strchr(list, ',')); list++)
		count++;
	return count;
}

static bool is_number(const char *word, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (!isdigit((unsigned char)word[i]))
			return false;
	return length > 0 && length < 6;
}

static bool names_gpu(const char *word, size_t length, const struct slurm_gpu *gpu)
{
	if (is_number(word, length))
		return gpu->node >= 0 && atoi(word) == gpu->node;
	return strlen(gpu->uuid) == length && strncmp(gpu->uuid, word, length) == 0;
}

static int choose_named(const char *list, const struct slurm_gpu *gpus, size_t there,
	size_t chosen[static slurm_devices_most], size_t *count, struct error *error)
{
	for (const char *word = list; *word; word += *word == ',') {
		size_t length = strcspn(word, ","), i = 0;
		while (i < there && !names_gpu(word, length, &gpus[i]))
			i++;
		if (i == there)
			return fail(error, ERROR_SYSTEM,
				"The scheduler gave the GPU \"%.*s\" to this process, but the driver shows no GPU "
				"of that name.",
				length < 60 ? (int)length : 60, word);
		chosen[(*count)++] = i;
		word += length;
	}
	return 0;
}

int slurm_devices_choose(const struct slurm_device_words *words, const struct slurm_gpu *gpus,
	size_t there, size_t chosen[static slurm_devices_most], size_t *count, struct error *error)
{
	size_t given = count_words(words->visible);
	bool by_number = given && is_number(words->visible, strcspn(words->visible, ","));
	*count = 0;
	if (given > slurm_devices_most || given > there)
		return fail(error, ERROR_SYSTEM,
			"The scheduler gave %zu GPUs to this process (%.60s), but the driver shows %zu; at "
			"most "
			"%d may be used.",
			given, words->visible, there, slurm_devices_most);
	if (!given)
		return 0;
	if (given == there && by_number) { /* the process sees only the given GPUs */
		for (; *count < given; (*count)++)
			chosen[*count] = *count;
		return 0;
	}
	return choose_named(
		by_number && count_words(words->nodes) == given ? words->nodes : words->visible, gpus,
		there, chosen, count, error);
}

static int find_given_devices(struct arena *arena, struct device *found[static slurm_devices_most],
	size_t *count, struct error *error)
{
	const struct slurm_device_words words = slurm_device_words();
	struct device *devices;
	size_t there, chosen[slurm_devices_most];
	devices_find(arena, true, &devices, &there);
	struct slurm_gpu *gpus = arena_array(arena, struct slurm_gpu, there);
	for (size_t i = 0; i < there; i++)
		gpus[i] = (struct slurm_gpu){ devices[i].uuid, devices[i].node };
	/* The last device is the CPU. */
	int rc = slurm_devices_choose(&words, gpus, there - 1, chosen, count, error);
	for (size_t i = 0; i < *count && !rc; i++)
		found[i] = &devices[chosen[i]];
	if (!rc && !*count)
		found[(*count)++] = &devices[there - 1];
	for (size_t i = 1; i < *count && !rc; i++)
		if (strcmp(found[i]->model, found[0]->model) != 0)
			return fail(error, ERROR_SYSTEM, "The scheduler gave GPUs of two models, %s and %s.",
				found[0]->model, found[i]->model);
	return rc;
}

/* ---- locking ---- */

static int lock_device(const struct device *device, const char *locks, bool (*waits)(void *context),
	void *context, struct error *error)
{
	enum { tell_every_ms = 1000 };
	const struct timespec pause = { .tv_nsec = 50 * 1000 * 1000 };
	struct device_lock device_lock;
	int rc = device_lock_open(&device_lock, device, locks, error);
	for (int64_t reported_ms = clock_ms(); !rc && !device_lock_try(&device_lock);
		 nanosleep(&pause, NULL)) {
		if (clock_ms() - reported_ms < tell_every_ms)
			continue;
		reported_ms = clock_ms();
		if (!waits(context))
			rc = fail(error, ERROR_SYSTEM,
				"The device %s was in use until the caller stopped waiting for it.", device->uuid);
	}
	return rc; /* the lock stays open, and therefore held, until the process ends */
}

static json_t *describe_devices(struct device *const *devices, size_t count)
{
	cleanup_buffer struct buffer uuids = { 0 };
	const struct device *first = devices[0];
	char host[256] = "";
	gethostname(host, sizeof host - 1);
	for (size_t i = 0; i < count; i++)
		buffer_printf(&uuids, "%s%s", i ? "," : "", devices[i]->uuid);
	const char *node = getenv("SLURMD_NODENAME");
	return json_pack("{s:s, s:s, s:s, s:s, s:s, s:I, s:s}", "model", first->model, "uuid",
		buffer_string(&uuids), "product", first->product, "driver", first->driver,
		"compute_capability", first->compute_capability, "memory_bytes",
		(json_int_t)first->memory_bytes, "host", node && *node ? node : host);
}

int slurm_devices_take(const char *locks, bool (*waits)(void *context), void *context,
	json_t **devices, struct error *error)
{
	cleanup_arena struct arena *arena = arena_new();
	struct device *found[slurm_devices_most];
	size_t count = 0;
	int rc = find_given_devices(arena, found, &count, error);
	if (!rc) /* all processes lock in this order, so there is no deadlock */
		qsort(found, count, sizeof *found, device_compare_uuid);
	for (size_t i = 0; i < count && !rc; i++)
		rc = lock_device(found[i], locks, waits, context, error);
	*devices = rc ? NULL : describe_devices(found, count);
	return rc || *devices ? rc
						  : fail(error, ERROR_SYSTEM, "The devices could not be written as JSON.");
}
