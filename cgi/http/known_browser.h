/* A signed cookie that lasts 400 days and says: this browser has signed in to this account before.
 * It opens nothing. It only keeps the account's owner apart from strangers who try passwords for
 * the same name, so that their attempts do not lock the owner out. It is void once the account has
 * another password or another oldest factor. */
#ifndef PODIUM_CGI_HTTP_KNOWN_BROWSER_H
#define PODIUM_CGI_HTTP_KNOWN_BROWSER_H

#include "cgi/http/request.h"

typedef char known_browser_id[33]; /* hex */

/* Whether the browser has signed in to this account before; fills `id`. Returns 0 or an error of
 * the database. */
int known_browser_read(
	struct request *request, int64_t user_id, bool *is_known, known_browser_id id);

/* Sets the cookie after a sign-in. A browser knows one account, the last one. */
int known_browser_mark(struct request *request, int64_t user_id);

#endif
