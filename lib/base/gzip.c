#include "lib/base/gzip.h"

#include <stdbool.h>
#include <stdint.h>
#include <zlib.h>

enum {
	/* 15 is zlib's largest window; adding 16 selects the gzip form (zlib.h) */
	window_bits = 15 + 16,
	memory_level = 8,
	piece_bytes = 64 * 1024
};

/* Calls deflate or inflate until the input ends. Returns zlib's last status. */
static int process_stream(
	z_stream *stream, int (*step)(z_stream *stream, int flush), size_t most, struct buffer *out)
{
	unsigned char piece[piece_bytes];
	int status;
	do {
		stream->next_out = piece;
		stream->avail_out = sizeof piece;
		status = step(stream, Z_FINISH);
		buffer_append(out, piece, sizeof piece - stream->avail_out);
	} while ((status == Z_OK || (status == Z_BUF_ERROR && !stream->avail_out))
		&& stream->total_out <= most);
	return status;
}

static int pack(
	const void *bytes, size_t length, int level, struct buffer *out, struct error *error)
{
	z_stream stream = { .next_in = (unsigned char *)(uintptr_t)bytes,
		.avail_in = (unsigned)length };
	if (length > UINT32_MAX)
		return fail(error, ERROR_LIMIT, "A file of %zu bytes is too large to be packed.", length);
	if (deflateInit2(&stream, level, Z_DEFLATED, window_bits, memory_level, Z_DEFAULT_STRATEGY)
		!= Z_OK)
		return fail(error, ERROR_SYSTEM, "There is not enough memory to pack a file.");
	int status = process_stream(&stream, deflate, SIZE_MAX, out);
	deflateEnd(&stream);
	return status == Z_STREAM_END
		? 0
		: fail(error, ERROR_SYSTEM, "A file could not be packed (zlib says %d).", status);
}

int gzip_pack(const void *bytes, size_t length, struct buffer *out, struct error *error)
{
	return pack(bytes, length, Z_DEFAULT_COMPRESSION, out, error);
}

int gzip_pack_quickly(const void *bytes, size_t length, struct buffer *out, struct error *error)
{
	return pack(bytes, length, Z_BEST_SPEED, out, error);
}

int gzip_unpack(
	const void *gzip, size_t length, size_t most, struct buffer *out, struct error *error)
{
	z_stream stream = { .next_in = (unsigned char *)(uintptr_t)gzip, .avail_in = (unsigned)length };
	if (length > UINT32_MAX)
		return fail(
			error, ERROR_LIMIT, "A packed file of %zu bytes is too large to be unpacked.", length);
	if (inflateInit2(&stream, window_bits) != Z_OK)
		return fail(error, ERROR_SYSTEM, "There is not enough memory to unpack a file.");
	int status = process_stream(&stream, inflate, most, out);
	bool too_large = stream.total_out > most, has_ended = !stream.avail_in;
	inflateEnd(&stream);
	if (too_large)
		return fail(error, ERROR_LIMIT, "The packed file has more than %zu bytes.", most);
	return status == Z_STREAM_END && has_ended
		? 0
		: fail(error, ERROR_INPUT, "The packed file is damaged.");
}
