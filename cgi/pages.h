/* Handlers, by the file that holds them. The addresses are in router.c. */
#ifndef PODIUM_CGI_PAGES_H
#define PODIUM_CGI_PAGES_H

#include "cgi/router.h"

/* home.c */
handler page_home;
/* leaderboard.c */
handler page_leaderboard, page_leaderboard_json, page_leaderboard_csv;
/* task.c: the files of a task, the harness of a language */
handler page_task, page_task_file, page_task_raw, page_template_raw, page_language, page_language_raw;
/* submit.c */
handler page_submit, action_submit, page_submit_anywhere, action_submit_anywhere;
/* comparison_page.c */
handler page_comparison, page_comparison_status;
/* submission.c */
handler page_submission, page_submission_status, page_submission_source, page_submission_artifact, page_submission_cancel,
	action_submission_cancel;
/* history.c, user_page.c, queue.c: the viewer's submissions, a user's page, what runs and waits */
handler page_history;
handler page_user;
handler page_queue, page_queue_status;
/* account.c */
handler page_register, action_register, page_login, action_login, action_logout, page_account, action_password;
/* admin.c: overview, audit log */
handler page_admin, action_gpu_release, page_admin_audit;
/* admin_user.c: roles, bans, invitations */
handler page_admin_users, action_admin_user, action_admin_invite, page_admin_ban, action_admin_ban;
/* announcement.c */
handler page_admin_announcements, action_admin_announcement;
/* admin_vitals.c: a device's last day */
handler page_admin_vitals;
/* admin_submission.c: finding submissions; hiding, holding, notes */
handler page_admin_submissions, page_admin_submission, action_admin_submission;
/* password.c: choosing a password with a link */
handler page_password_link, action_password_link;
/* admin_leaderboard.c */
handler page_leaderboard_new, action_leaderboard_new, page_leaderboard_edit, action_leaderboard_edit,
	page_leaderboard_delete, action_leaderboard_delete;
/* admin_host.c: what was found on a worker's host */
handler page_admin_host;
/* admin_worker.c: pausing workers and devices */
handler page_admin_workers, action_admin_worker;
/* admin_set.c: problem sets */
handler page_set_new, action_set_new, page_set, action_set;
/* admin_review.c: results that are held */
handler page_review, action_review;
/* admin_rejudging.c: computing results once more */
handler page_rejudgings, action_rejudgings, page_rejudging, action_rejudging;
/* judge.c: how times are taken */
handler page_judge;
/* health.c */
handler page_healthz;

#endif
