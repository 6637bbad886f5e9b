/* The charts of a leaderboard: how its best times fell, each shape by itself, all devices side by side, and a view for a
 * projector. Each is one question to the database, of the first ten users and so many points, by index. */
#ifndef PODIUM_CGI_BOARD_CHARTS_H
#define PODIUM_CGI_BOARD_CHARTS_H

#include "cgi/board.h"
#include "cgi/chart.h"
#include "cgi/task_view.h"

enum { charted_users = 10, charted_points = 16, charted_cases = 24, live_entries = 10 };

/* ---- how the best times fell ---- */

struct trend_point { int64_t submission_id, at_ms; double score_ns; const char *user; };
struct trend_line {
	const char *user;         /* NULL: the fastest of all */
	int64_t place;
	size_t style;
	double best_ns;
	struct trend_point *points; size_t count; /* the oldest first; of more than charted_points those that fell most */
};
struct trend {
	const struct board *board;
	const struct board_gpu *gpu;
	struct trend_line *lines; size_t line_count; /* the first ten users in the order of the ranking, behind them the fastest */
	struct chart chart;
};

/* A page's part about the ranking on this device: links to the views, and the trend with its table, as HTML. It is a few
 * seconds old at most, because a thread keeps it so long, and valid until the thread's next request. */
int board_charts(struct request *request, const struct board *board, const struct board_gpu *gpu, const char **html);

/* ---- views: /leaderboard/NAME?view=... ---- */

/* ERROR_NOT_FOUND with a sentence for a view that there is not. */
int page_board_view(struct request *request, const char *view);

struct shape_entry {
	int64_t position, place, case_index, submission_id;
	const char *user;
	double mean_ns, low_ns, high_ns;
};
struct shape { int64_t number; const struct shape_entry *entries; size_t count; }; /* number from 1; the fastest first */
struct shapes_view {
	const struct board *board;
	const struct board_gpu *gpu;  /* NULL: the leaderboard has none */
	const struct task_view *task;
	struct shape *shapes; size_t count;
	int64_t page, pages;          /* of charted_cases each */
};

struct scaling_entry { const char *gpu, *user; int64_t place, submission_id; double score_ns; };
struct scaling_user { const char *user; size_t style; const struct scaling_entry **entries; double slowest_ns; }; /* by device; NULL: none there */
struct scaling_view {
	const struct board *board;
	struct scaling_user *users; size_t user_count;
	struct chart chart;
};

struct live_entry { const char *gpu, *user; int64_t position, place, submitted_at_ms; double score_ns, score_err_ns; };
struct live_device { const char *gpu; const struct live_entry *entries; size_t count; };
struct live_view {
	const struct board *board;
	const char *state;
	struct live_device *devices; size_t device_count;
};

#endif
