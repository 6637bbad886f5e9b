#include "worker/run/sandbox/priority.h"

#include "lib/base/clock.h"
#include "lib/base/scope.h"
#include "worker/run/sandbox/process.h"
#include "worker/run/sandbox/reaper.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

enum { look_again_ms = 1000, most_descendants = 8192 };

void priority_begin(struct priority *priority, bool is_raised)
{
	*priority = (struct priority){ .before = getpriority(PRIO_PROCESS, 0), .next_ms = -1 };
	if (!is_raised)
		return;
	priority->next_ms = clock_ms() + process_most_raised_ms;
	priority->is_raised = setpriority(PRIO_PROCESS, 0, sandbox_leader_nice) == 0;
}

int64_t priority_wait_ms(const struct priority *priority)
{
	int64_t left_ms = priority->next_ms - clock_ms();
	return priority->next_ms < 0 ? -1 : left_ms > 0 ? left_ms : 0;
}

/* Sets a negative niceness of the process's session to 0. The file has text such as
 * "/autogroup-4711 nice -19" (autogroup in sched(7)); a kernel without autogroup has no such file.
 * Reads the file first, because the kernel accepts only one change in 0.1 s, except from root. */
static void lower_session(pid_t pid)
{
	char path[40], text[80];
	snprintf(path, sizeof path, "/proc/%d/autogroup", (int)pid);
	cleanup_fd int file = open(path, O_RDWR | O_CLOEXEC);
	ssize_t length = file >= 0 ? read(file, text, sizeof text - 1) : -1;
	text[length > 0 ? length : 0] = '\0';
	if (strstr(text, " nice -") && write(file, "0", 1) != 1)
		return; /* podium-run tries again soon */
}

static void lower_threads(pid_t pid)
{
	char path[40];
	snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
	DIR *stream = opendir(path);
	for (struct dirent *entry; stream && (entry = readdir(stream));) {
		id_t thread = (id_t)atoi(entry->d_name);
		if (thread && getpriority(PRIO_PROCESS, thread) < 0)
			setpriority(PRIO_PROCESS, thread, 0);
	}
	if (stream)
		closedir(stream);
}

void priority_look(struct priority *priority)
{
	static pid_t list[most_descendants];
	if (priority_wait_ms(priority) != 0)
		return;
	size_t count = reaper_descendants(NULL, list, COUNT(list));
	for (size_t i = 0; i < count; i++) {
		lower_session(list[i]);
		lower_threads(list[i]);
	}
	priority->next_ms = clock_ms() + look_again_ms;
}

void priority_end(struct priority *priority)
{
	if (priority->is_raised)
		setpriority(PRIO_PROCESS, 0, priority->before);
}
