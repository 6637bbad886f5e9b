#include "worker/allotment.h"

#include "lib/clock.h"
#include "lib/log.h"
#include "lib/scope.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

enum {
	moment_ms = 250,
	ask_every_ms = 1000, /* squeue, while a job waits in the cluster */
	squeue_ms = 2000,    /* longer it is not waited for: the lease must be renewed */
	know_end_ms = 3000,  /* how long Slurm may take to know why a job has ended */
	start_ms =
		5 * 60 * 1000, /* for a prolog, importing torch, and a second job in the same Slurm job */
	spare_ms = 60 * 1000,
	most_words = 24 + 2 * slurm_most_words,
};

void allotment_begin(struct allotment *allotment)
{
	allotment->errors = (struct runner_errors){ .name = "srun", .descriptor = -1 };
	snprintf(allotment->name, sizeof allotment->name, "%s%zu", cluster_prefix(allotment->cluster),
		allotment->number);
}

/* ---- asking ---- */

struct words {
	const char *list[most_words + 1];
	size_t count;
};

static void add(struct words *words, const char *word)
{
	if (words->count < most_words)
		words->list[words->count++] = word;
}

static void add_options(struct words *words, const struct slurm_options *options)
{
	const char *list[slurm_most_words];
	size_t count = options ? slurm_options_words(options, list) : 0;
	for (size_t i = 0; i < count; i++)
		add(words, list[i]);
}

static const char *option(const struct allotment *allotment, const char *name)
{
	const struct slurm_options *own = cluster_options(allotment->cluster, allotment->place->model);
	const char *value = own ? slurm_options_value(own, name) : NULL;
	return value ? value : slurm_options_value(&allotment->config->slurm_options, name);
}

/* A job has a judge, a contestant and a third program that all wait actively; on one core they
 * would wait for each other. */
static void add_cores(struct words *words, const struct allotment *allotment)
{
	if (!option(allotment, "cpus-per-task") && !option(allotment, "cpus-per-gpu"))
		add(words, "--cpus-per-task=4");
}

static int64_t limit_of(const struct allotment *allotment, int64_t limit_ms)
{
	const char *chosen = option(allotment, "time");
	int64_t wanted_ms = limit_ms + start_ms + allotment->config->slurm_idle_s * 1000;
	return chosen ? strtoll(chosen, NULL, 10) : (wanted_ms + 59999) / 60000;
}

static int launch(struct allotment *allotment, struct error *error)
{
	cleanup_arena struct arena *arena = arena_new();
	const struct config *config = allotment->config;
	const char *setpriv = tools_find(arena, "setpriv"), *srun = tools_find(arena, "srun");
	const char *gres = cluster_gres(allotment->cluster, arena, allotment->place->model);
	struct words words = { 0 };
	if (!srun)
		return fail(error, ERROR_SYSTEM,
			"There is no srun on the PATH; install Slurm's programs (Debian: slurm-client).");
	if (setpriv) { /* so that a worker that is killed takes it along, even while it waits in the
		              queue */
		add(&words, setpriv);
		add(&words, "--pdeathsig=TERM");
		add(&words, "--");
	}
	add(&words, srun);
	add(&words, arena_printf(arena, "--job-name=%s", allotment->name));
	add(&words, "--nodes=1");
	add(&words, "--ntasks=1");
	add(&words, "--chdir=/");
	add(&words, "--mpi=none");
	add(&words, "--export=ALL"); /* of what cluster_environment lets through */
	add_cores(&words, allotment);
	add(&words, arena_printf(arena, "--time=%lld", (long long)allotment->limit_min));
	if (*gres)
		add(&words, arena_printf(arena, "--gres=%s:%lld", gres, (long long)allotment->gpu_count));
	add_options(&words, &config->slurm_options);
	add_options(&words, cluster_options(allotment->cluster, allotment->place->model));
	add(&words, allotment->runner_program);
	add(&words,
		*config->device_locks ? arena_printf(arena, "--allotted=%s", config->device_locks)
							  : "--allotted");
	add(&words, "--directory");
	add(&words, config->worker_directory);
	if (*allotment->tools->python) {
		add(&words, "--python");
		add(&words, allotment->tools->python);
	}
	return runner_launch(allotment->runner, words.list, cluster_environment(allotment->cluster),
		&allotment->errors, error);
}

