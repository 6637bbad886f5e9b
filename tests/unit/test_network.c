/* Which addresses belong to the public internet, how networks and lists of networks are parsed, and
 * where webhooks may send to. */
#include "lib/base/network.h"
#include "lib/base/scope.h"
#include "lib/webhook/address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static struct sockaddr_storage socket_of(const char *text)
{
	struct sockaddr_storage storage = { 0 };
	struct sockaddr_in *four = (struct sockaddr_in *)(void *)&storage;
	struct sockaddr_in6 *six = (struct sockaddr_in6 *)(void *)&storage;
	if (inet_pton(AF_INET, text, &four->sin_addr) == 1)
		four->sin_family = AF_INET;
	else {
		assert_int_equal(inet_pton(AF_INET6, text, &six->sin6_addr), 1);
		six->sin6_family = AF_INET6;
	}
	return storage;
}

static const char *internal(const char *text)
{
	unsigned char address[16];
	struct sockaddr_storage storage = socket_of(text);
	assert_true(network_of_socket((const struct sockaddr *)(const void *)&storage, address));
	return network_internal(address);
}

/* The first and the last address of each network, and their neighbours outside. */
static void internal_networks_end_at_the_right_addresses(void **state)
{
	(void)state;
	static const struct {
		const char *address;
		bool is_internal;
	} cases[] = {
		{ "0.0.0.0", true },
		{ "0.255.255.255", true },
		{ "1.0.0.0", false },
		{ "9.255.255.255", false },
		{ "10.0.0.0", true },
		{ "10.255.255.255", true },
		{ "11.0.0.0", false },
		{ "100.63.255.255", false },
		{ "100.64.0.0", true },
		{ "100.127.255.255", true },
		{ "100.128.0.0", false },
		{ "126.255.255.255", false },
		{ "127.0.0.0", true },
		{ "127.0.0.1", true },
		{ "127.255.255.255", true },
		{ "128.0.0.0", false },
		{ "169.253.255.255", false },
		{ "169.254.0.0", true },
		{ "169.254.169.254", true },
		{ "169.254.255.255", true },
		{ "169.255.0.0", false },
		{ "172.15.255.255", false },
		{ "172.16.0.0", true },
		{ "172.31.255.255", true },
		{ "172.32.0.0", false },
		{ "191.255.255.255", false },
		{ "192.0.0.0", true },
		{ "192.0.0.255", true },
		{ "192.0.1.0", false },
		{ "192.0.2.0", true },
		{ "192.0.2.255", true },
		{ "192.0.3.0", false },
		{ "192.88.98.255", false },
		{ "192.88.99.0", true },
		{ "192.88.100.0", false },
		{ "192.167.255.255", false },
		{ "192.168.0.0", true },
		{ "192.168.255.255", true },
		{ "192.169.0.0", false },
		{ "198.17.255.255", false },
		{ "198.18.0.0", true },
		{ "198.19.255.255", true },
		{ "198.20.0.0", false },
		{ "198.51.99.255", false },
		{ "198.51.100.7", true },
		{ "198.51.101.0", false },
		{ "203.0.112.255", false },
		{ "203.0.113.9", true },
		{ "203.0.114.0", false },
		{ "223.255.255.255", false },
		{ "224.0.0.0", true },
		{ "239.255.255.255", true },
		{ "240.0.0.0", true },
		{ "255.255.255.255", true },
		{ "8.8.8.8", false },
		{ "::", true },
		{ "::1", true },
		{ "::2", true },
		{ "::7f00:1", true },
		{ "::ffff:127.0.0.1", true },
		{ "::ffff:10.1.2.3", true },
		{ "::ffff:8.8.8.8", false },
		{ "64:ff9b::7f00:1", true },
		{ "64:ff9b::a00:1", true },
		{ "64:ff9b::808:808", false },
		{ "64:ff9b:1::808:808", true },
		{ "100::1", true },
		{ "1fff:ffff::1", true },
		{ "2000::1", false },
		{ "2001::1", true },
		{ "2001:1ff:ffff::1", true },
		{ "2001:200::1", false },
		{ "2001:db7:ffff::1", false },
		{ "2001:db8::1", true },
		{ "2001:db9::1", false },
		{ "2001:4860:4860::8888", false },
		{ "2001:ffff::1", false },
		{ "2002:a00:1::1", true },
		{ "2002:808:808::1", true },
		{ "2003::1", false },
		{ "3ffe:ffff::1", false },
		{ "3fff::1", true },
		{ "3fff:fff::1", true },
		{ "3fff:1000::1", false },
		{ "4000::1", true },
		{ "fc00::1", true },
		{ "fd12:3456::1", true },
		{ "fe00::1", true },
		{ "fe80::1", true },
		{ "febf::1", true },
		{ "fec0::1", true },
		{ "ff02::1", true },
	};
	for (size_t i = 0; i < COUNT(cases); i++)
		if ((internal(cases[i].address) != NULL) != cases[i].is_internal)
			fail_msg("%s is %s", cases[i].address,
				internal(cases[i].address) ? internal(cases[i].address) : "the internet's");
}

