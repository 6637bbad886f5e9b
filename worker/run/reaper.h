/* podium-run takes over (PR_SET_CHILD_SUBREAPER) every process that its children leave behind, so that
 * none gets away by a session of its own or by letting its parent die. */
#ifndef PODIUM_RUN_REAPER_H
#define PODIUM_RUN_REAPER_H

#include "lib/error.h"

/* Once, at the start. */
int reaper_open(struct error *error);

/* Kills and reaps all descendants of podium-run. ERROR_SYSTEM when some are still there after ten
 * seconds, which only a process that hangs in a driver manages. */
int reaper_end_all(struct error *error);

#endif
