#include "worker/run/sandbox/root.h"

#include "lib/base/arena.h"
#include "lib/base/scope.h"
#include "worker/run/sandbox/device.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <net/if.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#ifndef MOUNT_ATTR_NODEV
#error "The C library's headers know no mount_setattr; it has come with glibc 2.36."
#endif

enum {
	READ_ONLY = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV,
	WRITABLE = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV,
	/* A read-only mount of a device node: the bytes of the device remain writable. */
	NODE = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC,
	most_pieces = 4096,
};

static const char HOST_NAME[] = "podium";

/* Host paths that every root shows, if the host has them. */
static const struct {
	const char *path;
	bool only_with_gpu;
} SHOWN[] = {
	{ "/usr", false },
	{ "/opt/nvidia", false },
	{ "/bin", false },
	{ "/sbin", false },
	{ "/lib", false },
	{ "/lib32", false },
	{ "/lib64", false },
	{ "/libx32", false },
	/* The library cache, the chosen alternatives and the time zone. */
	{ "/etc/ld.so.cache", false },
	{ "/etc/alternatives", false },
	{ "/etc/localtime", false },
	{ "/etc/nccl.conf", true },
	/* Processors, memory and GPUs, but no control groups, file systems or security modules. */
	{ "/sys/devices", true },
	{ "/sys/devices/system", false },
	{ "/sys/bus/pci", true },
	{ "/sys/class/pci_bus", true },
	{ "/sys/module/nvidia", true },
	{ "/sys/module/nvidia_uvm", true },
	{ "/sys/kernel/mm/transparent_hugepage", false },
	{ "/sys/kernel/mm/hugepages", false },
};

/* For a program in PREFIX/bin, show only these parts of PREFIX: PREFIX itself may be a home
 * directory. */
static const char *const INSTALLATION[] = {
	"bin",
	"lib",
	"lib64",
	"libexec",
	"include",
	"share",
	"etc",
	"ssl",
	"nvvm",
	"targets",
	"extras",
	"pyvenv.cfg",
};

static const char *const NODES[] = { "null", "zero", "full", "random", "urandom" };

static const struct {
	const char *link, *target;
} LINKS[] = {
	{ "dev/fd", "/proc/self/fd" },
	{ "dev/stdin", "/proc/self/fd/0" },
	{ "dev/stdout", "/proc/self/fd/1" },
	{ "dev/stderr", "/proc/self/fd/2" },
	{ "var/tmp", "/tmp" },
};

/* A part of the new root, cloned from the old root before the old root is hidden. */
struct piece {
	int tree;                 /* a detached mount */
	const char *target;       /* path in the new root, without a leading slash */
	bool is_folder, is_there; /* is_there: an earlier piece already has a place for this one */
};

struct root {
	const struct sandbox_host *host;
	const struct sandbox_view *view;
	struct arena *arena;
	struct piece pieces[most_pieces];
	size_t count;
	struct {
		const char *path, *target;
	} links[64];
	size_t link_count;
	char step[200]; /* the failed step */
};

