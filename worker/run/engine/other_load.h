/* Private to worker/run/engine: how much of the machine's CPUs programs outside of the job use. */
#ifndef PODIUM_WORKER_RUN_ENGINE_OTHER_LOAD_H
#define PODIUM_WORKER_RUN_ENGINE_OTHER_LOAD_H

#include <stdbool.h>
#include <stdint.h>

/* The CPU time that was used up to one moment. */
struct load {
	double all_s, own_s; /* of all programs; of podium-run and its finished children */
	int64_t at_ms;       /* clock_ms */
};

struct load load_now(void);

/* How many CPUs other programs used on average between the two moments; 0: none, or unknown. */
double load_of_others(const struct load *before, const struct load *after);

/* Reads the ticks of all CPUs that were not idle from `text`, the beginning of /proc/stat. False:
 * the text has another form. Public for tests. */
bool load_read(const char *text, double *ticks);

#endif
