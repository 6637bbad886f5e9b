/* The viewer's API tokens. */
#include "cgi/page/account.h"

#include "cgi/http/confirmation.h"
#include "cgi/http/cookie.h"
#include "cgi/http/rate_limit.h"
#include "cgi/page/pages.h"
#include "lib/base/format.h"
#include "lib/base/network.h"
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

static int show_tokens(struct request *request, struct tokens_view *view)
{
	int rc = token_list(request->db, request->arena, request->viewer.id, &view->tokens,
		&view->count, request->error);
	if (rc)
		return rc;
	/* The insertion of a token finds a taken name only once all else is right. */
	if (request->fault_count) {
		const struct token_order order = { .name = view->name };
		form_note(request, token_check_unused(&order, view->tokens, view->count, request->error));
	}
	view->name_error = form_error(request, "name");
	view->scope_error = form_error(request, "scope");
	view->days_error = form_error(request, "days");
	struct page page = form_page_make(request, "API tokens", "account");
	if (request_query(request, "revoked"))
		page.notice = "The token was revoked. Podium now refuses programs that use it.";
	if (request_query(request, "signed_in"))
		page.notice = "The terminal is signed in. Its token is the first in the list. Continue in "
					  "the terminal.";
	view->is_plain_http = network_url_is_plain(page.site);
	view->may_administer = viewer_is_staff(&request->viewer);
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

int token_order_note(struct request *request, const struct token_order *order)
{
	form_note(request, token_check_name(order, request->error));
	form_note(request, token_check_scopes(order, request->error));
	form_note(request, token_check_days(order, request->error));
	return form_noted(request);
}

static int show_token_form_again(struct request *request, const struct token_order *order, int rc)
{
	if (error_is_ours(rc))
		return rc;
	request->status = rc == ERROR_LIMIT ? 429 : rc == ERROR_CONFLICT ? 409 : 422;
	struct tokens_view view = {
		.name = order->name,
		.scopes = order->scopes,
		.days = order->days,
	};
	return show_tokens(request, &view);
}

int action_token_create(struct request *request)
{
	token_secret secret;
	struct token_order order = {
		.user_id = request->viewer.id,
		.may_administer = viewer_is_staff(&request->viewer),
		.name = request_form_or(request, "name", ""),
		.scopes = read_form_scopes(request),
		.days = token_days_of_form(request),
	};
	if (!account_is_confirmed(request, "/account/tokens"))
		return 0;
	int rc = rate_limit_hit(request, &TOKENS_OF_USER, request->viewer.name);
	if (!rc)
		rc = token_order_note(request, &order);
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
		.button = "Revoke token",
		.back = "/account/tokens",
	};
	int64_t now = now_ms();
	format_text used;
	format_relative(used, token->used_at_ms == TIME_NULL ? now : token->used_at_ms, now);
	confirmation_says(request, &question,
		"Podium will refuse programs that use it (%s…). You cannot undo this.", token->prefix);
	confirmation_says(request, &question,
		token->used_at_ms == TIME_NULL ? "The token was never used."
									   : "The token was last used %s.",
		used);
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
