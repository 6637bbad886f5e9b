/* Formats numbers and times for people. Every page, file and terminal uses these functions, so
 * all of them agree. */
#ifndef PODIUM_LIB_BASE_FORMAT_H
#define PODIUM_LIB_BASE_FORMAT_H

#include "lib/base/arena.h"
#include "lib/base/interval.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef char format_text[64]; /* large enough for everything below */

/* "312 ns", "31.9 µs", "1.204 ms", "2.50 s": at most four significant digits, in the fitting
 * unit. NAN becomes "". */
void format_duration_ns(format_text out, double ns);

/* Elapsed wall-clock time of a program: "22 ms", "1.36 s", "75.2 s"; "" below 0. */
void format_stopwatch(format_text out, int64_t ms);

/* A measured time, rounded according to its error: "31.90 µs", "7.6 ms". Half of the 95 % interval
 * (lib/base/interval.h) is shown with two significant digits, and the time is rounded to the last
 * of them, but never more coarsely than to whole units. If the error is unknown or too small to
 * show, the text is that of format_duration_ns. If floor_ns is above 0, the time is too short to
 * measure, and the text is "< 0.5 µs" (floor_reached_ns in lib/gpu/floor.h). */
void format_score(format_text out, double ns, double err_ns, double floor_ns);

/* The time in seconds, rounded to the digits of format_score. NAN stays NAN. */
double rounded_seconds(double ns, double err_ns);

/* Like format_score, but with half of the interval: "31.90 ± 0.21 µs". The ± is left out if the
 * error is 0 or too small to show. If the error is not known: "31.90 µs ± unknown". */
void format_measured(format_text out, double ns, double err_ns, double floor_ns);

/* "31.69 to 32.11 µs", with the digits of format_measured; the single time if both ends are
 * equal; interval_unknown if the interval is not known. */
void format_interval(format_text out, struct interval interval);

/* How much longer than the best time: "+4.2 %", "+27 %", "64×"; "" for the best itself. */
void format_gap(format_text out, double ns, double best_ns);

/* The gaps of an entry of a ranking to two other times. format_fastest_gap compares with the
 * fastest time of the device, which need not have the first rank: "+4.2 %" or "fastest".
 * format_above_gap compares with the fastest time of the next better rank: "+4.2 %", "equal", or
 * "0.10 % faster" if a comparison put the entry behind a slower time. The text is "" if above_ns is
 * NAN. */
void format_fastest_gap(format_text out, double ns, double fastest_ns);
void format_above_gap(format_text out, double ns, double above_ns);

/* A ratio of two times in words: "1.2 % faster", "40 % slower", "4.16× faster", "17.4× slower",
 * "1.66 million× faster". The words do not tell whether the difference exceeds the noise. */
void format_change(format_text out, double ratio);

void format_integer(format_text out, int64_t number);
void format_count(format_text out, uint64_t number);
/* A finite number for programs, with 15 digits, or with up to 17 if 15 digits would read back as
 * another number. */
void format_real(format_text out, double number);
void format_bytes(format_text out, uint64_t bytes); /* "141 GB", "12.5 kB" (powers of 1000) */
void format_utc(format_text out, int64_t ms);       /* "2026-11-21 06:10 UTC"; TIME_NULL: "" */
/* "2026-11-21T06:10", in UTC, for an input element; TIME_NULL: "" */
void format_datetime_local(format_text out, int64_t ms);
void format_iso(format_text out, int64_t ms); /* "2026-11-21T06:10:20.123Z" */
/* "in 2 days 4 hours", "3 hours ago", "just now". Rounds a past time down, and a future one to the
 * nearest. */
void format_relative(format_text out, int64_t ms, int64_t now_ms);
/* "2 days 4 hours", "1 minute", "12 seconds", to the nearest; "" below 0. */
void format_span(format_text out, int64_t seconds);
int64_t now_ms(void); /* milliseconds since 1970 UTC */

/* Reads "2026-11-21 06:10", "2026-11-21T06:10" or "2026-11-21" (00:00) as UTC. Seconds and a
 * final "Z" or " UTC" are optional. Returns 0 with *ms, or -1. */
int parse_utc(const char *text, int64_t *ms);

/* "1 job", "0 jobs", "3 queued jobs", in the arena. Works for nouns whose plural only adds an s. */
const char *plural(struct arena *arena, int64_t count, const char *noun);

const char *yes_or_no(bool truth);

#endif
