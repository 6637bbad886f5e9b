#include "worker/run/sandbox/watchdog.h"

#include "lib/base/clock.h"
#include "lib/base/scope.h"
#include "worker/run/sandbox/reaper.h"
#include "worker/run/sandbox/root.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statfs.h>

enum { shortest_ms = 100, idle_factor = 50, most_processes = 8192, most_files = 4096 };

/* The resources of a sandbox, summed up. */
struct sum {
	const struct sandbox *sandbox;
	const struct reaper_kin *kin;
	bool exact;
	int64_t private_bytes, shared_bytes, file_bytes, threads;
	/* The memory files (memfd_create) already counted: several processes may hold the same one. */
	ino_t files[most_files];
	size_t file_count;
};

/* ---- one process ---- */

static int64_t number_after(const char *text, const char *label)
{
	const char *line = strstr(text, label);
	return line ? strtoll(line + strlen(label), NULL, 10) : 0;
}

void watchdog_read_share(const char *text, bool exact, struct watchdog_share *share)
{
	*share = (struct watchdog_share){
		.private_bytes = number_after(text, exact ? "\nPss_Anon:" : "\nRssAnon:") * 1024,
		.shared_bytes = number_after(text, exact ? "\nPss_Shmem:" : "\nRssShmem:") * 1024,
		.threads = number_after(text, "\nThreads:"),
	};
}

static bool read_text(int proc, const char *process, const char *name, char *text, size_t size)
{
	char path[64];
	snprintf(path, sizeof path, "%.20s/%.20s", process, name);
	cleanup_fd int file = openat(proc, path, O_RDONLY | O_CLOEXEC);
	ssize_t length = file >= 0 ? read(file, text, size - 1) : -1;
	text[length > 0 ? length : 0] = '\0';
	return length > 0;
}

/* The device number of the file system of memory files. */
static dev_t memory_file_device(void)
{
	static dev_t device;
	struct stat status;
	cleanup_fd int file = device ? -1 : memfd_create("where", MFD_CLOEXEC);
	if (file >= 0 && fstat(file, &status) == 0)
		device = status.st_dev;
	return device;
}

static void add_file(struct sum *sum, const struct stat *status)
{
	for (size_t i = 0; i < sum->file_count; i++)
		if (sum->files[i] == status->st_ino)
			return;
	if (sum->file_count < most_files)
		sum->files[sum->file_count++] = status->st_ino;
	sum->file_bytes += status->st_blocks * INT64_C(512);
}

