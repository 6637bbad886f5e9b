/* Sends one delivery over HTTP with libcurl. Each POST uses a new connection, without redirects,
 * proxies, cookies or the environment. Only addresses that lib/webhook/address.h allows are
 * reached; they are checked at the connection. Only the answer's status and Retry-After matter.
 * The rest is dropped, and long answers are cut. */
#ifndef PODIUM_HOOKS_SENDING_H
#define PODIUM_HOOKS_SENDING_H

#include "hooks/outbox.h"
#include "lib/base/config.h"

/* Always returns an outcome; errors are part of it. Takes at most about webhook_timeout_ms. */
struct outcome send_delivery(const struct config *config, const struct delivery *delivery);

#endif
