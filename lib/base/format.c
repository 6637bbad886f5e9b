#include "lib/base/format.h"

#include "lib/base/scope.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const struct unit {
	double ns;
	const char *name;
} UNITS[] = { { 1e9, "s" }, { 1e6, "ms" }, { 1e3, "µs" }, { 1, "ns" } };

static const struct unit *unit_for(double ns)
{
	/* 999.95 ns would be shown as 1000.0 ns, so such values use the next larger unit. */
	for (size_t i = 0; i < 3; i++)
		if (fabs(ns) >= UNITS[i].ns * 0.99995)
			return &UNITS[i];
	return &UNITS[3];
}

/* The number of decimals that leaves four significant digits. */
static int count_decimals(double value)
{
	value = fabs(value);
	return value >= 999.95 ? 0 : value >= 99.995 ? 1 : value >= 9.9995 ? 2 : 3;
}

/* ---- writing digits ----
 *
 * A page has hundreds of numbers. printf and strftime would take ten times as long. */

static char *put_digits(char *at, int number, int digits)
{
	for (int i = digits; i-- > 0; number /= 10)
		at[i] = (char)('0' + number % 10);
	return at + digits;
}

static char *put_unsigned(char *at, uint64_t number)
{
	char reversed[24];
	size_t length = 0;
	do
		reversed[length++] = (char)('0' + number % 10);
	while (number /= 10);
	while (length)
		*at++ = reversed[--length];
	return at;
}

static char *put_integer(char *at, int64_t number)
{
	if (number < 0)
		*at++ = '-';
	return put_unsigned(at, number < 0 ? -(uint64_t)number : (uint64_t)number);
}

void format_integer(format_text out, int64_t number)
{
	*put_integer(out, number) = '\0';
}

void format_count(format_text out, uint64_t number)
{
	*put_unsigned(out, number) = '\0';
}

/* Writes the same text as printf's "%.*f", at most 24 bytes. Calls snprintf for large and negative
 * numbers, and for values too close to a rounding boundary. */
static char *put_decimal(char *at, double value, int digits)
{
	static const double scales[] = { 1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6 };
	enum { most_bytes = 24 };
	bool is_usual = digits < (int)COUNT(scales) && value >= 0 && value * scales[digits] < 1e9;
	double scaled = is_usual ? value * scales[digits] : 0, whole = floor(scaled);
	if (!is_usual || fabs(scaled - whole - 0.5) < 1e-6) {
		int length = snprintf(at, most_bytes + 1, "%.*f", digits, value);
		return at + (length < most_bytes ? length : most_bytes);
	}
	int64_t number = (int64_t)whole + (scaled - whole > 0.5), scale = (int64_t)scales[digits];
	at = put_integer(at, number / scale);
	if (!digits)
		return at;
	*at++ = '.';
	return put_digits(at, (int)(number % scale), digits);
}

static char *put_text(char *at, const char *text)
{
	return stpcpy(at, text);
}

/* ---- numbers for programs ---- */

/* Each decimal of up to 15 digits survives a conversion to double and back. Each double survives a
 * conversion to 17 digits and back. */
enum { sure_digits = 15, all_digits = 17 };

/* Writes number / 10^decimals without zeros at the end. */
static void put_scaled(char *at, int64_t number, int decimals)
{
	format_text digits;
	for (; decimals && number % 10 == 0; decimals--)
		number /= 10;
	*put_integer(digits, number) = '\0';
	int whole = (int)strlen(digits) - decimals;
	if (whole <= 0) {
		at = put_text(at, "0.");
		memset(at, '0', (size_t)-whole);
		put_text(at - whole, digits);
		return;
	}
	memcpy(at, digits, (size_t)whole);
	at += whole;
	if (decimals)
		*at++ = '.';
	put_text(at, digits + whole);
}

