/* Errors as sentences for people.
 *
 * A function that can fail returns 0, or one of the negative codes below after it has filled
 * `struct error` with one whole sentence that says what is wrong, where, and what to do.
 * Only main programs and page handlers print or show it. */
#ifndef PODIUM_LIB_ERROR_H
#define PODIUM_LIB_ERROR_H

enum error_code {
	ERROR_INPUT = -1,     /* what the user sent is wrong; show the sentence beside the field */
	ERROR_NOT_FOUND = -2, /* the thing named does not exist */
	ERROR_FORBIDDEN = -3, /* exists, but not for this user */
	ERROR_CONFLICT = -4,  /* somebody else was first: name taken, fence lost, duplicate */
	ERROR_LIMIT = -5,     /* a size, rate or quota is used up */
	ERROR_DATABASE = -6,  /* MariaDB is away or refused; may pass if tried again */
	ERROR_SYSTEM = -7,    /* the operating system refused, or a bug */
};

struct error {
	int code;
	char field[48];  /* name of the form field or key that is meant, or "" */
	char text[1024]; /* one sentence, UTF-8, no trailing newline */
};

/* Fills `error` and returns `code`, so that callers write `return fail(error, ERROR_INPUT, ...)`.
 * `error` may be NULL. */
int fail(struct error *error, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* The same, and says which form field the sentence belongs to. */
int fail_field(struct error *error, const char *field, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Puts "PREFIX: " before the sentence that is there and returns the code that is there. */
int fail_context(struct error *error, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif
