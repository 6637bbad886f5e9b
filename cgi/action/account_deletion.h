/* Deletes an account at its owner's request.
 *
 * Rankings do not change. Submissions with a ranked result keep their times, under the name
 * "deleted-user-NUMBER", which nobody can register. Their sources, file names, notes, output and
 * profiles are deleted.
 *
 * Everything else of the user is deleted:
 * - all other submissions with their results
 * - sessions, API tokens, password links, webhooks, notices and memberships in closed leaderboards
 * - the daily submission counts
 * - the password and the name, also where pages name the user as the author of an action
 *
 * Leaderboards, invite codes and announcements of the user stay, without the name. The audit log
 * keeps its entries. */
#ifndef PODIUM_CGI_ACTION_ACCOUNT_DELETION_H
#define PODIUM_CGI_ACTION_ACCOUNT_DELETION_H

#include "lib/base/arena.h"
#include "lib/base/error.h"
#include "lib/database/database.h"

#include <stdint.h>

struct account_extent {
	int64_t places;                /* rows in rankings, kept without the name */
	int64_t kept, deleted;         /* submissions: those with a ranked result are kept */
	int64_t unfinished;            /* queued and running jobs, which are cancelled */
	int64_t tokens, seats;         /* API tokens; memberships in closed leaderboards */
	int64_t leaderboards, invites; /* created by the user; kept */
	int64_t webhooks;              /* created by the user; deleted */
};

/* Counts what a deletion of the account would delete and keep if it happened now. */
int account_extent(struct database *db, struct arena *arena, int64_t user_id,
	struct account_extent *extent, struct error *error);

/* Deletes the account and writes an audit entry, in one transaction. ERROR_CONFLICT if the user is
 * the only admin, or if the account is already deleted. */
int account_delete(struct database *db, int64_t user_id, struct error *error);

#endif
