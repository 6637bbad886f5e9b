#include "worker/run/process.h"

#include "lib/clock.h"
#include "lib/scope.h"
#include "worker/run/reaper.h"
#include "worker/run/spawn.h"
#include "worker/run/watchdog.h"

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
	int64_t told_ms;     /* when its onlooker was told last, */
	uint64_t told_bytes; /* and how much it had printed then */
	bool over;           /* it has ended, or is to be ended */
	bool is_gone;        /* and nothing of it is left */
	int held;            /* its end of its channel, until then; -1: it alone has that */
};

/* Programs that run together. The first leads. */
struct group {
	struct running members[process_most_together];
	size_t count;
	pid_t programs[process_most_together];
	int exits;       /* becomes readable when a child ends */
	int64_t last_ms; /* when it is over whatever the leader's limit is */
	long long kills; /* for memory, before they began */
};

static int64_t deadline_ms(const struct group *group)
{
	const struct running *leader = &group->members[0];
	int64_t limit_ms = leader->started_ms + leader->process->spent_ms + leader->process->timeout_ms;
	return limit_ms < group->last_ms ? limit_ms : group->last_ms;
}

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

/* A process that has just ended says nothing here; whoever waits for it knows. */
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
	end(running, WIFEXITED(status) ? PROCESS_EXITED : PROCESS_SIGNALLED);
}

/* Reaps whoever has ended; orphans that podium-run took over end here as well. */
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

/* A descriptor that becomes readable when a child ends; -1 if there is none. Made before the child
 * is. */
static int watch_children(void)
{
	sigset_t ends;
	sigemptyset(&ends);
	sigaddset(&ends, SIGCHLD);
	return sigprocmask(SIG_BLOCK, &ends, NULL) ? -1
											   : signalfd(-1, &ends, SFD_CLOEXEC | SFD_NONBLOCK);
}

static void guard(struct running *running)
{
	static const enum process_ending endings[] = {
		[WATCHDOG_MEMORY] = PROCESS_TOO_LARGE, [WATCHDOG_PROCESSES] = PROCESS_TOO_MANY
	};
	enum watchdog_finding finding = watchdog_look(&running->watchdog);
	if (finding != WATCHDOG_NOTHING)
		end(running, endings[finding]);
}

/* ---- what is printed, for an onlooker ---- */

static uint64_t printed_bytes(const struct running *running)
{
	return running->result->output.total + running->result->errors.total;
}

/* Until there is something to tell; -1: there is nothing. */
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

/* ---- together ---- */

static int64_t sooner(int64_t wait_ms, int64_t other_ms)
{
	return other_ms >= 0 && other_ms < wait_ms ? other_ms : wait_ms;
}

/* Until the deadline, the next look of a watchdog, or something to tell. */
static int patience_ms(const struct group *group)
{
	enum { most_ms = 1000 * 1000 };
	int64_t wait_ms = deadline_ms(group) - clock_ms();
	for (size_t i = 0; i < group->count; i++) {
		const struct running *running = &group->members[i];
		wait_ms = sooner(wait_ms, running->over ? -1 : watchdog_wait_ms(&running->watchdog));
		wait_ms = sooner(wait_ms, news_wait_ms(running));
	}
	return wait_ms > most_ms ? most_ms : wait_ms < 0 ? 0 : (int)wait_ms;
}

enum { EXITED, INPUT, OTHER_INPUT, OUTPUT, FIRST_MEMBER, LIMIT = SPAWN_PIPES, PLACES_OF_MEMBER };

/* What is looked at of one program. */
static void list_places(
	const struct running *running, struct pollfd places[static PLACES_OF_MEMBER])
{
	for (int i = 0; i < SPAWN_PIPES; i++)
		places[i] = (struct pollfd){ running->child.pipes[i], POLLIN, 0 };
	places[LIMIT] = (struct pollfd){ running->over ? -1 : running->watchdog.event, POLLPRI, 0 };
}

static void look_at_member(
	struct running *running, const struct pollfd places[static PLACES_OF_MEMBER])
{
	if (!running->over
		&& (watchdog_wait_ms(&running->watchdog) == 0 || places[LIMIT].revents & POLLPRI))
		guard(running);
	for (enum spawn_pipe pipe = 0; pipe < SPAWN_PIPES; pipe++)
		if (places[pipe].revents)
			take_piece(running, pipe);
	tell_news(running);
}

/* Waits for whatever comes first and deals with it. */
static void step(struct group *group)
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
		list_places(&group->members[i], ready + FIRST_MEMBER + i * PLACES_OF_MEMBER);
	if (clock_ms() >= deadline_ms(group)) {
		end(leader, PROCESS_TIMEOUT);
		return;
	}
	int count = poll(ready, FIRST_MEMBER + group->count * PLACES_OF_MEMBER, patience_ms(group));
	/* The leader comes last: what it reports was caused by what others did, so their output is
	 * there by then. */
	for (size_t i = group->count; i-- > 0;)
		look_at_member(&group->members[i], ready + FIRST_MEMBER + i * PLACES_OF_MEMBER);
	if (count <= 0)
		return;
	if ((ready[INPUT].revents || ready[OTHER_INPUT].revents || ready[OUTPUT].revents)
		&& watch->look(watch->context)) {
		end(leader, PROCESS_STOPPED);
		leader->result->ending =
			PROCESS_STOPPED; /* also where it had ended and another one was waited for */
	}
	if (ready[EXITED].revents)
		take_exits(group);
}

/* How many processes the kernel has killed for want of memory, in a cgroup or for all of the
 * machine. */
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

