/* Describes the state of a job in words, for the submission's page and for its JSON state. */
#ifndef PODIUM_CGI_PAGE_JOB_WORDS_H
#define PODIUM_CGI_PAGE_JOB_WORDS_H

#include "cgi/page/submission.h"

/* Fills `ahead`, `start`, `end`, `start_ms`, `words`, `gain` and `moved` of a submission's jobs.
 * `words` says what a queued job waits for, which worker runs a job, and why earlier attempts
 * failed. For a finished job it explains the verdict and why a correct result is not ranked.
 * `waits` is the answer to wait_reading (lib/job/wait.h); it may be empty if no job is queued. */
void job_words_fill(struct arena *arena, const struct submission_row *row, struct job_row *jobs,
	size_t count, const struct database_answer *waits);

/* Reads the queue, as wait_reading does when bound by (0, 0). All threads share the answer for up
 * to a second, because every waiting visitor asks for it again and again. */
int waits_read(struct request *request, struct database_answer *answer);

/* The steps of a job: queue, compile, test, time. */
enum { STEP_QUEUE, STEP_COMPILE, STEP_TEST, STEP_TIME };
/* Returns the step of a queued or running job. */
int job_step(const struct job_row *job);

/* How many parts of its step a running job has finished: 3 of 9 at "test 3/9". of 0: unknown. */
struct job_progress {
	int64_t done, of;
};
struct job_progress job_progress(const struct job_row *job);

#endif
