/* Tells people and programs of announcements on leaderboards. */
#ifndef PODIUM_HOOKS_ANNOUNCEMENT_H
#define PODIUM_HOOKS_ANNOUNCEMENT_H

#include "lib/base/error.h"
#include "lib/database/database.h"

/* Queues the e-mails and writes the webhook events about announcements on leaderboards. Does so
 * once for each announcement, when the announcement begins. On a hidden leaderboard, an
 * announcement waits until the leaderboard is shown. If it ends before that, nobody is told. Call
 * this each second. Several programs may call it at the same time. */
int announcements_tell(struct database *db, struct error *error);

#endif
