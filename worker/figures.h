/* What this worker has done since it started, for /metrics of podium-web: counted without a lock,
 * and written into the worker's row with each sign of life, so that whoever asks needs no
 * connection to the worker's host. */
#ifndef PODIUM_WORKER_FIGURES_H
#define PODIUM_WORKER_FIGURES_H

#include <stdint.h>

enum figure {
	FIGURE_CLAIMS,      /* jobs that were taken */
	FIGURE_RUNNERS,     /* podium-run that were started: one for each device, and each time that one
	                       ended */
	FIGURE_ZYGOTES,     /* zygotes that these have started */
	FIGURE_FAILURES,    /* jobs that podium-run or the host failed at, sandbox included */
	FIGURE_LOST_CLAIMS, /* jobs that were another worker's, cancelled or paused while they ran here
	                     */
	figure_count
};
void figures_add(enum figure figure, int64_t more);

/* A stage of a job has ended; a name that is none is not counted. */
void figures_add_stage(const char *stage, int64_t duration_ms);

/* {"claims": 12, ..., "stages": {"compile": [12, 34000], ...}}: how many, and how many ms in all.
 * The caller frees it. */
char *figures_json(void);

#endif
