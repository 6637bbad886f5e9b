/* E-mail: the account's address and notifications, the links in e-mails, and the form of those who
 * forgot their password. On a site that sends no e-mail these pages do not exist. */
#include "cgi/page/account.h"

#include "cgi/http/csrf.h"
#include "cgi/http/notice.h"
#include "cgi/http/rate_limit.h"
#include "cgi/page/pages.h"
#include "lib/account/password_link.h"
#include "lib/account/user.h"
#include "lib/base/scope.h"
#include "lib/base/text.h"
#include "lib/mail/mail.h"
#include "lib/mail/smtp.h"
#include "templates/account_mail.h"

#include <string.h>

/* Each address that is entered gets an e-mail, whoever owns it. */
static const struct rate_limit ADDRESSES_OF_USER = { "change address", 5, 3600 };
static const struct rate_limit MAILS_TO_ADDRESS = { "mail to", 5, 86400 };
static const struct rate_limit REQUESTS_FROM_ADDRESS = { "ask for password from", 20, 3600 };

/* ---- the account's page ---- */

static int show_mail(struct request *request)
{
	struct mail_view view = {
		.typed = request_form_or(request, "address", ""),
		.address_error = form_error(request, "address"),
		.current_error = form_error(request, "current"),
		.is_creator = request->viewer.role != ROLE_PARTICIPANT,
	};
	struct error own = { 0 };
	int rc = mail_address_find(request->db, request->arena, request->viewer.id, &view.mail, &own);
	if (rc) {
		*request->error = own;
		return rc;
	}
	struct page page = form_page_make(request, "E-mail", "account");
	account_mail_page(&request->body, &page, &view);
	return 0;
}

int page_mail(struct request *request)
{
	int rc = smtp_need(request->config, request->error);
	return rc ? rc : show_mail(request);
}

static int check_current(struct request *request)
{
	struct user user;
	bool matches = false;
	int rc = user_by_id(request->db, request->arena, request->viewer.id, &user, request->error);
	if (!rc)
		rc = user_match_password(
			&user, request_form_or(request, "current", ""), &matches, request->error);
	if (!rc && !matches)
		rc = form_note(
			request, fail_field(request->error, "current", "This is not your current password."));
	return rc;
}

static int set_address(struct request *request)
{
	const char *text = request_form_or(request, "address", "");
	const struct actor actor = actor_of(request);
	int rc = rate_limit_hit(request, &ADDRESSES_OF_USER, request->viewer.name);
	if (!rc)
		rc = check_current(request);
	if (!rc)
		rc = form_noted(request);
	if (!rc && text_is_ascii(text))
		rc = rate_limit_hit(request, &MAILS_TO_ADDRESS, text);
	if (!rc)
		rc = mail_address_set(request->db, text, &actor, request->error);
	if (!rc)
		notice_leave(request,
			"Podium sends an e-mail to this address. Open the link in it to confirm the address.");
	return rc;
}

static int remove_address(struct request *request)
{
	const struct actor actor = actor_of(request);
	int rc = rate_limit_hit(request, &ADDRESSES_OF_USER, request->viewer.name);
	if (!rc)
		rc = check_current(request);
	if (!rc)
		rc = form_noted(request);
	if (!rc)
		rc = mail_address_remove(request->db, &actor, request->error);
	if (!rc)
		notice_leave(request, "Podium has removed your e-mail address.");
	return rc;
}

static int set_kinds(struct request *request)
{
	int64_t kinds = 0;
	for (size_t i = 0; i < mail_kind_count; i++)
		kinds |= request_form_flag(request, mail_kinds[i].name) ? mail_kinds[i].bit : 0;
	int rc = mail_kinds_set(request->db, request->viewer.id, kinds, request->error);
	if (!rc)
		notice_leave(request, "Your choice was stored.");
	return rc;
}

static const struct {
	const char *name;
	int (*run)(struct request *request);
} ACTIONS[] = {
	{ "set", set_address },
	{ "remove", remove_address },
	{ "kinds", set_kinds },
};