static void addresses_of_other_families_are_refused(void **state)
{
	(void)state;
	struct sockaddr local = { .sa_family = AF_UNIX };
	unsigned char address[16];
	struct webhook_address named = { .host = "chat.example.org", .is_named = true };
	assert_false(network_of_socket(&local, address));
	assert_non_null(webhook_address_refusal(&named, "chat.example.org", &local));
}

static void networks_are_read_exactly(void **state)
{
	(void)state;
	static const char *const wrong[] = { "", "/", "10.0.0.0/", "10.0.0.0/33", "10.0.0.0/-1",
		"10.0.0.0/+8", "10.0.0.0/8x", "10.0.0/8", "10.0.0.0/0008", "::1/129", "::/ 1",
		"example.org", "1.2.3.4.5", "[::1]", "0x7f.1", "127.1", "fe80::1%eth0" };
	struct network network;
	for (size_t i = 0; i < COUNT(wrong); i++)
		if (network_parse(wrong[i], &network) == 0)
			fail_msg("%s was read", wrong[i]);
	unsigned char address[16];
	struct sockaddr_storage inside = socket_of("10.1.255.255"), outside = socket_of("10.2.0.0");
	assert_int_equal(
		network_parse("10.1.2.3/16", &network), 0); /* ignores the bits after the prefix */
	assert_true(network_of_socket((const struct sockaddr *)(const void *)&inside, address)
		&& network_holds(&network, address));
	assert_true(network_of_socket((const struct sockaddr *)(const void *)&outside, address)
		&& !network_holds(&network, address));
	assert_int_equal(network_parse("0.0.0.0/0", &network), 0);
	assert_true(network_holds(&network, address));
	assert_int_equal(network_parse("10.2.0.0", &network), 0);
	assert_int_equal(network.bits, 128);
}

static void lists_may_contain_names_and_networks(void **state)
{
	(void)state;
	static const char list[] = "chat.example.org,10.1.0.0/16\tfd00::/8, hook-2";
	struct error error = { 0 };
	unsigned char address[16];
	struct sockaddr_storage inside = socket_of("fd12::1");
	assert_int_equal(network_list_check(list, &error), 0);
	assert_int_equal(network_list_check("", &error), 0);
	assert_int_equal(network_list_check("chat.example.org 10.1.0.0/64", &error), ERROR_INPUT);
	assert_non_null(strstr(error.text, "\"10.1.0.0/64\" is neither"));
	assert_int_equal(network_list_check("https://chat.example.org", &error), ERROR_INPUT);
	assert_int_equal(network_list_check("300.1.1.1", &error), ERROR_INPUT);
	assert_true(network_list_names(list, "CHAT.example.org") && network_list_names(list, "hook-2"));
	assert_false(network_list_names(list, "example.org") || network_list_names(list, "10.1.0.0/16")
		|| network_list_names(list, ""));
	assert_true(network_of_socket((const struct sockaddr *)(const void *)&inside, address));
	assert_true(network_list_holds(list, address));
	assert_false(network_list_holds("chat.example.org 10.0.0.0/8", address));
}

static int read_address(
	const char *text, const char *allowed, struct webhook_address *address, struct error *error)
{
	static struct arena *arena;
	if (!arena)
		arena = arena_new();
	else
		arena_reset(arena);
	memset(error, 0, sizeof *error);
	return webhook_address_read(arena, text, allowed, address, error);
}

