/* Sets a password through a link that an admin created (lib/account/password_link.h). */
#include "cgi/page/account.h"

#include "cgi/http/csrf.h"
#include "cgi/http/rate_limit.h"
#include "cgi/http/session.h"
#include "cgi/page/pages.h"
#include "lib/account/password_link.h"
#include "templates/password.h"

#include <string.h>

/* The limit bounds the cost of hashing passwords. Nobody can guess the link's secret of 256
 * bits. */
static const struct rate_limit ATTEMPTS = { "choose a password from", 30, 300 };

static int show_password_form(struct request *request, const struct user *user)
{
	int64_t tokens;
	struct error own = { 0 };
	int rc = token_count(request->db, request->arena, user->id, &tokens, &own);
	if (rc) {
		*request->error = own;
		return rc;
	}
	csrf_offer(request);
	const struct account_form form = {
		.tokens = tokens,
		.revokes_tokens = request_form_flag(request, "revoke_tokens"),
		.name = user->name,
		.password_error = form_error(request, "password"),
		.again_error = form_error(request, "again"),
	};
	struct page page = form_page_make(request, "Choose a password", "account");
	password_page(&request->body, &page, &form);
	return 0;
}

int page_password_link(struct request *request)
{
	struct user user;
	int rc = account_refuse_passwords(request);
	if (!rc)
		rc = password_link_find(
			request->db, request->arena, request->path_parameters[0], &user, request->error);
	return rc ? rc : show_password_form(request, &user);
}

int action_password_link(struct request *request)
{
	const char *text = request->path_parameters[0],
			   *password = request_form_or(request, "password", "");
	struct user user;
	int rc = account_refuse_passwords(request);
	if (!rc)
		rc = password_link_find(request->db, request->arena, text, &user, request->error);
	if (rc)
		return rc;
	rc = rate_limit_hit(request, &ATTEMPTS, rate_limit_network(request));
	if (!rc)
		rc = form_note(request, user_check_password(user.name, password, request->error));
	if (!rc && strcmp(password, request_form_or(request, "again", "")) != 0)
		rc = form_note(request, fail_field(request->error, "again", "The two passwords differ."));
	if (!rc)
		rc = form_noted(request);
	if (!rc)
		rc = password_link_use(
			request->db, request->arena, text, password, request->address, &user, request->error);
	if (rc == ERROR_INPUT || rc == ERROR_LIMIT) {
		request->status = rc == ERROR_LIMIT ? 429 : 422;
		return show_password_form(request, &user);
	}
	if (!rc && request_form_flag(request, "revoke_tokens"))
		rc = token_revoke_all(request->db, user.id, request->error);
	const struct session_opening opening = {
		.user_id = user.id, .opened_with = "link", .next = "/"
	};
	return rc ? rc : session_start(request, &opening);
}
