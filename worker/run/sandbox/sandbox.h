/* The sandbox: what every program that podium-run starts for a job runs in, compilers included.
 * docs/sandbox.md shows each wall with the attack that it stops.
 *
 * At its start podium-run finds out what this host allows (sandbox_prepare) and moves into a mount
 * namespace of its own, as an ordinary user into one of users first. Each program then gets a fresh
 * sandbox: a process that podium-run forks puts a root together, takes it, and stays as process 1
 * (sandbox_open). Programs go in by sandbox_enter.h. Killing process 1 ends all that is in there
 * (sandbox_end).
 *
 * A wall that a host does not offer is left out, and named: sandbox_walls() says which, why and how
 * to mend it. What stood at the start and fails later is an error, never a weaker sandbox. */
#ifndef PODIUM_RUN_SANDBOX_H
#define PODIUM_RUN_SANDBOX_H

#include "lib/error.h"
#include "worker/run/account.h"
#include "worker/run/control_group.h"
#include "worker/run/sandbox_enter.h"

#include <jansson.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>

enum sandbox_wall {
	WALL_USERS,     /* another user, or a namespace of users */
	WALL_FILES,     /* a root of its own, of read-only binds */
	WALL_DISK,      /* all that can be written has a limit, and goes with the job */
	WALL_PROCESSES, /* a namespace of processes, and a /proc that shows only them */
	WALL_PROC,
	WALL_NETWORK,
	WALL_IPC,
	WALL_NAME,    /* of the host */
	WALL_DEVICES, /* no nodes but the leased GPU's and those of zeros and random numbers */
	WALL_PRIVILEGES,
	WALL_CALLS,  /* the filter of system calls */
	WALL_LIMITS, /* of memory and processes: by podium-run, which looks again and again, or */
	WALL_GROUPS, /* by the kernel, in a control group */
	WALLS,
};

enum { sandbox_most_inodes = 100000 };

struct sandbox_host {
	const struct account *account;
	char directory[PATH_MAX]; /* from the root: --directory, over which each new root is mounted,
	                             out of others' sight */
	bool stands[WALLS];
	char why_not[WALLS][200]; /* "" where the wall stands */
	struct control_group_base groups;
	int64_t most_memory_bytes, most_disk_bytes, most_processes;
	const char *shown;               /* further paths that programs see, with colons between them */
	struct sandbox_entry entries[2]; /* what all programs have in common, with the filter; [1]: with
	                                    a loopback network */
};

/* Limits that are 0 become what suits the machine. Only before the first thread and the first
 * child. ERROR_SYSTEM only for what no host should refuse. */
int sandbox_prepare(struct sandbox_host *host, const struct account *account, const char *directory,
	struct error *error);
void sandbox_host_close(struct sandbox_host *host);

/* What one program sees. */
struct sandbox_view {
	const char
		*job; /* its job's folder, from the root of the host; NULL: none. It stands as /job */
	const char *stage;       /* the name of the open stage in it */
	bool freeze;             /* what is in the stage's run folder now must not change */
	const char *gpus;        /* uuids with commas between them; NULL or "": none */
	bool is_profiled;        /* with the node that profilers use */
	bool loopback;           /* programs in there talk to each other by TCP */
	const char *programs[4]; /* paths whose folders it needs, where they lie apart from the
	                            system's; NULL: no more */
};

struct sandbox {
	const struct sandbox_host *host;
	pid_t init;    /* process 1 in there; 0: there is no process of ours in it */
	pid_t program; /* our child that went in, and that nobody has waited for; 0: none */
	int places[SANDBOX_PLACES]; /* -1: none */
	struct control_group group;
	int proc;      /* its /proc, or -1 */
	int stores[3]; /* /tmp, /dev/shm and the job's folder, where their size is limited; -1 */
	bool loopback;
};

extern const struct sandbox sandbox_none;

int sandbox_open(const struct sandbox_host *host, const struct sandbox_view *view,
	struct sandbox *sandbox, struct error *error);

/* Ends every process in it; waits for them, but not for those that hang in a driver. Returns the
 * bytes that its program had resident at most, 0 where another one has waited for that, or will. */
int64_t sandbox_end(struct sandbox *sandbox);

/* Of what wait4 says (getrusage(2): ru_maxrss is in KiB). */
static inline int64_t sandbox_resident_bytes(const struct rusage *usage)
{
	return (int64_t)usage->ru_maxrss * 1024;
}

/* What a program needs to go in, without its folder and limits. */
void sandbox_entry(const struct sandbox *sandbox, struct sandbox_entry *entry);

/* Whether it is entered by a fork that only podium-run sees the end of: then death signals are not
 * needed. */
static inline bool sandbox_has_processes(const struct sandbox *sandbox)
{
	return sandbox->places[SANDBOX_PROCESSES] >= 0;
}

/* The folder of the job as programs in there name it. */
const char *sandbox_job_path(const struct sandbox_host *host, const char *job);

/* Mounts a limited file system over the folder, or unmounts it; nothing where there is no such
 * wall. */
int sandbox_mount_job(const struct sandbox_host *host, const char *folder, struct error *error);
void sandbox_unmount_job(const struct sandbox_host *host, const char *folder);

/* The names of the walls that were not built, with commas between them; "" where all were. The
 * caller frees. */
char *sandbox_missing(const struct sandbox_host *host);

/* Tries to get over each wall, from the inside of a sandbox, and tells what came of it:
 *
 *	[{"name": "network", "stops": "...", "stands": true}, {..., "stands": false, "why": "...",
 *"mend": "..."}, ...]
 *
 * The caller owns the array. */
json_t *sandbox_walls(struct sandbox_host *host);

#endif
