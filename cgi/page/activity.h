/* A user's submissions in each week of the last year, for the chart on the user's page and its
 * table. */
#ifndef PODIUM_CGI_PAGE_ACTIVITY_H
#define PODIUM_CGI_PAGE_ACTIVITY_H

#include <stddef.h>
#include <stdint.h>

enum {
	activity_weeks = 53,
	activity_height = 48 /* height of the tallest bar, in units of the picture */
};

struct activity_day {
	int64_t day_ms, submissions;
}; /* day_ms: the day's 00:00 UTC */

struct activity_week {
	int64_t monday_ms; /* 00:00 UTC */
	int64_t submissions;
	int64_t height; /* height of the week's bar; 0 only without submissions */
};

struct activity {
	/* Oldest first; the last one is the current week. */
	struct activity_week weeks[activity_weeks];
	int64_t submissions, most; /* in total, and in the busiest week */
};

/* Ignores days before the first week and days after now_ms. */
struct activity activity_make(const struct activity_day *days, size_t count, int64_t now_ms);

#endif
