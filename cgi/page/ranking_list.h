/* Rows of one ranking (leaderboard, version of the task, GPU), read in one query. The address
 * selects a page, filters and the viewer's own row. cgi/page/ranking_notes.h has the baselines and
 * comparisons.
 *
 * - ?user=ad: users whose name contains "ad"
 * - ?language=triton: the dialect of the source (lib/submission/dialect.h)
 * - ?period=week: submitted within the last day, week or month
 * - ?mine=1: only the viewer's row
 * - ?columns=all: more columns
 * - ?baseline=torch: the speed-up against this baseline (cgi/page/speed_up.h)
 * - ?page=2
 *
 * Filters select rows but do not change them: ranks and gaps are always those of the whole
 * ranking. */
#ifndef PODIUM_CGI_PAGE_RANKING_LIST_H
#define PODIUM_CGI_PAGE_RANKING_LIST_H

#include "cgi/http/paging.h"
#include "cgi/page/ranking_row.h"
#include "cgi/page/shown_leaderboard.h"

enum { ranking_rows_per_page = 100 };

struct ranking_period {
	const char *name, *title;
	int64_t hours;
};
extern const struct ranking_period ranking_periods[]; /* ends with one whose name is NULL */

struct ranking_filter {
	const char *user;                    /* "": any */
	const char *dialect;                 /* "": any */
	const struct ranking_period *period; /* NULL: any */
	bool mine;
	/* These select no rows, but a filtered page keeps them. */
	bool all_columns;
	const char *baseline; /* "": the first */
};

struct ranking_list {
	struct ranking_filter filter;
	bool is_filtered;
	int64_t total; /* rows that match the filter, on all pages */
	struct paging paging;
	double best_ns; /* fastest time of the whole ranking, without filters; NAN: empty */
	struct ranking_row *rows;
	size_t row_count;
	const struct ranking_row *baselines;
	size_t baseline_count;         /* fastest first */
	const struct ranking_row *own; /* the viewer's row, or NULL */
	bool own_is_elsewhere;         /* the viewer's row is not among `rows` */
	int64_t own_page;              /* the page that has the viewer's row if no filter is set */
};

/* Reads the filters in the address. Returns ERROR_INPUT with a message for an unknown language or
 * period. */
int ranking_filter_of_request(
	struct request *request, const struct shown_leaderboard *shown, struct ranking_filter *filter);

/* Reads the page of the ranking that the address selects. */
int ranking_list_read(struct request *request, const struct shown_leaderboard *shown,
	const struct ranked_gpu *gpu, struct ranking_list *list);

/* Sets `ranked` to whether the viewer is in the ranking, whatever the filter. */
int ranking_list_has_viewer(struct request *request, const struct shown_leaderboard *shown,
	const struct ranked_gpu *gpu, bool *ranked);

/* Like ranking_list_read, but the rows are all that match the filter, without comparisons. Without
 * a filter there are none: read them with ranking_rows_read, up to list->total. */
int ranking_list_read_all(struct request *request, const struct shown_leaderboard *shown,
	const struct ranked_gpu *gpu, struct ranking_list *list);

/* Reads at most `most` rows after position `after` (0: from the first), in ranking order. */
int ranking_list_read_behind(struct request *request, const struct shown_leaderboard *shown,
	const struct ranked_gpu *gpu, int64_t after, int64_t most, struct ranking_list *list);

/* Reads only the rows of these positions, in ranking order, into `arena`. */
int ranking_rows_read(struct request *request, struct arena *arena,
	const struct shown_leaderboard *shown, const struct ranked_gpu *gpu, int64_t first,
	int64_t last, struct ranking_row **rows, size_t *count);

/* Returns the encoded path "/leaderboard/NAME", then `ending` (".csv" or ""), then the query. A
 * NULL filter and page 0 are left out of the query. */
const char *ranking_address(struct arena *arena, const struct shown_leaderboard *shown,
	const struct ranked_gpu *gpu, const struct ranking_filter *filter, const char *ending,
	int64_t page);

#endif
