/* The user of a token: linked accounts of providers, and e-mail notifications. What opens an
 * account, such as its e-mail address, changes on the pages only. */
#include "cgi/api/api.h"
#include "cgi/api/calls.h"
#include "lib/account/identity.h"
#include "lib/base/quote.h"
#include "lib/base/scope.h"
#include "lib/identity/provider.h"
#include "lib/mail/mail.h"
#include "lib/mail/smtp.h"

#include <string.h>

int api_identities(struct request *request)
{
	struct identity *identities;
	size_t count;
	int rc = identities_of_user(
		request->db, request->arena, request->viewer.id, &identities, &count, request->error);
	if (rc)
		return rc;
	json_t *items = json_array();
	for (size_t i = 0; i < count; i++)
		json_array_append_new(items,
			json_pack("{s:s, s:s, s:s, s:o, s:o}", "provider",
				provider_label(request->config, identities[i].issuer), "issuer",
				identities[i].issuer, "shown_as", identities[i].shown_as, "linked_at",
				json_moment(identities[i].created_at_ms), "used_at",
				json_moment(identities[i].used_at_ms)));
	return respond_json(request, json_pack("{s:o}", "identities", items));
}

/* ---- notifications ---- */

static int find_mail(struct request *request, struct mail_address *mail)
{
	int rc = smtp_need(request->config, request->error);
	return rc
		? rc
		: mail_address_find(request->db, request->arena, request->viewer.id, mail, request->error);
}

static int respond_notifications(struct request *request, const struct mail_address *mail)
{
	json_t *kinds = json_array();
	for (size_t i = 0; i < mail_kind_count; i++)
		if (mail->kinds & mail_kinds[i].bit)
			json_array_append_new(kinds, json_string(mail_kinds[i].name));
	return respond_json(request,
		json_pack("{s:b, s:s?, s:o}", "address_confirmed", mail->address != NULL, "stopped_reason",
			mail->stopped_address ? mail->stopped_reason : NULL, "kinds", kinds));
}

int api_notifications(struct request *request)
{
	struct mail_address mail;
	int rc = find_mail(request, &mail);
	return rc ? rc : respond_notifications(request, &mail);
}

static int refuse_kinds(struct request *request, const char *what)
{
	cleanup_buffer struct buffer names = { 0 };
	for (size_t i = 0; i < mail_kind_count; i++)
		buffer_printf(&names, "%s%s", i ? ", " : "", mail_kinds[i].name);
	return fail_field(request->error, "kinds", "%s The kinds are %s; [] switches all off.", what,
		buffer_string(&names));
}

/* Without the member, a request would switch all off by mistake. */
static int read_kinds(struct request *request, int64_t *kinds)
{
	const char **names;
	size_t count;
	int rc = api_texts(request, "kinds", &names, &count);
	*kinds = 0;
	if (!rc && !json_is_array(json_object_get(request->json, "kinds")))
		return refuse_kinds(request, "The member kinds is missing.");
	for (size_t i = 0; i < count && !rc; i++) {
		const struct mail_kind *kind = mail_kind_named(names[i], strlen(names[i]));
		if (!kind)
			return refuse_kinds(request,
				arena_printf(
					request->arena, "%s is no kind of e-mail.", quote(request->arena, names[i])));
		*kinds |= kind->bit;
	}
	return rc;
}

int api_notifications_set(struct request *request)
{
	struct mail_address mail;
	int64_t kinds;
	int rc = find_mail(request, &mail);
	if (!rc)
		rc = read_kinds(request, &kinds);
	if (!rc && !mail.address && !mail.pending)
		rc = fail(request->error, ERROR_CONFLICT,
			"Your account has no e-mail address. Enter one on the page Account.");
	if (!rc)
		rc = mail_kinds_set(request->db, request->viewer.id, kinds, request->error);
	if (rc)
		return rc;
	mail.kinds = kinds;
	return respond_notifications(request, &mail);
}
