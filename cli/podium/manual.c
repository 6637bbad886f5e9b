/* `podium manual`: the table of commands as the manual page podium(1). */
#include "cli/podium/commands.h"

#include "cli/podium/podium.h"
#include "lib/buffer.h"
#include "lib/scope.h"

#include <stdio.h>
#include <string.h>

/* Text for man: a backslash is one, a hyphen is one, and no line begins a request. */
static void add_text(struct buffer *out, const char *text)
{
	for (bool begins = true; *text; begins = *text == '\n', text++) {
		if (begins && (*text == '.' || *text == '\''))
			buffer_text(out, "\\&");
		if (*text == '\\')
			buffer_text(out, "\\e");
		else if (*text == '-')
			buffer_text(out, "\\-");
		else
			buffer_byte(out, *text);
	}
}

static void add_section(struct buffer *out, const char *request, const char *title)
{
	buffer_printf(out, "%s %s\n", request, title);
}

static void add_option(struct buffer *out, const struct command_option *option)
{
	buffer_text(out, ".TP\n\\fB\\-\\-");
	add_text(out, option->name);
	buffer_text(out, "\\fR");
	if (option->value) {
		buffer_text(out, " \\fI");
		add_text(out, option->value);
		buffer_text(out, "\\fR");
	}
	buffer_byte(out, '\n');
	add_text(out, option->meaning);
	buffer_byte(out, '\n');
}

static void add_command(struct buffer *out, const struct command *command)
{
	const struct command_option *options[command_most_options];
	size_t count = command_options(command, options);
	buffer_text(out, ".SS \"podium ");
	add_text(out, command->name);
	buffer_printf(out, "%s", *command->arguments ? " " : "");
	add_text(out, command->arguments);
	buffer_text(out, "\"\n");
	add_text(out, command->about);
	for (size_t i = 0; i < count; i++)
		add_option(out, options[i]);
}

static void add_codes(struct buffer *out)
{
	static const struct { const char *code, *meaning; } CODES[] = {
		{ "0", "done; of a submission: passed" },
		{ "1", "a verdict that this version does not know" },
		{ "2", "wrong usage, or something that the server does not take" },
		{ "3", "internal error, or cancelled; check: could not be run here" },
		{ "4", "not signed in, or not allowed" },
		{ "5", "the server cannot be reached, or cannot be used now" },
		{ "10", "wrong answer" }, { "11", "compile error" }, { "12", "runtime error" }, { "13", "time limit" },
		{ "14", "memory limit" }, { "15", "output limit" }, { "16", "protocol violation" },
		{ "128 + N", "ended by the signal N: 130 after Ctrl-C. A submission that was waited for goes on" },
	};
	add_section(out, ".SH", "EXIT STATUS");
	for (size_t i = 0; i < COUNT(CODES); i++) {
		buffer_printf(out, ".TP\n\\fB%s\\fR\n", CODES[i].code);
		add_text(out, CODES[i].meaning);
		buffer_byte(out, '\n');
	}
}

static void add_environment(struct buffer *out)
{
	static const struct { const char *name, *meaning; } VARIABLES[] = {
		{ "PODIUM_SERVER", "the server where no --server is given: a name of the settings, or an address" },
		{ "PODIUM_TOKEN", "the token for PODIUM_SERVER; it goes to no other server" },
		{ "PODIUM_SERVERS", "the file with the settings, instead of ~/.config/podium/config" },
		{ "PODIUM_TIMEOUT_S", "how long one answer may take; default: 60" },
		{ "PODIUM_RETRY_MS", "the first pause before something is tried again; default: 500, then twice as long each time" },
		{ "PODIUM_PATIENCE_S", "how long a server may be away while a submission is waited for; default: 900" },
		{ "NO_COLOR", "no colours where it is set" },
		{ "https_proxy, no_proxy", "as libcurl understands them; a server on this machine is never asked through a proxy" },
	};
	add_section(out, ".SH", "ENVIRONMENT");
	for (size_t i = 0; i < COUNT(VARIABLES); i++) {
		buffer_printf(out, ".TP\n\\fB%s\\fR\n", VARIABLES[i].name);
		add_text(out, VARIABLES[i].meaning);
		buffer_byte(out, '\n');
	}
}

int manual_command(const struct call *call)
{
	cleanup_buffer struct buffer out = {0};
	(void)call;
	buffer_text(&out, ".TH PODIUM 1 \"\" \"podium " PODIUM_VERSION "\" \"User commands\"\n.SH NAME\n"
		"podium \\- submit GPU kernels to a leaderboard\n.SH SYNOPSIS\n"
		"\\fBpodium\\fR \\fICOMMAND\\fR [\\fIARGUMENTS\\fR]\n.SH DESCRIPTION\n");
	add_text(&out, "What a participant does with a Podium from a terminal: fetch a task, try a submission at home, send it, wait for\n"
		"its result and compare it with others. \"podium COMMAND --help\" says what a command takes. The number of a\n"
		"submission may also be given as #NUMBER or as the address of its page.\n");
	add_section(&out, ".SH", "COMMANDS");
	for (const struct command *command = COMMANDS; command->name; command++)
		add_command(&out, command);
	add_codes(&out);
	add_environment(&out);
	add_section(&out, ".SH", "FILES");
	buffer_text(&out, ".TP\n\\fB~/.config/podium/config\\fR\n");
	add_text(&out, "the servers and their tokens. It is not read where others can read it.\n");
	fputs(out.data, stdout);
	return podium_done;
}