static void print_real(format_text out, double number)
{
	for (int digits = sure_digits; digits <= all_digits; digits++) {
		snprintf(out, sizeof(format_text), "%.*g", digits, number);
		if (strtod(out, NULL) == number)
			return;
	}
}

/* Tries 15 digits first. Dividing a whole number below 2^53 by a power of ten gives the double that
 * is nearest to the decimal, so the comparison tells whether a program would read the same number
 * back. A long double holds 17 digits. */
void format_real(format_text out, double number)
{
	static const double tens[] = { 1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
		1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19 };
	const double least = 1e-3, size = fabs(number);
	if (!(size >= least && size < tens[sure_digits - 1])) {
		print_real(out, number);
		return;
	}
	int decimals = sure_digits - 1 - (int)floor(log10(size));
	int64_t scaled = llrint(size * tens[decimals]);
	if ((double)scaled / tens[decimals] != size) {
		decimals += all_digits - sure_digits;
		scaled = llrintl((long double)size * (long double)tens[decimals]);
	}
	if (number < 0)
		*out++ = '-';
	put_scaled(out, scaled, decimals);
}

/* ---- durations ---- */

void format_duration_ns(format_text out, double ns)
{
	out[0] = '\0';
	if (!isfinite(ns))
		return;
	const struct unit *unit = unit_for(ns);
	double value = ns / unit->ns;
	char *at = put_decimal(out, value, count_decimals(value));
	*at++ = ' ';
	put_text(at, unit->name);
}

void format_stopwatch(format_text out, int64_t ms)
{
	double s = (double)ms / 1e3;
	out[0] = '\0';
	if (ms >= 1000)
		snprintf(out, sizeof(format_text), "%.*f s", s < 9.995 ? 2 : 1, s);
	else if (ms >= 0)
		snprintf(out, sizeof(format_text), "%d ms", (int)ms);
}

/* How to write a time with an error: the unit, and the number of decimals that shows two
 * significant digits of the error. */
struct precision {
	const struct unit *unit;
	int decimals;
};

/* Returns the number of decimals for half of an interval in the time's unit; -1: it is too small to
 * show. */
static int decimals_for_half(double half)
{
	/* A larger error rounds to 10 times the last decimal: two digits. */
	static const double least[] = { 9.95, .995, .0995, .00995, .000995, .0000995 };
	const double least_shown = .5e-6;
	int decimals = 0;
	while (decimals < (int)COUNT(least) && half < least[decimals])
		decimals++;
	return half < least_shown ? -1 : decimals;
}

/* If the rounded time would be 1000 units, uses the next larger unit: 999.7 ± 20 ns becomes 1.000 ±
 * 0.020 µs. */
static struct precision precision_for(double ns, double half_ns)
{
	static const double halves[] = { .5, .5e-1, .5e-2, .5e-3, .5e-4, .5e-5, .5e-6 };
	const struct unit *unit = UNITS;
	while (unit->ns > 1 && ns < unit->ns)
		unit++;
	int decimals = decimals_for_half(half_ns / unit->ns);
	if (unit > UNITS && decimals >= 0 && ns / unit->ns >= 1000 - halves[decimals]) {
		unit--;
		decimals = decimals_for_half(half_ns / unit->ns);
	}
	return (struct precision){ unit, decimals };
}

static char *put_unit(char *at, const struct unit *unit)
{
	*at++ = ' ';
	return put_text(at, unit->name);
}

static void put_floor(format_text out, double floor_ns)
{
	snprintf(out, sizeof(format_text), "< %g µs", floor_ns / 1000);
}

void format_score(format_text out, double ns, double err_ns, double floor_ns)
{
	const struct interval interval = interval_of(ns, err_ns);
	const struct precision precision = precision_for(ns, interval.half_ns);
	if (floor_ns > 0)
		put_floor(out, floor_ns);
	else if (!interval.is_known || precision.decimals < 0)
		format_duration_ns(out, ns);
	else
		put_unit(put_decimal(out, ns / precision.unit->ns, precision.decimals), precision.unit);
}

