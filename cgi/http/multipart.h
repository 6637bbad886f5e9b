/* A streaming parser of multipart/form-data (RFC 7578): bytes go in as they arrive, whole parts
 * come out. It never holds more than the part that is being read, and every byte of it is hostile.
 */
#ifndef PODIUM_CGI_MULTIPART_H
#define PODIUM_CGI_MULTIPART_H

#include "lib/arena.h"
#include "lib/buffer.h"
#include "lib/error.h"

#include <stdbool.h>
#include <stddef.h>

enum {
	multipart_most_parts = 256,
	multipart_most_header_bytes = 8192,
	multipart_most_boundary_bytes = 70
};

struct multipart_part {
	const char *name;      /* of the form's field; never NULL */
	const char *file_name; /* NULL: an ordinary field. As sent, may be "" */
	const char *bytes;     /* in the arena, a NUL behind the last */
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
	struct buffer pending; /* bytes not yet understood */
	struct buffer body;    /* of the current part */
	struct multipart_part part;
	size_t parts;
};

/* `content_type` is the header's value; it must be multipart/form-data with a boundary. Parts go to
 * `take`. */
int multipart_begin(struct multipart *parser, struct arena *arena, const char *content_type,
	multipart_take *take, void *context, struct error *error);
int multipart_feed(struct multipart *parser, const char *bytes, size_t length, struct error *error);
int multipart_end(
	struct multipart *parser, struct error *error); /* the input is over: was it whole? */
void multipart_free(struct multipart *parser);

#endif
