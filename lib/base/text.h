/* Checks text that comes from outside. */
#ifndef PODIUM_LIB_BASE_TEXT_H
#define PODIUM_LIB_BASE_TEXT_H

#include "lib/base/buffer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Length of the valid UTF-8 prefix (RFC 3629: no overlong forms, no surrogates, nothing above
 * U+10FFFF). The result is `length` when all of the text is valid. */
size_t text_utf8_prefix(const char *bytes, size_t length);
bool text_is_utf8(const char *bytes, size_t length);

/* The number of code points in valid UTF-8. */
size_t text_count_characters(const char *text);

/* Whether the text is ASCII. The database's columns for names, GPU models and device UUIDs are
 * ASCII, and MariaDB fails if a statement compares one with other text. */
bool text_is_ascii(const char *text);

/* A user name has 2 to 32 of A-Z a-z 0-9 . _ - and starts with a letter or digit. A leaderboard
 * name has 1 to 64 of the same characters and the same start. */
bool text_is_user_name(const char *name);
bool text_is_leaderboard_name(const char *name);

/* Length in bytes of the control character at `at`; 0: it is none. A NUL ends the text. The control
 * characters are C0, DEL and C1, line separators (U+2028, U+2029) and direction marks (U+061C,
 * U+200E, U+200F, U+202A to U+202E, U+2066 to U+2069). Direction marks could make "yp.x" look like
 * "x.py". */
size_t text_control_length(const char *at);

/* Whether the text has such a control character. */
bool text_has_control(const char *text);

/* If a control character is at `at`, appends it as visible text, \x1b or \u202e, and returns its
 * length in bytes. Returns 0 and appends nothing for another character, a tab or a line end. */
size_t text_append_mark(struct buffer *out, const char *at);

/* Appends `text`. Control characters as above and invalid UTF-8 become \xNN. */
void text_append_printable(struct buffer *out, const char *text);

/* Prints one line to a terminal or a log, printable as above. */
void text_print_line(FILE *stream, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Appends at most `length` bytes as valid UTF-8. Each invalid byte and each NUL becomes U+FFFD. */
void text_append_valid(struct buffer *out, const char *bytes, size_t length);

/* Whether the text is one visible line: valid UTF-8, no control characters, not only spaces, at
 * most `most` bytes. */
bool text_is_line(const char *text, size_t most);

bool text_ends_with(const char *text, const char *suffix);

/* Whether the text is one of `count` words. */
bool text_is_one_of(const char *text, const char *const *words, size_t count);

/* A name in C: letters, digits and _, not beginning with a digit. */
bool text_is_identifier(const char *text);

/* Cuts white space off both ends and returns the new start. */
char *text_trim(char *text);

#endif
