/* Numbers and times as people read them. One place, so that every page, file and terminal agrees.
 */
#ifndef PODIUM_LIB_FORMAT_H
#define PODIUM_LIB_FORMAT_H

#include <stddef.h>
#include <stdint.h>

typedef char format_text[64]; /* large enough for everything below */

/* "312 ns", "31.9 µs", "1.204 ms", "2.50 s": four significant digits at most, unit by size. NAN:
 * "". */
void format_duration_ns(format_text out, double ns);

/* What a program took, by the clock on the wall: "22 ms", "1.36 s", "75.2 s"; "" below 0. */
void format_stopwatch(format_text out, int64_t ms);

/* A duration and half of its 95 % interval, in the unit that fits the duration: "31.90 ± 0.21 µs",
 * "363.00 ± 0.04 µs"; without the ± when the half is NAN, 0 or too small to show beside the
 * duration. */
void format_duration_within(format_text out, double ns, double half_ns);

/* The same, from the standard error (lib/interval.h). */
void format_duration_err(format_text out, double ns, double err_ns);

/* Both in the unit that fits the greater one, with digits that tell them apart: "31.82 to 32.01
 * µs". "" when one is not finite. */
void format_duration_range(format_text out, double low_ns, double high_ns);

/* "+4.2 %" above the best, "" when it is the best itself. */
void format_gap(format_text out, double ns, double best_ns);

void format_integer(format_text out, int64_t number);
void format_bytes(format_text out, uint64_t bytes); /* "141 GB", "12.5 kB" (powers of 1000) */
void format_utc(format_text out, int64_t ms);       /* "2026-11-21 06:10 UTC"; TIME_NULL: "" */
void format_datetime_local(
	format_text out, int64_t ms); /* "2026-11-21T06:10", in UTC, for an input; TIME_NULL: "" */
void format_iso(format_text out, int64_t ms); /* "2026-11-21T06:10:20.123Z" */
void format_relative(format_text out, int64_t ms,
	int64_t now_ms);  /* "in 2 days 4 hours", "3 minutes ago", "just now" */
int64_t now_ms(void); /* milliseconds since 1970 UTC */

/* "2026-11-21 06:10", "2026-11-21T06:10", "2026-11-21" (00:00) or with seconds, as UTC; optional
 * "Z" or " UTC". 0 and *ms, or -1. */
int parse_utc(const char *text, int64_t *ms);

#endif
