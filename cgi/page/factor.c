/* Asks for the second factor: after the password at a login, and before changes to the account. */
#include "cgi/page/factor.h"

#include "cgi/http/known_browser.h"
#include "cgi/http/rate_limit.h"
#include "cgi/http/session.h"
#include "cgi/page/account.h"
#include "cgi/page/pages.h"
#include "cgi/render/html.h"
#include "lib/base/format.h"
#include "lib/base/scope.h"
#include "lib/identity/totp.h"
#include "templates/factor.h"

#include <string.h>

/* Six digits need both limits: whoever knows the password then guesses a code with a chance of
 * 1 in 6,600 a day. Browsers that the owner has used have their own counters, so that strangers do
 * not lock the owner out. */
static const struct rate_limit CODES = { "second factor", 10, 300 };
static const struct rate_limit CODES_OF_DAY = { "second factor in a day", 50, 86400 };
static const struct rate_limit PASSWORDS = { "confirm password", 10, 300 };

/* ---- checks ---- */

static int read_code(struct request *request, char *code, size_t size)
{
	const char *typed = request_form_or(request, "code", "");
	size_t length = 0;
	for (; *typed; typed++)
		if (*typed != ' ' && length + 1 < size)
			code[length++] = *typed;
	code[length] = '\0';
	return length ? 0 : fail_field(request->error, "code", "Type a code.");
}

static int check_app(struct request *request, int64_t user_id, const char *code)
{
	struct app app;
	int rc = app_read(request->db, request->arena, user_id, true, &app, request->error);
	if (rc == ERROR_NOT_FOUND)
		return fail_field(request->error, "code", "This account has no authenticator app.");
	if (rc)
		return rc;
	int64_t now_s = now_ms() / 1000, step = totp_find_step(app.secret.bytes, code, now_s, 0);
	return step ? app_used(request->db, user_id, step, request->error)
				: fail_field(request->error, "code",
					"This code is wrong or too old. Type the one that the app shows now. If it is "
					"refused too, set the clock of the app’s device.");
}

static int check_code(
	struct request *request, int64_t user_id, const char *user_name, const char **factor)
{
	char code[64];
	const struct actor actor = { user_id, user_name, request->address };
	int rc = read_code(request, code, sizeof code);
	if (rc)
		return rc;
	if (recovery_code_is(code)) {
		*factor = "code";
		return recovery_code_use(request->db, user_id, code, &actor, request->error);
	}
	*factor = "app";
	return check_app(request, user_id, code);
}

static int check_own_passkey(struct request *request, int64_t user_id, const char **factor)
{
	struct passkey passkey;
	*factor = "passkey";
	int rc = passkey_check(request, "factor", &passkey);
	return rc || passkey.user_id == user_id
		? rc
		: fail(request->error, ERROR_INPUT, "This passkey belongs to another account.");
}

int factor_check(
	struct request *request, int64_t user_id, const char *user_name, const char **factor)
{
	known_browser_id browser;
	bool is_known;
	int rc = known_browser_read(request, user_id, &is_known, browser);
	const char *whom = is_known ? browser : user_name;
	if (!rc)
		rc = rate_limit_hit(request, &CODES, whom);
	if (!rc)
		rc = rate_limit_hit(request, &CODES_OF_DAY, whom);
	if (!rc)
		rc = *request_form_or(request, "credential", "")
			? check_own_passkey(request, user_id, factor)
			: check_code(request, user_id, user_name, factor);
	if (!rc)
		rc = rate_limit_return(request, &CODES, whom);
	return rc ? rc : rate_limit_return(request, &CODES_OF_DAY, whom);
}

/* ---- pages ---- */

