#include "worker/cluster.h"

#include "lib/base/log.h"
#include "lib/base/scope.h"
#include "lib/job/programs.h"
#include "lib/job/runner.h"
#include "worker/slurm.h"

#include <ctype.h>
#include <poll.h>
#include <pthread.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

enum {
	look_every_ms = 5000,
	look_ms = 30 * 1000,
	most_places = 256,
	most_variables = 32,
	most_leftovers = 256
};

extern char **environ;

struct cluster {
	const struct config *config;
	struct arena *arena; /* data that never changes */
	const char *prefix;
	char *environment[most_variables + 1];
	int stop;

	pthread_t thread;
	bool runs;
	pthread_mutex_t mutex; /* protects the members below */
	struct arena *found;   /* owns `offers` */
	struct slurm_offer *offers;
	size_t offer_count;
	struct error trouble;       /* set while Slurm does not answer or was not asked yet */
	bool used[most_places + 1]; /* which places have a Slurm job, by number from 1 */
	const struct device *warm[most_places];
	size_t warm_count;
};

/* ---- the environment ---- */

/* Whether Slurm's programs and podium-run on a node get this variable. These variables tell how to
 * find programs and Slurm's settings, or are settings of podium-run. Other SLURM_ variables would
 * act as options of srun, and a worker inside a Slurm job has many of them. */
static bool is_passed_on(const char *variable)
{
	static const char *const names[] = {
		"PATH=",
		"HOME=",
		"USER=",
		"LOGNAME=",
		"LANG=",
		"LC_ALL=",
		"TZ=",
		"TMPDIR=",
		"LD_LIBRARY_PATH=",
		"CUDA_HOME=",
		"SLURM_CONF=",
		"PODIUM_SANDBOX_MEMORY_MIB=",
		"PODIUM_SANDBOX_DISK_MIB=",
		"PODIUM_SANDBOX_PROCESSES=",
		"PODIUM_SANDBOX_SHOW=",
		"ASAN_OPTIONS=",
		"UBSAN_OPTIONS=",
	};
	for (size_t i = 0; i < COUNT(names); i++)
		if (strncmp(variable, names[i], strlen(names[i])) == 0)
			return true;
	return false;
}

static void choose_environment(struct cluster *cluster)
{
	size_t count = 0;
	for (char **variable = environ; *variable && count < most_variables; variable++)
		if (is_passed_on(*variable))
			cluster->environment[count++] = *variable;
}

char *const *cluster_environment(const struct cluster *cluster)
{
	return cluster->environment;
}

/* ---- names ---- */

/* Makes the beginning of the names of this worker's Slurm jobs. People who read squeue recognize
 * the worker's name; the hash after it tells workers apart. */
static const char *make_prefix(struct arena *arena, const struct config *config)
{
	unsigned char digest[crypto_generichash_BYTES_MIN];
	char hex[9]; /* of the first four bytes */
	const char *whole =
		arena_printf(arena, "%s\n%s\n%lld\n%s\n%s", config->database_socket, config->database_host,
			(long long)config->database_port, config->database_name, config->worker_name);
	crypto_generichash(digest, sizeof digest, (const unsigned char *)whole, strlen(whole), NULL, 0);
	sodium_bin2hex(hex, sizeof hex, digest, 4);
	char *name = arena_strdup(arena, config->worker_name);
	for (char *at = name; *at; at++)
		if (!isalnum((unsigned char)*at) && !strchr("._-", *at))
			*at = '_';
	return arena_printf(arena, "podium-%.40s-%s-", name, hex);
}

const char *cluster_prefix(const struct cluster *cluster)
{
	return cluster->prefix;
}

/* ---- life ---- */

struct cluster *cluster_new(const struct config *config, int stop)
{
	struct arena *arena = arena_new();
	struct cluster *cluster = arena_array(arena, struct cluster, 1);
	*cluster =
		(struct cluster){ .config = config, .arena = arena, .stop = stop, .found = arena_new() };
	cluster->prefix = make_prefix(arena, config);
	choose_environment(cluster);
	pthread_mutex_init(&cluster->mutex, NULL);
	fail(&cluster->trouble, ERROR_SYSTEM, "Slurm has not been asked yet.");
	return cluster;
}

