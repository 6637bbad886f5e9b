/* A submission as JSON. */
#ifndef PODIUM_CGI_API_SUBMISSION_H
#define PODIUM_CGI_API_SUBMISSION_H

#include "cgi/page/submission.h"

/* Returns "queued", "running", "done", "cancelled" or "failed". Without a result of any job, the
 * outcome is "cancelled" if all jobs were cancelled, or "failed" if the platform failed in at least
 * one job. */
const char *submission_outcome(const struct job_row *jobs, size_t count);

/* Returns the submission with all its results; never NULL. */
json_t *submission_json(struct request *request, const struct submission_view *view);

/* Answers with the submission in the address. */
int respond_submission(struct request *request);

#endif
