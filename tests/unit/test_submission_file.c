#include "lib/submission/file.h"

#include "lib/base/scope.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void a_file_keeps_the_last_part_of_its_path(void **state)
{
	(void)state;
	cleanup_arena struct arena *arena = arena_new();
	static const struct {
		const char *language, *sent, *kept;
	} names[] = {
		{ "py", "mine.py", "mine.py" },
		{ "py", "/home/me/mine.py", "mine.py" },
		{ "py", "C:\\mine.py", "mine.py" },
		{ "py", "m\x1bine.py", "m\\x1bine.py" },
		{ "cu", "a.cu", "a.cu" },
		{ "cu", "a.cuh", "a.cuh" },
		{ "cu", "a.cpp", "a.cpp" },
	};
	for (size_t i = 0; i < COUNT(names); i++) {
		struct submission_file file;
		assert_int_equal(
			submission_file_take(arena, names[i].language, names[i].sent, "pass", 4, &file, NULL),
			0);
		assert_string_equal(file.name, names[i].kept);
		assert_string_equal(file.field, "file");
		assert_int_equal(file.length, 4);
	}
}

static void pasted_code_gets_a_name(void **state)
{
	(void)state;
	cleanup_arena struct arena *arena = arena_new();
	struct submission_file file;
	assert_int_equal(submission_file_take(arena, "cu", NULL, "x", 1, &file, NULL), 0);
	assert_string_equal(file.name, "submission.cu");
	assert_string_equal(file.field, "code");
	assert_int_equal(submission_file_take(arena, "py", "", "x", 1, &file, NULL), 0);
	assert_string_equal(file.name, "submission.py");
}

static void files_that_cannot_run_are_refused(void **state)
{
	(void)state;
	cleanup_arena struct arena *arena = arena_new();
	static const struct {
		const char *name, *source;
		size_t length;
		const char *sentence;
	} refused[] = {
		{ "a.cu", "x", 1,
			"\"a.cu\" is the wrong type of file: the task is in Python, so the name must end with "
			".py." },
		{ "a.py", "", 0, "The file is empty." },
		{ "a.py", " \n\t", 3, "The file is empty." },
		{ "a.py", "a\nb\xff", 4,
			"The file is not UTF-8 text: line 2 has the invalid byte 0xff; save it as UTF-8." },
		{ "a.py", "a\n\n\0b", 5, "The file has a NUL byte in line 3; remove it." },
		{ "", "a\0", 2, "The code has a NUL byte in line 1; remove it." },
	};
	for (size_t i = 0; i < COUNT(refused); i++) {
		struct submission_file file;
		struct error error = { 0 };
		assert_int_equal(submission_file_take(arena, "py", refused[i].name, refused[i].source,
							 refused[i].length, &file, &error),
			ERROR_INPUT);
		assert_string_equal(error.text, refused[i].sentence);
	}
}

static void a_size_is_refused_before_any_byte_is_read(void **state)
{
	(void)state;
	cleanup_arena struct arena *arena = arena_new();
	struct submission_file file;
	struct error error = { 0 };
	assert_int_equal(
		submission_file_take(arena, "py", "a.py", NULL, submission_most_bytes + 1, &file, &error),
		ERROR_INPUT);
	assert_string_equal(
		error.text, "The file has 1000001 bytes; at most 1 MB (1000000 bytes) is allowed.");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_file_keeps_the_last_part_of_its_path),
		cmocka_unit_test(pasted_code_gets_a_name),
		cmocka_unit_test(files_that_cannot_run_are_refused),
		cmocka_unit_test(a_size_is_refused_before_any_byte_is_read),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
