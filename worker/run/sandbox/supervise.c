#include "worker/run/sandbox/process.h"

#include "lib/base/clock.h"
#include "lib/base/scope.h"
#include "worker/run/sandbox/priority.h"
#include "worker/run/sandbox/reaper.h"
#include "worker/run/sandbox/spawn.h"
#include "worker/run/sandbox/watchdog.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>

enum { piece_bytes = 64 * 1024 };

struct running {
	const struct process *process;
	struct process_result *result;
	struct child child;
	struct sandbox sandbox;
	struct watchdog watchdog;
	int64_t started_ms;
	int64_t told_ms;     /* when its onlooker was last called */
	uint64_t told_bytes; /* how much it had printed when the onlooker last took its output */
	bool over;           /* it has ended, or must end */
	bool is_gone;        /* its sandbox is gone */
	/* podium-run's copy of the program's channel end, open until the sandbox is gone; -1: none. */
	int held;
};

/* Programs that run together. The first leads. */
struct group {
	struct running members[process_most_together];
	size_t count;
	pid_t programs[process_most_together];
	int exits;       /* becomes readable when a child ends */
	int64_t last_ms; /* a deadline besides the leader's time limit */
	int64_t kills;   /* out-of-memory kills before the start */
	struct priority priority;
};

static int64_t deadline_ms(const struct group *group)
{
	const struct running *leader = &group->members[0];
	int64_t limit_ms = leader->started_ms + leader->process->spent_ms + leader->process->timeout_ms;
	return limit_ms < group->last_ms ? limit_ms : group->last_ms;
}

static void end_program(struct running *running, enum process_ending ending)
{
	if (running->over)
		return;
	running->over = true;
	running->result->ending = ending;
	running->result->duration_ms = clock_ms() - running->started_ms;
}

static void take_bytes(
	struct running *running, enum spawn_pipe pipe, const char *bytes, size_t length)
{
	struct process_result *result = running->result;
	if (pipe == SPAWN_RESULT) {
		if (!running->process->on_result(running->process->context, bytes, length))
			end_program(running, PROCESS_REFUSED);
		return;
	}
	capture_add(pipe == SPAWN_OUTPUT ? &result->output : &result->errors, bytes, length);
	if (result->output.total + result->errors.total > process_most_output_bytes)
		end_program(running, PROCESS_FLOODED);
}

/* Reads once. False if there is nothing to read now. Closes a pipe at its end. */
static bool take_piece(struct running *running, enum spawn_pipe pipe)
{
	char piece[piece_bytes];
	if (running->child.pipes[pipe] < 0)
		return false;
	ssize_t length = read(running->child.pipes[pipe], piece, sizeof piece);
	if (length > 0) {
		take_bytes(running, pipe, piece, (size_t)length);
		return true;
	}
	if (length == 0 || (errno != EAGAIN && errno != EINTR)) {
		close(running->child.pipes[pipe]);
		running->child.pipes[pipe] = -1;
	}
	return false;
}

/* Reads /proc. For a process that has ended, /proc shows nothing, and wait4 reports the peak
 * instead. */
int64_t process_peak_bytes(const struct process_result *result)
{
	char path[32], line[128];
	long long kib = 0;
	snprintf(path, sizeof path, "/proc/%d/status", (int)result->program);
	cleanup_file FILE *file = result->program > 0 ? fopen(path, "re") : NULL;
	while (file && fgets(line, sizeof line, file))
		if (sscanf(line, "VmHWM: %lld kB", &kib) == 1)
			break;
	return (int64_t)kib * 1024;
}

static void note_peak(struct running *running, int64_t bytes)
{
	if (bytes > running->result->peak_bytes)
		running->result->peak_bytes = bytes;
}

static void note_exit(struct running *running, int status, const struct rusage *usage)
{
	note_peak(running, sandbox_resident_bytes(usage));
	running->sandbox.program = running->result->program = 0;
	if (!running->over)
		running->result->code = WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status);
	end_program(running, WIFEXITED(status) ? PROCESS_EXITED : PROCESS_SIGNALLED);
}

/* Reaps the children that have ended, including orphans that podium-run took over. */
static void take_exits(struct group *group)
{
	struct signalfd_siginfo ignored;
	while (read(group->exits, &ignored, sizeof ignored) > 0)
		;
	int status;
	struct rusage usage;
	for (pid_t pid; (pid = wait4(-1, &status, WNOHANG, &usage)) > 0;) {
		reaper_note(pid);
		for (size_t i = 0; i < group->count; i++)
			if (group->members[i].child.pid == pid)
				note_exit(&group->members[i], status, &usage);
	}
}

