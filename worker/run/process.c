#include "worker/run/process.h"

#include "lib/clock.h"
#include "lib/scope.h"
#include "worker/run/reaper.h"
#include "worker/run/spawn.h"
#include "worker/run/watchdog.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>

enum { piece_bytes = 64 * 1024 };

struct running {
	const struct process *process;
	struct process_result *result;
	struct child child;
	struct sandbox sandbox;
	struct watchdog watchdog;
	int64_t started_ms;
	bool over;
};

static void end(struct running *running, enum process_ending ending)
{
	if (running->over)
		return;
	running->over = true;
	running->result->ending = ending;
	running->result->duration_ms = clock_ms() - running->started_ms;
}

static void take(struct running *running, enum spawn_pipe pipe, const char *bytes, size_t length)
{
	struct process_result *result = running->result;
	if (pipe == SPAWN_RESULT) {
		if (!running->process->on_result(running->process->context, bytes, length))
			end(running, PROCESS_REFUSED);
		return;
	}
	capture_add(pipe == SPAWN_OUTPUT ? &result->output : &result->errors, bytes, length);
	if (result->output.total + result->errors.total > process_most_output_bytes)
		end(running, PROCESS_FLOODED);
}

/* One read. False when there is nothing to be had now; a pipe at its end is closed. */
static bool take_piece(struct running *running, enum spawn_pipe pipe)
{
	char piece[piece_bytes];
	if (running->child.pipes[pipe] < 0)
		return false;
	ssize_t length = read(running->child.pipes[pipe], piece, sizeof piece);
	if (length > 0) {
		take(running, pipe, piece, (size_t)length);
		return true;
	}
	if (length == 0 || (errno != EAGAIN && errno != EINTR)) {
		close(running->child.pipes[pipe]);
		running->child.pipes[pipe] = -1;
	}
	return false;
}

/* Reaps whoever has ended; orphans that podium-run took over end here as well. */
static void take_exits(struct running *running, int signals)
{
	struct signalfd_siginfo ignored;
	while (read(signals, &ignored, sizeof ignored) > 0)
		;
	int status;
	for (pid_t pid; !running->over && (pid = waitpid(-1, &status, WNOHANG)) > 0;) {
		reaper_note(pid);
		if (pid != running->child.pid)
			continue;
		running->result->code = WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status);
		end(running, WIFEXITED(status) ? PROCESS_EXITED : PROCESS_SIGNALLED);
	}
}

/* A descriptor that becomes readable when a child ends; -1 if there is none. Made before the child is. */
static int watch_children(void)
{
	sigset_t ends;
	sigemptyset(&ends);
	sigaddset(&ends, SIGCHLD);
	return sigprocmask(SIG_BLOCK, &ends, NULL) ? -1 : signalfd(-1, &ends, SFD_CLOEXEC | SFD_NONBLOCK);
}

static void guard(struct running *running)
{
	static const enum process_ending endings[] = { [WATCHDOG_MEMORY] = PROCESS_TOO_LARGE, [WATCHDOG_PROCESSES] = PROCESS_TOO_MANY };
	enum watchdog_finding finding = watchdog_look(&running->watchdog);
	if (finding != WATCHDOG_NOTHING)
		end(running, endings[finding]);
}

/* Until the deadline or the watchdog's next look. */
static int patience_ms(const struct running *running, int64_t left_ms)
{
	enum { most_ms = 1000 * 1000 };
	int64_t look_ms = watchdog_wait_ms(&running->watchdog);
	int64_t wait_ms = look_ms >= 0 && look_ms < left_ms ? look_ms : left_ms;
	return wait_ms > most_ms ? most_ms : (int)wait_ms;
}

