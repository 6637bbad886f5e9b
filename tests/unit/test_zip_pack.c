/* Zips built from gzip files. */
#include "cgi/render/zip_pack.h"

#include "lib/base/gzip.h"
#include "lib/base/scope.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <zip.h>
#include <cmocka.h>

static struct error error;

static void add(struct zip_pack *zip, const char *name, const void *bytes, size_t length)
{
	cleanup_buffer struct buffer gzip = { 0 };
	assert_int_equal(gzip_pack(bytes, length, &gzip, &error), 0);
	assert_int_equal(zip_pack_gzip(zip, name, gzip.data, gzip.length, &error), 0);
}

/* Checks a file's content as libzip reads it. libzip verifies the checksum. */
static void assert_holds(zip_t *archive, const char *name, const void *bytes, size_t length)
{
	cleanup_free char *got = malloc(length + 1);
	zip_file_t *file = zip_fopen(archive, name, 0);
	assert_non_null(file);
	assert_int_equal(zip_fread(file, got, length + 1), length);
	assert_int_equal(zip_fclose(file), 0);
	assert_memory_equal(got, bytes, length);
}

static zip_t *read_zip(const struct buffer *packed, size_t from)
{
	zip_error_t reason;
	zip_source_t *source =
		zip_source_buffer_create(packed->data + from, packed->length - from, 0, &reason);
	zip_t *archive = zip_open_from_source(source, ZIP_RDONLY | ZIP_CHECKCONS, &reason);
	assert_non_null(archive);
	return archive;
}

static void files_are_copied_in_packed_form(void **state)
{
	(void)state;
	enum { many = 300000 };
	cleanup_free char *long_one = malloc(many);
	for (int i = 0; i < many; i++)
		long_one[i] = (char)(i * 7 ^ i >> 8);
	cleanup_arena struct arena *arena = arena_new();
	cleanup_buffer struct buffer packed = { 0 };
	buffer_text(&packed, "before"); /* offsets count from the start of the zip */
	struct zip_pack zip = { .out = &packed, .arena = arena };
	add(&zip, "profile-1.ncu-rep", long_one, many);
	add(&zip, "empty", "", 0);
	add(&zip, "small.txt", "hello", 5);
	zip_pack_end(&zip);
	zip_t *archive = read_zip(&packed, strlen("before"));
	assert_int_equal(zip_get_num_entries(archive, 0), 3);
	assert_holds(archive, "profile-1.ncu-rep", long_one, many);
	assert_holds(archive, "empty", "", 0);
	assert_holds(archive, "small.txt", "hello", 5);
	zip_discard(archive);
}

/* As a download does, which sends what it has before it reads on. */
static void a_file_may_come_in_pieces_and_the_buffer_be_emptied(void **state)
{
	(void)state;
	enum { many = 100000 };
	cleanup_arena struct arena *arena = arena_new();
	cleanup_buffer struct buffer packed = { 0 }, sent = { 0 }, gzip = { 0 };
	struct zip_pack zip = { .out = &packed, .arena = arena };
	cleanup_free char *bytes = calloc(many, 1);
	char name[] = "blob";
	add(&zip, "first", "hello", 5);
	assert_int_equal(gzip_pack(bytes, many, &gzip, &error), 0);
	const unsigned char *tail = (unsigned char *)gzip.data + gzip.length - 8;
	zip_pack_begin(&zip, name, (uint32_t)gzip.length - 18, many,
		(uint32_t)tail[0] | (uint32_t)tail[1] << 8 | (uint32_t)tail[2] << 16
			| (uint32_t)tail[3] << 24);
	name[0] = 'x'; /* the archive keeps a copy */
	for (size_t at = 10; at < gzip.length - 8; at++) {
		buffer_append(&sent, packed.data, packed.length);
		buffer_clear(&packed);
		zip_pack_add(&zip, gzip.data + at, 1);
	}
	zip_pack_end(&zip);
	buffer_append(&sent, packed.data, packed.length);
	zip_t *archive = read_zip(&sent, 0);
	assert_int_equal(zip_get_num_entries(archive, 0), 2);
	assert_holds(archive, "first", "hello", 5);
	assert_holds(archive, "blob", bytes, many);
	zip_discard(archive);
}

static void a_zip_may_have_no_files(void **state)
{
	(void)state;
	cleanup_arena struct arena *arena = arena_new();
	cleanup_buffer struct buffer packed = { 0 };
	struct zip_pack zip = { .out = &packed, .arena = arena };
	zip_pack_end(&zip);
	zip_t *archive = read_zip(&packed, 0);
	assert_int_equal(zip_get_num_entries(archive, 0), 0);
	zip_discard(archive);
}

static void gzip_files_in_another_form_are_refused(void **state)
{
	(void)state;
	static const unsigned char named[] = "\x1f\x8b\x08\x08 and a name in its head, behind flags";
	cleanup_arena struct arena *arena = arena_new();
	cleanup_buffer struct buffer packed = { 0 };
	struct zip_pack zip = { .out = &packed, .arena = arena };
	assert_int_equal(
		zip_pack_gzip(&zip, "x", "no gzip at all, but long enough", 30, &error), ERROR_SYSTEM);
	assert_int_equal(zip_pack_gzip(&zip, "x", "\x1f\x8b\x08", 3, &error), ERROR_SYSTEM);
	assert_int_equal(zip_pack_gzip(&zip, "x", named, sizeof named, &error), ERROR_SYSTEM);
	assert_int_equal(packed.length, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(files_are_copied_in_packed_form),
		cmocka_unit_test(a_file_may_come_in_pieces_and_the_buffer_be_emptied),
		cmocka_unit_test(a_zip_may_have_no_files),
		cmocka_unit_test(gzip_files_in_another_form_are_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
