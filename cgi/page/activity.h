/* A user's submissions on each day of the last year, for the calendar on the user's page and its
 * table of weeks. */
#ifndef PODIUM_CGI_PAGE_ACTIVITY_H
#define PODIUM_CGI_PAGE_ACTIVITY_H

#include "lib/base/arena.h"

#include <stddef.h>
#include <stdint.h>

enum {
	activity_weeks = 53,
	activity_week_days = 7,
	activity_levels = 4, /* shades of the calendar for days with submissions */
	/* The picture in its own units: a day is a square, with names of months above and of weekdays
	 * on the left. */
	activity_square = 10,
	activity_left = 28,
	activity_top = 14
};

struct activity_day {
	int64_t day_ms, submissions;
}; /* day_ms: the day's 00:00 UTC */

struct activity {
	int64_t monday_ms;                                 /* the first day's 00:00 UTC */
	size_t day_count;                                  /* the last day is today */
	int64_t days[activity_weeks * activity_week_days]; /* submissions */
	int64_t submissions, active_days;
	int64_t most; /* on one day */
};

/* Ignores days before the first week and days after now_ms. */
struct activity activity_make(const struct activity_day *days, size_t count, int64_t now_ms);

int64_t activity_week_ms(const struct activity *activity, size_t week); /* its Monday, 00:00 UTC */
int64_t activity_of_week(const struct activity *activity, size_t week);

/* The squares of a level as the data of an SVG path whose stroke draws them. Level 1 has the days
 * up to a fourth of the most, and level 4 those above three fourths. Level 0 has all days, as
 * dashed lines. */
const char *activity_path(struct arena *arena, const struct activity *activity, int level);

/* "Jan" if a month begins in this week, else NULL. */
const char *activity_month(const struct activity *activity, size_t week);

#endif
