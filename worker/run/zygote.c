#include "worker/run/zygote.h"

#include "lib/arena.h"
#include "lib/buffer.h"
#include "lib/log.h"
#include "lib/scope.h"
#include "worker/run/clock.h"
#include "worker/run/reaper.h"
#include "worker/run/spawn.h"
#include "worker/run/variables.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

enum {
	answer_ms = 20 * 1000,
	most_answer_bytes = 4096,
	sent_descriptors = 6,
};

__asm__(".section .rodata\nzygote_code:\n.incbin \"harness/zygote.py\"\n.byte 0\n.previous\n");
extern const char zygote_code[];

const struct zygote zygote_none = { .control = -1 };

/* ---- starting and ending ---- */

static _Noreturn void run_child(const char *python, const char *const *environment, int control, pid_t parent)
{
	const char *arguments[] = { python, "-c", zygote_code, NULL };
	sigset_t none;
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	cleanup_fd int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
	/* Standard output is where events go; what modules print while they are imported is for the log. */
	if (dup2(nothing, 0) < 0 || dup2(2, 1) < 0 || dup2(control, 3) < 0 || setsid() < 0
		|| prctl(PR_SET_PDEATHSIG, SIGKILL) || getppid() != parent)
		_exit(127);
	execve(python, (char *const *)(uintptr_t)arguments, (char *const *)(uintptr_t)environment);
	_exit(127);
}

/* What cannot be changed any more in a fork: settings of the interpreter, and OpenMP's number of threads. */
static const char *const *environment_of(struct arena *arena, const char *python)
{
	enum { most_threads = 8 };
	static const struct account root = { .name = "podium" };
	cpu_set_t set;
	int threads = sched_getaffinity(0, sizeof set, &set) ? 1 : CPU_COUNT(&set);
	struct variables variables = variables_basic(arena, &root, (const char *const[]){ python, NULL }, "/nonexistent");
	variables_set(&variables, "OMP_NUM_THREADS", arena_printf(arena, "%d", threads < most_threads ? threads : most_threads));
	variables_set(&variables, "CUDA_VISIBLE_DEVICES", "");
	return (const char *const *)arena_copy(arena, variables.list, sizeof variables.list);
}

void zygote_start(struct zygote *zygote, const char *python)
{
	cleanup_arena struct arena *arena = arena_new();
	const char *const *environment = environment_of(arena, python);
	int ends[2];
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends)) {
		log_warning("No socket for the zygote: %s.", strerror(errno));
		return;
	}
	pid_t parent = getpid(), pid = fork();
	if (pid == 0)
		run_child(python, environment, ends[1], parent);
	close(ends[1]);
	if (pid < 0) {
		log_warning("The zygote could not be started: %s.", strerror(errno));
		close(ends[0]);
		return;
	}
	*zygote = (struct zygote){ .python = strdup(python), .pid = pid, .control = ends[0] };
	reaper_spare(pid);
}

void zygote_keep(struct zygote *zygote)
{
	if (!zygote->python || (zygote->pid && reaper_is_spared(zygote->pid)))
		return;
	cleanup_free char *python = strdup(zygote->python);
	zygote_end(zygote);
	zygote_start(zygote, python);
}

void zygote_end(struct zygote *zygote)
{
	if (zygote->control >= 0)
		close(zygote->control);
	if (zygote->pid && reaper_is_spared(zygote->pid)) {
		kill(zygote->pid, SIGKILL);
		waitpid(zygote->pid, NULL, 0);
		reaper_spare(0);
	}
	free(zygote->python);
	*zygote = zygote_none;
}

/* ---- messages ---- */

/* One answer; NULL when none comes in time. */
static json_t *receive(const struct zygote *zygote, int limit_ms)
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

static json_t *user_json(const struct account *account)
{
	if (!account->change)
		return json_null();
	json_t *groups = json_array();
	for (int i = 0; i < account->group_count; i++)
		json_array_append_new(groups, json_integer(account->groups[i]));
	return json_pack("[I, I, o]", (json_int_t)account->uid, (json_int_t)account->gid, groups);
}

