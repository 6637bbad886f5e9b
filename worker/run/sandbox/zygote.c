#include "worker/run/sandbox/zygote.h"

#include "lib/base/arena.h"
#include "lib/base/buffer.h"
#include "lib/base/clock.h"
#include "lib/base/embed.h"
#include "lib/base/log.h"
#include "lib/base/scope.h"
#include "worker/run/sandbox/reaper.h"
#include "worker/run/sandbox/variables.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

enum {
	answer_ms = 10 * 1000, /* an answer takes milliseconds; an ordinary start takes seconds */
	most_answer_bytes = 4096,
	most_descriptors = spawn_most_descriptors + 3 + SANDBOX_PLACES,
};

EMBED(zygote_py, "harness/zygote.py");
EMBED(zygote_library, SANDBOX_LIBRARY);

const struct zygote zygote_none = { .control = -1 };

/* ---- starting and ending ---- */

/* The descriptors that the zygote gets. */
struct sources {
	int control;
	int library; /* enter.c as a shared object, which the interpreter loads */
	int code;    /* zygote.py */
};

static void scope_sources(struct sources *sources)
{
	scope_close(&sources->control);
	scope_close(&sources->library);
	scope_close(&sources->code);
}
#define cleanup_sources __attribute__((cleanup(scope_sources)))

/* Returns a memory file with this content, above the descriptors that the zygote gets; -1: not
 * available. */
static int open_content(const char *bytes, const char *end)
{
	const size_t length = (size_t)(end - bytes);
	cleanup_fd int file =
		memfd_create("podium-zygote", MFD_CLOEXEC | 0x10U /* MFD_EXEC, since Linux 6.3 */);
	if (file < 0)
		file = memfd_create("podium-zygote", MFD_CLOEXEC);
	return file >= 0 && write(file, bytes, length) == (ssize_t)length
		? fcntl(file, F_DUPFD_CLOEXEC, 10)
		: -1;
}

static _Noreturn void run_child(enum zygote_kind kind, const char *python,
	const char *const *environment, const struct sources *sources, pid_t parent)
{
	/* The last word is only for people who list processes. */
	static const char *const titles[] = {
		[ZYGOTE_JUDGE] = "podium-zygote: forks judges and null contestants",
		[ZYGOTE_SUBMISSION] = "podium-zygote: forks programs with a submission",
	};
	/* Not the path /proc/self/fd/5: a traceback in a forked program would read its lines from what
	 * is the program's descriptor 5. */
	static const char start[] =
		"import os; "
		"exec(compile(os.pread(5, os.fstat(5).st_size, 0), '<podium-zygote>', 'exec'))";
	const char *arguments[] = { python, "-c", start, titles[kind], NULL };
	sigset_t none;
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	cleanup_fd int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
	/* podium-run's standard output carries its events, so what modules print during import goes to
	 * the log. Python imports from its start folder, which others may be able to write to, so it
	 * starts in "/". */
	if (chdir("/") || dup2(nothing, 0) < 0 || dup2(2, 1) < 0 || dup2(sources->control, 3) < 0
		|| dup2(sources->library, 4) < 0 || dup2(sources->code, 5) < 0 || setsid() < 0
		|| prctl(PR_SET_PDEATHSIG, SIGKILL) || getppid() != parent)
		_exit(127);
	execve(python, (char *const *)(uintptr_t)arguments, (char *const *)(uintptr_t)environment);
	_exit(127);
}

/* Builds the environment with the settings that a fork can no longer change: the interpreter's, and
 * OpenMP's number of threads. A judge's threads must not spin while they wait: that would take
 * processor time from the program that is timed. */
static const char *const *build_environment(
	struct arena *arena, enum zygote_kind kind, const char *python)
{
	enum { most_threads = 8 };
	static const struct account root = { .name = "podium" };
	cpu_set_t set;
	int threads = sched_getaffinity(0, sizeof set, &set) ? 1 : CPU_COUNT(&set);
	struct variables variables =
		variables_basic(arena, &root, (const char *const[]){ python, NULL }, "/nonexistent");
	variables_set(&variables, "OMP_NUM_THREADS",
		arena_printf(arena, "%d", threads < most_threads ? threads : most_threads));
	variables_set(&variables, "CUDA_VISIBLE_DEVICES", "");
	if (kind == ZYGOTE_JUDGE)
		variables_set(&variables, "OMP_WAIT_POLICY", "PASSIVE");
	return (const char *const *)arena_copy(arena, variables.list, sizeof variables.list);
}

static int started;

int zygote_count(void)
{
	return started;
}

