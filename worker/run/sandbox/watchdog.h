/* Private to worker/run/sandbox: watches a sandbox's memory and processes where no control group
 * does. It scans the sandbox's processes at most ten times a second, and for at most a fiftieth of
 * the time. */
#ifndef PODIUM_WORKER_RUN_SANDBOX_WATCHDOG_H
#define PODIUM_WORKER_RUN_SANDBOX_WATCHDOG_H

#include "worker/run/sandbox/reaper.h"
#include "worker/run/sandbox/sandbox.h"

enum watchdog_finding { WATCHDOG_NOTHING, WATCHDOG_MEMORY, WATCHDOG_PROCESSES };

struct watchdog {
	const struct sandbox *sandbox;
	struct reaper_kin kin; /* selects its processes if the sandbox has no own /proc */
	int event;             /* polls as POLLPRI when a control group reports an event; -1: none */
	int64_t next_ms;       /* in terms of clock_ms(); -1: never, a control group watches */
};

/* `programs` are the `count` programs that run at the same time. With `with_orphans`, processes
 * that belong to none of them count for this sandbox. */
void watchdog_start(struct watchdog *watchdog, const struct sandbox *sandbox, const pid_t *programs,
	size_t count, bool with_orphans);

/* The time until the next check is due; 0: now, -1: never. */
int64_t watchdog_wait_ms(const struct watchdog *watchdog);

enum watchdog_finding watchdog_look(struct watchdog *watchdog);

/* Reads the memory and threads of one process from `text`, its /proc/PID/status. There, every
 * process that shares a page counts the whole page. With `exact`, `text` is its
 * /proc/PID/smaps_rollup, which divides shared pages among the processes that share them. Public
 * for tests. */
struct watchdog_share {
	int64_t private_bytes, shared_bytes, threads;
};
void watchdog_read_share(const char *text, bool exact, struct watchdog_share *share);

#endif
