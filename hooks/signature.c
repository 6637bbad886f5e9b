#include "hooks/signature.h"

#include "lib/base/scope.h"

#include <sodium.h>
#include <stdbool.h>
#include <string.h>

enum { most_key_bytes = 64, mac_bytes = crypto_auth_hmacsha256_BYTES };

struct key {
	unsigned char bytes[most_key_bytes];
	size_t length;
};

/* The secrets of the Standard Webhooks specification are base64. Older secrets of Podium are
 * base64url without padding, so key_of tries both. */
static bool decode_key(struct key *key, const char *text, int variant)
{
	return sodium_base642bin(
			   key->bytes, sizeof key->bytes, text, strlen(text), NULL, &key->length, NULL, variant)
		== 0;
}

static struct key key_of(const char *secret)
{
	struct key key = { 0 };
	const char *text = strncmp(secret, "whsec_", 6) == 0 ? secret + 6 : secret;
	if (!decode_key(&key, text, sodium_base64_VARIANT_ORIGINAL)
		&& !decode_key(&key, text, sodium_base64_VARIANT_URLSAFE_NO_PADDING))
		key.length = 0;
	return key;
}

static void make_mac(unsigned char mac[static mac_bytes], const void *key, size_t key_length,
	const struct buffer *head, const struct buffer *body)
{
	crypto_auth_hmacsha256_state state;
	crypto_auth_hmacsha256_init(&state, key, key_length);
	crypto_auth_hmacsha256_update(
		&state, (const unsigned char *)buffer_string(head), (unsigned long long)head->length);
	crypto_auth_hmacsha256_update(
		&state, (const unsigned char *)buffer_string(body), (unsigned long long)body->length);
	crypto_auth_hmacsha256_final(&state, mac);
	sodium_memzero(&state, sizeof state);
}

void signature_standard(
	struct buffer *out, const struct signing *signing, const struct buffer *body)
{
	cleanup_buffer struct buffer head = { 0 };
	buffer_printf(&head, "%s.%lld.", signing->id, (long long)signing->time_s);
	const char *const secrets[] = { signing->secret, signing->old_secret };
	for (size_t i = 0; i < COUNT(secrets) && secrets[i]; i++) {
		unsigned char mac[mac_bytes];
		char text[sodium_base64_ENCODED_LEN(mac_bytes, sodium_base64_VARIANT_ORIGINAL)];
		struct key key = key_of(secrets[i]);
		make_mac(mac, key.bytes, key.length, &head, body);
		sodium_memzero(&key, sizeof key);
		sodium_bin2base64(text, sizeof text, mac, sizeof mac, sodium_base64_VARIANT_ORIGINAL);
		buffer_printf(out, "%sv1,%s", i ? " " : "", text);
	}
}

void signature_podium(struct buffer *out, const struct signing *signing, const struct buffer *body)
{
	cleanup_buffer struct buffer head = { 0 };
	buffer_printf(&head, "%lld.", (long long)signing->time_s);
	buffer_printf(out, "t=%lld", (long long)signing->time_s);
	const char *const secrets[] = { signing->secret, signing->old_secret };
	for (size_t i = 0; i < COUNT(secrets) && secrets[i]; i++) {
		unsigned char mac[mac_bytes];
		char hex[2 * mac_bytes + 1];
		make_mac(mac, secrets[i], strlen(secrets[i]), &head, body);
		buffer_printf(out, ",v1=%s", sodium_bin2hex(hex, sizeof hex, mac, sizeof mac));
	}
}