double rounded_seconds(double ns, double err_ns)
{
	const struct interval interval = interval_of(ns, err_ns);
	const struct precision precision = precision_for(ns, interval.half_ns);
	double seconds = ns / 1e9;
	if (!isfinite(ns) || ns <= 0)
		return seconds;
	double decimals = interval.is_known && precision.decimals >= 0
		? precision.decimals + round(log10(1e9 / precision.unit->ns))
		: 3 - floor(log10(seconds)); /* four digits, as format_duration_ns */
	/* Numerator and denominator are whole numbers below 2^53, so the quotient is the double nearest
	 * to the decimal. */
	double scale = pow(10, fmax(decimals, 0));
	return round(seconds * scale) / scale;
}

static void format_duration_err(format_text out, double ns, double err_ns)
{
	const struct interval interval = interval_of(ns, err_ns);
	const struct precision precision = precision_for(ns, interval.half_ns);
	if (interval.is_known && precision.decimals >= 0) {
		const double unit_ns = precision.unit->ns;
		char *at = put_text(put_decimal(out, ns / unit_ns, precision.decimals), " ± ");
		put_unit(put_decimal(at, interval.half_ns / unit_ns, precision.decimals), precision.unit);
		return;
	}
	format_duration_ns(out, ns);
	if (*out && !interval.is_known)
		put_text(out + strlen(out), " ± unknown");
}

void format_measured(format_text out, double ns, double err_ns, double floor_ns)
{
	if (floor_ns > 0)
		put_floor(out, floor_ns);
	else
		format_duration_err(out, ns, err_ns);
}

void format_interval(format_text out, struct interval interval)
{
	const struct precision precision = precision_for(interval.high_ns, interval.half_ns);
	if (!interval.is_known)
		put_text(out, interval_unknown);
	else if (precision.decimals < 0)
		format_duration_ns(out, interval.high_ns);
	else {
		const double unit_ns = precision.unit->ns;
		char *at = put_decimal(out, interval.low_ns / unit_ns, precision.decimals);
		at = put_decimal(put_text(at, " to "), interval.high_ns / unit_ns, precision.decimals);
		put_unit(at, precision.unit);
	}
}

void format_gap(format_text out, double ns, double best_ns)
{
	out[0] = '\0';
	if (!isfinite(ns) || !(best_ns > 0) || ns <= best_ns)
		return;
	double percent = (ns / best_ns - 1) * 100;
	*out = '+';
	if (percent < 0.05)
		put_text(out, "+<0.1 %");
	else if (percent < 1000)
		put_text(put_decimal(out + 1, percent, percent < 9.95), " %");
	else
		put_text(put_decimal(out, ns / best_ns, 0), "×");
}

void format_change(format_text out, double ratio)
{
	const double million = 1e6, most_millions = 1000, factor = ratio < 1 ? 1 / ratio : ratio,
				 percent = 100 * fabs(ratio - 1);
	const char *adverb = ratio < 1 ? "faster" : "slower";
	if (factor < 2) {
		int decimals = percent >= 10 ? 0 : percent >= 0.95 ? 1 : percent >= 0.095 ? 2 : 3;
		const char *less = percent < 0.0005 ? "less than " : "";
		snprintf(
			out, sizeof(format_text), "%s%.*f %% %s", less, decimals, fmax(percent, 0.001), adverb);
	} else if (factor < million)
		snprintf(out, sizeof(format_text), "%.*f× %s", factor < 9.995 ? 2 : factor < 99.95, factor,
			adverb);
	else if (factor < most_millions * million)
		snprintf(out, sizeof(format_text), "%.3g million× %s", factor / million, adverb);
	else
		snprintf(out, sizeof(format_text), "over 1000 million× %s", adverb);
}

