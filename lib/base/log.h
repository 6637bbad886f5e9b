/* Writes one line per event to stderr. People and programs can read a line, and user input
 * cannot forge one.
 *
 * The forms, each on a single line:
 * - text: 2026-11-21T06:10:20.123Z error podium-worker: ... [worker=rack1 job=12 fence=3]
 * - logfmt: time=2026-11-21T06:10:20.123Z level=error program=podium-worker job=12 message="..."
 * - json: {"time":"2026-11-21T06:10:20.123Z","level":"error","program":"podium-worker",...}
 *
 * Control characters, line separators and invalid UTF-8 become \xNN, because names and messages
 * come from users and operators read the log in a terminal. Quotes and backslashes in values are
 * escaped.
 *
 * A line has at most 4096 bytes with its newline, so that programs on one pipe do not mix their
 * lines (pipe(7), PIPE_BUF). A longer message ends with an ellipsis. */
#ifndef PODIUM_LIB_BASE_LOG_H
#define PODIUM_LIB_BASE_LOG_H

#include "lib/base/error.h"

#include <stdint.h>

/* Call one of these two functions once, at the start of main. `program` is not copied. The
 * environment variable PODIUM_LOG_FORMAT names the form. Without it, log_open uses `text`.
 * log_open_service uses `auto` until the service has read its settings and calls log_set_format. */
void log_open(const char *program);
void log_open_service(const char *program);

/* Sets the form: `text`, `logfmt`, `json`, or `auto`, which means text on a terminal and logfmt
 * elsewhere. ERROR_INPUT for other names. */
int log_set_format(const char *name, struct error *error);
const char *log_format(void); /* `text`, `logfmt` or `json` */

void log_info(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_warning(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Fields that every line of this thread contains until they change. NULL, "" or 0 removes a
 * field. The text is copied. */
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
