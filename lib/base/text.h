/* Questions about text that came from outside. */
#ifndef PODIUM_LIB_TEXT_H
#define PODIUM_LIB_TEXT_H

#include "lib/buffer.h"

#include <stdbool.h>
#include <stddef.h>

/* Length of the valid UTF-8 prefix; equals `length` when all of it is valid (RFC 3629: no overlong
 * forms, no surrogates, nothing above U+10FFFF). */
size_t text_utf8_prefix(const char *bytes, size_t length);
bool text_is_utf8(const char *bytes, size_t length);

/* A name for users: 2 to 32 of A-Z a-z 0-9 . _ - and begins with a letter or digit.
 * A name for leaderboards: 1 to 64 of a-z A-Z 0-9 _ - . and begins with a letter or digit. */
bool text_is_ascii(const char
		*text); /* what the columns of names, models and numbers of devices can be compared with */
bool text_is_user_name(const char *name);
bool text_is_leaderboard_name(const char *name);

/* Bytes of the control character that `at` begins with, 0 if it is none: C0, DEL, C1, what ends a
 * line (U+2028, U+2029), and what turns the direction of the text around it (U+061C, U+200E,
 * U+200F, U+202A to U+202E, U+2066 to U+2069), so that "yp.x" cannot pose as "x.py". A NUL ends the
 * text. */
size_t text_control_length(const char *at);

/* Appends `text` with such control characters (but not space) and invalid UTF-8 as \xNN. */
void text_append_printable(struct buffer *out, const char *text);

/* Appends at most `length` bytes as valid UTF-8: each bad byte becomes U+FFFD, NUL as well. */
void text_append_valid(struct buffer *out, const char *bytes, size_t length);

/* One line of UTF-8 that says something: no control characters, not only spaces, `most` bytes at
 * most. */
bool text_is_line(const char *text, size_t most);

bool text_ends_with(const char *text, const char *suffix);

#endif
