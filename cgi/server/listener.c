#include "cgi/server/listener.h"

#include "cgi/server/graceful_reload.h"
#include "lib/base/scope.h"
#include "lib/base/service.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

enum { backlog = 4096 };

static struct {
	int fd, stop; /* stop: an eventfd */
	bool is_own;
	atomic_bool stopping;
	struct sockaddr_un address;
} listener = { .fd = -1, .stop = -1 };

/* ---- opening ---- */

/* Whether a program already accepts connections at this path. */
static bool is_in_use(const struct sockaddr_un *address)
{
	cleanup_fd int probe = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	return probe >= 0 && connect(probe, (const struct sockaddr *)address, sizeof *address) == 0;
}

/* Removes a socket that a killed podium-web left. Anything else is an error. */
static int remove_stale_socket(const struct sockaddr_un *address, struct error *error)
{
	struct stat there;
	if (lstat(address->sun_path, &there))
		return 0;
	if (!S_ISSOCK(there.st_mode))
		return fail(error, ERROR_CONFLICT,
			"%s exists and is not a socket. Move it away, or set another fastcgi_socket.",
			address->sun_path);
	if (is_in_use(address))
		return fail(error, ERROR_CONFLICT,
			"Another podium-web already listens on %s. Stop it, or set another fastcgi_socket.",
			address->sun_path);
	unlink(address->sun_path);
	return 0;
}

static int open_own(const char *path, struct error *error)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	if (!*path)
		return fail(error, ERROR_INPUT,
			"Set PODIUM_FASTCGI_SOCKET to the path of the socket that nginx connects to.");
	static_assert(sizeof((struct config *)0)->fastcgi_socket <= sizeof address.sun_path,
		"a longer path would not fit");
	memcpy(address.sun_path, path, strlen(path));
	int rc = remove_stale_socket(&address, error);
	if (rc)
		return rc;
	listener.fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (listener.fd < 0 || bind(listener.fd, (const struct sockaddr *)&address, sizeof address)
		|| listen(listener.fd, backlog))
		return fail(error, ERROR_SYSTEM, "Cannot listen on %s: %s.", path,
			errno == ENOENT ? "its folder does not exist" : strerror(errno));
	/* nginx's workers may run as another user. The permissions of the folder decide who can
	 * connect. */
	chmod(path, 0666);
	listener.is_own = true;
	return 0;
}

static int find_listener(const struct config *config, struct error *error)
{
	int rc = graceful_reload_take(&listener.fd, &listener.is_own, error);
	if (!rc && listener.fd < 0)
		rc = service_take_listener(&listener.fd, error);
	return rc || listener.fd >= 0 ? rc : open_own(config->fastcgi_socket, error);
}

int listener_open(const struct config *config, struct error *error)
{
	int rc = find_listener(config, error);
	if (rc)
		return rc;
	socklen_t length = sizeof listener.address - 1; /* a path of maximum length has no NUL */
	listener.stop = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (listener.stop < 0 || getsockname(listener.fd, (struct sockaddr *)&listener.address, &length)
		|| fcntl(listener.fd, F_SETFL, fcntl(listener.fd, F_GETFL) | O_NONBLOCK))
		return fail(error, ERROR_SYSTEM, "Cannot use the socket for nginx: %s.", strerror(errno));
	return 0;
}

int listener_fd(void)
{
	return listener.fd;
}

bool listener_is_own(void)
{
	return listener.is_own;
}

const char *listener_name(void)
{
	return listener.address.sun_path;
}

/* ---- waiting ---- */

/* The kernel wakes one waiting thread for each connection, and all threads for the stop event. */
int listener_waiter(void)
{
	cleanup_fd int waiter = epoll_create1(EPOLL_CLOEXEC);
	struct epoll_event connection = { .events = EPOLLIN | EPOLLEXCLUSIVE, .data.fd = listener.fd };
	struct epoll_event end = { .events = EPOLLIN, .data.fd = listener.stop };
	if (waiter < 0 || epoll_ctl(waiter, EPOLL_CTL_ADD, listener.fd, &connection)
		|| epoll_ctl(waiter, EPOLL_CTL_ADD, listener.stop, &end))
		return -1;
	return steal_fd(&waiter);
}

static bool has_connection(void)
{
	struct pollfd place = { .fd = listener.fd, .events = POLLIN };
	return poll(&place, 1, 0) > 0 && place.revents & POLLIN;
}

bool listener_wait(int waiter)
{
	struct epoll_event event;
	while (!listener.stopping)
		if (epoll_wait(waiter, &event, 1, -1) > 0 && event.data.fd == listener.fd)
			return true;
	return listener.is_own && has_connection();
}

void listener_stop(void)
{
	/* Unlink before the threads stop: the next podium-web may bind the path meanwhile, and its
	 * socket must stay. */
	if (listener.is_own)
		unlink(listener.address.sun_path);
	listener.stopping = true;
	eventfd_write(listener.stop, 1); /* cannot fail: the eventfd is not full */
}

void listener_leave(void)
{
	listener.is_own = false;
	listener_stop();
}
