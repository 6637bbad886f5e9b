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
		{ "0", "done; for a submission: passed" },
		{ "1", "a verdict that this version does not know" },
		{ "2", "wrong usage, or the server refused the input" },
		{ "3", "internal error, or cancelled; podium check: could not run here" },
		{ "4", "not signed in, or not allowed" },
		{ "5", "the server cannot be reached, or cannot be used now" },
		{ "10", "wrong answer" },
		{ "11", "compile error" },
		{ "12", "runtime error" },
		{ "13", "time limit" },
		{ "14", "memory limit" },
		{ "15", "output limit" },
		{ "16", "protocol violation" },
		{ "128 + N", "ended by the signal N: 130 after Ctrl-C. The submission continues" },
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
			"the server to use without --server: a name in the settings, or an address" },
		{ "PODIUM_TOKEN", "the token for PODIUM_SERVER; podium sends it to no other server" },
		{ "PODIUM_SERVERS", "the file with the settings, instead of ~/.config/podium/config" },
		{ "PODIUM_TIMEOUT_S", "limit for one answer, in seconds; default: 60" },
		{ "PODIUM_RETRY_MS",
			"the pause before the first retry, in milliseconds; each further pause doubles; "
			"default: 500" },
		{ "PODIUM_PATIENCE_S",
			"how long podium waits for an unreachable server while it follows a submission, in "
			"seconds; default: 900" },
		{ "NO_COLOR", "if set, podium prints no colours" },
		{ "https_proxy, no_proxy",
			"as in libcurl; podium never uses a proxy for a server on this machine" },
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
		"podium is the participants' command: download a task, check a submission on\n"
		"your own machine, send it, wait for its result and compare it with others.\n"
		"\"podium COMMAND --help\" lists the options of a command. You can give a\n"
		"submission's number also as #NUMBER or as the address of its page.\n");
	manual_section(&out, "COMMANDS");
	for (const struct command *command = COMMANDS; command->name; command++)
		add_command(&out, command);
	add_codes(&out);
	add_environment(&out);
	manual_section(&out, "FILES");
	manual_item(&out, "~/.config/podium/config", "",
		"the servers and their tokens. podium refuses to read it if others can read it too.");
	fputs(out.data, stdout);
	return podium_done;
}
