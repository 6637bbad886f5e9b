#include "lib/fleet/worker_invitation.h"

#include "lib/base/scope.h"

#include <jansson.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>

static const char PREFIX[] = "podium-worker-";
/* A terminal accepts lines of at most 4095 bytes. */
enum { most_bytes = 4000, check_bytes = 8, variant = sodium_base64_VARIANT_URLSAFE_NO_PADDING };

void worker_secret_draw(char secret[static worker_secret_size])
{
	unsigned char random[worker_secret_bytes];
	randombytes_buf(random, sizeof random);
	sodium_bin2base64(secret, worker_secret_size, random, sizeof random, variant);
	sodium_memzero(random, sizeof random);
}

bool worker_name_is_fine(const char *name)
{
	size_t length = strlen(name);
	return length && length < 64
		&& strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-")
		== length;
}

/* Puts a digest before the content, so that worker_invitation_read detects an incomplete copy. */
char *worker_invitation_write(
	struct arena *arena, const struct worker_invitation *invitation, struct error *error)
{
	json_t *parts = json_pack("{s:s, s:s, s:I, s:s, s:s, s:s, s:s, s:s}", "name", invitation->name,
		"host", invitation->host, "port", (json_int_t)invitation->port, "database",
		invitation->database, "user", invitation->user, "secret", invitation->secret, "tls",
		invitation->tls, "certificates", invitation->certificates);
	cleanup_free char *text = parts ? json_dumps(parts, JSON_COMPACT) : NULL;
	json_decref(parts);
	size_t length = text ? strlen(text) : 0,
		   size = sodium_base64_encoded_len(check_bytes + length, variant);
	if (!length || sizeof PREFIX + size > most_bytes) {
		fail(error, ERROR_LIMIT,
			"The invitation is too long to copy: keep in database_tls_ca only the certificate that "
			"signs the database's.");
		return NULL;
	}
	unsigned char digest[crypto_hash_sha256_BYTES],
		*bytes = arena_alloc(arena, check_bytes + length);
	crypto_hash_sha256(digest, (const unsigned char *)text, length);
	memcpy(bytes, digest, check_bytes);
	memcpy(bytes + check_bytes, text, length);
	char *word = arena_alloc(arena, sizeof PREFIX + size);
	memcpy(word, PREFIX, sizeof PREFIX);
	sodium_bin2base64(word + strlen(PREFIX), size, bytes, check_bytes + length, variant);
	return word;
}

static int fail_invalid(struct error *error)
{
	return fail(error, ERROR_INPUT,
		"This is not a complete invitation of `podium-admin worker invite`: copy the whole line "
		"that begins with %s.",
		PREFIX);
}

static int unpack_invitation(
	struct arena *arena, const char *text, size_t length, struct worker_invitation *invitation)
{
	json_t *parts = json_loadb(text, length, 0, NULL);
	json_int_t port;
	int rc = json_unpack(parts, "{s:s, s:s, s:I, s:s, s:s, s:s, s:s, s:s}", "name",
		&invitation->name, "host", &invitation->host, "port", &port, "database",
		&invitation->database, "user", &invitation->user, "secret", &invitation->secret, "tls",
		&invitation->tls, "certificates", &invitation->certificates);
	const char **texts[] = { &invitation->name, &invitation->host, &invitation->database,
		&invitation->user, &invitation->secret, &invitation->tls, &invitation->certificates };
	for (size_t i = 0; !rc && i < COUNT(texts); i++)
		*texts[i] = arena_strdup(arena, *texts[i]);
	if (!rc)
		invitation->port = port;
	json_decref(parts);
	return rc;
}

int worker_invitation_read(struct arena *arena, const char *text,
	struct worker_invitation *invitation, struct error *error)
{
	unsigned char bytes[most_bytes], digest[crypto_hash_sha256_BYTES];
	size_t length = 0;
	text += strspn(text, " \t\r\n");
	if (strncmp(text, PREFIX, strlen(PREFIX)) != 0)
		return fail_invalid(error);
	text += strlen(PREFIX);
	if (sodium_base642bin(
			bytes, sizeof bytes, text, strcspn(text, " \t\r\n"), NULL, &length, NULL, variant)
		|| length <= check_bytes)
		return fail_invalid(error);
	crypto_hash_sha256(digest, bytes + check_bytes, length - check_bytes);
	if (memcmp(digest, bytes, check_bytes) != 0
		|| unpack_invitation(arena, (char *)bytes + check_bytes, length - check_bytes, invitation))
		return fail_invalid(error);
	return 0;
}
