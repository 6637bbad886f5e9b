/* Handlers of /api/v1, grouped by file. The addresses are in cgi/api/routes.c. */
#ifndef PODIUM_CGI_API_CALLS_H
#define PODIUM_CGI_API_CALLS_H

#include "cgi/http/route.h"

/* question.c */
handler api_questions, api_question_ask, api_questions_read;
/* about.c: the API itself, and the token's holder */
handler api_root, api_me;
/* account.c: the token's user */
handler api_identities, api_notifications, api_notifications_set;
/* openapi.c: the description of all calls, for programs and for people */
handler api_openapi, api_reference;
/* leaderboard.c */
handler api_leaderboards, api_leaderboard, api_rankings, api_task, api_task_file, api_task_template;
/* contest.c; the page /contest/NAME.json has the standings, too */
handler api_contests, api_contest, api_contest_standings, api_contest_register, api_contest_leave,
	api_teams, api_team_create, api_team_join, api_team_leave;
/* site.c */
handler api_user, api_queue, api_workers;
/* submit.c, submission.c, participant.c */
handler api_submit;
handler api_submissions, api_submission, api_submission_status, api_submission_samples,
	api_submission_source, api_submission_output;
handler api_submission_cancel, api_submission_withdraw, api_submission_restore, api_submission_note;
/* submission_diff.c */
handler api_compare;

#endif
