/* Register, log in, log out, change the password. */
#include "cgi/page/account.h"

#include "cgi/action/invite.h"
#include "cgi/http/csrf.h"
#include "cgi/http/rate_limit.h"
#include "cgi/http/session.h"
#include "cgi/page/login_limit.h"
#include "cgi/page/pages.h"
#include "lib/base/scope.h"
#include "lib/base/text.h"
#include "lib/identity/passkey_site.h"
#include "lib/mail/smtp.h"
#include "templates/account.h"
#include "templates/login.h"
#include "templates/register.h"

#include <string.h>
#include <strings.h>

/* Apart from the logins' limits, so that strangers at the login page cannot keep an owner from
 * changing the password. */
static const struct rate_limit PASSWORD_CHANGES = { "change password", 10, 300 };

bool account_may_register(const struct config *config, bool by_domain)
{
	return strcmp(config->registration, "closed") != 0
		&& (by_domain || strcmp(config->registration, "domain") != 0);
}

bool account_needs_code(const struct config *config)
{
	return strcmp(config->registration, "invitation") == 0;
}

struct account_form account_form_of(const struct request *request)
{
	const char *next = request->method == METHOD_POST ? request_form(request, "next")
													  : request_query(request, "next");
	struct passkey_site site;
	return (struct account_form){
		.config = request->config,
		.name = request_form_or(request, "name", ""),
		.next = own_path(next),
		.code = request_form_or(request, "code", ""),
		.code_error = form_error(request, "code"),
		.may_register = account_may_register(request->config, false),
		.needs_code = account_needs_code(request->config),
		.name_error = form_error(request, "name"),
		.password_error = form_error(request, "password"),
		.current_error = form_error(request, "current"),
		.again_error = form_error(request, "again"),
		.form_error = form_error(request, ""),
		.revokes_tokens = request_form_flag(request, "revoke_tokens"),
		.has_passkey_address = passkey_site_of(request->config->public_url, &site),
		.can_reset = smtp_is_set(request->config),
	};
}

static int show_register(struct request *request)
{
	csrf_offer(request);
	struct page page = form_page_make(request, "Register", "account");
	struct account_form form = account_form_of(request);
	register_page(&request->body, &page, &form);
	return 0;
}

int login_show(struct request *request)
{
	csrf_offer(request);
	struct page page = form_page_make(request, "Log in", "account");
	struct account_form form = account_form_of(request);
	if (!form.form_error && request_query(request, "ended"))
		form.form_error = "You are not logged in any more, so nothing was sent. Log in, then send "
						  "the form again.";
	page.script = "/static/passkey.js";
	login_page(&request->body, &page, &form);
	return 0;
}

static int show_account(struct request *request)
{
	static const struct {
		const char *changed, *sentence;
	} notices[] = {
		{ "1", "Your password was changed, and every other session was ended." },
		{ "tokens",
			"Your password was changed, every other session was ended, and every API token was "
			"revoked." },
	};
	struct page page = form_page_make(request, "Account", "account");
	struct account_form form = account_form_of(request);
	struct error own = { 0 };
	struct user user;
	struct identities_view linked = { 0 };
	const char *changed = request_query(request, "changed");
	int rc = token_count(request->db, request->arena, request->viewer.id, &form.tokens, &own);
	if (!rc)
		rc = user_by_id(request->db, request->arena, request->viewer.id, &user, &own);
	if (!rc && changed)
		rc = identities_read(request, &linked, &own);
	if (rc) {
		*request->error = own;
		return rc;
	}
	form.has_password = *user.password_hash;
	form.is_confirmed = session_is_fresh(request) || !request->viewer.has_factor;
	for (size_t i = 0; changed && i < COUNT(notices); i++)
		if (strcmp(notices[i].changed, changed) == 0)
			page.notice = notices[i].sentence;
	if (page.notice && linked.count)
		form.linked = &linked;
	account_page(&request->body, &page, &form, request->viewer.must_change_password);
	return 0;
}

/* Shows the page again with the error. Returns errors of the database and the system, so that the
 * router reports them. */
int account_form_again(struct request *request, int rc, int show(struct request *))
{
	if (error_is_ours(rc))
		return rc;
	request->status = rc == ERROR_LIMIT ? 429 : rc == ERROR_CONFLICT ? 409 : 422;
	return show(request);
}

int account_refuse_passwords(struct request *request)
{
	return request->config->passwords
		? 0
		: fail(request->error, ERROR_FORBIDDEN,
			"This site has no passwords. Log in with one of the accounts that its login page "
			"offers.");
}

int page_register(struct request *request)
{
	return request->viewer.id ? redirect(request, "/account") : show_register(request);
}

int account_check_code(struct request *request)
{
	return account_needs_code(request->config) && !*request_form_or(request, "code", "")
		? fail_field(request->error, "code",
			"This site needs an invite code for a new account. Ask the person who invited you.")
		: 0;
}

int account_redeem_code(
	struct database *db, const struct request *request, int64_t user_id, struct error *error)
{
	struct invite_leaderboard *leaderboards;
	size_t count;
	return account_needs_code(request->config) ? invite_redeem(db, request->arena,
			   request_form_or(request, "code", ""), user_id, &leaderboards, &count, error)
											   : 0;
}

struct registration {
	struct request *request;
	int64_t id;
};

static int store_registration(struct database *db, void *context, struct error *error)
{
	struct registration *registration = context;
	const struct request *request = registration->request;
	int rc = user_create(db, request_form_or(request, "name", ""),
		request_form_or(request, "password", ""), ROLE_PARTICIPANT, false, &registration->id,
		error);
	return rc ? rc : account_redeem_code(db, request, registration->id, error);
}

