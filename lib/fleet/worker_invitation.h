/* A worker invitation: one word with everything that a host needs to become a worker host.
 * podium-admin creates the word and an admin copies it to the host. podium-worker uses it once
 * (docs/worker-hosts.md). */
#ifndef PODIUM_LIB_FLEET_WORKER_INVITATION_H
#define PODIUM_LIB_FLEET_WORKER_INVITATION_H

#include "lib/base/arena.h"
#include "lib/base/config.h"
#include "lib/base/error.h"

#include <stdbool.h>
#include <stdint.h>

struct worker_invitation {
	const char *name; /* of the worker */
	const char *host;
	int64_t port; /* host and port of the database, as the invited host reaches it */
	const char *database, *user;
	const char *secret;             /* the user's password until the invitation is used */
	const char *tls, *certificates; /* database_tls; text of the file database_tls_ca, "": none */
};

enum { worker_secret_bytes = 32, worker_secret_size = 44 };

/* 256 random bits in base64url. */
void worker_secret_draw(char secret[static worker_secret_size]);

/* Whether an invited worker may have this name: 1 to 63 letters, digits, dots, hyphens and
 * underscores. Workers without an invitation may have other names. */
bool worker_name_is_fine(const char *name);

/* Encodes an invitation as one line of letters, digits and four other characters. NULL if it would
 * be too long to copy. */
char *worker_invitation_write(
	struct arena *arena, const struct worker_invitation *invitation, struct error *error);

/* Decodes an invitation. ERROR_INPUT: the text is not an invitation, or not a complete one. */
int worker_invitation_read(struct arena *arena, const char *text,
	struct worker_invitation *invitation, struct error *error);

#endif