void format_fastest_gap(format_text out, double ns, double fastest_ns)
{
	if (ns <= fastest_ns)
		put_text(out, "fastest");
	else
		format_gap(out, ns, fastest_ns);
}

void format_above_gap(format_text out, double ns, double above_ns)
{
	if (ns < above_ns)
		format_change(out, ns / above_ns);
	else if (ns > above_ns)
		format_gap(out, ns, above_ns);
	else
		put_text(out, ns == above_ns ? "equal" : "");
}

void format_bytes(format_text out, uint64_t bytes)
{
	static const char *const names[] = { "bytes", "kB", "MB", "GB", "TB" };
	double value = (double)bytes;
	size_t unit = 0;
	while (value >= 999.5 && unit + 1 < sizeof names / sizeof *names) {
		value /= 1000;
		unit++;
	}
	snprintf(out, sizeof(format_text), unit && value < 99.95 ? "%.1f %s" : "%.0f %s", value,
		names[unit]);
}

/* Computes the Gregorian date. Years start in March here, so that a leap day is the last day of its
 * year. From March on, the lengths of months repeat: 31, 30, 31, 30, 31. gmtime_r is slower and
 * takes a lock that all threads share. */
static void set_date(struct tm *utc, int64_t days_since_1970)
{
	enum { days_until_1970 = 719468, days_of_400_years = 146097 };
	int64_t days = days_since_1970 + days_until_1970;
	int64_t era = (days >= 0 ? days : days - days_of_400_years + 1) / days_of_400_years,
			of_era = days - era * days_of_400_years;
	int64_t year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
	int64_t of_year = of_era - (365 * year + year / 4 - year / 100),
			since_march = (5 * of_year + 2) / 153;
	utc->tm_mday = (int)(of_year - (153 * since_march + 2) / 5 + 1);
	utc->tm_mon = (int)(since_march < 10 ? since_march + 2 : since_march - 10);
	utc->tm_year = (int)(year + era * 400 + (since_march >= 10) - 1900);
}

static void split_utc(int64_t ms, struct tm *utc)
{
	int64_t seconds = ms >= 0 ? ms / 1000 : (ms - 999) / 1000;
	int64_t days = seconds >= 0 ? seconds / 86400 : (seconds - 86399) / 86400,
			of_day = seconds - days * 86400;
	*utc = (struct tm){ .tm_hour = (int)(of_day / 3600),
		.tm_min = (int)(of_day / 60 % 60),
		.tm_sec = (int)(of_day % 60) };
	set_date(utc, days);
}

/* "2026-11-21 10:30", with `between` between day and hour. */
static char *put_minute(char *at, const struct tm *utc, char between)
{
	at = put_digits(at, utc->tm_year + 1900, 4);
	*at++ = '-';
	at = put_digits(at, utc->tm_mon + 1, 2);
	*at++ = '-';
	at = put_digits(at, utc->tm_mday, 2);
	*at++ = between;
	at = put_digits(at, utc->tm_hour, 2);
	*at++ = ':';
	return put_digits(at, utc->tm_min, 2);
}

void format_utc(format_text out, int64_t ms)
{
	out[0] = '\0';
	if (ms == INT64_MIN)
		return;
	struct tm utc;
	split_utc(ms, &utc);
	strcpy(put_minute(out, &utc, ' '), " UTC");
}

void format_datetime_local(format_text out, int64_t ms)
{
	out[0] = '\0';
	if (ms == INT64_MIN)
		return;
	struct tm utc;
	split_utc(ms, &utc);
	strftime(out, sizeof(format_text), utc.tm_sec ? "%Y-%m-%dT%H:%M:%S" : "%Y-%m-%dT%H:%M", &utc);
}

void format_iso(format_text out, int64_t ms)
{
	out[0] = '\0';
	if (ms == INT64_MIN)
		return;
	struct tm utc;
	split_utc(ms, &utc);
	char *at = put_minute(out, &utc, 'T');
	*at++ = ':';
	at = put_digits(at, utc.tm_sec, 2);
	*at++ = '.';
	strcpy(put_digits(at, (int)(((ms % 1000) + 1000) % 1000), 3), "Z");
}

