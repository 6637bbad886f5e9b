#include "inside.h"

#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static char why[512];

const char *isolated_why(void)
{
	return why;
}

int isolated_fail(int error, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(why, sizeof why, format, arguments);
	va_end(arguments);
	return error;
}

int isolated_no_memory(void)
{
	return isolated_fail(ISOLATED_FAILED, "There is not enough memory.");
}

int isolated_fail_errno(const char *format, ...)
{
	const char *meaning = strerror(errno);
	char what[sizeof why / 2];
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(what, sizeof what, format, arguments);
	va_end(arguments);
	return isolated_fail(ISOLATED_FAILED, "%s: %s.", what, meaning);
}

void isolated_spin_until(int64_t at_ns)
{
	while (isolated_clock_ns() < at_ns)
		isolated_pause();
}

void isolated_sleep(int64_t ns)
{
	nanosleep(&(struct timespec){ .tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000 }, NULL);
}

/* Not FUTEX_PRIVATE, because two processes share the word. */
void isolated_sleep_on(const uint32_t *word, uint32_t value, int64_t most_ns)
{
	const struct timespec most = { .tv_sec = most_ns / 1000000000,
		.tv_nsec = most_ns % 1000000000 };
	if (syscall(SYS_futex, word, FUTEX_WAIT, value, &most, NULL, 0) && errno == ENOSYS)
		isolated_sleep(50 * isolated_ns_per_us);
}

void isolated_wake(const uint32_t *word)
{
	syscall(SYS_futex, word, FUTEX_WAKE, 1, NULL, NULL, 0);
}

void isolated_make_way(void)
{
	enum { enough = 3 }; /* a judge, a contestant, and all else */
	static long count;   /* of all CPUs: during a call this thread is bound to one */
	if (!count)
		count = sysconf(_SC_NPROCESSORS_ONLN);
	if (count > 0 && count < enough)
		sched_yield();
}

bool isolated_hung_up(int socket)
{
	struct pollfd looked = { .fd = socket, .events = POLLRDHUP };
	return poll(&looked, 1, 0) > 0;
}
