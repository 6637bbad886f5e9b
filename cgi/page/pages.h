/* Handlers of pages, grouped by the file that defines them, in cgi/page or cgi/admin. The addresses
 * are in cgi/router.c. */
#ifndef PODIUM_CGI_PAGE_PAGES_H
#define PODIUM_CGI_PAGE_PAGES_H

#include "cgi/http/route.h"

/* home.c */
handler page_home;
/* contest.c, contest_certificate.c; in cgi/admin: contest.c */
handler page_contests, page_contest, page_contest_csv, action_contest_registration,
	action_contest_news, page_contest_reveal, page_contest_unfrozen, page_certificate;
handler page_contest_new, action_contest_new, page_contest_manage, action_contest_manage;
/* team.c */
handler page_teams, action_teams;
/* theme.c */
handler action_theme;
/* leaderboard.c, leaderboard_export.c, leaderboard_feed.c, badge.c, share_picture.c */
handler page_leaderboard, page_leaderboard_json, page_leaderboard_csv, page_leaderboard_feed,
	page_badge, page_share_picture;
/* leaderboard_live.c */
handler page_leaderboard_live;
/* task.c: the files of a task; language.c: the harness of a language */
handler page_task, page_task_file, page_task_raw, page_template_raw, page_language,
	page_language_raw;
/* questions.c: questions about a leaderboard, and their answers */
handler page_questions, action_questions;
/* submit.c */
handler page_submit, action_submit, page_submit_anywhere, action_submit_anywhere;
/* submission_diff.c: compares any two submissions */
handler page_submission_diff;
/* head_to_head_page.c */
handler page_head_to_head, page_head_to_head_status;
/* submission.c, submission_cancel.c */
/* Answers page_submission_status for any visitor while all jobs of a public submission wait. Every
 * waiting visitor polls it, so it needs one short query and no session. */
int submission_status_of_waiting(struct request *request, bool *is_answered);
handler page_submission, page_submission_status, page_submission_source, page_submission_artifact,
	page_submission_plan, page_submission_cancel, action_submission_cancel;
/* participant.c: authors withdraw or restore a submission, or edit its note */
handler page_submission_withdraw, action_submission_withdraw, action_submission_restore,
	page_submission_note, action_submission_note;
/* history.c: the viewer's submissions; user.c: a user's page; queue.c: running and queued jobs */
handler page_history, page_history_of_all;
handler page_user;
handler page_queue, page_queue_status;
/* account_sessions.c, account_tokens.c, account_data.c */
handler page_sessions, action_sessions;
handler page_tokens, action_token_create, action_token_revoke;
handler page_account_data, page_export, page_account_delete, action_account_delete,
	page_account_deleted;
/* device_authorization.c: logs a terminal in */
handler page_device, action_device;
/* announcement.c: dismisses the "overtaken" notice */
handler action_overtaken;
/* account.c */
handler page_register, action_register, page_login, action_login, action_logout, page_account,
	action_password;
/* sign_in.c, account_identities.c: accounts of identity providers */
handler page_sign_in_begin, page_sign_in_back, page_sign_in, action_sign_in;
handler page_identities, action_identities;
/* security.c, factor.c, passkey.c: second factors */
handler page_security, action_security, page_app, action_app;
handler page_login_factor, action_login_factor, page_confirm, action_confirm;
handler action_passkey_challenge, action_login_passkey;
/* admin.c: overview, audit log */
handler page_admin, action_gpu_release, page_admin_audit;
/* user.c: roles, bans, invitations */
handler page_admin_users, action_admin_user, action_admin_invite, page_admin_ban, action_admin_ban;
/* announcement.c: for admins, and for those who run a leaderboard */
handler page_admin_announcements, action_admin_announcement;
/* intake.c: whether the site accepts submissions */
handler action_admin_intake;
/* similarity.c: submissions whose sources resemble each other */
handler page_similarity;
/* vitals.c: measurements of a device over the last day */
handler page_admin_vitals;
/* submission.c: searches, hides, holds and annotates submissions */
handler page_admin_submissions, page_admin_submission, action_admin_submission;
/* mail.c: the account's e-mail address, the links in e-mails, a forgotten password */
handler page_mail, action_mail, page_mail_confirm, action_mail_confirm, page_mail_unsubscribe,
	action_mail_unsubscribe, page_forgot, action_forgot;
/* password.c: sets a password through a link */
handler page_password_link, action_password_link;
/* leaderboard.c: creates, edits and deletes leaderboards */
handler page_leaderboard_new, action_leaderboard_new, page_leaderboard_edit,
	action_leaderboard_edit, page_leaderboard_delete, action_leaderboard_delete;
/* host.c: checks of a worker's host */
handler page_admin_host;
/* worker.c: pauses workers and devices */
handler page_admin_workers, action_admin_worker;
/* problem_set.c: problem sets */
handler page_set_new, action_set_new, page_set, action_set;
/* review.c: results that wait for review */
handler page_review, action_review;
/* rejudging.c: rejudges results */
handler page_rejudgings, action_rejudgings, page_rejudging, action_rejudging, page_rejudged;
/* judge.c: explains how Podium measures times */
handler page_judge;
/* help.c */
handler page_help_list, page_help, page_help_program, page_help_sha256;
/* publishing.c, invites.c, archive.c: who sees a leaderboard, and until when it accepts
 * submissions */
handler page_publishing, action_publishing;
/* exceptions.c: later deadlines and disqualifications */
handler page_exceptions, action_exceptions;
/* roles.c: co-creators and the jury, and the ranking that the jury sees */
handler page_roles, action_roles, page_unfrozen;
handler page_invites, action_invites, page_join, action_join;
handler page_archive;
/* versions.c: versions of a task, cloning */
handler page_versions, page_version_diff, page_switch, action_switch, page_clone, action_clone;
/* task_edit.c: edits the texts of a task */
handler page_task_edit, action_task_edit;
/* dry_run.c: tests a version of a task */
handler page_dry_run, page_dry_run_status, action_dry_run;
/* webhooks.c: sends events to other programs */
handler page_leaderboard_hooks, action_leaderboard_hooks, page_site_hooks, action_site_hooks,
	page_hook, page_hook_status, action_hook;
/* metrics.c */
handler page_healthz, page_metrics;

#endif
