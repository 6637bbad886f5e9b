/* One row of a ranking: an entry or a baseline. */
#ifndef PODIUM_CGI_PAGE_RANKING_ROW_H
#define PODIUM_CGI_PAGE_RANKING_ROW_H

#include "cgi/page/head_to_head.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ranking_row {
	/* position counts the rows of the ranking; place is the rank, which tied entries share. Both
	 * are 0 for a baseline. */
	int64_t position, place;
	int64_t user_id, submission_id, submitted_at_ms; /* may be SQL_NULL_INTEGER in a baseline */
	const char *user;   /* the user's name, or the baseline's name or file */
	const char *engine; /* NULL: unknown */
	/* NULL: unknown; of a baseline the role: "baseline", "template" or "sample". */
	const char *dialect;
	int64_t attempts; /* the user's ranked submissions that passed on this device */
	int64_t results;  /* of equal source, whose mean is the score; SQL_NULL_INTEGER: a baseline */
	double score_ns, score_err_ns;
	double above_ns; /* the fastest time of the group above in the whole ranking; NAN: none */
	/* On a filtered page: the number of rows that match the filter, on all pages. SQL_NULL_INTEGER:
	 * the row is the viewer's own, which is read in addition. */
	int64_t found;
	int64_t job_id;
	int64_t is_tie; /* others share the place */
	/* Why the row does not rank where its time alone would put it (lib/ranking/order.h), and the
	 * user whom the reason names; NULL: no reason. */
	const char *reason, *other;
	const struct head_to_head_row *comparisons;
	size_t comparison_count; /* requested by this entry; only of the first ten */
};

#endif
