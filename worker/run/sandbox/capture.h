/* What a program printed: all of it up to 64 KiB, else the beginning and the end. */
#ifndef PODIUM_RUN_CAPTURE_H
#define PODIUM_RUN_CAPTURE_H

#include "lib/buffer.h"

#include <stddef.h>
#include <stdint.h>

enum {
	capture_half_bytes = 32 * 1024,
	capture_line_bytes = 1024, /* how far from a gap whole lines are looked for */
};

struct capture { /* start with all zero */
	char head[capture_half_bytes];
	char tail[capture_half_bytes]; /* a ring of what came after the head */
	uint64_t total;                /* bytes that came */
};

void capture_clear(struct capture *capture);
void capture_add(struct capture *capture, const char *bytes, size_t length);

/* Appends the last of the first `end` bytes that came, at most `most`, and no more than half of
 * what is kept. */
void capture_stretch(const struct capture *capture, uint64_t end, size_t most, struct buffer *out);

/* Appends what was kept, as valid UTF-8, with a line in the gap that says how much is missing. */
void capture_text(const struct capture *capture, struct buffer *out);

#endif
