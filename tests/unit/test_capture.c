#include "lib/base/scope.h"
#include "lib/base/text.h"
#include "worker/run/sandbox/capture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { most = 2 * capture_half_bytes };

/* Captures `length` bytes of numbered lines in pieces of `piece` bytes. Returns the kept text. */
static char *capture_lines(size_t length, size_t piece, struct buffer *source)
{
	static struct capture capture;
	memset(&capture, 0, sizeof capture);
	for (int i = 0; source->length < length; i++)
		buffer_printf(source, "line %d µ\n", i);
	for (size_t at = 0; at < length; at += piece)
		capture_add(&capture, source->data + at, piece < length - at ? piece : length - at);
	struct buffer text = { 0 };
	capture_text(&capture, &text);
	assert_true(text_is_utf8(buffer_string(&text), text.length) || length <= most);
	return text.data ? text.data : strdup("");
}

static void short_output_is_kept_whole(void **state)
{
	(void)state;
	static const size_t lengths[] = { 0, 11, capture_half_bytes - 4, capture_half_bytes + 3000,
		most - 3000 };
	for (size_t i = 0; i < COUNT(lengths); i++) {
		cleanup_buffer struct buffer source = { 0 };
		cleanup_free char *text = capture_lines(lengths[i], 1000, &source);
		size_t whole = text_utf8_prefix(buffer_string(&source), lengths[i]);
		assert_memory_equal(text, buffer_string(&source), whole);
	}
}

static void long_output_keeps_both_ends_at_whole_lines(void **state)
{
	(void)state;
	static const size_t pieces[] = { 1, 7, 4096, 65536, 1 << 20 };
	for (size_t i = 0; i < COUNT(pieces); i++) {
		cleanup_buffer struct buffer source = { 0 };
		cleanup_free char *text = capture_lines(300000, pieces[i], &source);
		char *gap = strstr(text, "[... ");
		size_t left_out = 0;
		assert_non_null(gap);
		assert_int_equal(sscanf(gap, "[... %zu bytes left out ...]\n", &left_out), 1);
		char *behind = strchr(gap, '\n') + 1;
		assert_int_equal((size_t)(gap - text) + strlen(behind) + left_out, 300000);
		assert_memory_equal(text, source.data, (size_t)(gap - text));
		assert_true(gap[-1] == '\n');
		assert_true(strncmp(behind, "line ", 5) == 0);
		assert_memory_equal(behind, source.data + 300000 - strlen(behind), strlen(behind));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(short_output_is_kept_whole),
		cmocka_unit_test(long_output_keeps_both_ends_at_whole_lines),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
