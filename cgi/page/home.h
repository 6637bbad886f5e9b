/* What the front page shows: every leaderboard with the first three of each device. */
#ifndef PODIUM_CGI_HOME_H
#define PODIUM_CGI_HOME_H

#include "lib/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { home_top = 3 };

struct home_entry {
	int64_t place, user_id;
	bool is_tie; /* shares its place with a neighbour, who may be the fourth */
	const char *user;
	double score_ns;
};

struct home_gpu {
	const char *name;
	int64_t entries; /* users that are ranked */
	struct home_entry top[home_top];
	size_t top_count;
};

struct home_board {
	const char *name, *language, *state;
	int64_t deadline_ms; /* TIME_NULL: none */
	int64_t participants, submissions;
	struct home_gpu *gpus;
	size_t gpu_count;
};

/* Active; practice: the deadline is over, and submissions are still taken; ended, or closed by an
 * admin. */
enum home_part { HOME_ACTIVE, HOME_PRACTICE, HOME_ENDED, home_parts };
struct home_section {
	const char *title, *id;
	const struct home_board *boards;
	size_t count;
};

struct home_view {
	struct home_section sections[home_parts];
	size_t count; /* of leaderboards */
	bool takes;   /* one of them takes submissions */
};

/* One of the first places on one device of a leaderboard, as the database gives it. */
struct home_row {
	const char *name, *language;
	int64_t deadline_ms, accepting, practice;
	int64_t participants, submissions; /* who ever submitted, and how often */
	const char *gpu;                   /* NULL: the leaderboard has none */
	int64_t entries;                   /* in one row of each device, else SQL_NULL_INTEGER */
	int64_t place, user_id;
	const char *user;   /* NULL: nobody has this place */
	int64_t next_place; /* of whoever is behind, in the row of the third; else SQL_NULL_INTEGER */
	double score_ns;
};

/* Of rows that are sorted by leaderboard and device. Active ones stand in the order of their
 * deadlines, then those without one; in the other sections the one that ended last is first, and
 * those without a deadline are last. */
struct home_view home_view_make(
	struct arena *arena, const struct home_row *rows, size_t count, int64_t now_ms);

#endif
