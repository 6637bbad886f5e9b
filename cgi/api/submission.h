/* A submission as programs are told of it. */
#ifndef PODIUM_CGI_API_SUBMISSION_H
#define PODIUM_CGI_API_SUBMISSION_H

#include "cgi/submission.h"

/* "queued", "running", "done", "failed" (by the platform, on all devices), "cancelled" (on all that
 * had not ended). */
const char *submission_outcome(const struct job_row *jobs, size_t count);

/* Whole, with all that was found; never NULL. */
json_t *submission_json(struct request *request, const struct submission_view *view);

/* Reads the submission of the address and answers with it. */
int respond_submission(struct request *request);

#endif
