/* /popcorn, for popcorn-cli: who asks, and how errors are written. A call is a handler like that of a page, and a row of
 * POPCORN_ROUTES (cgi/popcorn_routes.c). cgi/api.h has functions for what both interfaces do. */
#ifndef PODIUM_CGI_POPCORN_H
#define PODIUM_CGI_POPCORN_H

#include "cgi/router.h"

extern const struct call_table POPCORN_ROUTES;

/* X-Popcorn-Cli-Id, else a bearer token. Without either the visitor is nobody. */
int popcorn_recognise(struct request *request);
int popcorn_admit(struct request *request, const struct call *call);
int popcorn_read(struct request *request, const struct call *call);
void popcorn_refuse(struct request *request, int code, const char *title, const char *sentence); /* {"detail": sentence} */

#endif
