#include "cgi/render/chart.h"
#include "cgi/render/chart_scale.h"
#include "lib/base/scope.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define POINTS(...) \
	.points = (const struct chart_point[]){ __VA_ARGS__ }, \
	.count = sizeof(const struct chart_point[]){ __VA_ARGS__ } / sizeof(struct chart_point)
#define AT(text) moment(text)

static double moment(const char *text)
{
	int64_t ms;
	assert_int_equal(parse_utc(text, &ms), 0);
	return (double)ms;
}

static char *drawn(const struct chart *chart)
{
	struct buffer out = { 0 };
	html_chart(&out, chart);
	return out.data ? out.data : strdup("");
}

static void assert_contains(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("%s is not in %.4000s", part, text);
}

static size_t times(const char *text, const char *part)
{
	size_t count = 0;
	for (; (text = strstr(text, part)); text += strlen(part))
		count++;
	return count;
}

/* Returns the labels of a scale's ticks, such as "20 µs, 40 µs". The caller frees the text. */
static char *labels(
	const struct chart_scale *scale, void (*label)(format_text, const struct chart_scale *, double))
{
	struct buffer out = { 0 };
	for (size_t i = 0; i < scale->tick_count; i++) {
		format_text text;
		label(text, scale, scale->ticks[i]);
		buffer_printf(&out, "%s%s", i ? ", " : "", text);
	}
	return out.data ? out.data : strdup("");
}

/* ---- scales ---- */

static void durations_have_ticks_at_round_numbers(void **state)
{
	(void)state;
	static const struct {
		double low, high;
		const char *labels;
	} cases[] = {
		{ 21e3, 58e3, "20 µs, 30 µs, 40 µs, 50 µs, 60 µs" },
		{ 31.912e3, 31.948e3, "31.91 µs, 31.92 µs, 31.93 µs, 31.94 µs, 31.95 µs" },
		{ 900e3, 1.2e6, "0.9 ms, 1.0 ms, 1.1 ms, 1.2 ms" },
		{ 1e3, 1e3, "0.990 µs, 0.995 µs, 1.000 µs, 1.005 µs, 1.010 µs" },
		{ 2, 7, "2 ns, 3 ns, 4 ns, 5 ns, 6 ns, 7 ns" },
		{ 14e3, 85e3, "15 µs, 20 µs, 30 µs, 40 µs, 50 µs, 70 µs" },
		{ 1e3, 90e3, "1 µs, 2 µs, 5 µs, 10 µs, 20 µs, 50 µs, 100 µs" },
		{ 1, 1e10, "1 ns, 100 ns, 10 µs, 1 ms, 100 ms, 10 s" },
		{ 1e2, 1e6, "100 ns, 1 µs, 10 µs, 100 µs, 1 ms" },
	};
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct chart_scale scale = chart_scale_durations(cases[i].low, cases[i].high);
		cleanup_free char *text = labels(&scale, chart_duration_label);
		assert_string_equal(text, cases[i].labels);
	}
}

static void any_two_durations_have_a_scale_with_ticks(void **state)
{
	(void)state;
	srandom(5);
	for (int i = 0; i < 20000; i++) {
		double low = pow(10, (double)(random() % 1100) / 100),
			   high = low * (1 + pow(10, (double)(random() % 1200) / 100 - 8));
		struct chart_scale scale = chart_scale_durations(low, high);
		assert_true(scale.low < scale.high && scale.low <= low * (1 + 1e-9)
			&& scale.high >= high * (1 - 1e-9));
		assert_true(scale.tick_count >= 2 && scale.tick_count <= chart_most_ticks);
		for (size_t t = 1; t < scale.tick_count; t++)
			assert_true(scale.ticks[t] > scale.ticks[t - 1]);
		assert_true(scale.is_logarithmic == (high > 5 * low));
	}
}