int action_register(struct request *request)
{
	const char *name = request_form_or(request, "name", ""),
			   *password = request_form_or(request, "password", "");
	struct registration registration = { .request = request };
	int rc = account_refuse_passwords(request);
	if (!rc && !account_may_register(request->config, false))
		rc = fail(request->error, ERROR_FORBIDDEN,
			"Nobody can create an account here with a password. Ask an admin.");
	if (rc)
		return rc;
	rc = registration_limit_hit(request);
	if (!rc)
		rc = form_note(request, user_check_name(request->db, request->arena, name, request->error));
	if (!rc)
		rc = form_note(request, user_check_password(name, password, request->error));
	/* Programs leave out the second field. */
	if (!rc && strcmp(password, request_form_or(request, "again", password)) != 0)
		rc = form_note(request, fail_field(request->error, "again", "The two passwords differ."));
	if (!rc)
		rc = form_note(request, account_check_code(request));
	if (!rc)
		rc = form_noted(request);
	if (!rc)
		rc = database_transaction(request->db, store_registration, &registration, request->error);
	if (rc)
		return account_form_again(request, rc, show_register);
	const struct session_opening opening = { .user_id = registration.id,
		.opened_with = "registration",
		.next = request_form(request, "next") };
	return session_start(request, &opening);
}

int page_login(struct request *request)
{
	return request->viewer.id ? redirect(request, "%s", own_path(request_query(request, "next")))
							  : login_show(request);
}

int account_check_login(struct request *request, struct user *user)
{
	const char *name = request_form_or(request, "name", ""),
			   *password = request_form_or(request, "password", "");
	if (!text_is_user_name(name))
		name = "?"; /* a name that no account can have, and that fits the ASCII columns */
	struct login_attempt attempt;
	int rc = user_by_name(request->db, request->arena, name, user, request->error);
	if (rc && rc != ERROR_NOT_FOUND)
		return rc;
	bool exists = !rc;
	*request->error = (struct error){ 0 };
	rc = login_limit_hit(request, name, exists ? user->id : 0, &attempt);
	if (rc)
		return rc;
	bool matches;
	rc = user_match_password(exists ? user : NULL, password, &matches, request->error);
	if (rc) { /* no attempt, because nothing was compared */
		int failed = login_limit_return(request, &attempt);
		return failed ? failed : rc;
	}
	if (!matches)
		return fail(request->error, ERROR_INPUT, "The name or the password is wrong.");
	if (user->banned_at_ms != TIME_NULL)
		return fail(request->error, ERROR_INPUT, "This account was banned. Ask an admin why.");
	return login_limit_return(request, &attempt);
}

int action_login(struct request *request)
{
	struct user user;
	int rc = account_refuse_passwords(request);
	if (rc)
		return rc;
	rc = account_check_login(request, &user);
	if (rc)
		return account_form_again(request, rc, login_show);
	const struct session_opening opening = { .user_id = user.id,
		.opened_with = "password",
		.password_hash = user.password_hash,
		.next = user.must_change_password ? "/account" : request_form(request, "next") };
	return session_start(request, &opening);
}

int action_logout(struct request *request)
{
	int rc = session_end(request);
	return rc ? rc : redirect(request, "/");
}

int page_account(struct request *request)
{
	return show_account(request);
}

static int check_passwords(struct request *request, const struct user *user)
{
	const char *password = request_form_or(request, "password", ""),
			   *again = request_form_or(request, "again", "");
	const char *current = request_form_or(request, "current", "");
	bool matches = !*user->password_hash;
	int rc = matches ? 0 : user_match_password(user, current, &matches, request->error);
	if (!rc && !matches)
		rc = form_note(
			request, fail_field(request->error, "current", "This is not your current password."));
	if (!rc && strcmp(password, current) == 0)
		rc = form_note(request,
			fail_field(
				request->error, "password", "The new password is the old one; choose another."));
	if (!rc)
		rc = form_note(request, user_check_password(user->name, password, request->error));
	if (!rc && strcmp(password, again) != 0)
		rc = form_note(
			request, fail_field(request->error, "again", "The two new passwords differ."));
	return rc ? rc : form_noted(request);
}

static int store_password(struct database *db, void *context, struct error *error)
{
	struct request *request = context;
	int rc = user_set_password(
		db, request->viewer.id, request_form_or(request, "password", ""), false, error);
	return rc || !request_form_flag(request, "revoke_tokens")
		? rc
		: token_revoke_all(db, request->viewer.id, error);
}

int action_password(struct request *request)
{
	struct user user;
	int rc = account_refuse_passwords(request);
	if (rc)
		return rc;
	if (!account_is_confirmed(request, "/account"))
		return 0;
	rc = rate_limit_hit(request, &PASSWORD_CHANGES, request->viewer.name);
	if (!rc)
		rc = user_by_id(request->db, request->arena, request->viewer.id, &user, request->error);
	if (!rc)
		rc = check_passwords(request, &user);
	if (!rc)
		rc = database_transaction(request->db, store_password, request, request->error);
	if (rc)
		return account_form_again(request, rc, show_account);
	rc = rate_limit_return(request, &PASSWORD_CHANGES, request->viewer.name);
	/* The new session replaces the one that gave the factor. */
	const struct session_opening opening = { .user_id = user.id,
		.opened_with = request->viewer.opened_with,
		.factor = request->viewer.factor,
		.next = request_form_flag(request, "revoke_tokens") ? "/account?changed=tokens"
															: "/account?changed=1" };
	return rc ? rc : session_start(request, &opening);
}
