#include "lib/base/quote.h"
#include "lib/files/fileset.h"
#include "lib/files/path_rule.h"

#include "tests/unit/make_zip.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

#include <cmocka.h>

#define LINK_MODE (0120777u << 16)
#define DEVICE_MODE (0020666u << 16)
#define FILE_MODE (0100644u << 16)

static char LONG_NAME[260], LARGE[5 * 1024 * 1024];

static int read_zip(
	struct arena *arena, const struct buffer *zip, struct fileset *set, struct error *error)
{
	*set = fileset_make(arena);
	return fileset_from_zip(set, zip->data, zip->length, error);
}

/* Asserts that the zip is refused and that the message contains `part`. */
static void assert_refused(const struct buffer *zip, const char *part)
{
	cleanup_arena struct arena *arena = arena_new();
	struct fileset set;
	struct error error = { 0 };
	assert_int_not_equal(read_zip(arena, zip, &set, &error), 0);
	if (!strstr(error.text, part))
		fail_msg("expected a sentence with [%s], got [%s]", part, error.text);
	assert_int_equal(error.text[strlen(error.text) - 1], '.');
}

static void a_zip_yields_its_files_without_debris_and_folders(void **state)
{
	(void)state;
	static const struct zip_entry entries[] = {
		{ .name = "task/" },
		{ .name = "task/task.yml", .bytes = "lang: py\n", .attributes = FILE_MODE },
		{ .name = "task/samples/" },
		{ .name = "task/samples/a.py", .bytes = "pass" },
		{ .name = "__MACOSX/task/._task.yml", .bytes = "x" },
		{ .name = "task/.DS_Store", .bytes = "x" },
		{ .name = "task/__pycache__/a.pyc", .bytes = "x" },
	};
	cleanup_buffer struct buffer zip = { 0 };
	cleanup_arena struct arena *arena = arena_new();
	make_zip(&zip, entries, COUNT(entries));
	struct fileset set;
	struct error error;
	assert_int_equal(read_zip(arena, &zip, &set, &error), 0);
	assert_int_equal(set.count, 2);
	assert_string_equal(set.files[0].path, "task.yml");
	assert_string_equal(set.files[0].bytes, "lang: py\n");
	assert_int_equal(set.files[0].length, 9);
	assert_non_null(fileset_find(&set, "samples/a.py"));
	assert_null(fileset_find(&set, "samples"));
}

static void two_folders_at_the_top_are_kept(void **state)
{
	(void)state;
	static const struct zip_entry entries[] = { { .name = "a/x", .bytes = "1" },
		{ .name = "ab/x", .bytes = "2" } };
	cleanup_buffer struct buffer zip = { 0 };
	cleanup_arena struct arena *arena = arena_new();
	make_zip(&zip, entries, COUNT(entries));
	struct fileset set;
	assert_int_equal(read_zip(arena, &zip, &set, NULL), 0);
	assert_non_null(fileset_find(&set, "a/x"));
	assert_non_null(fileset_find(&set, "ab/x"));
}

static void deflated_files_are_unpacked(void **state)
{
	(void)state;
	cleanup_buffer struct buffer text = { 0 }, zip = { 0 };
	for (int i = 0; i < 20000; i++)
		buffer_printf(&text, "line %d\n", i * 7919);
	const struct zip_entry entries[] = { { .name = "a.txt", .bytes = text.data },
		{ .name = "µ.txt", .bytes = "b" } };
	assert_true(make_deflated_zip(&zip, entries, COUNT(entries)));
	assert_true(zip.length < text.length);
	cleanup_arena struct arena *arena = arena_new();
	struct fileset set;
	assert_int_equal(read_zip(arena, &zip, &set, NULL), 0);
	assert_int_equal(set.files[0].length, text.length);
	assert_memory_equal(set.files[0].bytes, text.data, text.length);
	assert_non_null(fileset_find(&set, "µ.txt"));
}

