#include "cgi/page/activity.h"

static const int64_t day_ms = 24 * 60 * 60 * INT64_C(1000);

/* Returns the Monday of the week, 00:00 UTC. Day 0, 1 January 1970, was a Thursday. */
static int64_t monday_of(int64_t ms)
{
	int64_t day = ms / day_ms;
	return (day - (day + 3) % 7) * day_ms;
}

static void add_day(struct activity *activity, const struct activity_day *day)
{
	int64_t week = (monday_of(day->day_ms) - activity->weeks[0].monday_ms) / (7 * day_ms);
	if (day->day_ms < activity->weeks[0].monday_ms || week >= activity_weeks)
		return;
	struct activity_week *its = &activity->weeks[week];
	its->submissions += day->submissions;
	activity->submissions += day->submissions;
	if (its->submissions > activity->most)
		activity->most = its->submissions;
}

struct activity activity_make(const struct activity_day *days, size_t count, int64_t now_ms)
{
	struct activity activity = { 0 };
	for (size_t i = 0; i < activity_weeks; i++)
		activity.weeks[i].monday_ms =
			monday_of(now_ms) - (int64_t)(activity_weeks - 1 - i) * 7 * day_ms;
	for (size_t i = 0; i < count; i++)
		if (days[i].day_ms <= now_ms)
			add_day(&activity, &days[i]);
	for (size_t i = 0; i < activity_weeks; i++) {
		struct activity_week *week = &activity.weeks[i];
		if (week->submissions)
			week->height =
				(week->submissions * activity_height + activity.most - 1) / activity.most;
	}
	return activity;
}
