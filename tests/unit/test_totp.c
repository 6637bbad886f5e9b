/* Codes of authenticator apps: the vectors of RFC 6238, the window of time, the texts for apps. */
#include "lib/base/scope.h"
#include "lib/identity/totp.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* RFC 6238, appendix B: the secret of SHA-1. */
static const unsigned char SECRET[] = "12345678901234567890";

static void the_codes_are_those_of_the_rfc(void **state)
{
	(void)state;
	/* The RFC lists eight digits; six are the last ones of them. */
	static const struct {
		int64_t at_s;
		const char *digits;
	} vectors[] = {
		{ 59, "94287082" },
		{ 1111111109, "07081804" },
		{ 1111111111, "14050471" },
		{ 1234567890, "89005924" },
		{ 2000000000, "69279037" },
		{ 20000000000, "65353130" },
	};
	for (size_t i = 0; i < COUNT(vectors); i++) {
		totp_code code;
		assert_int_equal(totp_code_of(SECRET, vectors[i].at_s / totp_step_s, code), 0);
		assert_string_equal(code, vectors[i].digits + 2);
	}
}

static void a_code_counts_for_one_step_before_and_after(void **state)
{
	(void)state;
	const int64_t now_s = 1234567890, step = now_s / totp_step_s;
	for (int64_t other = step - 3; other <= step + 3; other++) {
		totp_code code;
		assert_int_equal(totp_code_of(SECRET, other, code), 0);
		bool is_near = other >= step - 1 && other <= step + 1;
		assert_int_equal(totp_find_step(SECRET, code, now_s, 0), is_near ? other : 0);
	}
}

static void an_old_step_and_other_text_count_for_nothing(void **state)
{
	(void)state;
	const int64_t now_s = 1234567890, step = now_s / totp_step_s;
	totp_code code;
	assert_int_equal(totp_code_of(SECRET, step, code), 0);
	assert_int_equal(totp_find_step(SECRET, code, now_s, step - 1), step);
	assert_int_equal(totp_find_step(SECRET, code, now_s, step), 0);
	for (const char *const *text = (const char *const[]){ "", "0", "89005924", "-05924", NULL };
		 *text; text++)
		assert_int_equal(totp_find_step(SECRET, *text, now_s, 0), 0);
}

static void the_secret_and_the_address_are_what_apps_read(void **state)
{
	(void)state;
	totp_secret_text text;
	cleanup_buffer struct buffer address = { 0 };
	totp_secret_write(SECRET, text);
	assert_string_equal(text, "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ");
	totp_address(&address, "example.org:8443", "a&b", SECRET);
	assert_string_equal(buffer_string(&address),
		"otpauth://totp/example.org%3A8443:a%26b?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"
		"&issuer=example.org%3A8443");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_codes_are_those_of_the_rfc),
		cmocka_unit_test(a_code_counts_for_one_step_before_and_after),
		cmocka_unit_test(an_old_step_and_other_text_count_for_nothing),
		cmocka_unit_test(the_secret_and_the_address_are_what_apps_read),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
