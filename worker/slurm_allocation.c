#include "worker/slurm_allocation.h"

#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "lib/base/member.h"
#include "lib/base/scope.h"
#include "worker/slurm_launch.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

enum {
	moment_ms = 250,
	ask_every_ms = 1000, /* interval of squeue while a job waits in the cluster */
	squeue_ms = 2000,    /* time limit of squeue and scancel; meanwhile no lease is renewed */
	know_end_ms = 3000,  /* how long Slurm may take to learn why a job ended */
	spare_ms = 60 * 1000,
};

void slurm_allocation_begin(struct slurm_allocation *allocation)
{
	allocation->errors = (struct runner_errors){ .name = "srun", .descriptor = -1 };
	snprintf(allocation->name, sizeof allocation->name, "%s%zu",
		cluster_prefix(allocation->cluster), allocation->number);
}

/* ---- asking ---- */

static struct slurm_launch launch_of(const struct slurm_allocation *allocation)
{
	return (struct slurm_launch){ .cluster = allocation->cluster,
		.config = allocation->config,
		.model = allocation->place->model,
		.tools = allocation->tools,
		.runner_program = allocation->runner_program,
		.name = allocation->name,
		.gpu_count = allocation->gpu_count,
		.limit_min = allocation->limit_min };
}

/* Whether the current allocation can run the job: it has the right number of GPUs and lasts until
 * the job's time limit. If an admin chose the time limit of allocations, the remaining time need
 * not cover the job's limit. */
static bool allocation_suffices(
	const struct slurm_allocation *allocation, int64_t gpu_count, int64_t limit_ms)
{
	const struct slurm_launch launch = launch_of(allocation);
	bool in_time = slurm_launch_option(&launch, "time")
		? clock_ms() + spare_ms < allocation->ends_at_ms
		: clock_ms() + limit_ms + spare_ms < allocation->ends_at_ms;
	return allocation->is_ready && allocation->gpu_count == gpu_count && in_time
		&& runner_is_there(allocation->runner);
}

/* Cancels the allocation's Slurm job, even after srun has ended. If Slurm's controller does not
 * answer, cluster_look cancels the job later. */
static void cancel_slurm_job(struct slurm_allocation *allocation)
{
	char name[sizeof allocation->name + 8];
	snprintf(name, sizeof name, "--name=%s", allocation->name);
	const char *words[] = { "scancel", "--quiet", name, NULL };
	cluster_tell(allocation->cluster, words, squeue_ms);
}

int slurm_allocation_ask(
	struct slurm_allocation *allocation, int64_t gpu_count, int64_t limit_ms, struct error *error)
{
	cluster_set_warm(allocation->cluster, allocation->place, false);
	allocation->idle_since_ms = 0;
	if (allocation_suffices(allocation, gpu_count, limit_ms))
		return 0;
	slurm_allocation_end(allocation);
	allocation->gpu_count = gpu_count;
	struct slurm_launch launch = launch_of(allocation);
	launch.limit_min = allocation->limit_min = slurm_launch_limit_min(&launch, limit_ms);
	allocation->asked_at_ms = 0;
	allocation->is_open = true;
	cluster_set_used(allocation->cluster, allocation->number, true);
	return slurm_launch(&launch, allocation->runner, &allocation->errors, error);
}

/* ---- waiting ---- */

static bool ask_squeue(struct slurm_allocation *allocation)
{
	cleanup_buffer struct buffer answer = { 0 };
	char name[sizeof allocation->name + 8];
	snprintf(name, sizeof name, "--name=%s", allocation->name);
	const char *words[] = { "squeue", "--noheader", "--me", "--states=all", name,
		"--format=" SLURM_JOB_FORMAT, NULL };
	struct slurm_job job;
	bool is_known = cluster_ask(allocation->cluster, words, squeue_ms, &answer) == 0
		&& slurm_read_job(buffer_string(&answer), &job);
	if (is_known)
		allocation->job = job;
	return is_known;
}

static void say_progress(struct slurm_allocation *allocation, char progress[static 65])
{
	if (clock_ms() - allocation->asked_at_ms < ask_every_ms)
		return;
	const struct slurm_job *job = &allocation->job;
	bool is_known = ask_squeue(allocation) && !slurm_is_over(job);
	allocation->asked_at_ms = clock_ms();
	if (is_known && strcmp(job->state, "PENDING") == 0)
		snprintf(progress, 65, "waiting in Slurm's queue: %.38s",
			strcmp(job->reason, "None") == 0 ? "just asked" : job->reason);
	else if (is_known)
		snprintf(progress, 65, "starting on the node %.43s", job->node);
}