/* Returns a descriptor that becomes readable when a child ends; -1 on failure. Create it before the
 * child. */
static int watch_children(void)
{
	sigset_t ends;
	sigemptyset(&ends);
	sigaddset(&ends, SIGCHLD);
	return sigprocmask(SIG_BLOCK, &ends, NULL) ? -1
											   : signalfd(-1, &ends, SFD_CLOEXEC | SFD_NONBLOCK);
}

static void check_limits(struct running *running)
{
	static const enum process_ending endings[] = {
		[WATCHDOG_MEMORY] = PROCESS_TOO_LARGE, [WATCHDOG_PROCESSES] = PROCESS_TOO_MANY
	};
	enum watchdog_finding finding = watchdog_look(&running->watchdog);
	if (finding != WATCHDOG_NOTHING)
		end_program(running, endings[finding]);
}

/* ---- output for an onlooker ---- */

static uint64_t printed_bytes(const struct running *running)
{
	return running->result->output.total + running->result->errors.total;
}

/* The time until the onlooker must be called; -1: there is nothing new. */
static int64_t news_wait_ms(const struct running *running)
{
	if (!running->process->on_output || running->over
		|| printed_bytes(running) == running->told_bytes)
		return -1;
	int64_t wait_ms = running->told_ms + process_tell_ms - clock_ms();
	return wait_ms > 0 ? wait_ms : 0;
}

static void tell_news(struct running *running)
{
	if (news_wait_ms(running) != 0)
		return;
	running->told_ms = clock_ms();
	if (running->process->on_output(running->process->onlooker, running->result))
		running->told_bytes = printed_bytes(running);
}

/* ---- the group's loop ---- */

static int64_t sooner_wait(int64_t wait_ms, int64_t other_ms)
{
	return other_ms >= 0 && other_ms < wait_ms ? other_ms : wait_ms;
}

/* The time until the deadline, the end of a raised priority, the next check of a watchdog, or the
 * next call of an onlooker. */
static int patience_ms(const struct group *group)
{
	enum { most_ms = 1000 * 1000 };
	int64_t wait_ms =
		sooner_wait(deadline_ms(group) - clock_ms(), priority_wait_ms(&group->priority));
	for (size_t i = 0; i < group->count; i++) {
		const struct running *running = &group->members[i];
		wait_ms = sooner_wait(wait_ms, running->over ? -1 : watchdog_wait_ms(&running->watchdog));
		wait_ms = sooner_wait(wait_ms, news_wait_ms(running));
	}
	return wait_ms > most_ms ? most_ms : wait_ms < 0 ? 0 : (int)wait_ms;
}

enum { EXITED, INPUT, OTHER_INPUT, OUTPUT, FIRST_MEMBER, LIMIT = SPAWN_PIPES, PLACES_OF_MEMBER };

/* The descriptors of one program to poll. */
static void list_descriptors(
	const struct running *running, struct pollfd places[static PLACES_OF_MEMBER])
{
	for (int i = 0; i < SPAWN_PIPES; i++)
		places[i] = (struct pollfd){ running->child.pipes[i], POLLIN, 0 };
	places[LIMIT] = (struct pollfd){ running->over ? -1 : running->watchdog.event, POLLPRI, 0 };
}

static void handle_member(
	struct running *running, const struct pollfd places[static PLACES_OF_MEMBER])
{
	if (!running->over
		&& (watchdog_wait_ms(&running->watchdog) == 0 || places[LIMIT].revents & POLLPRI))
		check_limits(running);
	for (enum spawn_pipe pipe = 0; pipe < SPAWN_PIPES; pipe++)
		if (places[pipe].revents)
			take_piece(running, pipe);
	tell_news(running);
}

