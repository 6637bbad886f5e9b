/* Rows of one ranking (leaderboard, version of the task, GPU) as the address asks for them, in one
 * question to the database: a page of it or all, with filters and the viewer's own row. Beside them
 * stands what cgi/ranking_notes.h keeps.
 *
 *     ?user=ad          users whose name contains it
 *     ?language=triton  what the source is written with (lib/dialect.h)
 *     ?period=week      submitted within the last day, week, month
 *     ?mine=1           the viewer's own
 *     ?page=2
 *
 * Ranks and gaps are those of the whole ranking, whatever is filtered. */
#ifndef PODIUM_CGI_RANKING_LIST_H
#define PODIUM_CGI_RANKING_LIST_H

#include "cgi/board.h"
#include "cgi/comparison.h"
#include "cgi/paging.h"

enum { ranking_rows_per_page = 100 };

struct ranking_row {
	int64_t position,
		place; /* the order of the page, and the rank that ties share; 0: a baseline */
	int64_t user_id, submission_id, submitted_at_ms; /* a baseline's may be SQL_NULL_INTEGER */
	const char *user;                                /* of a baseline: the file of the task */
	const char *engine;                              /* NULL: not known */
	const char *dialect; /* NULL: not known; of a baseline "template" or "sample" */
	int64_t attempts;    /* ranked submissions of the user that have passed here */
	double score_ns, score_err_ns;
	double above_ns;     /* of the row above it in the whole ranking; NAN: it is the first */
	int64_t below_place; /* of the row below it; SQL_NULL_INTEGER: none, or not read */
	int64_t found; /* how many rows the filter finds in all; SQL_NULL_INTEGER: this is the viewer's
	                  row beside them */
	int64_t job_id;
	bool is_tie; /* shares its place with a neighbour */
	const struct comparison_row *comparisons;
	size_t comparison_count; /* that it has asked for, if it is one of the first ten */
};

struct ranking_period {
	const char *name, *title;
	int64_t hours;
};
extern const struct ranking_period ranking_periods[]; /* ended by one without a name */

struct ranking_filter {
	const char *user;                    /* "": any */
	const char *dialect;                 /* "": any */
	const struct ranking_period *period; /* NULL: any */
	bool mine;
};

struct ranking_list {
	struct ranking_filter filter;
	bool is_filtered;
	int64_t total; /* rows that the filter lets through, on all pages */
	struct paging paging;
	double best_ns; /* of the first in the whole ranking; NAN: nobody */
	struct ranking_row *rows;
	size_t row_count;
	const struct ranking_row *baselines;
	size_t baseline_count;         /* fastest first */
	const struct ranking_row *own; /* the viewer's; or NULL */
	bool own_is_elsewhere;         /* not among the rows */
	int64_t own_page;              /* of the whole ranking */
};

/* What the address asks for. ERROR_INPUT with a sentence for a language or period that there is
 * none of. */
int ranking_filter_of_request(
	struct request *request, const struct board *board, struct ranking_filter *filter);

/* The page of the ranking that the address asks for. */
int ranking_list_read(struct request *request, const struct board *board,
	const struct board_gpu *gpu, struct ranking_list *list);

/* All that the filter lets through, without baselines and comparisons. */
int ranking_list_read_all(struct request *request, const struct board *board,
	const struct board_gpu *gpu, struct ranking_list *list);

/* At most `most` rows behind position `after` (0: from the first on), in their order. */
int ranking_list_read_behind(struct request *request, const struct board *board,
	const struct board_gpu *gpu, int64_t after, int64_t most, struct ranking_list *list);

/* Marks the ties among the first `count` rows; `known` rows, which may be one more, are in the
 * array. */
void ranking_mark_ties(struct ranking_row *rows, size_t count, size_t known);

/* The address of the ranking: "/leaderboard/NAME", `ending` (".csv", ""), then what was asked for;
 * without a filter if it is NULL, and without a page if that is 0. A whole path of our own,
 * encoded. */
const char *ranking_address(struct arena *arena, const struct board *board,
	const struct board_gpu *gpu, const struct ranking_filter *filter, const char *ending,
	int64_t page);

#endif
