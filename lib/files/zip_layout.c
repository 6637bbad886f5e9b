/* Records and fields follow the ZIP specification (APPNOTE 6.3.10), sections 4.3.7, 4.3.12,
 * 4.3.14 to 4.3.16, 4.4.4 and 4.5.3. */
#include "lib/files/zip_layout.h"

#include "lib/base/quote.h"
#include "lib/base/scope.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum {
	signature_bytes = 4,
	local_bytes = 30,
	entry_bytes = 46,
	end_bytes = 22,
	locator_bytes = 20, /* record with the position of the Zip64 end record */
	end64_bytes = 56,
	extra_bytes = 4, /* heads an extra field: its ID and length */
	zip64_id = 1,
	zip64_sizes_bytes = 16,
	encrypted_flags = 1 | 1 << 6,
	sizes_follow_flag = 1 << 3, /* the header may lack sizes; they follow the data */
};

struct reader {
	struct arena *arena;
	const unsigned char *bytes;
	size_t length;
	size_t table, table_end; /* byte positions of the table of contents */
	struct zip_layout *layout;
	struct error *error;
};

static unsigned int read_uint16(const unsigned char *at)
{
	return (unsigned int)at[0] | (unsigned int)at[1] << 8;
}

static uint32_t read_uint32(const unsigned char *at)
{
	return (uint32_t)read_uint16(at) | (uint32_t)read_uint16(at + 2) << 16;
}

static bool has_record(const struct reader *reader, size_t at, size_t size, const char *signature)
{
	return at <= reader->length && reader->length - at >= size
		&& memcmp(reader->bytes + at, signature, signature_bytes) == 0;
}

/* ---- sentences ---- */

/* Archives that people upload instead of a zip. */
static const struct {
	const char *magic;
	size_t length;
	const char *name;
} OTHER_ARCHIVES[] = {
	{ "\x1f\x8b", 2, "a gzip file (.gz, .tgz)" },
	{ "7z\xbc\xaf\x27\x1c", 6, "a 7-Zip archive" },
	{ "Rar!", 4, "a RAR archive" },
	{ "\xfd"
	  "7zXZ",
		5, "an xz file" },
	{ "BZh", 3, "a bzip2 file" },
	{ "\x28\xb5\x2f\xfd", 4, "a Zstandard file" },
};

/* Refuses the whole file. `what` is the sentence for a file that begins like a zip; other files get
 * a sentence that names their format, if known. */
static int refuse_file(const struct reader *reader, const char *what)
{
	if (reader->length >= 2 && memcmp(reader->bytes, "PK", 2) == 0)
		return fail(reader->error, ERROR_INPUT, "%s Create the zip again and upload it.", what);
	for (size_t i = 0; i < COUNT(OTHER_ARCHIVES); i++)
		if (reader->length >= OTHER_ARCHIVES[i].length
			&& memcmp(reader->bytes, OTHER_ARCHIVES[i].magic, OTHER_ARCHIVES[i].length) == 0)
			return fail(reader->error, ERROR_INPUT,
				"The file is %s, not a zip; pack the task's folder as a zip.",
				OTHER_ARCHIVES[i].name);
	return fail(
		reader->error, ERROR_INPUT, "The file is not a zip; pack the task's folder as a zip.");
}

static int refuse_table(const struct reader *reader)
{
	return refuse_file(reader, "The zip's table of contents is damaged.");
}

static int refuse_cut(const struct reader *reader)
{
	return refuse_file(
		reader, "The zip is cut off or damaged: its table of contents is missing at the end.");
}

static int refuse_zip64(const struct reader *reader)
{
	return fail(reader->error, ERROR_INPUT,
		"The zip is in the Zip64 form, which is for archives over 4 GiB; pack the folder as an "
		"ordinary zip.");
}

static const char *quote_name(const struct reader *reader, const struct zip_place *place)
{
	return quote_bytes(reader->arena, place->name, place->name_length);
}

static int refuse_place(
	const struct reader *reader, const struct zip_place *place, const char *what)
{
	return fail(reader->error, ERROR_INPUT,
		"The zip's entry %s %s Create the zip again and upload it.", quote_name(reader, place),
		what);
}

/* ---- the end ---- */

