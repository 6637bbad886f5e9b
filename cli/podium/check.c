/* `podium check`: runs a submission here as the server would. What is given and what this machine has become the message
 * that a worker would send, and podium-run does the rest. */
#include "cli/podium/podium.h"

#include "cli/podium/follow.h"
#include "cli/podium/given.h"
#include "cli/podium/here.h"
#include "cli/podium/outcome.h"
#include "cli/podium/report.h"
#include "cli/podium/verdicts.h"
#include "lib/job_message.h"
#include "lib/scope.h"
#include "lib/text.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

const char check_help[] =
	"Usage: podium check FILE --task FOLDER [OPTIONS]\n"
	"\n"
	"Runs a submission on this machine as the server would: the same task, compiler, engine and limits, in the same\n"
	"sandbox. FOLDER is the task's folder or its zip.\n"
	"\n"
	"  --task FOLDER      what the leaderboard asks for: a folder with task.yml or reference_code, or a zip of one\n"
	"  --mode MODE        test (default), benchmark or ranked\n"
	"  --gpu UUID|cpu     the device; default: the first GPU that the NVIDIA driver shows, else the CPU\n"
	"  --python PATH      the interpreter of Python tasks; default: the first python3 that can import torch\n"
	"  --engine ENGINE    isolated or custom; default: as the task and podium-run choose\n"
	"  --seed NUMBER      the seed of a ranked run; default: a random one. The server's is secret, so it differs\n"
	"  --json             print the result as JSON (docs/podium.md describes it)\n"
	"  --help\n"
	"\n"
	"Exit codes:\n"
	"   0 passed            10 wrong answer      13 time limit        16 protocol violation\n"
	"   1 another verdict   11 compile error     14 memory limit\n"
	"   2 wrong usage       12 runtime error     15 output limit\n"
	"   3 could not be run here (something is missing, or an internal error)\n"
	"   128 and a signal's number: ended by it, so 130 after Ctrl-C\n"
	"\n"
	"Settings PODIUM_PYTHON, PODIUM_NVCC, PODIUM_WORKER_RUNNER and PODIUM_DEVICE_LOCKS are those of podium-worker.\n"
	"NO_COLOR turns colours off.\n";

struct options { const char *file, *task, *mode, *gpu, *python, *engine, *seed; bool as_json; };

struct check {
	struct arena *arena;
	const struct options *options;
	struct config config;
	struct given given;
	struct task_faults faults;
	struct here here;
	struct interrupt interrupt;
	int64_t secret_seed;
};

/* ---- the command line ---- */

static const struct choice {
	const char *option;
	size_t offset;
	const char *values[4];
	const char *words;
} CHOICES[] = {
	{ "mode", offsetof(struct options, mode), { "test", "benchmark", "ranked" }, "test, benchmark or ranked" },
	{ "engine", offsetof(struct options, engine), { "isolated", "custom" }, "isolated or custom" },
};

static int check_choice(const struct choice *choice, const struct options *options, struct error *error)
{
	const char *value = *(const char *const *)(const void *)((const char *)options + choice->offset);
	for (size_t i = 0; value && choice->values[i]; i++)
		if (strcmp(choice->values[i], value) == 0)
			return 0;
	return !value ? 0 : fail(error, ERROR_INPUT, "There is no %s \"%.80s\" here; choose %s.", choice->option, value, choice->words);
}

static int check_options(const struct options *options, struct error *error)
{
	int rc = 0;
	if (!options->file)
		return fail(error, ERROR_INPUT, "Name the file to check: podium check FILE --task FOLDER.");
	if (!options->task)
		return fail(error, ERROR_INPUT, "Name the task's folder or zip with --task.");
	for (size_t i = 0; i < COUNT(CHOICES) && !rc; i++)
		rc = check_choice(&CHOICES[i], options, error);
	if (!rc && options->seed && strcmp(options->mode, "ranked") != 0)
		return fail(error, ERROR_INPUT, "--seed belongs to --mode ranked; other modes take their seeds from the task.");
	return rc;
}

