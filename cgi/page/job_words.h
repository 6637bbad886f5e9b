/* What is going on with a job, in words: for the submission's page and for its state as JSON. */
#ifndef PODIUM_CGI_JOB_WORDS_H
#define PODIUM_CGI_JOB_WORDS_H

#include "cgi/submission.h"

/* Fills `ahead`, `start` and `words` of the jobs of one submission: what each waits for, how many
 * stand before it and when it is expected to start, who runs it, which attempt it is and why, who
 * paused or cancelled it, or what its end means and why what was right is not ranked. `waits`
 * answers wait_reading (lib/wait.h); it may be empty where none of them waits. */
void job_words_fill(struct arena *arena, const struct submission_row *row, struct job_row *jobs,
	size_t count, const struct database_answer *waits);

#endif
