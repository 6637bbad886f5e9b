/* What the templates of the account pages show. */
#ifndef PODIUM_CGI_ACCOUNT_H
#define PODIUM_CGI_ACCOUNT_H

struct account_form {
	const char *name, *next;                                /* as typed; "" at first */
	const char *name_error, *password_error, *form_error;   /* sentences, or NULL */
	const char *current_error, *again_error;
	const char *role;
};

#endif