static int read_options(int argc, char **argv, struct options *options, struct error *error)
{
	static const struct option known[] = {
		{ "task", required_argument, NULL, 't' }, { "mode", required_argument, NULL, 'm' },
		{ "gpu", required_argument, NULL, 'g' }, { "python", required_argument, NULL, 'p' },
		{ "engine", required_argument, NULL, 'e' }, { "seed", required_argument, NULL, 's' }, { "json", no_argument, NULL, 'j' }, { 0 },
	};
	*options = (struct options){ .mode = "test" };
	for (int option; (option = getopt_long(argc, argv, ":", known, NULL)) != -1;) {
		switch (option) {
		case 't': options->task = optarg; break;
		case 'm': options->mode = optarg; break;
		case 'g': options->gpu = optarg; break;
		case 'p': options->python = optarg; break;
		case 'e': options->engine = optarg; break;
		case 's': options->seed = optarg; break;
		case 'j': options->as_json = true; break;
		case ':': return fail(error, ERROR_INPUT, "%.80s wants a value; podium check --help lists the options.", argv[optind - 1]);
		default: return fail(error, ERROR_INPUT, "There is no option %.80s; podium check --help lists them.", argv[optind - 1]);
		}
	}
	options->file = optind < argc ? argv[optind++] : NULL;
	if (optind < argc)
		return fail(error, ERROR_INPUT, "One file is checked at a time; \"%.80s\" is one too many.", argv[optind]);
	return check_options(options, error);
}

/* As a leaderboard draws its own. */
static int choose_seed(const char *text, int64_t *seed, struct error *error)
{
	char *end;
	*seed = (int64_t)randombytes_uniform(UINT32_C(1) << 31);
	if (!text)
		return 0;
	errno = 0;
	*seed = strtoll(text, &end, 10);
	if (errno || end == text || *end || *seed < 0 || *seed >= INT64_C(1) << 31)
		return fail(error, ERROR_INPUT, "The seed must be a whole number from 0 to 2147483647, not \"%.40s\".", text);
	return 0;
}

/* What a shell would start; podium-run starts it in another folder. Links stay: a virtual environment is one. */
static const char *whole_path(struct arena *arena, const char *program)
{
	cleanup_free char *here = getcwd(NULL, 0);
	const char *found = strchr(program, '/') ? NULL : tools_find(arena, program);
	return found ? found : *program == '/' || !here ? program : arena_printf(arena, "%s/%s", here, program);
}

static int load_config(struct check *check, struct error *error)
{
	const char *python = check->options->python ? whole_path(check->arena, check->options->python) : NULL;
	int rc = config_load(&check->config, error);
	if (!rc && python && strlen(python) >= sizeof check->config.python)
		return fail(error, ERROR_INPUT, "The path of the interpreter is longer than %zu bytes.", sizeof check->config.python - 1);
	if (!rc && python)
		snprintf(check->config.python, sizeof check->config.python, "%s", python);
	return rc;
}

/* ---- the job ---- */

static json_t *make_message(const struct check *check, struct error *error)
{
	const struct given *given = &check->given;
	json_t *definition = task_to_json(given->task);
	if (check->options->engine)
		json_object_set_new(definition, "engine", json_string(check->options->engine));
	json_t *message = job_message_make(&(struct job_message){
		.id = outcome_job_id, .mode = check->options->mode, .device = check->here.devices[0], .task = definition,
		.files = given->files, .file_count = given->file_count, .tools = &check->here.tools, .secret_seed = check->secret_seed,
		.submission = { given->submission.name, given->submission.source, given->submission.length },
	}, error);
	json_decref(definition);
	if (message && check->here.device_count > 1)
		job_message_set_uuids(message, here_uuids(check->arena, &check->here));
	return message;
}

/* What the result is about; the first members of the JSON. */
static json_t *describe(const struct check *check)
{
	const struct device *device = check->here.devices[0];
	json_t *about = json_pack("{s:s, s:s, s:s, s:s, s:{s:s, s:s, s:s, s:s}}", "podium", PODIUM_VERSION,
		"task", check->options->task, "file", check->given.submission.name, "mode", check->options->mode,
		"device", "model", device->model, "product", device->product, "uuid", here_uuids(check->arena, &check->here),
		"compute_capability", device->compute_capability);
	if (strcmp(check->options->mode, "ranked") == 0)
		json_object_set_new(about, "secret_seed", json_integer(check->secret_seed));
	return about;
}

