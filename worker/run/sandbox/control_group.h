/* Private to worker/run/sandbox: control groups (cgroup v2), the kernel's limit on the memory and
 * the processes of everything that a program starts.
 *
 * podium-run must be allowed to write to a part of the hierarchy: through systemd's Delegate=yes,
 * or as root on a machine without systemd. Control groups of version 1 are not used. */
#ifndef PODIUM_WORKER_RUN_SANDBOX_CONTROL_GROUP_H
#define PODIUM_WORKER_RUN_SANDBOX_CONTROL_GROUP_H

#include "lib/base/error.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

struct control_group_base {
	int folder; /* the folder for new groups; -1: none */
	char path[PATH_MAX];
	char why_not[200]; /* if there is no folder: one sentence */
};

struct control_group {
	int folder;        /* -1: none */
	int processes;     /* cgroup.procs, for writing */
	int memory, count; /* memory.events and pids.events, which poll as POLLPRI when they change */
	char name[48];
};

extern const struct control_group control_group_none;

void control_group_find(struct control_group_base *base);

/* Creates a group with these limits and without swap. */
int control_group_make(const struct control_group_base *base, int64_t most_memory_bytes,
	int64_t most_processes, struct control_group *group, struct error *error);

/* Whether the kernel has killed a process of the group for lack of memory, or has refused the group
 * another process. */
bool control_group_out_of_memory(const struct control_group *group);
bool control_group_out_of_processes(const struct control_group *group);

/* How many processes of podium-run's own group, in which programs without a group of theirs run,
 * the kernel has killed for lack of memory since the machine's start. Counts the whole machine's if
 * the group's count cannot be read. */
int64_t control_group_kills_around(void);

void control_group_kill(const struct control_group *group);

/* Call it when no process is left in the group. */
void control_group_remove(const struct control_group_base *base, struct control_group *group);

#endif
