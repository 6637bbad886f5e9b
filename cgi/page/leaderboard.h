/* Data for a leaderboard's page. */
#ifndef PODIUM_CGI_PAGE_LEADERBOARD_H
#define PODIUM_CGI_PAGE_LEADERBOARD_H

#include "cgi/action/dialect.h"
#include "cgi/page/ranking_list.h"
#include "cgi/page/speed_of_light.h"
#include "cgi/page/task_view.h"

struct leaderboard_view {
	const struct shown_leaderboard *shown;
	const struct ranked_gpu *gpu; /* device of the ranking; NULL: the leaderboard has none */
	const struct task_view *task;
	const char *state;
	struct ranking_list list;
	struct speed_of_light light;
	size_t columns;          /* number of table columns */
	bool has_comparisons;    /* at least one row has comparisons */
	const char *charts_html; /* cgi/page/leaderboard_charts.h; NULL without a device */
	bool may_edit;
};

/* Returns how many baselines belong just before row `index`, which may be one past the last row.
 * These baselines are not faster than any earlier row, and faster than row `index`. *first is the
 * index of the first of them. */
size_t baselines_before(const struct ranking_list *list, size_t index, size_t *first);

/* After an edit, tells its author which engine an uploaded task gets, and why, and how many jobs
 * the edit cancelled. */
int leaderboard_note_edit(
	struct request *request, const struct leaderboard *leaderboard, struct page *page);

#endif