void zygote_start(struct zygote *zygote, enum zygote_kind kind, const char *python)
{
	cleanup_arena struct arena *arena = arena_new();
	const char *const *environment = build_environment(arena, kind, python);
	int ends[2] = { -1, -1 };
	cleanup_sources struct sources sources = { -1,
		open_content(embedded_zygote_library, embedded_zygote_library_end),
		open_content(embedded_zygote_py, embedded_zygote_py_end) };
	if (sources.library < 0 || sources.code < 0
		|| socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends)) {
		log_warning("Cannot create a socket for the zygote: %s.", strerror(errno));
		return;
	}
	cleanup_fd int ours = ends[0];
	sources.control = ends[1];
	pid_t parent = getpid(), pid = fork();
	if (pid == 0)
		run_child(kind, python, environment, &sources, parent);
	if (pid < 0) {
		log_warning("The zygote could not be started: %s.", strerror(errno));
		return;
	}
	*zygote = (struct zygote){
		.kind = kind, .python = strdup(python), .pid = pid, .control = steal_fd(&ours)
	};
	reaper_spare(pid);
	started++;
}

void zygote_keep(struct zygote *zygote)
{
	if (!zygote->python || (zygote->pid && reaper_is_spared(zygote->pid)))
		return;
	cleanup_free char *python = strdup(zygote->python);
	const enum zygote_kind kind = zygote->kind;
	zygote_end(zygote);
	zygote_start(zygote, kind, python);
}

void zygote_end(struct zygote *zygote)
{
	if (zygote->control >= 0)
		close(zygote->control);
	if (zygote->pid && reaper_is_spared(zygote->pid)) {
		kill(zygote->pid, SIGKILL);
		waitpid(zygote->pid, NULL, 0);
		reaper_note(zygote->pid);
	}
	free(zygote->python);
	*zygote = zygote_none;
}

/* ---- messages ---- */

/* Receives one answer; NULL if none comes in time. */
static json_t *receive_answer(const struct zygote *zygote, int limit_ms)
{
	char text[most_answer_bytes];
	struct pollfd ready = { .fd = zygote->control, .events = POLLIN };
	int64_t end_ms = clock_ms() + limit_ms;
	for (int64_t left_ms; (left_ms = end_ms - clock_ms()) > 0;) {
		if (poll(&ready, 1, (int)left_ms) <= 0)
			continue;
		ssize_t length = recv(zygote->control, text, sizeof text, MSG_DONTWAIT);
		if (length > 0)
			return json_loadb(text, (size_t)length, 0, NULL);
		if (length == 0 || (errno != EINTR && errno != EAGAIN))
			return NULL;
	}
	return NULL;
}

static json_t *words_json(const char *const *words)
{
	json_t *list = json_array();
	for (; *words; words++)
		json_array_append_new(list, json_string(*words));
	return list;
}

/* Builds the message. The sent descriptors are the program's `own` ones, the folder, the
 * environment, the entry, and the existing places. The message gives each place's index among the
 * sent descriptors. */
static char *build_message(const struct process *process, const struct sandbox *sandbox, size_t own,
	int *descriptors, size_t *count)
{
	json_t *places = json_array();
	for (int place = 0; place < SANDBOX_PLACES; place++) {
		json_array_append_new(
			places, json_integer(sandbox->places[place] >= 0 ? (json_int_t)*count : -1));
		if (sandbox->places[place] >= 0)
			descriptors[(*count)++] = sandbox->places[place];
	}
	json_t *message = json_pack("{s:o, s:i, s:i, s:o, s:b}", "arguments",
		words_json(process->arguments + 1), "parent", (int)getpid(), "own", (int)own, "places",
		places, "forks", sandbox_has_processes(sandbox));
	char *text = message ? json_dumps(message, JSON_COMPACT) : NULL;
	json_decref(message);
	return text;
}

/* Returns a memory file with the program's sandbox_entry; -1 on failure. */
static int write_entry(const struct process *process, const struct sandbox *sandbox)
{
	static struct sandbox_entry entry;
	sandbox_entry(sandbox, process->inside, process->most_address_space, &entry);
	entry.nice = process->nice;
	entry.is_dumpable = !process->is_trusted || sandbox->host->stands[WALL_PROC];
	cleanup_fd int file = memfd_create("entry", MFD_CLOEXEC);
	return file >= 0 && pwrite(file, &entry, sizeof entry, 0) == (ssize_t)sizeof entry
		? steal_fd(&file)
		: -1;
}

