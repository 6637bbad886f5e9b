/* Classifies host addresses: the internet, or somebody's internal network.
 *
 * All addresses are IPv6's 16 bytes. An IPv4 address is mapped into IPv6 (::ffff:a.b.c.d), so
 * every spelling of a host gets the same answer. */
#ifndef PODIUM_LIB_BASE_NETWORK_H
#define PODIUM_LIB_BASE_NETWORK_H

#include "lib/base/error.h"

#include <stdbool.h>
#include <sys/socket.h>

struct network {
	unsigned char bytes[16];
	int bits;
}; /* only the first `bits` bits of `bytes` count */

/* Reads "10.1.0.0/16", "fd00::/8", "127.0.0.1" or "::1". Returns 0, or -1 for anything else. Sets
 * the bits behind the prefix to 0. */
int network_parse(const char *text, struct network *network);
bool network_holds(const struct network *network, const unsigned char address[static 16]);

/* Whether the host of a URL is this machine: "localhost", 127.0.0.0/8 or [::1]. False for a URL
 * with a user's name, and for one that cannot be read. */
bool network_url_is_loopback(const char *url);

/* Whether the URL begins with "http://" and leads to another machine, so that others can read
 * along. */
bool network_url_is_plain(const char *url);

/* Fills `address` from a socket's address. False for families other than IPv4 and IPv6. */
bool network_of_socket(const struct sockaddr *socket, unsigned char address[static 16]);

/* Names an address that does not lead to the internet: "a private network", "this machine itself".
 * NULL: the internet. For an IPv6 address that embeds an IPv4 address (NAT64), the IPv4 address
 * decides. */
const char *network_internal(const unsigned char address[static 16]);

/* These functions take a list from the settings, "chat.example.org, 10.1.0.0/16": host names and
 * networks, separated by commas or spaces. network_list_check returns ERROR_INPUT and names an
 * entry that is neither. The other two tell whether the list names the host, or has a network with
 * the address. */
int network_list_check(const char *list, struct error *error);
bool network_list_names(const char *list, const char *host);
bool network_list_holds(const char *list, const unsigned char address[static 16]);

#endif
