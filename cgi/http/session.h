/* Sessions: the cookie holds a random token, and the database holds only its hash. The token
 * changes at each login. */
#ifndef PODIUM_CGI_HTTP_SESSION_H
#define PODIUM_CGI_HTTP_SESSION_H

#include "cgi/http/request.h"

/* Fills request->viewer or request->awaited, and request->csrf, from the cookie. Returns 0 for
 * visitors without a session. */
int session_recognise(struct request *request);

/* Reads the teams of request->viewer, which the caller has filled. `in_teams`: SQL_IN_TEAMS. */
int viewer_read_teams(struct request *request, bool in_teams);

/* The account to which the viewer's submissions to a leaderboard belong: their team's or their own
 * (team_author); 0: not logged in. For pages. If the database fails, it is their own. */
int64_t viewer_author_on(struct request *request, int64_t leaderboard_id);

struct session_opening {
	int64_t user_id;
	const char *opened_with; /* "password", "provider", "passkey", "link", "registration" */
	/* The hash that the login's password matched; NULL: no password was checked. */
	const char *password_hash;
	/* What confirmed the login besides: "app", "passkey", "code", or "provider" for one that the
	 * site trusts with it. NULL: nothing. */
	const char *factor;
	const char *next; /* the path to which the login leads */
};

/* Ends the old session, creates one, sets the cookie and redirects. If the account has a second
 * factor and the opening has none, nobody is logged in yet: the redirect leads to the page that
 * asks for it, and session_finish then logs in. Returns ERROR_CONFLICT if the account has another
 * password by now, or was banned or deleted. */
int session_start(struct request *request, const struct session_opening *opening);

/* Logs in request->awaited, who gave the factor, with a new token. Redirects to `next`.
 * ERROR_CONFLICT: the session expired or was ended. */
int session_finish(struct request *request, const char *factor, const char *next);

/* The viewer gave the factor again ("app", "passkey" or "code") or the password (NULL). */
int session_confirm(
	struct database *db, struct request *request, const char *factor, struct error *error);

/* Whether the viewer has logged in or confirmed the session in the last minutes. */
bool session_is_fresh(const struct request *request);

/* Whether the viewer must set a second factor up before anything else: an admin of a site with
 * second_factor = admins. A provider that the site trusts with it is enough. */
bool session_lacks_factor(const struct request *request);

/* Ends the viewer's other sessions. */
int session_end_others(struct database *db, struct request *request, struct error *error);

/* Ends the session and removes the cookie. */
int session_end(struct request *request);

/* Removes the cookie of a session that no longer exists. */
void session_forget(struct request *request);

/* Computes the hash under which the database stores the cookie's session. Returns false without a
 * valid cookie. */
bool session_hash(struct request *request, unsigned char hash[static 32]);

#endif
