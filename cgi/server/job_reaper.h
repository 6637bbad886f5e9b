/* A thread, with its own database connection, that settles jobs for their workers. It finishes jobs
 * that workers may not finish themselves (lib/judging/job_completion.h), and reclaims jobs of
 * workers that stopped answering. Every web host runs such a thread, and each thread works without
 * the others. */
#ifndef PODIUM_CGI_SERVER_JOB_REAPER_H
#define PODIUM_CGI_SERVER_JOB_REAPER_H

#include "lib/base/config.h"
#include "lib/base/error.h"

int job_reaper_start(const struct config *config, struct error *error);
void job_reaper_stop(void);

#endif
