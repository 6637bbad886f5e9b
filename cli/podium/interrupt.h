/* Ctrl-C and its like, as something that can be waited for, so that a job is ended before this
 * program is. */
#ifndef PODIUM_CLI_PODIUM_INTERRUPT_H
#define PODIUM_CLI_PODIUM_INTERRUPT_H

#include "lib/error.h"

#include <stdbool.h>

struct interrupt {
	int descriptor; /* readable as long as a signal has come that nobody has taken */
	int signal;     /* the first that was taken; 0: none */
};

/* From now on SIGINT, SIGTERM and SIGHUP end nothing by themselves. */
int interrupt_open(struct interrupt *interrupt, struct error *error);
void interrupt_close(struct interrupt *interrupt);

/* Takes a signal that comes within `timeout_ms`: true. */
bool interrupt_wait(struct interrupt *interrupt, int timeout_ms);

#define cleanup_interrupt __attribute__((cleanup(interrupt_close)))

#endif
