/* Data for a leaderboard's page. */
#ifndef PODIUM_CGI_PAGE_LEADERBOARD_H
#define PODIUM_CGI_PAGE_LEADERBOARD_H

#include "cgi/page/ranking_list.h"
#include "cgi/page/speed_of_light.h"
#include "cgi/page/speed_up.h"
#include "cgi/page/task_view.h"
#include "lib/submission/dialect.h"

struct leaderboard_view {
	const struct shown_leaderboard *shown;
	const struct ranked_gpu *gpu; /* device of the ranking; NULL: the leaderboard has none */
	const struct task_view *task;
	const char *state;
	struct ranking_list list;
	struct speed_of_light light;
	struct speed_up speed_up;
	size_t columns; /* number of table columns */
	/* Why rows rank where they do: comparisons, those that have no result yet, and rows with a
	 * reason. */
	size_t comparisons, open_comparisons, reasons;
	const char *summary; /* of the task, one line */
	bool may_edit;
};

/* Returns how many baselines belong just before row `index`, which may be one past the last row.
 * These baselines are not faster than any earlier row, and faster than row `index`. *first is the
 * index of the first of them. */
size_t baselines_before(const struct ranking_list *list, size_t index, size_t *first);

/* Returns "8 head-to-heads, 4 running", or how many ranks have a reason; "" for neither. */
const char *ranking_reasons_title(struct arena *arena, const struct leaderboard_view *view);

/* The address of the whole ranking in a file, with the page's filters. */
const char *ranking_export(
	struct arena *arena, const struct leaderboard_view *view, const char *ending);

/* Returns the address of this page with more columns, or with fewer. */
const char *ranking_other_columns(struct arena *arena, const struct leaderboard_view *view);

#endif
