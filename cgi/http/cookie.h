/* Cookies of a request and its answer, among them the one that holds a session's token. */
#ifndef PODIUM_CGI_HTTP_COOKIE_H
#define PODIUM_CGI_HTTP_COOKIE_H

#include "cgi/http/request.h"

/* Sets a cookie from "name=value; Path=/..." and adds Secure over HTTPS. It also makes the response
 * uncacheable. */
void response_cookie(struct request *request, const char *cookie);

enum { session_token_bytes = 32 };

/* Decodes the session token from its cookie. Returns NULL if there is none or its length is
 * wrong. */
const unsigned char *cookie_token(struct request *request);

/* Sets the session cookie to `token`; NULL clears it. With `max_age_s` below 0, the cookie lasts
 * until the browser closes. */
void cookie_set_token(struct request *request, const unsigned char *token, int64_t max_age_s);

#endif
