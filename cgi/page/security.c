/* /account/security: passkeys, the authenticator app and recovery codes of the viewer. */
#include "cgi/page/factor.h"

#include "cgi/http/confirmation.h"
#include "cgi/http/known_browser.h"
#include "cgi/http/notice.h"
#include "cgi/http/session.h"
#include "cgi/page/account.h"
#include "cgi/page/pages.h"
#include "lib/base/format.h"
#include "lib/base/scope.h"
#include "lib/identity/totp.h"
#include "templates/account_app.h"
#include "templates/account_security.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>

_Static_assert((int)app_secret_bytes == (int)totp_secret_bytes, "both are the secret's length");

int security_show(struct request *request, const struct recovery_codes *codes)
{
	struct passkey_site site;
	struct error own = { 0 };
	struct security_view view = { .codes = codes && codes->made ? codes : NULL };
	int64_t id = request->viewer.id;
	int rc = factors_of_user(request->db, request->arena, id, &view.factors, &own);
	if (!rc)
		rc = passkeys_of_user(request->db, request->arena, id, &view.passkeys, &view.count, &own);
	if (!rc)
		rc = factor_find_confirmation(request, &view.is_confirmed, &own);
	if (rc) {
		*request->error = own;
		return rc;
	}
	view.has_passkey_address = passkey_site_of(request->config->public_url, &site);
	view.is_required = session_lacks_factor(request) && !factors_any(&view.factors);
	view.typed = view.codes ? "" : request_form_or(request, "name", "");
	view.name_error = form_error(request, "name");
	struct page page = form_page_make(request, "Security", "account");
	page.script = "/static/passkey.js";
	account_security_page(&request->body, &page, &view);
	return 0;
}

static int show_without_codes(struct request *request)
{
	return security_show(request, NULL);
}

int page_security(struct request *request)
{
	return show_without_codes(request);
}

static bool may_change(struct request *request, int *rc)
{
	return factor_may_change(request, "/account/security", rc);
}

/* ---- adding ---- */

struct addition {
	struct request *request;
	const struct passkey *passkey; /* NULL: the app, whose first code is of `step` */
	int64_t step;
	struct recovery_codes *codes;
};

/* The first factor ends all other sessions, because nobody gave one for them. */
static int add_body(struct database *db, void *context, struct error *error)
{
	const struct addition *addition = context;
	struct request *request = addition->request;
	struct actor actor = actor_of(request);
	int rc = addition->passkey
		? passkey_add(db, addition->passkey, &actor, addition->codes, error)
		: app_confirm(db, request->viewer.id, addition->step, &actor, addition->codes, error);
	if (!rc && !request->viewer.has_factor)
		rc = session_end_others(db, request, error);
	return rc ? rc : session_confirm(db, request, addition->passkey ? "passkey" : "app", error);
}

static int add_factor(struct request *request, struct addition *addition)
{
	struct recovery_codes codes = { 0 };
	addition->request = request;
	addition->codes = &codes;
	int rc = database_transaction(request->db, add_body, addition, request->error);
	if (!rc)
		rc = known_browser_mark(request, request->viewer.id);
	if (rc)
		return rc;
	/* The page shows new codes only now. */
	if (codes.made) {
		rc = security_show(request, &codes);
		sodium_memzero(&codes, sizeof codes);
		return rc;
	}
	notice_leave(request, "The factor was added.");
	return redirect(request, "/account/security");
}

static int add_passkey(struct request *request)
{
	struct passkey_site site;
	struct passkey_answer answer;
	struct passkey_key key;
	const char *name = request_form_or(request, "name", "");
	int rc = passkey_check_name(name, request->error);
	if (!rc && !passkey_site_of(request->config->public_url, &site))
		rc = fail(
			request->error, ERROR_INPUT, "Browsers offer no passkeys at the address of this site.");
	if (!rc)
		rc = passkey_answer_read(request, "register", &site, &answer);
	if (!rc)
		rc = passkey_register(&answer, &key, request->error);
	if (rc)
		return rc;
	const struct passkey passkey = { .user_id = request->viewer.id,
		.name = name,
		.credential_id = { key.id, key.id_length },
		.public_key = { key.key, key.key_length },
		.algorithm = key.algorithm,
		.sign_count = key.sign_count };
	struct addition addition = { .passkey = &passkey };
	return add_factor(request, &addition);
}

/* ---- removing ---- */

static int remove_factor(
	struct request *request, enum factor_kind kind, int64_t passkey_id, const char *what)
{
	struct actor actor = actor_of(request);
	struct confirmation question = { .title = arena_printf(request->arena, "Remove %s?", what),
		.section = "account",
		.button = "Remove",
		.back = "/account/security" };
	if (!confirmation_given(request, &question)) {
		confirmation_says(request, &question,
			"You will no longer be able to log in with it. With the last factor, Podium also "
			"deletes the recovery codes.");
		return confirmation_ask(request, &question);
	}
	int rc = factor_remove(request->db, request->viewer.id, request->viewer.name, kind, passkey_id,
		&actor, request->error);
	if (rc)
		return rc;
	notice_leave(request, "Removed. You can no longer log in with it.");
	return redirect(request, "/account/security");
}

