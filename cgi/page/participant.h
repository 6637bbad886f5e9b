/* Forms with which an author changes a submission. */
#ifndef PODIUM_CGI_PAGE_PARTICIPANT_H
#define PODIUM_CGI_PAGE_PARTICIPANT_H

#include "cgi/page/submission.h"

struct withdraw_form {
	const struct submission_row *row;
	const char *typed, *typed_error; /* typed: the confirmation; typed_error: a sentence, or NULL */
	const struct withdraw_rank *ranks;
	size_t rank_count;
	/* Number of queued and running jobs. If there are any, the author must cancel the submission
	 * instead of withdrawing it. */
	int64_t open;
};

/* A rank that a withdrawal would free, and the author's submission that would replace it. */
struct withdraw_rank {
	const char *gpu;
	int64_t place, is_tied;
	int64_t next_id; /* the author's next best submission there; SQL_NULL_INTEGER: none */
};

struct note_form {
	const struct submission_row *row;
	const char *typed, *error;
};

#endif
