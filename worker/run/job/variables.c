#include "worker/run/job/variables.h"

#include "lib/base/scope.h"
#include "worker/run/sandbox/process.h"
#include "worker/run/sandbox/view.h"

#include <inttypes.h>
#include <sched.h>
#include <string.h>

/* Run-time compilers keep their results in the job's cache, which no other job sees. */
static const struct {
	const char *name, *folder;
} CACHES[] = {
	{ "TRITON_CACHE_DIR", "triton" },
	{ "TORCH_EXTENSIONS_DIR", "torch_extensions" },
	{ "TORCHINDUCTOR_CACHE_DIR", "inductor" },
	{ "CUDA_CACHE_PATH", "cuda" },
	{ "XDG_CACHE_HOME", "xdg" },
};

static void set_number(struct variables *variables, const char *name, int64_t value)
{
	variables_set(variables, name, arena_printf(variables->arena, "%" PRId64, value));
}

static void set_folder(
	struct variables *variables, const char *name, const char *folder, const char *inner)
{
	variables_set(variables, name, arena_printf(variables->arena, "%s/%s", folder, inner));
}

static struct variables for_stage(
	struct arena *arena, const struct job *job, const struct workspace *workspace)
{
	const char *stage = arena_printf(arena, "%s/%s", workspace->path, workspace->stage_name);
	const char *programs[] = { job->python, job->nvcc, NULL };
	struct variables variables = variables_basic(
		arena, workspace->host->account, programs, arena_printf(arena, "%s/home", stage));
	set_folder(&variables, "TMPDIR", stage, "tmp");
	return variables;
}

struct variables variables_for_compiler(
	struct arena *arena, const struct job *job, const struct workspace *workspace)
{
	struct variables variables = for_stage(arena, job, workspace);
	variables_set(&variables, "CUDA_VISIBLE_DEVICES", "");
	return variables;
}

/* For a GPU job, more host threads only disturb each other. For a CPU job, the host threads are the
 * device. */
static int host_threads(const struct device *device)
{
	enum { most_beside_gpu = 8 };
	cpu_set_t set;
	int count = sched_getaffinity(0, sizeof set, &set) ? 1 : CPU_COUNT(&set);
	return !device->is_cpu && count > most_beside_gpu ? most_beside_gpu : count;
}

/* Returns how many devices a harness may use. On the CPU each rank of the task is a process, so the
 * largest number of ranks counts, up to most_ranks. */
static int device_count(const struct job *job)
{
	enum { most_ranks = 64 };
	const struct task *task = job->task;
	if (!job->device.is_cpu)
		return job->device.count;
	int most = task_most_ranks(task);
	return most < most_ranks ? most : most_ranks;
}

struct variables variables_for_contestant(
	struct arena *arena, const struct job *job, const struct workspace *workspace)
{
	struct variables variables = for_stage(arena, job, workspace);
	const char *cache = arena_printf(arena, "%s/cache", workspace->path);
	for (size_t i = 0; i < COUNT(CACHES); i++)
		set_folder(&variables, CACHES[i].name, cache, CACHES[i].folder);
	variables_set(&variables, "CUDA_DEVICE_ORDER", "PCI_BUS_ID");
	variables_set(&variables, "CUDA_VISIBLE_DEVICES", job->device.uuid);
	set_number(&variables, "OMP_NUM_THREADS", host_threads(&job->device));
	return variables;
}

struct variables variables_for_harness(
	struct arena *arena, const struct job *job, const struct workspace *workspace)
{
	struct variables variables = variables_for_contestant(arena, job, workspace);
	set_number(&variables, "POPCORN_FD", process_result_descriptor);
	if (job->has_seed)
		set_number(&variables, "POPCORN_SEED", job->seed);
	if (job->task->multi_gpu)
		set_number(&variables, "POPCORN_GPUS", device_count(job));
	return variables;
}

struct variables variables_for_judge(struct arena *arena, const struct job *job,
	const struct workspace *workspace, const char *limits_s)
{
	struct variables variables = variables_for_harness(arena, job, workspace);
	variables_set(&variables, "PODIUM_TIME_LIMIT_S", limits_s);
	set_number(&variables, "PODIUM_MEMORY_MIB", workspace->host->most_memory_bytes >> 20);
	variables_set(&variables, "OMP_WAIT_POLICY", "PASSIVE"); /* threads that wait use no CPU time */
	if (!workspace->host->stands[WALL_PROC])
		variables_set(&variables, "PODIUM_HIDE", "1");
	if (!job->device.is_cpu)
		variables_set(&variables, "PODIUM_DEVICE_UUID",
			arena_strndup(arena, job->device.uuid, strcspn(job->device.uuid, ",")));
	return variables;
}