void cluster_free(struct cluster *cluster)
{
	if (!cluster)
		return;
	if (cluster->runs)
		pthread_join(cluster->thread, NULL);
	pthread_mutex_destroy(&cluster->mutex);
	arena_free(cluster->found);
	arena_free(cluster->arena);
}

static void *cluster_main(void *context)
{
	struct cluster *cluster = context;
	struct pollfd stop = { .fd = cluster->stop, .events = POLLIN };
	bool was_logged = false;
	while (poll(&stop, 1, look_every_ms) <= 0) {
		struct error error = { 0 };
		int rc = cluster_look(cluster, &error);
		if (rc && !was_logged && poll(&stop, 1, 0) <= 0)
			log_warning(
				"%s The worker retries until it works, and takes no jobs meanwhile.", error.text);
		else if (!rc && was_logged)
			log_info("Slurm answers again.");
		was_logged = rc != 0;
	}
	return NULL;
}

int cluster_start(struct cluster *cluster, struct error *error)
{
	int rc = pthread_create(&cluster->thread, NULL, cluster_main, cluster);
	cluster->runs = !rc;
	return rc ? fail(error, ERROR_SYSTEM, "Cannot start a thread: %s.", strerror(rc)) : 0;
}

/* ---- asking ---- */

static int run_program(struct cluster *cluster, const char *const *words, int wake, int limit_ms,
	struct buffer *answer)
{
	enum { most_words = 16 + most_leftovers };
	cleanup_arena struct arena *arena = arena_new();
	const char *command[most_words + 1] = { tools_find(arena, words[0]) };
	for (size_t i = 1; words[i] && i < most_words; i++)
		command[i] = words[i];
	if (command[0])
		return runner_question(command, cluster->environment, wake, limit_ms, answer);
	buffer_printf(answer,
		"There is no %s on the PATH; install Slurm's programs (Debian: slurm-client)\n", words[0]);
	return -1;
}

int cluster_ask(
	struct cluster *cluster, const char *const *words, int limit_ms, struct buffer *answer)
{
	return run_program(cluster, words, cluster->stop, limit_ms, answer);
}

int cluster_tell(struct cluster *cluster, const char *const *words, int limit_ms)
{
	cleanup_buffer struct buffer ignored = { 0 };
	return run_program(cluster, words, -1, limit_ms, &ignored);
}

static bool is_used(struct cluster *cluster, int64_t number)
{
	pthread_mutex_lock(&cluster->mutex);
	bool used = number > 0 && number <= most_places && cluster->used[number];
	pthread_mutex_unlock(&cluster->mutex);
	return used;
}

/* Cancels this worker's Slurm jobs whose place is not marked as having one (cluster_set_used).
 * Cancels them by number, so that a job that a place submits at this moment keeps running. */
static void cancel_leftovers(struct cluster *cluster)
{
	static const char *const list[] = { "squeue", "--noheader", "--me", "--format=%i|%j", NULL };
	cleanup_buffer struct buffer answer = { 0 };
	struct slurm_leftover left[most_leftovers];
	const char *words[most_leftovers + 3] = { "scancel", "--quiet" };
	size_t count = cluster_ask(cluster, list, look_ms, &answer) == 0
		? slurm_read_leftovers(buffer_string(&answer), cluster->prefix, left, most_leftovers)
		: 0,
		   cancelled = 0;
	for (size_t i = 0; i < count; i++)
		if (!is_used(cluster, left[i].place))
			words[2 + cancelled++] = left[i].number;
	if (!cancelled)
		return;
	log_warning("Cancelled %zu Slurm jobs of this worker that it no longer needs.", cancelled);
	cluster_tell(cluster, words, look_ms);
}

/* Returns the partitions for the model's jobs. NULL: the default partition. */
static const char *partitions_of(const struct cluster *cluster, const char *model)
{
	const struct slurm_options *options = cluster_options(cluster, model);
	const char *own = options ? slurm_options_value(options, "partition") : NULL;
	return own ? own : slurm_options_value(&cluster->config->slurm_options, "partition");
}

