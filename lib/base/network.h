/* Addresses of hosts, and which of them lead into somebody's own network instead of to the
 * internet.
 *
 * All addresses are IPv6's 16 bytes; an IPv4 address is the one that is mapped into it
 * (::ffff:a.b.c.d), so that however one is written, it is looked at as the host that it leads to.
 */
#ifndef PODIUM_LIB_NETWORK_H
#define PODIUM_LIB_NETWORK_H

#include "lib/error.h"

#include <stdbool.h>
#include <sys/socket.h>

struct network {
	unsigned char bytes[16];
	int bits;
}; /* the first bits are the network's */

/* "10.1.0.0/16", "fd00::/8", "127.0.0.1", "::1": 0, or -1 for anything else. Bits behind the
 * network's are dropped. */
int network_parse(const char *text, struct network *network);
bool network_holds(const struct network *network, const unsigned char address[static 16]);

/* The 16 bytes of a socket's address. False for other families than IPv4 and IPv6. */
bool network_of_socket(const struct sockaddr *socket, unsigned char address[static 16]);

/* What is reached there that the internet does not reach: "a private network", "this machine
 * itself". NULL: the internet. An address that carries an IPv4 address inside (NAT64) is judged by
 * that. */
const char *network_internal(const unsigned char address[static 16]);

/* A list that an operator writes, "chat.example.org, 10.1.0.0/16": names of hosts and networks,
 * with commas or spaces between. ERROR_INPUT names the entry that is neither. */
int network_list_check(const char *list, struct error *error);
bool network_list_names(const char *list, const char *host);
bool network_list_holds(const char *list, const unsigned char address[static 16]);

#endif
