/* A library for LD_PRELOAD that shifts a program's wall clock by the number of seconds in the file
 * JUMP_FILE. The monotonic clocks, which nobody can set, stay unchanged. */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static long jump_s(void)
{
	const char *path = getenv("JUMP_FILE");
	char text[32] = "";
	int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	if (file >= 0) {
		if (read(file, text, sizeof text - 1) < 0)
			text[0] = '\0';
		close(file);
	}
	return atol(text);
}

int clock_gettime(clockid_t clock, struct timespec *now)
{
	static int (*real)(clockid_t clock, struct timespec * now);
	if (!real)
		real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
	int rc = real(clock, now);
	if (!rc && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
		now->tv_sec += jump_s();
	return rc;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone)
{
	struct timespec exact;
	(void)zone;
	int rc = clock_gettime(CLOCK_REALTIME, &exact);
	now->tv_sec = exact.tv_sec;
	now->tv_usec = exact.tv_nsec / 1000;
	return rc;
}

time_t time(time_t *now)
{
	struct timespec exact;
	clock_gettime(CLOCK_REALTIME, &exact);
	if (now)
		*now = exact.tv_sec;
	return exact.tv_sec;
}
