/* podium-run: reads jobs, writes events. docs/podium-run.md is its manual. */
#include "lib/base/arena.h"
#include "lib/base/buffer.h"
#include "lib/base/log.h"
#include "lib/base/manual.h"
#include "lib/base/required_walls.h"
#include "lib/base/scope.h"
#include "worker/run/host.h"
#include "worker/run/machine.h"
#include "worker/run/run.h"
#include "worker/run/sandbox/account.h"
#include "worker/run/sandbox/reaper.h"
#include "worker/run/sandbox/workspace.h"
#include "worker/run/slurm_devices.h"

#include <errno.h>
#include <getopt.h>
#include <poll.h>
#include <signal.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

enum { EXIT_WRONG_USAGE = 2 };

static const char USAGE[] =
	"Usage: podium-run [--directory DIR] [--user NAME] [--python PATH] [--once]\n"
	"                  [--slurm-allocation[=LOCKS]] [--require-walls[=EXCEPT]] [LIMITS]\n"
	"       podium-run --find-python[=PATH] [--user NAME]\n"
	"       podium-run --check-host[=json] [--directory DIR] [--user NAME]\n"
	"                  [--require-walls[=EXCEPT]]\n"
	"       podium-run --walls [--user NAME]\n"
	"\n"
	"Reads jobs from standard input, one line of JSON each, runs them one at a time and writes\n"
	"events to standard output.\n"
	"\n"
	"  --directory DIR       where jobs are unpacked (default: $TMPDIR, else /tmp)\n"
	"  --user NAME           the user that submissions run as if podium-run is root\n"
	"                        (default: nobody)\n"
	"  --python PATH         the interpreter to preload: it imports torch before the first job\n"
	"  --once                end after one job; the end of input does not cancel it\n"
	"  --slurm-allocation[=LOCKS]\n"
	"                        use the devices that a scheduler (Slurm) gave to this process, lock\n"
	"                        them in the folder LOCKS, and name them in the event \"ready\"\n"
	"  --require-walls[=EXCEPT]\n"
	"                        run no job if the sandbox lacks one of the walls files, network and\n"
	"                        processes that EXCEPT does not name; separate names with commas\n"
	"  --find-python[=PATH]  print the interpreter for Python tasks: PATH, or the first python3\n"
	"                        on the PATH or in /usr/bin, that this user can start and that can\n"
	"                        import torch\n"
	"  --check-host[=json]   print what this host offers and lacks, what that costs and how to\n"
	"                        fix it, as words or as one line of JSON\n"
	"  --walls               try each wall of the sandbox and print the result as JSON\n"
	"  --show PATHS          more files and folders that programs in the sandbox may read, with\n"
	"                        colons between them (PODIUM_SANDBOX_SHOW); the system's, the\n"
	"                        interpreter's and the toolkit's are always there\n"
	"  --kits DIR            where to keep the programs of CUDA C++ tasks, for the next start\n"
	"                        (default: podium-kits-UID in --directory; \"\": keep none)\n"
	"  --help, --version, --manual\n"
	"\n"
	"LIMITS of each program, including all that it starts and writes:\n"
	"\n"
	"  --memory MIB          memory (PODIUM_SANDBOX_MEMORY_MIB; default: three quarters of the\n"
	"                        machine's)\n"
	"  --disk MIB            files (PODIUM_SANDBOX_DISK_MIB; default: a quarter of that memory,\n"
	"                        at most 4 GiB)\n"
	"  --processes N         processes and threads (PODIUM_SANDBOX_PROCESSES; default: 2048)\n"
	"\n"
	"Exit codes: 0 at the end of input or after a signal; 1 if podium-run failed, with a sentence\n"
	"on standard error; 2 for wrong usage. --find-python exits with 1 and prints nothing if there\n"
	"is no such interpreter. --check-host exits with 1 if it found a fault.\n";

