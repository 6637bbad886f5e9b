/* The sandbox that every program of a job runs in, compilers included. docs/sandbox.md lists each
 * wall with the attack that it stops.
 *
 * At its start podium-run finds out what the host allows (sandbox_prepare) and enters a new mount
 * namespace. An ordinary user enters a user namespace first. Each program then gets a new sandbox:
 * a process that podium-run forks builds a root, enters it, and stays as process 1 (sandbox_open).
 * Programs enter it with enter.h. Killing process 1 ends everything inside (sandbox_end).
 *
 * podium-run leaves out a wall that a host does not offer; sandbox_walls() says which, why and how
 * to fix it. A wall that was available at the start and fails later is an error, never a weaker
 * sandbox. */
#ifndef PODIUM_WORKER_RUN_SANDBOX_SANDBOX_H
#define PODIUM_WORKER_RUN_SANDBOX_SANDBOX_H

#include "lib/base/error.h"
#include "worker/run/sandbox/view.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>

/* Finds out what the host allows. Sets limits that are 0 to what suits the machine. Call it before
 * the first thread and the first child. ERROR_SYSTEM if something fails that every host should
 * allow. */
int sandbox_prepare(struct sandbox_host *host, const struct account *account, const char *directory,
	struct error *error);
void sandbox_host_close(struct sandbox_host *host);

struct sandbox {
	const struct sandbox_host *host;
	pid_t init;                 /* process 1 inside; 0: the sandbox has none */
	pid_t program;              /* our child inside, not waited for yet; 0: none */
	int places[SANDBOX_PLACES]; /* -1: none */
	struct control_group group;
	int proc;      /* its /proc, or -1 */
	int stores[3]; /* /tmp, /dev/shm and the job's folder, if their size is limited; else -1 */
	bool loopback;
};

extern const struct sandbox sandbox_none;

int sandbox_open(const struct sandbox_host *host, const struct sandbox_view *view,
	struct sandbox *sandbox, struct error *error);

/* Ends every process in the sandbox. Waits for them, but at most 2 s for those that hang in a
 * driver. Returns the program's peak resident memory in bytes. 0: unknown, for example because
 * another caller waits for the program. */
int64_t sandbox_end(struct sandbox *sandbox);

/* The peak resident memory in wait4's usage. getrusage(2): ru_maxrss is in KiB. */
static inline int64_t sandbox_resident_bytes(const struct rusage *usage)
{
	return (int64_t)usage->ru_maxrss * 1024;
}

/* Fills in what a program needs to enter the sandbox. `inside` is its start folder in the sandbox
 * (NULL: the caller sets it later). `most_address_space` is in bytes (0: no limit). */
void sandbox_entry(const struct sandbox *sandbox, const char *inside, uint64_t most_address_space,
	struct sandbox_entry *entry);

/* Whether the sandbox has a process namespace. Its processes then die with process 1 and need no
 * death signal. */
static inline bool sandbox_has_processes(const struct sandbox *sandbox)
{
	return sandbox->places[SANDBOX_PROCESSES] >= 0;
}

/* The path of the job's folder as programs in the sandbox see it. */
const char *sandbox_job_path(const struct sandbox_host *host, const char *job);

/* Mounts a limited file system over the folder, or unmounts it. Does nothing without the disk wall.
 */
int sandbox_mount_job(const struct sandbox_host *host, const char *folder, struct error *error);
void sandbox_unmount_job(const struct sandbox_host *host, const char *folder);

/* The names of the missing walls, separated by commas; "" if there are none. The caller frees the
 * text. */
char *sandbox_missing(const struct sandbox_host *host);

/* The same for the required walls (lib/base/required_walls.h) that `accepted` does not name. */
char *sandbox_unaccepted(const struct sandbox_host *host, const char *accepted);

/* Tries to break each wall from inside a sandbox and returns the results:
 *
 *     [{"name": "network", "stops": "...", "stands": true},
 *      {..., "stands": false, "why": "...", "mend": "..."}, ...]
 *
 * The caller owns the array. */
json_t *sandbox_walls(struct sandbox_host *host);

#endif
