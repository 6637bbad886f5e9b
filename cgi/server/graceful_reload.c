#include "cgi/server/graceful_reload.h"

#include "lib/base/scope.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

/* Descriptors that the successor inherits. The environment variable VARIABLE tells the successor
 * that it has them. Its value is "own" if podium-web opened the listening socket, "given" if the
 * service manager did. */
enum { listener_at = 3, answer_at = 4 };
enum { ready_within_ms = 20000 };
static const char VARIABLE[] = "PODIUM_PREDECESSOR";

/* ---- the predecessor ---- */

static bool entry_has_name(const char *entry, const char *name)
{
	size_t length = strlen(name);
	return strncmp(entry, name, length) == 0 && entry[length] == '=';
}

/* Returns this process's environment plus `line`, without the variables that concern only this
 * process. The caller frees the array, not its strings. */
static char **make_environment(char *line)
{
	static const char *const DROPPED[] = { "LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES",
		"WATCHDOG_PID", VARIABLE };
	size_t count = 0, kept = 0;
	while (environ[count])
		count++;
	char **made = calloc(count + 2, sizeof *made);
	for (size_t i = 0; made && i < count; i++) {
		bool dropped = false;
		for (size_t k = 0; k < COUNT(DROPPED); k++)
			dropped = dropped || entry_has_name(environ[i], DROPPED[k]);
		if (!dropped)
			made[kept++] = environ[i];
	}
	if (made)
		made[kept] = line;
	return made;
}

/* Runs in the new process. In a program with threads, only async-signal-safe functions may run
 * between fork and exec. dup2 of a descriptor onto its own number would keep FD_CLOEXEC, so the
 * caller passes both descriptors with higher numbers. */
static void exec_successor(const char *program, int listener, int answer, char **variables)
{
	char *const words[] = { (char *)(uintptr_t)program, NULL };
	sigset_t none;
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (dup2(listener, listener_at) == listener_at && dup2(answer, answer_at) == answer_at)
		execve(program, words, variables);
	_exit(EXIT_FAILURE);
}

/* An intermediate process forks the successor and exits. The service manager thus becomes the
 * successor's parent before podium-web announces the successor as the service's main process.
 * systemd does not wait for a main process that is not its child: when the service stops, systemd
 * kills such a process without letting it finish. */
static int spawn_successor(const char *program, int listener, int answer, char **variables)
{
	enum { above_all = 10 };
	cleanup_fd int high_listener = fcntl(listener, F_DUPFD_CLOEXEC, above_all),
				   high_answer = fcntl(answer, F_DUPFD_CLOEXEC, above_all);
	pid_t between = high_listener >= 0 && high_answer >= 0 ? fork() : -1;
	if (between < 0)
		return -1;
	if (!between) {
		pid_t child = _Fork();
		if (!child)
			exec_successor(program, high_listener, high_answer, variables);
		_exit(child < 0 || write(high_answer, &child, sizeof child) != sizeof child);
	}
	int status;
	return waitpid(between, &status, 0) == between && status == 0 ? 0 : -1;
}

/* The intermediate process writes the successor's pid. The successor writes one byte once it
 * accepts requests; EOF means that it died first. */
static int wait_for_answer(int answer, pid_t *child, struct error *error)
{
	struct pollfd place = { .fd = answer, .events = POLLIN };
	char byte;
	int ready;
	if (read(answer, child, sizeof *child) != sizeof *child)
		return fail(error, ERROR_SYSTEM, "Cannot start a successor: %s.", strerror(errno));
	do
		ready = poll(&place, 1, ready_within_ms);
	while (ready < 0 && errno == EINTR);
	if (ready > 0 && read(answer, &byte, 1) == 1)
		return 0;
	if (ready > 0)
		return fail(error, ERROR_SYSTEM,
			"The successor could not start: see its messages above. This podium-web continues "
			"with its old settings.");
	kill(*child, SIGKILL);
	return fail(error, ERROR_SYSTEM,
		"The successor was not ready within %d s and was stopped. This podium-web continues with "
		"its old settings.",
		ready_within_ms / 1000);
}

int graceful_reload_start(
	const char *program, int listener, bool is_own, pid_t *successor, struct error *error)
{
	char line[64];
	int ends[2];
	snprintf(line, sizeof line, "%s=%s", VARIABLE, is_own ? "own" : "given");
	cleanup_free char **variables = make_environment(line);
	if (!variables || pipe2(ends, O_CLOEXEC))
		return fail(error, ERROR_SYSTEM, "Cannot start a successor: %s.", strerror(errno));
	cleanup_fd int answer = ends[0];
	int rc = spawn_successor(program, listener, ends[1], variables);
	close(ends[1]);
	return rc ? fail(error, ERROR_SYSTEM, "Cannot start %s: %s.", program, strerror(errno))
			  : wait_for_answer(answer, successor, error);
}

/* ---- the successor ---- */

static bool has_predecessor;

static bool is_pipe(int fd)
{
	struct stat about;
	return fstat(fd, &about) == 0 && S_ISFIFO(about.st_mode);
}

int graceful_reload_take(int *listener, bool *is_own, struct error *error)
{
	const char *text = getenv(VARIABLE);
	*listener = -1;
	*is_own = text && strcmp(text, "own") == 0;
	if (!text)
		return 0;
	has_predecessor = is_pipe(answer_at) && fcntl(listener_at, F_SETFD, FD_CLOEXEC) == 0
		&& fcntl(answer_at, F_SETFD, FD_CLOEXEC) == 0;
	unsetenv(VARIABLE);
	if (!has_predecessor)
		return fail(error, ERROR_INPUT,
			"The variable %s is set, but no podium-web has set it. Unset it.", VARIABLE);
	*listener = listener_at;
	return 0;
}

bool graceful_reload_tell(void)
{
	if (!has_predecessor)
		return false;
	ssize_t ignored = write(answer_at, "", 1); /* a predecessor that has died needs no answer */
	(void)ignored;
	close(answer_at);
	return true;
}
