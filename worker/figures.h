/* Counters of this worker since its start, for /metrics and the panel of podium-web. Counting takes
 * no lock. Each renewal of the registration writes the counters into the worker's row, so
 * podium-web needs no connection to the worker's host. */
#ifndef PODIUM_WORKER_FIGURES_H
#define PODIUM_WORKER_FIGURES_H

#include <stdint.h>

enum figure {
	FIGURE_CLAIMS, /* claimed jobs */
	/* podium-run processes started: one per device, and one for each restart. */
	FIGURE_RUNNERS,
	FIGURE_ZYGOTES,  /* zygotes that podium-run started */
	FIGURE_FAILURES, /* jobs that failed because of podium-run, the sandbox or the host */
	/* Jobs that were cancelled, paused or given to another worker while they ran here. */
	FIGURE_LOST_CLAIMS,
	FIGURE_FULL_DISKS, /* devices that take no job now, because the disk for jobs is full */
	figure_count
};
void figures_add(enum figure figure, int64_t more);

/* Counts a finished stage. Ignores an unknown stage name and a negative duration. */
void figures_add_stage(const char *stage, int64_t duration_ms);

/* {"claims": 12, ..., "stages": {"compile": [12, 34000], ...}}: for each stage its count and its
 * total in ms. The caller frees the text. */
char *figures_json(void);

#endif