/* Entries that make a zip invalid, and a part of the error message. */
static const struct {
	struct zip_entry entries[2];
	const char *part;
} BAD_ENTRIES[] = {
	{ { { .name = "../evil.py", .bytes = "x" } }, "\"../evil.py\" contains \"..\"" },
	{ { { .name = "a/../../evil.py", .bytes = "x" } }, "contains \"..\"" },
	{ { { .name = "../" }, { .name = "a.py", .bytes = "x" } }, "contains \"..\"" },
	{ { { .name = "/etc/passwd", .bytes = "x" } }, "\"/etc/passwd\" is absolute" },
	{ { { .name = "/" }, { .name = "a", .bytes = "x" } }, "is absolute" },
	{ { { .name = "C:/evil.py", .bytes = "x" } }, "begins with a drive letter" },
	{ { { .name = "a\\b.py", .bytes = "x" } }, "contains a backslash" },
	{ { { .name = "a\0b.py", .name_length = 6, .bytes = "x" } },
		"\"a\\x00b.py\" contains a NUL byte" },
	{ { { .name = "a\x1b[31m.py", .bytes = "x" } },
		"\"a\\x1b[31m.py\" contains a control character" },
	{ { { .name = "a\nb.py", .bytes = "x" } }, "contains a control character" },
	{ { { .name = "a\u202eyp.gpj", .bytes = "x" } }, "contains a control character" },
	{ { { .name = "a\xff.py", .bytes = "x" } }, "\"a\\xff.py\" is not UTF-8" },
	{ { { .name = "a/./b.py", .bytes = "x" } }, "contains the part \".\"" },
	{ { { .name = "a//b.py", .bytes = "x" } }, "contains an empty part" },
	{ { { .name = LONG_NAME, .bytes = "x" } }, "is longer than 200 bytes" },
	{ { { .name = "1/2/3/4/5/6/7/8/9.py", .bytes = "x" } }, "more than 8 folders deep" },
	{ { { .name = "link.py", .bytes = "/etc/passwd", .attributes = LINK_MODE } },
		"\"link.py\" is a link" },
	{ { { .name = "device", .bytes = "x", .attributes = DEVICE_MODE } },
		"\"device\" is neither a file nor a folder" },
	{ { { .name = "secret.py", .bytes = "xxxxxxxxxxxxx", .flags = 1 } },
		"\"secret.py\" is encrypted" },
	{ { { .name = "lzma.py", .bytes = "x", .method = 14 } },
		"\"lzma.py\" uses compression method 14" },
	{ { { .name = "a.py", .bytes = "1" }, { .name = "a.py", .bytes = "2" } },
		"\"a.py\" occurs twice" },
	{ { { .name = "Eval.py", .bytes = "1" }, { .name = "eval.py", .bytes = "2" } },
		"differ only in upper and lower case" },
	{ { { .name = "a/b", .bytes = "1" }, { .name = "a", .bytes = "2" } },
		"\"a\" is a file and also a folder (of \"a/b\")" },
	{ { { .name = "A/" }, { .name = "a", .bytes = "2" } }, "is a file and also a folder" },
	{ { { .name = "broken.py", .bytes = "print(1)", .crc_error = 1 } },
		"\"broken.py\" is damaged: its checksum" },
	{ { { .name = "folder/" }, { .name = "__MACOSX/x", .bytes = "1" } }, "contains no files" },
	{ { { .name = "large", .bytes = LARGE, .length = sizeof LARGE } },
		"\"large\" unpacks to more than 4 MiB" },
};

static void every_bad_entry_is_refused_with_its_own_message(void **state)
{
	(void)state;
	memset(LONG_NAME, 'n', sizeof LONG_NAME - 1);
	for (size_t i = 0; i < COUNT(BAD_ENTRIES); i++) {
		cleanup_buffer struct buffer zip = { 0 };
		make_zip(&zip, BAD_ENTRIES[i].entries, BAD_ENTRIES[i].entries[1].name ? 2 : 1);
		assert_refused(&zip, BAD_ENTRIES[i].part);
	}
}