static void moments_have_ticks_at_round_times(void **state)
{
	(void)state;
	static const struct {
		const char *first, *last, *labels;
	} cases[] = {
		{ "2026-11-21 06:10", "2026-11-21 06:12",
			"06:10:00, 06:10:30, 06:11:00, 06:11:30, 06:12:00" },
		{ "2026-11-21 06:10", "2026-11-21 10:10", "07:00, 08:00, 09:00, 10:00" },
		{ "2026-11-20 22:00", "2026-11-21 09:00", "21 Nov, 03:00, 06:00, 09:00" },
		{ "2026-11-30 12:00", "2026-12-04 12:00", "1 Dec, 2 Dec, 3 Dec, 4 Dec" },
		{ "2026-11-15", "2026-11-29", "15 Nov, 18 Nov, 21 Nov, 24 Nov, 27 Nov" },
		{ "2026-11-01", "2026-12-01", "2 Nov, 9 Nov, 16 Nov, 23 Nov, 30 Nov" },
		{ "2026-01-31", "2026-05-31", "Feb 2026, Mar 2026, Apr 2026, May 2026" },
		{ "2023-05-01", "2026-05-01", "2024, 2025, 2026" },
	};
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct chart_scale scale = chart_scale_moments(AT(cases[i].first), AT(cases[i].last));
		cleanup_free char *text = labels(&scale, chart_moment_label);
		assert_string_equal(text, cases[i].labels);
	}
}

static void a_single_moment_ends_an_hour(void **state)
{
	(void)state;
	double now = AT("2026-11-21 06:10");
	struct chart_scale scale = chart_scale_moments(now, now);
	cleanup_free char *text = labels(&scale, chart_moment_label);
	assert_true(scale.high == now && chart_percent(&scale, now) == 100);
	assert_string_equal(text, "05:15, 05:30, 05:45, 06:00");
}

static void any_two_moments_have_few_ticks_between_them(void **state)
{
	(void)state;
	srandom(6);
	for (int i = 0; i < 20000; i++) {
		double first = (double)(random() % 4000000000) * 1000,
			   last = first + floor(pow(10, 3 + (double)(random() % 950) / 100));
		struct chart_scale scale = chart_scale_moments(first, last);
		assert_true(scale.tick_count >= 1 && scale.tick_count <= 6);
		for (size_t t = 0; t < scale.tick_count; t++)
			assert_true(scale.ticks[t] >= first && scale.ticks[t] <= last
				&& (!t || scale.ticks[t] > scale.ticks[t - 1]));
	}
}

static void a_value_beyond_the_ends_stays_within_the_chart(void **state)
{
	(void)state;
	const struct chart_scale linear = { .low = 10, .high = 20 },
							 logarithmic = { .low = 1, .high = 100, .is_logarithmic = true };
	assert_true(chart_percent(&linear, 5) == 0 && chart_percent(&linear, 25) == 100
		&& chart_percent(&linear, 15) == 50);
	assert_true(fabs(chart_percent(&logarithmic, 10) - 50) < 1e-9
		&& chart_percent(&logarithmic, 1000) == 100);
}

/* ---- thinning ---- */

static void thinning_keeps_the_ends_and_the_largest_falls(void **state)
{
	(void)state;
	struct chart_point points[] = { { 1, 100 }, { 2, 99 }, { 3, 50 }, { 4, 49.9 }, { 5, 20 },
		{ 6, 19.9 } };
	assert_int_equal(chart_thin(points, 6, 4), 4);
	assert_true(points[0].x == 1 && points[1].x == 3 && points[2].x == 5 && points[3].x == 6);
	assert_int_equal(chart_thin(points, 4, 2), 2);
	assert_true(points[0].x == 1 && points[1].x == 6);
	assert_int_equal(chart_thin(points, 2, 2), 2);
	assert_int_equal(chart_thin(points, 1, 2), 1);
	assert_int_equal(chart_thin(points, 0, 2), 0);
}

/* ---- drawing ---- */

static void a_best_time_lasts_until_it_is_beaten(void **state)
{
	(void)state;
	double day = 24 * 3600e3;
	const struct chart_line line = { .style = 0, POINTS({ 0, 40 }, { day, 30 }, { 4 * day, 20 }) };
	const struct chart chart = {
		.id = "trend", .alternative = "Best times", .lines = &line, .line_count = 1
	};
	cleanup_free char *svg = drawn(&chart);
	assert_contains(svg, "d=\"M0 0H250V500H1000V1000H1000\"");
	assert_int_equal(times(svg, "<use href=\"#trend-1\""), 3);
	assert_contains(svg, "<use href=\"#trend-1\" x=\"25%\" y=\"50%\"/>");
	assert_contains(svg, ">2 Jan</text>");
	assert_contains(svg, ">40 ns</text>");
}

