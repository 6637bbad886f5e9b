#include "worker/run/engine/nvcc.h"

#include "lib/base/scope.h"
#include "lib/base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { limit_ms = task_compile_timeout_s * 1000, words_of_callers = 16 };
static const uint64_t most_memory_bytes = UINT64_C(16) << 30;

static const char *const FLAGS[] = {
	"--std=c++20",
	"-DNDEBUG",
	"-Xcompiler=-Wno-psabi",
	"-Xcompiler=-fno-strict-aliasing",
	"--expt-extended-lambda",
	"--expt-relaxed-constexpr",
	"-forward-unknown-to-host-compiler",
	"-O3",
	"-Xnvlink=--verbose",
	"-Xptxas=--verbose",
	"-Xptxas=--warn-on-spills",
};

/* Compute capabilities that need another architecture name for all of their instructions, such as
 * wgmma. */
static const struct {
	const char *capability, *name;
} ARCHITECTURES[] = { { "9.0", "90a" } };

void nvcc_add(struct nvcc *nvcc, const char *word)
{
	if (nvcc->count + 1 >= nvcc->room)
		abort();
	nvcc->words[nvcc->count++] = word;
}

/* Adds the device's architecture, such as "-gencode=arch=compute_90a,code=sm_90a" for "9.0". */
static int add_architecture(struct nvcc *nvcc, const char *capability, struct error *error)
{
	int major, minor, end = 0;
	if (sscanf(capability, "%2d.%1d%n", &major, &minor, &end) != 2 || capability[end] || major < 1
		|| minor < 0)
		return fail(error, ERROR_INPUT,
			"The compute capability \"%s\" of the device is not of the form 9.0.", capability);
	const char *name = arena_printf(nvcc->arena, "%d%d", major, minor);
	for (size_t i = 0; i < COUNT(ARCHITECTURES); i++)
		if (strcmp(ARCHITECTURES[i].capability, capability) == 0)
			name = ARCHITECTURES[i].name;
	nvcc_add(nvcc, arena_printf(nvcc->arena, "-gencode=arch=compute_%s,code=sm_%s", name, name));
	return 0;
}

static int add_task_flags(struct nvcc *nvcc, const struct task *task, struct error *error)
{
	for (size_t i = 0; i < task->compile_flag_count; i++) {
		if (task->compile_flags[i][0] != '-')
			return fail(error, ERROR_INPUT,
				"The compile flag \"%s\" of the task does not begin with \"-\".",
				task->compile_flags[i]);
		nvcc_add(nvcc, task->compile_flags[i]);
	}
	for (size_t i = 0; i < task->include_dir_count; i++)
		nvcc_add(nvcc, arena_printf(nvcc->arena, "-I%s", task->include_dirs[i]));
	for (size_t i = 0; i < task->define_count; i++) {
		const struct task_define *define = &task->defines[i];
		if (!text_is_identifier(define->name))
			return fail(error, ERROR_INPUT, "The define \"%s\" of the task is not an identifier.",
				define->name);
		nvcc_add(nvcc,
			define->value ? arena_printf(nvcc->arena, "-D%s=%s", define->name, define->value)
						  : arena_printf(nvcc->arena, "-D%s", define->name));
	}
	return 0;
}

int nvcc_open(struct nvcc *nvcc, struct arena *arena, const struct job *job, struct error *error)
{
	const struct task *task = job->task;
	size_t room = COUNT(FLAGS) + task->compile_flag_count + task->include_dir_count
		+ task->define_count + task->source_count + words_of_callers;
	*nvcc = (struct nvcc){
		.arena = arena, .words = arena_array(arena, const char *, room), .room = room
	};
	nvcc_add(nvcc, job->nvcc);
	for (size_t i = 0; i < COUNT(FLAGS); i++)
		nvcc_add(nvcc, FLAGS[i]);
	int rc = add_task_flags(nvcc, task, error);
	return rc ? rc : add_architecture(nvcc, job->device.compute_capability, error);
}

struct process nvcc_process(struct run *run, const struct nvcc *nvcc)
{
	struct variables variables = variables_for_compiler(run->arena, run->job, &run->workspace);
	return (struct process){
		.arguments = nvcc->words,
		.environment =
			(const char *const *)arena_copy(run->arena, variables.list, sizeof variables.list),
		.timeout_ms = limit_ms,
		.most_address_space = most_memory_bytes,
		.view = { .programs = { run->job->nvcc } },
	};
}

const char *const *nvcc_script_words(const struct nvcc *nvcc)
{
	const char **words = arena_array(nvcc->arena, const char *, nvcc->count + 3);
	words[0] = "/bin/sh";
	words[1] = NVCC_SCRIPT;
	memcpy(words + 2, nvcc->words, nvcc->count * sizeof *words);
	return words;
}
