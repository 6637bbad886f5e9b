/* What a browser says that a passkey answered. Input: the client's data on the first line, then the
 * authenticator's data. */
#include "lib/identity/passkey.h"

#include "tests/fuzz/fuzz.h"

static const struct passkey_site SITE = { "https://podium.example.org", "podium.example.org" };

static void check_challenge(const struct passkey_answer *answer, bool is_registration)
{
	unsigned char challenge[passkey_challenge_bytes] = { 0 };
	struct error error = { 0 };
	int rc = passkey_challenge_of(answer, is_registration, challenge, &error);
	if (rc)
		require_error(rc, &error);
	else /* another purpose never fits */
		require(passkey_challenge_of(answer, !is_registration, challenge, &error) == ERROR_INPUT);
}

/* A key that was read is one that a signature is checked by. No made-up signature is right. */
static void check_key(const struct passkey_answer *answer)
{
	static struct passkey_key key;
	struct error error = { 0 };
	int64_t count;
	int rc = passkey_register(answer, &key, &error);
	if (rc) {
		require_error(rc, &error);
		return;
	}
	require(key.id_length && key.id_length <= sizeof key.id);
	require(key.key_length && key.key_length <= sizeof key.key);
	require(key.sign_count >= 0 && key.sign_count <= UINT32_MAX);
	rc = passkey_verify(
		answer, key.algorithm, (struct passkey_bytes){ key.key, key.key_length }, &count, &error);
	require_error(rc, &error);
	require(rc == ERROR_INPUT);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	struct fuzz_input input = { bytes, length };
	cleanup_free char *client = fuzz_line(&input);
	cleanup_free char *data = fuzz_string(input.bytes, input.length);
	cleanup_arena struct arena *arena = arena_new();
	struct passkey_bytes decoded = { 0 };
	const struct passkey_answer answer = { .site = &SITE,
		.client_data = { (const unsigned char *)client, strlen(client) },
		.authenticator_data = { (const unsigned char *)data, input.length },
		.signature = { (const unsigned char *)data, input.length },
		.needs_verification = length % 2 };
	if (passkey_decode(arena, client, &decoded))
		require(decoded.length && decoded.length <= passkey_most_data_bytes);
	check_challenge(&answer, true);
	check_challenge(&answer, false);
	check_key(&answer);
	return 0;
}
