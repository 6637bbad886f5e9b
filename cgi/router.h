/* Finds the handler for a request. Route tables say which handler answers an address and who may
 * call it.
 *
 * Podium has three interfaces. The router tells them apart by the beginning of the address.
 *
 * - Pages: ROUTES in router.c. The session cookie names the viewer, a POST needs a CSRF token, and
 *   errors are HTML pages.
 * - /api/v1: the API_..._ROUTES of cgi/api/api.h. "Authorization: Bearer TOKEN" names the viewer.
 *   Errors are problem details.
 * - /popcorn: POPCORN_ROUTES in cgi/popcorn/popcorn.h. X-Popcorn-Cli-Id or a bearer token names the
 *   viewer, and errors are {"detail": "..."}.
 *
 * To add a page, add a row to ROUTES. To add a call, add a row to the table of its area:
 * cgi/api/routes.c, cgi/api/admin_routes.c, cgi/api/device_authorization_routes.c or
 * cgi/popcorn/routes.c. To add an area, declare its table beside the others and add it to
 * API_TABLES or POPCORN_TABLES in router.c. If several rows match an address, the first one
 * answers. */
#ifndef PODIUM_CGI_ROUTER_H
#define PODIUM_CGI_ROUTER_H

#include "cgi/http/route.h"

/* Routes of all interfaces are numbered from 1. Number 0 stands for unknown addresses. Returns NULL
 * after the last route. */
const struct route *router_route(size_t number);

/* Returns the request's path for a log, without secrets such as the code of a password link. */
const char *router_loggable_path(const struct request *request);

/* Answers a request: finds interface and route, recognises the viewer, checks rights, reads the
 * input and runs the handler. Turns errors into answers. Never fails. */
void router_answer(struct request *request);

#endif