static void a_time_axis_ends_where_the_chart_says_but_not_before_the_last_point(void **state)
{
	(void)state;
	const struct chart_line line = { .style = 0,
		POINTS({ AT("2026-01-01"), 40 }, { AT("2026-01-02"), 20 }) };
	struct chart chart = { .id = "trend", .alternative = "", .lines = &line, .line_count = 1 };
	static const struct {
		const char *end, *path;
	} cases[] = { { "2026-01-05", "d=\"M0 0H250V1000H1000\"" },
		{ "2026-01-02", "d=\"M0 0H1000V1000H1000\"" },
		{ "2025-12-01", "d=\"M0 0H1000V1000H1000\"" } };
	for (size_t i = 0; i < COUNT(cases); i++) {
		chart.end_ms = AT(cases[i].end);
		cleanup_free char *svg = drawn(&chart);
		assert_contains(svg, cases[i].path);
	}
}

static void an_axis_of_names_has_room_at_both_ends(void **state)
{
	(void)state;
	const char *names[] = { "A100", "H200" };
	const struct chart_line line = { .style = 3, POINTS({ 0, 40 }, { 1, 20 }) };
	const struct chart chart = { .id = "gpus",
		.alternative = "",
		.lines = &line,
		.line_count = 1,
		.names = names,
		.name_count = 2 };
	cleanup_free char *svg = drawn(&chart);
	assert_contains(svg, "d=\"M166.7 37.04L833.3 899.2\"");
	assert_contains(svg, "text-anchor=\"middle\">A100</text>");
	assert_contains(svg, "text-anchor=\"middle\">H200</text>");
}

static void values_that_are_no_times_are_left_out(void **state)
{
	(void)state;
	const char *names[] = { "a", "b", "c", "d", "e" };
	const struct chart_line lines[] = {
		{ .style = 0, POINTS({ 0, 40 }, { 1, NAN }, { 2, 0 }, { 3, -1 }, { 4, 20 }) },
		{ .style = 1, POINTS({ 0, NAN }) },
	};
	const struct chart chart = { .id = "x",
		.alternative = "",
		.lines = lines,
		.line_count = 2,
		.names = names,
		.name_count = 5 };
	cleanup_free char *svg = drawn(&chart);
	assert_contains(svg, "d=\"M55.56 37.04L944.4 899.2\"");
	assert_int_equal(times(svg, "<use "), 2);
	assert_int_equal(times(svg, "nan"), 0);
}

static void no_axis_shows_times_that_cannot_be_resolved(void **state)
{
	(void)state;
	const char *names[] = { "a", "b" };
	const struct chart_line lines[] = { { .style = 0, POINTS({ 0, 1 }, { 1, 40 }) },
		{ .style = 0, POINTS({ 0, 1 }, { 1, 1 }) } };
	for (size_t i = 0; i < COUNT(lines); i++) {
		const struct chart chart = { .id = "x",
			.alternative = "",
			.lines = &lines[i],
			.line_count = 1,
			.names = names,
			.name_count = 2 };
		cleanup_free char *svg = drawn(&chart);
		assert_contains(svg, ">10 ns</text>");
		assert_int_equal(times(svg, ">1 ns</text>") + times(svg, ">5 ns</text>"), 0);
		assert_int_equal(times(svg, ">1.00 ns</text>") + times(svg, ">1.000 ns</text>"), 0);
		assert_contains(svg, "d=\"M166.7 1000");
	}
}

static void without_data_there_is_no_chart(void **state)
{
	(void)state;
	const struct chart_line none = { .style = 0 },
							useless = { .style = 0, POINTS({ NAN, 1 }, { 1, NAN }) };
	const struct chart charts[] = {
		{ .id = "x", .alternative = "" },
		{ .id = "x", .alternative = "", .lines = &none, .line_count = 1 },
		{ .id = "x", .alternative = "", .lines = &useless, .line_count = 1 },
	};
	for (size_t i = 0; i < COUNT(charts); i++) {
		cleanup_free char *svg = drawn(&charts[i]);
		assert_string_equal(svg, "");
	}
}

