/* The viewer's API tokens. */
#include "cgi/page/account.h"

#include "cgi/http/confirmation.h"
#include "cgi/http/cookie.h"
#include "cgi/http/rate_limit.h"
#include "cgi/page/pages.h"
#include "lib/base/format.h"
#include "lib/base/scope.h"
#include "templates/account_tokens.h"

#include <stdlib.h>
#include <string.h>

/* This cookie carries the secret of a new token through the redirect to the page that shows it, so
 * that the server never stores the secret. */
static const char NEW_TOKEN[] = "podium-new-token";

static const struct rate_limit TOKENS_OF_USER = { "make tokens", 60, 3600 };

/* Takes the secret of the new token from the cookie, if the token is one of the viewer's. */
static int take_new_token(struct request *request, struct tokens_view *view)
{
	const char *secret = request_cookie(request, NEW_TOKEN);
	if (!secret)
		return 0;
	response_cookie(request,
		arena_printf(request->arena,
			"%s=; Path=/account/tokens; HttpOnly; SameSite=Strict; Max-Age=0", NEW_TOKEN));
	struct token_holder holder;
	struct error ignored = { 0 };
	int rc = token_peek(request->db, request->arena, secret, &holder, &ignored);
	if (!rc && holder.user_id == request->viewer.id)
		view->secret = secret;
	return rc == ERROR_DATABASE ? fail(request->error, rc, "%s", ignored.text) : 0;
}

/* podium refuses plain http to other machines than its own. */
static bool is_plain_http(const char *site)
{
	static const char *const OWN[] = { "http://127.", "http://localhost", "http://[::1]" };
	for (size_t i = 0; i < COUNT(OWN); i++)
		if (strncmp(site, OWN[i], strlen(OWN[i])) == 0)
			return false;
	return strncmp(site, "http://", strlen("http://")) == 0;
}

static int show_tokens(struct request *request, struct tokens_view *view)
{
	int rc = token_list(request->db, request->arena, request->viewer.id, &view->tokens,
		&view->count, request->error);
	if (rc)
		return rc;
	struct page page = form_page_make(request, "API tokens", "account");
	if (request_query(request, "revoked"))
		page.notice = "The token was revoked. Programs that use it are refused from now on.";
	if (request_query(request, "signed_in"))
		page.notice = "The terminal was signed in. Its token is the first of the list; go on in "
					  "the terminal.";
	view->is_plain_http = is_plain_http(page.site);
	view->may_administer = request->viewer.role != ROLE_PARTICIPANT;
	account_tokens_page(&request->body, &page, view);
	return 0;
}

int page_tokens(struct request *request)
{
	struct tokens_view view = { .name = "", .scopes = TOKEN_READ | TOKEN_SUBMIT, .days = 90 };
	int rc = take_new_token(request, &view);
	return rc ? rc : show_tokens(request, &view);
}

static int64_t read_form_scopes(struct request *request)
{
	const char **names;
	int64_t scopes = 0;
	size_t count = request_form_values(request, "scope", &names);
	for (size_t i = 0; i < count; i++) {
		enum token_scope scope;
		if (token_scope_from_name(names[i], &scope) == 0)
			scopes |= scope;
	}
	return scopes;
}

int64_t token_days_of_form(struct request *request)
{
	const char *text = request_form_or(request, "days", "");
	return *text && strlen(text) < 6 && text[strspn(text, "0123456789")] == '\0' ? atoll(text) : -1;
}

static int show_token_form_again(struct request *request, const struct token_order *order, int rc)
{
	if (rc == ERROR_DATABASE || rc == ERROR_SYSTEM)
		return rc;
	request->status = rc == ERROR_LIMIT ? 429 : rc == ERROR_CONFLICT ? 409 : 422;
	struct tokens_view view = {
		.name = order->name,
		.scopes = order->scopes,
		.days = order->days,
		.name_error = form_error(request, "name"),
		.scope_error = form_error(request, "scope"),
		.days_error = form_error(request, "days"),
		.form_error = form_error(request, ""),
	};
	return show_tokens(request, &view);
}

int action_token_create(struct request *request)
{
	token_secret secret;
	struct token_order order = {
		.user_id = request->viewer.id,
		.role = request->viewer.role,
		.name = request_form_or(request, "name", ""),
		.scopes = read_form_scopes(request),
		.days = token_days_of_form(request),
	};
	int rc = rate_limit_hit(request, &TOKENS_OF_USER, request->viewer.name);
	if (!rc)
		rc = token_create(request->db, request->arena, &order, secret, request->error);
	if (rc)
		return show_token_form_again(request, &order, rc);
	response_cookie(request,
		arena_printf(request->arena,
			"%s=%s; Path=/account/tokens; HttpOnly; SameSite=Strict; Max-Age=60", NEW_TOKEN,
			secret));
	return redirect(request, "/account/tokens");
}

static struct confirmation revocation_question(struct request *request, const struct token *token)
{
	struct confirmation question = {
		.title = arena_printf(request->arena, "Revoke the token %s?", token->name),
		.section = "account",
		.button = "Revoke it",
		.back = "/account/tokens",
	};
	int64_t now = now_ms();
	format_text used;
	format_relative(used, token->used_at_ms == TIME_NULL ? now : token->used_at_ms, now);
	confirmation_says(request, &question,
		"Programs that use it (%s…) are refused from then on, for ever; a new token is another "
		"one.",
		token->prefix);
	confirmation_says(request, &question,
		token->used_at_ms == TIME_NULL ? "It was never used." : "It was last used %s.", used);
	return question;
}

int action_token_revoke(struct request *request)
{
	int64_t id = atoll(request_form_or(request, "token", "0"));
	const struct confirmation any = { 0 };
	struct token *tokens;
	size_t count = 0;
	int rc = confirmation_given(request, &any)
		? 0
		: token_list(
			request->db, request->arena, request->viewer.id, &tokens, &count, request->error);
	for (size_t i = 0; i < count && !rc; i++)
		if (tokens[i].id == id) {
			struct confirmation question = revocation_question(request, &tokens[i]);
			return confirmation_ask(request, &question);
		}
	if (!rc)
		rc = token_revoke(request->db, request->viewer.id, id, request->error);
	return rc ? rc : redirect(request, "/account/tokens?revoked=1");
}
