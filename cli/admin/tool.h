/* Runs mariadb-dump and mariadb. Podium passes its settings in an option file in memory, the only
 * option file that the programs read. The file also holds the password, so no process list shows
 * the password. */
#ifndef PODIUM_CLI_ADMIN_TOOL_H
#define PODIUM_CLI_ADMIN_TOOL_H

#include "lib/base/config.h"
#include "lib/base/error.h"

#include <stdbool.h>
#include <sys/types.h>

/* Whether podium-admin reads the program's standard output or writes to its standard input. */
enum tool_direction { TOOL_READ, TOOL_WRITE };

struct tool {
	const char *name;
	pid_t pid;      /* 0: none */
	int pipe;       /* podium-admin's end of the pipe to the program */
	int complaints; /* a file in memory with the program's standard error */
};

/* Starts the program words[0] with the following words as arguments (ended by NULL, at most 400).
 */
int tool_start(struct tool *tool, const struct config *config, enum tool_direction direction,
	const char *const *words, struct error *error);

/* Closes the pipe and waits until the program exits. ERROR_DATABASE: the program failed; the error
 * has the last line of its standard error. ERROR_SYSTEM: the program failed without a message, or
 * is not installed. ERROR_CONFLICT: a signal interrupted podium-admin meanwhile. */
int tool_finish(struct tool *tool, struct error *error);

/* Kills a program that is no longer needed. Does nothing after tool_finish. */
void tool_stop(struct tool *tool);

/* Catches Ctrl-C, SIGTERM and SIGHUP. The signals then interrupt read() and write() instead of
 * terminating the program, and interruption_check() reports them. */
void interruption_catch(void);
int interruption_check(struct error *error); /* ERROR_CONFLICT after such a signal */

#endif
