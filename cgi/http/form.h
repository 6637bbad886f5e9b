/* Decodes queries and form bodies into the fields of a request. */
#ifndef PODIUM_CGI_HTTP_FORM_H
#define PODIUM_CGI_HTTP_FORM_H

#include "cgi/http/request.h"

/* Decodes `a=b&c=d` into fields that point into `text`, which changes; a NUL follows its `length`
 * bytes. Skips empty pieces. Returns ERROR_INPUT for invalid UTF-8 and for NUL bytes. */
int form_parse_urlencoded(struct arena *arena, char *text, size_t length, struct field **fields,
	size_t *count, struct error *error);

/* Decodes the address's query into request->query. */
int form_parse_query(struct request *request);

/* Percent-decodes a path. Returns NULL for invalid UTF-8 and for control characters. */
char *form_decode_path(struct arena *arena, const char *text);

/* Reads the body of a POST into request->form and request->uploads. Returns ERROR_LIMIT if it has
 * more than `most_bytes`. */
int form_read(struct request *request, size_t most_bytes);

/* Reads the request->body_length bytes of the body without decoding them, for content types other
 * than forms. A NUL follows them. Returns ERROR_LIMIT above `most_bytes`. */
int form_read_bytes(struct request *request, size_t most_bytes, const char **bytes);

/* Whether the body has this content type, such as application/json. */
bool form_is_type(const struct request *request, const char *type);

#endif
