/* Passkeys: which addresses of a site have them, and the length of what is decoded. What hostile
 * answers do is in tests/integration/site/factors.test.py, with real signatures. */
#include "lib/base/scope.h"
#include "lib/identity/passkey.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void a_site_has_an_origin_and_a_host(void **state)
{
	(void)state;
	static const struct {
		const char *address, *origin, *host;
	} sites[] = {
		{ "https://Podium.Example.org", "https://podium.example.org", "podium.example.org" },
		{ "https://a.example:8443", "https://a.example:8443", "a.example" },
		{ "https://a.example:443", "https://a.example", "a.example" },
		{ "https://a.example/podium", "https://a.example", "a.example" },
		{ "http://localhost:8080", "http://localhost:8080", "localhost" },
		{ "http://a.localhost", "http://a.localhost", "a.localhost" },
	};
	for (size_t i = 0; i < COUNT(sites); i++) {
		struct passkey_site site;
		assert_true(passkey_site_of(sites[i].address, &site));
		assert_string_equal(site.origin, sites[i].origin);
		assert_string_equal(site.host, sites[i].host);
	}
}

static void other_addresses_have_no_passkeys(void **state)
{
	(void)state;
	for (const char *const *address = (const char *const[]){ "", "http://podium.example.org",
			 "http://127.0.0.1:8080", "https://192.0.2.1", "https://[2001:db8::1]:8443", "https://",
			 "https://:8443", "ftp://a.example", "http://notlocalhost", NULL };
		 *address; address++) {
		struct passkey_site site;
		assert_false(passkey_site_of(*address, &site));
	}
}

static void only_base64url_without_padding_is_decoded(void **state)
{
	(void)state;
	cleanup_arena struct arena *arena = arena_new();
	struct passkey_bytes bytes;
	assert_true(passkey_decode(arena, "_-8", &bytes));
	assert_int_equal(bytes.length, 2);
	assert_memory_equal(bytes.bytes, "\xff\xef", 2);
	for (const char *const *text = (const char *const[]){ "", "A", "_-8=", "+/8", "_- 8", NULL };
		 *text; text++)
		assert_false(passkey_decode(arena, *text, &bytes));
	char *many = arena_alloc(arena, 2 * passkey_most_data_bytes + 1);
	memset(many, 'A', 2 * passkey_most_data_bytes);
	many[2 * passkey_most_data_bytes] = '\0';
	assert_false(passkey_decode(arena, many, &bytes));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_site_has_an_origin_and_a_host),
		cmocka_unit_test(other_addresses_have_no_passkeys),
		cmocka_unit_test(only_base64url_without_padding_is_decoded),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
