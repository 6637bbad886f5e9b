#include "cgi/render/zip_pack.h"

#include <string.h>

/* Sizes of the parts around the compressed bytes (RFC 1952). gzip_pack writes a header without
 * optional fields; checksum and size come at the end. */
enum { gzip_head_bytes = 10, gzip_tail_bytes = 8, deflated = 8, version_needed = 20 };

struct entry {
	const char *name;
	const unsigned char *data;
	size_t length;
	uint32_t checksum, size, place;
};

static void append_little_endian(struct buffer *out, uint32_t value, int bytes)
{
	for (; bytes; bytes--, value >>= 8)
		buffer_byte(out, (char)(value & 0xff));
}

static uint32_t little_endian(const unsigned char *bytes)
{
	return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16
		| (uint32_t)bytes[3] << 24;
}

/* The fields that a local file header and its directory entry share. The time is 1 January 1980,
 * the earliest that the format can store. */
static void append_common(struct buffer *out, const struct entry *entry)
{
	append_little_endian(out, version_needed, 2);
	append_little_endian(out, 0, 2);
	append_little_endian(out, deflated, 2);
	append_little_endian(out, 1 << 21 | 1 << 16, 4);
	append_little_endian(out, entry->checksum, 4);
	append_little_endian(out, (uint32_t)entry->length, 4);
	append_little_endian(out, entry->size, 4);
	append_little_endian(out, (uint32_t)strlen(entry->name), 2);
	append_little_endian(out, 0, 2);
}

static void append_file(struct zip_pack *zip, const struct entry *entry)
{
	append_little_endian(zip->out, 0x04034b50, 4);
	append_common(zip->out, entry);
	buffer_text(zip->out, entry->name);
	buffer_append(zip->out, entry->data, entry->length);
	append_little_endian(&zip->directory, 0x02014b50, 4);
	append_little_endian(&zip->directory, version_needed, 2);
	append_common(&zip->directory, entry);
	append_little_endian(&zip->directory, 0, 2); /* no comment */
	append_little_endian(&zip->directory, 0, 4); /* first disk, no internal attributes */
	append_little_endian(&zip->directory, 0, 4); /* no external attributes */
	append_little_endian(&zip->directory, entry->place, 4);
	buffer_text(&zip->directory, entry->name);
	zip->count++;
}

int zip_pack_gzip(
	struct zip_pack *zip, const char *name, const void *gzip, size_t length, struct error *error)
{
	static const unsigned char head[] = { 0x1f, 0x8b, deflated, 0 };
	const unsigned char *bytes = gzip;
	if (length < gzip_head_bytes + gzip_tail_bytes || memcmp(bytes, head, sizeof head) != 0)
		return fail(error, ERROR_SYSTEM, "%s is not a gzip file without optional fields.", name);
	if (!zip->count)
		zip->began = zip->out->length;
	const unsigned char *tail = bytes + length - gzip_tail_bytes;
	const struct entry entry = { .name = name,
		.data = bytes + gzip_head_bytes,
		.length = length - gzip_head_bytes - gzip_tail_bytes,
		.checksum = little_endian(tail),
		.size = little_endian(tail + 4),
		.place = (uint32_t)(zip->out->length - zip->began) };
	append_file(zip, &entry);
	return 0;
}

void zip_pack_end(struct zip_pack *zip)
{
	uint32_t place = (uint32_t)(zip->count ? zip->out->length - zip->began : 0);
	if (zip->directory.length)
		buffer_append(zip->out, zip->directory.data, zip->directory.length);
	append_little_endian(zip->out, 0x06054b50, 4);
	append_little_endian(zip->out, 0, 4);
	append_little_endian(zip->out, zip->count, 2);
	append_little_endian(zip->out, zip->count, 2);
	append_little_endian(zip->out, (uint32_t)zip->directory.length, 4);
	append_little_endian(zip->out, place, 4);
	append_little_endian(zip->out, 0, 2);
	buffer_free(&zip->directory);
}