/* In the key, the attributes after class="line-N" must differ between all styles. */
static void every_line_is_distinguishable_without_colour(void **state)
{
	(void)state;
	char *keys[chart_styles + 1];
	for (size_t i = 0; i <= chart_styles; i++) {
		struct buffer out = { 0 };
		html_chart_key(&out, i, false);
		const char *after_class = strstr(out.data, "width=");
		keys[i] = strdup(after_class);
		buffer_free(&out);
		for (size_t before = 0; before < i; before++)
			assert_string_not_equal(keys[i], keys[before]);
	}
	for (size_t i = 0; i <= chart_styles; i++) {
		assert_contains(keys[i], "stroke=\"currentColor\"");
		free(keys[i]);
	}
}

static void the_record_line_is_thicker_and_below_the_users(void **state)
{
	(void)state;
	const struct chart_line lines[] = { { .style = 0, POINTS({ 0, 1 }) },
		{ .style = chart_record, POINTS({ 0, 1 }) } };
	const struct chart chart = { .id = "x", .alternative = "", .lines = lines, .line_count = 2 };
	cleanup_free char *svg = drawn(&chart);
	assert_contains(
		svg, "<path class=\"record\" fill=\"none\" stroke=\"currentColor\" stroke-width=\"4\"");
	assert_true(strstr(svg, "class=\"record\"") < strstr(svg, "class=\"line-1\""));
	assert_int_equal(times(svg, "<use "), 1);
}

static void your_own_line_differs_in_more_than_its_colour(void **state)
{
	(void)state;
	const struct chart_line lines[] = { { .style = 0, POINTS({ 0, 2 }, { 1e7, 1 }) },
		{ .style = 1, .is_own = true, POINTS({ 0, 3 }, { 1e7, 2 }, { 2e7, 1.5 }) } };
	const struct chart chart = { .id = "x", .alternative = "", .lines = lines, .line_count = 2 };
	cleanup_free char *svg = drawn(&chart);
	assert_contains(
		svg, "<path class=\"line-1\" fill=\"none\" stroke=\"currentColor\" stroke-width=\"2\"");
	assert_contains(
		svg, "<path class=\"line-2\" fill=\"none\" stroke=\"currentColor\" stroke-width=\"4\"");
	/* The user's own line comes later, so it is drawn above the other one. */
	assert_true(strstr(svg, "<path class=\"line-1\"") < strstr(svg, "<path class=\"line-2\""));
	assert_int_equal(times(svg, "<circle"), 3);
	assert_int_equal(times(svg, ">you</text>"), 1);
	assert_contains(svg, "stroke-width=\"4\" stroke-dasharray=\"none\"");
	cleanup_buffer struct buffer own = { 0 }, other = { 0 };
	html_chart_key(&own, 1, true);
	html_chart_key(&other, 1, false);
	assert_int_equal(times(own.data, "<circle"), 1);
	assert_int_equal(times(other.data, "<circle"), 0);
}

static void only_the_first_three_and_the_readers_own_line_stand_out(void **state)
{
	(void)state;
	static const struct {
		size_t style;
		bool is_own;
		const char *start;
	} cases[] = { { 2, false, "class=\"chart-key line-3\"" },
		{ 3, false, "class=\"chart-key quiet\"" }, { 3, true, "class=\"chart-key line-4\"" },
		{ chart_record, false, "class=\"chart-key record\"" } };
	for (size_t i = 0; i < COUNT(cases); i++) {
		cleanup_buffer struct buffer out = { 0 };
		html_chart_key(&out, cases[i].style, cases[i].is_own);
		assert_contains(out.data, cases[i].start);
	}
}

