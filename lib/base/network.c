#include "lib/base/network.h"

#include "lib/base/buffer.h"
#include "lib/base/scope.h"
#include "lib/base/text.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { address_bytes = 16, address_bits = 128, mapped_bits = 96, most_entry_bytes = 255 };
static const unsigned char MAPPED[12] = { [10] = 0xff, 0xff };

/* IANA's registries of special-purpose addresses (RFC 6890 and later), multicast and reserved
 * addresses. */
static const struct {
	const char *network, *what;
} INTERNAL[] = {
	{ "0.0.0.0/8", "this host" },
	{ "10.0.0.0/8", "a private network" },
	{ "100.64.0.0/10", "a provider's internal network" },
	{ "127.0.0.0/8", "this host" },
	{ "169.254.0.0/16", "a link-local network" },
	{ "172.16.0.0/12", "a private network" },
	{ "192.0.0.0/24", "a network reserved for protocols" },
	{ "192.0.2.0/24", "a network reserved for examples" },
	{ "192.88.99.0/24", "a retired relay" },
	{ "192.168.0.0/16", "a private network" },
	{ "198.18.0.0/15", "a network reserved for measurements" },
	{ "198.51.100.0/24", "a network reserved for examples" },
	{ "203.0.113.0/24", "a network reserved for examples" },
	{ "224.0.0.0/4", "a multicast network" },
	{ "240.0.0.0/4", "a reserved network" },
	{ "::/128", "this host" },
	{ "::1/128", "this host" },
	{ "fc00::/7", "a private network" },
	{ "fe80::/10", "a link-local network" },
	{ "ff00::/8", "a multicast network" },
	{ "2001::/23", "a network reserved for protocols" }, /* Teredo, ORCHID, measurements */
	{ "2001:db8::/32", "a network reserved for examples" },
	{ "2002::/16", "an IPv4 host through a tunnel" },
	{ "3fff::/20", "a network reserved for examples" },
};

/* IANA assigns only these IPv6 addresses to hosts on the internet. */
static const char GLOBAL[] = "2000::/3";
/* RFC 6052: the last four bytes are an IPv4 address. */
static const char NAT64[] = "64:ff9b::/96";

/* ---- networks ---- */

static int parse_prefix_length(const char *text, int most, int *bits)
{
	char *end;
	if (!*text || strlen(text) > 3 || strspn(text, "0123456789") != strlen(text))
		return -1;
	*bits = (int)strtol(text, &end, 10);
	return *bits <= most ? 0 : -1;
}

static void clear_host_bits(struct network *network)
{
	for (int i = network->bits; i < address_bits; i++)
		network->bytes[i / 8] &= (unsigned char)~(0x80u >> i % 8);
}

int network_parse(const char *text, struct network *network)
{
	char host[INET6_ADDRSTRLEN];
	size_t length = strcspn(text, "/");
	*network = (struct network){ .bits = address_bits };
	if (length >= sizeof host)
		return -1;
	memcpy(host, text, length);
	host[length] = '\0';
	int shift = 0, bits = address_bits;
	if (inet_pton(AF_INET, host, network->bytes + sizeof MAPPED) == 1) {
		memcpy(network->bytes, MAPPED, sizeof MAPPED);
		shift = mapped_bits;
	} else if (inet_pton(AF_INET6, host, network->bytes) != 1)
		return -1;
	if (text[length] && parse_prefix_length(text + length + 1, address_bits - shift, &bits))
		return -1;
	network->bits = text[length] ? bits + shift : address_bits;
	clear_host_bits(network);
	return 0;
}

bool network_holds(const struct network *network, const unsigned char address[static 16])
{
	int whole = network->bits / 8, rest = network->bits % 8;
	unsigned mask = 0xff00u >> rest & 0xff;
	return memcmp(network->bytes, address, (size_t)whole) == 0
		&& (!rest || (address[whole] & mask) == network->bytes[whole]);
}

static bool text_network_holds(const char *text, const unsigned char *address)
{
	struct network network;
	return network_parse(text, &network) == 0 && network_holds(&network, address);
}

/* ---- addresses ---- */

/* Copies the host of a URL, without brackets. Fails if anything but a port and a path follows the
 * host. */
