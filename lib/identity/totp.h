/* Time-based one-time passwords (RFC 6238) with the values that all authenticator apps have: SHA-1,
 * six digits, 30 seconds. */
#ifndef PODIUM_LIB_IDENTITY_TOTP_H
#define PODIUM_LIB_IDENTITY_TOTP_H

#include "lib/base/buffer.h"

#include <stdint.h>

enum { totp_secret_bytes = 20, totp_digits = 6, totp_step_s = 30 };

typedef char totp_secret_text[33]; /* Base32 */
typedef char totp_code[totp_digits + 1];

void totp_secret_write(const unsigned char secret[static totp_secret_bytes], totp_secret_text text);

/* Appends the address that an app reads from the QR code. `site` and `user` name the entry in the
 * app. */
void totp_address(struct buffer *out, const char *site, const char *user,
	const unsigned char secret[static totp_secret_bytes]);

/* Computes the code of a step, which is the time in seconds divided by totp_step_s. Returns 0 or
 * -1. */
int totp_code_of(
	const unsigned char secret[static totp_secret_bytes], int64_t step, totp_code code);

/* Returns the step that has this code, or 0. Tries the current step and its two neighbours, because
 * the clocks of the app and of this host may differ. Steps up to `last_step` have been used and do
 * not match. */
int64_t totp_find_step(const unsigned char secret[static totp_secret_bytes], const char *code,
	int64_t now_s, int64_t last_step);

#endif
