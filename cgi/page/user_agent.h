/* Names the program that uses a session, so that the session's owner recognizes it. */
#ifndef PODIUM_CGI_PAGE_USER_AGENT_H
#define PODIUM_CGI_PAGE_USER_AGENT_H

#include "lib/base/arena.h"

/* Describes the program that sent this User-Agent header: "Firefox on Linux", "Safari on an
 * iPhone", "curl", "an unknown program". A client can send any header, so the words prove
 * nothing. */
const char *user_agent_words(struct arena *arena, const char *user_agent);

#endif
