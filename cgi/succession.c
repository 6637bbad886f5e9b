#include "cgi/succession.h"

#include "lib/scope.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>

/* What the successor finds at which number, and the variable that says so: "PID own" or "PID given". */
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
	static const char *const DROPPED[] = { "LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES", "WATCHDOG_PID", VARIABLE };
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

/* A descriptor that already has its number would keep FD_CLOEXEC, so both go by numbers that nobody has. */
static int spawn(const char *program, int listener, int answer, char **variables, pid_t *child)
{
	enum { above_all = 10 };
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attributes;
	sigset_t none;
	char *const words[] = { (char *)(uintptr_t)program, NULL };
	cleanup_fd int high_listener = fcntl(listener, F_DUPFD_CLOEXEC, above_all), high_answer = fcntl(answer, F_DUPFD_CLOEXEC, above_all);
	sigemptyset(&none);
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_adddup2(&files, high_listener, listener_at);
	posix_spawn_file_actions_adddup2(&files, high_answer, answer_at);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setsigmask(&attributes, &none);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
	int rc = posix_spawn(child, program, &files, &attributes, words, variables);
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&files);
	return rc;
}

/* It writes one byte when it serves; when it ends before, there is none. */
static int wait_for_answer(int answer, pid_t child, struct error *error)
{
	struct pollfd place = { .fd = answer, .events = POLLIN };
	char byte;
	int there;
	do
		there = poll(&place, 1, patience_ms);
	while (there < 0 && errno == EINTR);
	if (there > 0 && read(answer, &byte, 1) == 1)
		return 0;
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	return fail(error, ERROR_SYSTEM, there > 0 ? "The successor could not start; its reason is above. This podium-web goes on as it was."
		: "The successor did not get ready within %d s, and was ended. This podium-web goes on as it was.", patience_ms / 1000);
}

int succession_start(const char *program, int listener, bool is_own, pid_t *successor, struct error *error)
{
	char line[64];
	int ends[2];
	snprintf(line, sizeof line, "%s=%lld %s", VARIABLE, (long long)getpid(), is_own ? "own" : "given");
	cleanup_free char **variables = make_environment(line);
	if (!variables || pipe2(ends, O_CLOEXEC))
		return fail(error, ERROR_SYSTEM, "A successor cannot be started: %s.", strerror(errno));
	cleanup_fd int answer = ends[0];
	int rc = spawn(program, listener, ends[1], variables, successor);
	close(ends[1]);
	return rc ? fail(error, ERROR_SYSTEM, "%s cannot be started: %s.", program, strerror(rc)) : wait_for_answer(answer, *successor, error);
}

bool succession_failed(pid_t successor)
{
	return waitpid(successor, NULL, WNOHANG) != 0;
}

/* ---- the successor ---- */

static bool has_predecessor;

int succession_take(int *listener, bool *is_own, struct error *error)
{
	const char *text = getenv(VARIABLE);
	char whose[8] = "";
	long long predecessor = 0;
	*listener = -1;
	*is_own = false;
	if (!text)
		return 0;
	has_predecessor = sscanf(text, "%lld %7s", &predecessor, whose) == 2 && predecessor == getppid();
	*is_own = strcmp(whose, "own") == 0;
	unsetenv(VARIABLE);
	if (!has_predecessor || fcntl(listener_at, F_SETFD, FD_CLOEXEC) || fcntl(answer_at, F_SETFD, FD_CLOEXEC))
		return fail(error, ERROR_INPUT, "%s is what one podium-web tells the next; do not set it.", VARIABLE);
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
