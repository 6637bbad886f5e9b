#include "cgi/page/activity.h"

#include "lib/base/buffer.h"
#include "lib/base/scope.h"

#include <time.h>

static const int64_t day_ms = 24 * 60 * 60 * INT64_C(1000);

/* Returns the Monday of the week, 00:00 UTC. Day 0, 1 January 1970, was a Thursday. */
static int64_t monday_of(int64_t ms)
{
	int64_t day = ms / day_ms;
	return (day - (day + 3) % activity_week_days) * day_ms;
}

static void add_day(struct activity *activity, const struct activity_day *day)
{
	int64_t index = (day->day_ms - activity->monday_ms) / day_ms;
	if (day->day_ms < activity->monday_ms || index >= (int64_t)activity->day_count)
		return;
	int64_t *sum = &activity->days[index];
	activity->active_days += !*sum && day->submissions;
	*sum += day->submissions;
	activity->submissions += day->submissions;
	activity->most = *sum > activity->most ? *sum : activity->most;
}

struct activity activity_make(const struct activity_day *days, size_t count, int64_t now_ms)
{
	struct activity activity = { .monday_ms = monday_of(now_ms)
			- (int64_t)(activity_weeks - 1) * activity_week_days * day_ms };
	activity.day_count = (size_t)((now_ms - activity.monday_ms) / day_ms) + 1;
	for (size_t i = 0; i < count; i++)
		add_day(&activity, &days[i]);
	return activity;
}

int64_t activity_week_ms(const struct activity *activity, size_t week)
{
	return activity->monday_ms + (int64_t)week * activity_week_days * day_ms;
}

int64_t activity_of_week(const struct activity *activity, size_t week)
{
	int64_t sum = 0;
	for (size_t i = 0; i < activity_week_days; i++)
		sum += activity->days[week * activity_week_days + i];
	return sum;
}

/* ---- the picture ---- */

static int level_of(const struct activity *activity, size_t day)
{
	int64_t most = activity->most ? activity->most : 1;
	return (int)((activity->days[day] * activity_levels + most - 1) / most);
}

/* The stroke of a square begins in the middle of its left edge, beside a gap. */
static void move_to(struct buffer *out, size_t week, size_t weekday)
{
	enum { gap = 1 };
	buffer_printf(out, "M%zu %zuh", activity_left + week * activity_square + gap,
		activity_top + weekday * activity_square + activity_square / 2);
}

const char *activity_path(struct arena *arena, const struct activity *activity, int level)
{
	enum { width = 8 };
	cleanup_buffer struct buffer out = { 0 };
	for (size_t weekday = 0; !level && weekday < activity_week_days; weekday++) {
		size_t weeks =
			(activity->day_count - weekday + activity_week_days - 1) / activity_week_days;
		move_to(&out, 0, weekday);
		buffer_printf(&out, "%zu", weeks * activity_square);
	}
	for (size_t day = 0; level && day < activity->day_count; day++)
		if (level_of(activity, day) == level) {
			move_to(&out, day / activity_week_days, day % activity_week_days);
			buffer_printf(&out, "%d", width);
		}
	return arena_strdup(arena, buffer_string(&out));
}

const char *activity_month(const struct activity *activity, size_t week)
{
	static const char *const names[] = { "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug",
		"Sep", "Oct", "Nov", "Dec" };
	time_t sunday = (activity_week_ms(activity, week) + (activity_week_days - 1) * day_ms) / 1000;
	struct tm date;
	gmtime_r(&sunday, &date);
	return date.tm_mday <= activity_week_days ? names[date.tm_mon] : NULL;
}