static void files_that_are_no_zips_are_refused_by_name(void **state)
{
	(void)state;
	static const struct {
		struct buffer bytes;
		const char *part;
	} cases[] = {
		{ { "", 0, 0 }, "The file is empty" },
		{ { "lang: py", 8, 0 }, "is not a zip" },
		{ { "\x1f\x8b\x08", 3, 0 }, "gzip file" },
		{ { "7z\xbc\xaf\x27\x1c", 6, 0 }, "7-Zip archive" },
		{ { "Rar!\x1a", 5, 0 }, "RAR archive" },
		{ { "PK\3\4", 4, 0 }, "cut off or damaged" },
		{ { LARGE, 0, 0 }, "The file is empty" },
	};
	for (size_t i = 0; i < COUNT(cases); i++)
		assert_refused(&cases[i].bytes, cases[i].part);
	const struct buffer heavy = { LARGE, (size_t)fileset_most_zip_bytes + 1, 0 };
	assert_refused(&heavy, "larger than 8 MiB");
}

static void a_zip_cut_at_any_byte_is_refused(void **state)
{
	(void)state;
	static const struct zip_entry entries[] = { { .name = "a.py", .bytes = "pass" },
		{ .name = "b.py", .bytes = "pass" } };
	cleanup_buffer struct buffer zip = { 0 };
	make_zip(&zip, entries, COUNT(entries));
	for (size_t length = 4; length < zip.length; length++) {
		const struct buffer cut = { zip.data, length, 0 };
		assert_refused(&cut, "cut off or damaged");
	}
}

static void bytes_around_the_archive_are_refused(void **state)
{
	(void)state;
	static const struct zip_entry entry = { .name = "a.py", .bytes = "pass" };
	cleanup_buffer struct buffer zip = { 0 }, before = { 0 };
	buffer_text(&before, "#!/bin/sh\n");
	make_zip(&zip, &entry, 1);
	buffer_append(&before, zip.data, zip.length);
	assert_refused(&before, "is not a zip");
	buffer_text(&zip, "more");
	assert_refused(&zip, "has extra bytes after its end");
}

/* Writes `value` into each local header of the zip, at `position`. */
static void change_headers(struct buffer *zip, size_t position, uint32_t value, size_t bytes)
{
	for (size_t at = 0; at + 30 < zip->length; at++)
		for (size_t i = 0; i < bytes && memcmp(zip->data + at, "PK\3\4", 4) == 0; i++)
			zip->data[at + position + i] = (char)(value >> 8 * i);
}

static void a_header_with_another_size_than_the_table_is_refused(void **state)
{
	(void)state;
	enum { flags = 6, packed = 18, unpacked = 22, sizes_follow = 8 };
	static const struct {
		size_t position;
		uint32_t value;
		unsigned int flags;
		bool is_refused;
	} cases[] = {
		{ packed, 4, 0, false }, { packed, 5, 0, true }, { unpacked, 3, 0, true },
		{ unpacked, 0, 0, true }, { unpacked, 3, sizes_follow, true },
		{ unpacked, 0, sizes_follow, false }, /* "not known yet" */
		{ packed, 0, sizes_follow, false },
		{ unpacked, UINT32_MAX, 0, true }, /* there is no Zip64 field */
	};
	for (size_t i = 0; i < COUNT(cases); i++) {
		const struct zip_entry entry = {
			.name = "a.py", .bytes = "pass", .flags = (uint16_t)cases[i].flags
		};
		cleanup_arena struct arena *arena = arena_new();
		cleanup_buffer struct buffer zip = { 0 };
		struct fileset set;
		make_zip(&zip, &entry, 1);
		change_headers(&zip, cases[i].position, cases[i].value, 4);
		if (cases[i].is_refused)
			assert_refused(&zip, "\"a.py\" has another size in its own header");
		else
			assert_int_equal(read_zip(arena, &zip, &set, NULL), 0);
	}
}

