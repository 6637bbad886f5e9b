/* How a process goes into a sandbox and what it gives up there.
 *
 * This file and sandbox_enter.c need nothing but the C library, because they are compiled twice:
 * into podium-run, for programs that it starts itself, and as a shared object that the zygote loads
 * into Python. Everything that is to be known stands in one struct without pointers, which travels
 * to the zygote as bytes.
 *
 * Nothing here allocates: it runs between a fork and a program. Functions return NULL, or the name
 * of the step that failed, with errno. */
#ifndef PODIUM_RUN_SANDBOX_ENTER_H
#define PODIUM_RUN_SANDBOX_ENTER_H

#include <linux/filter.h>
#include <stdint.h>

enum {
	sandbox_most_groups = 64,
	sandbox_most_limits = 8,
	sandbox_most_instructions = 1024,
	sandbox_most_folder_bytes = 256,
};

/* What a process joins, as descriptors, in this order; -1: there is no such wall. */
enum sandbox_place {
	SANDBOX_CONTROL_GROUP, /* cgroup.procs, open for writing */
	SANDBOX_USERS, /* the rest are namespaces; that of users comes first, since it gives the right
	                  to the others */
	SANDBOX_MOUNTS,
	SANDBOX_PROCESSES,
	SANDBOX_NETWORK,
	SANDBOX_IPC,
	SANDBOX_NAME,
	SANDBOX_PLACES,
};

struct sandbox_limit {
	int32_t what;
	uint32_t unused;
	uint64_t most;
}; /* RLIMIT_... */

struct sandbox_entry {
	uint32_t size; /* of this struct, so that two builds do not mistake each other */
	int32_t
		parent; /* dies with this process where no namespace of processes ends it; 0: one does */
	uint32_t is_dumpable; /* it goes on without an exec, and wants to read its own /proc */
	uint32_t change_user, uid, gid, group_count, groups[sandbox_most_groups];
	uint32_t limit_count;
	struct sandbox_limit limits[sandbox_most_limits];
	char folder[sandbox_most_folder_bytes]; /* where it starts, from the sandbox's root; "": the
	                                           descriptor that is given */
	uint32_t instruction_count;             /* 0: no filter of system calls */
	struct sock_filter instructions[sandbox_most_instructions];
};

/* Joins the control group and the namespaces. With one of processes, only children of the caller
 * are in it: it has to fork, and its parent then is 0 from the inside. The caller must have one
 * thread. */
const char *sandbox_join(const struct sandbox_entry *entry, const int places[SANDBOX_PLACES]);

/* The part of the next one that is about rights: user, capabilities, no new ones. For process 1. */
int sandbox_give_up(const struct sandbox_entry *entry);

/* For good: a session of its own, limits, user, folder, no privilege, no way to get one, no system
 * call that is not for programs. Descriptors and signals are the caller's. */
const char *sandbox_confine(const struct sandbox_entry *entry, int folder);

#endif
