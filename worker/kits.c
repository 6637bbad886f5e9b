#include "worker/kits.h"

#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "lib/base/member.h"
#include "lib/base/scope.h"
#include "worker/queue.h"

#include <string.h>

enum {
	look_every_ms = 10 * 1000,
	/* Only the newest versions for a GPU model get their kits in advance. podium-run's folder keeps
	 * twice as many (kit_store_most). */
	most_versions = 8,
};

/* A job that builds a kit has a number above all numbers in the queue. Each build gets a new
 * number, because the verdict of a cancelled build may arrive during the next build. */
#define FIRST_KIT_JOB (INT64_C(1) << 52)

struct version {
	int64_t task_version_id;
	const char *definition, *engine;
};
static const struct column VERSION_COLUMNS[] = {
	INTEGER(struct version, task_version_id),
	TEXT(struct version, definition),
	TEXT(struct version, engine),
};
static const struct statement VERSIONS = SELECT(struct version, VERSION_COLUMNS,
	"SELECT task_version_id, definition, engine FROM kits WHERE gpu = ? "
	"ORDER BY task_version_id DESC LIMIT ?");

/* ---- the end of a build ---- */

static void end_build(struct kits *kits)
{
	if (!kits->building)
		return;
	kits->building = 0;
	kits->look_at_ms = 0;
	kits->turn->is_building = false;
}

static void note_verdict(struct kits *kits, const json_t *event)
{
	const double seconds = (double)(clock_ms() - kits->begun_ms) / 1000;
	if (strcmp(member_text(event, "verdict"), "passed") == 0)
		log_info("The kit of the task version %lld is ready after %.1f s.",
			(long long)kits->building, seconds);
	else
		log_warning("The kit of the task version %lld was not built: %s", (long long)kits->building,
			member_text(event, "reason"));
	end_build(kits);
}

/* Reads podium-run's events, which belong to the build because no job runs. */
static void read_events(struct kits *kits)
{
	struct error error = { 0 };
	json_t *event;
	int rc = 0;
	while (kits->building && (rc = runner_next(kits->runner, -1, 0, &event, &error)) == 1) {
		if (strcmp(member_text(event, "event"), "verdict") == 0
			&& member_whole(event, "job", -1) == kits->job)
			note_verdict(kits, event);
		json_decref(event);
	}
	if (rc < 0) {
		log_warning("The kit of the task version %lld was not built: %s", (long long)kits->building,
			error.text);
		end_build(kits);
	}
}

void kits_forget(struct kits *kits)
{
	end_build(kits);
	kits->asked_count = 0;
	kits->look_at_ms = 0;
}

void kits_cancel(struct kits *kits)
{
	struct error error = { 0 };
	if (!kits->building)
		return;
	json_t *message = json_pack("{s:I}", "cancel", (json_int_t)kits->job);
	if (runner_send(kits->runner, message, &error))
		log_warning("%s: %s", kits->device->model, error.text);
	json_decref(message);
	kits->asked[--kits->asked_count % COUNT(kits->asked)] = 0;
	end_build(kits);
	kits->look_at_ms = clock_ms() + look_every_ms;
}

void kits_yield(struct kits *kits, const struct assignment *assignment)
{
	if (kits->building == assignment->task_version_id && kits->engine == assignment->engine)
		end_build(kits);
	else
		kits_cancel(kits);
}

/* ---- the start of a build ---- */

static bool was_asked(const struct kits *kits, int64_t version)
{
	size_t count = kits->asked_count < COUNT(kits->asked) ? kits->asked_count : COUNT(kits->asked);
	for (size_t i = 0; i < count; i++)
		if (kits->asked[i] == version)
			return true;
	return false;
}

static void begin_build(struct kits *kits, struct arena *arena, const struct version *version)
{
	struct error error = { 0 };
	const struct kit_version wanted = { version->task_version_id, version->definition,
		task_engine_from_name(version->engine) };
	kits->job = (kits->job ? kits->job : FIRST_KIT_JOB) + 1;
	json_t *message = assignment_for_kit(
		kits->db, arena, kits->cache, &wanted, kits->job, kits->device, kits->tools, &error);
	if (!message || runner_send(kits->runner, message, &error)) {
		log_warning("The kit of the task version %lld was not built: %s",
			(long long)version->task_version_id, error.text);
		kits->turn->is_building = false;
	} else {
		kits->building = version->task_version_id;
		kits->engine = wanted.engine;
		kits->begun_ms = clock_ms();
	}
	json_decref(message);
	kits->asked[kits->asked_count++ % COUNT(kits->asked)] = version->task_version_id;
}

static void look_for_version(struct kits *kits)
{
	cleanup_arena struct arena *arena = arena_new();
	struct error error;
	struct version *versions;
	size_t count = 0;
	kits->look_at_ms = clock_ms() + look_every_ms;
	if (queue_is_paused(kits->db, kits->config->worker_name, kits->device->uuid)
		|| database_rows(kits->db, arena, &VERSIONS, &versions, &count, &error, "si",
			kits->device->model, (int64_t)most_versions))
		return;
	for (size_t i = 0; i < count; i++) {
		if (was_asked(kits, versions[i].task_version_id))
			continue;
		if (!atomic_exchange(&kits->turn->is_building, true))
			begin_build(kits, arena, &versions[i]);
		return;
	}
}

void kits_idle(struct kits *kits)
{
	if (device_is_cpu(kits->device) || !*kits->tools->nvcc)
		return;
	read_events(kits);
	if (kits->turn->jobs)
		kits_cancel(kits);
	else if (!kits->building && !kits->turn->is_building && clock_ms() >= kits->look_at_ms)
		look_for_version(kits);
}
