/* Data for the archive and for the front page, which shows each leaderboard's record on each
 * device. */
#ifndef PODIUM_CGI_PAGE_HOME_H
#define PODIUM_CGI_PAGE_HOME_H

#include "lib/base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One device of a leaderboard. */
struct home_row {
	int64_t leaderboard_id, is_public;
	const char *name, *language;
	const char *description; /* the beginning of the Markdown; NULL in a test */
	int64_t deadline_ms, accepting, practice;
	int64_t is_frozen, is_closed;      /* the ranking; for members only */
	int64_t participants, submissions; /* users who submitted, and their submissions */
	int64_t active_at_ms;              /* the newest submission; TIME_NULL: none */
	const char *gpu;                   /* NULL: the leaderboard has no device */
	const char *engine;                /* NULL: not stored yet */
	int64_t entries;                   /* ranked users; SQL_NULL_INTEGER: none */
	/* The record and the user who holds it; NULL: nobody is ranked. */
	const char *holder;
	int64_t record_at_ms;
	double record_ns, record_err_ns;
	int64_t own_place, own_tie; /* the viewer's rank; SQL_NULL_INTEGER: not ranked */
	double own_ns, own_err_ns;
};

struct home_leaderboard {
	const char *name, *language, *state;
	const char *summary; /* the first sentence of the description as plain text */
	int64_t deadline_ms; /* TIME_NULL: none */
	int64_t participants, submissions;
	int64_t active_at_ms;        /* the newest submission or record; TIME_NULL: none */
	const struct home_row *gpus; /* one row for each device */
	size_t gpu_count;
	bool waits; /* no worker offers one of the devices */
	bool is_frozen, is_closed, is_hidden;
};

/* The sections of the page: active leaderboards; practice (after the deadline, but still accepting
 * submissions); those that ended or that an admin closed. */
enum home_part { HOME_ACTIVE, HOME_PRACTICE, HOME_ENDED, home_parts };
struct home_section {
	const char *title, *id;
	const struct home_leaderboard *leaderboards;
	size_t count;
};

/* What happens on the site now. */
struct home_site {
	int64_t running, queued, finished; /* jobs; finished: since midnight UTC */
	const char *offered;               /* GPU models that workers offer, "B200, H200"; NULL: none */
};
enum { home_most_counted = 1000 }; /* the figures stop there */
struct request;
int home_site_read(struct request *request, struct home_site *site);

/* The filters in the address; "" selects everything. */
struct home_filter {
	const char *text; /* part of the name or the summary */
	const char *gpu, *engine;
};

struct home_view {
	struct home_section sections[home_parts];
	size_t count; /* number of leaderboards */
	bool takes;   /* at least one leaderboard accepts submissions */
	struct home_site site;
	const struct home_leaderboard *newest; /* has the newest record, on newest_gpu; or NULL */
	const struct home_row *newest_gpu;
	struct home_filter filter;
	bool is_filtered;
	/* All devices and engines of the visible leaderboards, for the filter. */
	const char **gpus, **engines;
	size_t gpu_count, engine_count;
	const struct internal_errors *internal_errors; /* on the viewer's leaderboards, unseen */
	size_t internal_error_count;
};

/* Moves the rows that the filter selects to the front. Returns how many they are. */
size_t home_rows_filter(
	struct arena *arena, struct home_row *rows, size_t count, const struct home_filter *filter);

/* Builds the view from rows sorted by leaderboard and device. Sorts active leaderboards and those
 * for practice by their newest submission, and ended ones with the latest deadline first. */
struct home_view home_view_make(struct arena *arena, const struct home_row *rows, size_t count,
	const struct home_site *site, int64_t now_ms);

/* Returns the first sentence of Markdown as plain text, shortened to a line. */
const char *home_summary(struct arena *arena, const char *markdown);

struct archive_row {
	const char *name, *language;
	int64_t deadline_ms, archived_at_ms;
};

#endif
