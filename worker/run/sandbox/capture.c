#include "worker/run/sandbox/capture.h"

#include "lib/base/text.h"

#include <inttypes.h>
#include <string.h>

static size_t smaller_length(size_t a, size_t b)
{
	return a < b ? a : b;
}

void capture_clear(struct capture *capture)
{
	capture->total = 0;
}

void capture_add(struct capture *capture, const char *bytes, size_t length)
{
	if (capture->total < capture_half_bytes) {
		size_t part = smaller_length(length, capture_half_bytes - (size_t)capture->total);
		memcpy(capture->head + capture->total, bytes, part);
		capture->total += part;
		bytes += part;
		length -= part;
	}
	while (length) {
		size_t at = (size_t)((capture->total - capture_half_bytes) % capture_half_bytes);
		size_t part = smaller_length(length, capture_half_bytes - at);
		memcpy(capture->tail + at, bytes, part);
		capture->total += part;
		bytes += part;
		length -= part;
	}
}

/* Returns the output's byte at offset `before`. The capture must still have this byte. */
static char kept_byte(const struct capture *capture, uint64_t before)
{
	return before < capture_half_bytes
		? capture->head[before]
		: capture->tail[(before - capture_half_bytes) % capture_half_bytes];
}

void capture_stretch(const struct capture *capture, uint64_t end, size_t most, struct buffer *out)
{
	size_t length = smaller_length(most, capture_half_bytes);
	for (uint64_t at = end > length ? end - length : 0; at < end; at++)
		buffer_byte(out, kept_byte(capture, at));
}

/* Copies the ring buffer in order. Returns how many bytes of `straight` are filled. */
static size_t unwrap_ring(const struct capture *capture, char straight[static capture_half_bytes])
{
	uint64_t behind = capture->total - capture_half_bytes;
	if (behind <= capture_half_bytes) {
		memcpy(straight, capture->tail, (size_t)behind);
		return (size_t)behind;
	}
	size_t oldest = (size_t)(behind % capture_half_bytes);
	memcpy(straight, capture->tail + oldest, capture_half_bytes - oldest);
	memcpy(straight + capture_half_bytes - oldest, capture->tail, oldest);
	return capture_half_bytes;
}

/* The gap starts and ends at a line end if one is near, so that no character is cut. */
static void append_with_gap(struct buffer *out, const struct capture *capture, const char *tail)
{
	const char *head_end =
		memrchr(capture->head + capture_half_bytes - capture_line_bytes, '\n', capture_line_bytes);
	const char *tail_start = memchr(tail, '\n', capture_line_bytes);
	size_t head_length = head_end ? (size_t)(head_end - capture->head) + 1 : capture_half_bytes;
	size_t skipped = tail_start ? (size_t)(tail_start - tail) + 1 : 0;
	size_t tail_length = capture_half_bytes - skipped;
	text_append_valid(out, capture->head, head_length);
	buffer_printf(out, "%s[... %" PRIu64 " bytes left out ...]\n", head_end ? "" : "\n",
		capture->total - head_length - tail_length);
	text_append_valid(out, tail + skipped, tail_length);
}

void capture_text(const struct capture *capture, struct buffer *out)
{
	if (capture->total <= capture_half_bytes) {
		text_append_valid(out, capture->head, (size_t)capture->total);
		return;
	}
	char straight[2 * capture_half_bytes];
	size_t length = unwrap_ring(capture, straight + capture_half_bytes);
	if (capture->total > 2 * capture_half_bytes) {
		append_with_gap(out, capture, straight + capture_half_bytes);
		return;
	}
	memcpy(straight, capture->head, capture_half_bytes);
	text_append_valid(out, straight, capture_half_bytes + length);
}