/* Waits for the first event and handles it. */
static void wait_and_handle(struct group *group)
{
	struct running *leader = &group->members[0];
	const struct process_watch *watch = &leader->process->watch;
	struct pollfd ready[FIRST_MEMBER + process_most_together * PLACES_OF_MEMBER] = {
		[EXITED] = { group->exits, POLLIN, 0 },
		[INPUT] = { watch->look ? watch->inputs[0] : -1, POLLIN, 0 },
		[OTHER_INPUT] = { watch->look ? watch->inputs[1] : -1, POLLIN, 0 },
		[OUTPUT] = { watch->look ? watch->output : -1, 0, 0 },
	};
	for (size_t i = 0; i < group->count; i++)
		list_descriptors(&group->members[i], ready + FIRST_MEMBER + i * PLACES_OF_MEMBER);
	if (clock_ms() >= deadline_ms(group)) {
		end_program(leader, PROCESS_TIMEOUT);
		return;
	}
	int count = poll(ready, FIRST_MEMBER + group->count * PLACES_OF_MEMBER, patience_ms(group));
	priority_look(&group->priority);
	/* Handle the leader last: it reports on what the followers did, so read their output first. */
	for (size_t i = group->count; i-- > 0;)
		handle_member(&group->members[i], ready + FIRST_MEMBER + i * PLACES_OF_MEMBER);
	if (count <= 0)
		return;
	if ((ready[INPUT].revents || ready[OTHER_INPUT].revents || ready[OUTPUT].revents)
		&& watch->look(watch->context)) {
		end_program(leader, PROCESS_STOPPED);
		/* Set the ending even if the leader has already ended and another program is awaited. */
		leader->result->ending = PROCESS_STOPPED;
	}
	if (ready[EXITED].revents)
		take_exits(group);
}

/* Reads the rest of the pipes, at most 16 MiB of each: a process that cannot be killed may keep
 * filling its pipe. */
static void read_rest(struct running *running)
{
	enum { most_pieces = 16 * 1024 * 1024 / piece_bytes };
	for (enum spawn_pipe pipe = 0; pipe < SPAWN_PIPES; pipe++)
		for (int i = 0; i < most_pieces && take_piece(running, pipe); i++)
			;
}

/* Starts a program in its sandbox. The caller closes what was opened, also after an error. */
static int start_program(struct group *group, size_t index, const int *channels,
	size_t channel_count, struct error *error)
{
	struct running *running = &group->members[index];
	const struct process *process = running->process;
	int rc = sandbox_open(process->host, &process->view, &running->sandbox, error);
	if (!rc)
		rc = spawn(process, &running->sandbox, channels, channel_count, &running->child, error);
	running->sandbox.program = running->child.pid > 0 ? running->child.pid : 0;
	group->programs[index] = running->result->program = running->sandbox.program;
	watchdog_start(
		&running->watchdog, &running->sandbox, group->programs, group->count, !process->is_trusted);
	running->started_ms = running->told_ms = running->result->began_ms = clock_ms();
	return rc;
}

/* ---- channels ---- */

struct channels {
	int to[spawn_most_channels], of[spawn_most_channels];
	size_t count;
};

static void scope_channels(struct channels *channels)
{
	for (size_t i = 0; i < channels->count; i++) {
		scope_close(&channels->to[i]);
		scope_close(&channels->of[i]);
	}
}
#define cleanup_channels __attribute__((cleanup(scope_channels)))

/* Creates the channels between the leader and each follower. Both ends lie above the descriptors
 * that programs start with. */
static int make_channels(struct channels *channels, size_t count, struct error *error)
{
	for (size_t i = 0; i < count; i++) {
		int ends[2];
		if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
			return fail(error, ERROR_SYSTEM, "Cannot create a channel between two programs: %s.",
				strerror(errno));
		channels->to[i] = fcntl(ends[0], F_DUPFD_CLOEXEC, spawn_above);
		channels->of[i] = fcntl(ends[1], F_DUPFD_CLOEXEC, spawn_above);
		channels->count++;
		close(ends[0]);
		close(ends[1]);
		if (channels->to[i] < 0 || channels->of[i] < 0)
			return fail(error, ERROR_SYSTEM, "Cannot create a channel between two programs: %s.",
				strerror(errno));
	}
	return 0;
}

/* Starts all programs. Afterwards only the programs have the channels' ends open, apart from the
 * copies that podium-run keeps for holds_channel. */
static int start_all(struct group *group, struct error *error)
{
	cleanup_channels struct channels channels = { 0 };
	int rc = make_channels(&channels, group->count - 1, error);
	if (!rc)
		rc = start_program(group, 0, channels.to, channels.count, error);
	for (size_t i = 1; !rc && i < group->count; i++) {
		struct running *running = &group->members[i];
		rc = start_program(group, i, &channels.of[i - 1], 1, error);
		if (running->process->holds_channel)
			running->held = steal_fd(&channels.of[i - 1]);
	}
	return rc;
}

static bool was_killed_for_memory(const struct running *running, int64_t kills_before)
{
	const struct process_result *result = running->result;
	if (result->ending != PROCESS_SIGNALLED || result->code != SIGKILL)
		return false;
	const struct control_group *own = &running->sandbox.group;
	return own->folder >= 0 ? control_group_out_of_memory(own)
							: control_group_kills_around() > kills_before;
}

