/* Sends one delivery over HTTP with libcurl. Each POST uses a new connection, without redirects,
 * proxies, cookies or settings from the environment. Podium connects only to addresses that
 * lib/webhook/address.h allows, and checks each address when it connects. Only the answer's status
 * and Retry-After matter. The rest is dropped, and long answers are cut. */
#ifndef PODIUM_HOOKS_SENDING_H
#define PODIUM_HOOKS_SENDING_H

#include "hooks/outbox.h"
#include "lib/base/config.h"

/* Sends a delivery. Errors are part of the outcome. Takes at most about webhook_timeout_ms. */
struct outcome send_delivery(const struct config *config, const struct delivery *delivery);

#endif