/* What `zip - -` writes into a pipe: sizes in the header's Zip64 field. */
static void a_zip64_field_in_a_header_may_state_the_sizes(void **state)
{
	(void)state;
	for (uint32_t size = 3; size <= 4; size++) {
		static const struct zip_entry entry = { .name = "a", .bytes = "pass" };
		cleanup_arena struct arena *arena = arena_new();
		cleanup_buffer struct buffer zip = { 0 }, changed = { 0 };
		enum { header_bytes = 30 + 1, field_bytes = 20, end_bytes = 22, table_position = 16 };
		struct fileset set;
		make_zip(&zip, &entry, 1);
		buffer_append(&changed, zip.data, header_bytes);
		put(&changed, 1, 2);
		put(&changed, 16, 2);
		put(&changed, size, 4);
		put(&changed, 0, 4);
		put(&changed, 4, 4);
		put(&changed, 0, 4);
		buffer_append(&changed, zip.data + header_bytes, zip.length - header_bytes);
		change_headers(&changed, 18, UINT32_MAX, 4);
		change_headers(&changed, 22, UINT32_MAX, 4);
		change_headers(&changed, 28, field_bytes, 2);
		changed.data[changed.length - end_bytes + table_position] += field_bytes;
		if (size == 4)
			assert_int_equal(read_zip(arena, &changed, &set, NULL), 0);
		else
			assert_refused(&changed, "\"a\" has another size in its own header");
	}
}

static void a_bomb_is_stopped_during_unpacking(void **state)
{
	(void)state;
	static const struct zip_entry bomb = {
		.name = "zeros", .bytes = LARGE, .length = 3 * 1024 * 1024
	};
	cleanup_buffer struct buffer zip = { 0 };
	assert_true(make_deflated_zip(&zip, &bomb, 1));
	assert_true(zip.length < 10000);
	assert_refused(&zip, "more than 200 times its packed size");
	/* The same zip with headers that claim ten bytes. */
	for (size_t at = 0; at + 30 < zip.length; at++) {
		bool local = memcmp(zip.data + at, "PK\3\4", 4) == 0,
			 central = memcmp(zip.data + at, "PK\1\2", 4) == 0;
		if (local || central)
			memcpy(zip.data + at + (local ? 22 : 24), "\x0a\0\0\0", 4);
	}
	assert_refused(&zip, "more than 200 times its packed size");
}

static void the_sizes_of_all_files_are_added(void **state)
{
	(void)state;
	cleanup_arena struct arena *arena = arena_new();
	struct zip_entry *entries = arena_array(arena, struct zip_entry, fileset_most_entries + 1);
	for (size_t i = 0; i <= fileset_most_entries; i++)
		entries[i] = (struct zip_entry){ .name = arena_printf(arena, "f%zu", i), .bytes = "x" };
	cleanup_buffer struct buffer fits = { 0 }, many = { 0 }, crowd = { 0 }, total = { 0 };
	make_zip(&fits, entries, fileset_most_files);
	struct fileset set;
	assert_int_equal(read_zip(arena, &fits, &set, NULL), 0);
	assert_int_equal(set.count, fileset_most_files);
	make_zip(&many, entries, fileset_most_files + 1);
	assert_refused(&many, "contains 513 files; a task may have at most 512");
	make_zip(&crowd, entries, fileset_most_entries + 1);
	assert_refused(&crowd, "2049 entries");
	/* Each file is small enough and compresses well, but not too well: 1 byte in 64 is noise. */
	char *noise = arena_alloc(arena, 4 * 1024 * 1024);
	uint64_t random = 7;
	for (size_t i = 0; i < 4 * 1024 * 1024; i += 64)
		noise[i] = (char)next_random(&random);
	for (size_t i = 0; i < 5; i++)
		entries[i] = (struct zip_entry){
			.name = entries[i].name, .bytes = noise, .length = 4 * 1024 * 1024
		};
	assert_true(make_deflated_zip(&total, entries, 5));
	assert_refused(&total, "unpacks to more than 16 MiB (counted up to its entry \"f4\")");
}

