/* `podium completion SHELL`: generates a completion script from the table of commands. */
#include "cli/podium/commands.h"

#include "cli/podium/podium.h"
#include "lib/base/buffer.h"
#include "lib/base/scope.h"

#include <stdio.h>
#include <string.h>

static void join_choices(struct buffer *out, const char *const *choices)
{
	for (const char *const *choice = choices; *choice; choice++)
		buffer_printf(out, "%s%s", choice == choices ? "" : " ", *choice);
}

static void join_commands(struct buffer *out)
{
	for (const struct command *command = COMMANDS; command->name; command++)
		buffer_printf(out, "%s%s", command == COMMANDS ? "" : " ", command->name);
}

/* ---- bash ---- */

static void bash_words(struct buffer *out, enum word_kind kind, const char *const *choices)
{
	static const char *const BUILTIN[] = {
		[WORD_FILE] = "compgen -f", [WORD_FOLDER] = "compgen -d"
	};
	if (kind == WORD_CHOICE) {
		buffer_text(out, "words='");
		join_choices(out, choices);
		buffer_text(out, "'");
	} else if (kind != WORD_ANY) {
		buffer_printf(out,
			"mapfile -t COMPREPLY < <(%s -- \"$word\"); compopt -o filenames; return",
			BUILTIN[kind]);
	} else {
		buffer_text(out, "return");
	}
}

static void bash_command(struct buffer *out, const struct command *command)
{
	const struct command_option *options[command_most_options];
	size_t count = command_options(command, options);
	buffer_printf(out, "\t%s)\n\t\tcase $before in\n", command->name);
	for (size_t i = 0; i < count; i++)
		if (options[i]->value) {
			buffer_printf(out, "\t\t--%s) ", options[i]->name);
			bash_words(out, options[i]->kind, options[i]->choices);
			buffer_text(out, " ;;\n");
		}
	buffer_text(out, "\t\t*)\n\t\t\tif [[ $word == -* ]]; then\n\t\t\t\twords='");
	for (size_t i = 0; i < count; i++)
		buffer_printf(out, "--%s ", options[i]->name);
	buffer_text(out, "--help'\n\t\t\telse\n\t\t\t\t");
	bash_words(out, command->kind, command->choices);
	buffer_text(out, "\n\t\t\tfi ;;\n\t\tesac ;;\n");
}

static void write_bash(struct buffer *out)
{
	buffer_text(out,
		"# bash completion for podium; made by: podium completion bash\n_podium() {\n"
		"\tlocal word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} words=''\n"
		"\tCOMPREPLY=()\n\tif [ \"$COMP_CWORD\" -eq 1 ]; then\n\t\tmapfile -t COMPREPLY < "
		"<(compgen -W '");
	join_commands(out);
	buffer_text(
		out, " --help --version' -- \"$word\")\n\t\treturn\n\tfi\n\tcase ${COMP_WORDS[1]} in\n");
	for (const struct command *command = COMMANDS; command->name; command++)
		bash_command(out, command);
	buffer_text(out,
		"\tesac\n\tmapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$word\")\n}\ncomplete -F "
		"_podium podium\n");
}

/* ---- zsh ---- */

/* Escapes text for zsh's _arguments: inside single quotes, and with backslashes before [ ] : \,
 * which have a meaning there. */
static void zsh_text(struct buffer *out, const char *text)
{
	for (; *text; text++)
		if (*text == '\'')
			buffer_text(out, "'\\''");
		else
			buffer_printf(out, "%s%c", strchr("[]:\\", *text) ? "\\" : "", *text);
}

static void zsh_action(struct buffer *out, enum word_kind kind, const char *const *choices)
{
	static const char *const ACTIONS[] = {
		[WORD_ANY] = " ", [WORD_FILE] = "_files", [WORD_FOLDER] = "_files -/"
	};
	if (kind != WORD_CHOICE) {
		buffer_text(out, ACTIONS[kind]);
		return;
	}
	buffer_byte(out, '(');
	join_choices(out, choices);
	buffer_byte(out, ')');
}