/* A job may begin in what is there if Slurm will not end it before the job is over. A limit that an
 * admin has chosen is taken as it is. */
static bool is_enough(const struct allotment *allotment, int64_t gpu_count, int64_t limit_ms)
{
	bool in_time = option(allotment, "time")
		? clock_ms() + spare_ms < allotment->ends_at_ms
		: clock_ms() + limit_ms + spare_ms < allotment->ends_at_ms;
	return allotment->is_ready && allotment->gpu_count == gpu_count && in_time
		&& runner_is_there(allotment->runner);
}

/* Also what srun has ended. Where the controller does not answer, cluster_look does it later. */
static void cancel(struct allotment *allotment)
{
	char name[sizeof allotment->name + 8];
	snprintf(name, sizeof name, "--name=%s", allotment->name);
	const char *words[] = { "scancel", "--quiet", name, NULL };
	cluster_tell(allotment->cluster, words, squeue_ms);
}

int allotment_ask(
	struct allotment *allotment, int64_t gpu_count, int64_t limit_ms, struct error *error)
{
	cluster_set_warm(allotment->cluster, allotment->place, false);
	allotment->idle_since_ms = 0;
	if (is_enough(allotment, gpu_count, limit_ms))
		return 0;
	allotment_end(allotment);
	allotment->gpu_count = gpu_count;
	allotment->limit_min = limit_of(allotment, limit_ms);
	allotment->asked_at_ms = 0;
	allotment->is_open = true;
	cluster_set_used(allotment->cluster, allotment->number, true);
	return launch(allotment, error);
}

/* ---- waiting ---- */

static bool ask_squeue(struct allotment *allotment)
{
	cleanup_buffer struct buffer answer = { 0 };
	char name[sizeof allotment->name + 8];
	snprintf(name, sizeof name, "--name=%s", allotment->name);
	const char *words[] = { "squeue", "--noheader", "--me", "--states=all", name,
		"--format=" SLURM_JOB_FORMAT, NULL };
	struct slurm_job job;
	bool told = cluster_ask(allotment->cluster, words, squeue_ms, &answer) == 0
		&& slurm_read_job(buffer_string(&answer), &job);
	if (told)
		allotment->job = job;
	return told;
}

static void say_progress(struct allotment *allotment, char progress[static 65])
{
	if (clock_ms() - allotment->asked_at_ms < ask_every_ms)
		return;
	const struct slurm_job *job = &allotment->job;
	bool told = ask_squeue(allotment) && !slurm_is_over(job);
	allotment->asked_at_ms = clock_ms();
	if (told && strcmp(job->state, "PENDING") == 0)
		snprintf(progress, 65, "waiting in Slurm's queue: %.38s",
			strcmp(job->reason, "None") == 0 ? "just asked" : job->reason);
	else if (told)
		snprintf(progress, 65, "starting on the node %.43s", job->node);
}

static const char *text_of(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));
	return text ? text : "";
}

/* Only what was asked for may be measured: a GPU of another model would spoil the ranking. */
static int take_ready(struct allotment *allotment, json_t *event, struct error *error)
{
	json_t *given = json_object_get(event, "device");
	const char *model = text_of(given, "model");
	if (!given)
		return fail(error, ERROR_SYSTEM,
			"The podium-run on the node is older than this worker: it does not say which device it "
		    "has.");
	if (strcmp(model, allotment->place->model) != 0)
		return fail(error, ERROR_SYSTEM,
			"Slurm gave a %.48s (%.96s, node %.64s) where Podium wanted a %s; say with slurm.%s = "
		    "gres=... what "
			"the cluster calls these GPUs.",
			model, text_of(given, "product"), text_of(given, "host"), allotment->place->model,
			allotment->place->model);
	allotment->given = json_incref(given);
	allotment->is_ready = true;
	allotment->ends_at_ms = clock_ms() + allotment->limit_min * 60000 - spare_ms;
	return 1;
}

