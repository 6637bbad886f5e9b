/* Queries and forms: from bytes to the fields of a request. */
#ifndef PODIUM_CGI_FORM_H
#define PODIUM_CGI_FORM_H

#include "cgi/request.h"

/* Decodes `a=b&c=d` into fields; bytes that are not valid UTF-8, or a NUL, are ERROR_INPUT. */
int form_parse_urlencoded(struct arena *arena, const char *text, size_t length,
	struct field **fields, size_t *count, struct error *error);

/* Percent-decodes a path. NULL if it is not valid UTF-8 or has a control character. */
char *form_decode_path(struct arena *arena, const char *text);

/* Reads the body of a POST into request->form and request->uploads; at most `most_bytes`. */
int form_read(struct request *request, size_t most_bytes);

/* Reads a body of another kind as it is; ERROR_LIMIT where it has more than `most_bytes`. */
int form_read_bytes(struct request *request, size_t most_bytes, struct buffer *body);

/* Whether the body was sent as this type, such as application/json. */
bool form_is_type(const struct request *request, const char *type);

#endif
