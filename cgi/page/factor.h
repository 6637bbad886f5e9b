/* What the pages about second factors share, and data for their templates. */
#ifndef PODIUM_CGI_PAGE_FACTOR_H
#define PODIUM_CGI_PAGE_FACTOR_H

#include "cgi/http/request.h"
#include "lib/account/factor.h"
#include "lib/identity/passkey.h"

/* Asks for a factor: at a login, or before a change to the account. */
struct factor_form {
	const char *path; /* "/login/factor" or "/account/confirm" */
	const char *next;
	bool is_login, has_app, has_codes, has_passkeys, asks_password;
	const char *code_error, *password_error;
};

struct security_view {
	struct factors factors;
	struct passkey *passkeys;
	size_t count;
	bool is_confirmed;                  /* so the page offers changes */
	bool is_required;                   /* an admin must set one up */
	bool has_passkey_address;           /* browsers offer passkeys at the site's address */
	const struct recovery_codes *codes; /* new ones, shown only now; or NULL */
	const char *typed, *name_error;
};

struct app_view {
	const char *secret, *address; /* in Base32, and for the QR code */
	const char *code_error;
};

int security_show(struct request *request, const struct recovery_codes *codes);

/* What a passkey may be asked to sign for: "register", "login", "factor". */

/* Reads the browser's answer from the form and uses its challenge up. */
int passkey_answer_read(struct request *request, const char *purpose,
	const struct passkey_site *site, struct passkey_answer *answer);

/* Checks the form's passkey. Fills `passkey` with its row, after its count was stored. */
int passkey_check(struct request *request, const char *purpose, struct passkey *passkey);

/* Checks the form's code or passkey as a factor of this user. `factor` gets which it was, as in
 * struct session_opening. ERROR_INPUT, ERROR_FORBIDDEN and ERROR_LIMIT are for the user. */
int factor_check(
	struct request *request, int64_t user_id, const char *user_name, const char **factor);

/* Whether the viewer may add a way to log in: the session was opened or confirmed lately. An
 * account without a factor confirms with its password. Without a password either, there is nothing
 * to ask for. */
int factor_find_confirmation(struct request *request, bool *is_confirmed, struct error *error);

/* The same before an action. Returns false after a redirect, which leads back to `next`, or an
 * error; `rc` is the result of either. */
bool factor_may_change(struct request *request, const char *next, int *rc);

#endif
