/* Private to worker/run/engine: how much of the machine's CPUs programs outside of the job use. */
#ifndef PODIUM_WORKER_RUN_ENGINE_OTHER_LOAD_H
#define PODIUM_WORKER_RUN_ENGINE_OTHER_LOAD_H

#include <stdbool.h>
#include <stdint.h>

/* What was used up to a moment. */
struct load {
	double all_s, own_s; /* CPU time of the machine; of podium-run and its finished children */
	int64_t at_ms;       /* clock_ms */
};

struct load load_now(void);

/* The CPUs that others used on average; 0: none, or unknown. */
double load_of_others(const struct load *before, const struct load *after);

/* Reads the ticks of all CPUs that were not idle from `text`, the beginning of /proc/stat. False:
 * the text has another form. Public for tests. */
bool load_read(const char *text, double *ticks);

#endif
