/* Records and fields are those of the ZIP specification (APPNOTE 6.3.10), sections 4.3.7, 4.3.12
 * and 4.3.14 to 4.3.16. */
#include "lib/zip_layout.h"

#include "lib/quote.h"
#include "lib/scope.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum {
	signature_bytes = 4,
	local_bytes = 30,
	entry_bytes = 46,
	end_bytes = 22,
	locator_bytes = 20, /* the record that says where the end record of the Zip64 form is */
	end64_bytes = 56,
	encrypted_flags = 1 | 1 << 6,
};

struct reading {
	struct arena *arena;
	const unsigned char *bytes;
	size_t length;
	size_t table, table_end; /* where the table of contents begins and ends */
	struct zip_layout *layout;
	struct error *error;
};

static unsigned int little16(const unsigned char *at)
{
	return (unsigned int)at[0] | (unsigned int)at[1] << 8;
}

static uint32_t little32(const unsigned char *at)
{
	return (uint32_t)little16(at) | (uint32_t)little16(at + 2) << 16;
}

static bool is_at(const struct reading *reading, size_t at, size_t size, const char *signature)
{
	return at <= reading->length && reading->length - at >= size
		&& memcmp(reading->bytes + at, signature, signature_bytes) == 0;
}

/* ---- sentences ---- */

/* What people send instead of a zip. */
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

/* The file as a whole: `what` is wrong with it if it begins like a zip. */
static int refuse(const struct reading *reading, const char *what)
{
	if (reading->length >= 2 && memcmp(reading->bytes, "PK", 2) == 0)
		return fail(reading->error, ERROR_INPUT, "%s Make it again and upload it once more.", what);
	for (size_t i = 0; i < COUNT(OTHER_ARCHIVES); i++)
		if (reading->length >= OTHER_ARCHIVES[i].length
			&& memcmp(reading->bytes, OTHER_ARCHIVES[i].magic, OTHER_ARCHIVES[i].length) == 0)
			return fail(reading->error, ERROR_INPUT,
				"The file is %s, not a zip; pack the task's folder as a zip.",
				OTHER_ARCHIVES[i].name);
	return fail(
		reading->error, ERROR_INPUT, "The file is not a zip; pack the task's folder as a zip.");
}

static int refuse_table(const struct reading *reading)
{
	return refuse(reading, "The zip's table of contents is damaged.");
}

static int refuse_cut(const struct reading *reading)
{
	return refuse(
		reading, "The zip is cut off or damaged: its table of contents is missing at the end.");
}

static int refuse_zip64(const struct reading *reading)
{
	return fail(reading->error, ERROR_INPUT,
		"The zip is in the Zip64 form, which is for archives over 4 GiB; pack the folder "
		"as an ordinary zip.");
}

static const char *shown(const struct reading *reading, const struct zip_place *place)
{
	return quote_bytes(reading->arena, place->name, place->name_length);
}

static int refuse_place(
	const struct reading *reading, const struct zip_place *place, const char *what)
{
	return fail(reading->error, ERROR_INPUT,
		"The zip's entry %s %s Make the zip again and upload it once more.", shown(reading, place),
		what);
}

/* ---- the end ---- */

/* The record that ends a zip must end at the file's last byte, comment included; and only one may,
 * or a program that searches from the front finds another zip than one that searches from the back.
 */
static int find_end(const struct reading *reading, size_t *end)
{
	bool continues = false;
	size_t found = 0;
	for (size_t behind = end_bytes; behind <= reading->length && behind <= end_bytes + UINT16_MAX;
		 behind++) {
		size_t at = reading->length - behind;
		if (!is_at(reading, at, end_bytes, "PK\5\6"))
			continue;
		size_t length = end_bytes + little16(reading->bytes + at + 20);
		continues = continues || length < behind;
		found += length == behind;
		if (length == behind)
			*end = at;
	}
	if (found)
		return found == 1 ? 0 : refuse(reading, "The zip has several tables of contents.");
	return continues ? refuse(reading, "The zip has other bytes behind its end.")
					 : refuse_cut(reading);
}

/* Where the table lies and how many entries it has. */
static int read_end(struct reading *reading, size_t most_entries)
{
	size_t end = 0;
	int rc = find_end(reading, &end);
	if (rc)
		return rc;
	const unsigned char *record = reading->bytes + end;
	bool has_locator =
		end >= locator_bytes && is_at(reading, end - locator_bytes, locator_bytes, "PK\6\7");
	size_t size = little32(record + 12);
	reading->table = little32(record + 16);
	reading->layout->count = little16(record + 10);
	if (size == UINT32_MAX || reading->table == UINT32_MAX
		|| (has_locator && reading->layout->count == UINT16_MAX))
		return refuse_zip64(reading);
	if (little16(record + 4) || little16(record + 6)
		|| little16(record + 8) != reading->layout->count)
		return refuse(reading, "The zip is one part of several.");
	reading->table_end = reading->table + size;
	if (reading->table > end || size > end - reading->table)
		return refuse_cut(reading);
	if (reading->table_end != end
		&& !(has_locator && reading->table_end + end64_bytes + locator_bytes == end))
		return refuse_table(reading);
	if (reading->layout->count > most_entries)
		return fail(reading->error, ERROR_LIMIT,
			"The zip has %zu entries; a task may have 512 files.", reading->layout->count);
	return 0;
}

