#include "lib/webhook/address.h"

#include "lib/base/network.h"
#include "lib/base/quote.h"
#include "lib/base/scope.h"
#include "lib/base/text.h"

#include <curl/curl.h>
#include <stdlib.h>
#include <string.h>

static const char FIELD[] = "address";
static const char *const PORTS[] = { "443", "8443" };

static inline void scope_curlu(CURLU **url)
{
	curl_url_cleanup(*url);
}
#define cleanup_url __attribute__((cleanup(scope_curlu)))

static const char *copy_part(struct arena *arena, CURLU *url, CURLUPart which)
{
	char *text = NULL;
	if (curl_url_get(url, which, &text, which == CURLUPART_PORT ? CURLU_DEFAULT_PORT : 0))
		return NULL;
	const char *kept = arena_strdup(arena, text);
	curl_free(text);
	return kept;
}

static const char *strip_brackets(struct arena *arena, const char *host)
{
	size_t length = strlen(host);
	return length > 2 && host[0] == '[' && host[length - 1] == ']'
		? arena_strndup(arena, host + 1, length - 2)
		: host;
}

static int check_text(const char *text, struct error *error)
{
	size_t length = strlen(text);
	if (!length)
		return fail_field(error, FIELD, "Give the receiver's address; it begins with https://.");
	if (length > webhook_address_most_bytes)
		return fail_field(error, FIELD, "The address is %zu bytes long; %d are allowed.", length,
			webhook_address_most_bytes);
	for (; *text; text++)
		if (*text <= ' ' || *text > '~')
			return fail_field(error, FIELD,
				"The address has a space or a character outside of ASCII; write such characters as "
				"%%xx, and a host's name as xn--....");
	return 0;
}

/* Checks for hosts that webhook_allowed does not name. */
static int check_other_host(const char *scheme, const char *port, const struct network *literal,
	const char *host, struct error *error)
{
	const char *what = literal ? network_internal(literal->bytes) : NULL;
	if (strcmp(scheme, "https") != 0)
		return fail_field(error, FIELD,
			"The address must begin with https://, so that nobody on the way can read or change "
			"the events.");
	if (what)
		return fail_field(error, FIELD,
			"%s is %s, but webhooks may only reach hosts on the internet. The site's operator can "
			"allow it with the setting webhook_allowed.",
			host, what);
	return text_is_one_of(port, PORTS, COUNT(PORTS))
		? 0
		: fail_field(error, FIELD, "Webhooks may only use the ports 443 and 8443, not %s.", port);
}

static int check_parts(struct arena *arena, CURLU *url, const char *allowed,
	struct webhook_address *address, struct error *error)
{
	const char *scheme = copy_part(arena, url, CURLUPART_SCHEME),
			   *host = copy_part(arena, url, CURLUPART_HOST),
			   *port = copy_part(arena, url, CURLUPART_PORT);
	struct network literal;
	if (!scheme || !host || !*host || !port
		|| (strcmp(scheme, "https") != 0 && strcmp(scheme, "http") != 0))
		return fail_field(error, FIELD,
			"This is not a web address; it must begin with https:// and a host's name.");
	if (copy_part(arena, url, CURLUPART_FRAGMENT))
		return fail_field(error, FIELD, "The part after # is never sent. Leave it out.");
	*address = (struct webhook_address){ .host = strip_brackets(arena, host) };
	address->is_named = network_list_names(allowed, address->host);
	bool is_literal = network_parse(address->host, &literal) == 0;
	if (address->is_named || (is_literal && network_list_holds(allowed, literal.bytes)))
		return 0;
	return check_other_host(scheme, port, is_literal ? &literal : NULL, address->host, error);
}

int webhook_address_read(struct arena *arena, const char *text, const char *allowed,
	struct webhook_address *address, struct error *error)
{
	cleanup_url CURLU *url = curl_url();
	int rc = check_text(text, error);
	if (rc)
		return rc;
	CURLUcode code =
		url ? curl_url_set(url, CURLUPART_URL, text, CURLU_DISALLOW_USER) : CURLUE_OUT_OF_MEMORY;
	if (code == CURLUE_OUT_OF_MEMORY)
		abort();
	if (code == CURLUE_USER_NOT_ALLOWED)
		return fail_field(
			error, FIELD, "Leave name and password out of the address; Podium does not send them.");
	if (code)
		return fail_field(error, FIELD,
			"%s is not a web address; it must begin with https:// and a host's name.",
			quote(arena, text));
	return check_parts(arena, url, allowed, address, error);
}

const char *webhook_address_refusal(
	const struct webhook_address *address, const char *allowed, const struct sockaddr *socket)
{
	unsigned char bytes[16];
	if (!network_of_socket(socket, bytes))
		return "no address of the internet";
	if (address->is_named || network_list_holds(allowed, bytes))
		return NULL;
	return network_internal(bytes);
}
