/* A thread, with its own database connection, that does what nobody asks for by a request. It ends
 * attempts at jobs in place of their workers: it applies the completions of workers that lack the
 * rights to do so (lib/judging/job_completion.h), and takes jobs back from workers that stopped
 * answering. It publishes the leaderboards whose check has passed (lib/leaderboard/publication.h),
 * begins and ends contests (lib/contest/contest.h), brings rankings up to date
 * (lib/ranking/ranking.h), and starts the runs of baselines (lib/leaderboard/baseline_run.h). Every
 * web host runs such a thread, and the threads do not depend on each other. */
#ifndef PODIUM_CGI_SERVER_JOB_REAPER_H
#define PODIUM_CGI_SERVER_JOB_REAPER_H

#include "lib/base/config.h"
#include "lib/base/error.h"

int job_reaper_start(const struct config *config, struct error *error);
void job_reaper_stop(void);

#endif
