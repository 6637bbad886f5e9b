/* Control groups (cgroup v2): the kernel's own limit on the memory and the processes of all that a
 * program starts.
 *
 * They need a part of the hierarchy that is ours: systemd's Delegate=yes, or a machine without
 * systemd where podium-run is root. Version 1 is not used. */
#ifndef PODIUM_RUN_CONTROL_GROUP_H
#define PODIUM_RUN_CONTROL_GROUP_H

#include "lib/error.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

struct control_group_base {
	int folder; /* in which groups are made; -1: none */
	char path[PATH_MAX];
	char why_not[200]; /* then one sentence */
};

struct control_group {
	int folder;        /* -1: none */
	int processes;     /* cgroup.procs, for writing */
	int memory, count; /* memory.events, pids.events: they poll as POLLPRI when they change */
	char name[48];
};

extern const struct control_group control_group_none;

void control_group_find(struct control_group_base *base);

/* A new group with these limits; swap is not given. */
int control_group_make(const struct control_group_base *base, int64_t most_memory_bytes,
	int64_t most_processes, struct control_group *group, struct error *error);

/* Whether a limit was hit in the group since it was made. */
bool control_group_out_of_memory(const struct control_group *group);
bool control_group_out_of_processes(const struct control_group *group);

void control_group_kill(const struct control_group *group);

/* Nothing may be running in it any more. */
void control_group_remove(const struct control_group_base *base, struct control_group *group);

#endif
