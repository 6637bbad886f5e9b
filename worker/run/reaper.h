/* podium-run takes over (PR_SET_CHILD_SUBREAPER) every process that its children leave behind, so that
 * none gets away by a session of its own or by letting its parent die. */
#ifndef PODIUM_RUN_REAPER_H
#define PODIUM_RUN_REAPER_H

#include "lib/error.h"

#include <stdbool.h>
#include <sys/types.h>

/* Once, at the start. */
int reaper_open(struct error *error);

/* From now on this child is not ended with the others (0: none is). When it ends it is reaped, and spared no more. */
void reaper_spare(pid_t pid);
bool reaper_is_spared(pid_t pid);

/* Tells the reaper of a child that somebody else has waited for. */
void reaper_note(pid_t pid);

/* Kills and reaps all descendants of podium-run. ERROR_SYSTEM when some are still there after ten
 * seconds, which only a process that hangs in a driver manages. */
int reaper_end_all(struct error *error);

#endif
