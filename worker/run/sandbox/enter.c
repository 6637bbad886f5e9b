#include "worker/run/sandbox/enter.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/seccomp.h>
#include <linux/securebits.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static const int NAMESPACES[SANDBOX_PLACES] = {
	[SANDBOX_USERS] = CLONE_NEWUSER,
	[SANDBOX_MOUNTS] = CLONE_NEWNS,
	[SANDBOX_PROCESSES] = CLONE_NEWPID,
	[SANDBOX_NETWORK] = CLONE_NEWNET,
	[SANDBOX_IPC] = CLONE_NEWIPC,
	[SANDBOX_NAME] = CLONE_NEWUTS,
};

/* If the machine runs out of memory, the kernel kills this process before Podium's. The sandbox
 * does not depend on this, so errors are ignored. */
static void set_oom_score(void)
{
	int file = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
	if (file < 0)
		return;
	ssize_t ignored = write(file, "1000", 4);
	(void)ignored;
	close(file);
}

const char *sandbox_join(const struct sandbox_entry *entry, const int places[SANDBOX_PLACES])
{
	errno = EINVAL;
	if (entry->size != sizeof *entry)
		return "understand what it is to enter";
	set_oom_score();
	if (places[SANDBOX_CONTROL_GROUP] >= 0 && write(places[SANDBOX_CONTROL_GROUP], "0", 1) != 1)
		return "enter its control group";
	for (int place = SANDBOX_USERS; place < SANDBOX_PLACES; place++)
		if (places[place] >= 0 && setns(places[place], NAMESPACES[place]))
			return "enter its namespaces";
	return NULL;
}

/* Sets the niceness of the process's session. Tries several times, because the kernel accepts only
 * one such change in 0.1 s, except from root. Errors are ignored: a kernel without autogroup needs
 * no change. */
static void set_session_nice(int nice)
{
	enum { tries = 50, pause_ns = 10 * 1000 * 1000 };
	char text[16];
	const int length = snprintf(text, sizeof text, "%d", nice);
	int file = open("/proc/self/autogroup", O_WRONLY | O_CLOEXEC);
	if (file < 0)
		return;
	for (int i = 0; i < tries && write(file, text, (size_t)length) < 0 && errno == EAGAIN; i++)
		nanosleep(&(struct timespec){ .tv_nsec = pause_ns }, NULL);
	close(file);
}

/* Asks the kernel for a short time slice (since Linux 6.12). A thread that wakes up then need not
 * wait for the end of another thread's time slice of about 3 ms. Errors are ignored. */
static void shorten_turn(int nice)
{
	struct {
		uint32_t size, policy;
		uint64_t flags;
		int32_t nice;
		uint32_t priority;
		uint64_t turn_ns, deadline_ns, period_ns;
	} attributes = { .size = sizeof attributes, .nice = nice, .turn_ns = 100 * 1000 };
	syscall(SYS_sched_setattr, 0, &attributes, 0);
}

int sandbox_set_nice(int nice)
{
	set_session_nice(nice);
	if (setpriority(PRIO_PROCESS, 0, nice))
		return -1;
	shorten_turn(nice);
	return 0;
}

static int set_limits(const struct sandbox_entry *entry)
{
	for (uint32_t i = 0; i < entry->limit_count; i++) {
		const struct sandbox_limit *limit = &entry->limits[i];
		struct rlimit current;
		if (getrlimit((__rlimit_resource_t)limit->what, &current))
			return -1;
		/* An ordinary user cannot exceed its hard limit. */
		rlim_t most = current.rlim_max < limit->most ? current.rlim_max : limit->most;
		if (setrlimit((__rlimit_resource_t)limit->what, &(struct rlimit){ most, most }))
			return -1;
	}
	return 0;
}

/* Prevents later programs from gaining a capability, as root or from a file. EPERM is no error: an
 * ordinary user outside of a user namespace cannot empty the bounding set, but has no capability to
 * lose either. */
static int forbid_privileges(void)
{
	static const unsigned long locked = SECBIT_NOROOT | SECBIT_NOROOT_LOCKED
		| SECBIT_NO_SETUID_FIXUP | SECBIT_NO_SETUID_FIXUP_LOCKED | SECBIT_KEEP_CAPS_LOCKED
		| SECBIT_NO_CAP_AMBIENT_RAISE | SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED;
	for (unsigned long capability = 0; prctl(PR_CAPBSET_READ, capability, 0, 0, 0) >= 0;
		 capability++)
		if (prctl(PR_CAPBSET_DROP, capability, 0, 0, 0))
			return errno == EPERM ? 0 : -1;
	return prctl(PR_SET_SECUREBITS, locked, 0, 0, 0);
}

static int drop_privileges(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = { 0 };
	/* Kernels before 4.3 have no ambient set. */
	if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) && errno != EINVAL)
		return -1;
	return (int)syscall(SYS_capset, &header, none);
}

static int become_user(const struct sandbox_entry *entry)
{
	if (!entry->change_user)
		return 0;
	if (setgroups(entry->group_count, entry->groups)
		|| setresgid(entry->gid, entry->gid, entry->gid))
		return -1;
	return setresuid(entry->uid, entry->uid, entry->uid);
}

int sandbox_give_up(const struct sandbox_entry *entry)
{
	if (forbid_privileges() || become_user(entry) || drop_privileges())
		return -1;
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

/* Kills this process when its parent dies. Call it after a change of user, which clears the death
 * signal. If the parent died earlier, no signal comes, so the function then fails with ESRCH. */
static int die_with(pid_t parent)
{
	if (!parent)
		return 0;
	if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0))
		return -1;
	errno = ESRCH;
	return getppid() == parent ? 0 : -1;
}

/* Filters the system calls of all threads, although there should be only one. */
static int filter_calls(const struct sandbox_entry *entry)
{
	struct sock_fprog program = { (unsigned short)entry->instruction_count,
		(struct sock_filter *)(uintptr_t)entry->instructions };
	return entry->instruction_count
		? (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program)
		: 0;
}

const char *sandbox_confine(const struct sandbox_entry *entry, int folder)
{
	umask(077);
	if (setsid() < 0)
		return "open a session";
	if (entry->nice && sandbox_set_nice(entry->nice))
		return "set its niceness";
	if (set_limits(entry))
		return "set its limits";
	if (sandbox_give_up(entry))
		return "give up its privileges";
	if (entry->folder[0] ? chdir(entry->folder) : fchdir(folder))
		return "enter its folder";
	if ((entry->is_dumpable && prctl(PR_SET_DUMPABLE, 1, 0, 0, 0)) || die_with(entry->parent))
		return "tie itself to podium-run";
	return filter_calls(entry) ? "filter its system calls" : NULL;
}