struct options {
	const char *directory, *user, *python, *kits;
	bool once, find_python, check_host, as_json, walls, in_slurm_allocation;
	const char *locks;
	const char *accepted_walls; /* NULL: jobs require no wall */
	const char *show, *memory, *disk, *processes;
};

enum {
	OPTION_DIRECTORY = 1,
	OPTION_USER,
	OPTION_ONCE,
	OPTION_PYTHON,
	OPTION_FIND_PYTHON,
	OPTION_CHECK_HOST,
	OPTION_WALLS,
	OPTION_SHOW,
	OPTION_KITS,
	OPTION_MEMORY,
	OPTION_DISK,
	OPTION_PROCESSES,
	OPTION_HELP,
	OPTION_VERSION,
	OPTION_MANUAL,
	OPTION_SLURM_ALLOCATION,
	OPTION_REQUIRE_WALLS,
};

static int print_manual(void)
{
	cleanup_buffer struct buffer page = { 0 };
	manual_begin(&page, "podium-run", 8, "System administration",
		"runs jobs in a sandbox, for podium-worker and podium check");
	manual_section(&page, "SYNOPSIS");
	manual_lines(&page, USAGE);
	manual_section(&page, "SEE ALSO");
	manual_text(&page, "podium-worker(8), podium(1)");
	return fputs(page.data, stdout) < 0;
}

/* Returns the exit code, or -1 to continue. */
static int read_options(int count, char **words, struct options *options)
{
	static const struct option known[] = {
		{ "directory", required_argument, NULL, OPTION_DIRECTORY },
		{ "user", required_argument, NULL, OPTION_USER },
		{ "once", no_argument, NULL, OPTION_ONCE },
		{ "python", required_argument, NULL, OPTION_PYTHON },
		{ "find-python", optional_argument, NULL, OPTION_FIND_PYTHON },
		{ "check-host", optional_argument, NULL, OPTION_CHECK_HOST },
		{ "walls", no_argument, NULL, OPTION_WALLS },
		{ "slurm-allocation", optional_argument, NULL, OPTION_SLURM_ALLOCATION },
		{ "require-walls", optional_argument, NULL, OPTION_REQUIRE_WALLS },
		{ "show", required_argument, NULL, OPTION_SHOW },
		{ "kits", required_argument, NULL, OPTION_KITS },
		{ "memory", required_argument, NULL, OPTION_MEMORY },
		{ "disk", required_argument, NULL, OPTION_DISK },
		{ "processes", required_argument, NULL, OPTION_PROCESSES },
		{ "help", no_argument, NULL, OPTION_HELP },
		{ "version", no_argument, NULL, OPTION_VERSION },
		{ "manual", no_argument, NULL, OPTION_MANUAL },
		{ 0 },
	};
	for (int option; (option = getopt_long(count, words, "", known, NULL)) != -1;) {
		switch (option) {
		case OPTION_DIRECTORY: options->directory = optarg; break;
		case OPTION_USER: options->user = optarg; break;
		case OPTION_ONCE: options->once = true; break;
		case OPTION_PYTHON: options->python = optarg; break;
		case OPTION_FIND_PYTHON:
			options->find_python = true;
			options->python = optarg;
			break;
		case OPTION_CHECK_HOST:
			options->check_host = true;
			options->as_json = optarg != NULL;
			break;
		case OPTION_WALLS: options->walls = true; break;
		case OPTION_SLURM_ALLOCATION:
			options->in_slurm_allocation = true;
			options->locks = optarg ? optarg : "";
			break;
		case OPTION_REQUIRE_WALLS: options->accepted_walls = optarg ? optarg : ""; break;
		case OPTION_SHOW: options->show = optarg; break;
		case OPTION_KITS: options->kits = optarg; break;
		case OPTION_MEMORY: options->memory = optarg; break;
		case OPTION_DISK: options->disk = optarg; break;
		case OPTION_PROCESSES: options->processes = optarg; break;
		case OPTION_HELP: fputs(USAGE, stdout); return EXIT_SUCCESS;
		case OPTION_VERSION: puts("podium-run " PODIUM_VERSION); return EXIT_SUCCESS;
		case OPTION_MANUAL: return print_manual();
		default: fputs("Try podium-run --help.\n", stderr); return EXIT_WRONG_USAGE;
		}
	}
	if (optind == count)
		return -1;
	fprintf(
		stderr, "podium-run: there is no option \"%s\". Try podium-run --help.\n", words[optind]);
	return EXIT_WRONG_USAGE;
}

