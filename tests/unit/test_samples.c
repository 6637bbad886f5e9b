#include "cgi/render/samples.h"
#include "lib/base/scope.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SAMPLES(...) \
	{ \
		.ns = (const double[]){ __VA_ARGS__ }, \
		.count = sizeof(const double[]){ __VA_ARGS__ } / sizeof(double), .time_ns = NAN, \
		.blocks = INT64_MIN \
	}

static struct interval interval_within(double low_ns, double high_ns)
{
	const double time_ns = (low_ns + high_ns) / 2;
	return interval_of(time_ns, (high_ns - time_ns) / interval_standard_errors);
}

static char *picture_of(const struct samples *samples)
{
	struct buffer out = { 0 };
	html_samples(&out, samples);
	return out.data ? out.data : strdup("");
}

/* Returns the data of the picture's path with this class, or "" if there is none. The caller frees
 * the text. */
static char *path_of(const char *picture, const char *class)
{
	cleanup_buffer struct buffer before = { 0 };
	buffer_printf(&before, "class=\"%s\" d=\"", class);
	const char *found = strstr(picture, before.data);
	return found ? strndup(found + before.length, strcspn(found + before.length, "\""))
				 : strdup("");
}

static size_t count_of(const char *text, char letter)
{
	size_t count = 0;
	for (; *text; text++)
		count += *text == letter;
	return count;
}

static void assert_contains(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("%s is not in %.2000s", part, text);
}

static void numbers_are_read_as_the_judge_writes_them(void **state)
{
	(void)state;
	cleanup_arena struct arena *arena = arena_new();
	static const unsigned char bytes[] = { 0x00, 0x00, 0x80, 0x3f, 0x00, 0x00, 0xc0, 0x7f, 0x00,
		0x38, 0xf9, 0x46, 0x01 };
	size_t count;
	const double *numbers = samples_read(arena, bytes, sizeof bytes, &count);
	assert_int_equal(count, 3); /* the bytes after the third float are ignored */
	assert_true(numbers[0] == 1 && isnan(numbers[1]) && numbers[2] == 31900);
	samples_read(arena, NULL, 0, &count);
	assert_int_equal(count, 0);
}

static void without_data_there_is_no_picture(void **state)
{
	(void)state;
	struct samples_range range;
	const struct samples none = { 0 }, useless = SAMPLES(NAN, INFINITY, -INFINITY);
	const struct samples *both[] = { &none, &useless };
	for (size_t i = 0; i < COUNT(both); i++) {
		cleanup_free char *picture = picture_of(both[i]);
		assert_string_equal(picture, "");
		assert_false(samples_range(both[i], &range));
	}
}

static void one_call_is_a_dot_in_the_middle(void **state)
{
	(void)state;
	const struct samples one = SAMPLES(31900);
	cleanup_free char *picture = picture_of(&one), *calls = path_of(picture, "calls few");
	assert_string_equal(calls, "M300 50v0.01");
	assert_contains(picture, "role=\"img\" aria-label=\"1 call: median 31.90 µs\"");
}

static void equal_calls_are_a_line_in_the_middle(void **state)
{
	(void)state;
	struct samples equal = SAMPLES(1, 1, 1, 1);
	struct samples_range range;
	equal.time_ns = 1;
	cleanup_free char *picture = picture_of(&equal), *calls = path_of(picture, "calls few"),
					  *line = path_of(picture, "time");
	assert_string_equal(calls, "M75 50v0.01M225 50v0.01M375 50v0.01M525 50v0.01");
	assert_string_equal(line, "M0 50h600");
	assert_true(samples_range(&equal, &range));
	assert_true(range.bottom_ns == 0 && range.top_ns == 2 && !range.above && !range.below);
}

static void the_fastest_is_at_the_bottom_and_the_slowest_at_the_top(void **state)
{
	(void)state;
	const struct samples three = SAMPLES(100, 300, 200);
	cleanup_free char *picture = picture_of(&three), *calls = path_of(picture, "calls few"),
					  *beyond = path_of(picture, "beyond");
	assert_string_equal(calls, "M100 92v0.01M300 8v0.01M500 50v0.01");
	assert_string_equal(beyond, "");
	assert_contains(
		picture, "\"3 calls: median 200.0 ns, the fastest 100.0 ns, the slowest 300.0 ns\"");
}

static void values_that_are_not_finite_leave_a_gap(void **state)
{
	(void)state;
	const struct samples some = SAMPLES(100, NAN, 200);
	cleanup_free char *picture = picture_of(&some), *calls = path_of(picture, "calls few");
	assert_string_equal(calls, "M100 92v0.01M500 8v0.01");
	assert_contains(picture, "\"2 calls:");
}

static void distant_calls_are_marked_at_the_edge(void **state)
{
	(void)state;
	double ns[100];
	for (size_t i = 0; i < COUNT(ns); i++)
		ns[i] = 30000 + 10 * (double)(i % 10);
	ns[40] = 1e9;
	ns[60] = 3.4e38;
	ns[80] = 1;
	const struct samples samples = { .ns = ns, .count = COUNT(ns), .time_ns = NAN };
	struct samples_range range;
	cleanup_free char *picture = picture_of(&samples), *calls = path_of(picture, "calls"),
					  *beyond = path_of(picture, "beyond");
	assert_true(samples_range(&samples, &range));
	assert_int_equal(range.above, 2);
	assert_int_equal(range.below, 1);
	assert_true(range.bottom_ns == 30000 && range.top_ns == 30090);
	assert_int_equal(count_of(calls, 'M'), 97);
	assert_string_equal(beyond, "M239 7l4-5l4 5M359 7l4-5l4 5M479 93l4 5l4-5");
	assert_contains(picture, ", 3 beyond the edges of the picture\"");
}

