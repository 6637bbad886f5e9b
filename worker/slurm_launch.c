#include "worker/slurm_launch.h"

#include "lib/base/required_walls.h"
#include "lib/base/scope.h"
#include "lib/job/programs.h"

#include <stdlib.h>

enum {
	/* Added to a Slurm job's time limit: for the cluster's prolog, for importing torch, and for a
	 * second job. */
	start_ms = 5 * 60 * 1000,
	most_words = 24 + 2 * slurm_most_words,
};

struct words {
	const char *list[most_words + 1];
	size_t count;
};

static void add_word(struct words *words, const char *word)
{
	if (words->count < most_words)
		words->list[words->count++] = word;
}

static void add_options(struct words *words, const struct slurm_options *options)
{
	const char *list[slurm_most_words];
	size_t count = options ? slurm_options_words(options, list) : 0;
	for (size_t i = 0; i < count; i++)
		add_word(words, list[i]);
}

const char *slurm_launch_option(const struct slurm_launch *launch, const char *name)
{
	const struct slurm_options *own = cluster_options(launch->cluster, launch->model);
	const char *value = own ? slurm_options_value(own, name) : NULL;
	return value ? value : slurm_options_value(&launch->config->slurm_options, name);
}

/* A timed stage has a judge, a contestant and at least one more program, which all busy-wait. On
 * one core they would wait for each other, so ask for four. */
static void add_cores(struct words *words, const struct slurm_launch *launch)
{
	if (!slurm_launch_option(launch, "cpus-per-task")
		&& !slurm_launch_option(launch, "cpus-per-gpu"))
		add_word(words, "--cpus-per-task=4");
}

int64_t slurm_launch_limit_min(const struct slurm_launch *launch, int64_t limit_ms)
{
	const char *chosen = slurm_launch_option(launch, "time");
	int64_t wanted_ms = limit_ms + start_ms + launch->config->slurm_idle_s * 1000;
	return chosen ? strtoll(chosen, NULL, 10) : (wanted_ms + 59999) / 60000;
}

int slurm_launch(const struct slurm_launch *launch, struct runner *runner,
	struct runner_errors *errors, struct error *error)
{
	cleanup_arena struct arena *arena = arena_new();
	const struct config *config = launch->config;
	const char *setpriv = tools_find(arena, "setpriv"), *srun = tools_find(arena, "srun");
	const char *gres = cluster_gres(launch->cluster, arena, launch->model);
	struct words words = { 0 };
	if (!srun)
		return fail(error, ERROR_SYSTEM,
			"There is no srun on the PATH; install Slurm's programs (Debian: slurm-client).");
	if (setpriv) { /* ends srun when the worker is killed, even while srun waits for GPUs */
		add_word(&words, setpriv);
		add_word(&words, "--pdeathsig=TERM");
		add_word(&words, "--");
	}
	add_word(&words, srun);
	add_word(&words, arena_printf(arena, "--job-name=%s", launch->name));
	add_word(&words, "--nodes=1");
	add_word(&words, "--ntasks=1");
	add_word(&words, "--chdir=/");
	add_word(&words, "--mpi=none");
	add_word(&words, "--export=ALL"); /* only what cluster_environment passes on */
	add_cores(&words, launch);
	add_word(&words, arena_printf(arena, "--time=%lld", (long long)launch->limit_min));
	if (*gres)
		add_word(&words, arena_printf(arena, "--gres=%s:%lld", gres, (long long)launch->gpu_count));
	add_options(&words, &config->slurm_options);
	add_options(&words, cluster_options(launch->cluster, launch->model));
	add_word(&words, launch->runner_program);
	add_word(&words,
		*config->device_locks ? arena_printf(arena, "--slurm-allocation=%s", config->device_locks)
							  : "--slurm-allocation");
	add_word(&words, "--directory");
	add_word(&words, config->worker_directory);
	add_word(&words, required_walls_option(arena, config->accept_missing_walls));
	if (*launch->tools->python) {
		add_word(&words, "--python");
		add_word(&words, launch->tools->python);
	}
	return runner_launch(runner, words.list, cluster_environment(launch->cluster), errors, error);
}
