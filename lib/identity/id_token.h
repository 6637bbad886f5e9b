/* Private to lib/identity: checks ID tokens of OpenID Connect: JSON Web Tokens (RFC 7519) that are
 * signed with RS256 or ES256 (RFC 7518). Every other algorithm is refused, "none" and HMAC among
 * them. */
#ifndef PODIUM_LIB_IDENTITY_ID_TOKEN_H
#define PODIUM_LIB_IDENTITY_ID_TOKEN_H

#include "lib/base/error.h"

#include <jansson.h>
#include <stdint.h>

/* What a token must say. */
struct id_token_demand {
	const char *issuer, *audience, *nonce;
	int64_t now_s; /* seconds since 1970; two minutes of difference between clocks are allowed */
};

/* Verifies the signature with a key of `keys`, a JSON Web Key Set, and the claims iss, aud, azp,
 * exp, iat, nonce and sub. Only then `*claims` gets the token's content, which the caller releases.
 * ERROR_FORBIDDEN with the reason, which quotes nothing of the token. */
int id_token_check(const char *token, const json_t *keys, const struct id_token_demand *demand,
	json_t **claims, struct error *error);

#endif
