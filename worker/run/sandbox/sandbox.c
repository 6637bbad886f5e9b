#include "worker/run/sandbox/sandbox.h"

#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "lib/base/scope.h"
#include "worker/run/sandbox/filter.h"
#include "worker/run/sandbox/reaper.h"
#include "worker/run/sandbox/root.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

enum { STORES_SENT = STORE_JOB, REPORTED = SANDBOX_PLACES + 1 + STORES_SENT, end_ms = 2000 };
static const int64_t largest_disk_bytes = INT64_C(4) << 30, default_processes = 2048;

const struct sandbox sandbox_none = {
	.places = { -1, -1, -1, -1, -1, -1, -1 },
	.group = { -1, -1, -1, -1, "" },
	.proc = -1,
	.stores = { -1, -1, -1 },
};

/* Limits for every program. CUDA reserves more addresses than there is memory, so there is no
 * general limit on addresses; a stage may set one. */
static const struct {
	int what;
	uint64_t most;
} LIMITS[] = {
	{ RLIMIT_CORE, 0 },
	{ RLIMIT_NOFILE, 4096 },
	{ RLIMIT_FSIZE, UINT64_C(1) << 30 },
	{ RLIMIT_NICE, 0 },
	{ RLIMIT_RTPRIO, 0 },
};

/* ---- what the host allows ---- */

static const struct {
	enum sandbox_wall wall;
	int flag;
} NAMESPACES[] = {
	{ WALL_FILES, CLONE_NEWNS },
	{ WALL_PROCESSES, CLONE_NEWPID },
	{ WALL_NETWORK, CLONE_NEWNET },
	{ WALL_IPC, CLONE_NEWIPC },
	{ WALL_NAME, CLONE_NEWUTS },
};

static void set_missing(struct sandbox_host *host, enum sandbox_wall wall, const char *why)
{
	host->stands[wall] = false;
	snprintf(host->why_not[wall], sizeof host->why_not[wall], "%.190s", why);
}

/* Calls `attempt` in a child. Returns 0, or the errno that `attempt` failed with. */
static int try_in_child(int (*attempt)(const void *context), const void *context)
{
	int status;
	pid_t pid = fork();
	if (pid == 0)
		_exit(attempt(context) ? (errno && errno < 256 ? errno : EPERM) : 0);
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return errno;
	return WIFEXITED(status) ? WEXITSTATUS(status) : EPERM;
}

static int try_unshare(const void *context)
{
	return unshare(*(const int *)context);
}

/* Enters a user namespace and uses a right in it, because a user namespace may come without any
 * rights (AppArmor on Ubuntu 24.04). */
static int enter_users(const void *context)
{
	const struct account *account = context;
	if (unshare(CLONE_NEWUSER | CLONE_NEWNS) || sandbox_map_user(account->uid, account->gid))
		return -1;
	return mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL);
}

static int enter_mounts(const void *context)
{
	(void)context;
	return unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ? -1 : 0;
}

/* Moves podium-run itself into a namespace. The jobs' folders are then invisible outside, and all
 * mounts end with podium-run. */
static bool enter_namespace(struct sandbox_host *host)
{
	int (*enter)(const void *) = host->account->change ? enter_mounts : enter_users;
	int number = try_in_child(enter, host->account);
	if (!number && enter(host->account) == 0)
		return true;
	char why[200];
	if (host->account->change)
		snprintf(why, sizeof why,
			"podium-run is root but may not create namespaces (%s), as in most containers.",
			strerror(number ? number : errno));
	else
		snprintf(why, sizeof why,
			"The kernel gives this user no user namespace with rights in it (%s).",
			strerror(number ? number : errno));
	if (!host->account->change)
		set_missing(host, WALL_USERS, why);
	for (size_t i = 0; i < COUNT(NAMESPACES); i++)
		set_missing(host, NAMESPACES[i].wall, why);
	return false;
}

static void check_namespaces(struct sandbox_host *host)
{
	for (size_t i = 0; i < COUNT(NAMESPACES); i++) {
		int number = try_in_child(try_unshare, &NAMESPACES[i].flag);
		char why[200];
		snprintf(why, sizeof why, "The kernel refuses this namespace: %s.", strerror(number));
		if (number)
			set_missing(host, NAMESPACES[i].wall, why);
	}
}

static bool can_open(const struct sandbox_host *host, struct error *error)
{
	struct sandbox sandbox;
	if (sandbox_open(host, &(struct sandbox_view){ .loopback = true }, &sandbox, error))
		return false;
	sandbox_end(&sandbox);
	return true;
}

/* Finds the faults that show only when a whole sandbox is built. */
static void check_root(struct sandbox_host *host)
{
	struct error error;
	if (!host->stands[WALL_PROCESSES])
		set_missing(host, WALL_PROC, host->why_not[WALL_PROCESSES]);
	if (!host->stands[WALL_FILES] || can_open(host, &error))
		return;
	/* A container that masks parts of /proc forbids mounting a complete one, so try without. */
	bool had_proc = host->stands[WALL_PROC];
	host->stands[WALL_PROC] = false;
	struct error without_proc;
	if (had_proc && can_open(host, &without_proc)) {
		set_missing(host, WALL_PROC, error.text);
		return;
	}
	set_missing(host, WALL_FILES, error.text);
	set_missing(host, WALL_PROC, error.text);
}

static int64_t memory_of_machine(void)
{
	return (int64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);
}

static void choose_limits(struct sandbox_host *host)
{
	if (!host->most_memory_bytes)
		host->most_memory_bytes = memory_of_machine() / 4 * 3;
	if (!host->most_disk_bytes)
		host->most_disk_bytes = host->most_memory_bytes / 4 < largest_disk_bytes
			? host->most_memory_bytes / 4
			: largest_disk_bytes;
	if (!host->most_processes)
		host->most_processes = default_processes;
}

/* Fills in what all programs of this host have in common. */
static int make_entries(struct sandbox_host *host, struct error *error)
{
	const struct account *account = host->account;
	for (int loopback = 0; loopback < 2; loopback++) {
		struct sandbox_entry *entry = &host->entries[loopback];
		*entry = (struct sandbox_entry){
			.size = sizeof *entry,
			.change_user = account->change,
			.uid = account->uid,
			.gid = account->gid,
			.group_count = account->change ? (uint32_t)account->group_count : 0,
		};
		for (uint32_t i = 0; i < entry->group_count; i++)
			entry->groups[i] = account->groups[i];
		for (size_t i = 0; i < COUNT(LIMITS); i++)
			entry->limits[entry->limit_count++] =
				(struct sandbox_limit){ .what = LIMITS[i].what, .most = LIMITS[i].most };
		int rc = sandbox_filter(entry, loopback, error);
		if (rc)
			return rc;
	}
	return 0;
}

/* Without control groups, a kernel limit backs up podium-run's own limit on processes. The kernel
 * counts per user, that is for the submissions of all jobs together. The limit is therefore higher,
 * so that a fork bomb cannot block others' programs before podium-run ends the bomb. In a user
 * namespace the kernel counts only the processes inside (since Linux 5.14). */
static void limit_user(struct sandbox_host *host)
{
	struct sandbox_limit limit = { .what = RLIMIT_NPROC,
		.most = (uint64_t)host->most_processes * (host->account->change ? 4 : 2) };
	if (host->groups.folder >= 0 || !host->stands[WALL_USERS])
		return;
	for (int i = 0; i < 2; i++)
		host->entries[i].limits[host->entries[i].limit_count++] = limit;
}

/* A container or another sandbox that podium-run runs in may forbid seccomp. */
static void check_filter(struct sandbox_host *host)
{
	if (syscall(SYS_seccomp, 2 /* SECCOMP_GET_ACTION_AVAIL */, 0, &(uint32_t){ 0x80000000U }) == 0)
		return;
	set_missing(host, WALL_CALLS, "This kernel has no filters of system calls (seccomp).");
	host->entries[0].instruction_count = host->entries[1].instruction_count = 0;
}

/* Refuses host paths that the sandbox replaces with its own. */
static int check_shown(const char *shown, struct error *error)
{
	static const char *const own[] = { "/", "/dev", "/etc", "/job", "/proc", "/sys", "/tmp",
		"/var/tmp" };
	cleanup_free char *copy = strdup(shown ? shown : "");
	for (char *rest = copy, *path; (path = strsep(&rest, ":"));) {
		char resolved[PATH_MAX];
		if (*path && *path != '/')
			return fail(error, ERROR_INPUT,
				"\"%.300s\" cannot be shown to programs in the sandbox: its path must begin with "
				"\"/\".",
				path);
		for (size_t i = 0; i < COUNT(own) && realpath(path, resolved); i++)
			if (strcmp(resolved, own[i]) == 0)
				return fail(error, ERROR_INPUT,
					"%s of the host cannot be shown to programs in the sandbox, which has its own; "
					"name the files or folders in it that they need.",
					own[i]);
	}
	return 0;
}

static int try_to_raise(const void *context)
{
	(void)context;
	return setpriority(PRIO_PROCESS, 0, sandbox_leader_nice);
}

int sandbox_prepare(struct sandbox_host *host, const struct account *account, const char *directory,
	struct error *error)
{
	host->account = account;
	memset(host->stands, true, sizeof host->stands);
	choose_limits(host);
	if (!realpath(directory, host->directory))
		return fail(error, ERROR_SYSTEM, "The folder \"%s\" for jobs cannot be found: %s.",
			directory, strerror(errno));
	int rc = check_shown(host->shown, error);
	if (rc || (rc = make_entries(host, error)))
		return rc;
	check_filter(host);
	host->may_raise = try_in_child(try_to_raise, NULL) == 0;
	control_group_find(&host->groups);
	if (host->groups.folder < 0)
		set_missing(host, WALL_GROUPS, host->groups.why_not);
	if (enter_namespace(host)) {
		check_namespaces(host);
		check_root(host);
	}
	limit_user(host);
	if (!host->stands[WALL_FILES]) {
		set_missing(host, WALL_PROC, host->why_not[WALL_FILES]);
		set_missing(host, WALL_DISK, host->why_not[WALL_FILES]);
		set_missing(host, WALL_DEVICES, host->why_not[WALL_FILES]);
	}
	return 0;
}

void sandbox_host_close(struct sandbox_host *host)
{
	scope_close(&host->groups.folder);
}

/* ---- one sandbox ---- */

static int clone_flags(const struct sandbox_host *host)
{
	int flags = !host->account->change && host->stands[WALL_USERS] ? CLONE_NEWUSER : 0;
	for (size_t i = 0; i < COUNT(NAMESPACES); i++)
		flags |= host->stands[NAMESPACES[i].wall] ? NAMESPACES[i].flag : 0;
	return flags;
}

static int receive_report(struct sandbox *sandbox, int channel, struct error *error)
{
	struct sandbox_report report;
	union {
		char bytes[CMSG_SPACE(sizeof(int) * 16)];
		struct cmsghdr aligned;
	} space;
	struct iovec part = { .iov_base = &report, .iov_len = sizeof report };
	struct msghdr message = { .msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = space.bytes,
		.msg_controllen = sizeof space.bytes };
	ssize_t length;
	while ((length = recvmsg(channel, &message, MSG_CMSG_CLOEXEC)) < 0 && errno == EINTR)
		;
	if (length != (ssize_t)sizeof report)
		return fail(error, ERROR_SYSTEM, "Cannot create the sandbox: its first process ended.");
	report.step[sizeof report.step - 1] = '\0';
	if (report.error)
		return fail(error, ERROR_SYSTEM, "Cannot create the sandbox: it could not %s: %s.",
			report.step, strerror(report.error));
	const struct cmsghdr *header = CMSG_FIRSTHDR(&message);
	const int *received = header ? (const int *)(const void *)CMSG_DATA(header) : NULL;
	int *const wanted[REPORTED] = {
		[SANDBOX_USERS] = &sandbox->places[SANDBOX_USERS],
		[SANDBOX_MOUNTS] = &sandbox->places[SANDBOX_MOUNTS],
		[SANDBOX_PROCESSES] = &sandbox->places[SANDBOX_PROCESSES],
		[SANDBOX_NETWORK] = &sandbox->places[SANDBOX_NETWORK],
		[SANDBOX_IPC] = &sandbox->places[SANDBOX_IPC],
		[SANDBOX_NAME] = &sandbox->places[SANDBOX_NAME],
		[SANDBOX_PLACES] = &sandbox->proc,
		[SANDBOX_PLACES + 1 + STORE_TEMPORARY] = &sandbox->stores[STORE_TEMPORARY],
		[SANDBOX_PLACES + 1 + STORE_SHARED] = &sandbox->stores[STORE_SHARED],
	};
	for (int i = 0; i < REPORTED; i++)
		if (report.has[i] && wanted[i] && received)
			memcpy(wanted[i], received++, sizeof(int));
	return 0;
}

static int start_init(
	struct sandbox *sandbox, const struct sandbox_view *view, int flags, struct error *error)
{
	int ends[2];
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return fail(error, ERROR_SYSTEM, "Cannot create the sandbox: %s.", strerror(errno));
	sandbox->init =
		(pid_t)syscall(SYS_clone, (unsigned long)flags | SIGCHLD, NULL, NULL, NULL, 0UL);
	if (sandbox->init == 0) {
		close(ends[0]);
		sandbox_init(sandbox->host, view, ends[1]);
	}
	close(ends[1]);
	int rc = sandbox->init > 0
		? receive_report(sandbox, ends[0], error)
		: fail(error, ERROR_SYSTEM, "Cannot create the sandbox: %s.", strerror(errno));
	close(ends[0]);
	return rc;
}