static void the_interval_is_visible_if_it_is_wider_than_the_calls(void **state)
{
	(void)state;
	struct samples samples = SAMPLES(1000, 1001, 1002, 1003);
	struct samples_range range;
	samples.interval = interval_within(995, 1010);
	assert_true(samples_range(&samples, &range));
	assert_true(range.bottom_ns == 995 && range.top_ns == 1010 && !range.below && !range.above);
	samples.interval = interval_within(100, 9000); /* too wide: it would squash the calls */
	assert_true(samples_range(&samples, &range));
	assert_true(range.bottom_ns == 1000 && range.top_ns == 1003);
}

static void thousands_of_calls_become_strokes(void **state)
{
	(void)state;
	double ns[4000];
	for (size_t i = 0; i < COUNT(ns); i++)
		ns[i] = 1000 + (double)(i * 7919 % 1000);
	const struct samples samples = { .ns = ns,
		.count = COUNT(ns),
		.time_ns = 1500,
		.interval = interval_within(1490, 1510),
		.blocks = 160 };
	cleanup_free char *picture = picture_of(&samples), *calls = path_of(picture, "calls many"),
					  *borders = path_of(picture, "borders");
	assert_int_equal(count_of(calls, 'M'), 240);
	assert_true(strlen(picture) < 8000);
	assert_string_equal(borders, ""); /* thousands of borders would be a grey area */
}

static void interval_time_and_borders_of_blocks_are_drawn(void **state)
{
	(void)state;
	struct samples samples = SAMPLES(100, 200, 300, 100, 200, 300);
	samples.time_ns = 200, samples.interval = interval_within(150, 250), samples.blocks = 3;
	cleanup_free char *picture = picture_of(&samples), *borders = path_of(picture, "borders");
	assert_contains(picture, "<rect class=\"interval\" width=\"600\" y=\"29\" height=\"42\"/>");
	assert_string_equal(borders, "M200 0v100M400 0v100");
	assert_contains(picture, "<path class=\"time\" d=\"M0 50h600\"/>");
	assert_contains(picture, "95 % interval of the time 150 to 250 ns");
	samples.interval = interval_within(0, 1e300); /* stays inside the picture */
	cleanup_free char *wide = picture_of(&samples);
	assert_contains(wide, "<rect class=\"interval\" width=\"600\" y=\"8\" height=\"84\"/>");
	samples.interval = interval_of(200, (double)NAN);
	cleanup_free char *none = picture_of(&samples);
	assert_null(strstr(none, "interval\""));
	samples.time_ns = NAN;
	cleanup_free char *unknown = picture_of(&samples);
	assert_null(strstr(unknown, "time\""));
	samples.blocks = 7;
	cleanup_free char *more_than_calls = picture_of(&samples);
	assert_null(strstr(more_than_calls, "borders"));
}

/* For any numbers the output is well-formed, and every coordinate is inside the picture. */
static void no_number_breaks_the_picture(void **state)
{
	(void)state;
	static const double odd[] = { 0, -0.0, 1, -1, 1e-300, 1e300, -1e300, 3.4e38, -3.4e38, NAN,
		INFINITY, -INFINITY, 31900 };
	for (unsigned int seed = 0; seed < 300; seed++) {
		double ns[9];
		unsigned int random = seed;
		for (size_t i = 0; i < COUNT(ns); i++)
			ns[i] = odd[(random = random * 1103515245 + 12345) / 65536 % COUNT(odd)];
		const struct samples samples = { .ns = ns,
			.count = 1 + seed % COUNT(ns),
			.time_ns = ns[0],
			.interval = interval_of(ns[1], ns[2]),
			.blocks = seed % 5 };
		cleanup_free char *picture = picture_of(&samples);
		char *begin = strstr(picture, "\" viewBox");
		assert_true(!*picture || (begin && strcmp(picture + strlen(picture) - 6, "</svg>") == 0));
		assert_null(begin ? strstr(begin, "nan") : NULL);
		assert_null(begin ? strstr(begin, "inf") : NULL);
		assert_null(begin ? strstr(begin, "e+") : NULL);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_are_read_as_the_judge_writes_them),
		cmocka_unit_test(without_data_there_is_no_picture),
		cmocka_unit_test(one_call_is_a_dot_in_the_middle),
		cmocka_unit_test(equal_calls_are_a_line_in_the_middle),
		cmocka_unit_test(the_fastest_is_at_the_bottom_and_the_slowest_at_the_top),
		cmocka_unit_test(values_that_are_not_finite_leave_a_gap),
		cmocka_unit_test(distant_calls_are_marked_at_the_edge),
		cmocka_unit_test(the_interval_is_visible_if_it_is_wider_than_the_calls),
		cmocka_unit_test(thousands_of_calls_become_strokes),
		cmocka_unit_test(interval_time_and_borders_of_blocks_are_drawn),
		cmocka_unit_test(no_number_breaks_the_picture),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
