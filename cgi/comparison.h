/* What pages say about comparisons (lib/comparison.h): one of them, as seen from one of its two entries. */
#ifndef PODIUM_CGI_COMPARISON_H
#define PODIUM_CGI_COMPARISON_H

#include "lib/arena.h"
#include "lib/comparison.h"
#include "lib/visibility.h"

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

/* Part of a statement: comparisons that an entry `r` of `ranking` has asked for with others that are in it, as JSON, or
 * NULL; and what comparison_parse makes of that. */
#define SQL_COMPARISONS_ASKED_FOR \
	"(SELECT JSON_ARRAYAGG(JSON_OBJECT('id', c.id, 'rival_id', o.submission_id, 'rival', ou.name, 'state', j.state, 'ratio', c.ratio, " \
	"    'low', c.ratio_low, 'high', c.ratio_high) ORDER BY c.id) " \
	"  FROM comparisons c JOIN ranking o ON o.job_id = c.incumbent_job_id JOIN users ou ON ou.id = o.user_id " \
	"  JOIN jobs j ON j.comparison_id = c.id JOIN leaderboards cl ON cl.id = c.leaderboard_id AND NOT " SQL_IS_WITHHELD("cl", "j") " " \
	"  WHERE c.challenger_job_id = r.job_id AND " SQL_COMPARISON_STANDS("c", "j") ")"
size_t comparison_parse(struct arena *arena, const char *json, struct comparison_row **rows);

#endif