/* Adds the process's memory files: no other figure includes those that are open but not mapped. */
static void add_files(struct sum *sum, int proc, const char *process)
{
	char path[64];
	snprintf(path, sizeof path, "%.20s/fd", process);
	int folder = openat(proc, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *stream = folder >= 0 ? fdopendir(folder) : NULL;
	struct stat status;
	for (struct dirent *entry; stream && (entry = readdir(stream));)
		if (isdigit((unsigned char)entry->d_name[0])
			&& fstatat(folder, entry->d_name, &status, 0) == 0 && S_ISREG(status.st_mode)
			&& status.st_dev == memory_file_device())
			add_file(sum, &status);
	if (stream)
		closedir(stream);
	else if (folder >= 0)
		close(folder);
}

static void add_process(struct sum *sum, int proc, const char *process)
{
	char text[4096];
	struct watchdog_share share, exact;
	if (!read_text(proc, process, "status", text, sizeof text))
		return;
	watchdog_read_share(text, false, &share);
	if (sum->exact && read_text(proc, process, "smaps_rollup", text, sizeof text)) {
		watchdog_read_share(text, true, &exact);
		share.private_bytes = exact.private_bytes;
		share.shared_bytes = exact.shared_bytes;
	}
	sum->private_bytes += share.private_bytes;
	sum->shared_bytes += share.shared_bytes;
	sum->threads += share.threads;
	add_files(sum, proc, process);
}

/* ---- all of them ---- */

/* Adds all processes that the sandbox's own /proc shows. */
static void add_shown(struct sum *sum)
{
	int reopened = openat(sum->sandbox->proc, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *stream = reopened >= 0 ? fdopendir(reopened) : NULL;
	for (struct dirent *entry; stream && (entry = readdir(stream));)
		if (isdigit((unsigned char)entry->d_name[0]) && strcmp(entry->d_name, "1") != 0)
			add_process(sum, reopened, entry->d_name);
	if (stream)
		closedir(stream);
}

static void add_descendants(struct sum *sum)
{
	static pid_t list[most_processes];
	cleanup_fd int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	size_t count = reaper_descendants(sum->kin, list, COUNT(list));
	for (size_t i = 0; i < count; i++) {
		char name[16];
		snprintf(name, sizeof name, "%d", (int)list[i]);
		if (list[i] != sum->sandbox->init)
			add_process(sum, proc, name);
	}
}

static int64_t stored_bytes(const struct sandbox *sandbox)
{
	int64_t bytes = 0;
	for (size_t i = 0; i < COUNT(sandbox->stores); i++) {
		struct statfs status;
		if (sandbox->stores[i] >= 0 && fstatfs(sandbox->stores[i], &status) == 0)
			bytes += (int64_t)(status.f_blocks - status.f_bfree) * status.f_bsize;
	}
	return bytes;
}

/* Adds up the sandbox's memory. The memory of a mapped file appears twice: among the stored files
 * and in the processes that map the file. So only the larger of the two figures counts. */
static int64_t sum_memory(struct sum *sum)
{
	if (sum->sandbox->proc >= 0 && sum->sandbox->host->stands[WALL_PROC])
		add_shown(sum);
	else
		add_descendants(sum);
	int64_t stored = stored_bytes(sum->sandbox) + sum->file_bytes;
	return sum->private_bytes + (stored > sum->shared_bytes ? stored : sum->shared_bytes);
}

/* The quick figure counts a page that forked processes share once for each process. The exact
 * figure takes the kernel longer, so it is read only above the limit. */
static enum watchdog_finding check_sandbox(const struct watchdog *watchdog)
{
	static struct sum sum;
	const struct sandbox_host *host = watchdog->sandbox->host;
	sum = (struct sum){ .sandbox = watchdog->sandbox, .kin = &watchdog->kin };
	if (sum_memory(&sum) > host->most_memory_bytes) {
		sum = (struct sum){ .sandbox = watchdog->sandbox, .kin = &watchdog->kin, .exact = true };
		if (sum_memory(&sum) > host->most_memory_bytes)
			return WATCHDOG_MEMORY;
	}
	return sum.threads > host->most_processes ? WATCHDOG_PROCESSES : WATCHDOG_NOTHING;
}

/* ---- scheduling ---- */

void watchdog_start(struct watchdog *watchdog, const struct sandbox *sandbox, const pid_t *programs,
	size_t count, bool with_orphans)
{
	bool has_group = sandbox->group.folder >= 0;
	*watchdog = (struct watchdog){
		.sandbox = sandbox,
		.kin = { programs, count, sandbox->program, with_orphans },
		.event = has_group ? sandbox->group.count : -1,
		.next_ms = has_group ? -1 : clock_ms() + shortest_ms,
	};
}

int64_t watchdog_wait_ms(const struct watchdog *watchdog)
{
	if (watchdog->next_ms < 0)
		return -1;
	int64_t left = watchdog->next_ms - clock_ms();
	return left > 0 ? left : 0;
}

enum watchdog_finding watchdog_look(struct watchdog *watchdog)
{
	if (watchdog->sandbox->group.folder >= 0) /* the kernel enforces the memory limit */
		return control_group_out_of_processes(&watchdog->sandbox->group) ? WATCHDOG_PROCESSES
																		 : WATCHDOG_NOTHING;
	int64_t began = clock_ms();
	enum watchdog_finding finding = check_sandbox(watchdog);
	int64_t now = clock_ms(), idle = (now - began) * idle_factor;
	watchdog->next_ms = now + (idle > shortest_ms ? idle : shortest_ms);
	return finding;
}
