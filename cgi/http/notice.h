/* The sentence that reports an action on the page to which its redirect leads:
 *
 *	notice_leave(request, "%s was banned.", name);
 *	return redirect(request, "/admin/users");
 *
 * A cookie carries the sentence, and the next page that the browser gets shows it once. The router
 * reads the cookie and removes it. The cookie is authenticated with the session's token, so that no
 * link and no other site can make Podium show a sentence. */
#ifndef PODIUM_CGI_HTTP_NOTICE_H
#define PODIUM_CGI_HTTP_NOTICE_H

#include "cgi/http/request.h"

enum { notice_most_bytes = 1500 }; /* a longer sentence is cut */

void notice_leave(struct request *request, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Returns the sentence that the last request left, from the request's arena. NULL: there is none,
 * or it is not Podium's own. */
const char *notice_read(struct request *request);

/* Removes the cookie. */
void notice_forget(struct request *request);

#endif
