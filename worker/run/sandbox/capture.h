/* A program's output: all of it up to 64 KiB, or else its beginning and its end. */
#ifndef PODIUM_WORKER_RUN_SANDBOX_CAPTURE_H
#define PODIUM_WORKER_RUN_SANDBOX_CAPTURE_H

#include "lib/base/buffer.h"

#include <stddef.h>
#include <stdint.h>

enum {
	capture_half_bytes = 32 * 1024,
	/* The output between head and tail is dropped. The cut is moved to a line end if one is within
	 * this many bytes. */
	capture_line_bytes = 1024,
};

struct capture { /* initialize with zeros */
	char head[capture_half_bytes];
	char tail[capture_half_bytes]; /* a ring buffer for what follows the head */
	uint64_t total;                /* bytes received so far */
};

void capture_clear(struct capture *capture);
void capture_add(struct capture *capture, const char *bytes, size_t length);

/* Appends the last bytes of the output before offset `end`: at most `most`, and at most
 * capture_half_bytes. The capture must still have these bytes. */
void capture_stretch(const struct capture *capture, uint64_t end, size_t most, struct buffer *out);

/* Appends the kept output as valid UTF-8. A line in the gap says how many bytes are missing. */
void capture_text(const struct capture *capture, struct buffer *out);

#endif
