/* The charts of a leaderboard: the trend of its best times, the times of each shape (a benchmark
 * case), all devices side by side, and a live view for projectors. Each chart takes one query,
 * which reads a bounded number of users and points through an index. */
#ifndef PODIUM_CGI_PAGE_LEADERBOARD_CHARTS_H
#define PODIUM_CGI_PAGE_LEADERBOARD_CHARTS_H

#include "cgi/page/shown_leaderboard.h"
#include "cgi/page/speed_of_light.h"
#include "cgi/page/task_view.h"
#include "cgi/render/chart.h"

enum { charted_users = 10, charted_points = 16, charted_cases = 24, live_entries = 10 };

/* ---- the trend of the best times: leaderboard_trend.c ---- */

struct trend_point {
	int64_t submission_id, at_ms;
	double score_ns, score_err_ns;
	const char *user;
};
struct trend_line {
	const char *user; /* NULL: the record over all users */
	bool is_own;
	size_t style;
	double best_ns, best_err_ns;
	/* Oldest first. If the user has more than charted_points points, only those with the largest
	 * improvements. */
	struct trend_point *points;
	size_t count;
};
/* A reference line: the speed of light, or a baseline. */
struct trend_mark {
	/* name and kind are "Speed of light" and "memory, 4.80 TB/s", or a baseline's file name and
	 * "template" or "sample". */
	const char *name, *kind;
	int64_t submission_id, at_ms; /* SQL_NULL_INTEGER and TIME_NULL: no submission */
	double err_ns;                /* NAN: unknown, or exact */
	const struct chart_mark *drawn;
};
struct trend {
	const struct shown_leaderboard *shown;
	const struct ranked_gpu *gpu;
	const struct speed_of_light *light;
	int64_t own_id; /* the viewer's user ID if ranked here, else 0 */
	struct trend_line *lines;
	/* The first ten users in ranking order, then the viewer, then the record over all users. */
	size_t line_count;
	struct trend_mark *marks;
	size_t mark_count;
	struct chart chart;
};

/* Renders the links to the views and the trend with its table as HTML. The caller fills the first
 * four members of `trend`. Each thread caches the HTML for up to 2 s, and *html is valid until the
 * thread's next request. */
int leaderboard_trend(struct request *request, struct trend *trend, const char **html);

/* Whether the speed of light, or else at least one baseline, is close enough to the lines to be
 * drawn. */
bool trend_has_levels(const struct trend *trend, bool is_bound);

/* ---- views: /leaderboard/NAME?view=... ---- */

/* An unknown view returns ERROR_NOT_FOUND with a message. */
int page_leaderboard_charts(struct request *request, const char *view);
int leaderboard_live(
	struct request *request, const struct shown_leaderboard *shown); /* leaderboard_live.c */
/* leaderboard_submissions.c */
int leaderboard_submissions(struct request *request, const struct shown_leaderboard *shown);

struct trend_view {
	const struct shown_leaderboard *shown;
	const struct ranked_gpu *gpu; /* NULL: the leaderboard has no device */
	const char *charts_html;      /* NULL without a device */
};

/* A job of a submission that the viewer may see. */
struct submitted_job {
	int64_t submission_id, user_id, submitted_at_ms;
	const char *user, *mode;
	const char *gpu, *state, *verdict; /* gpu NULL: no job; verdict NULL: none yet */
	double score_ns, score_err_ns;     /* NAN: none, or the viewer may not see it */
};
enum { submissions_per_page = 50 };
struct submissions_view {
	const struct shown_leaderboard *shown;
	const struct submitted_job *jobs;
	size_t count;
	int64_t before; /* the next page's first submission has a smaller ID; 0: there is none */
};

struct shape_entry {
	int64_t position, place, is_tie, case_index, submission_id;
	/* role NULL: a user's entry; else a baseline, and `user` is its file. */
	const char *user, *role;
	int64_t is_own;
	double mean_ns, err_ns;
};
struct shape {
	int64_t number; /* from 1 */
	const struct shape_entry *entries;
	size_t count; /* fastest first */
	/* The time that a full-width bar stands for, and the speed of light (NAN: unknown). */
	double whole_bar_ns, light_ns;
};
struct shapes_view {
	const struct shown_leaderboard *shown;
	const struct ranked_gpu *gpu; /* NULL: the leaderboard has no device */
	const struct task_view *task;
	struct shape *shapes;
	size_t count;
	int64_t page, pages; /* page number and count; a page has charted_cases shapes */
};

/* SQL expression: a table of the devices in the bound JSON array, in the array's order. */
#define SQL_DEVICES \
	"JSON_TABLE(?, '$[*]' COLUMNS (number FOR ORDINALITY, gpu VARCHAR(48) CHARACTER SET ascii " \
	"COLLATE ascii_bin PATH '$'))"
/* Returns a JSON array for SQL_DEVICES: all devices of the leaderboard, or only one. */
const char *device_list(
	struct arena *arena, const struct shown_leaderboard *shown, const struct ranked_gpu *only);

/* The index of a device of the leaderboard, or gpu_count if it has none of that name. */
size_t device_index(const struct shown_leaderboard *shown, const char *gpu);

struct scaling_entry {
	const char *gpu, *user;
	int64_t user_id, place, is_tie, submission_id;
	double score_ns, score_err_ns;
};
struct scaling_user {
	const char *user;
	int64_t user_id;
	bool is_own;
	size_t style;
	const struct scaling_entry **entries; /* one for each device; NULL: no result there */
	double slowest_ns;
};
struct scaling_view {
	const struct shown_leaderboard *shown; /* with the chosen devices only */
	const struct shown_leaderboard *whole; /* with all devices */
	struct scaling_user *users;
	size_t user_count;
	struct chart chart;
};

struct live_entry {
	const char *gpu, *user;
	int64_t position, place, is_tie, submitted_at_ms;
	double score_ns, score_err_ns;
	double above_ns; /* the fastest time of the group above; NAN: none */
	/* Only in the first entry of each device: the device's newest record, and the time of the
	 * record before it. NAN: no record. */
	const char *record_user;
	int64_t record_at_ms;
	double record_ns, record_err_ns, record_before_ns;
};
struct live_device {
	const char *gpu;
	double fastest_ns;
	const struct live_entry *entries;
	size_t count;
};
struct live_view {
	const struct shown_leaderboard *shown;
	const char *state;
	bool is_frozen;
	/* The entry that has the newest record of all devices, or NULL. */
	const struct live_entry *newest;
	struct live_device *devices;
	size_t device_count;
};

#endif
