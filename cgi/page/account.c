/* Register, log in, log out, change the password. */
#include "cgi/page/account.h"

#include "cgi/http/csrf.h"
#include "cgi/http/rate_limit.h"
#include "cgi/http/session.h"
#include "cgi/page/pages.h"
#include "lib/base/scope.h"
#include "lib/base/text.h"
#include "lib/mail/smtp.h"
#include "templates/account.h"
#include "templates/login.h"
#include "templates/register.h"

#include <string.h>
#include <strings.h>

/* Limits on failed logins and on new accounts. A whole class may share one address, so addresses
 * have higher limits than names. */
static const struct rate_limit LOGINS_OF_NAME = { "login as", 10, 300 };
static const struct rate_limit LOGINS_FROM_ADDRESS = { "login from", 30, 300 };
static const struct rate_limit REGISTRATIONS = { "register", 200, 3600 };

static struct account_form form_of(const struct request *request)
{
	const char *next = request->method == METHOD_POST ? request_form(request, "next")
													  : request_query(request, "next");
	return (struct account_form){
		.name = request_form_or(request, "name", ""),
		.next = own_path(next),
		.name_error = form_error(request, "name"),
		.password_error = form_error(request, "password"),
		.current_error = form_error(request, "current"),
		.again_error = form_error(request, "again"),
		.form_error = form_error(request, ""),
		.revokes_tokens = request_form_flag(request, "revoke_tokens"),
		.can_reset = smtp_is_set(request->config),
	};
}

static int show_register(struct request *request)
{
	csrf_offer(request);
	struct page page = form_page_make(request, "Register", "account");
	struct account_form form = form_of(request);
	register_page(&request->body, &page, &form);
	return 0;
}

static int show_login(struct request *request)
{
	csrf_offer(request);
	struct page page = form_page_make(request, "Log in", "account");
	struct account_form form = form_of(request);
	if (!form.form_error && request_query(request, "ended"))
		form.form_error = "You are not logged in any more, so nothing was sent. Log in, then send "
						  "the form again.";
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
	struct account_form form = form_of(request);
	struct error own = { 0 };
	const char *changed = request_query(request, "changed");
	int rc = token_count(request->db, request->arena, request->viewer.id, &form.tokens, &own);
	if (rc) {
		*request->error = own;
		return rc;
	}
	for (size_t i = 0; changed && i < COUNT(notices); i++)
		if (strcmp(notices[i].changed, changed) == 0)
			page.notice = notices[i].sentence;
	account_page(&request->body, &page, &form, request->viewer.must_change_password);
	return 0;
}

/* Shows the page again with the error. Returns errors of the database and the system, so that the
 * router reports them. */
static int show_account_form_again(struct request *request, int rc, int show(struct request *))
{
	if (rc == ERROR_DATABASE || rc == ERROR_SYSTEM)
		return rc;
	request->status = rc == ERROR_LIMIT ? 429 : rc == ERROR_CONFLICT ? 409 : 422;
	return show(request);
}

int page_register(struct request *request)
{
	return request->viewer.id ? redirect(request, "/account") : show_register(request);
}

int action_register(struct request *request)
{
	const char *name = request_form_or(request, "name", ""),
			   *password = request_form_or(request, "password", "");
	int64_t id = 0;
	int rc = rate_limit_hit(request, &REGISTRATIONS, request->address);
	if (!rc)
		rc = form_note(request, user_check_name(request->db, request->arena, name, request->error));
	if (!rc)
		rc = form_note(request, user_check_password(name, password, request->error));
	if (!rc)
		rc = form_noted(request);
	if (!rc)
		rc = user_create(request->db, name, password, ROLE_PARTICIPANT, false, &id, request->error);
	if (rc)
		return show_account_form_again(request, rc, show_register);
	rc = session_start(request, id, NULL);
	return rc ? rc : redirect(request, "%s", own_path(request_form(request, "next")));
}

int page_login(struct request *request)
{
	return request->viewer.id ? redirect(request, "%s", own_path(request_query(request, "next")))
							  : show_login(request);
}

/* Counts the login attempt against the limits of the address and the name. Call it before hashing
 * the password, which is expensive. */
static int count_login(struct request *request, const char *name)
{
	int rc = rate_limit_hit(request, &LOGINS_FROM_ADDRESS, request->address);
	return rc ? rc : rate_limit_hit(request, &LOGINS_OF_NAME, name);
}

/* Takes the counted attempt back, because the password was right. */
static int uncount_login(struct request *request, const char *name)
{
	int rc = rate_limit_return(request, &LOGINS_FROM_ADDRESS, request->address);
	return rc ? rc : rate_limit_return(request, &LOGINS_OF_NAME, name);
}

int action_login(struct request *request)
{
	const char *name = request_form_or(request, "name", ""),
			   *password = request_form_or(request, "password", "");
	if (!text_is_user_name(name))
		name = "?"; /* a name that no account can have, and that fits the ASCII columns */
	int rc = count_login(request, name);
	if (rc)
		return show_account_form_again(request, rc, show_login);
	struct user user;
	rc = user_by_name(request->db, request->arena, name, &user, request->error);
	if (rc && rc != ERROR_NOT_FOUND)
		return rc;
	bool right = user_password_matches(rc ? NULL : &user, password);
	if (!right)
		rc = fail(request->error, ERROR_INPUT, "The name or the password is wrong.");
	else if (user.banned_at_ms != TIME_NULL)
		rc = fail(request->error, ERROR_INPUT, "This account was banned. Ask an admin why.");
	if (rc)
		return show_account_form_again(request, rc, show_login);
	rc = uncount_login(request, name);
	if (!rc)
		rc = session_start(request, user.id, user.password_hash);
	return rc ? rc
			  : redirect(request, "%s",
				  user.must_change_password ? "/account" : own_path(request_form(request, "next")));
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
	int rc = 0;
	if (!user_password_matches(user, current))
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
	int rc = count_login(request, request->viewer.name);
	if (!rc)
		rc = user_by_id(request->db, request->arena, request->viewer.id, &user, request->error);
	if (!rc)
		rc = check_passwords(request, &user);
	if (!rc)
		rc = database_transaction(request->db, store_password, request, request->error);
	if (rc)
		return show_account_form_again(request, rc, show_account);
	rc = uncount_login(request, request->viewer.name);
	if (!rc)
		rc = session_start(request, user.id, NULL);
	return rc ? rc
			  : redirect(request, "/account?changed=%s",
				  request_form_flag(request, "revoke_tokens") ? "tokens" : "1");
}
