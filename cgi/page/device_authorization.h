/* What the page /device shows: which terminal asks, and the form with which its owner answers. */
#ifndef PODIUM_CGI_TERMINAL_H
#define PODIUM_CGI_TERMINAL_H

#include "lib/terminal.h"

struct terminal_view {
	const char *typed;      /* the code; "" at first */
	const char *code_error; /* a sentence, or NULL */
	const struct terminal
		*terminal;       /* the one that was found; NULL: none was looked for, or there is none */
	const char *address; /* of this browser, to be compared with the terminal's */
	bool is_same_address;
	int64_t scopes;   /* that it is given: those that the viewer's role may have */
	const char *name; /* of the token that it becomes, as typed */
	int64_t days;
	const char *name_error, *days_error, *form_error;
};

#endif
