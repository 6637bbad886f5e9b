/* Handlers of /api/v1, by the file that holds them. The addresses are in api_routes.c. */
#ifndef PODIUM_CGI_API_CALLS_H
#define PODIUM_CGI_API_CALLS_H

#include "cgi/router.h"

/* api_about.c: what this is, whose token it is */
handler api_root, api_me;
/* api_openapi.c: the description of all calls, for programs and for people */
handler api_openapi, api_reference;
/* api_leaderboard.c */
handler api_leaderboards, api_leaderboard, api_rankings, api_task, api_task_file, api_task_template;
/* api_site.c */
handler api_user, api_queue, api_workers;
/* api_submit.c, api_submission.c, api_participant.c */
handler api_submit;
handler api_submissions, api_submission, api_submission_status, api_submission_samples,
	api_submission_source, api_submission_output;
handler api_submission_cancel, api_submission_withdraw, api_submission_restore, api_submission_note;
/* api_compare.c */
handler api_compare;

#endif
