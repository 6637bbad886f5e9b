/* What an answer is sent with, as records of FastCGI's standard output. libfcgi writes 8 KiB of it
 * at a time, and nginx wakes up for each; here a page is one system call. The end of the request is
 * still libfcgi's to tell. */
#ifndef PODIUM_CGI_FASTCGI_H
#define PODIUM_CGI_FASTCGI_H

#include "lib/buffer.h"

#include <fcgiapp.h>
#include <stdbool.h>
#include <stddef.h>

struct span {
	const void *bytes;
	size_t length;
};

/* Sends them behind each other. Nothing else may have been written into the request's `out`. False:
 * nobody listens any more. */
bool fastcgi_send(const FCGX_Request *request, const struct span *spans, size_t count);

/* For who writes to a connection by himself, when it has room: the same as bytes, and the end of
 * the answer to the request. */
void fastcgi_add(struct buffer *out, int request_id, const void *bytes, size_t length);
void fastcgi_add_end(struct buffer *out, int request_id);

/* Takes the connection from the request, so that libfcgi neither ends nor closes it, and forgets
 * the rest. The caller closes it. */
int fastcgi_take(FCGX_Request *request);

#endif
