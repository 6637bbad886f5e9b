/* How pages describe comparisons (lib/ranking/head_to_head.h), each from the point of view of
 * one entry. */
#ifndef PODIUM_CGI_PAGE_HEAD_TO_HEAD_H
#define PODIUM_CGI_PAGE_HEAD_TO_HEAD_H

#include "lib/base/arena.h"
#include "lib/ranking/head_to_head.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct head_to_head_row {
	int64_t id;
	int64_t job_id;                      /* this entry's job */
	int64_t rival_id;                    /* the rival's submission */
	const char *rival;                   /* the rival's user */
	const char *state, *reason;          /* of the comparison's own job */
	double ratio, ratio_low, ratio_high; /* this entry's time / the rival's; NAN: no result */
	/* Who failed in the run and thereby lost: 1 this entry, -1 the rival, 0 nobody. */
	int64_t loser;
	int64_t counts; /* both results are still their users' best */
};

/* SQL expression: the member `loser`, seen from the side "challenger" or "incumbent" of a row `c`
 * of comparisons. The challenger is the entry that requested the comparison. */
#define SQL_COMPARISON_LOSER(side) \
	"IF(c.loser IS NULL, 0, IF(c.loser = '" side "', 1, -1)) AS loser"

/* Whether the comparison is queued or running. */
bool head_to_head_is_open(const struct head_to_head_row *row);

/* Whether the comparison has a result: a ratio, or a loser because one entry failed. */
bool head_to_head_has_result(const struct head_to_head_row *row);

/* "0.998 (0.994 to 1.003): a tie", "0.988 (0.985 to 0.991): 1.2 % faster", "lost, because it failed
 * in this run". */
const char *head_to_head_words(struct arena *arena, const struct head_to_head_row *row);

/* Formats a ratio with four decimals: "0.9980". */
const char *head_to_head_figure(struct arena *arena, double ratio);

/* "0.9940 to 1.0030"; interval_unknown if the interval has no bounds that say anything. */
const char *head_to_head_interval(struct arena *arena, double ratio, double low, double high);

/* "CPU" or "GPU". */
const char *head_to_head_device(const char *gpu);

#endif
