/* Private to worker/run/sandbox: the inside of a sandbox. Process 1 builds it, then only waits. */
#ifndef PODIUM_WORKER_RUN_SANDBOX_ROOT_H
#define PODIUM_WORKER_RUN_SANDBOX_ROOT_H

#include "worker/run/sandbox/view.h"

/* Places where a program can store bytes in memory, for the memory accounting. */
enum sandbox_store { STORE_TEMPORARY, STORE_SHARED, STORE_JOB, SANDBOX_STORES };

/* Process 1 sends this report over its channel, with the descriptors for which `has` is true, in
 * order. */
struct sandbox_report {
	int error; /* 0, or errno of the step that failed */
	char step[200];
	bool has[SANDBOX_PLACES + 1 + STORE_JOB]; /* the places, /proc, the sandbox's stores */
};

/* Runs as process 1, which is already in its namespaces. */
_Noreturn void sandbox_init(
	const struct sandbox_host *host, const struct sandbox_view *view, int channel);

/* Writes the maps of a new user namespace in which the caller keeps its ids. Returns 0, or -1 with
 * errno. */
int sandbox_map_user(uid_t uid, gid_t gid);

#endif
