/* The signature of a webhook's message. The signature tells the receiver that this Podium sent the
 * message. docs/webhooks.md says how a receiver verifies it. */
#ifndef PODIUM_HOOKS_SIGNATURE_H
#define PODIUM_HOOKS_SIGNATURE_H

#include "lib/base/buffer.h"

#include <stdint.h>

/* "t=1795316246,v1=HEX": HMAC-SHA256 over "TIME.BODY" with the webhook's secret as key. time_s
 * is in seconds since 1970. */
typedef char signature_text[2 + 20 + 4 + 64 + 1];
void signature_make(
	signature_text signature, const char *secret, int64_t time_s, const struct buffer *body);

#endif