/* Exactly one end record must end, with its comment, at the file's last byte. With two such
 * records, a program that searches from the front would find another zip than one that searches
 * from the back. */
static int find_end(const struct reader *reader, size_t *end)
{
	bool continues = false;
	size_t found = 0;
	for (size_t behind = end_bytes; behind <= reader->length && behind <= end_bytes + UINT16_MAX;
		 behind++) {
		size_t at = reader->length - behind;
		if (!has_record(reader, at, end_bytes, "PK\5\6"))
			continue;
		size_t length = end_bytes + read_uint16(reader->bytes + at + 20);
		continues = continues || length < behind;
		found += length == behind;
		if (length == behind)
			*end = at;
	}
	if (found)
		return found == 1 ? 0 : refuse_file(reader, "The zip has several tables of contents.");
	return continues ? refuse_file(reader, "The zip has extra bytes after its end.")
					 : refuse_cut(reader);
}

/* Reads the position of the table and the number of entries. */
static int read_end(struct reader *reader, size_t most_entries)
{
	size_t end = 0;
	int rc = find_end(reader, &end);
	if (rc)
		return rc;
	const unsigned char *record = reader->bytes + end;
	bool has_locator =
		end >= locator_bytes && has_record(reader, end - locator_bytes, locator_bytes, "PK\6\7");
	size_t size = read_uint32(record + 12);
	reader->table = read_uint32(record + 16);
	reader->layout->count = read_uint16(record + 10);
	if (size == UINT32_MAX || reader->table == UINT32_MAX
		|| (has_locator && reader->layout->count == UINT16_MAX))
		return refuse_zip64(reader);
	if (read_uint16(record + 4) || read_uint16(record + 6)
		|| read_uint16(record + 8) != reader->layout->count)
		return refuse_file(reader, "The zip is one part of several.");
	reader->table_end = reader->table + size;
	if (reader->table > end || size > end - reader->table)
		return refuse_cut(reader);
	if (reader->table_end != end
		&& !(has_locator && reader->table_end + end64_bytes + locator_bytes == end))
		return refuse_table(reader);
	if (reader->layout->count > most_entries)
		return fail(reader->error, ERROR_LIMIT,
			"The zip has %zu entries; a task may have at most 512 files.", reader->layout->count);
	return 0;
}

/* ---- the entries ---- */

/* Computes where the entry ends: after its local header and its data. */
static int find_data(struct reader *reader, struct zip_place *place)
{
	static const char elsewhere[] = "is not where the zip's table of contents says.";
	if (place->begin >= reader->table || !has_record(reader, place->begin, local_bytes, "PK\3\4"))
		return refuse_place(reader, place, elsewhere);
	const unsigned char *header = reader->bytes + place->begin;
	place->end = place->begin + local_bytes + read_uint16(header + 26) + read_uint16(header + 28);
	if (place->end > reader->table || place->packed > reader->table - place->end)
		return refuse_place(reader, place, elsewhere);
	place->end += place->packed;
	return 0;
}

static int read_place(struct reader *reader, struct zip_place *place, const unsigned char *entry)
{
	place->name_length = read_uint16(entry + 28);
	place->name = arena_copy(reader->arena, entry + entry_bytes, place->name_length);
	place->flags = read_uint16(entry + 8);
	place->method = read_uint16(entry + 10);
	place->begin = read_uint32(entry + 42);
	place->packed = read_uint32(entry + 20);
	place->unpacked = read_uint32(entry + 24);
	if (place->packed == UINT32_MAX || place->unpacked == UINT32_MAX || place->begin == UINT32_MAX)
		return refuse_zip64(reader);
	return find_data(reader, place);
}

static int read_table(struct reader *reader)
{
	size_t at = reader->table;
	reader->layout->places =
		arena_array(reader->arena, struct zip_place, reader->layout->count + 1);
	for (size_t i = 0; i < reader->layout->count; i++) {
		if (reader->table_end - at < entry_bytes || !has_record(reader, at, entry_bytes, "PK\1\2"))
			return refuse_table(reader);
		const unsigned char *entry = reader->bytes + at;
		size_t size = (size_t)entry_bytes + read_uint16(entry + 28) + read_uint16(entry + 30)
			+ read_uint16(entry + 32);
		if (size > reader->table_end - at)
			return refuse_table(reader);
		int rc = read_place(reader, &reader->layout->places[i], entry);
		if (rc)
			return rc;
		at += size;
	}
	return at == reader->table_end ? 0 : refuse_table(reader);
}

