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
	const char *user;                                /* the user's name, or the baseline's file */
	const char *engine;                              /* NULL: unknown */
	const char *dialect; /* NULL: unknown; for a baseline "template" or "sample" */
	int64_t attempts;    /* the user's ranked submissions that passed on this device */
	double score_ns, score_err_ns;
	double floor_ns;     /* above 0: the score cannot be told from nothing (format_measured) */
	double above_ns;     /* score of the row above in the whole ranking; NAN: this is the first */
	int64_t below_place; /* place of the row below; SQL_NULL_INTEGER: none, or not read */
	/* On a filtered page: the number of rows that match the filter, on all pages. SQL_NULL_INTEGER:
	 * the row is an additional one, either the ranking's first row or the viewer's own. */
	int64_t found;
	int64_t job_id;
	bool is_tie; /* tied with the row above or below */
	const struct head_to_head_row *comparisons;
	size_t comparison_count; /* requested by this entry; only of the first ten */
};

#endif
