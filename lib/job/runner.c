#include "lib/job/runner.h"

#include "lib/base/arena.h"
#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "lib/base/required_walls.h"
#include "lib/base/scope.h"
#include "lib/base/write.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

extern char **environ;

enum {
	most_event_bytes = 2 * 1024 * 1024,
	most_error_bytes = 4096,
	most_answer_bytes = 4 * 1024 * 1024,
	ready_ms = 20 * 1000,
	idle_end_ms = 1000,
	end_ms = 10 * 1000,
};

/* ---- starting ---- */

/* The process gets its own process group, so that Ctrl-C reaches only the worker. The worker
 * decides when to stop the process. */
static int spawn_program(const char *const *words, char *const *environment, int input, int output,
	int errors, pid_t *pid)
{
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attributes;
	sigset_t none;
	sigemptyset(&none);
	posix_spawn_file_actions_init(&files);
	posix_spawnattr_init(&attributes);
	posix_spawn_file_actions_adddup2(&files, input, STDIN_FILENO);
	posix_spawn_file_actions_adddup2(&files, output, STDOUT_FILENO);
	if (errors >= 0)
		posix_spawn_file_actions_adddup2(&files, errors, STDERR_FILENO);
	posix_spawnattr_setpgroup(&attributes, 0);
	posix_spawnattr_setsigmask(&attributes, &none);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
	int rc = posix_spawn(
		pid, words[0], &files, &attributes, (char *const *)(uintptr_t)words, environment);
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&files);
	return rc;
}

static int wait_until_ready(struct runner *runner, int wake, struct error *error)
{
	json_t *event = NULL;
	int rc = runner_next(runner, wake, ready_ms, &event, error);
	const char *name = rc == 1 ? json_string_value(json_object_get(event, "event")) : NULL;
	bool ready = name && strcmp(name, "ready") == 0;
	json_decref(event);
	if (ready)
		return 0;
	runner_stop(runner);
	return rc < 0
		? rc
		: fail(error, ERROR_SYSTEM, "podium-run started but did not report that it is ready.");
}

/* Starts the process. `errors` is the descriptor for its error output; -1: it writes to this
 * program's. */
static int start_process(struct runner *runner, const char *const *words, char *const *environment,
	int errors, struct error *error)
{
	cleanup_fd int job_read = -1, job_write = -1, event_read = -1, event_write = -1;
	int jobs[2], events[2];
	if (pipe2(jobs, O_CLOEXEC))
		return fail(error, ERROR_SYSTEM, "Cannot create a pipe: %s.", strerror(errno));
	job_read = jobs[0], job_write = jobs[1];
	if (pipe2(events, O_CLOEXEC))
		return fail(error, ERROR_SYSTEM, "Cannot create a pipe: %s.", strerror(errno));
	event_read = events[0], event_write = events[1];
	int rc = spawn_program(words, environment, job_read, event_write, errors, &runner->pid);
	if (rc) {
		runner->pid = 0;
		return fail(error, ERROR_SYSTEM, "Cannot start %s: %s.", words[0], strerror(rc));
	}
	runner->input = steal_fd(&job_write);
	runner->output = steal_fd(&event_read);
	buffer_clear(&runner->unread);
	return 0;
}

int runner_start(struct runner *runner, const char *program, const char *directory,
	const char *python, const char *accepted_walls, int wake, struct error *error)
{
	cleanup_arena struct arena *arena = arena_new();
	const char *words[7] = { program, "--directory", directory };
	size_t count = 3;
	if (accepted_walls)
		words[count++] = required_walls_option(arena, accepted_walls);
	if (*python) {
		words[count++] = "--python";
		words[count++] = python;
	}
	int rc = start_process(runner, words, environ, -1, error);
	return rc ? rc : wait_until_ready(runner, wake, error);
}

int runner_launch(struct runner *runner, const char *const *words, char *const *environment,
	struct runner_errors *errors, struct error *error)
{
	cleanup_fd int theirs = -1;
	int both[2];
	buffer_clear(&errors->said);
	if (pipe2(both, O_CLOEXEC))
		return fail(error, ERROR_SYSTEM, "Cannot create a pipe: %s.", strerror(errno));
	errors->descriptor = both[0], theirs = both[1];
	fcntl(errors->descriptor, F_SETFL, O_NONBLOCK);
	int rc = start_process(runner, words, environment, theirs, error);
	runner->errors = rc ? NULL : errors;
	if (rc) {
		close(errors->descriptor);
		errors->descriptor = -1;
	}
	return rc;
}

/* ---- error output ---- */