static char *put_count(char *at, int64_t count, const char *noun)
{
	at = put_integer(at, count);
	*at++ = ' ';
	at = put_text(at, noun);
	return count == 1 ? at : put_text(at, "s");
}

enum { smallest_span = 4, span_single_from = 10 };
static const struct {
	int64_t seconds;
	const char *name;
} spans[] = { { 365 * 86400L, "year" }, { 86400, "day" }, { 3600, "hour" }, { 60, "minute" },
	{ 1, "second" } };

static size_t largest_span(int64_t seconds)
{
	size_t i = 0;
	while (i < smallest_span && seconds < spans[i].seconds)
		i++;
	return i;
}

/* Whether the unit after the largest one is shown too: never seconds, and only after a small
 * number. */
static bool shows_rest(size_t largest, int64_t seconds)
{
	return largest + 1 < smallest_span && seconds / spans[largest].seconds < span_single_from;
}

/* "2 days 4 hours": the two largest units, rounded down. */
static char *put_span(char *at, int64_t seconds)
{
	size_t i = largest_span(seconds);
	int64_t count = seconds / spans[i].seconds;
	at = put_count(at, count, spans[i].name);
	if (!shows_rest(i, seconds))
		return at;
	int64_t rest = (seconds - count * spans[i].seconds) / spans[i + 1].seconds;
	return rest ? put_count(put_text(at, " "), rest, spans[i + 1].name) : at;
}

/* "2 days": the largest unit, rounded down. One unit is enough for a time in the past. */
static char *put_past(char *at, int64_t seconds)
{
	size_t i = largest_span(seconds);
	return put_count(at, seconds / spans[i].seconds, spans[i].name);
}

/* Adds half of the last unit that put_span shows. A token that expires 90 days after it was created
 * would otherwise expire "in 89 days" from the first second on. */
static int64_t round_span(int64_t seconds)
{
	size_t i = largest_span(seconds);
	return seconds + spans[i + shows_rest(i, seconds)].seconds / 2;
}

void format_span(format_text out, int64_t seconds)
{
	out[0] = '\0';
	if (seconds >= 0)
		put_span(out, round_span(seconds));
}

void format_relative(format_text out, int64_t ms, int64_t now)
{
	out[0] = '\0';
	if (ms == INT64_MIN)
		return;
	int64_t seconds = (ms - now) / 1000;
	if (seconds > -5 && seconds < 5)
		put_text(out, "just now");
	else if (seconds > 0)
		put_span(put_text(out, "in "), round_span(seconds));
	else
		put_text(put_past(out, -seconds), " ago");
}

int64_t now_ms(void)
{
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int parse_utc(const char *text, int64_t *ms)
{
	static const char *const forms[] = { "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M",
		"%Y-%m-%dT%H:%M", "%Y-%m-%d" };
	for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
		struct tm utc = { 0 };
		const char *end = strptime(text, forms[i], &utc);
		if (!end || (*end && strcmp(end, "Z") != 0 && strcmp(end, " UTC") != 0))
			continue;
		/* timegm would turn 31 February into March. A date that does not exist is an error. */
		struct tm again = utc;
		time_t seconds = timegm(&again);
		if (again.tm_mday != utc.tm_mday || utc.tm_year < 70 || utc.tm_year > 8099)
			return -1;
		*ms = (int64_t)seconds * 1000;
		return 0;
	}
	return -1;
}

const char *plural(struct arena *arena, int64_t count, const char *noun)
{
	return arena_printf(arena, "%lld %s%s", (long long)count, noun, count == 1 ? "" : "s");
}

const char *yes_or_no(bool truth)
{
	return truth ? "yes" : "no";
}
