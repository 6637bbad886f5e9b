/* The end of an account, at its owner's wish.
 *
 * Rankings stay what they were: the submissions that stand in one stay with their times, under the
 * name "deleted-user-NUMBER", which nobody can register. Their sources, file names, notes, output
 * and profiles go, and so does everything else: all other submissions with their results, sessions,
 * API tokens, links, messages, seats in closed leaderboards, the days on which something was
 * submitted, the password and the name, also where the name stands beside what the user did for the
 * site. Leaderboards, invite codes and announcements that the user made stay, without the name. The
 * audit log keeps what was written into it. */
#ifndef PODIUM_LIB_ACCOUNT_H
#define PODIUM_LIB_ACCOUNT_H

#include "lib/arena.h"
#include "lib/database.h"
#include "lib/error.h"

#include <stdint.h>

struct account_extent {
	int64_t places;        /* in rankings, kept without a name */
	int64_t kept, deleted; /* submissions */
	int64_t unfinished;    /* jobs that wait or run, and are cancelled */
	int64_t tokens, seats;
	int64_t leaderboards, invites; /* that the user made, and that stay */
	int64_t webhooks;              /* likewise, and that go */
};

/* What deleting the account would do now. */
int account_extent(struct database *db, struct arena *arena, int64_t user_id,
	struct account_extent *extent, struct error *error);

/* Deletes it, in one transaction with its entry in the audit log. ERROR_CONFLICT for the only
 * admin, and for an account that is deleted already. */
int account_delete(struct database *db, int64_t user_id, struct error *error);

#endif
