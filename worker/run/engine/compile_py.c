/* Checks that a Python submission is Python, without running any of it. */
#include "worker/run/engine/stage.h"

#include "worker/run/sandbox/folder.h"

#include <string.h>

enum { limit_ms = task_compile_timeout_s * 1000 };
static const uint64_t most_memory_bytes = UINT64_C(4) << 30;

/* -I keeps the job's folder out of the module path, so that the checker imports nothing of the
 * submission. */
static const char CHECKER[] =
	"import sys\n"
	"name = sys.argv[1]\n"
	"try:\n"
	"    compile(open(name, 'rb').read(), name, 'exec', dont_inherit=True)\n"
	"except SyntaxError as fault:\n"
	"    print(f'{name}, line {fault.lineno}: error: {fault.msg}', file=sys.stderr)\n"
	"    if fault.text:\n"
	"        print('    ' + fault.text.rstrip(), file=sys.stderr)\n"
	"    sys.exit(1)\n"
	"except (ValueError, RecursionError, MemoryError, OverflowError) as fault:\n"
	"    print(f'{name}: error: {fault or type(fault).__name__}', file=sys.stderr)\n"
	"    sys.exit(1)\n";

int compile_py(struct run *run, struct stage *stage, struct error *error)
{
	const struct job *job = run->job;
	if (!job->python[0])
		return fail(error, ERROR_SYSTEM,
			"This worker has no Python that can import torch; install python3-torch, or name an "
			"interpreter that has it with the setting \"python\".");
	int rc;
	if ((rc = folder_write(
			 run->workspace.run, job->slot, job->submission, job->submission_length, 0444, error))
		|| (rc = folder_write(
				run->workspace.stage, "check_syntax.py", CHECKER, strlen(CHECKER), 0444, error)))
		return rc;
	struct variables variables = variables_for_compiler(run->arena, job, &run->workspace);
	const char *arguments[] = { job->python, "-I", "../check_syntax.py", job->slot, NULL };
	struct process process = {
		.arguments = arguments,
		.environment = variables.list,
		.timeout_ms = limit_ms,
		.most_address_space = most_memory_bytes,
		.view = { .programs = { job->python } },
	};
	struct process_result *result = arena_alloc(run->arena, sizeof *result);
	rc = stage_run_program(run, stage, &process, result, error);
	if (!rc)
		judge_compiler(&process, result, &stage->judgement);
	return rc;
}
