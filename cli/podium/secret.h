/* A secret that somebody types or pipes in; it is never an argument, which ps would show. */
#ifndef PODIUM_CLI_PODIUM_SECRET_H
#define PODIUM_CLI_PODIUM_SECRET_H

#include "cli/podium/interrupt.h"
#include "lib/arena.h"
#include "lib/error.h"

/* Reads one line from stdin; on a terminal after `prompt`, without showing what is typed. */
int secret_read(struct arena *arena, struct interrupt *interrupt, const char *prompt,
	const char **secret, struct error *error);

#endif