static void compression_methods_other_than_deflate_are_refused(void **state)
{
	(void)state;
	cleanup_buffer struct buffer zip = { 0 };
	const struct zip_entry entry = { .name = "a.py", .bytes = "pass", .method = ZIP_CM_BZIP2 };
	if (!make_deflated_zip(&zip, &entry, 1)) /* a libzip without bzip2 cannot make one */
		skip();
	assert_refused(&zip, "compression method 12");
}

static void mutated_zips_never_give_a_bad_path(void **state)
{
	(void)state;
	static const struct zip_entry entries[] = {
		{ .name = "task/task.yml",
			.bytes = "lang: py\ndescription: words and words and words and words and words\n" },
		{ .name = "task/eval.py",
			.bytes = "import os\nimport sys\nimport os\nimport sys\n",
			.attributes = FILE_MODE },
		{ .name = "task/samples/right.py", .bytes = "pass\n" },
	};
	cleanup_buffer struct buffer plain = { 0 }, deflated = { 0 }, bad = { 0 };
	make_zip(&plain, entries, COUNT(entries));
	assert_true(make_deflated_zip(&deflated, entries, COUNT(entries)));
	uint64_t random = 20261121;
	int accepted = 0;
	for (int i = 0; i < 6000; i++) {
		const struct buffer *from = i % 2 ? &plain : &deflated;
		mutate(&bad, from->data, from->length, &random);
		cleanup_arena struct arena *arena = arena_new();
		struct fileset set;
		struct error error = { 0 };
		if (read_zip(arena, &bad, &set, &error)) {
			assert_true(*error.text);
			continue;
		}
		accepted++;
		for (size_t file = 0; file < set.count; file++)
			assert_null(path_fault(set.files[file].path, strlen(set.files[file].path)));
	}
	assert_true(accepted > 0); /* some changes do no harm, such as that of a time stamp */
}

/* ---- folders ---- */

struct folder {
	char path[64];
};

static void write_file(const char *folder, const char *name, size_t length)
{
	char path[200];
	snprintf(path, sizeof path, "%s/%s", folder, name);
	FILE *file = fopen(path, "w");
	assert_non_null(file);
	for (size_t i = 0; i < length; i++)
		fputc('x', file);
	assert_int_equal(fclose(file), 0);
}

static int make_folder(void **state)
{
	static struct folder folder;
	strcpy(folder.path, "/tmp/podium-fileset-XXXXXX");
	if (!mkdtemp(folder.path))
		return -1;
	char path[200];
	snprintf(path, sizeof path, "%s/sub", folder.path);
	if (mkdir(path, 0700))
		return -1;
	write_file(folder.path, "b.py", 3);
	write_file(folder.path, "sub/a.py", 5);
	write_file(folder.path, ".DS_Store", 5);
	*state = &folder;
	return 0;
}

static int remove_folder(void **state)
{
	char command[200];
	snprintf(command, sizeof command, "rm -rf %s", ((struct folder *)*state)->path);
	return system(command);
}

static void assert_folder_refused(const char *path, const char *part)
{
	cleanup_arena struct arena *arena = arena_new();
	struct fileset set = fileset_make(arena);
	struct error error = { 0 };
	assert_int_not_equal(fileset_from_folder(&set, path, &error), 0);
	if (!strstr(error.text, part))
		fail_msg("expected a sentence with [%s], got [%s]", part, error.text);
}

static void a_folder_yields_its_files_sorted_by_path(void **state)
{
	const struct folder *folder = *state;
	cleanup_arena struct arena *arena = arena_new();
	struct fileset set = fileset_make(arena);
	struct error error;
	assert_int_equal(fileset_from_folder(&set, folder->path, &error), 0);
	assert_int_equal(set.count, 2);
	assert_string_equal(set.files[0].path, "b.py");
	assert_string_equal(set.files[1].path, "sub/a.py");
	assert_int_equal(set.files[1].length, 5);
}

