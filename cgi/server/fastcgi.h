/* Sends an answer as records of FastCGI's standard output. fastcgi_send writes a page with one
 * system call. libfcgi would write 8 KiB at a time, and nginx would wake up for each write. libfcgi
 * only ends the request. */
#ifndef PODIUM_CGI_SERVER_FASTCGI_H
#define PODIUM_CGI_SERVER_FASTCGI_H

#include "lib/base/buffer.h"

#include <fcgiapp.h>
#include <stdbool.h>
#include <stddef.h>

struct span {
	const void *bytes;
	size_t length;
};

/* Sends the spans in order. The caller must not write to the request's stream `out`. False: the
 * client has gone. */
bool fastcgi_send(const FCGX_Request *request, const struct span *spans, size_t count);

/* For callers that write to a connection only when it has room. fastcgi_add appends to `out` the
 * records that fastcgi_send would send. fastcgi_add_end appends the end of the answer. */
void fastcgi_add(struct buffer *out, int request_id, const void *bytes, size_t length);
void fastcgi_add_end(struct buffer *out, int request_id);

/* Takes the connection over from libfcgi, which then neither ends nor closes it, and frees the
 * request. Returns the connection, which the caller closes. */
int fastcgi_take(FCGX_Request *request);

#endif
