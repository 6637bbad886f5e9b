/* The signatures of a webhook's message, by which the receiver knows that this Podium sent it.
 * docs/webhooks.md says how a receiver verifies them. */
#ifndef PODIUM_HOOKS_SIGNATURE_H
#define PODIUM_HOOKS_SIGNATURE_H

#include "lib/base/buffer.h"

#include <stdint.h>

struct signing {
	const char *secret;
	const char *old_secret; /* replaced, but still in use by the receiver; NULL: none */
	const char *id;         /* of the message; the same in each attempt */
	int64_t time_s;         /* of this attempt, since 1970 */
};

/* Appends the value of `webhook-signature` of the Standard Webhooks specification: "v1,BASE64", of
 * an HMAC-SHA256 over "ID.TIME.BODY" with the decoded secret as key. An old secret adds a second
 * signature after a space. */
void signature_standard(
	struct buffer *out, const struct signing *signing, const struct buffer *body);

/* Appends the value of Podium's older header: "t=1795316246,v1=HEX", of an HMAC-SHA256 over
 * "TIME.BODY" with the text of the secret as key. An old secret adds ",v1=HEX" last, because
 * receivers that keep only one v1 keep the last, and they still have the old secret. */
void signature_podium(struct buffer *out, const struct signing *signing, const struct buffer *body);

#endif
