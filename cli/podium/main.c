/* podium: what a participant does with leaderboards from a terminal. docs/podium.md is its manual. */
#include "cli/podium/podium.h"

#include "lib/buffer.h"
#include "lib/log.h"
#include "lib/scope.h"
#include "lib/text.h"

#include <string.h>

static const struct command {
	const char *name;
	podium_command *run;
	const char *help;      /* the whole text of its --help */
	const char *meaning;
} COMMANDS[] = {
	{ "check", check_command, check_help, "run a submission on this machine as the server would" },
};

int podium_complain(const struct error *error, int code)
{
	cleanup_buffer struct buffer line = {0};
	text_append_printable(&line, error->text);
	fprintf(stderr, "podium: %s\n", buffer_string(&line));
	return code;
}

static int help(void)
{
	puts("Usage: podium COMMAND [ARGUMENTS]\n\nCommands; `podium COMMAND --help` explains each:\n");
	for (size_t i = 0; i < COUNT(COMMANDS); i++)
		printf("  %-8s %s\n", COMMANDS[i].name, COMMANDS[i].meaning);
	puts("\n  --help, --version");
	return podium_done;
}

static bool asks_for_help(int argc, char **argv)
{
	for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
		if (strcmp(argv[i], "--help") == 0)
			return true;
	return false;
}

static int run_command(int argc, char **argv)
{
	struct error error = {0};
	for (size_t i = 0; i < COUNT(COMMANDS); i++) {
		if (strcmp(COMMANDS[i].name, argv[0]) != 0)
			continue;
		if (!asks_for_help(argc, argv))
			return COMMANDS[i].run(argc, argv);
		fputs(COMMANDS[i].help, stdout);
		return podium_done;
	}
	fail(&error, ERROR_INPUT, "There is no command \"%.80s\"; podium --help lists them.", argv[0]);
	return podium_complain(&error, podium_misused);
}

static int run(int argc, char **argv)
{
	if (argc < 2) {
		fputs("Usage: podium COMMAND [ARGUMENTS]; podium --help lists the commands.\n", stderr);
		return podium_misused;
	}
	if (strcmp(argv[1], "--help") == 0)
		return help();
	if (strcmp(argv[1], "--version") == 0)
		return puts("podium " PODIUM_VERSION) < 0;
	return run_command(argc - 1, argv + 1);
}

int main(int argc, char **argv)
{
	log_open("podium");
	int code = run(argc, argv);
	if (fflush(stdout) != 0) {
		perror("podium: standard output");
		return code == podium_done ? podium_cannot : code;
	}
	return code;
}
