#include "harness/isolated/statistics.h"
#include "lib/base/format.h"
#include "lib/base/scope.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

static void a_duration_has_four_digits_and_a_fitting_unit(void **state)
{
	(void)state;
	static const struct {
		double ns;
		const char *text;
	} cases[] = {
		{ 0.5, "0.500 ns" },
		{ 312, "312.0 ns" },
		{ 999.4, "999.4 ns" },
		{ 999.96, "1.000 µs" },
		{ 31900, "31.90 µs" },
		{ 999951, "1.000 ms" },
		{ 1204000, "1.204 ms" },
		{ 2.5e9, "2.500 s" },
		{ 1234e9, "1234 s" },
	};
	for (size_t i = 0; i < COUNT(cases); i++) {
		format_text out;
		format_duration_ns(out, cases[i].ns);
		assert_string_equal(out, cases[i].text);
	}
}

/* Includes values halfway between two printable values, as near as a double can be to them. */
static void a_duration_is_rounded_as_printf_does(void **state)
{
	(void)state;
	for (int i = 1000; i < 1999900; i++) {
		format_text out, expected;
		double ns = i / 2000.0;
		format_duration_ns(out, ns);
		snprintf(expected, sizeof expected, "%.*f ns", ns >= 99.995 ? 1 : ns >= 9.9995 ? 2 : 3, ns);
		assert_string_equal(out, expected);
	}
}

/* Includes the neighbors of powers of ten and doubles of all sizes. */
static void a_number_for_programs_reads_back_the_same(void **state)
{
	(void)state;
	format_text out;
	for (int exponent = -320; exponent < 308; exponent++)
		for (double number = nextafter(pow(10, exponent), 0), i = 0; i < 4;
			 i++, number = nextafter(number, INFINITY)) {
			format_real(out, -number);
			assert_true(strtod(out, NULL) == -number);
		}
	uint64_t bits = 1;
	for (int i = 0; i < 400000; i++) {
		bits = bits * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
		double number = ldexp((double)(bits >> 11), (int)(bits % 64) - 60);
		format_real(out, number);
		assert_true(strtod(out, NULL) == number);
	}
}

static void a_number_for_programs_is_short(void **state)
{
	(void)state;
	static const struct {
		double number;
		const char *text;
	} cases[] = {
		{ 0, "0" },
		{ 1, "1" },
		{ -31900, "-31900" },
		{ 0.1, "0.1" },
		{ 0.001, "0.001" },
		{ 0.0101, "0.0101" },
		{ 24759.7, "24759.7" },
		{ 999999999999999, "999999999999999" },
		{ 0.1 + 0.2, "0.30000000000000004" },
		{ 1e300, "1e+300" },
	};
	for (size_t i = 0; i < COUNT(cases); i++) {
		format_text out;
		format_real(out, cases[i].number);
		assert_string_equal(out, cases[i].text);
	}
}

static void a_duration_of_any_size_fits(void **state)
{
	(void)state;
	format_text out;
	format_duration_ns(out, 1e300);
	assert_true(strlen(out) < sizeof out);
	format_measured(out, 1e300, 1e299, NAN);
	assert_true(strlen(out) < sizeof out);
	format_interval(out, interval_of(1e300, 1e299));
	assert_true(strlen(out) < sizeof out);
	format_duration_ns(out, -31900);
	assert_string_equal(out, "-31.90 µs");
	format_gap(out, 1e300, 1);
	assert_true(strlen(out) < sizeof out);
}

static void an_unknown_duration_is_empty(void **state)
{
	(void)state;
	format_text out;
	format_duration_ns(out, (double)NAN);
	assert_string_equal(out, "");
	format_measured(out, (double)INFINITY, 1, NAN);
	assert_string_equal(out, "");
}

/* Half of the interval is 1.96 errors. */
static double err_for(double half_ns)
{
	return half_ns / interval_standard_errors;
}

