/* Private to cgi/http: a parser for multipart/form-data (RFC 7578). The parser works within the
 * body, so that no form needs more memory than its own size. Names, values and files point into the
 * body, and a NUL replaces the byte behind each of them. All input may be hostile. */
#ifndef PODIUM_CGI_HTTP_MULTIPART_H
#define PODIUM_CGI_HTTP_MULTIPART_H

#include "lib/base/error.h"

#include <stddef.h>

enum {
	multipart_most_parts = 256,
	multipart_most_header_bytes = 8192,
	multipart_most_parameters = 16, /* of one header */
	multipart_most_boundary_bytes = 70
};

struct multipart_part {
	const char *name;      /* the form field's name; never NULL */
	const char *file_name; /* as sent, may be ""; NULL: an ordinary field */
	const char *bytes;     /* followed by a NUL */
	size_t length;
};

typedef int multipart_take(void *context, const struct multipart_part *part, struct error *error);

/* Passes each part of `body` to `take`, and stops at its first error. `content_type` is the
 * header's value, multipart/form-data with a boundary. A NUL follows the `length` bytes of the
 * body. The parts live as long as the body. ERROR_INPUT: the form is damaged or incomplete.
 * ERROR_LIMIT: it exceeds one of the limits above. */
int multipart_parse(const char *content_type, char *body, size_t length, multipart_take *take,
	void *context, struct error *error);

#endif
