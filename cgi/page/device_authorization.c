/* Signing a terminal in: /device, where somebody who is logged in brings what a terminal shows. */
#include "cgi/terminal.h"

#include "cgi/pages.h"
#include "templates/terminal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Codes that were wrong. Of the 20^8 there are a few wait at a time. */
static const struct rate_limit CODES_OF_USER = { "terminal code", 10, 900 };
static const struct rate_limit CODES_FROM_ADDRESS = { "terminal code from", 100, 900 };

static int show(struct request *request, struct terminal_view *view)
{
	struct page page = page_make(request, "Sign a terminal in", "account");
	if (request_query(request, "refused"))
		page.notice = "The terminal was refused. It was given nothing.";
	terminal_page(&request->body, &page, view);
	return 0;
}

int page_device(struct request *request)
{
	const char *code = request_query(request, "code");
	struct terminal_view view = { .typed = code ? code : "" };
	return show(request, &view);
}

/* ---- finding it ---- */

static int count_attempt(struct request *request)
{
	int rc = rate_limit_hit(request, &CODES_FROM_ADDRESS, request->address);
	return rc ? rc : rate_limit_hit(request, &CODES_OF_USER, request->viewer.name);
}

static int uncount_attempt(struct request *request)
{
	int rc = rate_limit_return(request, &CODES_FROM_ADDRESS, request->address);
	return rc ? rc : rate_limit_return(request, &CODES_OF_USER, request->viewer.name);
}

static int find(struct request *request, const char *typed, struct terminal *terminal)
{
	int rc = count_attempt(request);
	if (!rc)
		rc = terminal_find(request->db, request->arena, typed, terminal, request->error);
	return rc ? rc : uncount_attempt(request);
}

/* The name that it calls itself, with a number where a token has that name already. */
static int offer_name(struct request *request, const struct terminal *terminal, const char **name)
{
	struct token *tokens;
	size_t count;
	int rc = token_list(
		request->db, request->arena, request->viewer.id, &tokens, &count, request->error);
	*name = terminal->name;
	for (size_t i = 0, number = 1; !rc && i < count; i++)
		if (strcasecmp(tokens[i].name, *name) == 0) {
			*name = arena_printf(request->arena, "%.56s %zu", terminal->name, ++number);
			i = (size_t)-1; /* that one may be taken as well */
		}
	return rc;
}

static int64_t scopes_given(const struct request *request, const struct terminal *terminal)
{
	return request->viewer.role == ROLE_PARTICIPANT ? terminal->scopes & ~(int64_t)TOKEN_ADMIN
													: terminal->scopes;
}

static void describe(
	const struct request *request, const struct terminal *terminal, struct terminal_view *view)
{
	view->terminal = terminal;
	view->address = request->address;
	view->is_same_address = strcmp(terminal->address, request->address) == 0;
	view->scopes = scopes_given(request, terminal);
}

/* ---- answering ---- */

static int64_t read_days(struct request *request)
{
	const char *text = request_form_or(request, "days", "");
	return *text && strlen(text) < 6 && text[strspn(text, "0123456789")] == '\0' ? atoll(text) : -1;
}

static int confirm(
	struct request *request, const struct terminal *terminal, struct terminal_view *view)
{
	struct token_order order = { request->viewer.id, request->viewer.role,
		request_form_or(request, "name", ""), view->scopes, read_days(request) };
	int rc = terminal_confirm(request->db, request->arena, terminal, &order, request->error);
	if (!rc)
		return redirect(request, "/account/tokens?signed_in=1");
	if (rc != ERROR_INPUT && rc != ERROR_CONFLICT && rc != ERROR_LIMIT)
		return rc;
	request->status = rc == ERROR_CONFLICT ? 409 : rc == ERROR_LIMIT ? 429 : 422;
	view->name = order.name;
	view->days = order.days;
	view->name_error = form_error(request, "name");
	view->days_error = form_error(request, "days");
	view->form_error =
		form_error(request, "") ? form_error(request, "") : form_error(request, "scope");
	return show(request, view);
}

static int refuse(struct request *request, const struct terminal *terminal)
{
	int rc = terminal_refuse(request->db, terminal, request->viewer.id, request->error);
	return rc ? rc : redirect(request, "/device?refused=1");
}

static int ask(struct request *request, const struct terminal *terminal, struct terminal_view *view)
{
	view->days = 90;
	int rc = offer_name(request, terminal, &view->name);
	return rc ? rc : show(request, view);
}

int action_device(struct request *request)
{
	struct terminal terminal;
	const char *answer = request_form_or(request, "answer", "");
	struct terminal_view view = { .typed = request_form_or(request, "code", "") };
	int rc = find(request, view.typed, &terminal);
	if (rc == ERROR_NOT_FOUND || rc == ERROR_LIMIT) {
		request->status = rc == ERROR_LIMIT ? 429 : 422;
		view.code_error = request->error->text;
		return show(request, &view);
	}
	if (rc)
		return rc;
	describe(request, &terminal, &view);
	if (strcmp(answer, "refuse") == 0)
		return refuse(request, &terminal);
	return strcmp(answer, "confirm") == 0 ? confirm(request, &terminal, &view)
										  : ask(request, &terminal, &view);
}