/* ---- the entries ---- */

/* The entry's own header: from there its data reach as far as the table says. */
static int find_data(struct reading *reading, struct zip_place *place, size_t packed)
{
	static const char elsewhere[] = "does not lie where the zip's table of contents says.";
	if (place->begin >= reading->table || !is_at(reading, place->begin, local_bytes, "PK\3\4"))
		return refuse_place(reading, place, elsewhere);
	const unsigned char *header = reading->bytes + place->begin;
	place->end = place->begin + local_bytes + little16(header + 26) + little16(header + 28);
	if (place->end > reading->table || packed > reading->table - place->end)
		return refuse_place(reading, place, elsewhere);
	place->end += packed;
	return 0;
}

static int read_place(struct reading *reading, struct zip_place *place, const unsigned char *entry)
{
	place->name_length = little16(entry + 28);
	place->name = arena_copy(reading->arena, entry + entry_bytes, place->name_length);
	place->flags = little16(entry + 8);
	place->method = little16(entry + 10);
	place->begin = little32(entry + 42);
	size_t packed = little32(entry + 20);
	if (packed == UINT32_MAX || little32(entry + 24) == UINT32_MAX || place->begin == UINT32_MAX)
		return refuse_zip64(reading);
	return find_data(reading, place, packed);
}

static int read_table(struct reading *reading)
{
	size_t at = reading->table;
	reading->layout->places =
		arena_array(reading->arena, struct zip_place, reading->layout->count + 1);
	for (size_t i = 0; i < reading->layout->count; i++) {
		if (reading->table_end - at < entry_bytes || !is_at(reading, at, entry_bytes, "PK\1\2"))
			return refuse_table(reading);
		const unsigned char *entry = reading->bytes + at;
		size_t size = (size_t)entry_bytes + little16(entry + 28) + little16(entry + 30)
			+ little16(entry + 32);
		if (size > reading->table_end - at)
			return refuse_table(reading);
		int rc = read_place(reading, &reading->layout->places[i], entry);
		if (rc)
			return rc;
		at += size;
	}
	return at == reading->table_end ? 0 : refuse_table(reading);
}

static int by_begin(const void *left, const void *right)
{
	const struct zip_place *a = *(struct zip_place *const *)left,
						   *b = *(struct zip_place *const *)right;
	return (a->begin > b->begin) - (a->begin < b->begin);
}

/* Entries that share their bytes are how a small zip unpacks to a large one without any of them
 * being a bomb. */
static int check_overlaps(struct reading *reading)
{
	size_t count = reading->layout->count;
	struct zip_place **sorted = arena_array(reading->arena, struct zip_place *, count + 1);
	for (size_t i = 0; i < count; i++)
		sorted[i] = &reading->layout->places[i];
	qsort(sorted, count, sizeof *sorted, by_begin);
	for (size_t i = 1; i < count; i++)
		if (sorted[i]->begin < sorted[i - 1]->end)
			return fail(reading->error, ERROR_INPUT,
				"The zip's entries %s and %s lie over one another; that is how zip bombs are "
				"made, so it is refused.",
				shown(reading, sorted[i - 1]), shown(reading, sorted[i]));
	return 0;
}

/* Sizes and checksums may differ: programs that do not know them beforehand write zeros into the
 * header. */
static int check_header(struct reading *reading, const struct zip_place *place)
{
	const unsigned char *header = reading->bytes + place->begin;
	if (little16(header + 26) != place->name_length
		|| memcmp(header + local_bytes, place->name, place->name_length) != 0)
		return refuse_place(reading, place,
			"has another name in its own header than in the zip's table of contents.");
	if (little16(header + 8) != place->method
		|| ((little16(header + 6) ^ place->flags) & encrypted_flags))
		return refuse_place(reading, place,
			"is packed in another way by its own header than by the zip's table of contents.");
	return 0;
}

int zip_layout_read(struct arena *arena, const void *bytes, size_t length, size_t most_entries,
	struct zip_layout *layout, struct error *error)
{
	struct reading reading = {
		.arena = arena, .bytes = bytes, .length = length, .layout = layout, .error = error
	};
	*layout = (struct zip_layout){ 0 };
	int rc = read_end(&reading, most_entries);
	if (!rc)
		rc = read_table(&reading);
	if (!rc)
		rc = check_overlaps(&reading);
	for (size_t i = 0; i < layout->count && !rc; i++)
		rc = check_header(&reading, &layout->places[i]);
	return rc;
}
