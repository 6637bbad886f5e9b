#include "lib/base/buffer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void text_of_every_length_is_appended_whole(void **state)
{
	(void)state;
	char expected[1201];
	memset(expected, 'x', sizeof expected);
	for (int length = 0; length < 1200; length++) {
		cleanup_buffer struct buffer buffer = { 0 };
		buffer_printf(&buffer, "%.*s", length, expected);
		buffer_printf(&buffer, "%s", "");
		assert_int_equal(buffer.length, length);
		assert_memory_equal(buffer.data, expected, (size_t)length);
		assert_int_equal(buffer.data[length], '\0');
	}
}

static void appended_text_follows_the_existing_text(void **state)
{
	(void)state;
	cleanup_buffer struct buffer buffer = { 0 };
	for (int i = 0; i < 400; i++)
		buffer_printf(&buffer, "%03d,", i);
	assert_int_equal(buffer.length, 1600);
	assert_memory_equal(buffer.data + 4 * 399, "399,", 5);
	assert_memory_equal(buffer.data, "000,001,", 8);
}

static void a_cleared_buffer_starts_again_empty(void **state)
{
	(void)state;
	cleanup_buffer struct buffer buffer = { 0 };
	buffer_text(&buffer, "something long enough");
	buffer_clear(&buffer);
	assert_string_equal(buffer_string(&buffer), "");
	buffer_printf(&buffer, "%d", 7);
	assert_string_equal(buffer_string(&buffer), "7");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_of_every_length_is_appended_whole),
		cmocka_unit_test(appended_text_follows_the_existing_text),
		cmocka_unit_test(a_cleared_buffer_starts_again_empty),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
