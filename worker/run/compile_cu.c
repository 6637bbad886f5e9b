/* nvcc, with the flags of the field, without a GPU in sight. */
#include "worker/run/run.h"

#include "lib/scope.h"
#include "lib/text.h"
#include "worker/run/folder.h"
#include "worker/run/ptxas.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { limit_ms = task_compile_timeout_s * 1000, most_program_bytes = 256 * 1024 * 1024 };
static const uint64_t most_memory_bytes = UINT64_C(16) << 30;

static const char *const FLAGS[] = {
	"--std=c++20", "-DNDEBUG", "-Xcompiler=-Wno-psabi", "-Xcompiler=-fno-strict-aliasing", "--expt-extended-lambda",
	"--expt-relaxed-constexpr", "-forward-unknown-to-host-compiler", "-O3", "-Xnvlink=--verbose", "-Xptxas=--verbose",
	"-Xptxas=--warn-on-spills",
};

/* Compute capabilities whose full instruction set has a name of its own (wgmma, TMA multicast). */
static const struct { const char *capability, *name; } ARCHITECTURES[] = { { "9.0", "90a" } };

static const char *const SOURCE_ENDINGS[] = { ".cu", ".cuh", ".c", ".cc", ".cpp", ".cxx", ".h", ".hh", ".hpp", ".inl" };

struct command {
	struct arena *arena;
	const char **list;
	size_t count;
};

bool compile_is_source(const char *path)
{
	for (size_t i = 0; i < COUNT(SOURCE_ENDINGS); i++)
		if (text_ends_with(path, SOURCE_ENDINGS[i]))
			return true;
	return false;
}


/* "-gencode=arch=compute_90a,code=sm_90a" for "9.0". */
static int add_architecture(struct command *command, const char *capability, struct error *error)
{
	int major, minor, end = 0;
	if (sscanf(capability, "%2d.%1d%n", &major, &minor, &end) != 2 || capability[end] || major < 1 || minor < 0)
		return fail(error, ERROR_INPUT, "The compute capability \"%s\" of the device is not of the form 9.0.", capability);
	const char *name = arena_printf(command->arena, "%d%d", major, minor);
	for (size_t i = 0; i < COUNT(ARCHITECTURES); i++)
		if (strcmp(ARCHITECTURES[i].capability, capability) == 0)
			name = ARCHITECTURES[i].name;
	command->list[command->count++] = arena_printf(command->arena, "-gencode=arch=compute_%s,code=sm_%s", name, name);
	return 0;
}

static bool is_identifier(const char *name)
{
	if (!isalpha((unsigned char)name[0]) && name[0] != '_')
		return false;
	for (; *name; name++)
		if (!isalnum((unsigned char)*name) && *name != '_')
			return false;
	return true;
}

static int add_task_flags(struct command *command, const struct task *task, struct error *error)
{
	for (size_t i = 0; i < task->compile_flag_count; i++) {
		if (task->compile_flags[i][0] != '-')
			return fail(error, ERROR_INPUT, "The compile flag \"%s\" of the task does not begin with \"-\".", task->compile_flags[i]);
		command->list[command->count++] = task->compile_flags[i];
	}
	for (size_t i = 0; i < task->include_dir_count; i++)
		command->list[command->count++] = arena_printf(command->arena, "-I%s", task->include_dirs[i]);
	for (size_t i = 0; i < task->define_count; i++) {
		const struct task_define *define = &task->defines[i];
		if (!is_identifier(define->name))
			return fail(error, ERROR_INPUT, "The define \"%s\" of the task is no identifier.", define->name);
		command->list[command->count++] = define->value ?
			arena_printf(command->arena, "-D%s=%s", define->name, define->value) :
			arena_printf(command->arena, "-D%s", define->name);
	}
	return 0;
}

static int add_sources(struct command *command, const struct job *job, struct error *error)
{
	for (size_t i = 0; i < job->task->source_count; i++) {
		const char *source = job->task->sources[i];
		if (source[0] == '-' || (strcmp(source, job->slot) != 0 && !fileset_find(&job->files, source)))
			return fail(error, ERROR_INPUT, "The source \"%s\" of the task is none of its files.", source);
		command->list[command->count++] = source;
	}
	return 0;
}

static int make_command(struct arena *arena, const struct job *job, struct command *command, struct error *error)
{
	const struct task *task = job->task;
	size_t most = COUNT(FLAGS) + task->compile_flag_count + task->include_dir_count + task->define_count +
		task->source_count + 5;
	*command = (struct command){ arena, arena_array(arena, const char *, most), 0 };
	command->list[command->count++] = job->nvcc;
	for (size_t i = 0; i < COUNT(FLAGS); i++)
		command->list[command->count++] = FLAGS[i];
	int rc;
	if ((rc = add_task_flags(command, task, error)) || (rc = add_sources(command, job, error)) ||
		(rc = add_architecture(command, job->device.compute_capability, error)))
		return rc;
	command->list[command->count++] = "-o";
	command->list[command->count++] = "eval.out";
	return 0;
}

const char *compile_cu_obstacle(const struct job *job)
{
	(void)job;
	return "Tasks in CUDA C++ are not split yet.";
}

static int check_possible(const struct job *job, struct error *error)
{
	if (job->device.is_cpu)
		return fail(error, ERROR_INPUT, "CUDA C++ tasks need a GPU, and this worker runs them on the CPU; choose a GPU for "
			"the leaderboard.");
	if (!job->nvcc[0])
		return fail(error, ERROR_SYSTEM, "This worker has no nvcc; install the CUDA toolkit there, or name nvcc with the "
			"setting \"nvcc\".");
	return 0;
}

/* ptxas talks on the error output of nvcc. */
static void send_kernels(struct run *run, const struct stage *stage, const struct process_result *result)
{
	cleanup_buffer struct buffer text = {0};
	capture_text(&result->errors, &text);
	json_t *kernels = ptxas_kernels(run->arena, buffer_string(&text));
	if (json_array_size(kernels))
		event_kernels(run->events, stage->position, kernels);
	json_decref(kernels);
}

int compile_cu(struct run *run, struct stage *stage, struct error *error)
{
	struct command command;
	int rc;
	if ((rc = check_possible(run->job, error)) || (rc = make_command(run->arena, run->job, &command, error)) ||
		(rc = stage_write_files(run, NULL, error)))
		return rc;
	struct variables variables = variables_for_compiler(run->arena, run->job, &run->workspace);
	struct process process = {
		.arguments = command.list, .environment = variables.list, .timeout_ms = limit_ms,
		.most_address_space = most_memory_bytes, .view = { .programs = { run->job->nvcc } },
	};
	struct process_result *result = arena_alloc(run->arena, sizeof *result);
	if ((rc = stage_run_program(run, stage, &process, result, error)))
		return rc;
	send_kernels(run, stage, result);
	judge_compiler(&process, result, &stage->judgement);
	if (stage->judgement.verdict != VERDICT_PASSED)
		return 0;
	/* What the compiler left was made by a process that read the submission: take it as a file, no link. */
	struct compiled *program = &run->programs[COMPILED_EVAL];
	return folder_read(run->workspace.run, "eval.out", most_program_bytes, run->arena, &program->bytes, &program->length, error);
}