static void webhooks_may_use_https_on_the_internet_and_allowed_names(void **state)
{
	(void)state;
	static const struct {
		const char *address, *allowed;
		bool is_right;
	} cases[] = {
		{ "https://chat.example.org/hooks/1?a=b", "", true },
		{ "HTTPS://chat.example.org", "", true },
		{ "https://chat.example.org:8443/", "", true },
		{ "https://8.8.8.8/", "", true },
		{ "https://[2001:4860:4860::8888]/", "", true },
		{ "https://chat.example.org:80/", "", false },
		{ "http://chat.example.org/", "", false },
		{ "http://chat.example.org/", "chat.example.org", true },
		{ "http://chat.example.org:1234/", "Chat.Example.org", true },
		{ "http://chat.example.org/", "other.example.org", false },
		{ "http://10.1.2.3:81/", "10.0.0.0/8", true },
		{ "http://11.1.2.3/", "10.0.0.0/8", false },
		{ "http://[fd00::1]/", "fd00::/8", true },
		{ "https://10.1.2.3/", "", false },
		{ "https://127.1/", "", false },
		{ "https://017700000001/", "", false },
		{ "https://[::ffff:7f00:1]/", "", false },
		{ "https://a@example.org/", "", false },
		{ "https://a:b@example.org/", "example.org", false },
		{ "file:///etc/passwd", "", false },
		{ "gopher://example.org/", "example.org", false },
		{ "https://", "", false },
		{ "//example.org/", "", false },
		{ "https://example.org/\x01", "", false },
		{ "https://exa mple.org/", "", false },
		{ "https://example.org/#a", "", false },
		{ "https://example.org:99999/", "", false },
		{ "ftp://example.org/", "example.org", false },
	};
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct webhook_address address;
		struct error error;
		int rc = read_address(cases[i].address, cases[i].allowed, &address, &error);
		if ((rc == 0) != cases[i].is_right)
			fail_msg("%s with \"%s\": %s", cases[i].address, cases[i].allowed,
				rc ? error.text : "was taken");
		if (rc)
			assert_string_equal(error.field, "address");
	}
}

static void a_name_s_address_is_checked_when_connecting(void **state)
{
	(void)state;
	static const struct {
		const char *address, *allowed, *leads_to;
		bool is_reached;
	} cases[] = {
		{ "https://chat.example.org/", "", "8.8.8.8", true },
		{ "https://chat.example.org/", "", "127.0.0.1", false },
		{ "https://chat.example.org/", "", "::ffff:10.0.0.1", false },
		{ "https://chat.example.org/", "10.0.0.0/8", "10.0.0.1", true },
		{ "https://chat.example.org/", "10.0.0.0/8", "192.168.0.1", false },
		{ "https://chat.example.org/", "chat.example.org", "192.168.0.1", true },
		{ "https://other.example.org/", "chat.example.org", "192.168.0.1", false },
	};
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct webhook_address address;
		struct error error;
		struct sockaddr_storage storage = socket_of(cases[i].leads_to);
		assert_int_equal(read_address(cases[i].address, cases[i].allowed, &address, &error), 0);
		if ((webhook_address_refusal(
				 &address, cases[i].allowed, (const struct sockaddr *)(const void *)&storage)
				== NULL)
			!= cases[i].is_reached)
			fail_msg("%s with \"%s\" at %s", cases[i].address, cases[i].allowed, cases[i].leads_to);
	}
}

static void the_hosts_of_this_machine_are_loopback(void **state)
{
	(void)state;
	static const char *const own[] = { "http://localhost", "http://LOCALHOST:8080/",
		"http://127.0.0.1", "https://127.1.2.3:80/a?b", "http://[::1]", "http://[::1]:8080/" };
	static const char *const others[] = { "http://localhost.example.org", "http://127.example.org",
		"http://127.0.0.1.example.org", "http://example.org", "http://localhost@example.org",
		"http://localhost:80@example.org", "http://127.0.0.1@b", "http://128.0.0.1", "http://[::2]",
		"http://[::1", "http://[::1]x", "http://::1", "http://127.0.0", "http://", "localhost",
		"http://localhost\\@example.org", "http://127.0.0.1#@example.org",
		"http://a_host_name_that_is_longer_than_any_address_of_the_internet" };
	for (size_t i = 0; i < COUNT(own); i++)
		if (!network_url_is_loopback(own[i]))
			fail_msg("%s is not loopback", own[i]);
	for (size_t i = 0; i < COUNT(others); i++)
		if (network_url_is_loopback(others[i]))
			fail_msg("%s is loopback", others[i]);
}

static void http_to_another_machine_is_plain(void **state)
{
	(void)state;
	assert_true(network_url_is_plain("http://example.org"));
	assert_false(network_url_is_plain("http://localhost:8080"));
	assert_false(network_url_is_plain("https://example.org"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_hosts_of_this_machine_are_loopback),
		cmocka_unit_test(http_to_another_machine_is_plain),
		cmocka_unit_test(internal_networks_end_at_the_right_addresses),
		cmocka_unit_test(addresses_of_other_families_are_refused),
		cmocka_unit_test(networks_are_read_exactly),
		cmocka_unit_test(lists_may_contain_names_and_networks),
		cmocka_unit_test(webhooks_may_use_https_on_the_internet_and_allowed_names),
		cmocka_unit_test(a_name_s_address_is_checked_when_connecting),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