int sandbox_open(const struct sandbox_host *host, const struct sandbox_view *view,
	struct sandbox *sandbox, struct error *error)
{
	*sandbox = sandbox_none;
	sandbox->host = host;
	sandbox->loopback = view->loopback;
	int rc = 0, flags = clone_flags(host);
	if (host->groups.folder >= 0) {
		rc = control_group_make(
			&host->groups, host->most_memory_bytes, host->most_processes, &sandbox->group, error);
		sandbox->places[SANDBOX_CONTROL_GROUP] = sandbox->group.processes;
	}
	if (view->job && host->stands[WALL_DISK])
		sandbox->stores[STORE_JOB] = open(view->job, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (!rc && flags)
		rc = start_init(sandbox, view, flags, error);
	if (rc)
		sandbox_end(sandbox);
	return rc;
}

/* Waits for process 1 and for the program, which is our child. Process 1 cannot end before the
 * program was waited for. Waits for no other child, because the owners of other sandboxes need
 * their exit statuses. Returns the program's peak resident memory in bytes, or 0. */
static int64_t wait_for_all(const struct sandbox *sandbox)
{
	struct rusage usage;
	int64_t peak_bytes = 0;
	cleanup_fd int ended = (int)syscall(SYS_pidfd_open, sandbox->init, 0);
	struct pollfd ready = { .fd = ended, .events = POLLIN };
	int64_t give_up_ms = clock_ms() + end_ms;
	do {
		if (sandbox->program && wait4(sandbox->program, NULL, WNOHANG, &usage) == sandbox->program)
			peak_bytes = sandbox_resident_bytes(&usage);
		if (waitpid(sandbox->init, NULL, WNOHANG) != 0)
			break;
		poll(&ready, ended >= 0, 1);
	} while (clock_ms() < give_up_ms);
	return peak_bytes;
}

int64_t sandbox_end(struct sandbox *sandbox)
{
	int64_t peak_bytes = 0;
	/* Without namespaces and control groups, only the program's process group can be killed. The
	 * program leads one, because it starts a session. */
	if (sandbox->program > 0) {
		kill(-sandbox->program, SIGKILL);
		kill(sandbox->program, SIGKILL);
	}
	control_group_kill(&sandbox->group);
	if (sandbox->init > 0) {
		kill(sandbox->init, SIGKILL);
		peak_bytes = wait_for_all(sandbox);
	}
	for (int place = SANDBOX_USERS; place < SANDBOX_PLACES; place++)
		scope_close(&sandbox->places[place]);
	scope_close(&sandbox->proc);
	for (size_t i = 0; i < COUNT(sandbox->stores); i++)
		scope_close(&sandbox->stores[i]);
	if (sandbox->host)
		control_group_remove(&sandbox->host->groups, &sandbox->group);
	*sandbox = sandbox_none;
	return peak_bytes;
}

void sandbox_entry(const struct sandbox *sandbox, const char *inside, uint64_t most_address_space,
	struct sandbox_entry *entry)
{
	*entry = sandbox->host->entries[sandbox->loopback];
	entry->parent = sandbox_has_processes(sandbox) ? 0 : (int32_t)getpid();
	if (inside && sandbox->host->stands[WALL_FILES])
		snprintf(entry->folder, sizeof entry->folder, "%s", inside);
	if (most_address_space)
		entry->limits[entry->limit_count++] =
			(struct sandbox_limit){ .what = RLIMIT_AS, .most = most_address_space };
}

/* ---- the job's folder ---- */

const char *sandbox_job_path(const struct sandbox_host *host, const char *job)
{
	return host->stands[WALL_FILES] ? "/job" : job;
}

int sandbox_mount_job(const struct sandbox_host *host, const char *folder, struct error *error)
{
	char options[128];
	if (!host->stands[WALL_DISK])
		return 0;
	snprintf(options, sizeof options, "size=%lldk,nr_inodes=%d,mode=700",
		(long long)host->most_disk_bytes / 1024, sandbox_most_inodes);
	return mount("podium", folder, "tmpfs", MS_NOSUID | MS_NODEV, options) == 0
		? 0
		: fail(error, ERROR_SYSTEM, "Cannot mount a limited file system on the job's folder: %s.",
			strerror(errno));
}

void sandbox_unmount_job(const struct sandbox_host *host, const char *folder)
{
	if (host->stands[WALL_DISK] && umount2(folder, MNT_DETACH))
		log_warning("%s cannot be unmounted: %s.", folder, strerror(errno));
}
