/* /popcorn, for popcorn-cli: authentication and errors. A call is a handler, like a page's, and a
 * row of POPCORN_ROUTES (cgi/popcorn/routes.c). cgi/api/api.h has the functions that both
 * interfaces share. docs/popcorn.md is for its users. */
#ifndef PODIUM_CGI_POPCORN_POPCORN_H
#define PODIUM_CGI_POPCORN_POPCORN_H

#include "cgi/http/route.h"
#include "cgi/popcorn/result.h"

extern const struct call_table POPCORN_ROUTES;

/* Finds the viewer by the token in the header X-Popcorn-Cli-Id or, without that header, by a bearer
 * token. Without both, the viewer is anonymous. The viewer is also anonymous if the text is no
 * valid token, for example an id that no account has linked yet. */
int popcorn_recognise(struct request *request);
int popcorn_admit(struct request *request, const struct call *call);
int popcorn_read(struct request *request, const struct call *call);
/* Responds with {"detail": sentence}. A request that polls a submission gets the last known state
 * instead if the error is temporary (ERROR_DATABASE, ERROR_SYSTEM, ERROR_LIMIT), because
 * popcorn-cli stops waiting at any error. */
void popcorn_refuse(struct request *request, int code, const char *title, const char *sentence);

/* Finds the leaderboard at a `*` of the path, if the viewer may see it. Case does not matter. */
struct leaderboard;
int popcorn_leaderboard(struct request *request, size_t star, struct leaderboard *leaderboard);
int popcorn_leaderboard_named(
	struct request *request, const char *name, struct leaderboard *leaderboard);
/* Reads a submission. Fails with "Not authorized to ACTION ..." if it is not the viewer's. */
int popcorn_read_own(
	struct request *request, int64_t id, const char *action, struct popcorn_result *result);

/* popcorn.c: signing in, listing leaderboards and GPUs, rankings, joining */
handler popcorn_health, popcorn_auth_init, popcorn_leaderboards, popcorn_gpus, popcorn_join,
	popcorn_runner_queue, popcorn_rankings, popcorn_submission_count;
/* submit.c: submitting, in the background or on an open connection */
handler popcorn_submit, popcorn_submit_and_wait, popcorn_profile;
/* profile.c: what --profile-brev polls and downloads */
handler popcorn_profile_job, popcorn_profile_reports;
/* submissions.c: the viewer's submissions and their results */
handler popcorn_submissions, popcorn_submission, popcorn_submission_delete;

#endif
