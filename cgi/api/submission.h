/* A submission as JSON. */
#ifndef PODIUM_CGI_API_SUBMISSION_H
#define PODIUM_CGI_API_SUBMISSION_H

#include "cgi/page/submission.h"

/* "queued", "running", "done", "failed" (the platform failed on all devices) or "cancelled" (on all
 * devices that had not finished). */
const char *submission_outcome(const struct job_row *jobs, size_t count);

/* The whole submission with its results; never NULL. */
json_t *submission_json(struct request *request, const struct submission_view *view);

/* Responds with the submission of the address. */
int respond_submission(struct request *request);

#endif
