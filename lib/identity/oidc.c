/* OpenID Connect: discovery, the authorization endpoint and the ID token. */
#include "lib/base/format.h"
#include "lib/base/log.h"
#include "lib/base/scope.h"
#include "lib/base/text.h"
#include "lib/identity/id_token.h"
#include "lib/identity/provider_kinds.h"

#include <string.h>

enum { most_address_bytes = 1000, most_shown_bytes = 255 };

/* A member of the discovery document that is an address, or NULL with an error. */
static const char *address_of(const struct provider_call *call, const json_t *discovery,
	const char *name, struct error *error)
{
	const char *address = json_string_value(json_object_get(discovery, name));
	if (!address || strlen(address) > most_address_bytes || text_has_control(address)
		|| strchr(address, ' ') || strchr(address, '#')) {
		fail(error, ERROR_CONFLICT, "%s names no %s. Ask the site's operator.",
			call->provider->label, name);
		return NULL;
	}
	return provider_call_check_address(call, address, error) ? NULL : address;
}

/* OpenID Connect Discovery, section 4: the document must name the issuer for which it was asked. */
static int discover(const struct provider_call *call, json_t **discovery, struct error *error)
{
	const char *issuer = call->provider->issuer;
	size_t length = strlen(issuer);
	cleanup_buffer struct buffer url = { 0 };
	long status;
	buffer_append(&url, issuer, length - (issuer[length - 1] == '/'));
	buffer_text(&url, "/.well-known/openid-configuration");
	struct provider_request request = { .url = buffer_string(&url) };
	int rc = provider_call_send(call, &request, &status, discovery, error);
	if (!rc && status >= 500)
		return provider_fail(call, error, "failed to answer. Try again later.");
	if (rc)
		return rc;
	const char *named = json_string_value(json_object_get(*discovery, "issuer"));
	if (status == 200 && named && strcmp(named, issuer) == 0)
		return 0;
	log_warning("The provider %s has no discovery document for its issuer: status %ld.",
		call->provider->name, status);
	return provider_fail(
		call, error, "does not say how to sign in with it. Ask the site's operator.");
}

int oidc_begin(const struct provider_call *call, const struct sign_in_secrets *secrets,
	struct buffer *endpoint, struct buffer *query, struct error *error)
{
	cleanup_json json_t *discovery = NULL;
	int rc = discover(call, &discovery, error);
	if (rc)
		return rc;
	const char *address = address_of(call, discovery, "authorization_endpoint", error);
	if (!address)
		return ERROR_CONFLICT;
	buffer_text(endpoint, address);
	provider_form_add(query, "scope", "openid profile email");
	provider_form_add(query, "nonce", secrets->nonce);
	return 0;
}

/* OpenID Connect Discovery, section 3: HTTP Basic, unless the provider lists only other ways. */
static bool takes_basic(const json_t *discovery)
{
	const json_t *ways = json_object_get(discovery, "token_endpoint_auth_methods_supported");
	bool found = false;
	size_t i;
	json_t *way;
	json_array_foreach(ways, i, way) found |=
		json_is_string(way) && strcmp(json_string_value(way), "client_secret_basic") == 0;
	return found || !json_is_array(ways);
}

/* Exchanges the code for an answer with an ID token. */
static int fetch_token(const struct provider_call *call, const json_t *discovery,
	const struct sign_in_secrets *secrets, const char *code, json_t **answer, struct error *error)
{
	const struct provider_settings *provider = call->provider;
	cleanup_buffer struct buffer form = { 0 };
	long status;
	struct provider_request request = {
		.url = address_of(call, discovery, "token_endpoint", error),
		.form = &form,
		.uses_basic = *provider->client_secret && takes_basic(discovery),
	};
	if (!request.url)
		return ERROR_CONFLICT;
	provider_token_form(call, secrets, code, &form);
	if (!request.uses_basic)
		provider_form_add(&form, "client_id", provider->client_id);
	if (!request.uses_basic && *provider->client_secret)
		provider_form_add(&form, "client_secret", provider->client_secret);
	int rc = provider_call_send(call, &request, &status, answer, error);
	if (!rc && status >= 500)
		return provider_fail(call, error, "failed to answer. Try again later.");
	return rc || (status == 200 && json_is_string(json_object_get(*answer, "id_token")))
		? rc
		: provider_refuse_code(call, *answer, status, error);
}

static int fetch_keys(
	const struct provider_call *call, const json_t *discovery, json_t **keys, struct error *error)
{
	long status;
	struct provider_request request = { .url = address_of(call, discovery, "jwks_uri", error) };
	if (!request.url)
		return ERROR_CONFLICT;
	int rc = provider_call_send(call, &request, &status, keys, error);
	return rc || status == 200
		? rc
		: provider_fail(call, error, "does not give its keys. Try again later.");
}

static const char *claim(const json_t *claims, const char *name)
{
	const char *text = json_string_value(json_object_get(claims, name));
	return text && text_is_line(text, most_shown_bytes) ? text : NULL;
}

/* The e-mail address counts only if the provider says that it has verified it. Some providers let
 * people enter any address. */
static void read_claims(struct arena *arena, const json_t *claims, struct vouched *vouched)
{
	const char *email = claim(claims, "email"), *name = claim(claims, "preferred_username");
	if (!name)
		name = claim(claims, "name");
	vouched->subject = arena_strdup(arena, json_string_value(json_object_get(claims, "sub")));
	vouched->shown_as = arena_strdup(arena, name ? name : email ? email : vouched->subject);
	if (!email || !json_is_true(json_object_get(claims, "email_verified")))
		return;
	const char **emails = arena_array(arena, const char *, 1);
	emails[0] = arena_strdup(arena, email);
	vouched->emails = emails;
	vouched->email_count = 1;
}

static int check_token(const struct provider_call *call, const json_t *discovery,
	const struct sign_in_secrets *secrets, const json_t *answer, json_t **claims,
	struct error *error)
{
	cleanup_json json_t *keys = NULL;
	const struct id_token_demand demand = {
		.issuer = call->provider->issuer,
		.audience = call->provider->client_id,
		.nonce = secrets->nonce,
		.now_s = now_ms() / 1000,
	};
	struct error reason = { 0 };
	int rc = fetch_keys(call, discovery, &keys, error);
	if (rc)
		return rc;
	rc = id_token_check(
		json_string_value(json_object_get(answer, "id_token")), keys, &demand, claims, &reason);
	if (!rc)
		return 0;
	log_warning("The provider %s: %s", call->provider->name, reason.text);
	return fail(error, rc, "%s did not prove who you are. %s Sign in again.", call->provider->label,
		reason.text);
}

int oidc_finish(const struct provider_call *call, struct arena *arena,
	const struct sign_in_secrets *secrets, const char *code, struct vouched *vouched,
	struct error *error)
{
	cleanup_json json_t *discovery = NULL, *answer = NULL, *claims = NULL;
	int rc = discover(call, &discovery, error);
	if (!rc)
		rc = fetch_token(call, discovery, secrets, code, &answer, error);
	if (!rc)
		rc = check_token(call, discovery, secrets, answer, &claims, error);
	if (!rc)
		read_claims(arena, claims, vouched);
	return rc;
}
