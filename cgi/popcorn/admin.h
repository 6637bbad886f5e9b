/* The admin commands of popcorn-cli: what the panel does, with its checks and its entries in the
 * audit log. */
#ifndef PODIUM_CGI_POPCORN_ADMIN_H
#define PODIUM_CGI_POPCORN_ADMIN_H

#include "cgi/router.h"
#include "lib/leaderboard.h"

/* Who does it, for the audit log. */
struct actor popcorn_actor(const struct request *request);
/* {"status": "ok"} and the rest of the members, which it takes; NULL: none. */
int popcorn_ok(struct request *request, json_t *members);

/* popcorn_admin.c: the site and its submissions */
handler popcorn_admin_start, popcorn_admin_stop, popcorn_admin_stats, popcorn_admin_submission,
	popcorn_admin_submission_delete;
/* popcorn_admin_boards.c: leaderboards and who may enter them */
handler popcorn_admin_board_delete, popcorn_admin_visibility, popcorn_admin_board_submissions,
	popcorn_admin_quotas, popcorn_admin_quota_set, popcorn_admin_quota_delete;
/* popcorn_admin_invites.c */
handler popcorn_admin_invites, popcorn_admin_invites_make, popcorn_admin_invite_revoke;
/* popcorn_admin_problems.c: leaderboards from the folder of problems */
handler popcorn_admin_board_create, popcorn_admin_update_problems;

#endif
