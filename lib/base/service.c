#include "lib/base/service.h"

#include "lib/base/buffer.h"
#include "lib/base/clock.h"
#include "lib/base/scope.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>

void service_take_signals(sigset_t *signals)
{
	sigemptyset(signals);
	sigaddset(signals, SIGTERM);
	sigaddset(signals, SIGINT);
	sigaddset(signals, SIGHUP);
	pthread_sigmask(SIG_BLOCK, signals, NULL);
	signal(SIGPIPE, SIG_IGN);
}

/* ---- notifications ---- */

bool service_is_followed(void)
{
	const char *path = getenv("NOTIFY_SOCKET");
	return path && *path;
}

/* Ignores errors: a manager that no longer listens is no reason to fail. */
static void send_notification(const struct buffer *message)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	const char *path = getenv("NOTIFY_SOCKET");
	size_t length = path ? strlen(path) : 0;
	if (!length || length >= sizeof address.sun_path)
		return;
	memcpy(address.sun_path, path, length);
	if (address.sun_path[0] == '@') /* abstract socket (unix(7)) */
		address.sun_path[0] = '\0';
	cleanup_fd int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	ssize_t ignored = sendto(fd, message->data, message->length, MSG_NOSIGNAL | MSG_DONTWAIT,
		(const struct sockaddr *)&address,
		(socklen_t)(offsetof(struct sockaddr_un, sun_path) + length));
	(void)ignored;
}

/* Sends only the first line, because the manager reads a second line as another variable. */
static void add_status(struct buffer *message, const char *status)
{
	buffer_text(message, "\nSTATUS=");
	buffer_append(message, status, strcspn(status, "\n"));
}

void service_ready(const char *status)
{
	cleanup_buffer struct buffer message = { 0 };
	buffer_text(&message, "READY=1");
	add_status(&message, status);
	send_notification(&message);
}

void service_reloading(void)
{
	cleanup_buffer struct buffer message = { 0 };
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	buffer_printf(&message,
		"RELOADING=1\nMONOTONIC_USEC=%lld\nSTATUS=Starting a successor with the new settings",
		(long long)now.tv_sec * 1000000 + now.tv_nsec / 1000);
	send_notification(&message);
}

void service_stopping(const char *status)
{
	cleanup_buffer struct buffer message = { 0 };
	buffer_text(&message, "STOPPING=1");
	add_status(&message, status);
	send_notification(&message);
}

void service_extend(int64_t ms)
{
	cleanup_buffer struct buffer message = { 0 };
	buffer_printf(&message, "EXTEND_TIMEOUT_USEC=%lld", (long long)ms * 1000);
	send_notification(&message);
}

void service_hand_over(pid_t successor)
{
	cleanup_buffer struct buffer message = { 0 };
	buffer_printf(&message, "READY=1\nMAINPID=%lld\nSTATUS=Serving with the new settings",
		(long long)successor);
	send_notification(&message);
}

/* ---- the watchdog ---- */

static bool is_for_this_process(const char *variable)
{
	const char *text = getenv(variable);
	return !text || strtoll(text, NULL, 10) == getpid();
}

int64_t service_watch_ms(void)
{
	const char *text = getenv("WATCHDOG_USEC");
	long long limit_us = text && is_for_this_process("WATCHDOG_PID") ? strtoll(text, NULL, 10) : 0;
	return limit_us <= 0 || !service_is_followed() ? 0 : limit_us < 3000 ? 1 : limit_us / 3000;
}

void service_alive(void)
{
	cleanup_buffer struct buffer message = { 0 };
	buffer_text(&message, "WATCHDOG=1");
	send_notification(&message);
}

/* ---- inherited sockets ---- */

static bool is_listening(int fd)
{
	struct sockaddr_un address;
	socklen_t length = sizeof address;
	int listens = 0;
	socklen_t size = sizeof listens;
	return getsockname(fd, (struct sockaddr *)&address, &length) == 0
		&& address.sun_family == AF_UNIX
		&& getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) == 0 && listens;
}

int service_take_listener(int *listener, struct error *error)
{
	enum { first = 3 };
	const char *process = getenv("LISTEN_PID"), *count = getenv("LISTEN_FDS");
	bool given =
		process && count && strtoll(process, NULL, 10) == getpid() && strcmp(count, "0") != 0;
	long long number = given ? strtoll(count, NULL, 10) : 0;
	unsetenv("LISTEN_PID");
	unsetenv("LISTEN_FDS");
	unsetenv("LISTEN_FDNAMES");
	*listener = -1;
	if (!given)
		return 0;
	if (number != 1 || !is_listening(first))
		return fail(error, ERROR_INPUT,
			"The service manager did not pass exactly one listening Unix socket. Check "
			"podium-web.socket.");
	fcntl(first, F_SETFD, FD_CLOEXEC);
	*listener = first;
	return 0;
}

/* ---- detecting stuck threads ---- */

void beat_busy(struct beat *beat)
{
	atomic_store_explicit(&beat->since_ms, clock_ms(), memory_order_relaxed);
}

void beat_idle(struct beat *beat)
{
	atomic_store_explicit(&beat->since_ms, 0, memory_order_relaxed);
}

size_t beats_stuck(const struct beat *beats, size_t count, int64_t limit_ms)
{
	size_t stuck = 0;
	int64_t now = clock_ms();
	for (size_t i = 0; i < count; i++) {
		int64_t since = atomic_load_explicit(&beats[i].since_ms, memory_order_relaxed);
		stuck += since && now - since > limit_ms;
	}
	return stuck;
}
