/* Watches how much memory and how many processes a sandbox takes, where no control group does: by
 * looking through its processes ten times a second at most, and for no more than a fiftieth of the
 * time. */
#ifndef PODIUM_RUN_WATCHDOG_H
#define PODIUM_RUN_WATCHDOG_H

#include "worker/run/reaper.h"
#include "worker/run/sandbox.h"

enum watchdog_finding { WATCHDOG_NOTHING, WATCHDOG_MEMORY, WATCHDOG_PROCESSES };

struct watchdog {
	const struct sandbox *sandbox;
	struct reaper_kin kin; /* its processes, where no /proc of its own shows them */
	int event;       /* polls as POLLPRI when a control group has something to say; -1: none */
	int64_t next_ms; /* of clock_ms(); -1: never, because a control group watches */
};

/* `programs`, `count` of them, run at the same time; what belongs to none of them counts here if
 * `with_orphans`. */
void watchdog_start(struct watchdog *watchdog, const struct sandbox *sandbox, const pid_t *programs,
	size_t count, bool with_orphans);

/* Until the next look is due: 0 now, -1 never. */
int64_t watchdog_wait_ms(const struct watchdog *watchdog);

enum watchdog_finding watchdog_look(struct watchdog *watchdog);

/* What one process takes, as its /proc/PID/status (VmRSS in its parts) or, `exact`, its
 * /proc/PID/smaps_rollup says, where what several share counts in parts. For tests. */
struct watchdog_share {
	int64_t private_bytes, shared_bytes, threads;
};
void watchdog_read_share(const char *text, bool exact, struct watchdog_share *share);

#endif