static void links_special_files_and_large_files_in_a_folder_are_refused(void **state)
{
	const struct folder *folder = *state;
	char path[200];
	snprintf(path, sizeof path, "%s/c.py", folder->path);
	assert_int_equal(symlink("/etc/passwd", path), 0);
	assert_folder_refused(folder->path, "\"c.py\" is a link");
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_folder_refused(folder->path, "\"c.py\" is neither a file nor a folder");
	assert_int_equal(unlink(path), 0);
	write_file(folder->path, "c.py", fileset_most_file_bytes + 1);
	assert_folder_refused(folder->path, "\"c.py\" is larger than 4 MiB");
	assert_int_equal(unlink(path), 0);
	write_file(folder->path, "B.py", 1);
	assert_folder_refused(folder->path, "differ only in upper and lower case");
	assert_folder_refused("/nonexistent", "Cannot open the folder \"/nonexistent\"");
}

static void a_source_file_is_an_upload_without_a_zip(void **state)
{
	(void)state;
	static const struct {
		const char *name, *path;
	} cases[] = {
		{ "reference.py", "reference.py" },
		{ "my softmax.py", "reference.py" },
		{ "../../etc/a.cu", "reference.cu" },
		{ "b.cuh", "reference.cuh" },
		{ "c.cpp", "reference.cpp" },
	};
	for (size_t i = 0; i < COUNT(cases); i++) {
		cleanup_arena struct arena *arena = arena_new();
		struct fileset set = fileset_make(arena);
		struct error error;
		assert_int_equal(fileset_from_upload(&set, cases[i].name, "x", 1, &error), 0);
		assert_int_equal(set.count, 1);
		assert_string_equal(set.files[0].path, cases[i].path);
		assert_int_equal(
			fileset_from_upload(&set, cases[i].name, LARGE, sizeof LARGE, &error), ERROR_LIMIT);
	}
	cleanup_arena struct arena *arena = arena_new();
	struct fileset set = fileset_make(arena);
	struct error error;
	assert_int_equal(fileset_from_upload(&set, "task.zip", "x", 1, &error), ERROR_INPUT);
	assert_int_equal(fileset_from_upload(&set, "", "x", 1, &error), ERROR_INPUT);
}

static void quoted_text_is_safe_for_a_terminal_and_short(void **state)
{
	(void)state;
	cleanup_arena struct arena *arena = arena_new();
	assert_string_equal(quote_bytes(arena, "a\0\x1b\xff", 4), "\"a\\x00\\x1b\\xff\"");
	assert_string_equal(quote_bytes(arena, "", 0), "\"\"");
	char text[200];
	memset(text, 'a', sizeof text);
	memcpy(text + 79, "µ", 2); /* must not be cut in two */
	const char *quoted = quote_bytes(arena, text, sizeof text);
	assert_int_equal(strlen(quoted), 1 + 79 + strlen("...\""));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_zip_yields_its_files_without_debris_and_folders),
		cmocka_unit_test(two_folders_at_the_top_are_kept),
		cmocka_unit_test(deflated_files_are_unpacked),
		cmocka_unit_test(every_bad_entry_is_refused_with_its_own_message),
		cmocka_unit_test(files_that_are_no_zips_are_refused_by_name),
		cmocka_unit_test(a_zip_cut_at_any_byte_is_refused),
		cmocka_unit_test(bytes_around_the_archive_are_refused),
		cmocka_unit_test(a_header_with_another_size_than_the_table_is_refused),
		cmocka_unit_test(a_zip64_field_in_a_header_may_state_the_sizes),
		cmocka_unit_test(a_bomb_is_stopped_during_unpacking),
		cmocka_unit_test(the_sizes_of_all_files_are_added),
		cmocka_unit_test(compression_methods_other_than_deflate_are_refused),
		cmocka_unit_test(mutated_zips_never_give_a_bad_path),
		cmocka_unit_test_setup_teardown(
			a_folder_yields_its_files_sorted_by_path, make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(links_special_files_and_large_files_in_a_folder_are_refused,
			make_folder, remove_folder),
		cmocka_unit_test(a_source_file_is_an_upload_without_a_zip),
		cmocka_unit_test(quoted_text_is_safe_for_a_terminal_and_short),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