/* Reads a limit, a whole number of `unit` above 0, from the option, or else from the variable.
 * Leaves *limit as it is if neither is set. */
static int read_limit(
	const char *option, const char *variable, int64_t unit, int64_t *limit, struct error *error)
{
	const char *text = option ? option : getenv(variable);
	char *end;
	if (!text || !*text)
		return 0;
	errno = 0;
	long long number = strtoll(text, &end, 10);
	if (errno || *end || number <= 0 || number > INT64_MAX / unit)
		return fail(error, ERROR_INPUT,
			"\"%.40s\" is not a valid limit (%s). Use a whole number above 0.", text, variable);
	*limit = number * unit;
	return 0;
}

static int prepare_host(const struct options *options, const struct account *account,
	struct sandbox_host *host, struct error *error)
{
	static const int64_t mib = 1 << 20;
	host->shown = options->show ? options->show : getenv("PODIUM_SANDBOX_SHOW");
	int rc;
	if ((rc = read_limit(
			 options->memory, "PODIUM_SANDBOX_MEMORY_MIB", mib, &host->most_memory_bytes, error))
		|| (rc = read_limit(
				options->disk, "PODIUM_SANDBOX_DISK_MIB", mib, &host->most_disk_bytes, error))
		|| (rc = read_limit(
				options->processes, "PODIUM_SANDBOX_PROCESSES", 1, &host->most_processes, error))
		|| (rc = workspace_make_directory(options->directory, account, error)))
		return rc;
	return sandbox_prepare(host, account, options->directory, error);
}

static int print_walls(struct sandbox_host *host)
{
	json_t *walls = sandbox_walls(host);
	cleanup_free char *text = json_dumps(walls, JSON_INDENT(1));
	json_decref(walls);
	if (!text || puts(text) < 0 || fflush(stdout))
		return EXIT_FAILURE;
	return EXIT_SUCCESS;
}

static int find_python(const struct sandbox_host *host, const char *candidate)
{
	cleanup_free char *python = machine_find_python(host, candidate);
	if (!python)
		return EXIT_FAILURE;
	puts(python);
	return EXIT_SUCCESS;
}

