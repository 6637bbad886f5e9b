/* The site as browsers see it when they use a passkey. A passkey works only for the host of the
 * address at which it was registered. */
#ifndef PODIUM_LIB_IDENTITY_PASSKEY_SITE_H
#define PODIUM_LIB_IDENTITY_PASSKEY_SITE_H

#include <stdbool.h>

struct passkey_site {
	char origin[256], host[256];
};

/* Returns false if browsers offer no passkeys at this address: they need https (or localhost) and a
 * name, not an IP address. */
bool passkey_site_of(const char *public_url, struct passkey_site *site);

#endif
