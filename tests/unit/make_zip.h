/* Builds zips for tests, including zips that no zip program would write. */
#ifndef PODIUM_TESTS_MAKE_ZIP_H
#define PODIUM_TESTS_MAKE_ZIP_H

#include "lib/base/buffer.h"
#include "lib/base/scope.h"

#include <stdint.h>
#include <string.h>
#include <zip.h>

struct zip_entry {
	const char *name;
	const char *bytes;   /* NULL: empty */
	size_t name_length;  /* 0: up to the NUL */
	size_t length;       /* 0: up to the NUL */
	uint32_t attributes; /* external; the mode is in the upper half */
	uint16_t flags, method;
	uint32_t crc_error; /* added to the right checksum */
};

static inline uint32_t crc32_of(const char *bytes, size_t length)
{
	uint32_t crc = 0xffffffff;
	for (size_t i = 0; i < length; i++) {
		crc ^= (unsigned char)bytes[i];
		for (int bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
	}
	return ~crc;
}

static inline void put(struct buffer *out, uint32_t value, int bytes)
{
	for (; bytes; bytes--, value >>= 8)
		buffer_byte(out, (char)(value & 0xff));
}

/* The fields that a local header and an entry of the central directory share. */
static inline void put_common(struct buffer *out, const struct zip_entry *entry)
{
	size_t name = entry->name_length ? entry->name_length : strlen(entry->name);
	size_t length = entry->length ? entry->length : entry->bytes ? strlen(entry->bytes) : 0;
	put(out, 20, 2);
	put(out, entry->flags, 2);
	put(out, entry->method, 2);
	put(out, 0x5a210000, 4); /* a time and a date */
	put(out, crc32_of(entry->bytes, length) + entry->crc_error, 4);
	put(out, (uint32_t)length, 4);
	put(out, (uint32_t)length, 4);
	put(out, (uint32_t)name, 2);
	put(out, 0, 2);
}

static inline void put_name(struct buffer *out, const struct zip_entry *entry)
{
	buffer_append(out, entry->name, entry->name_length ? entry->name_length : strlen(entry->name));
}

/* Appends a zip of stored entries that have exactly the given fields. */
static inline void make_zip(struct buffer *out, const struct zip_entry *entries, size_t count)
{
	cleanup_buffer struct buffer directory = { 0 };
	for (size_t i = 0; i < count; i++) {
		size_t offset = out->length;
		buffer_text(out, "PK\3\4");
		put_common(out, &entries[i]);
		put_name(out, &entries[i]);
		if (entries[i].bytes)
			buffer_append(out, entries[i].bytes,
				entries[i].length ? entries[i].length : strlen(entries[i].bytes));
		buffer_text(&directory, "PK\1\2");
		put(&directory, 3 << 8 | 20, 2); /* made on Unix */
		put_common(&directory, &entries[i]);
		put(&directory, 0, 2); /* comment */
		put(&directory, 0, 2); /* disk */
		put(&directory, 0, 2);
		put(&directory, entries[i].attributes, 4);
		put(&directory, (uint32_t)offset, 4);
		put_name(&directory, &entries[i]);
	}
	size_t start = out->length;
	buffer_append(out, buffer_string(&directory), directory.length);
	buffer_text(out, "PK\5\6");
	put(out, 0, 4);
	put(out, (uint32_t)count, 2);
	put(out, (uint32_t)count, 2);
	put(out, (uint32_t)directory.length, 4);
	put(out, (uint32_t)start, 4);
	put(out, 0, 2);
}

/* Appends a zip of deflated entries as libzip writes it. Returns false if libzip refuses. */
static inline bool make_deflated_zip(
	struct buffer *out, const struct zip_entry *entries, size_t count)
{
	zip_error_t why;
	zip_error_init(&why);
	zip_source_t *archive = zip_source_buffer_create(NULL, 0, 0, &why);
	zip_t *zip = zip_open_from_source(archive, ZIP_TRUNCATE, &why);
	zip_source_keep(archive);
	bool good = zip;
	for (size_t i = 0; good && i < count; i++) {
		size_t length = entries[i].length ? entries[i].length : strlen(entries[i].bytes);
		zip_source_t *content = zip_source_buffer(zip, entries[i].bytes, length, 0);
		zip_int64_t index = zip_file_add(zip, entries[i].name, content, ZIP_FL_ENC_UTF_8);
		good = index >= 0;
		if (good && entries[i].method)
			good = zip_set_file_compression(zip, (zip_uint64_t)index, entries[i].method, 0) == 0;
	}
	good = good && zip_close(zip) == 0 && zip_source_open(archive) == 0;
	char piece[4096];
	for (zip_int64_t got; good && (got = zip_source_read(archive, piece, sizeof piece)) > 0;)
		buffer_append(out, piece, (size_t)got);
	zip_source_close(archive);
	zip_source_free(archive);
	zip_error_fini(&why);
	return good;
}

/* A small generator (xorshift64) with a fixed seed, so that failures are reproducible. */
static inline uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* Copies the bytes to `out`, then changes up to eight places: replaces a byte, flips a bit, removes
 * bytes, or overwrites them with other bytes of the copy. */
static inline void mutate(struct buffer *out, const char *bytes, size_t length, uint64_t *state)
{
	buffer_clear(out);
	buffer_append(out, bytes, length);
	for (uint64_t left = next_random(state) % 8 + 1; left && out->length > 1; left--) {
		size_t at = next_random(state) % out->length, span = next_random(state) % 16 + 1;
		switch (next_random(state) % 4) {
		case 0: out->data[at] = (char)next_random(state); break;
		case 1: out->data[at] ^= (char)(1 << next_random(state) % 8); break;
		case 2: /* cut something out */
			span = span < out->length - at ? span : out->length - at;
			memmove(out->data + at, out->data + at + span, out->length - at - span);
			out->length -= span;
			out->data[out->length] = '\0';
			break;
		default: /* overwrite with bytes from elsewhere */
			for (size_t i = 0; i < span && at + i < out->length; i++)
				out->data[at + i] = out->data[next_random(state) % out->length];
			break;
		}
	}
}

#endif
