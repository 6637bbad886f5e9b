/* Data for the front page, which shows the first three users of every leaderboard on each device,
 * and for the archive. */
#ifndef PODIUM_CGI_PAGE_HOME_H
#define PODIUM_CGI_PAGE_HOME_H

#include "lib/base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { home_top = 3 };

struct home_entry {
	int64_t place, user_id;
	bool is_tie; /* others share the place */
	const char *user;
	double score_ns, score_err_ns;
};

struct home_gpu {
	const char *name, *engine; /* engine NULL: not stored yet */
	int64_t entries;           /* ranked users */
	struct home_entry top[home_top];
	size_t top_count;
};

struct home_leaderboard {
	const char *name, *language, *state;
	int64_t deadline_ms; /* TIME_NULL: none */
	int64_t participants, submissions;
	struct home_gpu *gpus;
	size_t gpu_count;
};

/* The sections of the page: active leaderboards; practice (after the deadline, but still accepting
 * submissions); those that ended or that an admin closed. */
enum home_part { HOME_ACTIVE, HOME_PRACTICE, HOME_ENDED, home_parts };
struct home_section {
	const char *title, *id;
	const struct home_leaderboard *leaderboards;
	size_t count;
};

struct home_view {
	struct home_section sections[home_parts];
	size_t count; /* number of leaderboards */
	bool takes;   /* at least one leaderboard accepts submissions */
	/* The filter by engine, "" without one, and whether the page offers it, because leaderboards
	 * have several engines. */
	const char *engine;
	bool has_filter;
	const struct internal_errors *internal_errors; /* on the viewer's leaderboards, unseen */
	size_t internal_error_count;
};

/* A row of the query: one of the first three positions on one device of a leaderboard. */
struct home_row {
	const char *name, *language;
	int64_t deadline_ms, accepting, practice;
	int64_t participants, submissions; /* users who submitted, and their submissions */
	const char *gpu;                   /* NULL: the leaderboard has no device */
	const char *engine;                /* set in the first row of each device */
	int64_t entries;                   /* set in one row of each device, else SQL_NULL_INTEGER */
	int64_t place, user_id;
	const char *user; /* NULL: this place is empty */
	int64_t is_tie;
	double score_ns, score_err_ns;
};

/* Moves the rows of devices with this engine to the front. Returns how many they are. */
size_t home_rows_of_engine(struct home_row *rows, size_t count, const char *engine);

/* Builds the view from rows sorted by leaderboard and device. Sorts active leaderboards by
 * deadline, the earliest first, and the others with the latest deadline first. In every section,
 * leaderboards without a deadline come last. */
struct home_view home_view_make(
	struct arena *arena, const struct home_row *rows, size_t count, int64_t now_ms);

struct archive_row {
	const char *name, *language;
	int64_t deadline_ms, archived_at_ms;
};

#endif