int action_mail(struct request *request)
{
	const char *name = request_form_or(request, "action", "");
	int rc = smtp_need(request->config, request->error);
	if (rc)
		return rc;
	rc = fail(request->error, ERROR_INPUT,
		"The form does not say what to do. Go back and press one of its buttons.");
	for (size_t i = 0; i < COUNT(ACTIONS); i++)
		if (strcmp(ACTIONS[i].name, name) == 0)
			rc = ACTIONS[i].run(request);
	if (!rc)
		return redirect(request, "/account/mail");
	if (rc != ERROR_INPUT && rc != ERROR_LIMIT)
		return rc;
	request->status = rc == ERROR_LIMIT ? 429 : 422;
	form_note(request, rc);
	return show_mail(request);
}

/* ---- the link that confirms an address ---- */

int page_mail_confirm(struct request *request)
{
	struct mail_confirmation confirmation;
	int rc = mail_link_find(
		request->db, request->arena, request->path_parameters[0], &confirmation, request->error);
	if (rc)
		return rc;
	csrf_offer(request);
	struct page page = page_make(request, "Confirm your e-mail address", "account");
	mail_confirm_page(&request->body, &page, confirmation.name, confirmation.address);
	return 0;
}

int action_mail_confirm(struct request *request)
{
	struct mail_confirmation confirmation;
	int rc = mail_link_use(request->db, request->arena, request->path_parameters[0],
		request->address, &confirmation, request->error);
	if (rc)
		return rc;
	struct page page = page_make(request, "Address confirmed", "account");
	mail_confirmed_page(&request->body, &page, confirmation.name, confirmation.address);
	return 0;
}

/* ---- the link that switches a notification off ---- */

static int show_unsubscription(
	struct request *request, const struct mail_unsubscription *found, bool is_done)
{
	struct page page = page_make(request, is_done ? "Switched off" : "Switch off e-mails", "");
	mail_unsubscribe_page(&request->body, &page, found->name,
		mail_kind_named(found->kind, strlen(found->kind))->label, is_done);
	return 0;
}

int page_mail_unsubscribe(struct request *request)
{
	struct mail_unsubscription found;
	int rc = mail_unsubscribe_find(
		request->db, request->arena, request->path_parameters[0], &found, request->error);
	return rc ? rc : show_unsubscription(request, &found, false);
}

/* A mail program sends this form, without a cookie (RFC 8058). The link's signature is what allows
 * it. */
int action_mail_unsubscribe(struct request *request)
{
	struct mail_unsubscription found;
	int rc = mail_unsubscribe_find(
		request->db, request->arena, request->path_parameters[0], &found, request->error);
	if (!rc)
		rc = mail_unsubscribe_use(request->db, &found, request->error);
	return rc ? rc : show_unsubscription(request, &found, true);
}

/* ---- a forgotten password ---- */

static int show_forgot(struct request *request)
{
	csrf_offer(request);
	struct page page = form_page_make(request, "Forgot your password?", "account");
	forgot_page(
		&request->body, &page, request_form_or(request, "name", ""), form_error(request, ""));
	return 0;
}

int page_forgot(struct request *request)
{
	int rc = smtp_need(request->config, request->error);
	if (!rc)
		rc = account_refuse_passwords(request);
	return rc ? rc : show_forgot(request);
}

int action_forgot(struct request *request)
{
	const char *name = request_form_or(request, "name", "");
	int rc = smtp_need(request->config, request->error);
	if (!rc)
		rc = account_refuse_passwords(request);
	if (!rc)
		rc = rate_limit_hit(request, &REQUESTS_FROM_ADDRESS, rate_limit_network(request));
	if (rc == ERROR_LIMIT) {
		request->status = 429;
		return show_forgot(request);
	}
	if (!rc)
		rc = mail_ask_password(request->db, name, request->error);
	if (rc)
		return rc;
	struct page page = page_make(request, "Look into your e-mail", "account");
	forgot_asked_page(&request->body, &page);
	return 0;
}