/* Stores the offers that sinfo's output shows. If the settings name models, each model comes from
 * its own partition; otherwise the common partition's models are offered. */
static void read_answer(struct cluster *cluster, const char *text)
{
	enum { most_kinds = (slurm_most_models + 1) * 65 };
	const struct config *config = cluster->config;
	struct arena *arena = arena_new();
	struct slurm_offer *all = arena_array(arena, struct slurm_offer, most_kinds), *some;
	size_t count = 0, more;
	for (size_t i = 0; i < config->slurm_model_count; i++) {
		const struct slurm_options *options = &config->slurm_models[i];
		slurm_read_nodes(arena, text, partitions_of(cluster, options->model), &some, &more);
		for (size_t k = 0; k < more; k++) {
			bool fits = *options->gres ? strcmp(options->gres, some[k].gres) == 0
									   : strcmp(options->model, some[k].model) == 0;
			if (!fits)
				continue;
			some[k].model = options->model;
			all[count++] = some[k];
		}
	}
	if (!config->slurm_model_count) {
		slurm_read_nodes(arena, text, partitions_of(cluster, ""), &some, &more);
		for (size_t k = 0; k < more; k++)
			all[count++] = some[k];
	}
	pthread_mutex_lock(&cluster->mutex);
	struct arena *old = cluster->found;
	cluster->found = arena, cluster->offers = all, cluster->offer_count = count;
	cluster->trouble.text[0] = '\0';
	pthread_mutex_unlock(&cluster->mutex);
	arena_free(old);
}

int cluster_look(struct cluster *cluster, struct error *error)
{
	static const char *const words[] = { "sinfo", "--noheader", "--Node",
		"--format=" SLURM_NODES_FORMAT, NULL };
	cleanup_buffer struct buffer answer = { 0 }, why = { 0 };
	if (cluster_ask(cluster, words, look_ms, &answer) == 0) {
		cancel_leftovers(cluster);
		read_answer(cluster, buffer_string(&answer));
		return 0;
	}
	slurm_say_error(&why, buffer_string(&answer));
	int rc = fail(error, ERROR_SYSTEM, "Slurm does not answer: %s.",
		why.length ? buffer_string(&why) : "sinfo did not answer in time");
	pthread_mutex_lock(&cluster->mutex);
	cluster->trouble = *error;
	pthread_mutex_unlock(&cluster->mutex);
	return rc;
}

/* ---- what was found ---- */

const struct slurm_options *cluster_options(const struct cluster *cluster, const char *model)
{
	for (size_t i = 0; i < cluster->config->slurm_model_count; i++)
		if (strcmp(cluster->config->slurm_models[i].model, model) == 0)
			return &cluster->config->slurm_models[i];
	return NULL;
}

static void add_places(
	struct arena *arena, struct device *places, size_t *count, const char *model, int64_t jobs)
{
	for (int64_t i = 1; i <= jobs && *count < most_places; i++)
		places[(*count)++] = (struct device){
			.model = arena_strdup(arena, model),
			.uuid = arena_printf(arena, "slurm-%s-%lld", model, (long long)i),
			.product = arena_printf(arena, "%s in the cluster", model),
			.driver = "",
			.compute_capability = "",
			.node = -1,
		};
}

static int64_t smaller_count(int64_t left, int64_t right)
{
	return left < right ? left : right;
}

/* Whether an earlier offer has the same model. Several GPU types of the cluster may be one model in
 * Podium; the first counts. */
static bool is_offered_before(const struct cluster *cluster, size_t index)
{
	for (size_t i = 0; i < index; i++)
		if (strcmp(cluster->offers[i].model, cluster->offers[index].model) == 0)
			return true;
	return false;
}

/* Adds places for the models that the last query found. The CPU comes last, and gets places only if
 * there is nothing else or the settings ask for the CPU. */
