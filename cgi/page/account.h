/* Data for the templates of the account pages. */
#ifndef PODIUM_CGI_PAGE_ACCOUNT_H
#define PODIUM_CGI_PAGE_ACCOUNT_H

#include "cgi/action/account_deletion.h"
#include "cgi/action/token.h"
#include "cgi/http/request.h"
#include "lib/mail/mail.h"

struct account_form {
	const char *name, *next;                              /* as typed; "" on the first view */
	const char *name_error, *password_error, *form_error; /* sentences, or NULL */
	const char *current_error, *again_error;
	int64_t tokens; /* number of API tokens, which the form offers to revoke */
	bool revokes_tokens;
	bool can_reset; /* the site sends e-mails, so the login page offers one with a link */
};

struct account_session {
	const char *handle; /* identifies the session in forms; it cannot authenticate anybody */
	const char *address, *user_agent, *device;                /* at login */
	const char *seen_address, *seen_user_agent, *seen_device; /* at the last request */
	int64_t created_at_ms, seen_at_ms, expires_at_ms;
	int64_t is_this_one;
};

struct sessions_view {
	struct account_session *sessions;
	size_t count;
};

struct tokens_view {
	struct token *tokens;
	size_t count;
	const char *secret; /* secret of the token just created, shown only once; or NULL */
	const char *name;   /* form fields as typed */
	int64_t scopes, days;
	bool may_administer;
	bool is_plain_http; /* podium sends a token to this site only with --insecure-http */
	const char *name_error, *scope_error, *days_error;
};

/* Makes all checks of the form's order and keeps their errors (form_note). Returns the first one's
 * code, or 0. */
int token_order_note(struct request *request, const struct token_order *order);

/* Reads a token's lifetime from the form's field `days`. Returns -1, which token_create rejects, if
 * the field holds no number. */
int64_t token_days_of_form(struct request *request);

struct mail_view {
	struct mail_address mail;
	const char *typed; /* as typed; "" on the first view */
	const char *address_error, *current_error;
	bool is_creator;
};

struct data_view {
	const char *form_error;
};

struct deletion_view {
	struct account_extent extent;
	const char *typed;
	const char *name_error, *password_error;
};

#endif
