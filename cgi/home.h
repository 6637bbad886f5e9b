/* What the front page shows: every leaderboard with the first three of each device. */
#ifndef PODIUM_CGI_HOME_H
#define PODIUM_CGI_HOME_H

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

#endif