/* A pipe that somebody unkillable still holds and fills must not keep us: what fits into one is
 * enough. */
static void drain(struct running *running)
{
	enum { most_pieces = 16 * 1024 * 1024 / piece_bytes };
	for (enum spawn_pipe pipe = 0; pipe < SPAWN_PIPES; pipe++)
		for (int i = 0; i < most_pieces && take_piece(running, pipe); i++)
			;
}

/* Starts a program in its sandbox. What was opened is the caller's to close, also after an error.
 */
static int begin(struct group *group, size_t index, const int *channels, size_t channel_count,
	struct error *error)
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

/* ---- several ---- */

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

/* Between the first and each of the others. Both ends lie above the descriptors that programs start
 * with. */
static int make_channels(struct channels *channels, size_t count, struct error *error)
{
	for (size_t i = 0; i < count; i++) {
		int ends[2];
		if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
			return fail(error, ERROR_SYSTEM, "No channel between two programs could be made: %s.",
				strerror(errno));
		channels->to[i] = fcntl(ends[0], F_DUPFD_CLOEXEC, spawn_above);
		channels->of[i] = fcntl(ends[1], F_DUPFD_CLOEXEC, spawn_above);
		channels->count++;
		close(ends[0]);
		close(ends[1]);
		if (channels->to[i] < 0 || channels->of[i] < 0)
			return fail(error, ERROR_SYSTEM, "No channel between two programs could be made: %s.",
				strerror(errno));
	}
	return 0;
}

/* What a program got of the channels nobody else holds afterwards, but for the ends that are held
 * for some. */
static int begin_all(struct group *group, struct error *error)
{
	cleanup_channels struct channels channels = { 0 };
	int rc = make_channels(&channels, group->count - 1, error);
	if (!rc)
		rc = begin(group, 0, channels.to, channels.count, error);
	for (size_t i = 1; !rc && i < group->count; i++) {
		struct running *running = &group->members[i];
		rc = begin(group, i, &channels.of[i - 1], 1, error);
		if (running->process->holds_channel)
			running->held = steal_fd(&channels.of[i - 1]);
	}
	return rc;
}

static bool was_killed_for_memory(const struct running *running, long long kills_before)
{
	const struct process_result *result = running->result;
	return result->ending == PROCESS_SIGNALLED && result->code == SIGKILL
		&& (control_group_out_of_memory(&running->sandbox.group) || memory_kills() > kills_before);
}

/* Whatever it has left behind in its sandbox holds its channel as well. */
static void clear_away(struct group *group, struct running *running)
{
	running->result->out_of_memory = was_killed_for_memory(running, group->kills);
	note_peak(running, process_peak_bytes(running->result));
	note_peak(running, sandbox_end(&running->sandbox));
	running->result->program = 0;
	running->is_gone = true;
	scope_close(&running->held);
	running->held = -1;
}

static void clear_followers(struct group *group)
{
	for (size_t i = 1; i < group->count; i++) {
		struct running *running = &group->members[i];
		if (!running->over || running->is_gone)
			continue;
		clear_away(group, running);
		drain(running);
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

/* A program closes its channel before it has ended, and one that holds a GPU needs a while to end.
 * The others end as well, because the first has. */
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
		step(group);
}

static bool was_told_to_end(const struct running *running)
{
	int code = running->result->code;
	return running->result->ending == PROCESS_SIGNALLED
		&& (code == SIGTERM || code == SIGINT || code == SIGHUP);
}

/* Who takes a machine away tells all that runs there to end at once, as Slurm does; our own signal
 * may be a moment behind the program's, for which nobody is to blame then. */
static void await_word(struct group *group)
{
	enum { most_ms = 300 };
	const struct process_result *result = group->members[0].result;
	bool is_expected = false;
	for (size_t i = 0; i < group->count; i++)
		is_expected = is_expected || was_told_to_end(&group->members[i]);
	if (!is_expected)
		return;
	group->last_ms = clock_ms() + most_ms;
	while (result->ending != PROCESS_STOPPED && clock_ms() < deadline_ms(group))
		step(group);
}

static int finish(struct group *group, struct error *error)
{
	for (size_t i = 0; i < group->count; i++)
		end(&group->members[i], PROCESS_LEFT);
	for (size_t i = 0; i < group->count; i++)
		if (!group->members[i].is_gone)
			clear_away(group, &group->members[i]);
	int rc = reaper_end_all(error);
	for (size_t i = 0; i < group->count; i++) {
		drain(&group->members[i]);
		spawn_close(&group->members[i].child);
	}
	return rc;
}

int process_run_all(const struct process *processes, struct process_result *results, size_t count,
	struct error *error)
{
	struct group group = { .count = count, .last_ms = INT64_MAX, .kills = memory_kills() };
	memset(results, 0, count * sizeof *results);
	for (size_t i = 0; i < count; i++)
		group.members[i] = (struct running){ .process = &processes[i],
			.result = &results[i],
			.sandbox = sandbox_none,
			.child = child_none,
			.held = -1 };
	cleanup_fd int exits = group.exits = watch_children();
	if (exits < 0)
		return fail(error, ERROR_SYSTEM, "The kernel does not say when a process ends: %s.",
			strerror(errno));
	int rc = begin_all(&group, error);
	while (!rc && !group.members[0].over) {
		step(&group);
		clear_followers(&group);
	}
	if (!rc) {
		await_loss(&group);
		await_word(&group);
	}
	int left = finish(&group, rc ? NULL : error);
	return rc ? rc : left;
}

int process_run(const struct process *process, struct process_result *result, struct error *error)
{
	return process_run_all(process, result, 1, error);
}