/* Accepts only the requested model: times on another model must not enter the ranking. */
static int take_ready(struct slurm_allocation *allocation, json_t *event, struct error *error)
{
	json_t *given = json_object_get(event, "device");
	const char *model = member_text(given, "model");
	if (!given)
		return fail(error, ERROR_SYSTEM,
			"The podium-run on the node is older than this worker: it does not say which device it "
			"has. Install the same version on both.");
	if (strcmp(model, allocation->place->model) != 0)
		return fail(error, ERROR_SYSTEM,
			"Slurm gave a %.48s (%.96s, node %.64s) instead of a %s. Set slurm.%s = gres=... to "
			"the cluster's name for these GPUs.",
			model, member_text(given, "product"), member_text(given, "host"),
			allocation->place->model, allocation->place->model);
	allocation->given = json_incref(given);
	allocation->is_ready = true;
	allocation->ends_at_ms = clock_ms() + allocation->limit_min * 60000 - spare_ms;
	return 1;
}

/* Fails with the reason that srun printed for giving no device. */
static int say_refusal(struct slurm_allocation *allocation, struct error *error)
{
	cleanup_buffer struct buffer why = { 0 };
	slurm_say_error(&why, buffer_string(&allocation->errors.said));
	return why.length
		? fail(error, ERROR_SYSTEM, "Slurm gives no %s: %s.", allocation->place->model, why.data)
		: fail(error, ERROR_SYSTEM, "Slurm gives no %s, and srun does not say why.",
			allocation->place->model);
}

int slurm_allocation_wait(
	struct slurm_allocation *allocation, int wake, char progress[static 65], struct error *error)
{
	struct error ended = { 0 };
	json_t *event = NULL;
	if (allocation->is_ready)
		return 1;
	int rc = runner_next(allocation->runner, wake, moment_ms, &event, &ended);
	const char *name = member_text(event, "event");
	if (rc == 1 && strcmp(name, "ready") == 0)
		rc = take_ready(allocation, event, error);
	else if (rc == 1 && strcmp(name, "waiting") == 0)
		rc = 0, snprintf(progress, 65, "%s", member_text(event, "text"));
	else if (rc < 0)
		rc = say_refusal(allocation, error);
	else if ((rc = 0) == 0)
		say_progress(allocation, progress);
	json_decref(event);
	if (rc < 0)
		slurm_allocation_end(allocation);
	return rc;
}

/* ---- having ---- */

void slurm_allocation_address(const struct slurm_allocation *allocation, json_t *message)
{
	json_t *device = json_object_get(json_object_get(message, "job"), "device");
	if (device_is_cpu(allocation->place))
		return;
	json_object_set(device, "uuid", json_object_get(allocation->given, "uuid"));
	json_object_set(
		device, "compute_capability", json_object_get(allocation->given, "compute_capability"));
}

struct device slurm_allocation_device(const struct slurm_allocation *allocation)
{
	const json_t *given = allocation->given;
	struct device device = *allocation->place;
	device.product = member_text(given, "product"), device.driver = member_text(given, "driver");
	device.compute_capability = member_text(given, "compute_capability");
	device.memory_bytes = json_integer_value(json_object_get(given, "memory_bytes"));
	return device;
}

void slurm_allocation_explain(struct slurm_allocation *allocation, struct error *error)
{
	cleanup_buffer struct buffer sentence = { 0 };
	int64_t end_ms = clock_ms() + know_end_ms;
	while (ask_squeue(allocation) && !slurm_is_over(&allocation->job) && clock_ms() < end_ms)
		poll(NULL, 0, moment_ms);
	slurm_say_end(&sentence, &allocation->job, buffer_string(&allocation->errors.said),
		allocation->limit_min);
	fail(error, ERROR_SYSTEM, "%s", buffer_string(&sentence));
}

void slurm_allocation_rest(struct slurm_allocation *allocation)
{
	allocation->idle_since_ms = clock_ms();
	cluster_set_warm(allocation->cluster, allocation->place,
		allocation->is_ready && allocation->config->slurm_idle_s > 0);
}

void slurm_allocation_look(struct slurm_allocation *allocation)
{
	bool is_tired =
		clock_ms() - allocation->idle_since_ms >= allocation->config->slurm_idle_s * 1000;
	if (allocation->is_open && (is_tired || !runner_is_there(allocation->runner)))
		slurm_allocation_end(allocation);
}

void slurm_allocation_close(struct slurm_allocation *allocation)
{
	slurm_allocation_end(allocation);
	buffer_free(&allocation->errors.said);
}

/* ---- the end ---- */

void slurm_allocation_end(struct slurm_allocation *allocation)
{
	if (!allocation->is_open)
		return;
	cluster_set_warm(allocation->cluster, allocation->place, false);
	/* podium-run does not read its input until it is ready, so closing its input would not end it.
	 * SIGTERM ends srun, and srun ends podium-run. */
	if (allocation->runner->pid && !allocation->is_ready)
		kill(allocation->runner->pid, SIGTERM);
	runner_stop(allocation->runner);
	cancel_slurm_job(allocation);
	cluster_set_used(allocation->cluster, allocation->number, false);
	allocation->is_open = false;
	json_decref(allocation->given);
	allocation->given = NULL;
	allocation->is_ready = false;
	allocation->job = (struct slurm_job){ 0 };
}