static int show_form(struct request *request, int64_t user_id, struct factor_form *form)
{
	struct factors factors;
	struct error own = { 0 };
	struct passkey_site site;
	int rc = factors_of_user(request->db, request->arena, user_id, &factors, &own);
	if (rc) {
		*request->error = own;
		return rc;
	}
	form->next = own_path(request->method == METHOD_POST ? request_form(request, "next")
														 : request_query(request, "next"));
	form->asks_password = !factors_any(&factors);
	form->has_app = factors.has_app;
	form->has_codes = factors.has_app || factors.recovery_codes;
	form->has_passkeys = factors.passkeys && passkey_site_of(request->config->public_url, &site);
	form->code_error = form_error(request, "code");
	form->password_error = form_error(request, "password");
	struct page page = form_page_make(
		request, form->is_login ? "Second factor" : "Confirm that it is you", "account");
	page.script = form->has_passkeys ? "/static/passkey.js" : NULL;
	factor_page(&request->body, &page, form);
	return 0;
}

static int show_login_factor(struct request *request)
{
	struct factor_form form = { .path = "/login/factor", .is_login = true };
	return show_form(request, request->awaited.user_id, &form);
}

static int show_confirm(struct request *request)
{
	struct factor_form form = { .path = "/account/confirm" };
	return show_form(request, request->viewer.id, &form);
}

/* Shows the form again with the error. */
static int show_again(struct request *request, int rc, int show(struct request *))
{
	return account_form_again(request, rc == ERROR_FORBIDDEN ? ERROR_INPUT : rc, show);
}

/* Nobody waits: the visitor has logged in already, or the login took too long. */
static int lead_to_login(struct request *request)
{
	return redirect(request, request->viewer.id ? "/" : "/login");
}

int page_login_factor(struct request *request)
{
	return request->awaited.user_id ? show_login_factor(request) : lead_to_login(request);
}

int action_login_factor(struct request *request)
{
	const struct awaited *awaited = &request->awaited;
	const char *factor;
	if (!awaited->user_id)
		return lead_to_login(request);
	int rc = factor_check(request, awaited->user_id, awaited->name, &factor);
	return rc ? show_again(request, rc, show_login_factor)
			  : session_finish(request, factor, request_form(request, "next"));
}

int page_confirm(struct request *request)
{
	return show_confirm(request);
}

static int check_password(struct request *request)
{
	struct user user;
	bool matches = false;
	int rc = rate_limit_hit(request, &PASSWORDS, request->viewer.name);
	if (!rc)
		rc = user_by_id(request->db, request->arena, request->viewer.id, &user, request->error);
	if (!rc)
		rc = user_match_password(
			&user, request_form_or(request, "password", ""), &matches, request->error);
	if (!rc && !matches)
		rc = fail_field(request->error, "password", "This is not your password.");
	if (rc && rc != ERROR_BUSY) /* busy: nothing was compared */
		return rc;
	int failed = rate_limit_return(request, &PASSWORDS, request->viewer.name);
	return failed ? failed : rc;
}

int action_confirm(struct request *request)
{
	const struct viewer *viewer = &request->viewer;
	const char *factor = NULL;
	int rc = viewer->has_factor ? factor_check(request, viewer->id, viewer->name, &factor)
								: check_password(request);
	if (!rc)
		rc = session_confirm(request->db, request, factor, request->error);
	return rc ? show_again(request, rc, show_confirm)
			  : redirect(request, "%s", own_path(request_form(request, "next")));
}

static int lead_to_confirm(struct request *request, const char *next)
{
	cleanup_buffer struct buffer part = { 0 };
	html_url_part(&part, next);
	return redirect(request, "/account/confirm?next=%s", buffer_string(&part));
}

bool account_is_confirmed(struct request *request, const char *next)
{
	if (session_is_fresh(request) || !request->viewer.has_factor)
		return true;
	lead_to_confirm(request, next);
	return false;
}

int factor_find_confirmation(struct request *request, bool *is_confirmed, struct error *error)
{
	struct user user;
	*is_confirmed = session_is_fresh(request);
	if (*is_confirmed || request->viewer.has_factor)
		return 0;
	int rc = user_by_id(request->db, request->arena, request->viewer.id, &user, error);
	*is_confirmed = !rc && !(*user.password_hash && request->config->passwords);
	return rc;
}

bool factor_may_change(struct request *request, const char *next, int *rc)
{
	bool is_confirmed;
	*rc = factor_find_confirmation(request, &is_confirmed, request->error);
	if (*rc || is_confirmed)
		return !*rc;
	*rc = lead_to_confirm(request, next);
	return false;
}
