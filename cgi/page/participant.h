/* What the pages show on which an author does something with a submission. */
#ifndef PODIUM_CGI_PARTICIPANT_H
#define PODIUM_CGI_PARTICIPANT_H

#include "cgi/submission.h"

struct withdraw_form {
	const struct submission_row *row;
	const char *typed, *typed_error; /* the confirmation; the sentence, or NULL */
	const struct withdraw_rank *ranks;
	size_t rank_count;
	int64_t open; /* jobs that wait or run: then it is cancelled, not withdrawn */
};

/* A place that goes, and what stands there instead. */
struct withdraw_rank {
	const char *gpu;
	int64_t place;
	int64_t next_id; /* the author's next best submission there; SQL_NULL_INTEGER: none */
};

struct note_form {
	const struct submission_row *row;
	const char *typed, *error;
};

#endif
