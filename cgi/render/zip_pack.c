#include "lib/zip_pack.h"

#include <string.h>

/* RFC 1952: what gzip_pack writes has a head without optional fields, and ends with the checksum
 * and the size. */
enum { gzip_head_bytes = 10, gzip_tail_bytes = 8, deflated = 8, version_needed = 20 };

struct entry {
	const char *name;
	const unsigned char *data;
	size_t length;
	uint32_t checksum, size, place;
};

static void put(struct buffer *out, uint32_t value, int bytes)
{
	for (; bytes; bytes--, value >>= 8)
		buffer_byte(out, (char)(value & 0xff));
}

static uint32_t little_endian(const unsigned char *bytes)
{
	return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16
		| (uint32_t)bytes[3] << 24;
}

/* What the head of a file and its line in the table have in common. The time is the format's first.
 */
static void put_common(struct buffer *out, const struct entry *entry)
{
	put(out, version_needed, 2);
	put(out, 0, 2);
	put(out, deflated, 2);
	put(out, 1 << 21 | 1 << 16, 4);
	put(out, entry->checksum, 4);
	put(out, (uint32_t)entry->length, 4);
	put(out, entry->size, 4);
	put(out, (uint32_t)strlen(entry->name), 2);
	put(out, 0, 2);
}

static void put_file(struct zip_pack *zip, const struct entry *entry)
{
	put(zip->out, 0x04034b50, 4);
	put_common(zip->out, entry);
	buffer_text(zip->out, entry->name);
	buffer_append(zip->out, entry->data, entry->length);
	put(&zip->directory, 0x02014b50, 4);
	put(&zip->directory, version_needed, 2);
	put_common(&zip->directory, entry);
	put(&zip->directory, 0, 2); /* no comment, the first disk, */
	put(&zip->directory, 0, 4);
	put(&zip->directory, 0, 4); /* and no attributes */
	put(&zip->directory, entry->place, 4);
	buffer_text(&zip->directory, entry->name);
	zip->count++;
}

int zip_pack_gzip(
	struct zip_pack *zip, const char *name, const void *gzip, size_t length, struct error *error)
{
	static const unsigned char head[] = { 0x1f, 0x8b, deflated, 0 };
	const unsigned char *bytes = gzip;
	if (length < gzip_head_bytes + gzip_tail_bytes || memcmp(bytes, head, sizeof head) != 0)
		return fail(error, ERROR_SYSTEM, "%s is no gzip without optional fields.", name);
	if (!zip->count)
		zip->began = zip->out->length;
	const unsigned char *tail = bytes + length - gzip_tail_bytes;
	const struct entry entry = { .name = name,
		.data = bytes + gzip_head_bytes,
		.length = length - gzip_head_bytes - gzip_tail_bytes,
		.checksum = little_endian(tail),
		.size = little_endian(tail + 4),
		.place = (uint32_t)(zip->out->length - zip->began) };
	put_file(zip, &entry);
	return 0;
}

void zip_pack_end(struct zip_pack *zip)
{
	uint32_t place = (uint32_t)(zip->count ? zip->out->length - zip->began : 0);
	if (zip->directory.length)
		buffer_append(zip->out, zip->directory.data, zip->directory.length);
	put(zip->out, 0x06054b50, 4);
	put(zip->out, 0, 4);
	put(zip->out, zip->count, 2);
	put(zip->out, zip->count, 2);
	put(zip->out, (uint32_t)zip->directory.length, 4);
	put(zip->out, place, 4);
	put(zip->out, 0, 2);
	buffer_free(&zip->directory);
}
