/* Private to lib/identity: the secrets of a sign-in, and what the provider says about the person.
 * Other folders include lib/identity/provider.h. */
#ifndef PODIUM_LIB_IDENTITY_VOUCHED_H
#define PODIUM_LIB_IDENTITY_VOUCHED_H

#include <stddef.h>

/* The secrets of one sign-in, base64url of 32 random bytes each. */
struct sign_in_secrets {
	char state[44], nonce[44], verifier[44];
};

/* What the provider vouches for. Only (issuer, subject) identifies the person. */
struct vouched {
	const char *issuer, *subject;
	const char *shown_as;      /* name at the provider, one line */
	const char *const *emails; /* only those that the provider says it has verified */
	size_t email_count;
};

#endif
