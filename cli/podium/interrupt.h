/* Makes Ctrl-C and similar signals readable from a descriptor, so that the program can stop its job
 * before it exits. */
#ifndef PODIUM_CLI_PODIUM_INTERRUPT_H
#define PODIUM_CLI_PODIUM_INTERRUPT_H

#include "lib/base/error.h"

#include <stdbool.h>

struct interrupt {
	int descriptor; /* readable while a signal is pending */
	int signal;     /* the first signal taken; 0: none */
};

/* Blocks SIGINT, SIGTERM and SIGHUP, so that they no longer terminate the program. */
int interrupt_open(struct interrupt *interrupt, struct error *error);
void interrupt_close(struct interrupt *interrupt);

/* Returns true if a signal arrived within `timeout_ms`, and takes that signal. */
bool interrupt_wait(struct interrupt *interrupt, int timeout_ms);

#define cleanup_interrupt __attribute__((cleanup(interrupt_close)))

#endif