static void marks_are_aligned_and_named_where_there_is_room(void **state)
{
	(void)state;
	const struct chart_line line = { .style = 0, POINTS({ 0, 100 }, { 1e7, 50 }) };
	const struct chart_mark marks[] = { { "far <below>", 1, true }, { "a bound", 40, true },
		{ "a <time>", 120, false }, { "another", 121, false } };
	const struct chart chart = { .id = "x",
		.alternative = "",
		.lines = &line,
		.line_count = 1,
		.marks = marks,
		.mark_count = COUNT(marks) };
	static const bool room[] = { false, true, true, true };
	cleanup_free char *svg = drawn(&chart);
	for (size_t i = 0; i < COUNT(marks); i++)
		assert_int_equal(chart_has_room(&chart, &marks[i]), room[i]);
	assert_int_equal(times(svg, "<line class=\"mark-bound\""), 1);
	assert_int_equal(times(svg, "<line class=\"mark-time\""), 2);
	assert_contains(svg, ">a bound</text>");
	assert_contains(svg, ">↓ far &lt;below&gt;, 1.000 ns</text>");
	assert_contains(svg, ">a &lt;time&gt;</text>");
	assert_int_equal(times(svg, ">another</text>"), 0); /* it would overlap the previous name */
	const struct chart equal = { .id = "x",
		.alternative = "",
		.lines = &(struct chart_line){ .style = 0, POINTS({ 0, 100 }) },
		.line_count = 1 };
	assert_true(chart_has_room(&equal, &(struct chart_mark){ "", 149, false }));
	assert_false(chart_has_room(&equal, &(struct chart_mark){ "", 151, false }));
	const struct chart none = {
		.id = "x", .alternative = "", .marks = marks, .mark_count = COUNT(marks)
	};
	cleanup_free char *nothing = drawn(&none);
	assert_string_equal(nothing, "");
}

static void names_and_the_text_alternative_are_escaped(void **state)
{
	(void)state;
	const char *names[] = { "<b>\"&" };
	const struct chart_line line = { .style = 0, POINTS({ 0, 1 }) };
	const struct chart chart = { .id = "x",
		.alternative = "\"><script>",
		.lines = &line,
		.line_count = 1,
		.names = names,
		.name_count = 1 };
	cleanup_free char *svg = drawn(&chart);
	assert_contains(svg, "&lt;b&gt;&quot;&amp;</text>");
	assert_contains(svg, "aria-label=\"&quot;&gt;&lt;script&gt;\"");
	assert_int_equal(times(svg, "<script"), 0);
}

static void a_bar_is_as_long_as_its_share(void **state)
{
	(void)state;
	static const struct {
		double part;
		const char *width;
	} cases[] = { { .25, "width=\"25%\"" }, { 1, "width=\"100%\"" }, { 2, "width=\"88%\"" },
		{ -1, "width=\"0%\"" } };
	for (size_t i = 0; i < COUNT(cases); i++) {
		cleanup_buffer struct buffer out = { 0 };
		html_chart_bar(&out, cases[i].part);
		assert_contains(strstr(out.data, "<rect"), cases[i].width);
	}
	cleanup_buffer struct buffer none = { 0 };
	html_chart_bar(&none, NAN);
	assert_int_equal(none.length, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(durations_have_ticks_at_round_numbers),
		cmocka_unit_test(any_two_durations_have_a_scale_with_ticks),
		cmocka_unit_test(moments_have_ticks_at_round_times),
		cmocka_unit_test(a_single_moment_ends_an_hour),
		cmocka_unit_test(any_two_moments_have_few_ticks_between_them),
		cmocka_unit_test(a_value_beyond_the_ends_stays_within_the_chart),
		cmocka_unit_test(thinning_keeps_the_ends_and_the_largest_falls),
		cmocka_unit_test(a_best_time_lasts_until_it_is_beaten),
		cmocka_unit_test(a_time_axis_ends_where_the_chart_says_but_not_before_the_last_point),
		cmocka_unit_test(an_axis_of_names_has_room_at_both_ends),
		cmocka_unit_test(values_that_are_no_times_are_left_out),
		cmocka_unit_test(no_axis_shows_times_that_cannot_be_resolved),
		cmocka_unit_test(without_data_there_is_no_chart),
		cmocka_unit_test(every_line_is_distinguishable_without_colour),
		cmocka_unit_test(the_record_line_is_thicker_and_below_the_users),
		cmocka_unit_test(your_own_line_differs_in_more_than_its_colour),
		cmocka_unit_test(only_the_first_three_and_the_readers_own_line_stand_out),
		cmocka_unit_test(marks_are_aligned_and_named_where_there_is_room),
		cmocka_unit_test(names_and_the_text_alternative_are_escaped),
		cmocka_unit_test(a_bar_is_as_long_as_its_share),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