static int host_of_url(const char *url, char host[static INET6_ADDRSTRLEN])
{
	const char *begin = strstr(url, "://");
	if (!begin)
		return -1;
	begin += strlen("://");
	const bool is_bracketed = *begin == '[';
	begin += is_bracketed;
	const size_t length = strcspn(begin, is_bracketed ? "]" : ":/");
	const char *rest = begin + length;
	if (length >= INET6_ADDRSTRLEN || (is_bracketed && *rest++ != ']'))
		return -1;
	memcpy(host, begin, length);
	host[length] = '\0';
	rest += *rest == ':' ? 1 + strspn(rest + 1, "0123456789") : 0;
	return !*rest || *rest == '/' ? 0 : -1;
}

bool network_url_is_loopback(const char *url)
{
	char host[INET6_ADDRSTRLEN];
	struct network address, own4, own6;
	network_parse("127.0.0.0/8", &own4);
	network_parse("::1", &own6);
	if (host_of_url(url, host))
		return false;
	return strcasecmp(host, "localhost") == 0
		|| (network_parse(host, &address) == 0
			&& (network_holds(&own4, address.bytes) || network_holds(&own6, address.bytes)));
}

bool network_url_is_plain(const char *url)
{
	static const char scheme[] = "http://";
	return strncmp(url, scheme, strlen(scheme)) == 0 && !network_url_is_loopback(url);
}

bool network_of_socket(const struct sockaddr *socket, unsigned char address[static 16])
{
	if (socket->sa_family == AF_INET6) {
		memcpy(address, &((const struct sockaddr_in6 *)(const void *)socket)->sin6_addr,
			address_bytes);
		return true;
	}
	if (socket->sa_family != AF_INET)
		return false;
	memcpy(address, MAPPED, sizeof MAPPED);
	memcpy(address + sizeof MAPPED, &((const struct sockaddr_in *)(const void *)socket)->sin_addr,
		address_bytes - sizeof MAPPED);
	return true;
}

const char *network_internal(const unsigned char address[static 16])
{
	unsigned char inside[address_bytes];
	memcpy(inside, address, address_bytes);
	if (text_network_holds(NAT64, address))
		memcpy(inside, MAPPED, sizeof MAPPED);
	for (size_t i = 0; i < COUNT(INTERNAL); i++)
		if (text_network_holds(INTERNAL[i].network, inside))
			return INTERNAL[i].what;
	return memcmp(inside, MAPPED, sizeof MAPPED) == 0 || text_network_holds(GLOBAL, inside)
		? NULL
		: "a reserved network";
}

/* ---- lists ---- */

static const char SEPARATORS[] = ", \t";

/* Copies the next entry into `entry`; false at the end. An entry that is too long becomes "". */
static bool next_entry(const char **list, char entry[static most_entry_bytes + 1])
{
	*list += strspn(*list, SEPARATORS);
	size_t length = strcspn(*list, SEPARATORS), taken = length <= most_entry_bytes ? length : 0;
	memcpy(entry, *list, taken);
	entry[taken] = '\0';
	*list += length;
	return length > 0;
}

static bool is_host_name(const char *text)
{
	return *text && *text != '-' && *text != '.'
		&& text[strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-.")]
		== '\0'
		&& text[strcspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")]
		!= '\0'; /* a host name has a letter; otherwise the text is an address */
}

int network_list_check(const char *list, struct error *error)
{
	char entry[most_entry_bytes + 1];
	struct network network;
	while (next_entry(&list, entry)) {
		if (network_parse(entry, &network) == 0 || is_host_name(entry))
			continue;
		cleanup_buffer struct buffer shown = { 0 };
		text_append_printable(&shown, entry);
		int length =
			(int)text_utf8_prefix(buffer_string(&shown), shown.length < 80 ? shown.length : 80);
		return fail(error, ERROR_INPUT,
			"\"%.*s\" is neither the name of a host nor a network such as 10.1.0.0/16.", length,
			buffer_string(&shown));
	}
	return 0;
}

bool network_list_names(const char *list, const char *host)
{
	char entry[most_entry_bytes + 1];
	bool found = false;
	while (!found && next_entry(&list, entry))
		found = is_host_name(entry) && strcasecmp(entry, host) == 0;
	return found;
}

bool network_list_holds(const char *list, const unsigned char address[static 16])
{
	char entry[most_entry_bytes + 1];
	bool found = false;
	while (!found && next_entry(&list, entry))
		found = *entry && text_network_holds(entry, address);
	return found;
}
