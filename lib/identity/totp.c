#include "lib/identity/totp.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>

void totp_secret_write(const unsigned char secret[static totp_secret_bytes], totp_secret_text text)
{
	static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
	for (size_t i = 0; i < totp_secret_bytes * 8 / 5; i++) {
		size_t bit = i * 5;
		unsigned pair = (unsigned)secret[bit / 8] << 8
			| (bit / 8 + 1 < totp_secret_bytes ? secret[bit / 8 + 1] : 0U);
		text[i] = letters[pair >> (11 - bit % 8) & 31];
	}
	text[totp_secret_bytes * 8 / 5] = '\0';
}

static void append_encoded(struct buffer *out, const char *text)
{
	for (; *text; text++)
		if (strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._", *text))
			buffer_byte(out, *text);
		else
			buffer_printf(out, "%%%02X", (unsigned char)*text);
}

void totp_address(struct buffer *out, const char *site, const char *user,
	const unsigned char secret[static totp_secret_bytes])
{
	totp_secret_text text;
	totp_secret_write(secret, text);
	buffer_text(out, "otpauth://totp/");
	append_encoded(out, site);
	buffer_text(out, ":");
	append_encoded(out, user);
	buffer_printf(out, "?secret=%s&issuer=", text);
	append_encoded(out, site);
	sodium_memzero(text, sizeof text);
}

int totp_code_of(const unsigned char secret[static totp_secret_bytes], int64_t step, totp_code code)
{
	unsigned char counter[8], digest[EVP_MAX_MD_SIZE];
	unsigned length = 0;
	for (int i = 0; i < 8; i++)
		counter[i] = (unsigned char)((uint64_t)step >> (56 - 8 * i));
	if (!HMAC(EVP_sha1(), secret, totp_secret_bytes, counter, sizeof counter, digest, &length)
		|| length != 20)
		return -1;
	unsigned at = digest[19] & 15;
	uint32_t number = (uint32_t)(digest[at] & 127) << 24 | (uint32_t)digest[at + 1] << 16
		| (uint32_t)digest[at + 2] << 8 | digest[at + 3];
	snprintf(code, sizeof(totp_code), "%06u", number % 1000000);
	return 0;
}

int64_t totp_find_step(const unsigned char secret[static totp_secret_bytes], const char *code,
	int64_t now_s, int64_t last_step)
{
	int64_t now = now_s / totp_step_s;
	totp_code right;
	if (strlen(code) != totp_digits)
		return 0;
	for (int64_t step = now - 1; step <= now + 1; step++)
		if (step > last_step && totp_code_of(secret, step, right) == 0
			&& sodium_memcmp(right, code, totp_digits) == 0)
			return step;
	return 0;
}
