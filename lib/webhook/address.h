/* Where a webhook may send to, so that nobody reaches hosts behind the server with it: https on the
 * usual ports, and on the internet alone. What an operator names in the setting webhook_allowed may
 * be reached besides: a host by its name (also by http, on any port, wherever it leads), and the
 * addresses of a network.
 *
 * The address is read by libcurl's own reader, which sends to it later. What a name leads to is
 * looked at when a connection is made (webhook_address_refusal), not before: a name may lead
 * elsewhere a moment later. */
#ifndef PODIUM_LIB_WEBHOOK_ADDRESS_H
#define PODIUM_LIB_WEBHOOK_ADDRESS_H

#include "lib/arena.h"
#include "lib/error.h"

#include <stdbool.h>
#include <sys/socket.h>

enum { webhook_address_most_bytes = 1000 };

struct webhook_address {
	const char *host; /* of an IPv6 address without its brackets */
	bool is_named;    /* by its name in webhook_allowed */
};

/* Takes an address apart; ERROR_INPUT with the field `address` and a sentence where nothing may be
 * sent to it. */
int webhook_address_read(struct arena *arena, const char *text, const char *allowed,
	struct webhook_address *address, struct error *error);

/* What is reached at a socket's address that may not be (lib/network.h); NULL: a webhook may send
 * there. */
const char *webhook_address_refusal(
	const struct webhook_address *address, const char *allowed, const struct sockaddr *socket);

#endif
