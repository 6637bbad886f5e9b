/* The exit codes of podium, and how a command reports an error. */
#ifndef PODIUM_CLI_PODIUM_PODIUM_H
#define PODIUM_CLI_PODIUM_PODIUM_H

#include "lib/base/error.h"

#include <stdio.h>

/* docs/podium.md explains the exit codes. verdicts.c lists the codes of verdicts. After a signal,
 * podium exits with 128 plus the signal's number. */
enum {
	podium_done = 0,
	podium_failed = 1,
	podium_misused = 2,
	podium_cannot = 3,
	podium_denied = 4,
	podium_unreachable = 5
};

/* Prints the error on stderr, with control characters escaped, and returns `code`. */
int podium_complain(const struct error *error, int code);

#endif