/* Logs the new complete lines, and keeps the end of the output. */
static void append_errors(struct runner_errors *errors, const char *bytes, size_t length)
{
	size_t from = errors->said.length;
	while (from && errors->said.data[from - 1] != '\n')
		from--;
	buffer_append(&errors->said, bytes, length);
	for (char *end; (end = strchr(errors->said.data + from, '\n'));
		 from = (size_t)(end - errors->said.data) + 1)
		log_info("%s: %.*s", errors->name, (int)(end - errors->said.data - (ptrdiff_t)from),
			errors->said.data + from);
	if (errors->said.length > most_error_bytes)
		buffer_drop_front(&errors->said, errors->said.length - most_error_bytes);
}

static void read_errors(struct runner_errors *errors)
{
	char bytes[4096];
	ssize_t length = -1;
	while (errors && errors->descriptor >= 0
		&& (length = read(errors->descriptor, bytes, sizeof bytes)) > 0) {
		for (ssize_t i = 0; i < length; i++)
			bytes[i] = bytes[i] ? bytes[i] : ' '; /* NUL would end the text */
		append_errors(errors, bytes, (size_t)length);
	}
	if (errors && errors->descriptor >= 0 && length == 0) {
		close(errors->descriptor);
		errors->descriptor = -1;
	}
}

static void close_errors(struct runner_errors *errors)
{
	read_errors(errors);
	if (errors && errors->descriptor >= 0)
		close(errors->descriptor);
	if (errors)
		errors->descriptor = -1;
}

/* ---- messages and events ---- */

int runner_send(struct runner *runner, const json_t *message, struct error *error)
{
	cleanup_free char *text = json_dumps(message, JSON_COMPACT);
	if (!text)
		return fail(error, ERROR_SYSTEM, "A message to podium-run could not be written as JSON.");
	if (write_fully(runner->input, text, strlen(text)) == 0
		&& write_fully(runner->input, "\n", 1) == 0)
		return 0;
	int rc =
		fail(error, ERROR_SYSTEM, "podium-run did not accept the message: %s.", strerror(errno));
	runner_stop(runner);
	return rc;
}

static int stop_process(struct runner *runner);

bool runner_is_there(struct runner *runner)
{
	struct pollfd output = { .fd = runner->output, .events = 0 };
	read_errors(runner->errors);
	if (runner->pid && poll(&output, 1, 0) > 0)
		stop_process(runner);
	return runner->pid;
}

/* Frees what belonged to the exited process, and fails with a sentence that says how it exited. */
static int fail_exited(struct runner *runner, struct error *error)
{
	int status = stop_process(runner);
	if (WIFSIGNALED(status))
		return fail(error, ERROR_SYSTEM, "podium-run was killed by signal %d (%s).",
			WTERMSIG(status), strsignal(WTERMSIG(status)));
	return fail(error, ERROR_SYSTEM, "podium-run exited with code %d; its own message says more.",
		WEXITSTATUS(status));
}

/* Takes one complete line from the bytes read so far. Returns 1 with its event, or 0 if no line is
 * complete. */
static int take_line(struct runner *runner, json_t **event, struct error *error)
{
	char *end =
		runner->unread.length ? memchr(runner->unread.data, '\n', runner->unread.length) : NULL;
	if (!end)
		return runner->unread.length < most_event_bytes
			? 0
			: fail(error, ERROR_SYSTEM, "podium-run sent an event of more than %d bytes.",
				most_event_bytes);
	size_t length = (size_t)(end - runner->unread.data);
	*event = json_loadb(runner->unread.data, length, 0, NULL);
	buffer_drop_front(&runner->unread, length + 1);
	return *event ? 1 : fail(error, ERROR_SYSTEM, "podium-run sent a line that is not JSON.");
}

/* Returns 1 if something was read, also error output; 0 on timeout or when woken; ERROR_SYSTEM at
 * the end of the output. */
static int read_more(struct runner *runner, int wake, int timeout_ms, struct error *error)
{
	struct pollfd waiting[] = {
		{ .fd = runner->output, .events = POLLIN },
		{ .fd = wake, .events = POLLIN },
		{ .fd = runner->errors ? runner->errors->descriptor : -1, .events = POLLIN },
	};
	char bytes[65536];
	int ready = poll(waiting, COUNT(waiting), timeout_ms);
	if (ready > 0 && waiting[2].revents)
		read_errors(runner->errors);
	if (ready > 0 && waiting[2].revents && !waiting[0].revents && !waiting[1].revents)
		return 1; /* only error output */
	if (ready <= 0 || !waiting[0].revents)
		return 0;
	ssize_t length = read(runner->output, bytes, sizeof bytes);
	if (length < 0)
		return errno == EINTR
			? 0
			: fail(error, ERROR_SYSTEM, "Cannot read from podium-run: %s.", strerror(errno));
	if (length == 0)
		return fail_exited(runner, error);
	buffer_append(&runner->unread, bytes, (size_t)length);
	return 1;
}

