/* One line per event on stderr, made so that people and programs can read it and nobody can forge
 * one:
 *
 *     logfmt  time=2026-11-21T06:10:20.123Z level=error program=podium-worker worker=rack1 job=12
 * fence=3 message="..." json
 * {"time":"2026-11-21T06:10:20.123Z","level":"error","program":"podium-worker","worker":"rack1","job":12,...}
 *     text    2026-11-21T06:10:20.123Z error podium-worker: ... [worker=rack1 job=12 fence=3]
 *
 * Control characters, line separators and bytes that are not UTF-8 are written as \xNN, because
 * names and messages come from users and an operator reads the log in a terminal; quotes and
 * backslashes of a value are escaped. A line has at most 4096 bytes, newline included, so that
 * lines of several programs on one pipe do not mix (pipe(7), PIPE_BUF); a longer message ends with
 * an ellipsis. */
#ifndef PODIUM_LIB_LOG_H
#define PODIUM_LIB_LOG_H

#include "lib/error.h"

#include <stdint.h>

/* Once, at the start of main; keeps the pointer. Both log in the form that PODIUM_LOG_FORMAT names;
 * without it somebody's command as text, a service as `auto`, until it has read its settings and
 * calls log_set_format. */
void log_open(const char *program);
void log_open_service(const char *program);

/* `text`, `logfmt`, `json`, or `auto`: text where stderr is a terminal, else logfmt. ERROR_INPUT
 * for another name. */
int log_set_format(const char *name, struct error *error);
const char *log_format(void); /* one of the first three */

void log_info(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_warning(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* What this thread is at: stands in each of its lines until it is set anew. NULL, "" or 0: nothing.
 * The text is copied. */
enum log_field {
	LOG_REQUEST,
	LOG_ROUTE,
	LOG_USER,
	LOG_WORKER,
	LOG_DEVICE,
	LOG_SUBMISSION,
	LOG_JOB,
	LOG_FENCE,
	LOG_STAGE,
	LOG_WEBHOOK,
	log_field_count
};
void log_about(enum log_field field, const char *value);
void log_about_number(enum log_field field, int64_t value);

#endif
