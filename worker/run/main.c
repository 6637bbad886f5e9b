/* podium-run: jobs in, events out. docs/podium-run.md is its manual. */
#include "lib/arena.h"
#include "lib/log.h"
#include "lib/scope.h"
#include "worker/run/host.h"
#include "worker/run/machine.h"
#include "worker/run/reaper.h"
#include "worker/run/run.h"

#include <getopt.h>
#include <signal.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

enum { EXIT_WRONG_USAGE = 2 };

static const char USAGE[] =
	"Usage: podium-run [--directory DIR] [--user NAME] [--python PATH] [--once]\n"
	"       podium-run --find-python[=PATH] [--user NAME]\n"
	"       podium-run --check-host[=json] [--directory DIR] [--user NAME]\n"
	"\n"
	"Reads jobs from standard input, one line of JSON each, runs them one at a time and writes events to\n"
	"standard output.\n"
	"\n"
	"  --directory DIR       where jobs are unpacked (default: $TMPDIR, else /tmp)\n"
	"  --user NAME           who submissions run as when podium-run is root (default: nobody)\n"
	"  --python PATH         the interpreter of the jobs that will come: it begins to import torch at once\n"
	"  --once                end after one job; the end of input does not cancel it\n"
	"  --find-python[=PATH]  print the interpreter for Python tasks, PATH or else the first python3 on the\n"
	"                        PATH or in /usr/bin that this user can start and that can import torch\n"
	"  --check-host[=json]   say what this host offers and lacks, what that costs and how to mend it; as words, or\n"
	"                        as one line of JSON\n"
	"  --help, --version\n"
	"\n"
	"Exit codes: 0 end of input or told to end, 1 failed (a sentence is on standard error, except that\n"
	"--find-python says nothing when there is no such interpreter, and --check-host has found a fault), 2 wrong usage.\n";

struct options {
	const char *directory, *user, *python;
	bool once, find_python, check_host, as_json;
};

enum { OPTION_DIRECTORY = 1, OPTION_USER, OPTION_ONCE, OPTION_PYTHON, OPTION_FIND_PYTHON, OPTION_CHECK_HOST, OPTION_HELP, OPTION_VERSION };

/* Returns -1 to go on, else the exit code. */
static int read_options(int count, char **words, struct options *options)
{
	static const struct option known[] = {
		{ "directory", required_argument, NULL, OPTION_DIRECTORY }, { "user", required_argument, NULL, OPTION_USER },
		{ "once", no_argument, NULL, OPTION_ONCE }, { "python", required_argument, NULL, OPTION_PYTHON },
		{ "find-python", optional_argument, NULL, OPTION_FIND_PYTHON }, { "check-host", optional_argument, NULL, OPTION_CHECK_HOST },
		{ "help", no_argument, NULL, OPTION_HELP }, { "version", no_argument, NULL, OPTION_VERSION }, { 0 },
	};
	for (int option; (option = getopt_long(count, words, "", known, NULL)) != -1;) {
		switch (option) {
		case OPTION_DIRECTORY: options->directory = optarg; break;
		case OPTION_USER: options->user = optarg; break;
		case OPTION_ONCE: options->once = true; break;
		case OPTION_PYTHON: options->python = optarg; break;
		case OPTION_FIND_PYTHON: options->find_python = true; options->python = optarg; break;
		case OPTION_CHECK_HOST: options->check_host = true; options->as_json = optarg != NULL; break;
		case OPTION_HELP: fputs(USAGE, stdout); return EXIT_SUCCESS;
		case OPTION_VERSION: puts("podium-run " PODIUM_VERSION); return EXIT_SUCCESS;
		default: fputs("Try podium-run --help.\n", stderr); return EXIT_WRONG_USAGE;
		}
	}
	if (optind == count)
		return -1;
	fprintf(stderr, "podium-run: \"%s\" is no option. Try podium-run --help.\n", words[optind]);
	return EXIT_WRONG_USAGE;
}

static int find_python(const struct account *account, const char *candidate)
{
	cleanup_free char *python = machine_find_python(account, candidate);
	if (!python)
		return EXIT_FAILURE;
	puts(python);
	return EXIT_SUCCESS;
}

static int check_host(const struct account *account, const struct options *options)
{
	cleanup_arena struct arena *arena = arena_new();
	cleanup_free char *python = options->as_json ? NULL : machine_find_python(account, NULL);
	json_t *checks = host_checks(&(struct host){ .arena = arena, .root = "", .directory = options->directory });
	bool good = true;
	if (options->as_json)
		json_dumpf(checks, stdout, JSON_COMPACT);
	else
		good = host_say(checks, account->name, python, stdout);
	putchar('\n');
	json_decref(checks);
	return good ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* False when it ended because of a fault. */
static bool run_jobs(struct inbox *inbox, struct events *events, int base, const struct options *options,
	const struct account *account)
{
	struct machine machine = machine_make(account);
	struct zygote zygote = zygote_none;
	bool good = true;
	if (options->python)
		zygote_start(&zygote, options->python);
	event_ready(events);
	for (json_t *message; good && (message = inbox_next(inbox));) {
		good = run_job(message, base, options->directory, account, &machine, &zygote, inbox, events);
		json_decref(message);
		inbox->running = -1;
		if (options->once)
			break;
	}
	zygote_end(&zygote);
	machine_free(&machine);
	if (events->lost)
		log_error("Nobody reads the events any more.");
	return good && !events->lost;
}

static int serve(const struct options *options, const struct account *account, struct error *error)
{
	struct events events = { .descriptor = STDOUT_FILENO };
	struct inbox inbox;
	cleanup_fd int base = workspace_base(options->directory, account, error);
	if (base < 0 || inbox_open(&inbox, &events, options->once, error))
		return error->code;
	bool good = run_jobs(&inbox, &events, base, options, account);
	inbox_close(&inbox);
	return good ? 0 : ERROR_SYSTEM;
}

int main(int count, char **words)
{
	const char *temporary = getenv("TMPDIR");
	struct options options = { .directory = temporary && temporary[0] ? temporary : "/tmp", .user = "nobody" };
	struct account account;
	struct error error = {0};
	log_open("podium-run");
	int code = read_options(count, words, &options);
	if (code >= 0)
		return code;
	signal(SIGPIPE, SIG_IGN);
	/* Else a submission of the same user could reach into this process or write events through /proc. */
	prctl(PR_SET_DUMPABLE, 0);
	if (sodium_init() < 0 || account_find(options.user, &account, &error) || reaper_open(&error)) {
		log_error("%s", error.text[0] ? error.text : "The system gives no random numbers.");
		return EXIT_FAILURE;
	}
	if (options.find_python)
		return find_python(&account, options.python);
	if (options.check_host)
		return check_host(&account, &options);
	if (serve(&options, &account, &error) == 0)
		return EXIT_SUCCESS;
	if (error.text[0])
		log_error("%s", error.text);
	return EXIT_FAILURE;
}
