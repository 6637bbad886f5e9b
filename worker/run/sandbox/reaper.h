/* podium-run takes over (PR_SET_CHILD_SUBREAPER) every process that its children leave behind, so
 * that none gets away by a session of its own or by letting its parent die. */
#ifndef PODIUM_RUN_REAPER_H
#define PODIUM_RUN_REAPER_H

#include "lib/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Once, at the start. */
int reaper_open(struct error *error);

/* From now on this child is not ended with the others (0: none is). When it ends it is reaped, and
 * spared no more. */
void reaper_spare(pid_t pid);
bool reaper_is_spared(pid_t pid);

/* Tells the reaper of a child that somebody else has waited for. */
void reaper_note(pid_t pid);

/* Whose descendants are meant where several programs run: those of one of them, and with_orphans
 * those that belong to none. */
struct reaper_kin {
	const pid_t *programs;
	size_t count;
	pid_t own;
	bool with_orphans;
};

/* The descendants that there are now, up to `most`; `kin` NULL: all. Returns how many are in the
 * list. */
size_t reaper_descendants(const struct reaper_kin *kin, pid_t *list, size_t most);

/* Kills and reaps all descendants of podium-run. ERROR_SYSTEM when some are still there after ten
 * seconds, which only a process that hangs in a driver manages. */
int reaper_end_all(struct error *error);

#endif
