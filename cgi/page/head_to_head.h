/* What pages say about comparisons (lib/comparison.h): one of them, as seen from one of its two
 * entries. */
#ifndef PODIUM_CGI_COMPARISON_H
#define PODIUM_CGI_COMPARISON_H

#include "lib/arena.h"
#include "lib/comparison.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct comparison_row {
	int64_t id;
	int64_t job_id;                      /* of this entry */
	int64_t rival_id;                    /* the other's submission */
	const char *rival;                   /* and user */
	const char *state, *reason;          /* of the comparison's own job */
	double ratio, ratio_low, ratio_high; /* this entry's time / the rival's; NAN: no result */
	int64_t counts;                      /* both are their users' best at present */
};

/* It waits or runs. */
bool comparison_is_open(const struct comparison_row *row);

/* "0.998 (0.994 to 1.003): a tie", "0.988 (0.985 to 0.991): 1.2 % faster". */
const char *comparison_words(struct arena *arena, const struct comparison_row *row);

/* What a ratio of two times means, noise aside: "1.2 % faster", "40 % slower". */
const char *comparison_change(struct arena *arena, double ratio);

/* A ratio of one case: "0.9980". */
const char *comparison_figure(struct arena *arena, double ratio);

/* "CPU" or "GPU". */
const char *comparison_device(const char *gpu);

#endif
