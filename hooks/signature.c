#include "hooks/signature.h"

#include <sodium.h>
#include <stdio.h>
#include <string.h>

void signature_make(
	signature_text signature, const char *secret, int64_t time_s, const struct buffer *body)
{
	unsigned char mac[crypto_auth_hmacsha256_BYTES];
	char hex[2 * sizeof mac + 1], time[24];
	crypto_auth_hmacsha256_state state;
	int length = snprintf(time, sizeof time, "%lld.", (long long)time_s);
	crypto_auth_hmacsha256_init(&state, (const unsigned char *)secret, strlen(secret));
	crypto_auth_hmacsha256_update(&state, (const unsigned char *)time, (unsigned long long)length);
	crypto_auth_hmacsha256_update(&state, (const unsigned char *)buffer_string(body), body->length);
	crypto_auth_hmacsha256_final(&state, mac);
	sodium_bin2hex(hex, sizeof hex, mac, sizeof mac);
	snprintf(signature, sizeof(signature_text), "t=%lld,v1=%s", (long long)time_s, hex);
}
