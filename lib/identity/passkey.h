/* Passkeys: checks what a browser sends when it registers a passkey or signs with one (WebAuthn).
 * libfido2 parses the authenticator's data and checks the signature. Podium asks for no
 * attestation, so a registration has no signature; it only gives a public key. */
#ifndef PODIUM_LIB_IDENTITY_PASSKEY_H
#define PODIUM_LIB_IDENTITY_PASSKEY_H

#include "lib/base/arena.h"
#include "lib/base/error.h"
#include "lib/identity/passkey_site.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	passkey_challenge_bytes = 32,
	passkey_most_id_bytes = 1023,
	passkey_most_key_bytes = 512,
	passkey_most_data_bytes = 16384, /* of one part of an answer */
};

struct passkey_bytes {
	const unsigned char *bytes;
	size_t length;
};

/* Decodes base64url without padding. Returns false if `text` has another form, is empty, or has
 * more than passkey_most_data_bytes. */
bool passkey_decode(struct arena *arena, const char *text, struct passkey_bytes *out);

struct passkey_answer {
	const struct passkey_site *site;
	struct passkey_bytes client_data;        /* clientDataJSON */
	struct passkey_bytes authenticator_data; /* without the attestation around it */
	struct passkey_bytes signature;          /* only when signing in */
	/* requires that the authenticator verified its user, for example by a PIN, instead of only
	 * noticing a touch */
	bool needs_verification;
};

/* Reads the challenge from the client's data. ERROR_INPUT: the data are of another site or for
 * another purpose. The caller checks that Podium gave this challenge to this browser. */
int passkey_challenge_of(const struct passkey_answer *answer, bool is_registration,
	unsigned char challenge[static passkey_challenge_bytes], struct error *error);

/* A public key. */
struct passkey_key {
	unsigned char id[passkey_most_id_bytes], key[passkey_most_key_bytes];
	size_t id_length, key_length;
	int64_t algorithm;  /* its number in COSE */
	int64_t sign_count; /* 0: the authenticator does not count */
};

/* Reads the key of a registration. */
int passkey_register(
	const struct passkey_answer *answer, struct passkey_key *key, struct error *error);

/* Checks the signature by the key. `sign_count` gets the new count, which the caller compares. */
int passkey_verify(const struct passkey_answer *answer, int64_t algorithm,
	struct passkey_bytes public_key, int64_t *sign_count, struct error *error);

#endif