static int fail_step(struct root *root, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
static int fail_step(struct root *root, const char *format, ...)
{
	int number = errno;
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(root->step, sizeof root->step, format, arguments);
	va_end(arguments);
	errno = number;
	return -1;
}

/* ---- cloning pieces of the host ---- */

static int set_attributes(int tree, uint64_t attributes)
{
	struct mount_attr change = { .attr_set = attributes, .propagation = MS_PRIVATE };
	return mount_setattr(tree, "", AT_EMPTY_PATH | AT_RECURSIVE, &change, sizeof change);
}

/* Clones a path of the host. Skips a path that is missing. */
static int cut_piece(
	struct root *root, const char *path, const char *target, uint64_t attributes, bool is_there)
{
	struct stat status;
	int tree = open_tree(
		AT_FDCWD, path, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE | AT_SYMLINK_NOFOLLOW);
	if (tree < 0)
		return errno == ENOENT || errno == ENOTDIR || errno == EACCES
			? 0
			: fail_step(root, "see %.150s", path);
	if (root->count == most_pieces || fstat(tree, &status) || set_attributes(tree, attributes))
		return fail_step(root, "make %.150s read-only", path);
	root->pieces[root->count++] = (struct piece){ tree, arena_strdup(root->arena, target),
		S_ISDIR(status.st_mode), is_there };
	return 0;
}

static bool is_below(const char *path, const char *folder)
{
	size_t length = strlen(folder);
	return strncmp(path, folder, length) == 0 && (path[length] == '/' || !path[length]);
}

static bool is_covered(const struct root *root, const char *path)
{
	for (size_t i = 0; i < root->count; i++)
		if (is_below(path + 1, root->pieces[i].target))
			return true;
	for (size_t i = 0; i < root->link_count; i++)
		if (is_below(path, root->links[i].path))
			return true;
	return false;
}

static int keep_link(struct root *root, const char *path)
{
	char target[PATH_MAX];
	ssize_t length = readlink(path, target, sizeof target - 1);
	if (length < 0 || root->link_count == COUNT(root->links))
		return fail_step(root, "follow %.150s", path);
	root->links[root->link_count].path = arena_strdup(root->arena, path);
	root->links[root->link_count++].target = arena_strndup(root->arena, target, (size_t)length);
	return 0;
}

/* Shows a path of the host, read-only, at the same place. A link remains a link, and its target is
 * shown too. */
static int show_path(struct root *root, const char *path)
{
	struct stat status;
	char resolved[PATH_MAX];
	if (path[0] != '/' || !path[1] || is_covered(root, path) || lstat(path, &status))
		return 0;
	if (!S_ISLNK(status.st_mode))
		return cut_piece(root, path, path + 1, READ_ONLY, false);
	if (keep_link(root, path))
		return -1;
	return realpath(path, resolved) ? show_path(root, resolved) : 0;
}

/* Shows what a program needs. "/home/eve/venv/bin/python3" needs /home/eve/venv/bin, lib and others
 * of INSTALLATION; "/srv/tools/ncu" needs /srv/tools. */
static int show_installation(struct root *root, const char *program)
{
	if (is_covered(root, program))
		return 0;
	const char *folder =
		arena_strndup(root->arena, program, (size_t)(strrchr(program, '/') - program));
	const char *name = strrchr(folder, '/');
	if (!name || strcmp(name, "/bin") != 0)
		return show_path(root, folder);
	for (size_t i = 0; i < COUNT(INSTALLATION); i++)
		if (show_path(root,
				arena_printf(
					root->arena, "%.*s/%s", (int)(name - folder), folder, INSTALLATION[i])))
			return -1;
	return 0;
}

/* Shows a program and the targets of its links. A program may be a link into another installation,
 * such as a virtual environment's interpreter. */
static int show_program(struct root *root, const char *program)
{
	enum { most_links = 16 };
	for (int i = 0; i < most_links && program[0] == '/'; i++) {
		char target[PATH_MAX];
		ssize_t length = readlink(program, target, sizeof target - 1);
		if (show_installation(root, program))
			return -1;
		if (length < 0)
			break;
		target[length] = '\0';
		program = target[0] == '/' ? arena_strdup(root->arena, target)
								   : arena_printf(root->arena, "%.*s/%s",
									   (int)(strrchr(program, '/') - program), program, target);
	}
	char resolved[PATH_MAX];
	return program[0] == '/' && realpath(program, resolved) ? show_installation(root, resolved) : 0;
}

static int show_list(struct root *root, const char *paths)
{
	char *rest = arena_strdup(root->arena, paths ? paths : ""), *path;
	while ((path = strsep(&rest, ":")))
		if (*path && show_path(root, path))
			return -1;
	return 0;
}

static int cut_shown(struct root *root)
{
	bool has_gpu = root->view->gpus && root->view->gpus[0];
	for (size_t i = 0; i < COUNT(SHOWN); i++)
		if ((has_gpu || !SHOWN[i].only_with_gpu) && show_path(root, SHOWN[i].path))
			return -1;
	for (size_t i = 0; i < COUNT(root->view->programs) && root->view->programs[i]; i++)
		if (show_program(root, root->view->programs[i]))
			return -1;
	/* Paths in the variables that programs get, and the operator's paths. */
	if (show_list(root, getenv("LD_LIBRARY_PATH")) || show_list(root, getenv("CUDA_HOME"))
		|| show_list(root, root->host->shown))
		return -1;
	return root->host->stands[WALL_PROC]
		? 0
		: cut_piece(root, "/proc", "proc", MOUNT_ATTR_RDONLY | WRITABLE, false);
}

/* Covers the settings file, which has the database's password and may lie in an installation that
 * is shown. */
static int hide_settings(struct root *root)
{
	const char *settings = getenv("PODIUM_CONFIG");
	char resolved[PATH_MAX];
	if (!settings || !realpath(settings, resolved) || !is_covered(root, resolved))
		return 0;
	return cut_piece(root, "/dev/null", resolved + 1, NODE, true);
}

static int cut_nodes(struct root *root)
{
	const char *names[sandbox_most_devices];
	size_t count = sandbox_devices(root->arena, root->view->gpus, root->view->is_profiled, names);
	for (size_t i = 0; i < COUNT(NODES) + count; i++) {
		const char *name = i < COUNT(NODES) ? NODES[i] : names[i - COUNT(NODES)];
		if (cut_piece(root, arena_printf(root->arena, "/dev/%s", name),
				arena_printf(root->arena, "dev/%s", name), NODE, false))
			return -1;
	}
	return 0;
}

/* ---- the job's folder ---- */

static int cut_in_job(struct root *root, const char *inner, uint64_t attributes)
{
	return cut_piece(root, arena_printf(root->arena, "%s/%s", root->view->job, inner),
		arena_printf(root->arena, "job/%s", inner), attributes, true);
}

/* Makes each file of the task and the submission a read-only mount. Even their owner can then
 * neither change, rename nor replace them. */
static int freeze_run_folder(struct root *root, const char *run)
{
	const char *path = arena_printf(root->arena, "%s/%s", root->view->job, run);
	int folder = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *stream = folder >= 0 ? fdopendir(folder) : NULL;
	if (!stream)
		return fail_step(root, "read the folder of the stage");
	int rc = 0;
	for (struct dirent *entry; !rc && (entry = readdir(stream));)
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			rc =
				cut_in_job(root, arena_printf(root->arena, "%s/%s", run, entry->d_name), READ_ONLY);
	closedir(stream);
	return rc;
}

/* Shows the job's folder read-only, except for the folders that programs write to. */
static int cut_job(struct root *root)
{
	static const char *const own[] = { "run", "home", "tmp" };
	if (!root->view->job)
		return 0;
	if (cut_piece(root, root->view->job, "job", READ_ONLY, false)
		|| cut_in_job(root, "cache", WRITABLE))
		return -1;
	for (size_t i = 0; i < COUNT(own) && root->view->stage; i++)
		if (cut_in_job(
				root, arena_printf(root->arena, "%s/%s", root->view->stage, own[i]), WRITABLE))
			return -1;
	return root->view->stage && root->view->freeze
		? freeze_run_folder(root, arena_printf(root->arena, "%s/run", root->view->stage))
		: 0;
}

/* ---- building the root ---- */

/* Creates the folders of a path below the current folder, and the file or folder at its end.
 * Follows no link, because a program may have created some of what is there. */
static int make_place(struct root *root, const char *path, bool is_folder)
{
	cleanup_fd int folder = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	for (;;) {
		size_t length = strcspn(path, "/");
		const char *part = arena_strndup(root->arena, path, length);
		bool is_last = !path[length];
		if (is_last && !is_folder) {
			cleanup_fd int file =
				openat(folder, part, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0444);
			return file >= 0 ? 0 : -1;
		}
		if (mkdirat(folder, part, 0755) && errno != EEXIST)
			return -1;
		if (is_last)
			return 0;
		int next = openat(folder, part, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (next < 0)
			return -1;
		close(folder);
		folder = next;
		path += length + 1;
	}
}

static int put_piece(struct root *root, const struct piece *piece)
{
	if (!piece->is_there && make_place(root, piece->target, piece->is_folder))
		return fail_step(root, "make a place for /%.150s", piece->target);
	if (move_mount(piece->tree, "", AT_FDCWD, piece->target, MOVE_MOUNT_F_EMPTY_PATH))
		return fail_step(root, "put /%.150s in its place", piece->target);
	close(piece->tree);
	return 0;
}

static int put_link(struct root *root, const char *link, const char *target)
{
	const char *slash = strrchr(link, '/');
	if (slash && make_place(root, arena_strndup(root->arena, link, (size_t)(slash - link)), true))
		return fail_step(root, "make a place for /%.150s", link);
	return symlink(target, link) && errno != EEXIST ? fail_step(root, "make the link /%.150s", link)
													: 0;
}

static int put_file(struct root *root, const char *path, const char *text)
{
	if (make_place(root, path, false))
		return fail_step(root, "make /%.150s", path);
	cleanup_fd int file = open(path, O_WRONLY | O_NOFOLLOW | O_CLOEXEC);
	return file >= 0 && write(file, text, strlen(text)) == (ssize_t)strlen(text)
		? 0
		: fail_step(root, "write /%.150s", path);
}

/* Writes only what libraries look up: the user, the groups and the host's own name. */
static int put_settings(struct root *root)
{
	const struct account *account = root->host->account;
	if (put_file(root, "etc/passwd",
			arena_printf(root->arena,
				"root:x:0:0:root:/:/usr/sbin/nologin\n%s:x:%u:%u::/job:/bin/sh\n", account->name,
				account->uid, account->gid))
		|| put_file(root, "etc/group",
			arena_printf(root->arena, "root:x:0:\n%s:x:%u:\n", account->name, account->gid))
		|| put_file(root, "etc/nsswitch.conf", "passwd: files\ngroup: files\nhosts: files\n")
		|| put_file(root, "etc/hostname", arena_printf(root->arena, "%s\n", HOST_NAME)))
		return -1;
	return put_file(root, "etc/hosts",
		arena_printf(
			root->arena, "127.0.0.1 localhost %s\n::1 localhost %s\n", HOST_NAME, HOST_NAME));
}

static int put_store(struct root *root, const char *path, int64_t most_bytes)
{
	const char *options = arena_printf(root->arena, "size=%" PRId64 "k,nr_inodes=%d,mode=1777",
		most_bytes / 1024, sandbox_most_inodes);
	if (make_place(root, path, true)
		|| mount("podium", path, "tmpfs", MS_NOSUID | MS_NODEV, options))
		return fail_step(root, "mount a limited /%s", path);
	return 0;
}

static int put_proc(struct root *root)
{
	static const unsigned long flags = MS_NOSUID | MS_NODEV | MS_NOEXEC;
	if (!root->host->stands[WALL_PROC])
		return 0;
	if (make_place(root, "proc", true))
		return fail_step(root, "make a place for /proc");
	/* Some kernels refuse hidepid. Without it a program also sees process 1, but no process outside
	 * of its namespace. */
	if (mount("proc", "proc", "proc", flags, "hidepid=2")
		&& mount("proc", "proc", "proc", flags, NULL))
		return fail_step(root, "mount its /proc");
	return 0;
}

static int put_all(struct root *root)
{
	if (put_store(root, "tmp", root->host->most_disk_bytes)
		|| put_store(root, "dev/shm", root->host->most_memory_bytes / 2) || put_proc(root))
		return -1;
	for (size_t i = 0; i < root->count; i++)
		if (put_piece(root, &root->pieces[i]))
			return -1;
	for (size_t i = 0; i < root->link_count; i++)
		if (put_link(root, root->links[i].path + 1, root->links[i].target))
			return -1;
	for (size_t i = 0; i < COUNT(LINKS); i++)
		if (put_link(root, LINKS[i].link, LINKS[i].target))
			return -1;
	return put_settings(root);
}

/* Replaces the old root by the new one and detaches the old one. */
static int pivot_root(struct root *root)
{
	struct mount_attr read_only = { .attr_set = READ_ONLY };
	if (syscall(SYS_pivot_root, ".", ".") || umount2(".", MNT_DETACH) || chdir("/"))
		return fail_step(root, "take its root");
	return mount_setattr(AT_FDCWD, "/", 0, &read_only, sizeof read_only)
		? fail_step(root, "make its root read-only")
		: 0;
}

static int build_root(struct root *root)
{
	/* Raise the limit on descriptors: each piece needs one until it is in place. */
	struct rlimit files;
	if (getrlimit(RLIMIT_NOFILE, &files) == 0)
		setrlimit(RLIMIT_NOFILE, &(struct rlimit){ files.rlim_max, files.rlim_max });
	umask(022);
	if (cut_shown(root) || hide_settings(root) || cut_nodes(root) || cut_job(root))
		return -1;
	/* Build the root over --directory, which surely exists. The mount hides the files below it, but
	 * the pieces are already cloned. */
	if (mount("podium", root->host->directory, "tmpfs", MS_NOSUID | MS_NODEV,
			"size=16m,nr_inodes=16384,mode=755")
		|| chdir(root->host->directory))
		return fail_step(root, "begin its root in %.150s", root->host->directory);
	return put_all(root) ? -1 : pivot_root(root);
}

/* ---- process 1 ---- */

static int write_file(const char *path, const char *text)
{
	cleanup_fd int file = open(path, O_WRONLY | O_CLOEXEC);
	return file >= 0 && write(file, text, strlen(text)) == (ssize_t)strlen(text) ? 0 : -1;
}

int sandbox_map_user(uid_t uid, gid_t gid)
{
	char users[64], groups[64];
	snprintf(users, sizeof users, "%u %u 1", uid, uid);
	snprintf(groups, sizeof groups, "%u %u 1", gid, gid);
	/* The kernel lets a process write these files only while it is dumpable; else root owns them.
	 */
	if (prctl(PR_SET_DUMPABLE, 1, 0, 0, 0))
		return -1;
	int rc = write_file("/proc/self/setgroups", "deny") || write_file("/proc/self/uid_map", users)
			|| write_file("/proc/self/gid_map", groups)
		? -1
		: 0;
	int number = errno;
	prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	errno = number;
	return rc;
}

static int raise_loopback(struct root *root)
{
	struct ifreq request = { .ifr_name = "lo" };
	cleanup_fd int any = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	request.ifr_flags = IFF_UP | IFF_RUNNING;
	return any >= 0 && ioctl(any, SIOCSIFFLAGS, &request) == 0
		? 0
		: fail_step(root, "raise the loopback interface of its network");
}

static const struct {
	enum sandbox_place place;
	enum sandbox_wall wall;
	const char *file;
} PLACES[] = {
	{ SANDBOX_USERS, WALL_USERS, "/proc/self/ns/user" },
	{ SANDBOX_MOUNTS, WALL_FILES, "/proc/self/ns/mnt" },
	{ SANDBOX_PROCESSES, WALL_PROCESSES, "/proc/self/ns/pid" },
	{ SANDBOX_NETWORK, WALL_NETWORK, "/proc/self/ns/net" },
	{ SANDBOX_IPC, WALL_IPC, "/proc/self/ns/ipc" },
	{ SANDBOX_NAME, WALL_NAME, "/proc/self/ns/uts" },
};

/* Opens the namespaces' files while the host's /proc is still visible. */
static int open_places(struct root *root, int places[static SANDBOX_PLACES])
{
	for (size_t i = 0; i < COUNT(PLACES); i++) {
		bool wanted = root->host->stands[PLACES[i].wall]
			&& !(PLACES[i].place == SANDBOX_USERS && root->host->account->change);
		places[PLACES[i].place] = wanted ? open(PLACES[i].file, O_RDONLY | O_CLOEXEC) : -1;
		if (wanted && places[PLACES[i].place] < 0)
			return fail_step(root, "open %s", PLACES[i].file);
	}
	return 0;
}

static int set_up_namespaces(struct root *root, int places[static SANDBOX_PLACES])
{
	const struct sandbox_host *host = root->host;
	const struct account *account = host->account;
	if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0))
		return fail_step(root, "tie itself to podium-run");
	if (!account->change && host->stands[WALL_USERS]
		&& sandbox_map_user(account->uid, account->gid))
		return fail_step(root, "map its user");
	if (open_places(root, places))
		return -1;
	if (host->stands[WALL_NAME] && sethostname(HOST_NAME, strlen(HOST_NAME)))
		return fail_step(root, "name its host");
	if (host->stands[WALL_NETWORK] && root->view->loopback && raise_loopback(root))
		return -1;
	return host->stands[WALL_FILES] ? build_root(root) : 0;
}

