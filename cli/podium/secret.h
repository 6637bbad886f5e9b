/* Reads a secret from the terminal or a pipe. No command takes a secret as an argument, since ps
 * shows arguments. */
#ifndef PODIUM_CLI_PODIUM_SECRET_H
#define PODIUM_CLI_PODIUM_SECRET_H

#include "cli/podium/interrupt.h"
#include "lib/base/arena.h"
#include "lib/base/error.h"

/* Reads one line from stdin. On a terminal, prints `prompt` first and turns echo off. */
int secret_read(struct arena *arena, struct interrupt *interrupt, const char *prompt,
	const char **secret, struct error *error);

#endif
