/* The last answer to each poll. popcorn-cli stops waiting for a submission at the first error. If a
 * poll fails for a temporary reason, such as a database that does not answer, the client therefore
 * gets the last answer again, or "pending" if this process has kept none. The process keeps a few
 * hundred short answers in memory. Only the client with the same id (`secret`) gets an answer
 * again. */
#ifndef PODIUM_CGI_POPCORN_STATE_H
#define PODIUM_CGI_POPCORN_STATE_H

#include "lib/base/buffer.h"

#include <stdint.h>

/* Keeps a JSON answer, unless it is longer than 4 KiB. Thread-safe. */
void popcorn_state_keep(const char *secret, int64_t submission_id, const char *json);

/* Appends the kept answer, or a "pending" one. Thread-safe. */
void popcorn_state_recall(const char *secret, int64_t submission_id, struct buffer *out);

#endif
