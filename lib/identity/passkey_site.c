#include "lib/identity/passkey_site.h"

#include "lib/base/text.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

bool passkey_site_of(const char *public_url, struct passkey_site *site)
{
	bool secure = strncmp(public_url, "https://", 8) == 0;
	if (!secure && strncmp(public_url, "http://", 7) != 0)
		return false;
	const char *name = public_url + (secure ? 8 : 7), *standard = secure ? ":443" : ":80";
	size_t length = strcspn(name, "/"), host = strcspn(name, ":/");
	if (!host || *name == '[' || strspn(name, "0123456789.") >= host
		|| length + 9 > sizeof site->origin)
		return false;
	if (length - host == strlen(standard) && strncmp(name + host, standard, length - host) == 0)
		length = host;
	snprintf(site->origin, sizeof site->origin, "%s%.*s", secure ? "https://" : "http://",
		(int)length, name);
	snprintf(site->host, sizeof site->host, "%.*s", (int)host, name);
	for (char *at = site->origin; *at; at++)
		*at = (char)tolower((unsigned char)*at);
	for (char *at = site->host; *at; at++)
		*at = (char)tolower((unsigned char)*at);
	return secure || strcmp(site->host, "localhost") == 0
		|| text_ends_with(site->host, ".localhost");
}
