/* popcorn-cli's admin commands. They do what the admin panel does, with the same checks and audit
 * entries. */
#ifndef PODIUM_CGI_POPCORN_ADMIN_H
#define PODIUM_CGI_POPCORN_ADMIN_H

#include "cgi/http/route.h"
#include "lib/leaderboard/leaderboard.h"

/* Responds with {"status": "ok"} and the members of `members`, if not NULL. Releases `members`. */
int popcorn_ok(struct request *request, json_t *members);

/* admin.c: the site and its submissions */
handler popcorn_admin_start, popcorn_admin_stop, popcorn_admin_stats, popcorn_admin_submission,
	popcorn_admin_submission_delete;
/* admin_leaderboards.c: leaderboards and their access */
handler popcorn_admin_leaderboard_delete, popcorn_admin_visibility,
	popcorn_admin_leaderboard_submissions, popcorn_admin_quotas, popcorn_admin_quota_set,
	popcorn_admin_quota_delete;
/* admin_invites.c */
handler popcorn_admin_invites, popcorn_admin_invites_make, popcorn_admin_invite_revoke;
/* admin_problems.c: leaderboards from the folder of problems */
handler popcorn_admin_leaderboard_create, popcorn_admin_update_problems;

#endif
