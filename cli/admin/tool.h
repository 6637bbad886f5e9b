/* Runs mariadb-dump and mariadb with the settings of this Podium only. They read a single option
 * file, which has no name. It holds the password, so that no process list shows it. */
#ifndef PODIUM_CLI_ADMIN_TOOL_H
#define PODIUM_CLI_ADMIN_TOOL_H

#include "lib/base/config.h"
#include "lib/base/error.h"

#include <stdbool.h>
#include <sys/types.h>

/* Read from the program's standard output, or write to its standard input. */
enum tool_direction { TOOL_READ, TOOL_WRITE };

struct tool {
	const char *name;
	pid_t pid;      /* 0: none */
	int pipe;       /* our end */
	int complaints; /* its standard error */
};

/* Starts words[0] with the following words as arguments (ended by NULL, at most 400). */
int tool_start(struct tool *tool, const struct config *config, enum tool_direction direction,
	const char *const *words, struct error *error);

/* Closes our end and waits for the program. ERROR_DATABASE with the program's last message if it
 * failed; ERROR_SYSTEM if it is not installed. */
int tool_finish(struct tool *tool, struct error *error);

/* Kills a program that is no longer needed. Does nothing after tool_finish. */
void tool_stop(struct tool *tool);

/* Catches Ctrl-C, SIGTERM and SIGHUP. They interrupt read() and write() instead of terminating the
 * program; interruption_check() reports them. */
void interruption_catch(void);
int interruption_check(struct error *error); /* ERROR_CONFLICT after such a signal */

#endif
