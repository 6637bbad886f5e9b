/* podium: the participant's command-line client. docs/podium.md is its manual; commands.c has the
 * table of commands. */
#include "cli/podium/command.h"
#include "cli/podium/podium.h"

#include "lib/base/buffer.h"
#include "lib/base/log.h"
#include "lib/base/nearest.h"
#include "lib/base/text.h"

#include <sodium.h>
#include <string.h>

static int print_help(void)
{
	puts("Usage: podium COMMAND [ARGUMENTS]\n\nCommands; `podium COMMAND --help` explains each:\n");
	for (const struct command *command = COMMANDS; command->name; command++)
		printf("  %-10s %s\n", command->name, command->meaning);
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

static int print_command_help(const struct command *command)
{
	cleanup_buffer struct buffer text = { 0 };
	command_help(&text, command);
	fputs(text.data, stdout);
	return podium_done;
}

static int refuse_command(struct arena *arena, const char *name)
{
	const char *names[64], *near = NULL;
	struct error error = { 0 };
	size_t count = 0;
	for (const struct command *command = COMMANDS; command->name; command++)
		names[count++] = command->name;
	size_t found = nearest_names(arena, name, names, count, &near, 1);
	fail(&error, ERROR_INPUT,
		"There is no command \"%.80s\"%s%s%s. podium --help lists the commands.", name,
		found ? "; \"" : "", found ? near : "", found ? "\" is one" : "");
	return podium_complain(&error, podium_misused);
}

static int run_command(int argc, char **argv)
{
	cleanup_arena struct arena *arena = arena_new();
	const struct command *command = command_find(argv[0]);
	struct error error = { 0 };
	struct call call;
	if (!command)
		return refuse_command(arena, argv[0]);
	if (asks_for_help(argc, argv))
		return print_command_help(command);
	if (call_read(arena, command, argc, argv, &call, &error))
		return podium_complain(&error, podium_misused);
	return command->run(&call);
}

static int run_podium(int argc, char **argv)
{
	struct error error = { 0 };
	if (argc < 2) {
		fputs("Usage: podium COMMAND [ARGUMENTS]; podium --help lists the commands.\n", stderr);
		return podium_misused;
	}
	if (sodium_init() < 0) {
		fail(&error, ERROR_SYSTEM, "The system provides no random numbers.");
		return podium_complain(&error, podium_cannot);
	}
	if (strcmp(argv[1], "--help") == 0)
		return print_help();
	if (strcmp(argv[1], "--version") == 0)
		return puts("podium " PODIUM_VERSION) < 0;
	return run_command(argc - 1, argv + 1);
}

int main(int argc, char **argv)
{
	log_open("podium");
	int code = run_podium(argc, argv);
	if (fflush(stdout) != 0) {
		perror("podium: standard output");
		return code == podium_done ? podium_cannot : code;
	}
	return code;
}
