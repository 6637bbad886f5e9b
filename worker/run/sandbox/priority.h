/* Private to worker/run/sandbox: how long programs keep a raised priority. While a program has one,
 * podium-run runs at the highest priority, so that it notices in time that the program must end. */
#ifndef PODIUM_WORKER_RUN_SANDBOX_PRIORITY_H
#define PODIUM_WORKER_RUN_SANDBOX_PRIORITY_H

#include <stdbool.h>
#include <stdint.h>

struct priority {
	int before;      /* podium-run's own niceness */
	bool is_raised;  /* podium-run's niceness was changed */
	int64_t next_ms; /* when to lower the programs', by clock_ms; -1: never */
};

/* Call it once programs run. `is_raised`: whether one of them has a niceness below 0. */
void priority_begin(struct priority *priority, bool is_raised);

/* The time until the programs must be lowered; 0: now, -1: never. */
int64_t priority_wait_ms(const struct priority *priority);

/* If it is time, sets the niceness of all descendants of podium-run that is below 0 to 0. Does so
 * again every second, since a descendant may start while the others are lowered. */
void priority_look(struct priority *priority);

void priority_end(struct priority *priority);

#endif
