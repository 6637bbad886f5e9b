/* A table row describes each command of podium: its name, arguments, options and help. The argument
 * parser, --help, shell completion and the manual all read that row, so they cannot disagree.
 *
 * A command receives its arguments as a `struct call`, prints results on stdout and errors on
 * stderr, and returns the exit code. */
#ifndef PODIUM_CLI_PODIUM_COMMAND_H
#define PODIUM_CLI_PODIUM_COMMAND_H

#include "lib/base/arena.h"
#include "lib/base/buffer.h"
#include "lib/base/error.h"

#include <stdbool.h>
#include <stddef.h>

enum { command_most_options = 20, command_most_values = 64 };

/* How a shell completes an argument. */
enum word_kind { WORD_ANY, WORD_FILE, WORD_FOLDER, WORD_CHOICE };

struct command_option {
	const char *name;  /* without the dashes */
	const char *value; /* the value's name in the help, such as "MODE"; NULL: takes no value */
	const char *meaning;
	enum word_kind kind;        /* how a shell completes the value */
	const char *const *choices; /* ended by NULL; if `kind` is WORD_CHOICE */
};

struct call;
struct command {
	const char *name;
	int (*run)(const struct call *call);
	const char *arguments; /* their names in the help, such as "FILE" or "A B"; "": none */
	size_t least, most;    /* number of arguments */
	const char *lacking;   /* the error message for too few arguments */
	/* The error message for too many arguments, without its full stop, such as "podium check takes
	 * one file". */
	const char *surplus;
	enum word_kind kind;        /* how a shell completes the arguments */
	const char *const *choices; /* ended by NULL; if `kind` is WORD_CHOICE */
	bool talks;                 /* the command talks to a server, so it takes SERVER_OPTIONS */
	const char *meaning;        /* for the list of commands */
	const char *about;          /* paragraphs of the help, at most 79 columns wide */
	const char *notes;          /* printed after the options; or NULL */
	/* The list ends with an option whose name is NULL. */
	const struct command_option options[command_most_options];
};

/* All commands, in a table that ends with a row whose name is NULL; defined in commands.c. */
extern const struct command COMMANDS[];

/* The options of every command that talks to a server. The list ends with an option whose name is
 * NULL. */
extern const struct command_option SERVER_OPTIONS[];

/* Returns NULL if no command has that name. */
const struct command *command_find(const char *name);

/* Lists all options of a command, its specific ones first, and returns their number. */
size_t command_options(
	const struct command *command, const struct command_option *all[command_most_options]);

struct call {
	struct arena *arena;
	const struct command *command;
	const char *const *arguments;
	size_t count;
	struct {
		const char *name, *value;
	} given[command_most_values];
	size_t given_count;
};

/* Parses argv; argv[0] is the command's name. Options may appear anywhere before "--".
 * ERROR_INPUT if the arguments are wrong. */
int call_read(struct arena *arena, const struct command *command, int argc, char **argv,
	struct call *call, struct error *error);

bool call_has(const struct call *call, const char *option);

/* Returns the option's last value, or NULL if the option is not given. */
const char *call_value(const struct call *call, const char *option);

/* Lists all values of the option in order, at most `most`, and returns their number. */
size_t call_values(const struct call *call, const char *option, const char **values, size_t most);

/* Reads an argument that names a submission: 12, #12, or the address of the submission's page.
 * ERROR_INPUT if the argument has another form. */
int call_id(const struct call *call, size_t argument, long long *id, struct error *error);

/* Reads the option's value, a whole number from `least` to `most`. A missing option has the value
 * `fallback`. ERROR_INPUT if the value is no such number. */
int call_number(const struct call *call, const char *option, long long least, long long most,
	long long fallback, long long *number, struct error *error);

/* Appends the text that --help prints, starting with "Usage: podium NAME ...". */
void command_help(struct buffer *out, const struct command *command);

#endif