static void a_time_that_cannot_be_told_from_nothing_is_below_the_least_that_can(void **state)
{
	(void)state;
	format_text out;
	format_measured(out, 1, 2, 500);
	assert_string_equal(out, "< 0.5 µs");
	format_measured(out, 5000, 0, 5000);
	assert_string_equal(out, "< 5 µs");
	format_measured(out, 31900, 100, (double)NAN);
	assert_string_equal(out, "31.90 ± 0.20 µs");
}

static void seconds_have_the_digits_of_the_score(void **state)
{
	(void)state;
	static const struct {
		double ns, half_ns, seconds;
	} rows[] = {
		{ 31904.6, 210, 3.19e-5 },
		{ 31904.6, 21, 3.1905e-5 },
		{ 31904.6, 2.1, 3.19046e-5 },
		{ 999.7, 20, 1e-6 },
		{ 1204567.0, 12000, 1.205e-3 },
		{ 2e6, 0, .002 },
		{ 123456789.0, (double)NAN, .1235 },
		{ 31904.6, (double)NAN, 3.19e-5 },
		{ 12345678901.0, (double)NAN, 12.35 },
	};
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		assert_true(rounded_seconds(rows[i].ns, err_for(rows[i].half_ns)) == rows[i].seconds);
	assert_true(isnan(rounded_seconds((double)NAN, 1)));
	assert_true(rounded_seconds(1e300, 1e299) > 1e290);
}

static void gaps_of_an_entry_are_to_the_fastest_and_to_the_rank_above(void **state)
{
	(void)state;
	static const struct {
		double ns, other_ns;
		const char *fastest, *above;
	} cases[] = {
		{ 1042, 1000, "+4.2 %", "+4.2 %" },
		{ 1000, 1000, "fastest", "equal" },
		{ 999, 1000, "fastest", "0.10 % faster" },
		{ 1000, (double)NAN, "", "" },
	};
	for (size_t i = 0; i < COUNT(cases); i++) {
		format_text out;
		format_fastest_gap(out, cases[i].ns, cases[i].other_ns);
		assert_string_equal(out, cases[i].fastest);
		format_above_gap(out, cases[i].ns, cases[i].other_ns);
		assert_string_equal(out, cases[i].above);
	}
}

static void an_error_has_two_digits_and_the_time_as_many_decimals(void **state)
{
	(void)state;
	static const struct {
		double ns, half;
		const char *with_error, *without;
	} cases[] = {
		{ 31900, 210, "31.90 ± 0.21 µs", "31.90 µs" },
		{ 27300, 15000, "27 ± 15 µs", "27 µs" },
		{ 27300, 1500, "27.3 ± 1.5 µs", "27.3 µs" },
		{ 7.586e6, 2.791e6, "7.6 ± 2.8 ms", "7.6 ms" },
		{ 7.586e6, 9.94e6, "7.6 ± 9.9 ms", "7.6 ms" },
		{ 7.586e6, 9.96e6, "8 ± 10 ms", "8 ms" },
		{ 1234e9, 160e9, "1234 ± 160 s", "1234 s" }, /* never fewer than whole units */
		{ 456, 123, "456 ± 123 ns", "456 ns" },
		{ 363000, 60, "363.000 ± 0.060 µs", "363.000 µs" },
		{ 363000, 99.6, "363.00 ± 0.10 µs", "363.00 µs" },
		{ 5, 7, "5.0 ± 7.0 ns", "5.0 ns" },
		{ 5, 700000, "5 ± 700000 ns", "5 ns" },
		{ 999.7, 20, "1.000 ± 0.020 µs", "1.000 µs" },
		{ 999.4, 20, "999 ± 20 ns", "999 ns" },
		{ 999.96, 0.2, "999.96 ± 0.20 ns", "999.96 ns" },
		{ 999.96, 2, "1.0000 ± 0.0020 µs", "1.0000 µs" },
		{ 1234567, 0.6, "1.234567 ± 0.000001 ms", "1.234567 ms" },
		{ 1234567, 0.4, "1.235 ms", "1.235 ms" }, /* too small to show */
		{ 1234567, 0, "1.235 ms", "1.235 ms" },
		{ 31900, (double)NAN, "31.90 µs ± unknown", "31.90 µs" },
		{ 31900, (double)INFINITY, "31.90 µs ± unknown", "31.90 µs" },
		{ 31900, -1, "31.90 µs ± unknown", "31.90 µs" },
	};
	for (size_t i = 0; i < COUNT(cases); i++) {
		format_text out;
		format_measured(out, cases[i].ns, err_for(cases[i].half), NAN);
		assert_string_equal(out, cases[i].with_error);
		format_score(out, cases[i].ns, err_for(cases[i].half), NAN);
		assert_string_equal(out, cases[i].without);
	}
}

