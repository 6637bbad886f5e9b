/* `podium check`: runs a submission on this machine as the server would. It builds the message that
 * a worker would send and passes it to podium-run. */
#include "cli/podium/commands.h"

#include "cli/podium/check_input.h"
#include "cli/podium/display.h"
#include "cli/podium/follow.h"
#include "cli/podium/local_machine.h"
#include "cli/podium/outcome.h"
#include "cli/podium/podium.h"
#include "cli/podium/report.h"
#include "cli/podium/verdicts.h"
#include "lib/base/member.h"
#include "lib/base/scope.h"
#include "lib/base/text.h"
#include "lib/job/message.h"
#include "lib/task/engine.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

struct options {
	const char *file, *task, *mode, *gpu, *python, *engine, *seed, *root;
	bool as_json;
};

struct check {
	struct arena *arena;
	const struct options *options;
	struct config config;
	struct check_input input;
	struct task_faults faults;
	struct local_machine local;
	struct interrupt interrupt;
	int64_t secret_seed;
};

/* ---- the command line ---- */

static int read_options(const struct call *call, struct options *options, struct error *error)
{
	const char *mode = call_value(call, "mode");
	*options = (struct options){ .file = call->arguments[0],
		.task = call_value(call, "task"),
		.mode = mode ? mode : "test",
		.gpu = call_value(call, "gpu"),
		.python = call_value(call, "python"),
		.engine = call_value(call, "engine"),
		.seed = call_value(call, "seed"),
		.root = call_value(call, "root"),
		.as_json = call_has(call, "json") };
	if (!options->task)
		return fail(error, ERROR_INPUT, "Name the task's folder or zip with --task.");
	if (options->seed && strcmp(options->mode, "ranked") != 0)
		return fail(error, ERROR_INPUT,
			"--seed needs --mode ranked. Other modes take their seeds from the task.");
	return 0;
}

/* Reads the seed that --seed gives. Without --seed, draws one from the range of a leaderboard's
 * seeds. */
static int choose_seed(const char *text, int64_t *seed, struct error *error)
{
	char *end;
	*seed = (int64_t)randombytes_uniform(UINT32_C(1) << 31);
	if (!text)
		return 0;
	errno = 0;
	*seed = strtoll(text, &end, 10);
	if (errno || end == text || *end || *seed < 0 || *seed >= INT64_C(1) << 31)
		return fail(error, ERROR_INPUT,
			"The seed must be a whole number from 0 to 2147483647, not \"%.40s\".", text);
	return 0;
}

/* Returns the whole path of a program, found as a shell finds it: podium-run starts the program in
 * another folder. Does not follow links, because a virtual environment's Python is a link. */
static const char *whole_path(struct arena *arena, const char *program)
{
	cleanup_free char *here = getcwd(NULL, 0);
	const char *found = strchr(program, '/') ? NULL : tools_find(arena, program);
	return found                   ? found
		: *program == '/' || !here ? program
								   : arena_printf(arena, "%s/%s", here, program);
}

static int load_config(struct check *check, struct error *error)
{
	const char *python =
		check->options->python ? whole_path(check->arena, check->options->python) : NULL;
	int rc = config_load(&check->config, error);
	if (!rc && python && strlen(python) >= sizeof check->config.python)
		return fail(error, ERROR_INPUT, "The path of the interpreter is longer than %zu bytes.",
			sizeof check->config.python - 1);
	if (!rc && python)
		snprintf(check->config.python, sizeof check->config.python, "%s", python);
	return rc;
}

/* ---- the job ---- */

/* Returns the engine of the option --engine, else the one that a new version of the task would get
 * on this device. */
static struct engine_choice check_engine(const struct check *check)
{
	const char *engine = check->options->engine;
	if (!engine)
		return engine_on(check->input.task->choice, check->local.devices[0]->model);
	return (struct engine_choice){ task_engine_from_name(engine), "--engine chose it." };
}

static int check_choice(const struct check *check, struct error *error)
{
	return check_engine(check).engine == ENGINE_SEALED && device_is_cpu(check->local.devices[0])
		? fail(error, ERROR_INPUT,
			"The sealed engine measures on a GPU, and this run has the CPU. Choose a GPU with "
			"--gpu, or --engine isolated.")
		: 0;
}

static json_t *make_message(const struct check *check, struct error *error)
{
	const struct check_input *input = &check->input;
	json_t *definition = task_to_json(input->task);
	json_t *message = job_message_make(
		&(struct job_message){
			.id = outcome_job_id,
			.mode = check->options->mode,
			.device = check->local.devices[0],
			.task = definition,
			.engine = check_engine(check),
			.files = input->files,
			.file_count = input->file_count,
			.tools = &check->local.tools,
			.secret_seed = check->secret_seed,
			.submission = { input->submission.name, input->submission.source,
				input->submission.length },
		},
		error);
	json_decref(definition);
	if (message && check->local.device_count > 1)
		job_message_set_uuids(message, local_machine_uuids(check->arena, &check->local));
	return message;
}

