#include "lib/base/provider_settings.h"

#include "lib/base/manual.h"
#include "lib/base/network.h"
#include "lib/base/scope.h"

#include <stdio.h>
#include <string.h>

static const struct key {
	const char *name;
	size_t offset, size;
	bool is_secret;
	const char *meaning;
} KEYS[] = {
#define KEY(member, secret, text) \
	{ \
		.name = #member, .offset = offsetof(struct provider_settings, member), \
		.size = sizeof(((struct provider_settings *)0)->member), .is_secret = (secret), \
		.meaning = (text) \
	}
	KEY(kind, false, "oidc (OpenID Connect, the default) or github"),
	KEY(label, false, "the name on the button; default: NAME"),
	KEY(issuer, false, "the address of the provider; of GitHub: https://github.com"),
	KEY(api, false, "the address of GitHub's API; default: https://api.github.com"),
	KEY(client_id, false, "the name under which the provider knows this site"),
	KEY(client_secret, true, "the secret that belongs to it; empty: PKCE alone"),
	KEY(domains, false,
		"only people with a verified e-mail address in one of these domains, separated by commas"),
	KEY(organisations, false,
		"only members of one of these organisations of GitHub, separated by commas"),
	KEY(second_factor, false,
		"asked (Podium asks for the account's second factor, the default) or trusted (the provider "
		"does)"),
};

static struct provider_settings *find_or_add(struct provider_settings *providers, size_t *count,
	const char *name, size_t length, struct error *error)
{
	for (size_t i = 0; i < *count; i++)
		if (strlen(providers[i].name) == length && memcmp(providers[i].name, name, length) == 0)
			return &providers[i];
	if (!length || length >= sizeof providers->name
		|| strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-") != length)
		fail(error, ERROR_INPUT,
			"a provider's name has 1 to %zu lower-case letters, digits and dashes, as in "
			"provider.uni.issuer.",
			sizeof providers->name - 1);
	else if (*count == providers_most)
		fail(error, ERROR_INPUT, "there are more than %d providers.", providers_most);
	else {
		struct provider_settings *added = &providers[(*count)++];
		*added = (struct provider_settings){ .kind = "oidc", .second_factor = "asked" };
		memcpy(added->name, name, length);
		return added;
	}
	return NULL;
}

int provider_settings_set(struct provider_settings *providers, size_t *count, const char *key_path,
	const char *value, bool *is_secret, struct error *error)
{
	size_t length = strcspn(key_path, ".");
	const char *name = key_path[length] ? key_path + length + 1 : "";
	for (size_t i = 0; i < COUNT(KEYS); i++) {
		const struct key *key = &KEYS[i];
		if (strcmp(key->name, name) != 0)
			continue;
		struct provider_settings *provider = find_or_add(providers, count, key_path, length, error);
		if (!provider)
			return ERROR_INPUT;
		/* The message leaves the value out, because it may be the secret. */
		if (strlen(value) >= key->size)
			return fail(error, ERROR_INPUT, "provider.%s.%s is longer than %zu bytes.",
				provider->name, name, key->size - 1);
		snprintf((char *)provider + key->offset, key->size, "%s", value);
		*is_secret = key->is_secret && *value;
		return 0;
	}
	return fail(error, ERROR_INPUT,
		"there is no setting named provider.%.60s. A provider has kind, label, issuer, api, "
		"client_id, client_secret, domains, organisations and second_factor.",
		key_path);
}

/* Over plain http, anybody on the way could read the secret and answer with another identity. */
static bool is_safe_address(const char *address)
{
	return (strncmp(address, "https://", 8) == 0 && address[8])
		|| (strncmp(address, "http://", 7) == 0 && network_url_is_loopback(address));
}

static void fill_defaults(struct provider_settings *provider)
{
	if (!*provider->label)
		snprintf(provider->label, sizeof provider->label, "%s", provider->name);
	if (strcmp(provider->kind, "github") != 0)
		return;
	if (!*provider->issuer)
		snprintf(provider->issuer, sizeof provider->issuer, "https://github.com");
	if (!*provider->api)
		snprintf(provider->api, sizeof provider->api, "https://api.github.com");
}

static int check(const struct provider_settings *provider, struct error *error)
{
	const char *name = provider->name;
	bool is_github = strcmp(provider->kind, "github") == 0;
	if (!is_github && strcmp(provider->kind, "oidc") != 0)
		return fail(error, ERROR_INPUT, "provider.%s.kind must be oidc or github, not \"%s\".",
			name, provider->kind);
	if (strcmp(provider->second_factor, "asked") != 0
		&& strcmp(provider->second_factor, "trusted") != 0)
		return fail(error, ERROR_INPUT,
			"provider.%s.second_factor must be asked or trusted, not \"%s\".", name,
			provider->second_factor);
	if (!is_safe_address(provider->issuer))
		return fail(error, ERROR_INPUT,
			"provider.%s.issuer must be an address that begins with https://.", name);
	if (*provider->api && !(is_github && is_safe_address(provider->api)))
		return fail(error, ERROR_INPUT,
			"provider.%s.api must begin with https://, and only the kind github has it.", name);
	if (!*provider->client_id)
		return fail(error, ERROR_INPUT,
			"provider.%s.client_id is missing. The provider shows it when you register Podium.",
			name);
	if (is_github && !*provider->client_secret)
		return fail(error, ERROR_INPUT,
			"provider.%s.client_secret is missing. GitHub shows it when you register Podium.",
			name);
	if (*provider->organisations && !is_github)
		return fail(error, ERROR_INPUT,
			"provider.%s.organisations works only with the kind github. Use domains.", name);
	if (strspn(provider->organisations,
			"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-, ")
		!= strlen(provider->organisations))
		return fail(error, ERROR_INPUT,
			"provider.%s.organisations must be names of organisations, separated by commas.", name);
	return 0;
}

int provider_settings_finish(struct provider_settings *providers, size_t count, struct error *error)
{
	int rc = 0;
	for (size_t i = 0; i < count && !rc; i++) {
		fill_defaults(&providers[i]);
		rc = check(&providers[i], error);
	}
	return rc;
}

void provider_settings_manual(struct buffer *out)
{
	for (size_t i = 0; i < COUNT(KEYS); i++) {
		char name[64];
		snprintf(name, sizeof name, "provider.NAME.%s", KEYS[i].name);
		manual_item(out, name, "", KEYS[i].meaning);
	}
}