static int compare_begins(const void *left, const void *right)
{
	const struct zip_place *a = *(struct zip_place *const *)left,
						   *b = *(struct zip_place *const *)right;
	return (a->begin > b->begin) - (a->begin < b->begin);
}

/* Overlapping entries can make a small zip unpack to a large one, although no single entry unpacks
 * to too much. */
static int check_overlaps(struct reader *reader)
{
	size_t count = reader->layout->count;
	struct zip_place **sorted = arena_array(reader->arena, struct zip_place *, count + 1);
	for (size_t i = 0; i < count; i++)
		sorted[i] = &reader->layout->places[i];
	qsort(sorted, count, sizeof *sorted, compare_begins);
	for (size_t i = 1; i < count; i++)
		if (sorted[i]->begin < sorted[i - 1]->end)
			return fail(reader->error, ERROR_INPUT,
				"The zip's entries %s and %s overlap, as in a zip bomb, so Podium refuses the zip.",
				quote_name(reader, sorted[i - 1]), quote_name(reader, sorted[i]));
	return 0;
}

/* Finds the data of the extra field `id` with at least `least` bytes in a local header; NULL
 * without one. find_data has checked that the header's parts lie before the table. */
static const unsigned char *find_extra(const unsigned char *header, unsigned int id, size_t least)
{
	const unsigned char *at = header + local_bytes + read_uint16(header + 26);
	const unsigned char *end = at + read_uint16(header + 28);
	while (end - at >= extra_bytes) {
		size_t length = read_uint16(at + 2), left = (size_t)(end - at) - extra_bytes;
		if (read_uint16(at) == id && length >= least && left >= length)
			return at + extra_bytes;
		at += extra_bytes + (length < left ? length : left);
	}
	return NULL;
}

/* Compares a size in an entry's own header with the table's. A program that does not know the size
 * when it writes the header writes 0, and marks this in the flags. A program that writes to a pipe
 * may put the size into the Zip64 field, even of a small zip. */
static bool is_size(
	const unsigned char *header, size_t position, size_t zip64_position, size_t size)
{
	const unsigned char *zip64 = find_extra(header, zip64_id, zip64_sizes_bytes);
	uint64_t stated = read_uint32(header + position);
	if (stated == UINT32_MAX && zip64)
		stated = read_uint32(zip64 + zip64_position)
			| (uint64_t)read_uint32(zip64 + zip64_position + 4) << 32;
	return stated == size || (!stated && (read_uint16(header + 6) & sizes_follow_flag));
}

/* Compares an entry's own header with the table of contents. The checksum may differ, because
 * libzip checks the contents with the one in the table. */
static int check_header(struct reader *reader, const struct zip_place *place)
{
	const unsigned char *header = reader->bytes + place->begin;
	if (read_uint16(header + 26) != place->name_length
		|| memcmp(header + local_bytes, place->name, place->name_length) != 0)
		return refuse_place(reader, place,
			"has another name in its own header than in the zip's table of contents.");
	if (read_uint16(header + 8) != place->method
		|| ((read_uint16(header + 6) ^ place->flags) & encrypted_flags))
		return refuse_place(reader, place,
			"has another compression in its own header than in the zip's table of contents.");
	if (!is_size(header, 18, 8, place->packed) || !is_size(header, 22, 0, place->unpacked))
		return refuse_place(reader, place,
			"has another size in its own header than in the zip's table of contents.");
	return 0;
}

int zip_layout_read(struct arena *arena, const void *bytes, size_t length, size_t most_entries,
	struct zip_layout *layout, struct error *error)
{
	struct reader reader = {
		.arena = arena, .bytes = bytes, .length = length, .layout = layout, .error = error
	};
	*layout = (struct zip_layout){ 0 };
	int rc = read_end(&reader, most_entries);
	if (!rc)
		rc = read_table(&reader);
	if (!rc)
		rc = check_overlaps(&reader);
	for (size_t i = 0; i < layout->count && !rc; i++)
		rc = check_header(&reader, &layout->places[i]);
	return rc;
}
