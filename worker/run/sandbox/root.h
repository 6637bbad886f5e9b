/* The inside of a sandbox: what process 1 puts together before it does nothing more but be there.
 */
#ifndef PODIUM_RUN_SANDBOX_ROOT_H
#define PODIUM_RUN_SANDBOX_ROOT_H

#include "worker/run/sandbox.h"

/* Places where a program can store bytes in memory, for who counts them. */
enum sandbox_store { STORE_TEMPORARY, STORE_SHARED, STORE_JOB, SANDBOX_STORES };

/* What process 1 sends over its channel: this, with the descriptors that `has` tells of, in order.
 */
struct sandbox_report {
	int error; /* 0, or errno of the step that failed */
	char step[200];
	bool has[SANDBOX_PLACES + 1 + STORE_JOB]; /* the places, /proc, the stores of its own */
};

/* In the new process, which is in its namespaces already. */
_Noreturn void sandbox_init(
	const struct sandbox_host *host, const struct sandbox_view *view, int channel);

/* Writes the maps of a new namespace of users, in which the caller is who it was. 0, or -1 with
 * errno. */
int sandbox_map_user(uid_t uid, gid_t gid);

#endif