static void an_interval_has_the_digits_of_its_error(void **state)
{
	(void)state;
	static const struct {
		double ns, half;
		const char *text;
	} cases[] = {
		{ 31900, 210, "31.69 to 32.11 µs" },
		{ 100, 0.5, "99.50 to 100.50 ns" },
		{ 363025, 25, "363.000 to 363.050 µs" },
		{ 5, 7, "0.0 to 12.0 ns" }, /* no time is below zero */
		{ 500, 0, "500.0 ns" },
		{ 500, (double)NAN, "at least 4 blocks needed" },
		{ 500, (double)INFINITY, "at least 4 blocks needed" },
		{ (double)NAN, 5, "at least 4 blocks needed" },
	};
	for (size_t i = 0; i < COUNT(cases); i++) {
		format_text out;
		format_interval(out, interval_of(cases[i].ns, err_for(cases[i].half)));
		assert_string_equal(out, cases[i].text);
	}
}

static void an_interval_is_around_its_time_and_never_below_zero(void **state)
{
	(void)state;
	const struct interval usual = interval_of(1000, 10), wide = interval_of(5, 100);
	assert_true(usual.is_known && usual.low_ns == 980.4 && usual.high_ns == 1019.6);
	assert_true(usual.half_ns == 19.6);
	assert_true(wide.is_known && wide.low_ns == 0 && wide.half_ns == 196 && wide.high_ns == 201);
	static const double unknown[] = { NAN, INFINITY, -1 };
	for (size_t i = 0; i < COUNT(unknown); i++) {
		const struct interval none = interval_of(1000, unknown[i]);
		assert_true(!none.is_known && isnan(none.low_ns) && isnan(none.half_ns));
		assert_true(isnan(none.high_ns));
	}
}

/* lib/base repeats the judge's number, because it may not include the judge's header. */
static void an_unknown_interval_names_the_number_of_blocks_that_the_judge_needs(void **state)
{
	(void)state;
	char expected[64];
	snprintf(expected, sizeof expected, "at least %d blocks needed", isolated_least_blocks);
	assert_string_equal(interval_unknown, expected);
}

static void a_gap_is_a_percentage_above_the_best(void **state)
{
	(void)state;
	static const struct {
		double ns, best;
		const char *text;
	} cases[] = {
		{ 100, 100, "" },
		{ 104.2, 100, "+4.2 %" },
		{ 100.01, 100, "+<0.1 %" },
		{ 109.9, 100, "+9.9 %" },
		{ 126.6, 100, "+27 %" },
		{ 2500, 100, "25×" },
		{ 50, 100, "" },
	};
	for (size_t i = 0; i < COUNT(cases); i++) {
		format_text out;
		format_gap(out, cases[i].ns, cases[i].best);
		assert_string_equal(out, cases[i].text);
	}
}

static void times_are_read_as_utc_and_written_back(void **state)
{
	(void)state;
	int64_t ms;
	format_text out;
	assert_int_equal(parse_utc("2026-11-21T06:10", &ms), 0);
	assert_int_equal(ms, 1795241400000);
	format_utc(out, ms);
	assert_string_equal(out, "2026-11-21 06:10 UTC");
	format_iso(out, ms + 123);
	assert_string_equal(out, "2026-11-21T06:10:00.123Z");
	format_iso(out, -1);
	assert_string_equal(out, "1969-12-31T23:59:59.999Z");
	assert_int_equal(parse_utc("2026-11-21", &ms), 0);
	assert_int_equal(parse_utc("2026-11-21 06:10 UTC", &ms), 0);
}

