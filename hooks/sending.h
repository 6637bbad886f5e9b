/* One delivery over HTTP, with libcurl: POST, no redirects, no proxies, no cookies, nothing of the
 * environment, a new connection each time, to addresses that webhooks may reach alone
 * (lib/webhook_address.h), looked at when they are connected to. Of the answer only its status and
 * how long it asks to wait count; the rest is dropped, and cut when it is long. */
#ifndef PODIUM_HOOKS_SENDING_H
#define PODIUM_HOOKS_SENDING_H

#include "hooks/outbox.h"
#include "lib/config.h"

/* Never fails: what went wrong is the outcome. Takes about webhook_timeout_ms at most. */
struct outcome send_delivery(const struct config *config, const struct delivery *delivery);

#endif
