/* Zips. In half of the inputs the checksums and sizes are corrected first, so that the reader gets
 * to the end. */
#include "lib/files/fileset.h"
#include "lib/files/path_rule.h"

#include "tests/fuzz/fuzz.h"
#include "tests/unit/make_zip.h"

#include <strings.h>
#include <zlib.h>

/* Checks a path by rules that are independent of the reader's code. */
static void check_path(const char *path)
{
	require(path_fault(path, strlen(path)) == NULL);
	require(*path && *path != '/' && strlen(path) <= path_most_bytes && !strpbrk(path, "\\\n\r\t"));
	size_t depth = 0;
	for (const char *part = path; part; depth++) {
		size_t length = strcspn(part, "/");
		require(length > 0 && strncmp(part, "..", length > 2 ? length : 2) != 0
			&& strncmp(part, ".", length) != 0);
		part = part[length] ? part + length + 1 : NULL;
	}
	require(depth <= path_most_depth);
}

static void check_set(const struct fileset *set)
{
	size_t total = 0;
	require(set->count && set->count <= fileset_most_files);
	for (size_t i = 0; i < set->count; i++) {
		const struct file *file = &set->files[i];
		check_path(file->path);
		require(!path_is_debris(file->path));
		require(file->length <= fileset_most_file_bytes && file->bytes[file->length] == '\0');
		total += file->length;
		for (size_t k = 0; k < i; k++)
			require(strcasecmp(file->path, set->files[k].path) != 0);
	}
	require(total <= fileset_most_total_bytes);
}

/* Packing the files again must give a zip with the same files. The second file keeps a single top
 * folder from being stripped. */
static void check_round_trip(struct arena *arena, const struct fileset *set)
{
	cleanup_buffer struct buffer zip = { 0 };
	struct zip_entry *entries = arena_array(arena, struct zip_entry, set->count + 1);
	for (size_t i = 0; i < set->count; i++)
		entries[i] = (struct zip_entry){
			.name = set->files[i].path, .bytes = set->files[i].bytes, .length = set->files[i].length
		};
	entries[set->count] = (struct zip_entry){ .name = "~top", .bytes = "" };
	if (set->count == fileset_most_files || fileset_find(set, "~top"))
		return;
	make_zip(&zip, entries, set->count + 1);
	struct fileset again = fileset_make(arena);
	struct error error = { 0 };
	int rc = zip.length > fileset_most_zip_bytes
		? ERROR_LIMIT
		: fileset_from_zip(&again, zip.data, zip.length, &error);
	if (rc == ERROR_LIMIT || (rc == ERROR_CONFLICT && strstr(error.text, "~top")))
		return;
	require(rc == 0 && again.count == set->count + 1);
	for (size_t i = 0; i < set->count; i++) {
		require(strcmp(again.files[i].path, set->files[i].path) == 0
			&& again.files[i].length == set->files[i].length);
		require(!again.files[i].length
			|| memcmp(again.files[i].bytes, set->files[i].bytes, again.files[i].length) == 0);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	cleanup_free char *zip = fuzz_string(bytes, length);
	cleanup_arena struct arena *arena = arena_new();
	struct fileset set = fileset_make(arena);
	struct error error = { 0 };
	int rc = fileset_from_zip(&set, zip, length, &error);
	if (rc) {
		require_error(rc, &error);
		require(text_ends_with(error.text, "."));
		return 0;
	}
	check_set(&set);
	check_round_trip(arena, &set);
	return 0;
}

/* ---- correcting checksums and sizes ---- */

size_t LLVMFuzzerMutate(uint8_t *bytes, size_t length, size_t most);
size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t length, size_t most, unsigned int seed);

static uint32_t little(const uint8_t *at, int bytes)
{
	uint32_t value = 0;
	while (bytes--)
		value = value << 8 | at[bytes];
	return value;
}

static void put_little(uint8_t *at, uint32_t value)
{
	for (int i = 0; i < 4; i++, value >>= 8)
		at[i] = (uint8_t)value;
}

/* The checksum and the size of the unpacked data, as far as they can be unpacked. */
static uint32_t unpacked_crc(const uint8_t *packed, uint32_t length, uint32_t *size)
{
	static uint8_t out[64 * 1024];
	z_stream stream = { .next_in = (Bytef *)(uintptr_t)packed,
		.avail_in = length,
		.next_out = out,
		.avail_out = sizeof out };
	if (inflateInit2(&stream, -MAX_WBITS) == Z_OK) {
		inflate(&stream, Z_FINISH);
		inflateEnd(&stream);
	}
	*size = (uint32_t)stream.total_out;
	return (uint32_t)crc32(0, out, *size);
}

/* Corrects an entry of the central directory and the header that it points to. */
static void mend(uint8_t *bytes, size_t length, uint8_t *entry)
{
	size_t offset = little(entry + 42, 4), packed = little(entry + 20, 4);
	if (offset > length || length - offset < 30)
		return;
	uint8_t *local = bytes + offset;
	size_t start = offset + 30 + little(local + 26, 2) + little(local + 28, 2);
	if (start > length || packed > length - start)
		return;
	uint32_t size = (uint32_t)packed;
	uint32_t crc = little(entry + 10, 2) == 8 ? unpacked_crc(bytes + start, size, &size)
											  : (uint32_t)crc32(0, bytes + start, size);
	uint8_t *places[] = { entry + 16, local + 14 };
	for (size_t i = 0; i < COUNT(places); i++) {
		put_little(places[i], crc);
		put_little(places[i] + 4, (uint32_t)packed);
		put_little(places[i] + 8, size);
	}
}

size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t length, size_t most, unsigned int seed)
{
	length = LLVMFuzzerMutate(bytes, length, most);
	for (size_t at = 0; seed % 2 && at + 46 <= length; at++)
		if (memcmp(bytes + at, "PK\1\2", 4) == 0)
			mend(bytes, length, bytes + at);
	return length;
}
