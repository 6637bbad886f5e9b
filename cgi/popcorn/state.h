/* The last answer to each poll. popcorn-cli gives up a submission at the first error. After a
 * temporary error, such as a database that does not answer, a poll therefore gets the last answer
 * again, or "pending" if this process has none. The cache is in memory and bounded: a few hundred
 * short answers. Each answer goes only to the id (`secret`) that received it before. */
#ifndef PODIUM_CGI_POPCORN_STATE_H
#define PODIUM_CGI_POPCORN_STATE_H

#include "lib/base/buffer.h"

#include <stdint.h>

/* Keeps a JSON answer, unless it is longer than 4 KiB. Thread-safe. */
void popcorn_state_keep(const char *secret, int64_t submission_id, const char *json);

/* Appends the kept answer, or a "pending" one. Thread-safe. */
void popcorn_state_recall(const char *secret, int64_t submission_id, struct buffer *out);

#endif
