/* Data for the templates of the account pages. */
#ifndef PODIUM_CGI_PAGE_ACCOUNT_H
#define PODIUM_CGI_PAGE_ACCOUNT_H

#include "cgi/action/account_deletion.h"
#include "cgi/action/token.h"
#include "cgi/http/request.h"
#include "lib/mail/mail.h"

struct identities_view;

struct account_form {
	const struct config *config; /* its providers, and whether there are passwords */
	const char *name, *next;     /* as typed; "" on the first view */
	const char *name_error, *password_error, *form_error; /* sentences, or NULL */
	const char *current_error, *again_error;
	int64_t tokens; /* number of API tokens, which the form offers to revoke */
	bool revokes_tokens;
	bool has_passkey_address; /* browsers offer passkeys at the site's address */
	bool can_reset;           /* the site sends e-mails, so the login page offers one with a link */
	bool has_password;
	bool is_confirmed;             /* so the account's page offers to change the password */
	bool may_register, needs_code; /* the site's registration mode */
	const char *code, *code_error; /* the invite code as typed */
	/* Linked accounts, after a change of the password: they still log in. NULL: none, or no change.
	 */
	const struct identities_view *linked;
};

struct account_form account_form_of(const struct request *request);

/* Whether somebody may create an account. `by_domain`: a provider has verified an e-mail address in
 * a domain of registration_domains. */
bool account_may_register(const struct config *config, bool by_domain);
bool account_needs_code(const struct config *config);

/* Shows the login page with the request's error, if there is one. */
int login_show(struct request *request);

/* Shows a form again with the error. Returns errors of the database and the system, so that the
 * router reports them. */
int account_form_again(struct request *request, int rc, int show(struct request *));

/* Checks the fields `name` and `password` against the limits and the account. */
int account_check_login(struct request *request, struct user *user);

/* Whether the viewer may do what a stolen session must not: the account has no second factor, or
 * the session was opened or confirmed lately. Otherwise it redirects to the page that asks for a
 * factor and then leads to `next`. */
bool account_is_confirmed(struct request *request, const char *next);

/* ERROR_FORBIDDEN if the site has no passwords. */
int account_refuse_passwords(struct request *request);

/* The field `code` where the site needs one: whether there is one, and its use by the new user. */
int account_check_code(struct request *request);
int account_redeem_code(
	struct database *db, const struct request *request, int64_t user_id, struct error *error);

/* A sign-in with a provider that the browser must finish. */
struct sign_in_form {
	struct account_form account;
	const char *label, *shown_as; /* the provider and the name there */
	const char *name;             /* proposed for the new account */
	bool may_register;
};

struct identity_view {
	int64_t id;
	const char *label, *shown_as;
	int64_t created_at_ms, used_at_ms;
};

struct identities_view {
	const struct config *config;
	struct identity_view *identities;
	size_t count;
};

int identities_read(struct request *request, struct identities_view *view, struct error *error);
int identities_show(struct request *request);

struct account_session {
	const char *handle; /* identifies the session in forms; it cannot authenticate anybody */
	const char *address, *user_agent, *device;                /* at login */
	const char *seen_address, *seen_user_agent, *seen_device; /* at the last request */
	int64_t created_at_ms, seen_at_ms, expires_at_ms;
	const char *opened_with, *factor; /* as in struct session_opening; NULL: unknown, none */
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
	bool has_password;
};

#endif
