/* Identity providers: OpenID Connect with discovery, and GitHub's OAuth. Both use the authorization
 * code flow with PKCE (RFC 6749, RFC 7636). */
#ifndef PODIUM_LIB_IDENTITY_PROVIDER_H
#define PODIUM_LIB_IDENTITY_PROVIDER_H

#include "lib/base/arena.h"
#include "lib/base/config.h"
#include "lib/base/error.h"
#include "lib/identity/vouched.h"

#include <stdbool.h>

/* Makes fresh secrets. */
void sign_in_secrets_make(struct sign_in_secrets *secrets);

/* Returns the provider NAME, or NULL. */
const struct provider_settings *provider_by_name(const struct config *config, const char *name);

/* Returns the label of the provider with this issuer, or the issuer if none has it. */
const char *provider_label(const struct config *config, const char *issuer);

/* The next two functions ask the provider. ERROR_CONFLICT: the provider does not answer as it
 * should. ERROR_FORBIDDEN: the provider does not confirm who the person is, or the allow-lists of
 * the settings leave the person out. ERROR_LIMIT: too many sign-ins are asking this provider now.
 * No sentence contains a secret. */

/* Makes the address of the provider to which the browser goes. */
int provider_sign_in_address(struct arena *arena, const struct config *config,
	const struct provider_settings *provider, const struct sign_in_secrets *secrets,
	const char **address, struct error *error);

/* Exchanges the code that the browser brought back for what the provider says about the person. */
int provider_vouch(struct arena *arena, const struct config *config,
	const struct provider_settings *provider, const struct sign_in_secrets *secrets,
	const char *code, struct vouched *vouched, struct error *error);

/* Whether one of the verified addresses is in a domain of `list` (separated by commas). A domain
 * does not include its subdomains. */
bool vouched_is_in_domains(const struct vouched *vouched, const char *list);

#endif
