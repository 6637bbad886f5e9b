#include "worker/run/sandbox/control_group.h"

#include "lib/base/scope.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>

const struct control_group control_group_none = { -1, -1, -1, -1, "" };

static const char CONTROLLERS[] = "+memory +pids";

/* ---- files ---- */

static bool read_text(int folder, const char *name, char *text, size_t size)
{
	cleanup_fd int file = openat(folder, name, O_RDONLY | O_CLOEXEC);
	ssize_t length = file >= 0 ? read(file, text, size - 1) : -1;
	text[length > 0 ? length : 0] = '\0';
	return length >= 0;
}

static int write_text(int folder, const char *name, const char *text)
{
	cleanup_fd int file = openat(folder, name, O_WRONLY | O_CLOEXEC);
	return file >= 0 && write(file, text, strlen(text)) == (ssize_t)strlen(text) ? 0 : -1;
}

static bool has_word(const char *text, const char *word)
{
	size_t length = strlen(word);
	for (const char *at = text; (at = strstr(at, word)); at += length)
		if ((at == text || at[-1] == ' ')
			&& (at[length] == ' ' || at[length] == '\n' || !at[length]))
			return true;
	return false;
}

static bool lists_controllers(int folder, const char *file)
{
	char text[512];
	return read_text(folder, file, text, sizeof text) && has_word(text, "memory")
		&& has_word(text, "pids");
}

/* ---- finding a place ---- */

/* Finds where control groups of version 2 are mounted, and the part of the hierarchy that is
 * mounted there. */
static bool find_mount(char mount[static PATH_MAX], char root[static PATH_MAX])
{
	cleanup_file FILE *file = fopen("/proc/self/mountinfo", "re");
	char line[2 * PATH_MAX];
	while (file && fgets(line, sizeof line, file)) {
		const char *kind = strstr(line, " - ");
		if (kind && strncmp(kind, " - cgroup2 ", strlen(" - cgroup2 ")) == 0
			&& sscanf(line, "%*s %*s %*s %4095s %4095s", root, mount) == 2)
			return true;
	}
	return false;
}

/* Reads podium-run's own group from a line such as "0::/system.slice/podium.service". */
static bool find_own(char own[static PATH_MAX])
{
	cleanup_file FILE *file = fopen("/proc/self/cgroup", "re");
	char line[PATH_MAX + 8];
	while (file && fgets(line, sizeof line, file))
		if (sscanf(line, "0::%4095[^\n]", own) == 1)
			return true;
	return false;
}

/* systemd marks the groups that it delegates. */
static bool is_delegated(int folder)
{
	char value[8];
	return fgetxattr(folder, "user.delegate", value, sizeof value) == 1
		|| fgetxattr(folder, "trusted.delegate", value, sizeof value) == 1;
}

static bool has_systemd(void)
{
	return access("/run/systemd/system", F_OK) == 0;
}

/* A group that passes controllers to its children must have no process itself. The service's
 * processes, including podium-run, therefore move into a group next to the jobs'. */
static void move_processes_aside(int folder)
{
	char text[64 * 1024];
	mkdirat(folder, "podium", 0755);
	if (!read_text(folder, "cgroup.procs", text, sizeof text))
		return;
	for (char *rest = text, *line; (line = strsep(&rest, "\n")) && *line;)
		/* If a process cannot be moved, the kernel refuses to pass the controllers on, and
		 * can_hold_groups returns false. */
		if (write_text(folder, "podium/cgroup.procs", line))
			return;
}

/* Enables the controllers memory and pids for the folder's groups if necessary. Returns whether
 * they are enabled. */
static bool can_hold_groups(int folder, bool may_move)
{
	if (!lists_controllers(folder, "cgroup.controllers"))
		return false;
	if (!lists_controllers(folder, "cgroup.subtree_control") && may_move)
		move_processes_aside(folder);
	if (!lists_controllers(folder, "cgroup.subtree_control"))
		write_text(folder, "cgroup.subtree_control", CONTROLLERS);
	return lists_controllers(folder, "cgroup.subtree_control");
}

static bool try_place(struct control_group_base *base, const char *path, bool only_delegated)
{
	cleanup_fd int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (folder < 0 || (only_delegated && !is_delegated(folder))
		|| !can_hold_groups(folder, only_delegated))
		return false;
	if (faccessat(folder, ".", W_OK, AT_EACCESS))
		return false;
	base->folder = steal_fd(&folder);
	snprintf(base->path, sizeof base->path, "%.4095s", path);
	return true;
}

/* Tries podium-run's own group and those above it, the nearest first. */
static bool try_places(
	struct control_group_base *base, const char *mount, const char *own, bool only_delegated)
{
	char path[2 * PATH_MAX];
	snprintf(path, sizeof path, "%s%s", mount, strcmp(own, "/") == 0 ? "" : own);
	for (;;) {
		if (strlen(path) < PATH_MAX && try_place(base, path, only_delegated))
			return true;
		char *slash = strrchr(path, '/');
		if (!slash || strlen(path) <= strlen(mount))
			return false;
		*slash = '\0';
	}
}

static void set_reason(struct control_group_base *base, const char *sentence)
{
	snprintf(base->why_not, sizeof base->why_not, "%s", sentence);
}

