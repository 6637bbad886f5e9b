/* Lists the accounts of providers with which the viewer signs in, and unlinks them. */
#include "cgi/page/account.h"

#include "cgi/http/confirmation.h"
#include "cgi/http/notice.h"
#include "cgi/page/pages.h"
#include "lib/account/identity.h"
#include "lib/identity/provider.h"
#include "templates/account_identities.h"

#include <stdlib.h>

int identities_read(struct request *request, struct identities_view *view, struct error *error)
{
	struct identity *identities;
	*view = (struct identities_view){ .config = request->config };
	int rc = identities_of_user(
		request->db, request->arena, request->viewer.id, &identities, &view->count, error);
	if (rc)
		return rc;
	view->identities = arena_array(request->arena, struct identity_view, view->count + 1);
	for (size_t i = 0; i < view->count; i++)
		view->identities[i] = (struct identity_view){
			.id = identities[i].id,
			.label = provider_label(request->config, identities[i].issuer),
			.shown_as = identities[i].shown_as,
			.created_at_ms = identities[i].created_at_ms,
			.used_at_ms = identities[i].used_at_ms,
		};
	return 0;
}

int identities_show(struct request *request)
{
	struct identities_view view;
	struct error own = { 0 };
	int rc = identities_read(request, &view, &own);
	if (rc) {
		*request->error = own;
		return rc;
	}
	struct page page = form_page_make(request, "Linked accounts", "account");
	account_identities_page(&request->body, &page, &view);
	return 0;
}

int page_identities(struct request *request)
{
	return identities_show(request);
}

int action_identities(struct request *request)
{
	struct actor actor = actor_of(request);
	struct confirmation question = { .title = "Unlink this account?",
		.section = "account",
		.button = "Unlink it",
		.back = "/account/identities" };
	int64_t id = strtoll(request_form_or(request, "identity", ""), NULL, 10);
	if (!account_is_confirmed(request, "/account/identities"))
		return 0;
	if (!confirmation_given(request, &question)) {
		confirmation_says(request, &question,
			"You will no longer be able to log in with it. You can link it again later.");
		return confirmation_ask(request, &question);
	}
	int rc = identity_unlink(request->db, request->viewer.id, id, request->config->passwords, true,
		&actor, request->error);
	if (rc == ERROR_CONFLICT)
		return account_form_again(request, rc, identities_show);
	if (rc)
		return rc;
	notice_leave(request, "Unlinked. You can no longer log in with it.");
	return redirect(request, "/account/identities");
}
