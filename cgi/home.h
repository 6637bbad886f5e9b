/* What the front page shows: every leaderboard with the first three of each device. */
#ifndef PODIUM_CGI_HOME_H
#define PODIUM_CGI_HOME_H

#include "lib/arena.h"

#include <stddef.h>
#include <stdint.h>

enum { home_top = 3 };

struct home_entry {
	int64_t place, user_id;
	const char *user;
	double score_ns;
};

struct home_gpu {
	const char *name;
	int64_t entries;                /* users that are ranked */
	struct home_entry top[home_top]; size_t top_count;
};

struct home_board {
	const char *name, *language, *state;
	int64_t deadline_ms;            /* TIME_NULL: none */
	struct home_gpu *gpus; size_t gpu_count;
};

struct home_view {
	const struct home_board *active; size_t active_count;
	const struct home_board *over; size_t over_count;   /* ended, or closed by an admin */
};

/* One of the first places on one device of a leaderboard, as the database gives it. */
struct home_row {
	const char *name, *language;
	int64_t deadline_ms, accepting;
	const char *gpu;                /* NULL: the leaderboard has none */
	int64_t entries;                /* in one row of each device, else SQL_NULL_INTEGER */
	int64_t place, user_id;
	const char *user;               /* NULL: nobody has this place */
	double score_ns;
};

/* Rows that are sorted by leaderboard and device. Active ones come first: the soonest deadline, then those without
 * one; then the others: the one that ended last, then those without a deadline. */
struct home_view home_view_make(struct arena *arena, const struct home_row *rows, size_t count, int64_t now_ms);

#endif
