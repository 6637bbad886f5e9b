/* Handlers of /api/v1/admin, by the file that holds them, and what they share. The addresses are in
 * api_admin_routes.c. What each does it does by the function that the panel's form calls, so it is
 * checked and audited in the same way. */
#ifndef PODIUM_CGI_API_ADMIN_H
#define PODIUM_CGI_API_ADMIN_H

#include "cgi/api.h"

/* api_admin_leaderboard.c */
handler api_admin_board_create, api_admin_board, api_admin_board_change, api_admin_board_delete,
	api_admin_board_archive, api_admin_task, api_admin_versions, api_admin_switch;
/* api_admin_submission.c: single submissions, held results, rejudging */
handler api_admin_hide, api_admin_show, api_admin_hold, api_admin_release, api_admin_reject,
	api_admin_rejudge, api_admin_held;
handler api_admin_rejudgings, api_admin_rejudging_start, api_admin_rejudging,
	api_admin_rejudging_apply, api_admin_rejudging_discard;
/* api_admin_user.c: users, invite codes, announcements, the audit log */
handler api_admin_users, api_admin_role, api_admin_ban, api_admin_unban;
handler api_admin_invites, api_admin_invite_make, api_admin_invite_revoke;
handler api_admin_announcements, api_admin_announcement_make, api_admin_announcement_end;
handler api_admin_audit;
/* api_admin_worker.c */
handler api_admin_workers, api_admin_worker_pause, api_admin_worker_drain, api_admin_worker_resume,
	api_admin_gpu_pause, api_admin_gpu_drain, api_admin_gpu_resume, api_admin_gpu_quarantine,
	api_admin_gpu_release;
/* api_admin_webhook.c */
handler api_admin_webhooks, api_admin_webhook_make, api_admin_webhook, api_admin_webhook_change,
	api_admin_webhook_delete, api_admin_webhook_test, api_admin_deliveries;

/* What the panel asks to have typed, and for the same reason: the member `confirm` must be `word`.
 * `what` says what that is, "the leaderboard's name". */
int api_confirm(struct request *request, const char *what, const char *word);

/* Whether the body has the member at all, be it null. */
bool api_has(const struct request *request, const char *name);

/* As api_text, with "" where there is none. */
int api_text_or_nothing(struct request *request, const char *name, const char **value);

/* A time: TIME_NULL for null or "", `otherwise` where there is no such member. */
int api_moment(struct request *request, const char *name, int64_t otherwise, int64_t *ms);

/* The first `*` of the path as text is names[0] and so on; the number of a submission: api_path_id.
 */

#endif
