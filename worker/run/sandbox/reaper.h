/* podium-run adopts (PR_SET_CHILD_SUBREAPER) every process that its children leave behind. A
 * process cannot escape by starting a session or by letting its parent die. */
#ifndef PODIUM_WORKER_RUN_SANDBOX_REAPER_H
#define PODIUM_WORKER_RUN_SANDBOX_REAPER_H

#include "lib/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Call it once, at the start. */
int reaper_open(struct error *error);

/* Spares this child when the other descendants are killed, until reaper_note. At most
 * reaper_most_spared children. */
enum { reaper_most_spared = 2 };
void reaper_spare(pid_t pid);
bool reaper_is_spared(pid_t pid);

/* Tells the reaper that the caller has reaped this child itself. */
void reaper_note(pid_t pid);

/* Selects descendants when several programs run: the descendants of the program `own`. With
 * with_orphans, also processes that descend from none of `programs`. */
struct reaper_kin {
	const pid_t *programs;
	size_t count;
	pid_t own;
	bool with_orphans;
};

/* Lists the present descendants, up to `most`; `kin` NULL: all of them. Returns their number. */
size_t reaper_descendants(const struct reaper_kin *kin, pid_t *list, size_t most);

/* Kills and reaps all descendants of podium-run. ERROR_SYSTEM if some remain after 10 s, which only
 * a process that hangs in a driver can cause. */
int reaper_end_all(struct error *error);

#endif