static void dates_match_the_calendar(void **state)
{
	(void)state;
	for (int64_t seconds = -70000000000; seconds < 250000000000;
		 seconds += 86400 * 29 + 12345) { /* from before 0 until 9892 */
		format_text out, expected;
		struct tm utc;
		gmtime_r(&(time_t){ seconds }, &utc);
		if (utc.tm_year < -1900)
			continue;
		format_iso(out, seconds * 1000);
		snprintf(expected, sizeof expected, "%04d-%02d-%02dT%02d:%02d:%02d.000Z",
			utc.tm_year + 1900, utc.tm_mon + 1, utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec);
		assert_string_equal(out, expected);
	}
}

static void an_integer_has_all_its_digits(void **state)
{
	(void)state;
	static const struct {
		int64_t number;
		const char *text;
	} cases[] = {
		{ 0, "0" },
		{ 7, "7" },
		{ -10, "-10" },
		{ INT64_MAX, "9223372036854775807" },
		{ INT64_MIN, "-9223372036854775808" },
	};
	for (size_t i = 0; i < COUNT(cases); i++) {
		format_text out;
		format_integer(out, cases[i].number);
		assert_string_equal(out, cases[i].text);
	}
}

static void a_date_that_does_not_exist_is_refused(void **state)
{
	(void)state;
	static const char *const bad[] = { "", "tomorrow", "2026-02-31", "2026-13-01",
		"2026-11-21 06:10 CET", "99999-01-01" };
	for (size_t i = 0; i < COUNT(bad); i++) {
		int64_t ms;
		assert_int_equal(parse_utc(bad[i], &ms), -1);
	}
}

static void relative_times_read_as_words(void **state)
{
	(void)state;
	static const struct {
		int64_t seconds;
		const char *text;
	} cases[] = {
		{ 0, "just now" },
		{ -4, "just now" },
		{ -59, "59 seconds ago" },
		{ -60, "1 minute ago" },
		{ 3600, "in 1 hour" },
		{ 2 * 86400 + 4 * 3600 + 5, "in 2 days 4 hours" },
		{ -(11 * 3600 + 1800), "11 hours ago" },
		{ -3 * 3600 - 1200, "3 hours ago" },
		{ 400 * 86400, "in 1 year 35 days" },
		{ 90 * 86400 - 1, "in 90 days" },
		{ 89 * 86400 + 11 * 3600, "in 89 days" },
		{ 3 * 86400 - 1, "in 3 days" },
		{ 86400 - 1, "in 1 day" },
		{ 59, "in 59 seconds" },
		{ -90 * 86400 + 1, "89 days ago" },
	};
	for (size_t i = 0; i < COUNT(cases); i++) {
		format_text out;
		format_relative(out, cases[i].seconds * 1000, 0);
		assert_string_equal(out, cases[i].text);
		format_span(out, cases[i].seconds);
		if (cases[i].seconds > 4)
			assert_string_equal(out, cases[i].text + strlen("in "));
	}
}

static void a_change_is_a_percentage_or_a_factor(void **state)
{
	(void)state;
	static const struct {
		double ratio;
		const char *text;
	} cases[] = {
		{ 0.969, "3.1 % faster" },
		{ 0.75, "25 % faster" },
		{ 0.9995, "0.050 % faster" },
		{ 1 - 4e-6, "less than 0.001 % faster" },
		{ 1.4, "40 % slower" },
		{ 0.51, "49 % faster" },
		{ 0.5, "2.00× faster" },
		{ 1.99, "99 % slower" },
		{ 9.9, "9.90× slower" },
		{ 9.999, "10.0× slower" },
		{ 17.4, "17.4× slower" },
		{ 99.97, "100× slower" },
		{ 165574, "165574× slower" },
		{ 1655741, "1.66 million× slower" },
		{ 1e9, "over 1000 million× slower" },
		{ 1 / 1655741.0, "1.66 million× faster" },
		{ 1e300, "over 1000 million× slower" },
		{ 0, "over 1000 million× faster" },
	};
	for (size_t i = 0; i < COUNT(cases); i++) {
		format_text out;
		format_change(out, cases[i].ratio);
		assert_string_equal(out, cases[i].text);
	}
}

