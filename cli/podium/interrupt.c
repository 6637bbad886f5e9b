#include "cli/podium/interrupt.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

int interrupt_open(struct interrupt *interrupt, struct error *error)
{
	sigset_t signals;
	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGHUP);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	*interrupt =
		(struct interrupt){ .descriptor = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK) };
	return interrupt->descriptor >= 0
		? 0
		: fail(error, ERROR_SYSTEM, "Cannot wait for signals: %s.", strerror(errno));
}

void interrupt_close(struct interrupt *interrupt)
{
	if (interrupt->descriptor >= 0)
		close(interrupt->descriptor);
	interrupt->descriptor = -1;
}

bool interrupt_wait(struct interrupt *interrupt, int timeout_ms)
{
	struct pollfd waiting = { .fd = interrupt->descriptor, .events = POLLIN };
	struct signalfd_siginfo about;
	if (poll(&waiting, 1, timeout_ms) <= 0
		|| read(interrupt->descriptor, &about, sizeof about) != (ssize_t)sizeof about)
		return false;
	if (!interrupt->signal)
		interrupt->signal = (int)about.ssi_signo;
	return true;
}