static int check_host(struct sandbox_host *sandbox, const struct options *options)
{
	cleanup_arena struct arena *arena = arena_new();
	cleanup_free char *python = options->as_json ? NULL : machine_find_python(sandbox, NULL);
	json_t *checks = host_checks(
			   &(struct host){ .arena = arena, .root = "", .directory = options->directory }),
		   *walls = sandbox_walls(sandbox);
	bool good = true;
	host_add_walls(checks, walls, options->accepted_walls);
	if (options->as_json)
		json_dumpf(checks, stdout, JSON_COMPACT);
	else
		good = host_say(checks, sandbox->account->name, python, stdout);
	putchar('\n');
	json_decref(walls);
	json_decref(checks);
	return good ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* Sends the event "waiting". Returns whether the caller still waits for the device. */
static bool is_still_wanted(void *context)
{
	struct events *events = context;
	struct pollfd input = { .fd = STDIN_FILENO };
	event_waiting(events, "waiting for the device on the node");
	return !events->lost && (poll(&input, 1, 0) <= 0 || !(input.revents & (POLLHUP | POLLERR)));
}

/* Runs jobs until the end of input. Returns false if podium-run must end because of a fault: a
 * process of a job could not be killed, or the reader of the events is gone. */
static bool run_jobs(struct inbox *inbox, struct events *events, int base,
	const struct options *options, const struct sandbox_host *host, const json_t *devices)
{
	struct machine machine = machine_make(host, base, options->kits);
	struct zygote zygotes[ZYGOTES] = { zygote_none, zygote_none };
	bool good = true;
	for (enum zygote_kind kind = 0; kind < ZYGOTES && options->python; kind++)
		zygote_start(&zygotes[kind], kind, options->python);
	event_ready(events, devices);
	for (json_t *message; good && (message = inbox_next(inbox));) {
		good = run_job(message, base, host, &machine, zygotes, inbox, events);
		json_decref(message);
		inbox->running = -1;
		if (options->once)
			break;
	}
	for (enum zygote_kind kind = 0; kind < ZYGOTES; kind++)
		zygote_end(&zygotes[kind]);
	machine_free(&machine);
	if (events->lost)
		log_error("The reader of the events is gone.");
	return good && !events->lost;
}

/* Fails if the host lacks a required wall that is not accepted. */
static int check_walls(
	const struct options *options, const struct sandbox_host *host, struct error *error)
{
	if (!options->accepted_walls)
		return 0;
	cleanup_free char *unaccepted = sandbox_unaccepted(host, options->accepted_walls),
					  *missing = sandbox_unaccepted(host, NULL);
	if (unaccepted && *unaccepted)
		return required_walls_refuse(unaccepted, error);
	if (missing && *missing)
		log_warning("Submissions run without these walls of the sandbox, which "
					"accept_missing_walls names: %s.",
			missing);
	return 0;
}

static int serve_jobs(
	const struct options *options, const struct sandbox_host *host, struct error *error)
{
	int rc = check_walls(options, host, error);
	if (rc)
		return rc;
	struct events events = { .descriptor = STDOUT_FILENO };
	struct inbox inbox;
	cleanup_fd int base = workspace_base(options->directory, host->account, error);
	json_t *devices = NULL;
	if (base < 0
		|| (options->in_slurm_allocation
			&& slurm_devices_take(options->locks, is_still_wanted, &events, &devices, error)))
		return error->code;
	if (inbox_open(&inbox, &events, options->once, error)) {
		json_decref(devices);
		return error->code;
	}
	bool good = run_jobs(&inbox, &events, base, options, host, devices);
	json_decref(devices);
	inbox_close(&inbox);
	return good ? 0 : ERROR_SYSTEM;
}

int main(int count, char **words)
{
	const char *temporary = getenv("TMPDIR");
	struct options options = {
		.directory = temporary && temporary[0] ? temporary : "/tmp",
		.user = "nobody",
	};
	struct account account;
	static struct sandbox_host host;
	struct error error = { 0 };
	log_open("podium-run");
	log_about(LOG_WORKER, getenv("PODIUM_WORKER_NAME"));
	int code = read_options(count, words, &options);
	if (code >= 0)
		return code;
	signal(SIGPIPE, SIG_IGN);
	/* A submission may run as the same Unix user. This call keeps the submission from reading this
	 * process's memory, and from writing events to this process's pipe through /proc. */
	prctl(PR_SET_DUMPABLE, 0);
	if (sodium_init() < 0 || required_walls_check(options.accepted_walls, &error)
		|| account_find(options.user, &account, &error) || reaper_open(&error)
		|| prepare_host(&options, &account, &host, &error)) {
		log_error("%s", error.text[0] ? error.text : "The system provides no random numbers.");
		return EXIT_FAILURE;
	}
	if (options.find_python)
		return find_python(&host, options.python);
	if (options.check_host)
		return check_host(&host, &options);
	if (options.walls)
		return print_walls(&host);
	if (serve_jobs(&options, &host, &error) == 0)
		return EXIT_SUCCESS;
	if (error.text[0])
		log_error("%s", error.text);
	return EXIT_FAILURE;
}
