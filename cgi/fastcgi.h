/* What an answer is sent with, as records of FastCGI's standard output. libfcgi writes 8 KiB of it at a time, and nginx wakes up for
 * each; here a page is one system call. The end of the request is still libfcgi's to tell. */
#ifndef PODIUM_CGI_FASTCGI_H
#define PODIUM_CGI_FASTCGI_H

#include <fcgiapp.h>
#include <stdbool.h>
#include <stddef.h>

struct span { const void *bytes; size_t length; };

/* Sends them behind each other. Nothing else may have been written into the request's `out`. False: nobody listens any more. */
bool fastcgi_send(const FCGX_Request *request, const struct span *spans, size_t count);

#endif
