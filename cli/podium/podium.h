/* How every command of podium ends. */
#ifndef PODIUM_CLI_PODIUM_PODIUM_H
#define PODIUM_CLI_PODIUM_PODIUM_H

#include "lib/error.h"

#include <stdio.h>

/* Exit codes, which docs/podium.md explains. A job's verdict has its own, which the table in
 * verdicts.c gives; a signal ends with 128 and its number. */
enum {
	podium_done = 0,
	podium_failed = 1,
	podium_misused = 2,
	podium_cannot = 3,
	podium_denied = 4,
	podium_unreachable = 5
};

/* Prints the error's sentence on stderr, in which nothing can steer the terminal, and returns
 * `code`. */
int podium_complain(const struct error *error, int code);

#endif
