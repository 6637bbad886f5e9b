/* The page /device: a logged-in user enters the code that a terminal shows, which logs the terminal
 * in. */
#include "cgi/page/device_authorization.h"

#include "cgi/http/rate_limit.h"
#include "cgi/page/account.h"
#include "cgi/page/pages.h"
#include "lib/base/network.h"
#include "templates/device_authorization.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

/* Limits on wrong codes: tries and seconds. Only a few of the 20^8 possible codes are valid at a
 * time. */
static const struct rate_limit CODES_OF_USER = { "terminal code", 10, 900 };
static const struct rate_limit CODES_FROM_ADDRESS = { "terminal code from", 100, 900 };

static int show_device(struct request *request, struct device_authorization_view *view)
{
	struct page page = form_page_make(request, "Connect a terminal", "account");
	if (request_query(request, "refused"))
		page.notice = "You refused the terminal. It got no access.";
	view->is_plain_http = network_url_is_plain(page.site);
	device_authorization_page(&request->body, &page, view);
	return 0;
}

int page_device(struct request *request)
{
	const char *code = request_query(request, "code");
	struct device_authorization_view view = { .typed = code ? code : "" };
	return show_device(request, &view);
}

/* ---- finding the terminal ---- */

static int count_attempt(struct request *request)
{
	int rc = rate_limit_hit(request, &CODES_FROM_ADDRESS, rate_limit_network(request));
	return rc ? rc : rate_limit_hit(request, &CODES_OF_USER, request->viewer.name);
}

static int uncount_attempt(struct request *request)
{
	int rc = rate_limit_return(request, &CODES_FROM_ADDRESS, rate_limit_network(request));
	return rc ? rc : rate_limit_return(request, &CODES_OF_USER, request->viewer.name);
}

static int find_terminal(
	struct request *request, const char *typed, struct device_authorization *terminal)
{
	int rc = count_attempt(request);
	if (!rc)
		rc =
			device_authorization_find(request->db, request->arena, typed, terminal, request->error);
	return rc ? rc : uncount_attempt(request);
}

/* Offers the terminal's own name for the token; appends a number if a token already has that
 * name. */
static int offer_name(
	struct request *request, const struct device_authorization *terminal, const char **name)
{
	struct token *tokens;
	size_t count;
	int rc = token_list(
		request->db, request->arena, request->viewer.id, &tokens, &count, request->error);
	*name = terminal->name;
	for (size_t i = 0, number = 1; !rc && i < count; i++)
		if (strcasecmp(tokens[i].name, *name) == 0) {
			*name = arena_printf(request->arena, "%.56s %zu", terminal->name, ++number);
			i = (size_t)-1; /* check from the start whether a token has the new name */
		}
	return rc;
}

static int64_t scopes_given(
	const struct request *request, const struct device_authorization *terminal)
{
	return !viewer_is_staff(&request->viewer) ? terminal->scopes & ~(int64_t)TOKEN_ADMIN
											  : terminal->scopes;
}

static void describe_terminal(const struct request *request,
	const struct device_authorization *terminal, struct device_authorization_view *view)
{
	view->terminal = terminal;
	view->address = request->address;
	view->is_same_address = strcmp(terminal->address, request->address) == 0;
	view->scopes = scopes_given(request, terminal);
}

/* ---- answering ---- */

static int approve_terminal(struct request *request, const struct device_authorization *terminal,
	struct device_authorization_view *view)
{
	struct token_order order = {
		.user_id = request->viewer.id,
		.may_administer = viewer_is_staff(&request->viewer),
		.name = request_form_or(request, "name", ""),
		.scopes = view->scopes,
		.days = token_days_of_form(request),
	};
	/* What was typed for popcorn is a secret, which no address may hold. */
	if (!account_is_confirmed(request,
			terminal->code ? arena_printf(request->arena, "/device?code=%s", terminal->code)
						   : "/device"))
		return 0;
	int rc = token_order_note(request, &order);
	if (!rc)
		rc = device_authorization_grant(
			request->db, request->arena, terminal, &order, request->error);
	if (!rc)
		return redirect(request, "/account/tokens?signed_in=1");
	if (rc != ERROR_INPUT && rc != ERROR_CONFLICT && rc != ERROR_LIMIT)
		return rc;
	request->status = rc == ERROR_CONFLICT ? 409 : rc == ERROR_LIMIT ? 429 : 422;
	view->name = order.name;
	view->days = order.days;
	view->name_error = form_error(request, "name");
	view->days_error = form_error(request, "days");
	view->scope_error = form_error(request, "scope");
	return show_device(request, view);
}

static int refuse_terminal(struct request *request, const struct device_authorization *terminal)
{
	int rc = device_authorization_deny(request->db, terminal, request->viewer.id, request->error);
	return rc ? rc : redirect(request, "/device?refused=1");
}

static int ask_for_approval(struct request *request, const struct device_authorization *terminal,
	struct device_authorization_view *view)
{
	view->days = 90;
	int rc = offer_name(request, terminal, &view->name);
	return rc ? rc : show_device(request, view);
}

int action_device(struct request *request)
{
	struct device_authorization terminal;
	const char *answer = request_form_or(request, "answer", "");
	struct device_authorization_view view = { .typed = request_form_or(request, "code", "") };
	int rc = find_terminal(request, view.typed, &terminal);
	if (rc == ERROR_NOT_FOUND || rc == ERROR_LIMIT) {
		request->status = rc == ERROR_LIMIT ? 429 : 422;
		fail_field(
			request->error, "code", "%s", arena_strdup(request->arena, request->error->text));
		view.code_error = form_error(request, "code");
		return show_device(request, &view);
	}
	if (rc)
		return rc;
	describe_terminal(request, &terminal, &view);
	if (strcmp(answer, "refuse") == 0)
		return refuse_terminal(request, &terminal);
	return strcmp(answer, "confirm") == 0 ? approve_terminal(request, &terminal, &view)
										  : ask_for_approval(request, &terminal, &view);
}
