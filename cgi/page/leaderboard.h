/* What a leaderboard's page shows. */
#ifndef PODIUM_CGI_LEADERBOARD_H
#define PODIUM_CGI_LEADERBOARD_H

#include "cgi/ranking_list.h"
#include "cgi/task_view.h"
#include "lib/dialect.h"
#include "lib/peaks.h"

/* The least that the GPU's peaks let the work of the task take, with the task's own count of it
 * (lib/peaks.h). */
struct speed_of_light {
	double ns;         /* of a score; NAN: not known */
	const char *limit; /* "memory", or the type of number: "fp16" */
	const char *peak;  /* "4.80 TB/s", "989 TFLOP/s" */
};

struct leaderboard_view {
	const struct board *board;
	const struct board_gpu *gpu; /* whose ranking is shown; NULL: the leaderboard has none */
	const struct task_view *task;
	const char *state;
	struct ranking_list list;
	struct speed_of_light light;
	size_t columns;          /* of the table */
	bool has_comparisons;    /* one of the rows has */
	const char *charts_html; /* cgi/board_charts.h; NULL without a device */
	bool may_edit;
};

struct speed_of_light speed_of_light(struct arena *arena, const struct task *task, const char *gpu);

/* The same bound for one of the task's benchmarks, in ns; NAN: not known. */
double least_time_of_case(const struct task *task, size_t index, const char *gpu);

/* "71.3 %"; "" when it is not known. */
const char *share_of_peak(struct arena *arena, const struct speed_of_light *light, double score_ns);

/* How many of the baselines stand before row `index` of the list, which may be the one behind the
 * last: these are slower than the row before and faster than this one. The first of them is in
 * *first. */
size_t baselines_before(const struct ranking_list *list, size_t index, size_t *first);

#endif
