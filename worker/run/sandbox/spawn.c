#include "worker/run/sandbox/spawn.h"

#include "lib/base/scope.h"
#include "worker/run/sandbox/zygote.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>

struct ends {
	int read, write;
};

static void scope_ends(struct ends *ends)
{
	scope_close(&ends->read);
	scope_close(&ends->write);
}
#define cleanup_ends __attribute__((cleanup(scope_ends)))

/* A message from a starting child: either the process number of its own child, which becomes the
 * program in its place, or errno and the failed step. */
struct news {
	pid_t pid; /* 0: this is a failure */
	int number;
	char step[60];
};

const struct child child_none = { .pipes = { -1, -1, -1 } };

static int reset_signals(void)
{
	sigset_t none;
	sigemptyset(&none);
	for (int number = 1; number < NSIG; number++)
		signal(number, SIG_DFL);
	return sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Does the same as close_range, for kernels before 5.11. */
static int close_each(int first)
{
	DIR *stream = opendir("/proc/self/fd");
	if (!stream)
		return -1;
	for (struct dirent *entry; (entry = readdir(stream));)
		if (entry->d_name[0] != '.' && atoi(entry->d_name) >= first)
			fcntl(atoi(entry->d_name), F_SETFD, FD_CLOEXEC);
	return closedir(stream);
}

/* Gives the program its descriptors 0, 1, 2 and so on; all others close on exec. The parent moved
 * the sources above their destinations, so that dup2 overwrites no source before it is copied. */
static int set_descriptors(const struct spawn_descriptors *sources)
{
	for (size_t place = 0; place < sources->count; place++)
		if (dup2(sources->list[place], (int)place) < 0)
			return -1;
	return close_range((unsigned int)sources->count, ~0U, CLOSE_RANGE_CLOEXEC)
		? close_each((int)sources->count)
		: 0;
}

static void send_news(int report, int number, const char *step, pid_t pid)
{
	struct news news = { .number = number, .pid = pid };
	snprintf(news.step, sizeof news.step, "%s", step ? step : "");
	ssize_t ignored = write(report, &news, sizeof news);
	(void)ignored;
}

/* Becomes the program. Returns only on failure, with the name of the failed step. */
static const char *become_program(const struct process *process, const struct sandbox_entry *entry,
	const struct spawn_descriptors *sources)
{
	if (reset_signals())
		return "take its signals back";
	if (set_descriptors(sources))
		return "arrange its descriptors";
	const char *step = sandbox_confine(entry, process->folder);
	if (step)
		return step;
	execve(process->arguments[0], (char *const *)process->arguments,
		(char *const *)process->environment);
	return "be started";
}

/* setns moves only later children into a process namespace, so this process forks again and ends.
 * podium-run adopts the second child (see reaper.h). */
static _Noreturn void run_child(const struct process *process, const struct sandbox *sandbox,
	const struct sandbox_entry *entry, const struct spawn_descriptors *sources, int report)
{
	const char *step = sandbox_join(entry, sandbox->places);
	if (!step && sandbox_has_processes(sandbox)) {
		pid_t pid = fork();
		if (pid > 0)
			send_news(report, 0, NULL, pid);
		if (pid > 0)
			_exit(0);
		step = pid < 0 ? "fork" : NULL;
	}
	if (!step)
		step = become_program(process, entry, sources);
	send_news(report, errno, step, 0);
	_exit(127);
}

/* Creates a pipe whose ends lie above the descriptors that a child starts with. */
static int make_pipe(struct ends *ends)
{
	int made[2];
	if (pipe2(made, O_CLOEXEC))
		return -1;
	ends->read = fcntl(made[0], F_DUPFD_CLOEXEC, spawn_above);
	ends->write = fcntl(made[1], F_DUPFD_CLOEXEC, spawn_above);
	close(made[0]);
	close(made[1]);
	return ends->read < 0 || ends->write < 0 ? -1 : 0;
}

/* Waits until the child has executed the program or reported a failure. */
static int await_exec(pid_t *pid, int report, const char *program, struct error *error)
{
	struct news news;
	for (;;) {
		ssize_t length = read(report, &news, sizeof news);
		if (length < 0 && errno == EINTR)
			continue;
		if (length != sizeof news)
			return 0;
		if (!news.pid)
			break;
		*pid = news.pid;
	}
	news.step[sizeof news.step - 1] = '\0';
	return fail(
		error, ERROR_SYSTEM, "\"%s\" could not %s: %s.", program, news.step, strerror(news.number));
}

/* The entry is static: it is too large for the stack. */
static int fork_and_exec(const struct process *process, const struct sandbox *sandbox,
	const struct spawn_descriptors *sources, struct ends *report, pid_t *pid, struct error *error)
{
	static struct sandbox_entry entry;
	sandbox_entry(sandbox, process->inside, process->most_address_space, &entry);
	entry.nice = process->nice;
	*pid = fork();
	if (*pid < 0)
		return fail(error, ERROR_SYSTEM, "Cannot create a process: %s.", strerror(errno));
	if (*pid == 0)
		run_child(process, sandbox, &entry, sources, report->write);
	close(steal_fd(&report->write));
	return await_exec(pid, report->read, process->arguments[0], error);
}

static struct spawn_descriptors list_descriptors(
	const struct process *process, const int *standard, const int *channels, size_t channel_count)
{
	struct spawn_descriptors sources = { .count = process->on_result ? 4 : 3 };
	memcpy(sources.list, standard, sources.count * sizeof(int));
	for (size_t i = 0; i < channel_count; i++)
		sources.list[sources.count++] = channels[i];
	return sources;
}

int spawn(const struct process *process, const struct sandbox *sandbox, const int *channels,
	size_t channel_count, struct child *child, struct error *error)
{
	cleanup_ends struct ends output = { -1, -1 }, errors = { -1, -1 }, result = { -1, -1 },
							 report = { -1, -1 };
	cleanup_fd int nothing = -1;
	cleanup_fd int opened = open("/dev/null", O_RDONLY | O_CLOEXEC);
	nothing = fcntl(opened, F_DUPFD_CLOEXEC, spawn_above);
	if (nothing < 0 || make_pipe(&output) || make_pipe(&errors) || make_pipe(&report)
		|| (process->on_result && make_pipe(&result)))
		return fail(
			error, ERROR_SYSTEM, "Cannot create a pipe to a new process: %s.", strerror(errno));
	int *const ours[SPAWN_PIPES] = { &output.read, &errors.read, &result.read };
	const int standard[] = { nothing, output.write, errors.write, result.write };
	struct spawn_descriptors sources = list_descriptors(process, standard, channels, channel_count);
	int rc = zygote_serves(process->zygote, process)
		? zygote_spawn(process->zygote, process, sandbox, &sources, &child->pid)
		: ERROR_NOT_FOUND;
	if (rc)
		rc = fork_and_exec(process, sandbox, &sources, &report, &child->pid, error);
	for (int i = 0; i < SPAWN_PIPES; i++) {
		child->pipes[i] = rc ? -1 : steal_fd(ours[i]);
		if (child->pipes[i] >= 0)
			fcntl(child->pipes[i], F_SETFL, O_NONBLOCK);
	}
	return rc;
}

void spawn_close(struct child *child)
{
	for (int i = 0; i < SPAWN_PIPES; i++)
		if (child->pipes[i] >= 0)
			close(child->pipes[i]);
}
