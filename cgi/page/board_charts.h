/* The charts of a leaderboard: how its best times fell, each shape by itself, all devices side by
 * side, and a view for a projector. Each is one question to the database, of the first ten users
 * and so many points, by index. */
#ifndef PODIUM_CGI_BOARD_CHARTS_H
#define PODIUM_CGI_BOARD_CHARTS_H

#include "cgi/board.h"
#include "cgi/chart.h"
#include "cgi/leaderboard.h"
#include "cgi/task_view.h"

enum { charted_users = 10, charted_points = 16, charted_cases = 24, live_entries = 10 };

/* ---- how the best times fell: board_trend.c ---- */

struct trend_point {
	int64_t submission_id, at_ms;
	double score_ns;
	const char *user;
};
struct trend_line {
	const char *user; /* NULL: the fastest of all */
	bool is_own;
	size_t style;
	double best_ns;
	struct trend_point *points;
	size_t count; /* the oldest first; of more than charted_points those that fell most */
};
/* What there is to be compared with: the speed of light, and below it the baselines. */
struct trend_mark {
	const char *name,
		*kind; /* "Speed of light", "memory, 4.80 TB/s"; the file, "template" or "sample" */
	int64_t submission_id, at_ms; /* SQL_NULL_INTEGER, TIME_NULL: of none */
	const struct chart_mark *drawn;
};
struct trend {
	const struct board *board;
	const struct board_gpu *gpu;
	const struct speed_of_light *light;
	int64_t own_id; /* of the viewer, if ranked here; else 0 */
	struct trend_line *lines;
	size_t line_count; /* the first ten users in the order of the ranking, the viewer, and the
	                      fastest */
	struct trend_mark *marks;
	size_t mark_count;
	struct chart chart;
};

/* A page's part about the ranking of `trend`, whose first four members are given: links to the
 * views, and the trend with its table, as HTML. It is a few seconds old at most, because a thread
 * keeps it so long, and valid until the thread's next request. */
int board_trend(struct request *request, struct trend *trend, const char **html);

/* Whether its chart has room for one of the marks. */
bool trend_has_levels(const struct trend *trend);

/* ---- views: /leaderboard/NAME?view=... ---- */

/* ERROR_NOT_FOUND with a sentence for a view that there is not. */
int page_board_view(struct request *request, const char *view);
int board_live(struct request *request, const struct board *board); /* board_live.c */

struct shape_entry {
	int64_t position, place, is_tie, case_index, submission_id;
	const char *user, *role; /* role NULL: a user; else of a baseline, whose file it is */
	int64_t is_own;
	double mean_ns;
};
struct shape {
	int64_t number; /* from 1 */
	const struct shape_entry *entries;
	size_t count; /* the fastest first */
	double whole_bar_ns,
		light_ns; /* what a bar of the whole width is; the least that is possible, NAN: not known */
};
struct shapes_view {
	const struct board *board;
	const struct board_gpu *gpu; /* NULL: the leaderboard has none */
	const struct task_view *task;
	struct shape *shapes;
	size_t count;
	int64_t page, pages; /* of charted_cases each */
};

/* A part of a statement: a table of the devices in a list, which it is bound to, in their order. */
#define SQL_DEVICES \
	"JSON_TABLE(?, '$[*]' COLUMNS (number FOR ORDINALITY, gpu VARCHAR(48) CHARACTER SET ascii " \
	"COLLATE ascii_bin PATH '$'))"
/* All devices of the board, or one of them. */
const char *device_list(
	struct arena *arena, const struct board *board, const struct board_gpu *only);

struct scaling_entry {
	const char *gpu, *user;
	int64_t user_id, place, is_tie, submission_id;
	double score_ns;
};
struct scaling_user {
	const char *user;
	int64_t user_id;
	bool is_own;
	size_t style;
	const struct scaling_entry **entries;
	double slowest_ns;
}; /* by device; NULL: none there */
struct scaling_view {
	const struct board *board;
	struct scaling_user *users;
	size_t user_count;
	struct chart chart;
};

struct live_entry {
	const char *gpu, *user;
	int64_t position, place, is_tie, submitted_at_ms;
	double score_ns;
	/* with the first of a device: its newest record, and the one before; NAN: there was none */
	const char *record_user;
	int64_t record_at_ms;
	double record_ns, record_before_ns;
};
struct live_device {
	const char *gpu;
	const struct live_entry *entries;
	size_t count;
};
struct live_view {
	const struct board *board;
	const char *state;
	bool is_frozen;
	const struct live_entry *newest; /* whose record is the newest of all; NULL: there is none */
	struct live_device *devices;
	size_t device_count;
};

#endif
