/* What the commands of podium share. A command gets its own name as argv[0] and its arguments after it, prints what it
 * found on stdout and what went wrong on stderr, and returns the exit code. */
#ifndef PODIUM_CLI_PODIUM_PODIUM_H
#define PODIUM_CLI_PODIUM_PODIUM_H

#include "lib/error.h"

#include <stdio.h>

/* Exit codes. A job's verdict has its own, which the table in verdict.c gives; a signal ends with 128 and its number. */
enum { podium_done = 0, podium_failed = 1, podium_misused = 2, podium_cannot = 3 };

typedef int podium_command(int argc, char **argv);

podium_command check_command;  /* check.c */
extern const char check_help[];

/* Prints the error's sentence on stderr, in which nothing can steer the terminal, and returns `code`. */
int podium_complain(const struct error *error, int code);

#endif
