/* What a leaderboard's page shows. */
#ifndef PODIUM_CGI_LEADERBOARD_H
#define PODIUM_CGI_LEADERBOARD_H

#include "cgi/board.h"
#include "cgi/comparison.h"
#include "cgi/paging.h"
#include "cgi/task_view.h"

struct ranking_row {
	int64_t position, place; /* the order of the page, and the rank that ties share */
	int64_t user_id, submission_id, submitted_at_ms;
	const char *user, *engine; /* engine NULL: not known */
	double score_ns, score_err_ns;
	bool is_tie;             /* shares its place with a neighbour */
	const char *asked_for;   /* JSON of the comparisons that it has asked for; NULL: none, or not read */
	struct comparison_row *comparisons; size_t comparison_count; /* the same, filled by the page */
};

struct leaderboard_view {
	const struct board *board;
	const struct board_gpu *gpu;        /* whose ranking is shown; NULL: the leaderboard has none */
	const struct task_view *task;
	const char *state;
	struct paging paging;
	struct ranking_row *rows; size_t row_count;
	const struct ranking_row *own;      /* the viewer's, where it is on another page; or NULL */
	int64_t own_page;
	bool has_comparisons;               /* one of the rows has */
	const char *charts_html;            /* cgi/board_charts.h; NULL without a device */
	bool may_edit;
};

/* Marks the ties among the first `count` rows; `known` rows, which may be one more, are in the array. */
void ranking_mark_ties(struct ranking_row *rows, size_t count, size_t known);

#endif