/* Returns a pipe that holds NAME=VALUE with a zero after each. -1: it does not fit. */
static int environment_pipe(const char *const *environment)
{
	cleanup_buffer struct buffer text = { 0 };
	int ends[2];
	for (; *environment; environment++)
		buffer_append(&text, *environment, strlen(*environment) + 1);
	if (pipe2(ends, O_CLOEXEC | O_NONBLOCK))
		return -1;
	bool fits = write(ends[1], text.data, text.length) == (ssize_t)text.length;
	close(ends[1]);
	fcntl(ends[0], F_SETFL, 0); /* reads may block now: the other end is closed */
	if (fits)
		return ends[0];
	close(ends[0]);
	return -1;
}

static int send_message(
	const struct zygote *zygote, const char *text, const int *descriptors, size_t count)
{
	union {
		char bytes[CMSG_SPACE(sizeof(int) * most_descriptors)];
		struct cmsghdr aligned;
	} space = { 0 };
	struct iovec part = { .iov_base = (void *)(uintptr_t)text, .iov_len = strlen(text) };
	struct msghdr message = { .msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = space.bytes,
		.msg_controllen = CMSG_SPACE(sizeof(int) * count) };
	struct cmsghdr *header = CMSG_FIRSTHDR(&message);
	header->cmsg_level = SOL_SOCKET;
	header->cmsg_type = SCM_RIGHTS;
	header->cmsg_len = CMSG_LEN(sizeof(int) * count);
	memcpy(CMSG_DATA(header), descriptors, sizeof(int) * count);
	return sendmsg(zygote->control, &message, MSG_NOSIGNAL) < 0 ? -1 : 0;
}

/* ---- one program ---- */

/* Whether the zygote has imported everything. A program does not wait for the imports: without the
 * zygote, a program that needs no torch starts sooner, and one that needs torch starts no later. */
static bool has_imported(struct zygote *zygote)
{
	if (!zygote->is_ready) {
		json_t *answer = receive_answer(zygote, 1);
		zygote->is_ready = json_is_true(json_object_get(answer, "ready"));
		json_decref(answer);
	}
	return zygote->is_ready;
}

bool zygote_serves(struct zygote *zygote, const struct process *process)
{
	bool can = zygote && zygote->pid && !process->most_address_space
		&& strcmp(process->arguments[0], zygote->python) == 0 && process->arguments[1]
		&& process->arguments[1][0] != '-';
	return can && has_imported(zygote);
}

/* Reads two answers, in any order: the program's pid from the process that forked it, and "begins"
 * from the program. */
static int read_answers(const struct zygote *zygote, pid_t *pid, struct error *error)
{
	bool begins = false;
	for (*pid = 0; *pid <= 0 || !begins;) {
		json_t *answer = receive_answer(zygote, answer_ms);
		const char *fault = json_string_value(json_object_get(answer, "error"));
		int rc = answer && !fault
			? 0
			: fail(error, ERROR_SYSTEM, "The zygote could not start a program: %s.",
				fault          ? fault
					: *pid > 0 ? "the program did not start"
					: begins   ? "its process is unknown"
							   : "there is no answer");
		if (json_is_integer(json_object_get(answer, "pid")))
			*pid = (pid_t)json_integer_value(json_object_get(answer, "pid"));
		begins |= json_is_true(json_object_get(answer, "begins"));
		json_decref(answer);
		if (rc)
			return rc;
	}
	return 0;
}

/* Ends the zygote, and a program that the zygote has half started: that program must not run next
 * to its replacement. A program whose number is unknown ends when it cannot send "begins". */
static void end_failed_zygote(struct zygote *zygote, pid_t program)
{
	shutdown(zygote->control, SHUT_RDWR);
	if (program > 0)
		kill(program, SIGKILL);
	if (zygote->pid && reaper_is_spared(zygote->pid))
		kill(zygote->pid, SIGKILL); /* zygote_keep starts another zygote before the next job */
	zygote->is_ready = false;
}

int zygote_spawn(struct zygote *zygote, const struct process *process,
	const struct sandbox *sandbox, const struct spawn_descriptors *descriptors, pid_t *pid)
{
	struct error error;
	cleanup_fd int environment = environment_pipe(process->environment);
	cleanup_fd int entry = write_entry(process, sandbox);
	int sent[most_descriptors];
	size_t count = descriptors->count;
	memcpy(sent, descriptors->list, count * sizeof(int));
	sent[count++] = process->folder;
	sent[count++] = environment;
	sent[count++] = entry;
	cleanup_free char *message = build_message(process, sandbox, descriptors->count, sent, &count);
	*pid = 0;
	int rc = environment < 0 || entry < 0 || !message || send_message(zygote, message, sent, count)
		? fail(&error, ERROR_SYSTEM, "The zygote accepts no programs.")
		: read_answers(zygote, pid, &error);
	if (rc) {
		log_warning("%s podium-run starts the program without it.", error.text);
		end_failed_zygote(zygote, *pid);
	}
	return rc;
}
