/* A thread, with its own database connection, that ends attempts at jobs in place of their workers.
 * It applies the completions of workers that lack the rights to do so
 * (lib/judging/job_completion.h). It takes jobs back from workers that stopped answering, and
 * publishes the leaderboards whose check has passed (lib/leaderboard/publication.h). Every web
 * host runs such a thread, and the threads do not depend on each other. */
#ifndef PODIUM_CGI_SERVER_JOB_REAPER_H
#define PODIUM_CGI_SERVER_JOB_REAPER_H

#include "lib/base/config.h"
#include "lib/base/error.h"

int job_reaper_start(const struct config *config, struct error *error);
void job_reaper_stop(void);

#endif