static bool wants_colour(void)
{
	const char *unwanted = getenv("NO_COLOR"), *kind = getenv("TERM");
	return isatty(STDOUT_FILENO) && !(unwanted && *unwanted) && kind && *kind && strcmp(kind, "dumb") != 0;
}

static int tell(const struct check *check, json_t *outcome)
{
	int code = verdict_exit_code(verdict_from_name(outcome_text(outcome, "verdict")));
	cleanup_buffer struct buffer text = {0};
	if (check->options->as_json) {
		json_object_set_new(outcome, "exit_code", json_integer(code));
		json_dumpf(outcome, stdout, JSON_INDENT(1));
		putchar('\n');
		return code;
	}
	report_write(&text, check->arena, &(struct report){
		.outcome = outcome, .task = check->given.task, .device = check->here.devices[0], .in_colour = wants_colour() });
	fputs(buffer_string(&text), stdout);
	return code;
}

static int run_job(struct check *check, struct progress *progress, json_t *outcome, struct error *error)
{
	json_t *message = make_message(check, error);
	int64_t limit_ms = job_limit_ms(check->given.task, check->options->mode);
	int rc = message ? here_lock(&check->here, &check->config, &check->interrupt, progress, error) : ERROR_SYSTEM;
	if (!rc && !check->interrupt.signal)
		rc = follow_job(&check->here, message, limit_ms, &check->interrupt, progress, outcome, error);
	here_unlock(&check->here);
	json_decref(message);
	return rc;
}

static int tell_interrupt(const struct interrupt *interrupt)
{
	struct error error = {0};
	fail(&error, ERROR_SYSTEM, "Stopped by %s; nothing of the job is left running.",
		interrupt->signal == SIGINT ? "Ctrl-C" : strsignal(interrupt->signal));
	return podium_complain(&error, 128 + interrupt->signal);
}

static int perform(struct check *check, struct error *error)
{
	struct progress progress = progress_begin(check->options->as_json);
	progress_say(&progress, "looking for what the task needs");
	int rc = here_find(check->arena, &check->config, check->given.task, check->options->gpu, &check->interrupt, &check->here,
		error);
	json_t *outcome = rc ? NULL : outcome_begin(describe(check));
	interrupt_wait(&check->interrupt, 0);
	if (!rc && !check->interrupt.signal)
		rc = run_job(check, &progress, outcome, error);
	progress_end(&progress);
	int code = check->interrupt.signal ? tell_interrupt(&check->interrupt)
		: rc ? podium_complain(error, podium_cannot) : tell(check, outcome);
	json_decref(outcome);
	return code;
}

/* ---- the command ---- */

static int refuse(const struct check *check, const struct error *error)
{
	podium_complain(error, podium_misused);
	for (size_t i = 0; i < check->faults.count; i++) {
		cleanup_buffer struct buffer line = {0};
		text_append_printable(&line, check->faults.sentences[i]);
		fprintf(stderr, "  %s\n", buffer_string(&line));
	}
	if (check->faults.count == task_most_faults)
		fprintf(stderr, "  There may be more faults; these are the first %d.\n", (int)task_most_faults);
	return podium_misused;
}

int check_command(int argc, char **argv)
{
	cleanup_arena struct arena *arena = arena_new();
	struct options options;
	struct error error = {0};
	struct check *check = arena_array(arena, struct check, 1);
	*check = (struct check){ .arena = arena, .options = &options, .interrupt = { .descriptor = -1 } };
	if (sodium_init() < 0) {
		fail(&error, ERROR_SYSTEM, "The system gives no random numbers.");
		return podium_complain(&error, podium_cannot);
	}
	if (read_options(argc, argv, &options, &error)
		|| given_read_task(arena, options.task, &check->given, &check->faults, &error)
		|| given_read_submission(arena, options.file, &check->given, &error)
		|| choose_seed(options.seed, &check->secret_seed, &error))
		return refuse(check, &error);
	signal(SIGPIPE, SIG_IGN);
	if (load_config(check, &error) || interrupt_open(&check->interrupt, &error))
		return podium_complain(&error, podium_cannot);
	int code = perform(check, &error);
	interrupt_close(&check->interrupt);
	return code;
}
