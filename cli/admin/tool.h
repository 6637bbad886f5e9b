/* MariaDB's own programs, mariadb-dump and mariadb, with the settings of this Podium and no others:
 * they read no file of options but one without a name, in which the password stands, so that no
 * list of processes shows it. */
#ifndef PODIUM_CLI_ADMIN_TOOL_H
#define PODIUM_CLI_ADMIN_TOOL_H

#include "lib/config.h"
#include "lib/error.h"

#include <stdbool.h>
#include <sys/types.h>

enum tool_direction {
	TOOL_READ,
	TOOL_WRITE
}; /* from its standard output, or to its standard input */

struct tool {
	const char *name;
	pid_t pid;      /* 0: none */
	int pipe;       /* our end */
	int complaints; /* what it says on standard error */
};

/* Starts words[0] with the words behind it (ended by NULL; 400 at most). */
int tool_start(struct tool *tool, const struct config *config, enum tool_direction direction,
	const char *const *words, struct error *error);

/* Closes our end and waits. ERROR_DATABASE with what the program said last, if it has failed;
 * ERROR_SYSTEM if it is not there. */
int tool_finish(struct tool *tool, struct error *error);

/* Ends a program that is not wanted any more. Nothing happens if it was finished. */
void tool_stop(struct tool *tool);

/* From now on Ctrl-C, SIGTERM and SIGHUP end nothing by themselves: read() and write() are broken
 * off, and interruption_check() says it. */
void interruption_catch(void);
int interruption_check(struct error *error); /* ERROR_CONFLICT after such a signal */

#endif
