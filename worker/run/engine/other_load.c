#include "worker/run/engine/other_load.h"

#include "lib/base/clock.h"
#include "lib/base/scope.h"

#include <math.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

/* Adds up the columns of the line "cpu" (proc(5)) in which a CPU was not idle. Leaves out "guest",
 * which is a part of "user". */
bool load_read(const char *text, double *ticks)
{
	double user, nice, system, idle, iowait, irq, softirq, steal;
	if (sscanf(text, "cpu %lf %lf %lf %lf %lf %lf %lf %lf", &user, &nice, &system, &idle, &iowait,
			&irq, &softirq, &steal)
		!= 8)
		return false;
	*ticks = user + nice + system + irq + softirq + steal;
	return true;
}

static double seconds_of(int who)
{
	struct rusage usage;
	if (getrusage(who, &usage))
		return NAN;
	return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec)
		+ (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

struct load load_now(void)
{
	char text[512] = "";
	double ticks;
	cleanup_file FILE *file = fopen("/proc/stat", "re");
	bool is_known = file && fgets(text, sizeof text, file) && load_read(text, &ticks);
	return (struct load){
		.all_s = is_known ? ticks / (double)sysconf(_SC_CLK_TCK) : NAN,
		.own_s = seconds_of(RUSAGE_SELF) + seconds_of(RUSAGE_CHILDREN),
		.at_ms = clock_ms(),
	};
}

double load_of_others(const struct load *before, const struct load *after)
{
	double others_s = after->all_s - before->all_s - (after->own_s - before->own_s);
	/* fmax ignores NAN. */
	return after->at_ms > before->at_ms
		? fmax(0, others_s / ((double)(after->at_ms - before->at_ms) / 1e3))
		: 0;
}
