/* A command of podium as a row of a table: what it is called, takes and means. The parsing of its
 * arguments, its --help, the completion of shells and the manual are made from that row, so that
 * they cannot disagree.
 *
 * A command gets its arguments as a `struct call`, prints what it found on stdout and what went
 * wrong on stderr, and returns the exit code. */
#ifndef PODIUM_CLI_PODIUM_COMMAND_H
#define PODIUM_CLI_PODIUM_COMMAND_H

#include "lib/arena.h"
#include "lib/buffer.h"
#include "lib/error.h"

#include <stdbool.h>
#include <stddef.h>

enum { command_most_options = 20, command_most_values = 64 };

/* What a shell completes an argument with. */
enum word_kind { WORD_ANY, WORD_FILE, WORD_FOLDER, WORD_CHOICE };

struct command_option {
	const char *name;  /* without the dashes */
	const char *value; /* "MODE" as the help names it; NULL: it takes none */
	const char *meaning;
	enum word_kind kind;
	const char *const *choices; /* of WORD_CHOICE, NULL behind the last one */
};

struct call;
struct command {
	const char *name;
	int (*run)(const struct call *call);
	const char *arguments; /* "FILE", "A B"; "" */
	size_t least, most;    /* of these */
	const char *lacking;   /* what to say where there are too few */
	const char *surplus; /* and the beginning of that where there are too many: "One file is checked
	                        at a time" */
	enum word_kind kind; /* of the arguments */
	const char *const *choices; /* where they are WORD_CHOICE */
	bool talks;                 /* to a server: it takes the options of all that do */
	const char *meaning;        /* for the list of commands */
	const char *about;          /* paragraphs for its help, lines of 79 columns at most */
	const char *notes;          /* after the options; NULL: nothing */
	const struct command_option
		options[command_most_options]; /* one without a name behind the last */
};

/* The whole table, ended by one without a name. commands.c */
extern const struct command COMMANDS[];

/* What all commands that talk to a server take, ended likewise. */
extern const struct command_option SERVER_OPTIONS[];

/* NULL: there is none of that name. */
const struct command *command_find(const char *name);

/* All options of a command, its own first; the return value is their number. */
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

/* Reads argv, whose first is the command's name. Options may stand anywhere before "--".
 * ERROR_INPUT says what is wrong. */
int call_read(struct arena *arena, const struct command *command, int argc, char **argv,
	struct call *call, struct error *error);

bool call_has(const struct call *call, const char *option);
const char *call_value(
	const struct call *call, const char *option); /* the last one; NULL: not given */
size_t call_values(const struct call *call, const char *option, const char **values,
	size_t most); /* all, in order */

/* An argument that is the number of a submission: 12 or #12, or the address of its page.
 * ERROR_INPUT. */
int call_id(const struct call *call, size_t argument, long long *id, struct error *error);

/* A whole number within bounds, `fallback` where the option is not given. ERROR_INPUT. */
int call_number(const struct call *call, const char *option, long long least, long long most,
	long long fallback, long long *number, struct error *error);

/* "Usage: podium NAME ..." with everything it takes, as --help prints it. */
void command_help(struct buffer *out, const struct command *command);

#endif
