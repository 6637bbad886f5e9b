/* The viewer's own data: downloading a copy (cgi/page/account_export.c) and deleting the
 * account. */
#include "cgi/page/account.h"

#include "cgi/http/rate_limit.h"
#include "cgi/http/session.h"
#include "cgi/page/account_export.h"
#include "cgi/page/pages.h"
#include "templates/account_data.h"

#include <string.h>

static const struct rate_limit EXPORTS = { "export", 10, 3600 };
static const struct rate_limit DELETIONS = { "delete account", 10, 300 };

static int show_data(struct request *request)
{
	struct page page = page_make(request, "Your data", "account");
	struct data_view view = { form_error(request, "") };
	account_data_page(&request->body, &page, &view);
	return 0;
}

int page_account_data(struct request *request)
{
	return show_data(request);
}

int page_export(struct request *request)
{
	int rc = rate_limit_hit(request, &EXPORTS, request->viewer.name);
	if (rc == ERROR_LIMIT) {
		request->status = 429;
		return show_data(request);
	}
	return rc ? rc : export_begin(request);
}

/* People without a password type only the name. */
static bool asks_for_password(const struct request *request, const struct user *user)
{
	return request->config->passwords && *user->password_hash;
}

static int show_account_deletion(struct request *request)
{
	struct user user;
	struct error own = { 0 };
	struct deletion_view view = {
		.typed = request_form_or(request, "name", ""),
		.name_error = form_error(request, "name"),
		.password_error = form_error(request, "password"),
	};
	int rc = account_extent(request->db, request->arena, request->viewer.id, &view.extent, &own);
	if (!rc)
		rc = user_by_id(request->db, request->arena, request->viewer.id, &user, &own);
	if (rc) {
		*request->error = own;
		return rc;
	}
	view.has_password = asks_for_password(request, &user);
	struct page page = form_page_make(request, "Delete your account", "account");
	account_delete_page(&request->body, &page, &view);
	return 0;
}

int page_account_delete(struct request *request)
{
	return show_account_deletion(request);
}

static int check_deletion(struct request *request)
{
	struct user user;
	int rc = rate_limit_hit(request, &DELETIONS, request->viewer.name);
	if (!rc && strcmp(request_form_or(request, "name", ""), request->viewer.name) != 0)
		rc = form_note(request,
			fail_field(request->error, "name",
				"This is not your name, so nothing was deleted; type %s.", request->viewer.name));
	if (!rc)
		rc = user_by_id(request->db, request->arena, request->viewer.id, &user, request->error);
	bool matches = !rc && !asks_for_password(request, &user);
	if (!rc && !matches)
		rc = user_match_password(
			&user, request_form_or(request, "password", ""), &matches, request->error);
	if (!rc && !matches)
		rc = form_note(request,
			fail_field(
				request->error, "password", "This is not your password, so nothing was deleted."));
	return rc ? rc : form_noted(request);
}

int action_account_delete(struct request *request)
{
	if (!account_is_confirmed(request, "/account/delete"))
		return 0;
	int rc = check_deletion(request);
	if (!rc)
		rc = database_lift_limit(request->db, request->error);
	if (!rc)
		rc = account_delete(request->db, request->viewer.id, request->error);
	if (!rc) {
		session_forget(request);
		return redirect(request, "/account/deleted");
	}
	if (error_is_ours(rc))
		return rc;
	request->status = rc == ERROR_LIMIT ? 429 : rc == ERROR_CONFLICT ? 409 : 422;
	return show_account_deletion(request);
}

int page_account_deleted(struct request *request)
{
	struct page page = page_make(request, "Account deleted", "");
	account_deleted_page(&request->body, &page);
	return 0;
}