static int remove_app(struct request *request)
{
	return remove_factor(request, FACTOR_APP, 0, "the authenticator app");
}

static int remove_passkey(struct request *request)
{
	return remove_factor(request, FACTOR_PASSKEY,
		strtoll(request_form_or(request, "passkey", ""), NULL, 10), "this passkey");
}

/* ---- recovery codes ---- */

static int make_codes(struct request *request)
{
	struct recovery_codes codes = { 0 };
	struct actor actor = actor_of(request);
	struct confirmation question = { .title = "Make new recovery codes?",
		.section = "account",
		.button = "Make new codes",
		.back = "/account/security" };
	if (!confirmation_given(request, &question)) {
		confirmation_says(request, &question, "The codes that you have stop working.");
		return confirmation_ask(request, &question);
	}
	int rc = recovery_codes_make(request->db, request->viewer.id, &actor, &codes, request->error);
	if (!rc)
		rc = security_show(request, &codes);
	sodium_memzero(&codes, sizeof codes);
	return rc;
}

static const struct security_action {
	const char *name;
	int (*run)(struct request *request);
} ACTIONS[] = {
	{ "add_passkey", add_passkey },
	{ "remove_passkey", remove_passkey },
	{ "remove_app", remove_app },
	{ "codes", make_codes },
};

int action_security(struct request *request)
{
	const char *action = request_form_or(request, "action", "");
	int rc;
	if (!may_change(request, &rc))
		return rc;
	rc = fail(request->error, ERROR_INPUT, "This page has no such action. Reload the page.");
	for (size_t i = 0; i < COUNT(ACTIONS); i++)
		if (strcmp(ACTIONS[i].name, action) == 0) {
			*request->error = (struct error){ 0 };
			rc = ACTIONS[i].run(request);
		}
	return rc == ERROR_INPUT || rc == ERROR_CONFLICT || rc == ERROR_LIMIT
		? account_form_again(request, rc, show_without_codes)
		: rc;
}

/* ---- the authenticator app ---- */

/* The name of the entry in the app: the site's host. */
static const char *app_name_of(struct request *request)
{
	const char *address = request->config->public_url, *name = strstr(address, "://");
	name = name ? name + 3 : address;
	return arena_strndup(request->arena, name, strcspn(name, "/"));
}

static int show_app(struct request *request)
{
	struct app app;
	struct error own = { 0 };
	totp_secret_text text;
	cleanup_buffer struct buffer address = { 0 };
	int rc = app_read(request->db, request->arena, request->viewer.id, false, &app, &own);
	if (rc == ERROR_NOT_FOUND)
		return redirect(request, "/account/security");
	if (rc) {
		*request->error = own;
		return rc;
	}
	totp_secret_write(app.secret.bytes, text);
	totp_address(&address, app_name_of(request), request->viewer.name, app.secret.bytes);
	const struct app_view view = { .secret = text,
		.address = buffer_string(&address),
		.code_error = form_error(request, "code") };
	struct page page = form_page_make(request, "Set up an authenticator app", "account");
	account_app_page(&request->body, &page, &view);
	return 0;
}

int page_app(struct request *request)
{
	int rc;
	return may_change(request, &rc) ? show_app(request) : rc;
}

static int begin_app(struct request *request)
{
	unsigned char secret[app_secret_bytes];
	randombytes_buf(secret, sizeof secret);
	int rc = app_begin(request->db, request->viewer.id, secret, request->error);
	sodium_memzero(secret, sizeof secret);
	if (rc == ERROR_CONFLICT)
		return account_form_again(request, rc, show_without_codes);
	return rc ? rc : redirect(request, "/account/security/app");
}

static int confirm_app(struct request *request)
{
	struct app app;
	int rc = app_read(request->db, request->arena, request->viewer.id, false, &app, request->error);
	if (rc == ERROR_NOT_FOUND)
		return redirect(request, "/account/security");
	if (rc)
		return rc;
	int64_t step =
		totp_find_step(app.secret.bytes, request_form_or(request, "code", ""), now_ms() / 1000, 0);
	struct addition addition = { .step = step };
	rc = step ? add_factor(request, &addition)
			  : fail_field(request->error, "code",
				  "This is not the code that the app shows now. If a second one is refused too, "
				  "set the clock of the app’s device.");
	return rc ? account_form_again(request, rc, show_app) : 0;
}

int action_app(struct request *request)
{
	int rc;
	if (!may_change(request, &rc))
		return rc;
	return request_form(request, "code") ? confirm_app(request) : begin_app(request);
}
