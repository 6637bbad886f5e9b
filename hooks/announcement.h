/* Tells people and programs of announcements on leaderboards. */
#ifndef PODIUM_HOOKS_ANNOUNCEMENT_H
#define PODIUM_HOOKS_ANNOUNCEMENT_H

#include "lib/base/error.h"
#include "lib/database/database.h"

/* Queues the e-mails and writes the webhook events of announcements on leaderboards, each once,
 * after it has begun. One on a hidden leaderboard waits until the leaderboard is shown, and one
 * that ended before is never told. Call this each second. Several programs may call it at the same
 * time. */
int announcements_tell(struct database *db, struct error *error);

#endif
