/* Data for the page of a leaderboard's exceptions. */
#ifndef PODIUM_CGI_ADMIN_EXCEPTIONS_H
#define PODIUM_CGI_ADMIN_EXCEPTIONS_H

#include "lib/judging/exception.h"

struct exceptions_view {
	const struct leaderboard *leaderboard;
	const struct exception *exceptions;
	size_t count;
	const char *action, *user, *deadline, *reason; /* of the form that was sent, as typed */
	const char *user_error, *deadline_error, *reason_error;
};

#endif
