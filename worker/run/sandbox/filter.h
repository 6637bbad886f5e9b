/* Private to worker/run/sandbox: the filter of system calls. It refuses calls that GPU programs do
 * not need. These calls could affect other processes or the machine, or use kernel code that often
 * had security bugs. */
#ifndef PODIUM_WORKER_RUN_SANDBOX_FILTER_H
#define PODIUM_WORKER_RUN_SANDBOX_FILTER_H

#include "lib/base/error.h"
#include "worker/run/sandbox/enter.h"

#include <stdbool.h>

/* Writes the filter's instructions into `entry`. `loopback` also allows Internet sockets, for
 * programs that talk to each other inside their network namespace. */
int sandbox_filter(struct sandbox_entry *entry, bool loopback, struct error *error);

#endif