/* Sends the report with the open descriptors of `found`. False when podium-run is gone. */
static bool send_report(
	const struct root *root, int channel, int error, const int *found, size_t count)
{
	struct sandbox_report report = { .error = error };
	union {
		char bytes[CMSG_SPACE(sizeof(int) * 16)];
		struct cmsghdr aligned;
	} space = { 0 };
	struct iovec part = { .iov_base = &report, .iov_len = sizeof report };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };
	int sent[16];
	size_t have = 0;
	snprintf(report.step, sizeof report.step, "%s", root->step);
	for (size_t i = 0; i < count && !error; i++)
		if ((report.has[i] = found[i] >= 0))
			sent[have++] = found[i];
	if (have) {
		message.msg_control = space.bytes;
		message.msg_controllen = CMSG_SPACE(sizeof(int) * have);
		struct cmsghdr *header = CMSG_FIRSTHDR(&message);
		*header = (struct cmsghdr){ .cmsg_level = SOL_SOCKET,
			.cmsg_type = SCM_RIGHTS,
			.cmsg_len = CMSG_LEN(sizeof(int) * have) };
		memcpy(CMSG_DATA(header), sent, sizeof(int) * have);
	}
	return sendmsg(channel, &message, MSG_NOSIGNAL) == (ssize_t)sizeof report;
}

