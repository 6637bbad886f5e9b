#include "worker/run/sandbox/reaper.h"

#include "lib/base/buffer.h"
#include "lib/base/clock.h"
#include "lib/base/scope.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>

enum { patience_ms = 10 * 1000, most_freezing_rounds = 20 };

struct relative {
	pid_t pid, parent;
	char state; /* R, S, D, T, Z ... of proc(5) */
	bool descendant;
	/* The running program that this process is or descends from; 0: none. */
	pid_t program;
};

static pid_t spared[reaper_most_spared]; /* 0: none */

static void replace_spared(pid_t pid, pid_t with)
{
	for (size_t i = 0; i < COUNT(spared); i++)
		if (spared[i] == pid) {
			spared[i] = with;
			return;
		}
}

void reaper_spare(pid_t pid)
{
	replace_spared(0, pid);
}

bool reaper_is_spared(pid_t pid)
{
	for (size_t i = 0; i < COUNT(spared); i++)
		if (pid && spared[i] == pid)
			return true;
	return false;
}

void reaper_note(pid_t pid)
{
	replace_spared(pid, 0);
}

static bool spares_any(void)
{
	for (size_t i = 0; i < COUNT(spared); i++)
		if (spared[i])
			return true;
	return false;
}

int reaper_open(struct error *error)
{
	return prctl(PR_SET_CHILD_SUBREAPER, 1) ? fail(error, ERROR_SYSTEM,
			   "The kernel does not let podium-run take over processes that its children leave "
			   "behind: %s.",
			   strerror(errno))
											: 0;
}

static bool read_relative(int proc, const char *name, struct relative *relative)
{
	char path[300], text[1024];
	snprintf(path, sizeof path, "%s/stat", name);
	cleanup_fd int file = openat(proc, path, O_RDONLY | O_CLOEXEC);
	ssize_t length = file >= 0 ? read(file, text, sizeof text - 1) : -1;
	if (length <= 0)
		return false;
	text[length] = '\0';
	/* The program chooses the name in brackets, which may contain brackets and spaces: the last
	 * bracket ends it. */
	const char *behind = strrchr(text, ')');
	*relative = (struct relative){ .pid = (pid_t)atoi(name) };
	return behind && sscanf(behind, ") %c %d", &relative->state, &relative->parent) == 2;
}

/* Reads every process of the machine as an array of struct relative into `list`. */
static size_t list_processes(struct buffer *list)
{
	DIR *stream = opendir("/proc");
	for (struct dirent *entry; stream && (entry = readdir(stream));) {
		struct relative relative;
		if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9'
			&& read_relative(dirfd(stream), entry->d_name, &relative))
			buffer_append(list, &relative, sizeof relative);
	}
	if (stream)
		closedir(stream);
	return list->length / sizeof(struct relative);
}

/* Returns the process `pid` if it is marked as a descendant, else NULL. */
static const struct relative *find_marked(const struct relative *all, size_t count, pid_t pid)
{
	for (size_t i = 0; i < count; i++)
		if (all[i].descendant && all[i].pid == pid)
			return &all[i];
	return NULL;
}

static pid_t find_program(
	const struct relative *relative, const struct relative *parent, const struct reaper_kin *kin)
{
	for (size_t i = 0; kin && i < kin->count; i++)
		if (kin->programs[i] == relative->pid)
			return relative->pid;
	return parent ? parent->program : 0;
}

static void mark_descendants(struct relative *all, size_t count, const struct reaper_kin *kin)
{
	pid_t self = getpid();
	for (bool more = true; more;) {
		more = false;
		for (size_t i = 0; i < count; i++) {
			const struct relative *parent =
				all[i].parent == self ? NULL : find_marked(all, count, all[i].parent);
			if (all[i].descendant || reaper_is_spared(all[i].pid)
				|| (all[i].parent != self && !parent))
				continue;
			all[i].program = find_program(&all[i], parent, kin);
			all[i].descendant = more = true;
		}
	}
}

static bool is_selected(const struct relative *relative, const struct reaper_kin *kin)
{
	return relative->descendant
		&& (!kin || (relative->program ? relative->program == kin->own : kin->with_orphans));
}

size_t reaper_descendants(const struct reaper_kin *kin, pid_t *list, size_t most)
{
	cleanup_buffer struct buffer found = { 0 };
	size_t count = list_processes(&found), have = 0;
	struct relative *all = (struct relative *)(void *)found.data;
	mark_descendants(all, count, kin);
	for (size_t i = 0; i < count && have < most; i++)
		if (is_selected(&all[i], kin))
			list[have++] = all[i].pid;
	return have;
}

/* Sends the signal `number` to all descendants. Returns how many of them were not stopped yet. */
static size_t signal_descendants(int number)
{
	cleanup_buffer struct buffer list = { 0 };
	size_t count = list_processes(&list), running = 0;
	struct relative *all = (struct relative *)(void *)list.data;
	mark_descendants(all, count, NULL);
	for (size_t i = 0; i < count; i++) {
		if (!all[i].descendant || all[i].state == 'Z')
			continue;
		running += all[i].state != 'T' && all[i].state != 't';
		kill(all[i].pid, number);
	}
	return running;
}

/* Stops all descendants before they are killed. Stopped processes still count against the process
 * limit, so a fork bomb cannot grow back, as it could if its processes were killed one by one. */
static void freeze_descendants(void)
{
	for (int round = 0; round < most_freezing_rounds; round++)
		if (!signal_descendants(SIGSTOP))
			return;
}

/* Reaps the children that have ended. False when no child is left except the spared ones. */
static bool reap_children(void)
{
	pid_t pid;
	while ((pid = waitpid(-1, NULL, WNOHANG)) > 0)
		reaper_note(pid);
	if (pid < 0)
		return errno != ECHILD;
	pid_t first;
	return !spares_any() || reaper_descendants(NULL, &first, 1) > 0;
}

int reaper_end_all(struct error *error)
{
	if (!reap_children())
		return 0;
	freeze_descendants();
	for (int64_t end_ms = clock_ms() + patience_ms; clock_ms() < end_ms;) {
		signal_descendants(SIGKILL);
		nanosleep(&(struct timespec){ .tv_nsec = 1000 * 1000 }, NULL);
		if (!reap_children())
			return 0;
	}
	return fail(
		error, ERROR_SYSTEM, "A process of the job could not be killed; the device may hang.");
}
