/* The compile stage of tasks in CUDA C++. For the custom engine, the stage makes one program that
 * includes the harness. For the other engines, it makes several programs. */
#include "worker/run/engine/stage.h"

#include "lib/base/scope.h"
#include "lib/base/text.h"
#include "worker/run/engine/isolated_cu.h"
#include "worker/run/engine/nvcc.h"
#include "worker/run/profile/ptxas.h"
#include "worker/run/sandbox/folder.h"

#include <string.h>

static const char *const SOURCE_ENDINGS[] = { ".cu", ".cuh", ".c", ".cc", ".cpp", ".cxx", ".h",
	".hh", ".hpp", ".inl" };

bool compile_is_data(const struct job *job, const char *path)
{
	(void)job;
	for (size_t i = 0; i < COUNT(SOURCE_ENDINGS); i++)
		if (text_ends_with(path, SOURCE_ENDINGS[i]))
			return false;
	return true;
}

static int add_sources(struct nvcc *nvcc, const struct job *job, struct error *error)
{
	for (size_t i = 0; i < job->task->source_count; i++) {
		const char *source = job->task->sources[i];
		if (source[0] == '-'
			|| (strcmp(source, job->slot) != 0 && !fileset_find(&job->files, source)))
			return fail(error, ERROR_INPUT,
				"The source \"%s\" of the task is not one of its files.", source);
		nvcc_add(nvcc, source);
	}
	return 0;
}

static int check_requirements(const struct job *job, struct error *error)
{
	if (job->device.is_cpu)
		return fail(error, ERROR_INPUT,
			"CUDA C++ tasks need a GPU, and this worker runs them on the CPU; choose a GPU for the "
			"leaderboard.");
	if (!job->nvcc[0])
		return fail(error, ERROR_SYSTEM,
			"This worker has no nvcc; install the CUDA toolkit there, or name nvcc with the "
			"setting \"nvcc\".");
	return 0;
}

/* Sends what ptxas reported about the kernels. ptxas writes to nvcc's standard error. */
static void send_kernels(
	struct run *run, const struct stage *stage, const struct process_result *result)
{
	cleanup_buffer struct buffer text = { 0 };
	capture_text(&result->errors, &text);
	json_t *kernels = ptxas_kernels(run->arena, buffer_string(&text));
	if (json_array_size(kernels))
		event_kernels(run->events, stage->position, kernels);
	json_decref(kernels);
}

int compile_cu_program(struct run *run, struct stage *stage, const struct nvcc *nvcc,
	const char *name, enum compiled_kind kind, struct error *error)
{
	struct process process = nvcc_process(run, nvcc);
	struct process_result *result = arena_alloc(run->arena, sizeof *result);
	if (!stage->is_quiet)
		stage_tell_begin(run, stage, &process);
	if (kind != COMPILED_EVAL) /* run the faster script, but show nvcc's command on the page */
		process.arguments = nvcc_script_words(nvcc);
	int rc = stage_try_program(run, stage, &process, result, error);
	if (!stage->is_quiet)
		stage_tell_log(run, stage, result);
	if (rc)
		return rc;
	if (!stage->is_quiet)
		send_kernels(run, stage, result);
	judge_compiler(&process, result, &stage->judgement);
	if (stage->judgement.verdict != VERDICT_PASSED)
		return 0;
	/* The compiler read the submission, so its output is not trusted: folder_read refuses links. */
	struct compiled *program = &run->programs[kind];
	return folder_read(run->workspace.run, name, nvcc_most_program_bytes, run->arena,
		&program->bytes, &program->length, error);
}

/* Compiles the task's own harness and the submission into one program. */
static int compile_together(struct run *run, struct stage *stage, struct error *error)
{
	struct nvcc nvcc;
	int rc;
	if ((rc = nvcc_open(&nvcc, run->arena, run->job, error))
		|| (rc = add_sources(&nvcc, run->job, error)) || (rc = stage_write_files(run, NULL, error)))
		return rc;
	nvcc_add(&nvcc, "-o");
	nvcc_add(&nvcc, "eval.out");
	return compile_cu_program(run, stage, &nvcc, "eval.out", COMPILED_EVAL, error);
}

int compile_cu(struct run *run, struct stage *stage, struct error *error)
{
	int rc = check_requirements(run->job, error);
	if (!rc && run->engine != ENGINE_CUSTOM)
		rc = isolated_cu_compile(run, stage, error);
	if (rc || run->engine != ENGINE_CUSTOM)
		return rc;
	return compile_together(run, stage, error);
}

int compile_cu_again(struct run *run, const struct stage *stage, struct error *error)
{
	struct stage scratch = *stage;
	scratch.is_quiet = true;
	int rc = compile_cu(run, &scratch, error);
	if (!rc && scratch.judgement.verdict != VERDICT_PASSED)
		rc = fail(error, ERROR_SYSTEM, "The submission could not be compiled for the %s engine: %s",
			task_engine_name(run->engine), buffer_string(&scratch.judgement.message));
	buffer_free(&scratch.judgement.message);
	return rc;
}