static void zsh_command(struct buffer *out, const struct command *command)
{
	const struct command_option *options[command_most_options];
	size_t count = command_options(command, options);
	buffer_printf(out, "\t%s)\n\t\t_arguments \\\n", command->name);
	for (size_t i = 0; i < count; i++) {
		buffer_printf(out, "\t\t\t'*--%s[", options[i]->name);
		zsh_text(out, options[i]->meaning);
		buffer_text(out, "]");
		if (options[i]->value) {
			buffer_text(out, ":");
			zsh_text(out, options[i]->value);
			buffer_text(out, ":");
			zsh_action(out, options[i]->kind, options[i]->choices);
		}
		buffer_text(out, "' \\\n");
	}
	buffer_text(out, "\t\t\t'--help[print the help]' \\\n\t\t\t'*:argument:");
	zsh_action(out, command->kind, command->choices);
	buffer_text(out, "' ;;\n");
}

static void write_zsh(struct buffer *out)
{
	buffer_text(out,
		"#compdef podium\n# zsh completion for podium; made by: podium completion zsh\n_podium() "
		"{\n"
		"\tif (( CURRENT == 2 )); then\n\t\tlocal -a commands=(\n");
	for (const struct command *command = COMMANDS; command->name; command++) {
		buffer_printf(out, "\t\t\t'%s:", command->name);
		zsh_text(out, command->meaning);
		buffer_text(out, "'\n");
	}
	buffer_text(out,
		"\t\t)\n\t\t_describe command commands\n\t\treturn\n\tfi\n\tlocal command=$words[2]\n"
		"\tshift words; (( CURRENT-- ))\n\tcase $command in\n");
	for (const struct command *command = COMMANDS; command->name; command++)
		zsh_command(out, command);
	buffer_text(out, "\tesac\n}\n_podium \"$@\"\n");
}

/* ---- fish ---- */

static void fish_text(struct buffer *out, const char *text)
{
	buffer_byte(out, '\'');
	for (; *text; text++)
		buffer_printf(out, "%s%c", strchr("'\\", *text) ? "\\" : "", *text);
	buffer_byte(out, '\'');
}

static void fish_words(struct buffer *out, enum word_kind kind, const char *const *choices)
{
	static const char *const RULES[] = { [WORD_ANY] = " -f",
		[WORD_FILE] = " -F",
		[WORD_FOLDER] = " -f -a '(__fish_complete_directories)'" };
	if (kind != WORD_CHOICE) {
		buffer_text(out, RULES[kind]);
		return;
	}
	buffer_text(out, " -f -a '");
	join_choices(out, choices);
	buffer_text(out, "'");
}

static void fish_command(struct buffer *out, const struct command *command)
{
	const struct command_option *options[command_most_options];
	size_t count = command_options(command, options);
	buffer_printf(out, "complete -c podium -n __fish_use_subcommand -f -a %s -d ", command->name);
	fish_text(out, command->meaning);
	buffer_printf(out, "\ncomplete -c podium -n '__fish_seen_subcommand_from %s'", command->name);
	fish_words(out, command->kind, command->choices);
	buffer_byte(out, '\n');
	for (size_t i = 0; i < count; i++) {
		buffer_printf(out, "complete -c podium -n '__fish_seen_subcommand_from %s' -l %s",
			command->name, options[i]->name);
		if (options[i]->value) {
			buffer_text(out, " -r");
			fish_words(out, options[i]->kind, options[i]->choices);
		}
		buffer_text(out, " -d ");
		fish_text(out, options[i]->meaning);
		buffer_byte(out, '\n');
	}
}

static void write_fish(struct buffer *out)
{
	buffer_text(out, "# fish completion for podium; made by: podium completion fish\n");
	for (const struct command *command = COMMANDS; command->name; command++)
		fish_command(out, command);
}

int completion_command(const struct call *call)
{
	static const struct {
		const char *shell;
		void (*write)(struct buffer *out);
	} SHELLS[] = {
		{ "bash", write_bash },
		{ "zsh", write_zsh },
		{ "fish", write_fish },
	};
	cleanup_buffer struct buffer out = { 0 };
	struct error error = { 0 };
	for (size_t i = 0; i < COUNT(SHELLS); i++)
		if (strcmp(SHELLS[i].shell, call->arguments[0]) == 0)
			SHELLS[i].write(&out);
	if (!out.length) {
		fail(&error, ERROR_INPUT, "There is no completion for \"%.40s\". Choose bash, zsh or fish.",
			call->arguments[0]);
		return podium_complain(&error, podium_misused);
	}
	fputs(out.data, stdout);
	return podium_done;
}
