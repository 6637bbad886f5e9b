/* What a program has printed last while it still runs, for people to look at: no terminal, so
 * nothing that would steer one. */
#ifndef PODIUM_RUN_TAIL_H
#define PODIUM_RUN_TAIL_H

#include "lib/buffer.h"
#include "worker/run/capture.h"

#include <stdbool.h>

enum { tail_most_bytes = 2 * 1024 };

/* Appends the last lines of what was captured: tail_most_bytes of it and a little more, in which a
 * secret can still be found that begins before. Valid UTF-8 without escape sequences and control
 * characters other than tab and newline; of a line that was written over (\r) only what stands
 * there now. With `only_kept` nothing but what capture_text will hold however much more is printed:
 * there an output that has grown too long for that stands still. */
void tail_append(struct buffer *out, const struct capture *capture, bool only_kept);

/* Cuts such a text to its last tail_most_bytes, at the beginning of a line where there is one, and
 * at the end takes off what may be the beginning of `secret` ("": there is none), whose rest is
 * still to be printed. */
void tail_cut(struct buffer *text, const char *secret);

#endif
