/* Which system calls a program in a sandbox may make: all but those that a kernel for GPUs has no
 * use for and that reach other processes, the machine's state, or parts of the kernel with a
 * history of holes. */
#ifndef PODIUM_RUN_SANDBOX_FILTER_H
#define PODIUM_RUN_SANDBOX_FILTER_H

#include "lib/error.h"
#include "worker/run/sandbox_enter.h"

#include <stdbool.h>

/* Writes the filter as the kernel takes it into `entry`. `loopback`: sockets of the Internet as
 * well, for programs that talk to each other in a network of their own. */
int sandbox_filter(struct sandbox_entry *entry, bool loopback, struct error *error);

#endif
