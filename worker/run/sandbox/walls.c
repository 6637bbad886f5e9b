#include "lib/base/buffer.h"
#include "lib/base/required_walls.h"
#include "lib/base/scope.h"
#include "worker/run/sandbox/sandbox.h"
#include "worker/run/sandbox/watchdog.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>

/* What the tests inside the sandbox look for or compare with. */
struct bait {
	const struct sandbox_host *host;
	int queue; /* a message queue */
};

/* ---- attempts from the inside; true: the wall held ---- */

static bool holds_users(const struct bait *bait)
{
	return getuid() == bait->host->account->uid && geteuid() != 0 && setuid(0) != 0;
}

static bool holds_files(const struct bait *bait)
{
	struct stat status;
	return access("/etc/shadow", F_OK) != 0
		&& access(bait->host->directory, F_OK)
		== (strcmp(bait->host->directory, "/tmp") == 0 ? 0 : -1)
		&& lstat("/usr", &status) == 0 && open("/podium", O_WRONLY | O_CREAT, 0600) < 0
		&& open("/usr/podium", O_WRONLY | O_CREAT, 0600) < 0;
}

static bool is_limited(const char *folder, int64_t most_bytes)
{
	struct statfs status;
	return statfs(folder, &status) == 0 && status.f_blocks && status.f_files
		&& (int64_t)status.f_blocks * status.f_bsize < most_bytes + status.f_bsize;
}

static bool holds_disk(const struct bait *bait)
{
	return is_limited("/tmp", bait->host->most_disk_bytes)
		&& is_limited("/dev/shm", bait->host->most_memory_bytes);
}

static bool holds_processes(const struct bait *bait)
{
	(void)bait;
	return getppid() == 0 && getpid() < 100;
}

static bool holds_proc(const struct bait *bait)
{
	(void)bait;
	DIR *stream = opendir("/proc");
	bool alone = stream;
	for (struct dirent *entry; stream && (entry = readdir(stream));)
		if (isdigit((unsigned char)entry->d_name[0]) && atoi(entry->d_name) != 1
			&& atoi(entry->d_name) != getpid())
			alone = false;
	if (stream)
		closedir(stream);
	return alone;
}

/* /proc/self/net/dev must have two heading lines and only the loopback interface. */
static bool holds_network(const struct bait *bait)
{
	(void)bait;
	cleanup_file FILE *file = fopen("/proc/self/net/dev", "re");
	char line[512];
	int lines = 0;
	while (file && fgets(line, sizeof line, file))
		if (++lines > 2 && !strstr(line, "lo:"))
			return false;
	return lines >= 2;
}

static bool holds_ipc(const struct bait *bait)
{
	struct msqid_ds status;
	return bait->queue >= 0 && msgctl(bait->queue, IPC_STAT, &status) != 0;
}

static bool holds_name(const struct bait *bait)
{
	(void)bait;
	char name[65] = "";
	return gethostname(name, sizeof name - 1) == 0 && strcmp(name, "podium") == 0;
}

static bool holds_devices(const struct bait *bait)
{
	(void)bait;
	static const char *const others[] = { "/dev/kmsg", "/dev/mem", "/dev/tty", "/dev/ptmx",
		"/dev/nvidiactl", "/dev/fuse", "/dev/kvm" };
	for (size_t i = 0; i < COUNT(others); i++)
		if (access(others[i], F_OK) == 0)
			return false;
	return mknod("/tmp/memory", S_IFCHR | 0600, 0x101) != 0 && access("/dev/null", W_OK) == 0;
}

static bool holds_privileges(const struct bait *bait)
{
	(void)bait;
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct all[_LINUX_CAPABILITY_U32S_3];
	if (syscall(SYS_capget, &header, all) || prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1)
		return false;
	for (size_t i = 0; i < COUNT(all); i++)
		if (all[i].effective || all[i].permitted || all[i].inheritable)
			return false;
	return true;
}

static bool holds_calls(const struct bait *bait)
{
	(void)bait;
	return unshare(CLONE_NEWUSER) != 0 && errno == EPERM
		&& ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0 && errno == EPERM
		&& socket(AF_INET, SOCK_STREAM, 0) < 0 && errno == EAFNOSUPPORT
		&& syscall(SYS_io_uring_setup, 1, NULL) != 0 && errno == ENOSYS;
}

/* Checks the kernel's limits on one process, and that podium-run can read the figures that its own
 * limits add up. */