void control_group_find(struct control_group_base *base)
{
	char mount[PATH_MAX], root[PATH_MAX], own[PATH_MAX];
	*base = (struct control_group_base){ .folder = -1 };
	if (!find_mount(mount, root) || !find_own(own)) {
		set_reason(base, "This host has no control groups of version 2.");
		return;
	}
	const char *below =
		strncmp(own, root, strlen(root)) == 0 && strcmp(root, "/") != 0 ? own + strlen(root) : own;
	bool managed = has_systemd() || geteuid() != 0;
	if (!try_places(base, mount, below, managed))
		set_reason(base,
			managed ? "No control group with the controllers memory and pids is delegated to "
					  "podium-run."
					: "The controllers memory and pids of control groups of version 2 cannot be "
					  "used here.");
}

/* ---- one group ---- */

static int set_limit(
	const struct control_group *group, const char *file, int64_t most, struct error *error)
{
	char text[32];
	snprintf(text, sizeof text, "%" PRId64, most);
	return write_text(group->folder, file, text) == 0
		? 0
		: fail(error, ERROR_SYSTEM, "Cannot set the limit %s of a program's control group: %s.",
			file, strerror(errno));
}

int control_group_make(const struct control_group_base *base, int64_t most_memory_bytes,
	int64_t most_processes, struct control_group *group, struct error *error)
{
	static unsigned int number;
	*group = control_group_none;
	snprintf(group->name, sizeof group->name, "podium-%d-%u", (int)getpid(), ++number);
	if (mkdirat(base->folder, group->name, 0755))
		return fail(error, ERROR_SYSTEM, "Cannot create a control group in %.300s: %s.", base->path,
			strerror(errno));
	group->folder = openat(base->folder, group->name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int rc = group->folder >= 0
		? 0
		: fail(error, ERROR_SYSTEM, "Cannot open a program's control group: %s.", strerror(errno));
	if (!rc && !(rc = set_limit(group, "memory.max", most_memory_bytes, error)))
		rc = set_limit(group, "pids.max", most_processes, error);
	if (rc) {
		control_group_remove(base, group);
		return rc;
	}
	/* Ignore errors, because a kernel without swap lacks memory.swap.max. memory.oom.group makes
	 * the kernel kill all processes of the group together. */
	write_text(group->folder, "memory.swap.max", "0");
	write_text(group->folder, "memory.oom.group", "1");
	group->processes = openat(group->folder, "cgroup.procs", O_WRONLY | O_CLOEXEC);
	group->memory = openat(group->folder, "memory.events", O_RDONLY | O_CLOEXEC);
	group->count = openat(group->folder, "pids.events", O_RDONLY | O_CLOEXEC);
	return 0;
}

static int64_t event_count(int file, const char *event)
{
	char text[16 * 1024]; /* as large as /proc/vmstat */
	ssize_t length = file >= 0 ? pread(file, text, sizeof text - 1, 0) : -1;
	text[length > 0 ? length : 0] = '\0';
	size_t name = strlen(event);
	for (char *rest = text, *line; (line = strsep(&rest, "\n"));)
		if (strncmp(line, event, name) == 0 && line[name] == ' ')
			return strtoll(line + name, NULL, 10);
	return 0;
}

bool control_group_out_of_memory(const struct control_group *group)
{
	return event_count(group->memory, "oom_kill") > 0
		|| event_count(group->memory, "oom_group_kill") > 0;
}

/* Reads the line of a group of version 1 ("4:memory:/path") or version 2 ("0::/path"). */
static int open_own_events(const char *line)
{
	char group[PATH_MAX], path[PATH_MAX + 64] = "";
	if (sscanf(line, "%*d:memory:%4095[^\n]", group) == 1)
		snprintf(path, sizeof path, "/sys/fs/cgroup/memory%s/memory.oom_control", group);
	else if (sscanf(line, "0::%4095[^\n]", group) == 1)
		snprintf(path, sizeof path, "/sys/fs/cgroup%s/memory.events.local", group);
	return path[0] ? open(path, O_RDONLY | O_CLOEXEC) : -1;
}

int64_t control_group_kills_around(void)
{
	cleanup_file FILE *groups = fopen("/proc/self/cgroup", "re");
	char line[PATH_MAX + 32];
	cleanup_fd int events = -1;
	while (events < 0 && groups && fgets(line, sizeof line, groups))
		events = open_own_events(line);
	if (events < 0)
		events = open("/proc/vmstat", O_RDONLY | O_CLOEXEC);
	return event_count(events, "oom_kill");
}

bool control_group_out_of_processes(const struct control_group *group)
{
	return event_count(group->count, "max") > 0;
}

void control_group_kill(const struct control_group *group)
{
	/* Before Linux 5.14 this file is missing. There the end of process 1 kills the others. */
	if (group->folder >= 0)
		write_text(group->folder, "cgroup.kill", "1");
}

void control_group_remove(const struct control_group_base *base, struct control_group *group)
{
	if (!group->name[0])
		return;
	/* The kernel may still be removing a reaped process from the group, so try for a second. */
	for (int i = 0; i < 1000 && unlinkat(base->folder, group->name, AT_REMOVEDIR) && errno == EBUSY;
		 i++)
		usleep(1000);
	scope_close(&group->folder);
	scope_close(&group->processes);
	scope_close(&group->memory);
	scope_close(&group->count);
	*group = control_group_none;
}
