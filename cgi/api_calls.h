/* Handlers of /api/v1, by the file that holds them. The addresses are in api_routes.c. */
#ifndef PODIUM_CGI_API_CALLS_H
#define PODIUM_CGI_API_CALLS_H

#include "cgi/router.h"

/* api_about.c: what this is, whose token it is */
handler api_root, api_me;

#endif