/* Nothing was run, so this is nobody's attempt. */
static int say_refusal(struct allotment *allotment, struct error *error)
{
	cleanup_buffer struct buffer why = { 0 };
	slurm_say_error(&why, buffer_string(&allotment->errors.said));
	return why.length
		? fail(error, ERROR_SYSTEM, "Slurm gives no %s: %s.", allotment->place->model, why.data)
		: fail(error, ERROR_SYSTEM, "Slurm gives no %s, and srun does not say why.",
			allotment->place->model);
}

int allotment_wait(
	struct allotment *allotment, int wake, char progress[static 65], struct error *error)
{
	struct error ended = { 0 };
	json_t *event = NULL;
	if (allotment->is_ready)
		return 1;
	int rc = runner_next(allotment->runner, wake, moment_ms, &event, &ended);
	const char *name = text_of(event, "event");
	if (rc == 1 && strcmp(name, "ready") == 0)
		rc = take_ready(allotment, event, error);
	else if (rc == 1 && strcmp(name, "waiting") == 0)
		rc = 0, snprintf(progress, 65, "%s", text_of(event, "text"));
	else if (rc < 0)
		rc = say_refusal(allotment, error);
	else if ((rc = 0) == 0)
		say_progress(allotment, progress);
	json_decref(event);
	if (rc < 0)
		allotment_end(allotment);
	return rc;
}

/* ---- having ---- */

void allotment_address(const struct allotment *allotment, json_t *message)
{
	json_t *device = json_object_get(json_object_get(message, "job"), "device");
	if (device_is_cpu(allotment->place))
		return;
	json_object_set(device, "uuid", json_object_get(allotment->given, "uuid"));
	json_object_set(
		device, "compute_capability", json_object_get(allotment->given, "compute_capability"));
}

struct device allotment_device(const struct allotment *allotment)
{
	const json_t *given = allotment->given;
	struct device device = *allotment->place;
	device.product = text_of(given, "product"), device.driver = text_of(given, "driver");
	device.compute_capability = text_of(given, "compute_capability");
	device.memory_bytes = json_integer_value(json_object_get(given, "memory_bytes"));
	return device;
}

void allotment_explain(struct allotment *allotment, struct error *error)
{
	cleanup_buffer struct buffer sentence = { 0 };
	int64_t end_ms = clock_ms() + know_end_ms;
	while (ask_squeue(allotment) && !slurm_is_over(&allotment->job) && clock_ms() < end_ms)
		poll(NULL, 0, moment_ms);
	slurm_say_end(
		&sentence, &allotment->job, buffer_string(&allotment->errors.said), allotment->limit_min);
	fail(error, ERROR_SYSTEM, "%s", buffer_string(&sentence));
}

void allotment_rest(struct allotment *allotment)
{
	allotment->idle_since_ms = clock_ms();
	cluster_set_warm(allotment->cluster, allotment->place,
		allotment->is_ready && allotment->config->slurm_idle_s > 0);
}

void allotment_look(struct allotment *allotment)
{
	bool is_tired = clock_ms() - allotment->idle_since_ms >= allotment->config->slurm_idle_s * 1000;
	if (allotment->is_open && (is_tired || !runner_is_there(allotment->runner)))
		allotment_end(allotment);
}

void allotment_close(struct allotment *allotment)
{
	allotment_end(allotment);
	buffer_free(&allotment->errors.said);
}

/* ---- the end ---- */

void allotment_end(struct allotment *allotment)
{
	if (!allotment->is_open)
		return;
	cluster_set_warm(allotment->cluster, allotment->place, false);
	if (allotment->runner->pid && !allotment->is_ready) /* it does not read its input yet */
		kill(allotment->runner->pid, SIGTERM);
	runner_stop(allotment->runner);
	cancel(allotment);
	cluster_set_used(allotment->cluster, allotment->number, false);
	allotment->is_open = false;
	json_decref(allotment->given);
	allotment->given = NULL;
	allotment->is_ready = false;
	allotment->job = (struct slurm_job){ 0 };
}