/* Makes the first members of the outcome: the task, file and device that it is about. */
static json_t *describe_run(const struct check *check)
{
	const struct device *device = check->local.devices[0];
	json_t *about = json_pack("{s:s, s:s, s:s, s:s, s:{s:s, s:s, s:s, s:s}}", "podium",
		PODIUM_VERSION, "task", check->options->task, "file", check->input.submission.name, "mode",
		check->options->mode, "device", "model", device->model, "product", device->product, "uuid",
		local_machine_uuids(check->arena, &check->local), "compute_capability",
		device->compute_capability);
	if (strcmp(check->options->mode, "ranked") == 0)
		json_object_set_new(about, "secret_seed", json_integer(check->secret_seed));
	return about;
}

static int print_outcome(const struct check *check, json_t *outcome)
{
	int code = verdict_exit_code(verdict_from_name(member_text(outcome, "verdict")));
	cleanup_buffer struct buffer text = { 0 };
	if (check->options->as_json) {
		json_object_set_new(outcome, "exit_code", json_integer(code));
		json_dumpf(outcome, stdout, JSON_INDENT(1));
		putchar('\n');
		return code;
	}
	report_write(&text, check->arena,
		&(struct report){ .outcome = outcome,
			.task = check->input.task,
			.device = check->local.devices[0],
			.in_colour = display_wants_colour(STDOUT_FILENO) });
	fputs(buffer_string(&text), stdout);
	return code;
}

static int run_job(
	struct check *check, struct progress *progress, json_t *outcome, struct error *error)
{
	json_t *message = make_message(check, error);
	int64_t limit_ms = job_limit_ms(check->input.task, check->options->mode);
	int rc = message
		? local_machine_lock(&check->local, &check->config, &check->interrupt, progress, error)
		: ERROR_SYSTEM;
	if (!rc && !check->interrupt.signal)
		rc = follow_job(
			&check->local, message, limit_ms, &check->interrupt, progress, outcome, error);
	local_machine_unlock(&check->local);
	json_decref(message);
	return rc;
}

static int tell_interrupt(const struct interrupt *interrupt)
{
	struct error error = { 0 };
	fail(&error, ERROR_SYSTEM, "Stopped by %s. The job no longer runs.",
		interrupt->signal == SIGINT ? "Ctrl-C" : strsignal(interrupt->signal));
	return podium_complain(&error, 128 + interrupt->signal);
}

static int perform_check(struct check *check, struct error *error)
{
	struct progress progress = progress_begin(check->options->as_json);
	progress_say(&progress, "looking for the device and programs that the task needs");
	int rc = local_machine_find(check->arena, &check->config, check->input.task,
		check->options->gpu, &check->interrupt, &check->local, error);
	if (!rc && !check->interrupt.signal)
		rc = check_choice(check, error);
	json_t *outcome = rc ? NULL : outcome_begin(describe_run(check));
	interrupt_wait(&check->interrupt, 0);
	if (!rc && !check->interrupt.signal)
		rc = run_job(check, &progress, outcome, error);
	progress_end(&progress);
	int code = check->interrupt.signal ? tell_interrupt(&check->interrupt)
		: rc                           ? podium_complain(error, podium_cannot)
									   : print_outcome(check, outcome);
	json_decref(outcome);
	return code;
}

/* ---- the command ---- */

static int report_error(const struct check *check, const struct error *error)
{
	podium_complain(error, podium_misused);
	for (size_t i = 0; i < check->faults.count; i++) {
		cleanup_buffer struct buffer line = { 0 };
		text_append_printable(&line, check->faults.sentences[i]);
		fprintf(stderr, "  %s\n", buffer_string(&line));
	}
	if (check->faults.count == task_most_faults)
		fprintf(
			stderr, "  These are the first %d faults; there may be more.\n", (int)task_most_faults);
	return podium_misused;
}

int check_command(const struct call *call)
{
	struct arena *arena = call->arena;
	struct options options;
	struct error error = { 0 };
	struct check *check = arena_array(arena, struct check, 1);
	*check =
		(struct check){ .arena = arena, .options = &options, .interrupt = { .descriptor = -1 } };
	if (read_options(call, &options, &error)
		|| check_input_read_task(
			arena, options.task, options.root, &check->input, &check->faults, &error)
		|| check_input_read_submission(arena, options.file, &check->input, &error)
		|| choose_seed(options.seed, &check->secret_seed, &error))
		return report_error(check, &error);
	signal(SIGPIPE, SIG_IGN);
	if (load_config(check, &error) || interrupt_open(&check->interrupt, &error))
		return podium_complain(&error, podium_cannot);
	int code = perform_check(check, &error);
	interrupt_close(&check->interrupt);
	return code;
}
