/* What a host needs to become a worker host, as one word that an admin copies there: podium-admin
 * makes it, podium-worker uses it once (docs/worker-hosts.md). */
#ifndef PODIUM_LIB_WORKER_INVITATION_H
#define PODIUM_LIB_WORKER_INVITATION_H

#include "lib/arena.h"
#include "lib/config.h"
#include "lib/error.h"

#include <stdbool.h>
#include <stdint.h>

struct worker_invitation {
	const char *name; /* of the worker */
	const char *host;
	int64_t port; /* of the database, as that host reaches it */
	const char *database, *user;
	const char *secret;             /* the user's password until the invitation is used */
	const char *tls, *certificates; /* database_tls, and the text of the file database_tls_ca; ""
	                                   where there is none */
};

enum { worker_secret_bytes = 32, worker_secret_size = 44 };

/* 256 random bits in base64url. */
void worker_secret_draw(char secret[static worker_secret_size]);

/* Whether it may be a worker's name: 1 to 63 letters, digits, dots, hyphens and underscores. Other
 * names work as well, but not for hosts that are invited. */
bool worker_name_is_fine(const char *name);

/* One line of letters, digits and four other characters. NULL when it would be too long to be
 * copied. */
char *worker_invitation_write(
	struct arena *arena, const struct worker_invitation *invitation, struct error *error);

/* ERROR_INPUT when it is none, or not whole. */
int worker_invitation_read(struct arena *arena, const char *text,
	struct worker_invitation *invitation, struct error *error);

#endif
