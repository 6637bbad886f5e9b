/* Data for the page /device: it shows which terminal asks for access, and its owner approves or
 * refuses. */
#ifndef PODIUM_CGI_PAGE_DEVICE_AUTHORIZATION_H
#define PODIUM_CGI_PAGE_DEVICE_AUTHORIZATION_H

#include "cgi/action/device_authorization.h"

struct device_authorization_view {
	const char *typed;      /* the code as typed; "" at first */
	const char *code_error; /* a sentence, or NULL */
	/* The terminal that shows this code; NULL: no code was typed, or no terminal has it. */
	const struct device_authorization *terminal;
	const char *address; /* address of this browser, to compare with the terminal's */
	bool is_same_address;
	int64_t scopes;   /* scopes of the token: the wanted ones that the viewer's role may grant */
	const char *name; /* name of the new token, as typed */
	int64_t days;
	const char *name_error, *scope_error, *days_error;
	bool is_plain_http; /* podium sends a token to this site only with --insecure-http */
};

#endif