/* Kills what is left in the sandbox. Only then closes podium-run's copy of the channel's end, so
 * that the leader does not see the channel close before the kill. */
static void end_sandbox(struct group *group, struct running *running)
{
	running->result->out_of_memory = was_killed_for_memory(running, group->kills);
	note_peak(running, process_peak_bytes(running->result));
	note_peak(running, sandbox_end(&running->sandbox));
	running->result->program = 0;
	running->is_gone = true;
	scope_close(&running->held);
	running->held = -1;
}

static void end_finished_followers(struct group *group)
{
	for (size_t i = 1; i < group->count; i++) {
		struct running *running = &group->members[i];
		if (!running->over || running->is_gone)
			continue;
		end_sandbox(group, running);
		read_rest(running);
		spawn_close(&running->child);
		running->child = (struct child){ .pid = -1, .pipes = { -1, -1, -1 } };
	}
}

static bool has_lost_all(const struct group *group)
{
	for (size_t i = 1; i < group->count; i++)
		if (!group->members[i].over)
			return false;
	return true;
}

/* If the leader ended with its loss_code, waits until all followers have ended, so that their
 * results say how. A lost follower closes its channel before it has ended, and a program that uses
 * a GPU takes a while to end. The other followers end because their leader is gone. */
static void await_loss(struct group *group)
{
	enum { most_ms = 10 * 1000 };
	const struct running *leader = &group->members[0];
	if (leader->result->ending != PROCESS_EXITED || !leader->process->loss_code
		|| leader->result->code != leader->process->loss_code)
		return;
	group->last_ms = clock_ms() + most_ms;
	while (!has_lost_all(group) && leader->result->ending == PROCESS_EXITED
		&& clock_ms() < deadline_ms(group))
		wait_and_handle(group);
}

static bool was_signalled_to_end(const struct running *running)
{
	int code = running->result->code;
	return running->result->ending == PROCESS_SIGNALLED
		&& (code == SIGTERM || code == SIGINT || code == SIGHUP);
}

/* A scheduler such as Slurm signals every process on the machine. podium-run's signal may arrive
 * shortly after a program's. If a program died of such a signal, wait for podium-run's, so as not
 * to blame the submission. */
static void await_stop_signal(struct group *group)
{
	enum { most_ms = 300 };
	const struct process_result *result = group->members[0].result;
	bool is_expected = false;
	for (size_t i = 0; i < group->count; i++)
		is_expected = is_expected || was_signalled_to_end(&group->members[i]);
	if (!is_expected)
		return;
	group->last_ms = clock_ms() + most_ms;
	while (result->ending != PROCESS_STOPPED && clock_ms() < deadline_ms(group))
		wait_and_handle(group);
}

static int finish_group(struct group *group, struct error *error)
{
	for (size_t i = 0; i < group->count; i++)
		end_program(&group->members[i], PROCESS_LEFT);
	for (size_t i = 0; i < group->count; i++)
		if (!group->members[i].is_gone)
			end_sandbox(group, &group->members[i]);
	int rc = reaper_end_all(error);
	for (size_t i = 0; i < group->count; i++) {
		read_rest(&group->members[i]);
		spawn_close(&group->members[i].child);
	}
	return rc;
}

int process_run_all(const struct process *const *processes, struct process_result *const *results,
	size_t count, struct error *error)
{
	struct group group = { .count = count, .last_ms = INT64_MAX };
	group.kills = control_group_kills_around();
	for (size_t i = 0; i < count; i++) {
		*results[i] = (struct process_result){ 0 };
		group.members[i] = (struct running){ .process = processes[i],
			.result = results[i],
			.sandbox = sandbox_none,
			.child = child_none,
			.held = -1 };
	}
	cleanup_fd int exits = group.exits = watch_children();
	if (exits < 0)
		return fail(
			error, ERROR_SYSTEM, "Cannot watch for the end of processes: %s.", strerror(errno));
	int rc = start_all(&group, error);
	bool is_raised = false;
	for (size_t i = 0; i < count; i++)
		is_raised = is_raised || processes[i]->nice < 0;
	priority_begin(&group.priority, is_raised);
	while (!rc && !group.members[0].over) {
		wait_and_handle(&group);
		end_finished_followers(&group);
	}
	if (!rc) {
		await_loss(&group);
		await_stop_signal(&group);
	}
	int left = finish_group(&group, rc ? NULL : error);
	priority_end(&group.priority);
	return rc ? rc : left;
}

int process_run(const struct process *process, struct process_result *result, struct error *error)
{
	return process_run_all(&process, &result, 1, error);
}
