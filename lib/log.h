/* One line per event on stderr: `2026-11-21T06:10:20.123Z level program: text`.
 * Control characters and bytes that are not UTF-8 are written as \xNN, because names and messages
 * come from users and an operator reads the log in a terminal. */
#ifndef PODIUM_LIB_LOG_H
#define PODIUM_LIB_LOG_H

void log_open(const char *program); /* once, at the start of main; keeps the pointer */
void log_info(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_warning(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