static bool holds_limits(const struct bait *bait)
{
	struct rlimit core, files, size;
	char text[4096];
	struct watchdog_share share;
	cleanup_fd int status = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
	ssize_t length = status >= 0 ? read(status, text, sizeof text - 1) : -1;
	if (length <= 0 || getrlimit(RLIMIT_CORE, &core) || getrlimit(RLIMIT_NOFILE, &files)
		|| getrlimit(RLIMIT_FSIZE, &size))
		return false;
	text[length] = '\0';
	watchdog_read_share(text, false, &share);
	return core.rlim_max == 0 && files.rlim_max <= 4096 && size.rlim_max != RLIM_INFINITY
		&& share.private_bytes > 0 && share.threads == 1 && bait->host->most_memory_bytes > 0
		&& bait->host->most_processes > 0;
}

/* Checks that the process is in a group that is not podium-run's. */
static bool holds_groups(const struct bait *bait)
{
	(void)bait;
	cleanup_file FILE *file = fopen("/proc/self/cgroup", "re");
	char line[PATH_MAX];
	while (file && fgets(line, sizeof line, file))
		if (strncmp(line, "0::", 3) == 0 && strstr(line, "/podium-"))
			return true;
	return false;
}

/* ---- the walls ---- */

#define UNSHARE \
	"Run podium-worker on the host itself, or give its container the options in " \
	"docs/containers.md."
#define KERNEL \
	"Use a kernel with this kind of namespace (Debian 12 and Ubuntu 24.04 have them all)."

static const struct {
	const char *name, *stops, *mend;
	bool (*holds)(const struct bait *bait);
} TABLE[WALLS] = {
	[WALL_USERS] = { "users", "Acting as podium-run's own user and reading its files.",
		"Allow user namespaces: on Ubuntu 24.04 install packaging/apparmor/podium-run, elsewhere "
		"set user.max_user_namespaces above 0. Or run podium-worker as root; it then runs "
		"submissions as another user.",
		holds_users },
	[WALL_FILES] = { "files",
		"Reading other people's submissions, keys and settings of the host; changing the harness, "
		"Python or the toolkit.",
		UNSHARE, holds_files },
	[WALL_DISK] = { "disk", "Filling the disk or its inodes; leaving something for the next job.",
		UNSHARE, holds_disk },
	[WALL_PROCESSES] = { "processes",
		"Signals to other processes; processes that outlive their job.", KERNEL, holds_processes },
	[WALL_PROC] = { "proc", "Looking at other processes, their arguments and variables.",
		"Run podium-worker where /proc is whole: containers often mask parts of it (--security-opt "
		"systempaths=unconfined).",
		holds_proc },
	[WALL_NETWORK] = { "network",
		"Reaching any other machine, the database, or a service of this one.", KERNEL,
		holds_network },
	[WALL_IPC] = { "ipc", "Shared memory, semaphores and message queues of others.", KERNEL,
		holds_ipc },
	[WALL_NAME] = { "name", "Learning the name of the host.", KERNEL, holds_name },
	[WALL_DEVICES] = { "devices", "Opening other GPUs, disks, terminals, the kernel's log.",
		UNSHARE, holds_devices },
	[WALL_PRIVILEGES] = { "privileges", "Becoming root through a set-user-ID program.", KERNEL,
		holds_privileges },
	[WALL_CALLS] = { "system calls",
		"Holes in parts of the kernel that no submission needs: tracing, BPF, io_uring, keys, new "
		"namespaces, other address families.",
		"Use a kernel with CONFIG_SECCOMP_FILTER, or a container that allows seccomp filters.",
		holds_calls },
	[WALL_LIMITS] = { "limits", "Taking all memory or all process numbers of the machine.", "",
		holds_limits },
	[WALL_GROUPS] = { "control groups",
		"Taking memory or processes faster than podium-run counts them, ten times a second.",
		"Let systemd delegate control groups (version 2) to the service (Delegate=yes).",
		holds_groups },
};

/* ---- in containers ---- */

/* Podman and Docker create these files. */
static bool is_in_container(void)
{
	return access("/run/.containerenv", F_OK) == 0 || access("/.dockerenv", F_OK) == 0;
}

/* The option of Podman and Docker that brings a missing wall. The sandbox is built as a whole, so a
 * refused call costs several walls. */
