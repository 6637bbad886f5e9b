#include "lib/base/arena.h"
#include "lib/base/scope.h"
#include "lib/base/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void utf8_ends_at_the_first_bad_byte(void **state)
{
	(void)state;
	static const struct {
		const char *bytes;
		size_t length, good;
	} cases[] = {
		{ "abc", 3, 3 },
		{ "µ", 2, 2 },
		{ "\xf0\x9f\xa5\x87", 4, 4 },
		{ "a\xff", 2, 1 },
		{ "\xc0\x80", 2, 0 },
		{ "\xed\xa0\x80", 3, 0 },
		{ "\xf4\x90\x80\x80", 4, 0 },
		{ "\xe2\x82", 2, 0 },
		{ "\xe0\x80\x80", 3, 0 },
		{ "", 0, 0 },
	};
	for (size_t i = 0; i < COUNT(cases); i++)
		assert_int_equal(text_utf8_prefix(cases[i].bytes, cases[i].length), cases[i].good);
}

static void characters_are_counted_not_bytes(void **state)
{
	(void)state;
	assert_int_equal(text_count_characters(""), 0);
	assert_int_equal(text_count_characters("name"), 4);
	assert_int_equal(text_count_characters("µs \xf0\x9f\xa5\x87"), 4);
}

static void names_are_ascii_words(void **state)
{
	(void)state;
	assert_true(text_is_user_name("ada"));
	assert_true(text_is_user_name("A.b-c_9"));
	static const char *const bad[] = { "", "a", "-ada", ".ada", "a b", "a/b", "ädä", "<b>", "a\n",
		"abcdefghijklmnopqrstuvwxyz0123456" };
	for (size_t i = 0; i < COUNT(bad); i++)
		assert_false(text_is_user_name(bad[i]));
	assert_true(text_is_leaderboard_name("vectoradd_py"));
	assert_false(text_is_leaderboard_name("../etc"));
	assert_false(text_is_leaderboard_name("a/b"));
}

static void control_characters_are_written_in_hexadecimal(void **state)
{
	(void)state;
	cleanup_buffer struct buffer out = { 0 };
	text_append_printable(&out, "a\x1b[31m\r\nb\xc2\x9b\xffµ");
	assert_string_equal(out.data, "a\\x1b[31m\\x0d\\x0ab\\xc2\\x9b\\xffµ");
	buffer_clear(&out);
	text_append_printable(&out, "a\u202eb\u2066c\u061cd\u200fe\u2026");
	assert_string_equal(
		out.data, "a\\xe2\\x80\\xaeb\\xe2\\x81\\xa6c\\xd8\\x9cd\\xe2\\x80\\x8fe\u2026");
}

static void control_characters_have_visible_marks(void **state)
{
	(void)state;
	cleanup_buffer struct buffer out = { 0 };
	const char *text = "\x1b\t\u202e\u061c\xc2\x85\x7f…";
	const size_t lengths[] = { 1, 0, 3, 2, 2, 1, 0 };
	const size_t steps[] = { 1, 1, 3, 2, 2, 1, 3 };
	for (size_t i = 0; i < COUNT(lengths); text += steps[i++])
		assert_int_equal(text_append_mark(&out, text), lengths[i]);
	assert_int_equal(text_append_mark(&out, text), 0);
	assert_string_equal(out.data, "\\x1b\\u202e\\u061c\\u0085\\x7f");
}

static void bytes_become_valid_utf8(void **state)
{
	(void)state;
	cleanup_buffer struct buffer out = { 0 };
	text_append_valid(&out, "a\0b\xff", 4);
	assert_string_equal(out.data,
		"a\xef\xbf\xbd"
		"b\xef\xbf\xbd");
	assert_true(text_is_utf8(out.data, out.length));
}

/* A submission may print nothing but invalid bytes. If each byte required a look at all others,
 * this test would take hours. */
static void invalid_bytes_cost_no_more_than_others(void **state)
{
	(void)state;
	static const char *const patterns[] = { "\0\0", "\0a", "\xff\xff",
		"\xff"
		"a",
		"\xe2\x82" };
	enum { pairs = 1024 * 1024 };
	for (size_t i = 0; i < COUNT(patterns); i++) {
		cleanup_buffer struct buffer bytes = { 0 }, out = { 0 };
		for (size_t pair = 0; pair < pairs; pair++)
			buffer_append(&bytes, patterns[i], 2);
		text_append_valid(&out, bytes.data, bytes.length);
		assert_int_equal(out.length, (patterns[i][1] == 'a' ? 4 : 6) * (size_t)pairs);
	}
}

static void small_and_large_arena_blocks_are_separate_and_zeroed(void **state)
{
	(void)state;
	cleanup_arena struct arena *arena = arena_new();
	char *all[200];
	for (size_t i = 0; i < COUNT(all); i++) {
		size_t size = i % 7 == 0 ? 40000 : i * 13 + 1;
		all[i] = arena_alloc(arena, size);
		assert_int_equal((uintptr_t)all[i] % _Alignof(max_align_t), 0);
		for (size_t at = 0; at < size; at++)
			assert_int_equal(all[i][at], 0);
		memset(all[i], (int)i + 1, size);
	}
	for (size_t i = 0; i < COUNT(all); i++)
		assert_int_equal((unsigned char)all[i][0], (unsigned char)(i + 1));
	assert_string_equal(arena_printf(arena, "%s-%d", "x", 5), "x-5");
	assert_null(arena_strdup(arena, NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(utf8_ends_at_the_first_bad_byte),
		cmocka_unit_test(characters_are_counted_not_bytes),
		cmocka_unit_test(names_are_ascii_words),
		cmocka_unit_test(control_characters_are_written_in_hexadecimal),
		cmocka_unit_test(control_characters_have_visible_marks),
		cmocka_unit_test(bytes_become_valid_utf8),
		cmocka_unit_test(invalid_bytes_cost_no_more_than_others),
		cmocka_unit_test(small_and_large_arena_blocks_are_separate_and_zeroed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
