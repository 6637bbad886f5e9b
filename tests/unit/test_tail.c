#include "lib/base/scope.h"
#include "lib/base/text.h"
#include "worker/run/sandbox/tail.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Writes to `out` the tail that is sent after these bytes have arrived in one piece. */
static void tail_of(
	struct buffer *out, const char *bytes, size_t length, bool only_kept, const char *secret)
{
	static struct capture capture;
	memset(&capture, 0, sizeof capture);
	capture_add(&capture, bytes, length);
	buffer_clear(out);
	tail_append(out, &capture, only_kept);
	tail_cut(out, secret);
	assert_true(text_is_utf8(buffer_string(out), out->length));
	assert_true(out->length <= tail_most_bytes);
}

static void assert_tail(const char *bytes, const char *expected)
{
	cleanup_buffer struct buffer out = { 0 };
	tail_of(&out, bytes, strlen(bytes), false, "");
	assert_string_equal(buffer_string(&out), expected);
}

static void plain_text_is_unchanged(void **state)
{
	(void)state;
	assert_tail("", "");
	assert_tail("one\n\ttwo µ\n", "one\n\ttwo µ\n");
	assert_tail("without an end", "without an end");
}

static void control_sequences_are_removed(void **state)
{
	(void)state;
	assert_tail("\033[1;31mred\033[0m, \033[2K\033[?25lhidden\033(B", "red, hidden");
	assert_tail("\033]0;a title\aplain \033]8;;http://x\033\\link\033]8;;\033\\", "plain link");
	assert_tail("\033]never ended\nnext", "\nnext");
	assert_tail("a\bb\x7f\v\x01", "ab");
	assert_tail("\xe2\x80\xaeturned\xc2\x9b", "turned");
	assert_tail("cut off \033", "cut off ");
	assert_tail("cut off \033[3", "cut off ");
	assert_tail("cut off \033P", "cut off ");
}

static void an_overwritten_line_shows_its_final_text(void **state)
{
	(void)state;
	assert_tail("10 %\r50 %\r100 %\ndone\r\n", "100 %\ndone\n");
	assert_tail("kept\n1 %\r2 %\r", "kept\n2 %");
	assert_tail("\r\r\n", "\n");
}

static void invalid_bytes_are_replaced(void **state)
{
	(void)state;
	cleanup_buffer struct buffer out = { 0 };
	tail_of(&out, "a\0b\xff\xc3(", 6, false, "");
	assert_string_equal(buffer_string(&out),
		"a\xef\xbf\xbd"
		"b\xef\xbf\xbd\xef\xbf\xbd(");
	char noise[100000];
	uint32_t next = 1;
	for (size_t i = 0; i < sizeof noise; i++)
		noise[i] = (char)((next = next * 1664525 + 1013904223) >> 24);
	for (size_t length = 0; length < sizeof noise; length += 997)
		tail_of(&out, noise, length, length % 2, "12345");
}

static void the_last_whole_lines_are_shown(void **state)
{
	(void)state;
	cleanup_buffer struct buffer all = { 0 }, out = { 0 };
	for (int i = 0; i < 30000; i++)
		buffer_printf(&all, "line %d µ\n", i);
	tail_of(&out, all.data, all.length, false, "");
	assert_true(out.length > tail_most_bytes - 20);
	assert_true(strncmp(out.data, "line ", 5) == 0);
	assert_string_equal(out.data, all.data + all.length - out.length);
}

static void a_line_without_an_end_shows_its_last_bytes(void **state)
{
	(void)state;
	cleanup_buffer struct buffer all = { 0 }, out = { 0 };
	while (all.length < 200000)
		buffer_text(&all, "µ");
	tail_of(&out, all.data, all.length, false, "");
	assert_true(out.length >= tail_most_bytes - 4);
	assert_memory_equal(out.data, all.data, out.length);
}

/* Checks texts of short and of long lines, cut at many lengths up to more than the log keeps. */
static void output_beyond_the_log_can_be_left_out(void **state)
{
	(void)state;
	static const int line_lengths[] = { 8, 300, 1500, 5000 };
	static struct capture whole;
	for (size_t i = 0; i < COUNT(line_lengths); i++) {
		cleanup_buffer struct buffer all = { 0 }, out = { 0 }, log = { 0 };
		for (int line = 0; all.length < 4 * capture_half_bytes; line++)
			buffer_printf(&all, "%0*d\n", line_lengths[i] - 1, line);
		memset(&whole, 0, sizeof whole);
		capture_add(&whole, all.data, all.length);
		capture_text(&whole, &log);
		for (size_t length = 1000; length < all.length; length += 313) {
			tail_of(&out, all.data, length, true, "");
			assert_non_null(strstr(log.data, buffer_string(&out)));
		}
		assert_true(out.length > 0);
	}
}

static void an_unfinished_secret_is_held_back(void **state)
{
	(void)state;
	cleanup_buffer struct buffer out = { 0 };
	tail_of(&out, "seed 98765", 10, false, "987654321");
	assert_string_equal(buffer_string(&out), "seed ");
	tail_of(&out, "seed 98767", 10, false, "987654321");
	assert_string_equal(buffer_string(&out), "seed 98767");
	tail_of(&out, "98", 2, false, "987654321");
	assert_string_equal(buffer_string(&out), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plain_text_is_unchanged),
		cmocka_unit_test(control_sequences_are_removed),
		cmocka_unit_test(an_overwritten_line_shows_its_final_text),
		cmocka_unit_test(invalid_bytes_are_replaced),
		cmocka_unit_test(the_last_whole_lines_are_shown),
		cmocka_unit_test(a_line_without_an_end_shows_its_last_bytes),
		cmocka_unit_test(output_beyond_the_log_can_be_left_out),
		cmocka_unit_test(an_unfinished_secret_is_held_back),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
