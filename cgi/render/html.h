/* Functions with which templates print. Each context and type of value has its own function, whose
 * name says how it escapes. The template compiler writes the calls; C code seldom needs them. */
#ifndef PODIUM_CGI_RENDER_HTML_H
#define PODIUM_CGI_RENDER_HTML_H

#include "lib/base/buffer.h"
#include "lib/base/interval.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Between tags, or inside a quoted attribute; NULL prints nothing. Control characters, such as
 * escape sequences and direction marks, become visible text (text_append_mark). */
void html_text(struct buffer *out, const char *text);
void html_attribute(struct buffer *out, const char *text);
/* In a textarea or the attribute value, which a form sends back: keeps control characters. */
void html_sent_back(struct buffer *out, const char *text);
void html_url_part(struct buffer *out, const char *text); /* a path segment or query value */
void html_url(struct buffer *out, const char *path);      /* a whole path of this site, "/..." */
void url_own(struct buffer *out, const char *path); /* html_url without HTML escapes, for headers */
void html_integer(struct buffer *out, int64_t number);

/* Chooses the function by the C type of `value`: text or any integer. A real number does not
 * compile, because it needs a filter that says how to format it. */
#define html_auto_(text_function, value) \
	_Generic((value), char *: text_function, const char *: text_function, \
	bool: html_integer, short: html_integer, unsigned short: html_integer, int: html_integer, \
	unsigned int: html_integer, long: html_integer, unsigned long: html_integer, \
	long long: html_integer, unsigned long long: html_integer)
#define html_auto_text(out, value) html_auto_(html_text, value)(out, value)
#define html_auto_sent_back(out, value) html_auto_(html_sent_back, value)(out, value)
#define html_auto_attribute(out, value) html_auto_(html_attribute, value)(out, value)
#define html_auto_url_part(out, value) html_auto_(html_url_part, value)(out, value)

/* Filters: {{x | duration}} is html_duration(out, x). */
void html_duration(struct buffer *out, double ns);   /* 31.90 µs */
void html_stopwatch(struct buffer *out, int64_t ms); /* 22 ms */
/* A measured time on this GPU model: "31.90 µs" and "31.90 ± 0.20 µs", or "< 0.5 µs" if it cannot
 * be told from nothing (format_score, format_measured). */
void html_score(struct buffer *out, double ns, double err_ns, const char *gpu);
void html_measured(struct buffer *out, double ns, double err_ns, const char *gpu);
void html_interval(struct buffer *out, struct interval interval);        /* 31.70 to 32.10 µs */
void html_gap(struct buffer *out, double ns, double best_ns);            /* +4.2 % */
void html_times_faster(struct buffer *out, double ratio);                /* 2.31× faster */
void html_fastest_gap(struct buffer *out, double ns, double fastest_ns); /* +4.2 %, fastest */
void html_above_gap(struct buffer *out, double ns, double above_ns);     /* +4.2 %, equal */
void html_change_than(struct buffer *out, double ns, double before_ns);  /* 3.1 % faster than */
void html_points(struct buffer *out, double points);                     /* 43, 12.5, 33.33 */
void html_bytes(struct buffer *out, int64_t bytes);                      /* 12.5 kB */
void html_utc(struct buffer *out, int64_t ms);                           /* 2026-11-21 06:10 UTC */
void html_date(struct buffer *out, int64_t ms);                          /* 2026-11-21 */
void html_moment(struct buffer *out, int64_t ms); /* 2026-11-21 06:10:20 in UTC, a <time> element */
void html_iso(struct buffer *out, int64_t ms);    /* 2026-11-21T06:10:20.123Z */
void html_relative(struct buffer *out, int64_t ms, int64_t now_ms); /* 3 minutes ago */
void html_time(struct buffer *out, int64_t ms, int64_t now_ms);     /* a <time> element with both */
void html_rank(struct buffer *out, int64_t place, bool is_tied);    /* 3, =3 */
void html_ordinal(struct buffer *out, int64_t number);              /* 1st, 2nd, 3rd, 11th */
void html_commands(struct buffer *out, const char *text);           /* "..." as <code>...</code> */
void html_plural(struct buffer *out, int64_t count, const char *noun); /* 1 case, 2 cases */

/* Whether this text has too many lines or bytes for a page that shows it with line numbers. */
bool html_lines_are_many(const char *code, size_t length);

#endif
