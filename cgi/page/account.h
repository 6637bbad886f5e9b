/* What the templates of the account pages show. */
#ifndef PODIUM_CGI_ACCOUNT_H
#define PODIUM_CGI_ACCOUNT_H

#include "lib/account.h"
#include "lib/token.h"

struct account_form {
	const char *name, *next;                              /* as typed; "" at first */
	const char *name_error, *password_error, *form_error; /* sentences, or NULL */
	const char *current_error, *again_error;
	int64_t tokens; /* that a new password may revoke */
	bool revokes_tokens;
};

struct account_session {
	const char *handle;                        /* names it in forms; of no use to log in */
	const char *address, *user_agent, *device; /* where it began */
	const char *seen_address, *seen_user_agent, *seen_device; /* where it was used last */
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
	const char *secret; /* of a token that was just made; shown this once. NULL: none was */
	const char *name;   /* the form, as typed */
	int64_t scopes, days;
	bool may_administer;
	const char *name_error, *scope_error, *days_error, *form_error;
};

struct data_view {
	const char *form_error;
};

struct deletion_view {
	struct account_extent extent;
	const char *typed;
	const char *name_error, *password_error, *form_error;
};

#endif