/* Waits for whatever comes first and deals with it. */
static void step(struct running *running, int exits)
{
	const struct process_watch *watch = &running->process->watch;
	enum { EXITED = SPAWN_PIPES, INPUT, OTHER_INPUT, OUTPUT, LIMIT, PLACES };
	struct pollfd ready[PLACES] = {
		[EXITED] = { exits, POLLIN, 0 },
		[INPUT] = { watch->look ? watch->inputs[0] : -1, POLLIN, 0 },
		[OTHER_INPUT] = { watch->look ? watch->inputs[1] : -1, POLLIN, 0 },
		[OUTPUT] = { watch->look ? watch->output : -1, 0, 0 },
		[LIMIT] = { running->watchdog.event, POLLPRI, 0 },
	};
	for (int i = 0; i < SPAWN_PIPES; i++)
		ready[i] = (struct pollfd){ running->child.pipes[i], POLLIN, 0 };
	int64_t left_ms = running->started_ms + running->process->timeout_ms - clock_ms();
	if (left_ms <= 0) {
		end(running, PROCESS_TIMEOUT);
		return;
	}
	int count = poll(ready, COUNT(ready), patience_ms(running, left_ms));
	if (watchdog_wait_ms(&running->watchdog) == 0 || ready[LIMIT].revents & POLLPRI)
		guard(running);
	if (count <= 0)
		return;
	for (enum spawn_pipe pipe = 0; pipe < SPAWN_PIPES; pipe++)
		if (ready[pipe].revents)
			take_piece(running, pipe);
	if ((ready[INPUT].revents || ready[OTHER_INPUT].revents || ready[OUTPUT].revents) && watch->look(watch->context))
		end(running, PROCESS_STOPPED);
	if (ready[EXITED].revents)
		take_exits(running, exits);
}

/* How many processes the kernel has killed for want of memory, in a cgroup or for all of the machine. */
static long long memory_kills(void)
{
	cleanup_file FILE *file = fopen("/proc/vmstat", "re");
	char line[128];
	long long count = 0;
	while (file && fgets(line, sizeof line, file))
		if (sscanf(line, "oom_kill %lld", &count) == 1)
			break;
	return count;
}

/* A pipe that somebody unkillable still holds and fills must not keep us: what fits into one is enough. */
static void drain(struct running *running)
{
	enum { most_pieces = 16 * 1024 * 1024 / piece_bytes };
	for (enum spawn_pipe pipe = 0; pipe < SPAWN_PIPES; pipe++)
		for (int i = 0; i < most_pieces && take_piece(running, pipe); i++)
			;
}

/* Starts the program in its sandbox. What was opened is the caller's to close, also after an error. */
static int begin(struct running *running, struct error *error)
{
	const struct process *process = running->process;
	int rc = sandbox_open(process->host, &process->view, &running->sandbox, error);
	if (!rc)
		rc = spawn(process, &running->sandbox, &running->child, error);
	watchdog_start(&running->watchdog, &running->sandbox);
	running->started_ms = clock_ms();
	return rc;
}

static bool was_killed_for_memory(const struct running *running, long long kills_before)
{
	const struct process_result *result = running->result;
	return result->ending == PROCESS_SIGNALLED && result->code == SIGKILL &&
		(control_group_out_of_memory(&running->sandbox.group) || memory_kills() > kills_before);
}

int process_run(const struct process *process, struct process_result *result, struct error *error)
{
	memset(result, 0, sizeof *result);
	struct running running = { .process = process, .result = result, .sandbox = sandbox_none, .child = child_none };
	long long kills = memory_kills();
	cleanup_fd int exits = watch_children();
	if (exits < 0)
		return fail(error, ERROR_SYSTEM, "The kernel does not say when a process ends: %s.", strerror(errno));
	int rc = begin(&running, error);
	while (!rc && !running.over)
		step(&running, exits);
	result->out_of_memory = !rc && was_killed_for_memory(&running, kills);
	sandbox_end(&running.sandbox);
	int left = reaper_end_all(rc ? NULL : error);
	drain(&running);
	spawn_close(&running.child);
	return rc ? rc : left;
}
