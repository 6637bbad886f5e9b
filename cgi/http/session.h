/* Sessions: the cookie holds a random token, and the database holds only its hash. The token
 * changes at each login. */
#ifndef PODIUM_CGI_HTTP_SESSION_H
#define PODIUM_CGI_HTTP_SESSION_H

#include "cgi/http/request.h"

/* Fills request->viewer and request->csrf from the cookie. Returns 0 for visitors without a
 * session. */
int session_recognise(struct request *request);

/* Reads the teams of request->viewer, which the caller has filled. `in_teams`: SQL_IN_TEAMS. */
int viewer_read_teams(struct request *request, bool in_teams);

/* The account to which the viewer's submissions to a leaderboard belong: their team's or their own
 * (team_author); 0: not logged in. For pages. If the database fails, it is their own. */
int64_t viewer_author_on(struct request *request, int64_t leaderboard_id);

/* Creates a session, ends the old one, and sets the cookie. `password_hash` is the hash that the
 * login's password matched; NULL: no password was checked. Returns ERROR_CONFLICT if the account
 * has another hash by now, or was banned or deleted. */
int session_start(struct request *request, int64_t user_id, const char *password_hash);

/* Ends the session and removes the cookie. */
int session_end(struct request *request);

/* Removes the cookie of a session that no longer exists. */
void session_forget(struct request *request);

/* Computes the hash under which the database stores the cookie's session. Returns false without a
 * valid cookie. */
bool session_hash(struct request *request, unsigned char hash[static 32]);

#endif
