/* `podium manual`: generates the manual page podium(1) from the table of commands. */
#include "cli/podium/commands.h"

#include "cli/podium/podium.h"
#include "lib/base/buffer.h"
#include "lib/base/manual.h"
#include "lib/base/scope.h"

#include <stdio.h>

static void add_command(struct buffer *out, const struct command *command)
{
	const struct command_option *options[command_most_options];
	size_t count = command_options(command, options);
	cleanup_buffer struct buffer name = { 0 };
	buffer_printf(&name, "podium %s", command->name);
	manual_subsection(out, name.data, command->arguments);
	manual_text(out, command->about);
	for (size_t i = 0; i < count; i++) {
		buffer_clear(&name);
		buffer_printf(&name, "--%s", options[i]->name);
		manual_item(
			out, name.data, options[i]->value ? options[i]->value : "", options[i]->meaning);
	}
}

static void add_codes(struct buffer *out)
{
	static const struct {
		const char *code, *meaning;
	} CODES[] = {
		{ "0", "done; of a submission: passed" },
		{ "1", "a verdict that this version does not know" },
		{ "2", "wrong usage, or something that the server does not take" },
		{ "3", "internal error, or cancelled; check: could not be run here" },
		{ "4", "not signed in, or not allowed" },
		{ "5", "the server cannot be reached, or cannot be used now" },
		{ "10", "wrong answer" },
		{ "11", "compile error" },
		{ "12", "runtime error" },
		{ "13", "time limit" },
		{ "14", "memory limit" },
		{ "15", "output limit" },
		{ "16", "protocol violation" },
		{ "128 + N",
			"ended by the signal N: 130 after Ctrl-C. A submission that was waited for goes on" },
	};
	manual_section(out, "EXIT STATUS");
	for (size_t i = 0; i < COUNT(CODES); i++)
		manual_item(out, CODES[i].code, "", CODES[i].meaning);
}

static void add_environment(struct buffer *out)
{
	static const struct {
		const char *name, *meaning;
	} VARIABLES[] = {
		{ "PODIUM_SERVER",
			"the server where no --server is given: a name of the settings, or an address" },
		{ "PODIUM_TOKEN", "the token for PODIUM_SERVER; it goes to no other server" },
		{ "PODIUM_SERVERS", "the file with the settings, instead of ~/.config/podium/config" },
		{ "PODIUM_TIMEOUT_S", "how long one answer may take; default: 60" },
		{ "PODIUM_RETRY_MS",
			"the first pause before something is tried again; default: 500, then twice as long "
			"each time" },
		{ "PODIUM_PATIENCE_S",
			"how long a server may be away while a submission is waited for; default: 900" },
		{ "NO_COLOR", "no colours where it is set" },
		{ "https_proxy, no_proxy",
			"as libcurl understands them; a server on this machine is never asked through a "
			"proxy" },
	};
	manual_section(out, "ENVIRONMENT");
	for (size_t i = 0; i < COUNT(VARIABLES); i++)
		manual_item(out, VARIABLES[i].name, "", VARIABLES[i].meaning);
}

int manual_command(const struct call *call)
{
	cleanup_buffer struct buffer out = { 0 };
	(void)call;
	manual_begin(&out, "podium", 1, "User commands", "submit GPU kernels to a leaderboard");
	manual_section(&out, "SYNOPSIS");
	manual_synopsis(&out, "podium", "COMMAND [ARGUMENTS]");
	manual_section(&out, "DESCRIPTION");
	manual_text(&out,
		"What a participant does with a Podium from a terminal: fetch a task, try a submission at "
		"home, send it, wait for\n"
		"its result and compare it with others. \"podium COMMAND --help\" says what a command "
		"takes. The number of a\n"
		"submission may also be given as #NUMBER or as the address of its page.\n");
	manual_section(&out, "COMMANDS");
	for (const struct command *command = COMMANDS; command->name; command++)
		add_command(&out, command);
	add_codes(&out);
	add_environment(&out);
	manual_section(&out, "FILES");
	manual_item(&out, "~/.config/podium/config", "",
		"the servers and their tokens. It is not read where others can read it.");
	fputs(out.data, stdout);
	return podium_done;
}
