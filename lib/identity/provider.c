#include "lib/identity/provider.h"

#include "lib/base/network.h"
#include "lib/base/scope.h"
#include "lib/identity/provider_kinds.h"

#include <sodium.h>
#include <string.h>

static const struct kind {
	const char *name;
	provider_begin *begin;
	provider_finish *finish;
} KINDS[] = {
	{ "oidc", oidc_begin, oidc_finish },
	{ "github", github_begin, github_finish },
};

/* lib/base/provider_settings.c has checked the kind. */
static const struct kind *kind_of(const struct provider_settings *provider)
{
	return &KINDS[strcmp(provider->kind, KINDS[1].name) == 0];
}

const struct provider_settings *provider_by_name(const struct config *config, const char *name)
{
	for (size_t i = 0; i < config->provider_count; i++)
		if (strcmp(config->providers[i].name, name) == 0)
			return &config->providers[i];
	return NULL;
}

const char *provider_label(const struct config *config, const char *issuer)
{
	for (size_t i = 0; i < config->provider_count; i++)
		if (strcmp(config->providers[i].issuer, issuer) == 0)
			return config->providers[i].label;
	return issuer;
}

static void encode(char text[static 44], const unsigned char bytes[static 32])
{
	sodium_bin2base64(text, 44, bytes, 32, sodium_base64_VARIANT_URLSAFE_NO_PADDING);
}

static void make_secret(char text[static 44])
{
	unsigned char bytes[32];
	randombytes_buf(bytes, sizeof bytes);
	encode(text, bytes);
}

void sign_in_secrets_make(struct sign_in_secrets *secrets)
{
	make_secret(secrets->state);
	make_secret(secrets->nonce);
	make_secret(secrets->verifier);
}

int provider_sign_in_address(struct arena *arena, const struct config *config,
	const struct provider_settings *provider, const struct sign_in_secrets *secrets,
	const char **address, struct error *error)
{
	struct provider_call call;
	cleanup_buffer struct buffer endpoint = { 0 }, query = { 0 };
	unsigned char hash[crypto_hash_sha256_BYTES];
	char challenge[44];
	int rc = provider_call_begin(&call, config, provider, error);
	if (rc)
		return rc;
	crypto_hash_sha256(hash, (const unsigned char *)secrets->verifier, strlen(secrets->verifier));
	encode(challenge, hash);
	provider_form_add(&query, "response_type", "code");
	provider_form_add(&query, "client_id", provider->client_id);
	provider_form_add_own_address(&call, &query);
	provider_form_add(&query, "state", secrets->state);
	provider_form_add(&query, "code_challenge", challenge);
	provider_form_add(&query, "code_challenge_method", "S256");
	rc = kind_of(provider)->begin(&call, secrets, &endpoint, &query, error);
	provider_call_end(&call);
	if (!rc)
		*address = arena_printf(arena, "%s%c%s", buffer_string(&endpoint),
			strchr(buffer_string(&endpoint), '?') ? '&' : '?', buffer_string(&query));
	return rc;
}

/* ---- allow-lists ---- */

bool vouched_is_in_domains(const struct vouched *vouched, const char *list)
{
	for (size_t i = 0; i < vouched->email_count; i++) {
		const char *at = strrchr(vouched->emails[i], '@');
		if (at && at != vouched->emails[i] && network_list_names(list, at + 1))
			return true;
	}
	return false;
}

int provider_vouch(struct arena *arena, const struct config *config,
	const struct provider_settings *provider, const struct sign_in_secrets *secrets,
	const char *code, struct vouched *vouched, struct error *error)
{
	struct provider_call call;
	int rc = provider_call_begin(&call, config, provider, error);
	if (rc)
		return rc;
	*vouched = (struct vouched){ .issuer = provider->issuer };
	rc = kind_of(provider)->finish(&call, arena, secrets, code, vouched, error);
	provider_call_end(&call);
	if (!rc && *provider->domains && !vouched_is_in_domains(vouched, provider->domains))
		rc = fail(error, ERROR_FORBIDDEN,
			"Your account at %s has no verified e-mail address in a domain that may sign in here. "
			"Ask an admin.",
			provider->label);
	return rc;
}
