/* The last lines that a running program has printed, as text for people. The reader is no terminal,
 * so control sequences are removed. */
#ifndef PODIUM_WORKER_RUN_SANDBOX_TAIL_H
#define PODIUM_WORKER_RUN_SANDBOX_TAIL_H

#include "lib/base/buffer.h"
#include "worker/run/sandbox/capture.h"

#include <stdbool.h>

enum { tail_most_bytes = 2 * 1024 };

/* Appends the last lines of the captured output: tail_most_bytes, plus a little more, so that the
 * caller finds a secret that starts before them. The text is valid UTF-8 without escape sequences
 * and without control characters except tab and newline. For a line that \r overwrote, only its
 * final text is kept.
 *
 * With `only_kept`, appends only bytes that capture_text keeps however much the program still
 * prints. Once the output is longer than these bytes, the result no longer changes. */
void tail_append(struct buffer *out, const struct capture *capture, bool only_kept);

/* Cuts a text of tail_append to its last tail_most_bytes, at the start of a line if there is one.
 * Also removes an unfinished `secret` at the end ("": no secret), because the rest of it may still
 * be printed. */
void tail_cut(struct buffer *text, const char *secret);

#endif