static json_t *words_json(const char *const *words)
{
	json_t *list = json_array();
	for (; *words; words++)
		json_array_append_new(list, json_string(*words));
	return list;
}

static char *message_for(const struct process *process)
{
	json_t *message = json_pack("{s:o, s:i, s:o, s:o}", "arguments", words_json(process->arguments + 1),
		"parent", (int)getpid(), "user", user_json(process->account), "limits", spawn_limits(process));
	char *text = message ? json_dumps(message, JSON_COMPACT) : NULL;
	json_decref(message);
	return text;
}

/* A pipe that holds NAME=VALUE with a zero behind each. -1: it does not fit. */
static int environment_pipe(const char *const *environment)
{
	cleanup_buffer struct buffer text = {0};
	int ends[2];
	for (; *environment; environment++)
		buffer_append(&text, *environment, strlen(*environment) + 1);
	if (pipe2(ends, O_CLOEXEC | O_NONBLOCK))
		return -1;
	bool fits = write(ends[1], text.data, text.length) == (ssize_t)text.length;
	close(ends[1]);
	fcntl(ends[0], F_SETFL, 0); /* its reader waits for the end, which is there already */
	if (fits)
		return ends[0];
	close(ends[0]);
	return -1;
}

static int send_message(const struct zygote *zygote, const char *text, const int descriptors[static sent_descriptors])
{
	union { char bytes[CMSG_SPACE(sizeof(int) * sent_descriptors)]; struct cmsghdr aligned; } space = {0};
	struct iovec part = { .iov_base = (void *)(uintptr_t)text, .iov_len = strlen(text) };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1, .msg_control = space.bytes, .msg_controllen = sizeof space.bytes };
	struct cmsghdr *header = CMSG_FIRSTHDR(&message);
	header->cmsg_level = SOL_SOCKET;
	header->cmsg_type = SCM_RIGHTS;
	header->cmsg_len = CMSG_LEN(sizeof(int) * sent_descriptors);
	memcpy(CMSG_DATA(header), descriptors, sizeof(int) * sent_descriptors);
	return sendmsg(zygote->control, &message, MSG_NOSIGNAL) < 0 ? -1 : 0;
}

/* ---- one program ---- */

/* A program does not wait for it: what does not need torch begins sooner by itself, and what does no later. */
static bool is_ready(struct zygote *zygote)
{
	if (!zygote->is_ready) {
		json_t *answer = receive(zygote, 1);
		zygote->is_ready = json_is_true(json_object_get(answer, "ready"));
		json_decref(answer);
	}
	return zygote->is_ready;
}

bool zygote_serves(struct zygote *zygote, const struct process *process)
{
	bool can = zygote && zygote->pid && process->on_result && !process->most_address_space
		&& strcmp(process->arguments[0], zygote->python) == 0 && process->arguments[1] && process->arguments[1][0] != '-';
	return can && is_ready(zygote);
}

static int read_answer(const struct zygote *zygote, pid_t *pid, struct error *error)
{
	json_t *answer = receive(zygote, answer_ms);
	const char *fault = json_string_value(json_object_get(answer, "error"));
	*pid = (pid_t)json_integer_value(json_object_get(answer, "pid"));
	int rc = *pid > 0 ? 0 : fail(error, ERROR_SYSTEM, "The zygote could not start a program: %s.",
		fault ? fault : "it does not answer");
	json_decref(answer);
	return rc;
}

int zygote_spawn(struct zygote *zygote, const struct process *process, const int descriptors[static 4], pid_t *pid,
	struct error *error)
{
	cleanup_fd int environment = environment_pipe(process->environment);
	cleanup_free char *message = message_for(process);
	const int sent[sent_descriptors] = { descriptors[0], descriptors[1], descriptors[2], descriptors[3], process->folder,
		environment };
	int rc = environment < 0 || !message || send_message(zygote, message, sent)
		? fail(error, ERROR_SYSTEM, "The zygote takes no programs.") : read_answer(zygote, pid, error);
	if (rc && zygote->pid && reaper_is_spared(zygote->pid))
		kill(zygote->pid, SIGKILL); /* zygote_keep starts another one before the next job */
	if (rc)
		zygote->is_ready = false;
	return rc;
}
