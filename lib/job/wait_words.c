/* Separate from wait.c, so that programs without a database can use it. */
#include "lib/job/wait.h"

#include <math.h>

const char *wait_words(struct arena *arena, double start_ms)
{
	enum { second = 1000, minute = 60 * second, hour = 60 * minute, soon = 5 * second, step = 10 };
	if (isnan(start_ms))
		return NULL;
	if (start_ms <= soon)
		return "at once";
	if (start_ms <= 50 * second)
		return arena_printf(
			arena, "in about %lld s", (long long)ceil(start_ms / (step * second)) * step);
	if (start_ms <= 59 * minute)
		return arena_printf(arena, "in about %lld min", (long long)ceil(start_ms / minute));
	if (start_ms > 24.0 * hour)
		return "in more than a day";
	long long minutes = (long long)ceil(start_ms / (step * minute)) * step;
	return minutes % 60
		? arena_printf(arena, "in about %lld h %lld min", minutes / 60, minutes % 60)
		: arena_printf(arena, "in about %lld h", minutes / 60);
}

const char *wait_obstacle(const struct wait *wait)
{
	if (!wait->online)
		return " No worker with this device is online, so the job waits until one is.";
	if (wait->paused == wait->online)
		return " An admin paused the device, so the job waits until it is resumed.";
	if (!wait->devices)
		return " No such device works now: all are paused or have failed. The job waits until an "
			   "admin has fixed one.";
	return wait->elsewhere == wait->devices
		? " Another Podium on this machine uses this device, so the job waits until that one’s job "
		  "is done."
		: "";
}