static const char *container_mend(const struct sandbox_host *host, enum sandbox_wall wall)
{
	if (wall == WALL_GROUPS)
		return "No option of a container brings this wall. podium-run counts itself.";
	if (wall == WALL_PROC && host->stands[WALL_FILES])
		return "Start this container with --security-opt systempaths=unconfined. With NVIDIA's "
			   "CDI, also remove the hook disable-device-node-modification (docs/containers.md).";
	if (host->account->change)
		return "Start this container as an ordinary user (--user podium; docs/containers.md).";
	return "Start this container with --security-opt seccomp=FILE, where FILE is "
		   "packaging/container/seccomp.json. On a host with AppArmor, add --security-opt "
		   "apparmor=unconfined (docs/containers.md).";
}

static _Noreturn void try_each_wall(
	const struct bait *bait, const struct sandbox_entry *entry, int answers)
{
	char held[WALLS] = { 0 };
	if (!sandbox_confine(entry, AT_FDCWD))
		for (int wall = 0; wall < WALLS; wall++)
			held[wall] = TABLE[wall].holds(bait) ? 'y' : 'n';
	ssize_t ignored = write(answers, held, sizeof held);
	(void)ignored;
	_exit(0);
}

static _Noreturn void enter_sandbox(const struct bait *bait, const struct sandbox *sandbox,
	const struct sandbox_entry *entry, int answers)
{
	if (sandbox_join(entry, sandbox->places))
		_exit(1);
	/* Process 1 of the sandbox cannot end before somebody has waited for the test's process. */
	pid_t inside = sandbox_has_processes(sandbox) ? fork() : 0;
	if (inside) {
		waitpid(inside, NULL, 0);
		_exit(0);
	}
	try_each_wall(bait, entry, answers);
}

/* Fills `held` with 'y' or 'n'; 0 means unknown. */
static void try_walls(const struct sandbox_host *host, char held[static WALLS])
{
	static struct sandbox_entry entry;
	struct sandbox sandbox;
	struct error error;
	struct bait bait = { .host = host };
	int answers[2];
	memset(held, 0, WALLS);
	if (sandbox_open(host, &(struct sandbox_view){ 0 }, &sandbox, &error)
		|| pipe2(answers, O_CLOEXEC))
		return;
	sandbox_entry(&sandbox, NULL, 0, &entry);
	snprintf(entry.folder, sizeof entry.folder, "/");
	bait.queue = msgget(IPC_PRIVATE, IPC_CREAT | 0666);
	pid_t pid = fork();
	if (pid == 0)
		enter_sandbox(&bait, &sandbox, &entry, answers[1]);
	close(answers[1]);
	ssize_t ignored = read(answers[0], held, WALLS);
	(void)ignored;
	close(answers[0]);
	if (pid > 0)
		waitpid(pid, NULL, 0);
	sandbox_end(&sandbox);
	if (bait.queue >= 0)
		msgctl(bait.queue, IPC_RMID, NULL);
}

static char *list_missing(const struct sandbox_host *host,
	bool (*counts)(const char *name, const char *accepted), const char *accepted)
{
	cleanup_buffer struct buffer names = { 0 };
	for (int i = 0; i < WALLS; i++)
		if (!host->stands[i] && counts(TABLE[i].name, accepted))
			buffer_printf(&names, "%s%s", names.length ? ", " : "", TABLE[i].name);
	return strdup(buffer_string(&names));
}

static bool counts_always(const char *name, const char *accepted)
{
	(void)name, (void)accepted;
	return true;
}

static bool is_unaccepted(const char *name, const char *accepted)
{
	return required_walls_has(name) && !required_walls_accepts(accepted, name);
}

char *sandbox_missing(const struct sandbox_host *host)
{
	return list_missing(host, counts_always, NULL);
}

char *sandbox_unaccepted(const struct sandbox_host *host, const char *accepted)
{
	return list_missing(host, is_unaccepted, accepted);
}

json_t *sandbox_walls(struct sandbox_host *host)
{
	char held[WALLS];
	json_t *walls = json_array();
	try_walls(host, held);
	for (int i = 0; i < WALLS; i++) {
		bool stands = host->stands[i] && held[i] == 'y';
		json_t *wall = json_pack(
			"{s:s, s:s, s:b}", "name", TABLE[i].name, "stops", TABLE[i].stops, "stands", stands);
		if (!stands) {
			const char *why = host->stands[i] ? "The sandbox built it, but a test broke through."
											  : host->why_not[i];
			json_object_set_new(wall, "why", json_string(why));
			json_object_set_new(wall, "mend",
				json_string(is_in_container() ? container_mend(host, (enum sandbox_wall)i)
											  : TABLE[i].mend));
		}
		json_array_append_new(walls, wall);
	}
	return walls;
}
