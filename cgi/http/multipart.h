/* Private to cgi/http: a streaming parser for multipart/form-data (RFC 7578). It takes bytes as
 * they arrive, collects the current part in memory, and passes each whole part to a callback. All
 * input may be hostile. */
#ifndef PODIUM_CGI_HTTP_MULTIPART_H
#define PODIUM_CGI_HTTP_MULTIPART_H

#include "lib/base/arena.h"
#include "lib/base/buffer.h"
#include "lib/base/error.h"

#include <stdbool.h>
#include <stddef.h>

enum {
	multipart_most_parts = 256,
	multipart_most_header_bytes = 8192,
	multipart_most_boundary_bytes = 70
};

struct multipart_part {
	const char *name;      /* the form field's name; never NULL */
	const char *file_name; /* as sent, may be ""; NULL: an ordinary field */
	const char *bytes;     /* in the arena, followed by a NUL */
	size_t length;
};

typedef int multipart_take(void *context, const struct multipart_part *part, struct error *error);

struct multipart {
	struct arena *arena;
	multipart_take *take;
	void *context;
	char delimiter[multipart_most_boundary_bytes + 5]; /* "\r\n--boundary" */
	size_t delimiter_length;
	enum {
		MULTIPART_PREAMBLE,
		MULTIPART_BEHIND_DELIMITER,
		MULTIPART_HEADERS,
		MULTIPART_BODY,
		MULTIPART_DONE
	} state;
	struct buffer pending; /* bytes not yet parsed */
	struct buffer body;    /* body of the current part */
	struct multipart_part part;
	size_t parts;
};

/* `content_type` is the header's value, multipart/form-data with a boundary. The parser passes each
 * whole part to `take`. */
int multipart_begin(struct multipart *parser, struct arena *arena, const char *content_type,
	multipart_take *take, void *context, struct error *error);
int multipart_feed(struct multipart *parser, const char *bytes, size_t length, struct error *error);
/* Call at the end of the input. Returns ERROR_INPUT if the input is incomplete. */
int multipart_end(struct multipart *parser, struct error *error);
void multipart_free(struct multipart *parser);

#endif
