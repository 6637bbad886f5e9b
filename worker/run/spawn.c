#include "worker/run/spawn.h"

#include "lib/scope.h"
#include "worker/run/zygote.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <linux/close_range.h>

struct ends { int read, write; };

static void scope_ends(struct ends *ends) { scope_close(&ends->read); scope_close(&ends->write); }
#define cleanup_ends __attribute__((cleanup(scope_ends)))

struct failure { /* what a child that cannot become the program says last */
	int number;  /* errno */
	char step[60];
};

/* Limits for everything that runs. Processes are counted per user over the whole machine, so a limit on
 * them makes sense only where submissions have a user of their own. */
static const struct { int what; rlim_t most; bool only_as_other_user; } LIMITS[] = {
	{ RLIMIT_CORE, 0, false },
	{ RLIMIT_NOFILE, 4096, false },
	{ RLIMIT_FSIZE, (rlim_t)1 << 30, false },
	{ RLIMIT_NPROC, 4096, true },
};

static int limit(int what, rlim_t most)
{
	struct rlimit current;
	if (getrlimit((__rlimit_resource_t)what, &current))
		return -1;
	/* An ordinary user cannot go above the hard limit that it was given. */
	if (current.rlim_max < most)
		most = current.rlim_max;
	return setrlimit((__rlimit_resource_t)what, &(struct rlimit){ most, most });
}

static bool is_limited(const struct process *process, size_t i)
{
	return process->account->change || !LIMITS[i].only_as_other_user;
}

json_t *spawn_limits(const struct process *process)
{
	json_t *limits = json_array();
	for (size_t i = 0; i < COUNT(LIMITS); i++)
		if (is_limited(process, i))
			json_array_append_new(limits, json_pack("[i, I]", LIMITS[i].what, (json_int_t)LIMITS[i].most));
	return limits;
}

static int set_limits(const struct process *process)
{
	for (size_t i = 0; i < COUNT(LIMITS); i++)
		if (is_limited(process, i) && limit(LIMITS[i].what, LIMITS[i].most))
			return -1;
	return process->most_address_space ? limit(RLIMIT_AS, process->most_address_space) : 0;
}

static int reset_signals(void)
{
	sigset_t none;
	sigemptyset(&none);
	for (int number = 1; number < NSIG; number++)
		signal(number, SIG_DFL);
	return sigprocmask(SIG_SETMASK, &none, NULL);
}

/* The same as close_range does, for kernels before 5.11. */
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

/* 0, 1, 2 and the result pipe get their places; all else closes on exec. The sources were moved above
 * the places by the parent, so that none is overwritten before it is used. */
static int set_descriptors(const int sources[static 4])
{
	for (int place = 0; place <= process_result_descriptor; place++)
		if (sources[place] >= 0 && dup2(sources[place], place) < 0)
			return -1;
	int first = sources[process_result_descriptor] >= 0 ? process_result_descriptor + 1 : process_result_descriptor;
	return close_range((unsigned int)first, ~0U, CLOSE_RANGE_CLOEXEC) ? close_each(first) : 0;
}

/* Changing the user clears the death signal, so it is set afterwards; a parent that died before that
 * sends none. */
static int die_with(pid_t parent)
{
	if (prctl(PR_SET_PDEATHSIG, SIGKILL))
		return -1;
	errno = ESRCH;
	return getppid() == parent ? 0 : -1;
}

/* Becomes the program; returns the name of the step that failed. */
static const char *become(const struct process *process, const int sources[static 4], pid_t parent)
{
	umask(077);
	if (setsid() < 0 || reset_signals())
		return "open a session";
	if (set_descriptors(sources))
		return "arrange its descriptors";
	if (set_limits(process))
		return "set its limits";
	if (account_become(process->account))
		return "change to its user";
	if (fchdir(process->folder))
		return "enter its folder";
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || die_with(parent))
		return "tie itself to podium-run";
	execve(process->arguments[0], (char *const *)process->arguments, (char *const *)process->environment);
	return "be started";
}

static _Noreturn void run_child(const struct process *process, const int sources[static 4], int report, pid_t parent)
{
	struct failure failure = {0};
	const char *step = become(process, sources, parent);
	failure.number = errno;
	snprintf(failure.step, sizeof failure.step, "%s", step);
	ssize_t ignored = write(report, &failure, sizeof failure);
	(void)ignored;
	_exit(127);
}

/* A pipe whose ends lie above the descriptors that a child starts with. */
static int make_pipe(struct ends *ends)
{
	int made[2];
	if (pipe2(made, O_CLOEXEC))
		return -1;
	ends->read = fcntl(made[0], F_DUPFD_CLOEXEC, 10);
	ends->write = fcntl(made[1], F_DUPFD_CLOEXEC, 10);
	close(made[0]);
	close(made[1]);
	return ends->read < 0 || ends->write < 0 ? -1 : 0;
}

/* Waits until the child has become the program or has said why not. */
static int await(pid_t pid, int report, const char *program, struct error *error)
{
	struct failure failure;
	ssize_t length;
	do
		length = read(report, &failure, sizeof failure);
	while (length < 0 && errno == EINTR);
	if (length != sizeof failure)
		return 0;
	waitpid(pid, NULL, 0);
	failure.step[sizeof failure.step - 1] = '\0';
	return fail(error, ERROR_SYSTEM, "\"%s\" could not %s: %s.", program, failure.step, strerror(failure.number));
}

static int fork_and_exec(const struct process *process, const int sources[static 4], struct ends *report, pid_t *pid,
	struct error *error)
{
	pid_t parent = getpid();
	*pid = fork();
	if (*pid < 0)
		return fail(error, ERROR_SYSTEM, "No new process could be made: %s.", strerror(errno));
	if (*pid == 0)
		run_child(process, sources, report->write, parent);
	close(steal_fd(&report->write));
	return await(*pid, report->read, process->arguments[0], error);
}

int spawn(const struct process *process, struct child *child, struct error *error)
{
	cleanup_ends struct ends output = { -1, -1 }, errors = { -1, -1 }, result = { -1, -1 }, report = { -1, -1 };
	cleanup_fd int nothing = -1;
	cleanup_fd int opened = open("/dev/null", O_RDONLY | O_CLOEXEC);
	nothing = fcntl(opened, F_DUPFD_CLOEXEC, 10);
	if (nothing < 0 || make_pipe(&output) || make_pipe(&errors) || make_pipe(&report) ||
		(process->on_result && make_pipe(&result)))
		return fail(error, ERROR_SYSTEM, "No pipe to a new process could be made: %s.", strerror(errno));
	int *const ours[SPAWN_PIPES] = { &output.read, &errors.read, &result.read };
	const int sources[] = { nothing, output.write, errors.write, result.write };
	int rc = zygote_serves(process->zygote, process)
		? zygote_spawn(process->zygote, process, sources, &child->pid, error) : ERROR_NOT_FOUND;
	if (rc)
		rc = fork_and_exec(process, sources, &report, &child->pid, error);
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
