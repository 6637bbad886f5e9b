/* Private to lib/base: the settings of one identity provider, with whose accounts people sign in:
 * `provider.NAME.KEY = value` in podium.conf (docs/accounts.md). */
#ifndef PODIUM_LIB_BASE_PROVIDER_SETTINGS_H
#define PODIUM_LIB_BASE_PROVIDER_SETTINGS_H

#include "lib/base/buffer.h"
#include "lib/base/error.h"

#include <stdbool.h>
#include <stddef.h>

enum { providers_most = 32 };

struct provider_settings {
	char name[32];  /* part of addresses: lower-case letters, digits and dashes */
	char kind[8];   /* "oidc" or "github" */
	char label[64]; /* name on the sign-in button; default: `name` */
	/* OpenID Connect: the issuer, as its ID tokens name it. GitHub: the address of the site. */
	char issuer[256];
	char api[256]; /* GitHub only: the address of its API */
	char client_id[256];
	char client_secret[512]; /* empty: a public client, which has only PKCE */
	/* Allow-lists of people who may sign in with the provider, separated by commas; empty:
	 * everybody. */
	char domains[512];       /* domains of verified e-mail addresses */
	char organisations[512]; /* GitHub only */
	/* "asked": Podium asks an account with a second factor for it after a sign-in with this
	 * provider. "trusted": Podium does not, because the provider asks for one. */
	char second_factor[8];
};

/* Sets one key of the provider NAME; `key_path` is "NAME.KEY". Adds the provider if it is new.
 * *is_secret: whether the value is a secret. ERROR_INPUT: the name, the key or the value is wrong.
 */
int provider_settings_set(struct provider_settings *providers, size_t *count, const char *key_path,
	const char *value, bool *is_secret, struct error *error);

/* Checks each provider as a whole and fills its defaults. ERROR_INPUT names the wrong key. */
int provider_settings_finish(
	struct provider_settings *providers, size_t count, struct error *error);

/* Appends the keys to the manual page podium.conf(5). */
void provider_settings_manual(struct buffer *out);

#endif
