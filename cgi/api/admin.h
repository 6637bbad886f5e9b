/* Handlers of /api/v1/admin, grouped by file, and functions that they share. The addresses are in
 * cgi/api/admin_routes.c. Each handler calls the same function as the admin panel, so checks and
 * audit entries are the same. */
#ifndef PODIUM_CGI_API_ADMIN_H
#define PODIUM_CGI_API_ADMIN_H

#include "cgi/api/api.h"

/* admin_leaderboard.c */
handler api_admin_leaderboard_create, api_admin_leaderboard, api_admin_leaderboard_change,
	api_admin_leaderboard_delete, api_admin_leaderboard_archive, api_admin_task, api_admin_versions,
	api_admin_switch;
/* admin_role.c */
handler api_admin_roles, api_admin_role_give, api_admin_role_take, api_admin_unfrozen;
/* admin_similarity.c */
handler api_admin_similar;
/* admin_exception.c */
handler api_admin_exceptions, api_admin_extend, api_admin_unextend, api_admin_disqualify_user,
	api_admin_requalify_user, api_admin_disqualify, api_admin_requalify;
/* contest.c */
handler api_admin_contest_create, api_admin_contest, api_admin_contest_change,
	api_admin_contestant_add, api_admin_contestant_remove, api_admin_contest_jury,
	api_admin_contest_juror_add, api_admin_contest_juror_remove, api_admin_contest_final,
	api_admin_contest_delete;
handler api_admin_team_add, api_admin_team_remove;
/* admin_submission.c: single submissions, held results, rejudging */
handler api_admin_hide, api_admin_show, api_admin_hold, api_admin_release, api_admin_reject,
	api_admin_rejudge, api_admin_held;
handler api_admin_rejudgings, api_admin_rejudging_start, api_admin_rejudging,
	api_admin_rejudging_apply, api_admin_rejudging_discard;
/* admin_user.c: users, invite codes, announcements, the audit log */
handler api_admin_users, api_admin_role, api_admin_ban, api_admin_unban, api_admin_remove_factors;
handler api_admin_invites, api_admin_invite_make, api_admin_invite_revoke;
handler api_admin_announcements, api_admin_announcement_make, api_admin_announcement_end;
handler api_admin_audit;
/* question.c */
handler api_admin_question_answer;
/* admin_worker.c */
handler api_admin_workers, api_admin_worker_pause, api_admin_worker_drain, api_admin_worker_resume,
	api_admin_gpu_pause, api_admin_gpu_drain, api_admin_gpu_resume, api_admin_gpu_quarantine,
	api_admin_gpu_release;
/* admin_webhook.c */
handler api_admin_webhooks, api_admin_webhook_make, api_admin_webhook, api_admin_webhook_change,
	api_admin_webhook_delete, api_admin_webhook_test, api_admin_webhook_rotate,
	api_admin_deliveries;

/* Fails unless the body's member `confirm` is `word`. This prevents accidents, like the word that
 * users type in the admin panel. `what` describes the word in the error message: "the leaderboard's
 * name". */
int api_confirm(struct request *request, const char *what, const char *word);

/* Whether the body has the member, even as null. */
bool api_has(const struct request *request, const char *name);

/* Like api_text, but sets *value to "" if the member is missing. */
int api_text_or_nothing(struct request *request, const char *name, const char **value);

/* Reads a member that is a time. Sets *ms to TIME_NULL for null or "", and to `otherwise` if the
 * member is missing. */
int api_moment(struct request *request, const char *name, int64_t otherwise, int64_t *ms);

#endif
