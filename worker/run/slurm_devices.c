#include "worker/run/allotted.h"

#include "lib/arena.h"
#include "lib/buffer.h"
#include "lib/clock.h"
#include "lib/device.h"
#include "lib/scope.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- which ---- */

struct allotted_words allotted_words(void)
{
	const char *step = getenv("SLURM_STEP_GPUS"), *job = getenv("SLURM_JOB_GPUS");
	return (struct allotted_words){ getenv("CUDA_VISIBLE_DEVICES"), step && *step ? step : job };
}

/* The number of words between commas; words that Slurm writes where there is no GPU count as none.
 */
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

static bool names(const char *word, size_t length, const struct allotted_gpu *gpu)
{
	if (is_number(word, length))
		return gpu->node >= 0 && atoi(word) == gpu->node;
	return strlen(gpu->uuid) == length && strncmp(gpu->uuid, word, length) == 0;
}

static int choose_named(const char *list, const struct allotted_gpu *gpus, size_t there,
	size_t chosen[static allotted_most], size_t *count, struct error *error)
{
	for (const char *word = list; *word; word += *word == ',') {
		size_t length = strcspn(word, ","), i = 0;
		while (i < there && !names(word, length, &gpus[i]))
			i++;
		if (i == there)
			return fail(error, ERROR_SYSTEM,
				"The scheduler gave the GPU \"%.*s\" to this process, and the driver shows none "
			    "that is "
				"called so.",
				length < 60 ? (int)length : 60, word);
		chosen[(*count)++] = i;
		word += length;
	}
	return 0;
}

int allotted_choose(const struct allotted_words *words, const struct allotted_gpu *gpus,
	size_t there, size_t chosen[static allotted_most], size_t *count, struct error *error)
{
	size_t given = count_words(words->visible);
	bool by_number = given && is_number(words->visible, strcspn(words->visible, ","));
	*count = 0;
	if (given > allotted_most || given > there)
		return fail(error, ERROR_SYSTEM,
			"The scheduler gave %zu GPUs to this process (%.60s), and the driver shows %zu; %d may "
		    "be used.",
			given, words->visible, there, allotted_most);
	if (!given)
		return 0;
	if (given == there && by_number) { /* those are all that can be seen */
		for (; *count < given; (*count)++)
			chosen[*count] = *count;
		return 0;
	}
	return choose_named(
		by_number && count_words(words->nodes) == given ? words->nodes : words->visible, gpus,
		there, chosen, count, error);
}

static int find(struct arena *arena, struct device *found[static allotted_most], size_t *count,
	struct error *error)
{
	const struct allotted_words words = allotted_words();
	struct device *devices;
	size_t there, chosen[allotted_most];
	devices_find(arena, true, &devices, &there);
	struct allotted_gpu *gpus = arena_array(arena, struct allotted_gpu, there);
	for (size_t i = 0; i < there; i++)
		gpus[i] = (struct allotted_gpu){ devices[i].uuid, devices[i].node };
	int rc = allotted_choose(
		&words, gpus, there - 1, chosen, count, error); /* the last one is the CPU */
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

/* ---- having them ---- */

static int by_uuid(const void *left, const void *right)
{
	return strcmp((*(struct device *const *)left)->uuid, (*(struct device *const *)right)->uuid);
}

static int lock(const struct device *device, const char *locks, bool (*waits)(void *context),
	void *context, struct error *error)
{
	enum { tell_every_ms = 1000 };
	const struct timespec pause = { .tv_nsec = 50 * 1000 * 1000 };
	struct device_lock held;
	int rc = device_lock_open(&held, device, locks, error);
	for (int64_t told_ms = clock_ms(); !rc && !device_lock_try(&held); nanosleep(&pause, NULL)) {
		if (clock_ms() - told_ms < tell_every_ms)
			continue;
		told_ms = clock_ms();
		if (!waits(context))
			rc = fail(error, ERROR_SYSTEM,
				"The device %s was in use until nobody waited for it any more.", device->uuid);
	}
	return rc; /* it stays open, and so locked, until the process ends */
}

static json_t *describe(struct device *const *devices, size_t count)
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

int allotted_take(const char *locks, bool (*waits)(void *context), void *context, json_t **devices,
	struct error *error)
{
	cleanup_arena struct arena *arena = arena_new();
	struct device *found[allotted_most];
	size_t count = 0;
	int rc = find(arena, found, &count, error);
	if (!rc) /* everybody locks in this order, so nobody waits for ever */
		qsort(found, count, sizeof *found, by_uuid);
	for (size_t i = 0; i < count && !rc; i++)
		rc = lock(found[i], locks, waits, context, error);
	*devices = rc ? NULL : describe(found, count);
	return rc || *devices ? rc
						  : fail(error, ERROR_SYSTEM, "The devices could not be written as JSON.");
}
