/* Reading, and submissions, under /api/v1. */
#include "cgi/api.h"

#include "cgi/api_calls.h"

static const struct call CALLS[] = {
	{ { METHOD_GET, "/api/v1", api_root, ANYONE, 0 }, 0, "" },
	{ { METHOD_GET, "/api/v1/me", api_me, LOGGED_IN, 0 }, 0, "" },
};
const struct call_table API_ROUTES = CALL_TABLE(CALLS);
