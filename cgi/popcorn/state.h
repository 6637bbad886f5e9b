/* The last answer to each poll. popcorn-cli gives a submission up at the first error. While the
 * database is away, it therefore gets the last answer again, or "pending" when this process has
 * none. The cache is in memory and bounded: a few hundred short answers, each for the id that
 * received it. */
#ifndef PODIUM_CGI_POPCORN_STATE_H
#define PODIUM_CGI_POPCORN_STATE_H

#include "lib/base/buffer.h"

#include <stdint.h>

/* Keeps a JSON answer unless it is long. Thread-safe. */
void popcorn_state_keep(const char *secret, int64_t submission_id, const char *json);

/* Appends the kept answer, or a "pending" one. Thread-safe. */
void popcorn_state_recall(const char *secret, int64_t submission_id, struct buffer *out);

#endif