/* Process 1 was a fork of podium-run, with podium-run's files and rights. It gives up both and then
 * only waits. The kernel reaps its children. */
static _Noreturn void wait_forever(void)
{
	static const struct sandbox_entry nothing = { .size = sizeof nothing };
	close_range(0, ~0U, 0);
	signal(SIGCHLD, SIG_IGN);
	if (sandbox_give_up(&nothing))
		_exit(126);
	for (;;)
		pause();
}

_Noreturn void sandbox_init(
	const struct sandbox_host *host, const struct sandbox_view *view, int channel)
{
	static struct root root;
	int found[SANDBOX_PLACES + 1 + STORE_JOB];
	memset(found, -1, sizeof found);
	root = (struct root){ .host = host, .view = view, .arena = arena_new() };
	prctl(PR_SET_NAME, "podium-init", 0, 0, 0);
	int error = set_up_namespaces(&root, found) ? errno : 0;
	if (!error && host->stands[WALL_FILES]) {
		found[SANDBOX_PLACES] = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		found[SANDBOX_PLACES + 1 + STORE_TEMPORARY] =
			open("/tmp", O_PATH | O_DIRECTORY | O_CLOEXEC);
		found[SANDBOX_PLACES + 1 + STORE_SHARED] =
			open("/dev/shm", O_PATH | O_DIRECTORY | O_CLOEXEC);
	}
	if (!send_report(&root, channel, error, found, COUNT(found)) || error)
		_exit(126);
	arena_free(root.arena);
	wait_forever();
}
