/* Checks webhook addresses, so that nobody reaches hosts behind the server through a webhook.
 * Only https on the usual ports to hosts on the internet is allowed. The setting webhook_allowed
 * adds exceptions: a host name (also http, any port, any address), or a network's addresses.
 *
 * libcurl parses the address here, because libcurl also sends to it. A name's address is checked
 * at each connection (webhook_address_refusal), because the name may resolve differently a
 * moment later. */
#ifndef PODIUM_LIB_WEBHOOK_ADDRESS_H
#define PODIUM_LIB_WEBHOOK_ADDRESS_H

#include "lib/base/arena.h"
#include "lib/base/error.h"

#include <stdbool.h>
#include <sys/socket.h>

enum { webhook_address_most_bytes = 1000 };

struct webhook_address {
	const char *host; /* an IPv6 address has no brackets here */
	bool is_named;    /* webhook_allowed contains its name */
};

/* Parses an address. ERROR_INPUT with the field `address`: Podium must not send to it. */
int webhook_address_read(struct arena *arena, const char *text, const char *allowed,
	struct webhook_address *address, struct error *error);

/* Checks a socket's address. Returns the kind of forbidden host (lib/base/network.h); NULL: a
 * webhook may send there. */
const char *webhook_address_refusal(
	const struct webhook_address *address, const char *allowed, const struct sockaddr *socket);

#endif
