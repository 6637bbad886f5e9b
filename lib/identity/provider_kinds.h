/* Private to lib/identity: the two kinds of providers. */
#ifndef PODIUM_LIB_IDENTITY_PROVIDER_KINDS_H
#define PODIUM_LIB_IDENTITY_PROVIDER_KINDS_H

#include "lib/identity/provider_call.h"

/* The authorization request: each kind puts its endpoint into `endpoint`, and appends to `query`
 * the parameters that only this kind needs. */
typedef int provider_begin(const struct provider_call *call, const struct sign_in_secrets *secrets,
	struct buffer *endpoint, struct buffer *query, struct error *error);
typedef int provider_finish(const struct provider_call *call, struct arena *arena,
	const struct sign_in_secrets *secrets, const char *code, struct vouched *vouched,
	struct error *error);

provider_begin oidc_begin, github_begin;
provider_finish oidc_finish, github_finish;

#endif
