/* /popcorn, for popcorn-cli: who asks, and how errors are written. A call is a handler like that of
 * a page, and a row of POPCORN_ROUTES (cgi/popcorn_routes.c). cgi/api.h has functions for what both
 * interfaces do. docs/popcorn.md is what its users read. */
#ifndef PODIUM_CGI_POPCORN_H
#define PODIUM_CGI_POPCORN_H

#include "cgi/popcorn_result.h"
#include "cgi/router.h"

extern const struct call_table POPCORN_ROUTES;

/* X-Popcorn-Cli-Id, else a bearer token. Without either, or with an id that nobody has linked yet,
 * the visitor is nobody. */
int popcorn_recognise(struct request *request);
int popcorn_admit(struct request *request, const struct call *call);
int popcorn_read(struct request *request, const struct call *call);
/* {"detail": sentence}; but whoever polls is given the state of before, since any error would end
 * his waiting. */
void popcorn_refuse(struct request *request, int code, const char *title, const char *sentence);

/* `*` of the path as a leaderboard that the viewer may see; in any case of letters. */
struct leaderboard;
int popcorn_leaderboard(struct request *request, size_t star, struct leaderboard *leaderboard);

/* popcorn.c: signing in, what there is to submit to, joining */
handler popcorn_health, popcorn_auth_init, popcorn_leaderboards, popcorn_gpus, popcorn_join,
	popcorn_runner_queue, popcorn_rankings, popcorn_submission_count;
/* popcorn_submit.c: taking a submission in, in the background or on an open connection */
handler popcorn_submit, popcorn_submit_and_wait;
/* popcorn_submissions.c: the viewer's own, and what became of them */
handler popcorn_submissions, popcorn_submission, popcorn_submission_delete;

#endif
