#include "lib/format.h"

#include "lib/interval.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static const struct unit {
	double ns;
	const char *name;
} UNITS[] = { { 1e9, "s" }, { 1e6, "ms" }, { 1e3, "µs" }, { 1, "ns" } };

static const struct unit *unit_for(double ns)
{
	/* 999.95 would round up to 1000.0 of the smaller unit. */
	for (size_t i = 0; i < 3; i++)
		if (fabs(ns) >= UNITS[i].ns * 0.99995)
			return &UNITS[i];
	return &UNITS[3];
}

/* Digits behind the point that leave four significant ones. */
static int decimals(double value)
{
	value = fabs(value);
	return value >= 999.95 ? 0 : value >= 99.995 ? 1 : value >= 9.9995 ? 2 : 3;
}

void format_duration_ns(format_text out, double ns)
{
	out[0] = '\0';
	if (!isfinite(ns))
		return;
	const struct unit *unit = unit_for(ns);
	double value = ns / unit->ns;
	snprintf(out, sizeof(format_text), "%.*f %s", decimals(value), value, unit->name);
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

/* "± 0.0" would claim more than was measured: up to three more digits are taken until the error shows. -1 when
 * it is smaller still. */
static int digits_for_error(int digits, double err)
{
	for (int most = digits + 3; digits <= most; digits++)
		if (err >= 0.5 * pow(10, -digits))
			return digits;
	return -1;
}

void format_duration_within(format_text out, double ns, double half_ns)
{
	if (!isfinite(ns) || !isfinite(half_ns) || half_ns <= 0) {
		format_duration_ns(out, ns);
		return;
	}
	const struct unit *unit = unit_for(ns);
	double value = ns / unit->ns, half = half_ns / unit->ns;
	int digits = digits_for_error(decimals(value), half);
	if (digits < 0)
		format_duration_ns(out, ns);
	else
		snprintf(out, sizeof(format_text), "%.*f ± %.*f %s", digits, value, digits, half, unit->name);
}

void format_duration_err(format_text out, double ns, double err_ns)
{
	format_duration_within(out, ns, interval_half_ns(err_ns));
}

void format_duration_range(format_text out, double low_ns, double high_ns)
{
	out[0] = '\0';
	if (!isfinite(low_ns) || !isfinite(high_ns))
		return;
	const struct unit *unit = unit_for(fmax(fabs(low_ns), fabs(high_ns)));
	double low = low_ns / unit->ns, high = high_ns / unit->ns;
	int digits = digits_for_error(decimals(fmax(fabs(low), fabs(high))), fabs(high - low) / 2);
	if (digits < 0)
		format_duration_ns(out, high_ns);
	else
		snprintf(out, sizeof(format_text), "%.*f to %.*f %s", digits, low, digits, high, unit->name);
}

void format_gap(format_text out, double ns, double best_ns)
{
	out[0] = '\0';
	if (!isfinite(ns) || !(best_ns > 0) || ns <= best_ns)
		return;
	double percent = (ns / best_ns - 1) * 100;
	if (percent < 0.05)
		snprintf(out, sizeof(format_text), "+<0.1 %%");
	else if (percent < 1000)
		snprintf(out, sizeof(format_text), "+%.1f %%", percent);
	else
		snprintf(out, sizeof(format_text), "%.1f×", ns / best_ns);
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
	snprintf(out, sizeof(format_text), unit && value < 99.95 ? "%.1f %s" : "%.0f %s", value, names[unit]);
}

static void in_utc(int64_t ms, struct tm *utc)
{
	time_t seconds = (time_t)(ms >= 0 ? ms / 1000 : (ms - 999) / 1000);
	gmtime_r(&seconds, utc);
}

static char *put_digits(char *at, int number, int digits)
{
	for (int i = digits; i-- > 0; number /= 10)
		at[i] = (char)('0' + number % 10);
	return at + digits;
}

/* "2026-11-21 10:30", with what stands between day and hour. A page has hundreds of them, and strftime takes ten times as long. */
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
	in_utc(ms, &utc);
	strcpy(put_minute(out, &utc, ' '), " UTC");
}

void format_datetime_local(format_text out, int64_t ms)
{
	out[0] = '\0';
	if (ms == INT64_MIN)
		return;
	struct tm utc;
	in_utc(ms, &utc);
	strftime(out, sizeof(format_text), utc.tm_sec ? "%Y-%m-%dT%H:%M:%S" : "%Y-%m-%dT%H:%M", &utc);
}

void format_iso(format_text out, int64_t ms)
{
	out[0] = '\0';
	if (ms == INT64_MIN)
		return;
	struct tm utc;
	in_utc(ms, &utc);
	char *at = put_minute(out, &utc, 'T');
	*at++ = ':';
	at = put_digits(at, utc.tm_sec, 2);
	*at++ = '.';
	strcpy(put_digits(at, (int)(((ms % 1000) + 1000) % 1000), 3), "Z");
}

/* "2 days 4 hours": the two largest units, the second only while the first is small. */
static void in_words(char *out, size_t size, int64_t seconds)
{
	static const struct {
		int64_t seconds;
		const char *name;
	} spans[] = { { 365 * 86400L, "year" }, { 86400, "day" }, { 3600, "hour" }, { 60, "minute" }, { 1, "second" } };
	size_t i = 0;
	while (i < 4 && seconds < spans[i].seconds)
		i++;
	int64_t count = seconds / spans[i].seconds;
	int length = snprintf(out, size, "%lld %s%s", (long long)count, spans[i].name, count == 1 ? "" : "s");
	if (i + 1 >= 4 || count >= 10)
		return;
	int64_t rest = (seconds - count * spans[i].seconds) / spans[i + 1].seconds;
	if (rest)
		snprintf(out + length, size - (size_t)length, " %lld %s%s", (long long)rest, spans[i + 1].name, rest == 1 ? "" : "s");
}

void format_relative(format_text out, int64_t ms, int64_t now)
{
	out[0] = '\0';
	if (ms == INT64_MIN)
		return;
	int64_t seconds = (ms - now) / 1000;
	char words[48];
	in_words(words, sizeof words, seconds < 0 ? -seconds : seconds);
	if (seconds > -5 && seconds < 5)
		snprintf(out, sizeof(format_text), "just now");
	else
		snprintf(out, sizeof(format_text), seconds > 0 ? "in %s" : "%s ago", words);
}

int64_t now_ms(void)
{
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int parse_utc(const char *text, int64_t *ms)
{
	static const char *const forms[] = { "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M", "%Y-%m-%d" };
	for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
		struct tm utc = {0};
		const char *end = strptime(text, forms[i], &utc);
		if (!end || (*end && strcmp(end, "Z") != 0 && strcmp(end, " UTC") != 0))
			continue;
		/* timegm would carry 31 February into March; a date that does not exist is refused instead. */
		struct tm again = utc;
		time_t seconds = timegm(&again);
		if (again.tm_mday != utc.tm_mday || utc.tm_year < 70 || utc.tm_year > 8099)
			return -1;
		*ms = (int64_t)seconds * 1000;
		return 0;
	}
	return -1;
}
