#include "cgi/render/zip_pack.h"

#include <string.h>

enum { deflated = 8, version_needed = 20 };

struct zip_pack_file {
	const char *name;
	uint32_t packed, size, checksum, place;
	struct zip_pack_file *next;
};

static void put(struct zip_pack *zip, uint32_t value, int bytes)
{
	for (zip->length += (uint32_t)bytes; bytes; bytes--, value >>= 8)
		buffer_byte(zip->out, (char)(value & 0xff));
}

static uint32_t little_endian(const unsigned char *bytes)
{
	return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16
		| (uint32_t)bytes[3] << 24;
}

/* The fields that a local file header and its directory entry share. The time is 1 January 1980,
 * the earliest that the format can store. */
static void put_common(struct zip_pack *zip, const struct zip_pack_file *file)
{
	put(zip, version_needed, 2);
	put(zip, 0, 2);
	put(zip, deflated, 2);
	put(zip, 1 << 21 | 1 << 16, 4);
	put(zip, file->checksum, 4);
	put(zip, file->packed, 4);
	put(zip, file->size, 4);
	put(zip, (uint32_t)strlen(file->name), 2);
	put(zip, 0, 2);
}

static void put_directory_entry(struct zip_pack *zip, const struct zip_pack_file *file)
{
	put(zip, 0x02014b50, 4);
	put(zip, version_needed, 2);
	put_common(zip, file);
	put(zip, 0, 2); /* no comment */
	put(zip, 0, 4); /* first disk, no internal attributes */
	put(zip, 0, 4); /* no external attributes */
	put(zip, file->place, 4);
	zip_pack_add(zip, file->name, strlen(file->name));
}

void zip_pack_add(struct zip_pack *zip, const void *bytes, size_t length)
{
	buffer_append(zip->out, bytes, length);
	zip->length += (uint32_t)length;
}

void zip_pack_begin(
	struct zip_pack *zip, const char *name, uint32_t packed, uint32_t size, uint32_t checksum)
{
	struct zip_pack_file *file = arena_alloc(zip->arena, sizeof *file);
	*file = (struct zip_pack_file){ arena_strdup(zip->arena, name), packed, size, checksum,
		zip->length, NULL };
	*(zip->last ? &zip->last->next : &zip->files) = file;
	zip->last = file;
	zip->count++;
	put(zip, 0x04034b50, 4);
	put_common(zip, file);
	zip_pack_add(zip, file->name, strlen(file->name));
}

/* A gzip has checksum and size at its end (RFC 1952). gzip_pack writes a head without optional
 * fields. */
int zip_pack_gzip(
	struct zip_pack *zip, const char *name, const void *gzip, size_t length, struct error *error)
{
	static const unsigned char head[] = { 0x1f, 0x8b, deflated, 0 };
	enum { around_bytes = zip_pack_gzip_head_bytes + zip_pack_gzip_tail_bytes };
	const unsigned char *bytes = gzip;
	if (length < around_bytes || memcmp(bytes, head, sizeof head) != 0)
		return fail(error, ERROR_SYSTEM, "%s is not a gzip file without optional fields.", name);
	const unsigned char *tail = bytes + length - zip_pack_gzip_tail_bytes;
	zip_pack_begin(
		zip, name, (uint32_t)(length - around_bytes), little_endian(tail + 4), little_endian(tail));
	zip_pack_add(zip, bytes + zip_pack_gzip_head_bytes, length - around_bytes);
	return 0;
}

void zip_pack_end(struct zip_pack *zip)
{
	uint32_t place = zip->length;
	for (const struct zip_pack_file *file = zip->files; file; file = file->next)
		put_directory_entry(zip, file);
	uint32_t length = zip->length - place;
	put(zip, 0x06054b50, 4);
	put(zip, 0, 4);
	put(zip, zip->count, 2);
	put(zip, zip->count, 2);
	put(zip, length, 4);
	put(zip, place, 4);
	put(zip, 0, 2);
}
