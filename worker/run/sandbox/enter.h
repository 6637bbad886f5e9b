/* Private to worker/run/sandbox: how a process enters a sandbox and what it gives up.
 *
 * This file and enter.c need only the C library, because they are compiled twice. One copy is in
 * podium-run, for the programs that it starts itself. The other is a shared object that the zygote
 * loads into Python. All parameters are in one struct without pointers, which is sent to the zygote
 * as bytes.
 *
 * Nothing here allocates memory, since it runs between fork and exec. Functions return NULL, or the
 * name of the failed step with errno. */
#ifndef PODIUM_WORKER_RUN_SANDBOX_ENTER_H
#define PODIUM_WORKER_RUN_SANDBOX_ENTER_H

#include <linux/filter.h>
#include <stdint.h>

enum {
	sandbox_most_groups = 64,
	sandbox_most_limits = 8,
	sandbox_most_instructions = 1024,
	sandbox_most_folder_bytes = 256,
};

/* The descriptors of what a process joins, in this order; -1: this wall is missing. */
enum sandbox_place {
	SANDBOX_CONTROL_GROUP, /* cgroup.procs, open for writing */
	/* The rest are namespaces. The user namespace is first, because it gives the right to join the
	 * others. */
	SANDBOX_USERS,
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
	uint32_t size; /* of this struct, so that two builds notice a difference */
	/* Dies with this process, where no process namespace ends it; 0: a namespace does. */
	int32_t parent;
	uint32_t is_dumpable; /* the program starts without an exec and reads its own /proc */
	uint32_t change_user, uid, gid, group_count, groups[sandbox_most_groups];
	uint32_t limit_count;
	struct sandbox_limit limits[sandbox_most_limits];
	/* The start folder, as a path in the sandbox; "": the given descriptor. */
	char folder[sandbox_most_folder_bytes];
	uint32_t instruction_count; /* 0: no filter */
	struct sock_filter instructions[sandbox_most_instructions];
};

/* Joins the control group and the namespaces. The caller must have one thread. Only children of the
 * caller enter a process namespace, so the caller has to fork. The child's parent is then 0 from
 * the inside. */
const char *sandbox_join(const struct sandbox_entry *entry, const int places[SANDBOX_PLACES]);

/* Gives up user, capabilities and the way to new ones: the part of sandbox_confine that process 1
 * needs. */
int sandbox_give_up(const struct sandbox_entry *entry);

/* Confines the caller for good: new session, limits, user, folder, no privileges and no way to get
 * them, and the filter of system calls. The caller sets descriptors and signals. */
const char *sandbox_confine(const struct sandbox_entry *entry, int folder);

#endif
