#include "cli/podium/command.h"

#include "lib/base/scope.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

const struct command *command_find(const char *name)
{
	for (const struct command *command = COMMANDS; command->name; command++)
		if (strcmp(command->name, name) == 0)
			return command;
	return NULL;
}

size_t command_options(
	const struct command *command, const struct command_option *all[command_most_options])
{
	size_t count = 0;
	for (const struct command_option *option = command->options; option->name; option++)
		all[count++] = option;
	for (const struct command_option *option = SERVER_OPTIONS; command->talks && option->name;
		 option++)
		all[count++] = option;
	return count;
}

/* ---- reading ---- */

static int check_choice(const struct command_option *option, const char *value, struct error *error)
{
	cleanup_buffer struct buffer words = { 0 };
	if (option->kind != WORD_CHOICE)
		return 0;
	for (const char *const *choice = option->choices; *choice; choice++) {
		if (strcmp(*choice, value) == 0)
			return 0;
		buffer_printf(&words, "%s%s",
			choice == option->choices ? ""
				: choice[1]           ? ", "
									  : " or ",
			*choice);
	}
	return fail(error, ERROR_INPUT, "There is no %s \"%.80s\". Choose %s.", option->name, value,
		buffer_string(&words));
}

static int take_option(
	struct call *call, const struct command_option *option, const char *value, struct error *error)
{
	if (call->given_count == command_most_values)
		return fail(error, ERROR_INPUT, "There are more than %d options. Leave some out.",
			(int)command_most_values);
	call->given[call->given_count].name = option->name;
	call->given[call->given_count++].value = value;
	return value ? check_choice(option, value, error) : 0;
}

static int check_count(const struct call *call, struct error *error)
{
	const struct command *command = call->command;
	if (call->count < command->least)
		return fail(error, ERROR_INPUT, "%s", command->lacking);
	if (call->count > command->most)
		return fail(error, ERROR_INPUT, "%s. Leave out \"%.80s\".", command->surplus,
			call->arguments[command->most]);
	return 0;
}

int call_read(struct arena *arena, const struct command *command, int argc, char **argv,
	struct call *call, struct error *error)
{
	const struct command_option *options[command_most_options];
	struct option known[command_most_options + 1] = { 0 };
	size_t count = command_options(command, options);
	*call = (struct call){ .arena = arena, .command = command };
	for (size_t i = 0; i < count; i++)
		known[i] = (struct option){ options[i]->name,
			options[i]->value ? required_argument : no_argument, NULL, 0 };
	optind = 1;
	for (int which = 0, option; (option = getopt_long(argc, argv, ":", known, &which)) != -1;) {
		if (option == ':')
			return fail(error, ERROR_INPUT,
				"%.80s needs a value. podium %s --help lists the options.", argv[optind - 1],
				command->name);
		if (option != 0)
			return fail(error, ERROR_INPUT,
				"There is no option %.80s. podium %s --help lists the options.", argv[optind - 1],
				command->name);
		if (take_option(call, options[which], optarg, error))
			return error->code;
	}
	call->arguments = (const char *const *)argv + optind;
	call->count = (size_t)(argc - optind);
	return check_count(call, error);
}

bool call_has(const struct call *call, const char *option)
{
	for (size_t i = 0; i < call->given_count; i++)
		if (strcmp(call->given[i].name, option) == 0)
			return true;
	return false;
}

const char *call_value(const struct call *call, const char *option)
{
	const char *value = NULL;
	for (size_t i = 0; i < call->given_count; i++)
		if (strcmp(call->given[i].name, option) == 0)
			value = call->given[i].value;
	return value;
}

size_t call_values(const struct call *call, const char *option, const char **values, size_t most)
{
	size_t count = 0;
	for (size_t i = 0; i < call->given_count && count < most; i++)
		if (strcmp(call->given[i].name, option) == 0)
			values[count++] = call->given[i].value;
	return count;
}

int call_id(const struct call *call, size_t argument, long long *id, struct error *error)
{
	const char *text = call->arguments[argument], *page = strstr(text, "/submission/");
	const char *digits = page ? page + strlen("/submission/") : text + (*text == '#');
	char *end;
	errno = 0;
	*id = strtoll(digits, &end, 10);
	if (errno || end == digits || *end || *id <= 0 || *digits == '+')
		return fail(error, ERROR_INPUT,
			"\"%.80s\" is not the number of a submission. podium history lists yours.", text);
	return 0;
}

int call_number(const struct call *call, const char *option, long long least, long long most,
	long long fallback, long long *number, struct error *error)
{
	const char *text = call_value(call, option);
	char *end;
	*number = fallback;
	if (!text)
		return 0;
	errno = 0;
	*number = strtoll(text, &end, 10);
	if (errno || end == text || *end || *number < least || *number > most)
		return fail(error, ERROR_INPUT,
			"--%s must be a whole number from %lld to %lld, not \"%.40s\".", option, least, most,
			text);
	return 0;
}

/* ---- help ---- */

static void write_synopsis(struct buffer *out, const struct command *command)
{
	bool takes = command->talks || command->options[0].name;
	buffer_printf(out, "Usage: podium %s", command->name);
	if (*command->arguments)
		buffer_printf(out, " %s", command->arguments);
	buffer_text(out, takes ? " [OPTIONS]\n" : "\n");
}

static void write_option(struct buffer *out, const struct command_option *option)
{
	cleanup_buffer struct buffer left = { 0 };
	buffer_printf(&left, "--%s%s%s", option->name, option->value ? " " : "",
		option->value ? option->value : "");
	buffer_printf(out, "  %-19s %s\n", buffer_string(&left), option->meaning);
}

void command_help(struct buffer *out, const struct command *command)
{
	const struct command_option *options[command_most_options];
	size_t count = command_options(command, options);
	write_synopsis(out, command);
	buffer_printf(out, "\n%s\n", command->about);
	for (size_t i = 0; i < count; i++)
		write_option(out, options[i]);
	write_option(out, &(struct command_option){ .name = "help", .meaning = "print this" });
	if (command->notes)
		buffer_printf(out, "\n%s", command->notes);
}
