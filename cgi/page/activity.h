/* How busy a user was in each week of the last year: what the picture on his page and the table
 * behind it show. */
#ifndef PODIUM_CGI_ACTIVITY_H
#define PODIUM_CGI_ACTIVITY_H

#include <stddef.h>
#include <stdint.h>

enum {
	activity_weeks = 53,
	activity_height = 48
}; /* the height of the tallest bar, in units of the picture */

struct activity_day {
	int64_t day_ms, submissions;
}; /* day_ms: 00:00 UTC */

struct activity_week {
	int64_t monday_ms; /* 00:00 UTC */
	int64_t submissions;
	int64_t height; /* of its bar; 0 only without submissions */
};

struct activity {
	struct activity_week
		weeks[activity_weeks]; /* the oldest first, the last one is the week of now */
	int64_t submissions, most; /* of all, and of the busiest week */
};

/* Days before the first week, or after now, are left out. */
struct activity activity_make(const struct activity_day *days, size_t count, int64_t now_ms);

#endif
