/* The walls of a host, and what one program in a sandbox sees of the host. A wall is one protection
 * of the sandbox, such as a namespace or a limit. */
#ifndef PODIUM_WORKER_RUN_SANDBOX_VIEW_H
#define PODIUM_WORKER_RUN_SANDBOX_VIEW_H

#include "worker/run/sandbox/account.h"
#include "worker/run/sandbox/control_group.h"
#include "worker/run/sandbox/enter.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

enum sandbox_wall {
	WALL_USERS,     /* another user, or a user namespace */
	WALL_FILES,     /* a new root that shows only some of the host's files, read-only */
	WALL_DISK,      /* all writable space is limited and removed with the job */
	WALL_PROCESSES, /* a process namespace, and a /proc that shows only its processes */
	WALL_PROC,
	WALL_NETWORK,
	WALL_IPC,
	WALL_NAME,    /* hides the host's name */
	WALL_DEVICES, /* no device nodes but the job's GPUs, zeros and random numbers */
	WALL_PRIVILEGES,
	WALL_CALLS,  /* the filter of system calls */
	WALL_LIMITS, /* limits on memory and processes that podium-run enforces by polling */
	WALL_GROUPS, /* the same limits, enforced by the kernel in a control group */
	WALLS,
};

enum {
	sandbox_most_inodes = 100000,
	/* Niceness of programs that are timed on the CPU device: of the judge, and of a submission,
	 * which must not delay the judge. */
	sandbox_leader_nice = -20,
	sandbox_timed_nice = -19,
};

struct sandbox_host {
	const struct account *account;
	/* --directory as an absolute path. A sandbox mounts its new root there, where no other process
	 * sees it. */
	char directory[PATH_MAX];
	bool stands[WALLS];       /* whether the wall is available on this host */
	char why_not[WALLS][200]; /* "" if the wall is available */
	struct control_group_base groups;
	int64_t most_memory_bytes, most_disk_bytes, most_processes;
	bool may_raise;    /* programs may have a niceness below 0 */
	const char *shown; /* more paths that programs see, separated by colons */
	/* The parts of an entry that all programs share, including the filter; [1]: for programs with a
	 * loopback network. */
	struct sandbox_entry entries[2];
};

/* What one program sees in its sandbox. */
struct sandbox_view {
	/* The folder of the job, as an absolute path on the host; NULL: none. The program sees it as
	 * /job. */
	const char *job;
	const char *stage; /* name of the open stage in the job's folder */
	bool freeze;       /* the files now in the stage's run folder must not change */
	const char *gpus;  /* UUIDs separated by commas; NULL or "": none */
	bool is_profiled;  /* adds the node that profilers use */
	bool loopback;     /* programs inside talk to each other by TCP */
	/* Paths of programs that may lie outside of the system's folders, so the sandbox also shows
	 * their folders; NULL: no more. */
	const char *programs[4];
};

#endif
