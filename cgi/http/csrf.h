/* Protection against cross-site request forgery. Each form carries a token derived from the
 * visitor's cookie, and a POST must come from Podium's own origin. */
#ifndef PODIUM_CGI_HTTP_CSRF_H
#define PODIUM_CGI_HTTP_CSRF_H

#include "cgi/http/request.h"

/* Derives the form token from a session token of session_token_bytes, as hex in the arena. The form
 * token does not reveal the session token. */
const char *csrf_token(struct arena *arena, const unsigned char *token);

/* Gives a visitor without a session a cookie and a form token for the login form. */
void csrf_offer(struct request *request);

/* Checks the Origin header and the form token of a POST. Returns ERROR_FORBIDDEN with a message if
 * either is wrong. */
int csrf_check(struct request *request);

/* Checks only that the Origin header is there and is Podium's own. For a form that does nothing in
 * the visitor's name. */
int csrf_check_origin(struct request *request);

#endif