int runner_next(
	struct runner *runner, int wake, int timeout_ms, json_t **event, struct error *error)
{
	int64_t end = clock_ms() + timeout_ms;
	*event = NULL;
	if (!runner->pid)
		return fail(error, ERROR_SYSTEM, "podium-run has exited.");
	for (;;) {
		int rc = take_line(runner, event, error);
		if (rc)
			return rc;
		int64_t left = end - clock_ms();
		rc = read_more(runner, wake, left > 0 ? (int)left : 0, error);
		if (rc <= 0)
			return rc;
	}
}

/* ---- stopping ---- */

static bool wait_for_exit(pid_t pid, int limit_ms, int *status)
{
	const struct timespec pause = { .tv_nsec = 10 * 1000 * 1000 };
	for (int waited_ms = 0; waited_ms <= limit_ms; waited_ms += 10) {
		if (waitpid(pid, status, WNOHANG) != 0)
			return true;
		nanosleep(&pause, NULL);
	}
	return false;
}

/* Returns the wait status. */
static int stop_process(struct runner *runner)
{
	int status = 0;
	close(runner->input);
	bool exited = wait_for_exit(runner->pid, idle_end_ms, &status);
	close(runner->output); /* podium-run may be blocked in a write; now the write fails */
	if (!exited && !wait_for_exit(runner->pid, end_ms, &status)) {
		kill(-runner->pid, SIGKILL);
		waitpid(runner->pid, &status, 0);
	}
	close_errors(runner->errors);
	buffer_free(&runner->unread);
	*runner = (struct runner){ .input = -1, .output = -1 };
	return status;
}

void runner_stop(struct runner *runner)
{
	if (runner->pid)
		stop_process(runner);
}

/* ---- running other programs ---- */

/* Reads to the end; false if `wake` became readable first. */
static bool read_answer(int output, int wake, struct buffer *answer)
{
	struct pollfd waiting[] = { { .fd = output, .events = POLLIN },
		{ .fd = wake, .events = POLLIN } };
	char bytes[4096];
	for (;;) {
		if (poll(waiting, COUNT(waiting), -1) < 0)
			continue;
		if (waiting[1].revents)
			return false;
		ssize_t length = read(output, bytes, sizeof bytes);
		if (length > 0)
			buffer_append(answer, bytes, (size_t)length);
		else if (length == 0 || errno != EINTR)
			return length == 0;
	}
}

static int read_until(const struct pollfd *wanted, int64_t until_ms, struct buffer *answer)
{
	char bytes[16384];
	for (int64_t left; (left = until_ms - clock_ms()) > 0 && answer->length < most_answer_bytes;) {
		struct pollfd waiting[] = { wanted[0], wanted[1] };
		if (poll(waiting, COUNT(waiting), (int)left) < 0)
			continue;
		if (waiting[1].revents)
			return -1;
		ssize_t length = waiting[0].revents ? read(waiting[0].fd, bytes, sizeof bytes) : -1;
		if (length > 0)
			buffer_append(answer, bytes, (size_t)length);
		else if (length == 0)
			return 0;
	}
	return -1;
}

int runner_question(const char *const *words, char *const *environment, int wake, int limit_ms,
	struct buffer *answer)
{
	cleanup_fd int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC), output = -1;
	int answers[2], status;
	pid_t pid;
	if (nothing < 0 || pipe2(answers, O_CLOEXEC))
		return -1;
	output = answers[0];
	int rc = spawn_program(words, environment, nothing, answers[1], answers[1], &pid);
	close(answers[1]);
	if (rc) {
		buffer_printf(answer, "Cannot start %s: %s.", words[0], strerror(rc));
		return -1;
	}
	const struct pollfd wanted[] = { { .fd = output, .events = POLLIN },
		{ .fd = wake, .events = POLLIN } };
	bool is_whole = !read_until(wanted, clock_ms() + limit_ms, answer);
	if (!is_whole)
		kill(-pid, SIGKILL);
	waitpid(pid, &status, 0);
	return is_whole && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

char *runner_ask(const char *const *words, int wake)
{
	cleanup_fd int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC), output = -1;
	cleanup_buffer struct buffer answer = { 0 };
	int answers[2], status;
	pid_t pid;
	if (nothing < 0 || pipe2(answers, O_CLOEXEC))
		return NULL;
	output = answers[0];
	int rc = spawn_program(words, environ, nothing, answers[1], -1, &pid);
	close(answers[1]);
	if (rc)
		return NULL;
	bool is_whole = read_answer(output, wake, &answer);
	if (!is_whole)
		kill(-pid, SIGKILL); /* its children die with it */
	waitpid(pid, &status, 0);
	if (!is_whole || status || !answer.length)
		return NULL;
	return strndup(answer.data, strcspn(buffer_string(&answer), "\n"));
}