static void sizes_are_in_powers_of_a_thousand(void **state)
{
	(void)state;
	static const struct {
		uint64_t bytes;
		const char *text;
	} cases[] = {
		{ 0, "0 bytes" },
		{ 999, "999 bytes" },
		{ 12500, "12.5 kB" },
		{ 150754820096, "151 GB" },
	};
	for (size_t i = 0; i < COUNT(cases); i++) {
		format_text out;
		format_bytes(out, cases[i].bytes);
		assert_string_equal(out, cases[i].text);
	}
}

static void resource_use_has_as_many_digits_as_were_measured(void **state)
{
	(void)state;
	static const struct {
		int64_t ms;
		const char *text;
	} cases[] = {
		{ 0, "0 ms" },
		{ 22, "22 ms" },
		{ 999, "999 ms" },
		{ 1000, "1.00 s" },
		{ 1358, "1.36 s" },
		{ 9999, "10.0 s" },
		{ 75249, "75.2 s" },
		{ -1, "" },
		{ INT64_MIN, "" },
	};
	for (size_t i = 0; i < COUNT(cases); i++) {
		format_text out;
		format_stopwatch(out, cases[i].ms);
		assert_string_equal(out, cases[i].text);
	}
}

static void one_is_singular_and_none_and_many_are_plural(void **state)
{
	(void)state;
	cleanup_arena struct arena *arena = arena_new();
	assert_string_equal(plural(arena, 1, "queued job"), "1 queued job");
	assert_string_equal(plural(arena, 0, "file"), "0 files");
	assert_string_equal(plural(arena, 20000, "submission"), "20000 submissions");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(resource_use_has_as_many_digits_as_were_measured),
		cmocka_unit_test(a_duration_has_four_digits_and_a_fitting_unit),
		cmocka_unit_test(a_duration_is_rounded_as_printf_does),
		cmocka_unit_test(a_number_for_programs_reads_back_the_same),
		cmocka_unit_test(a_number_for_programs_is_short),
		cmocka_unit_test(a_duration_of_any_size_fits),
		cmocka_unit_test(an_unknown_duration_is_empty),
		cmocka_unit_test(a_time_that_cannot_be_told_from_nothing_is_below_the_least_that_can),
		cmocka_unit_test(seconds_have_the_digits_of_the_score),
		cmocka_unit_test(gaps_of_an_entry_are_to_the_fastest_and_to_the_rank_above),
		cmocka_unit_test(an_error_has_two_digits_and_the_time_as_many_decimals),
		cmocka_unit_test(an_interval_has_the_digits_of_its_error),
		cmocka_unit_test(an_interval_is_around_its_time_and_never_below_zero),
		cmocka_unit_test(an_unknown_interval_names_the_number_of_blocks_that_the_judge_needs),
		cmocka_unit_test(a_gap_is_a_percentage_above_the_best),
		cmocka_unit_test(times_are_read_as_utc_and_written_back),
		cmocka_unit_test(dates_match_the_calendar),
		cmocka_unit_test(an_integer_has_all_its_digits),
		cmocka_unit_test(a_date_that_does_not_exist_is_refused),
		cmocka_unit_test(relative_times_read_as_words),
		cmocka_unit_test(a_change_is_a_percentage_or_a_factor),
		cmocka_unit_test(sizes_are_in_powers_of_a_thousand),
		cmocka_unit_test(one_is_singular_and_none_and_many_are_plural),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
