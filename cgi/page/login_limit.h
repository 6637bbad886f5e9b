/* Private to cgi/page: limits on wrong passwords at the login, which do not lock the right owner
 * out.
 *
 * - A name has 10 attempts in 5 minutes from all browsers that never signed in to it.
 * - A browser that has signed in to the account has 10 attempts, whatever strangers do.
 * - An address may try 30 names in 5 minutes. A class behind one address may mistype freely. */
#ifndef PODIUM_CGI_PAGE_LOGIN_LIMIT_H
#define PODIUM_CGI_PAGE_LOGIN_LIMIT_H

#include "cgi/http/known_browser.h"

struct login_attempt {
	const char *name, *pair; /* "NAME ADDRESS" */
	bool is_known, counts_address;
	known_browser_id browser;
};

/* Counts an attempt before the password is hashed, which is expensive. `user_id` is 0 for a name
 * without an account. ERROR_LIMIT: too many. */
int login_limit_hit(
	struct request *request, const char *name, int64_t user_id, struct login_attempt *attempt);

/* Takes the attempt back, because the password was right. */
int login_limit_return(struct request *request, const struct login_attempt *attempt);

/* Counts a new account of the request's address. */
int registration_limit_hit(struct request *request);

#endif