static void add_found(
	struct cluster *cluster, struct arena *arena, struct device *places, size_t *count)
{
	for (size_t i = 0; i < cluster->offer_count; i++) {
		const struct slurm_offer *offer = &cluster->offers[i];
		bool is_cpu = !*offer->gres;
		if (!*offer->model)
			log_warning("The cluster has GPUs without a type, which Podium cannot name. "
						"The setting slurm.MODEL = gres=gpu offers them.");
		else if (!is_offered_before(cluster, i) && offer->devices
			&& (!is_cpu || cluster->config->worker_cpu || !*count))
			add_places(arena, places, count, offer->model,
				smaller_count(cluster->config->slurm_jobs, offer->devices));
	}
}

void cluster_places(
	struct cluster *cluster, struct arena *arena, struct device **places, size_t *count)
{
	const struct config *config = cluster->config;
	*places = arena_array(arena, struct device, most_places);
	*count = 0;
	for (size_t i = 0; i < config->slurm_model_count; i++) {
		const struct slurm_options *options = &config->slurm_models[i];
		add_places(arena, *places, count, options->model,
			options->jobs ? options->jobs : config->slurm_jobs);
	}
	pthread_mutex_lock(&cluster->mutex);
	if (!config->slurm_model_count)
		add_found(cluster, arena, *places, count);
	pthread_mutex_unlock(&cluster->mutex);
}

static const struct slurm_offer *find_offer(const struct cluster *cluster, const char *model)
{
	const struct slurm_offer *found = NULL;
	for (size_t i = 0; i < cluster->offer_count; i++) {
		const struct slurm_offer *offer = &cluster->offers[i];
		if (strcmp(offer->model, model) == 0 && (!found || (!found->usable && offer->usable)))
			found = offer;
	}
	return found;
}

int cluster_check_model(struct cluster *cluster, const char *model, struct error *error)
{
	int rc = 0;
	pthread_mutex_lock(&cluster->mutex);
	const struct slurm_offer *offer = find_offer(cluster, model);
	if (cluster->trouble.text[0])
		rc = fail(error, ERROR_SYSTEM, "%s", cluster->trouble.text);
	else if (!offer || !offer->devices)
		rc = fail(error, ERROR_SYSTEM,
			"sinfo shows no %s in %s; look at the settings slurm.%s and slurm_options.", model,
			partitions_of(cluster, model) ? partitions_of(cluster, model) : "the default partition",
			model);
	else if (!offer->usable)
		rc = fail(error, ERROR_SYSTEM,
			"None of the %lld nodes or GPUs for %s takes jobs: they are down or drained in sinfo.",
			(long long)offer->devices, model);
	pthread_mutex_unlock(&cluster->mutex);
	return rc;
}

const char *cluster_gres(struct cluster *cluster, struct arena *arena, const char *model)
{
	const struct slurm_options *options = cluster_options(cluster, model);
	if (options && *options->gres)
		return options->gres;
	pthread_mutex_lock(&cluster->mutex);
	const struct slurm_offer *offer = find_offer(cluster, model);
	const char *gres = offer ? arena_strdup(arena, offer->gres) : "";
	pthread_mutex_unlock(&cluster->mutex);
	return gres;
}

/* ---- places that hold a GPU ---- */

void cluster_set_used(struct cluster *cluster, size_t number, bool used)
{
	pthread_mutex_lock(&cluster->mutex);
	if (number <= most_places)
		cluster->used[number] = used;
	pthread_mutex_unlock(&cluster->mutex);
}

void cluster_set_warm(struct cluster *cluster, const struct device *place, bool is_warm)
{
	pthread_mutex_lock(&cluster->mutex);
	size_t i = 0;
	while (i < cluster->warm_count && cluster->warm[i] != place)
		i++;
	bool was_warm = i < cluster->warm_count;
	if (was_warm && !is_warm)
		cluster->warm[i] = cluster->warm[--cluster->warm_count];
	else if (!was_warm && is_warm)
		cluster->warm[cluster->warm_count++] = place; /* has room: it holds each place once */
	pthread_mutex_unlock(&cluster->mutex);
}

bool cluster_has_warm(struct cluster *cluster, const char *model)
{
	bool found = false;
	pthread_mutex_lock(&cluster->mutex);
	for (size_t i = 0; i < cluster->warm_count && !found; i++)
		found = strcmp(cluster->warm[i]->model, model) == 0;
	pthread_mutex_unlock(&cluster->mutex);
	return found;
}
