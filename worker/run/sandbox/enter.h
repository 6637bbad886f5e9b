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

/* Indexes of the descriptors of what a process joins, in this order. Descriptor -1: the host does
 * not offer this wall. */
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
	int32_t what; /* RLIMIT_... */
	uint32_t unused;
	uint64_t most;
};

struct sandbox_entry {
	uint32_t size; /* of this struct, so that two builds notice a difference */
	/* The process whose death kills this one; 0: the end of the process namespace kills this one
	 * instead. */
	int32_t parent;
	uint32_t is_dumpable; /* the program starts without an exec and reads its own /proc */
	uint32_t change_user, uid, gid, group_count, groups[sandbox_most_groups];
	int32_t nice; /* the program's niceness; 0: unchanged. Below 0 only if the host allows it */
	uint32_t limit_count;
	struct sandbox_limit limits[sandbox_most_limits];
	/* The start folder, as a path in the sandbox; "": the caller gives a descriptor instead. */
	char folder[sandbox_most_folder_bytes];
	uint32_t instruction_count; /* 0: no filter */
	struct sock_filter instructions[sandbox_most_instructions];
};

/* Joins the control group and the namespaces. The caller must have one thread. Only later children
 * of the caller are inside the process namespace, so the caller has to fork. Seen from inside, the
 * child's parent has process number 0. */
const char *sandbox_join(const struct sandbox_entry *entry, const int places[SANDBOX_PLACES]);

/* Sets the niceness of the calling thread and, where the kernel shares the CPUs among sessions
 * first (autogroup in sched(7)), that of its session. Returns 0, or -1 with errno. */
int sandbox_set_nice(int nice);

/* Gives up the user, the capabilities and every way to regain them. sandbox_confine includes this
 * step; process 1 of a sandbox needs only this step. Returns 0, or -1 with errno. */
int sandbox_give_up(const struct sandbox_entry *entry);

/* Confines the caller for good: new session, niceness, limits, user, folder, no privileges and no
 * way to get them, and the filter of system calls. The caller sets descriptors and signals. */
const char *sandbox_confine(const struct sandbox_entry *entry, int folder);

#endif
