#include "cgi/succession.h"

#include "lib/scope.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

/* What the successor finds at which number, and the variable that says so: "own" or "given". */
enum { listener_at = 3, answer_at = 4 };
enum { patience_ms = 20000 };
static const char VARIABLE[] = "PODIUM_PREDECESSOR";

/* ---- the predecessor ---- */

static bool is_named(const char *entry, const char *name)
{
	size_t length = strlen(name);
	return strncmp(entry, name, length) == 0 && entry[length] == '=';
}

/* Our own variables, but for those that speak of this very process. */
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
			dropped = dropped || is_named(environ[i], DROPPED[k]);
		if (!dropped)
			made[kept++] = environ[i];
	}
	if (made)
		made[kept] = line;
	return made;
}

/* The new process: only what may be called between fork and exec in a process with threads. A
 * descriptor that already had its number would keep FD_CLOEXEC, so both come from numbers that
 * nobody has. */
static void become(const char *program, int listener, int answer, char **variables)
{
	char *const words[] = { (char *)(uintptr_t)program, NULL };
	sigset_t none;
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (dup2(listener, listener_at) == listener_at && dup2(answer, answer_at) == answer_at)
		execve(program, words, variables);
	_exit(EXIT_FAILURE);
}

/* It is made by a process that ends at once, so that the service manager becomes its parent before
 * it is told of it: systemd would not wait for the end of a main process that is not its child, and
 * kill it at once when the service is stopped. */
static int spawn(const char *program, int listener, int answer, char **variables)
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
			become(program, high_listener, high_answer, variables);
		_exit(child < 0 || write(high_answer, &child, sizeof child) != sizeof child);
	}
	int status;
	return waitpid(between, &status, 0) == between && status == 0 ? 0 : -1;
}

/* Its number comes first, then one byte when it serves; when it ends before, there is none. */
static int wait_for_answer(int answer, pid_t *child, struct error *error)
{
	struct pollfd place = { .fd = answer, .events = POLLIN };
	char byte;
	int there;
	if (read(answer, child, sizeof *child) != sizeof *child)
		return fail(error, ERROR_SYSTEM, "A successor cannot be started: %s.", strerror(errno));
	do
		there = poll(&place, 1, patience_ms);
	while (there < 0 && errno == EINTR);
	if (there > 0 && read(answer, &byte, 1) == 1)
		return 0;
	if (there > 0)
		return fail(error, ERROR_SYSTEM,
			"The successor could not start; its reason is above. This podium-web goes on as it "
		    "was.");
	kill(*child, SIGKILL);
	return fail(error, ERROR_SYSTEM,
		"The successor did not get ready within %d s, and was ended. This podium-web goes on as it "
	    "was.",
		patience_ms / 1000);
}

int succession_start(
	const char *program, int listener, bool is_own, pid_t *successor, struct error *error)
{
	char line[64];
	int ends[2];
	snprintf(line, sizeof line, "%s=%s", VARIABLE, is_own ? "own" : "given");
	cleanup_free char **variables = make_environment(line);
	if (!variables || pipe2(ends, O_CLOEXEC))
		return fail(error, ERROR_SYSTEM, "A successor cannot be started: %s.", strerror(errno));
	cleanup_fd int answer = ends[0];
	int rc = spawn(program, listener, ends[1], variables);
	close(ends[1]);
	return rc ? fail(error, ERROR_SYSTEM, "%s cannot be started: %s.", program, strerror(errno))
			  : wait_for_answer(answer, successor, error);
}

/* ---- the successor ---- */

static bool has_predecessor;

static bool is_pipe(int fd)
{
	struct stat about;
	return fstat(fd, &about) == 0 && S_ISFIFO(about.st_mode);
}

int succession_take(int *listener, bool *is_own, struct error *error)
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
		return fail(error, ERROR_INPUT, "%s is what one podium-web tells the next; do not set it.",
			VARIABLE);
	*listener = listener_at;
	return 0;
}

bool succession_tell(void)
{
	if (!has_predecessor)
		return false;
	ssize_t ignored = write(answer_at, "", 1); /* a predecessor that is gone needs no answer */
	(void)ignored;
	close(answer_at);
	return true;
}
