/* Errors as sentences for people.
 *
 * A function that can fail returns 0 or one of the negative codes below. Before it fails it
 * fills `struct error` with one whole sentence: what is wrong, where, and what to do. Only main
 * programs and page handlers show the sentence. */
#ifndef PODIUM_LIB_BASE_ERROR_H
#define PODIUM_LIB_BASE_ERROR_H

#include <stdbool.h>

enum error_code {
	ERROR_INPUT = -1,     /* the user's input is wrong; show the sentence next to the field */
	ERROR_NOT_FOUND = -2, /* the named thing does not exist */
	ERROR_FORBIDDEN = -3, /* exists, but this user may not use it */
	ERROR_CONFLICT = -4,  /* another request was first: the name is taken, the job reassigned */
	ERROR_LIMIT = -5,     /* a size, rate or quota is exhausted */
	ERROR_DATABASE = -6,  /* MariaDB is unreachable or refused; a retry may succeed */
	ERROR_SYSTEM = -7,    /* the operating system refused, or Podium has a bug */
	ERROR_BUSY = -8,      /* there is too much to do at the moment; a retry may succeed */
};

/* Whether the site caused the error. A form then has no field to point at. */
static inline bool error_is_ours(int code)
{
	return code == ERROR_DATABASE || code == ERROR_SYSTEM || code == ERROR_BUSY;
}

struct error {
	int code;
	char field[48];  /* name of the form field or key, or "" */
	char text[1024]; /* one sentence, UTF-8, no trailing newline */
};

/* Fills `error` and returns `code`, so that callers write `return fail(error, ERROR_INPUT, ...)`.
 * `error` may be NULL. */
int fail(struct error *error, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Like fail with ERROR_INPUT, and stores the name of the form field. */
int fail_field(struct error *error, const char *field, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Puts the formatted text and ": " before the sentence in `error`, and returns the code in
 * `error`. */
int fail_context(struct error *error, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif
