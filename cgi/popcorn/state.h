/* What who polls was answered last. popcorn-cli gives a submission up at the first answer that is
 * an error, so while the database is away it is told the state of before once more, or that the
 * submission waits where this process does not know any. Kept in this process, and bounded: a few
 * hundred short answers, each for the id that it was given to. */
#ifndef PODIUM_CGI_POPCORN_STATE_H
#define PODIUM_CGI_POPCORN_STATE_H

#include "lib/buffer.h"

#include <stdint.h>

/* Keeps the answer, which is JSON, unless it is long. From any thread. */
void popcorn_state_keep(const char *secret, int64_t submission_id, const char *json);

/* Appends what is to be said now: the kept answer, or one of that form. */
void popcorn_state_recall(const char *secret, int64_t submission_id, struct buffer *out);

#endif
