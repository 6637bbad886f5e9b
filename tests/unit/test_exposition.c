#include "cgi/http/meter.h"
#include "cgi/render/exposition.h"
#include "cgi/router.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void no_label_value_can_end_its_label_or_line(void **state)
{
	(void)state;
	cleanup_buffer struct buffer out = { 0 };
	exposition_family(&out, "a_total", "counter", "What a is.");
	exposition_count(&out, "a_total", UINT64_MAX, NULL);
	exposition_count(&out, "a_total", 1, "worker", "x\"} 9\na_total 7 \\", "gpu", "\xff", NULL);
	exposition_real(&out, "a_total", 0.25, "worker", (const char *)NULL, NULL);
	assert_string_equal(out.data,
		"# HELP a_total What a is.\n# TYPE a_total counter\na_total 18446744073709551615\n"
		"a_total{worker=\"x\\\"} 9\\\\x0aa_total 7 \\\\\",gpu=\"\\\\xff\"} 1\na_total{worker=\"\"} "
		"0.25\n");
}

static void every_route_has_its_own_slot_and_unknown_addresses_share_one(void **state)
{
	(void)state;
	size_t count = 1;
	while (router_route(count))
		count++;
	/* cgi/http/meter.c has room for 512 routes. */
	assert_true(count > 200 && count < 512);
	assert_null(router_route(0));
	meter_start(8, router_route);
	for (size_t i = 0; i < count; i++)
		meter_end(meter_begin(), i, i % 2 ? 200 : 999);
	meter_end(meter_begin(), SIZE_MAX, 404);
	cleanup_buffer struct buffer out = { 0 };
	meter_write(&out);
	size_t rows = 0;
	for (const char *at = out.data; (at = strstr(at, "\npodium_http_requests_total{")); at++)
		rows++;
	assert_int_equal(rows, count + 1);
	assert_non_null(strstr(
		out.data, "podium_http_requests_total{route=\"none\",method=\"any\",status=\"404\"} 1\n"));
	assert_non_null(strstr(out.data,
		"podium_http_requests_total{route=\"none\",method=\"any\",status=\"other\"} 1\n"));
	assert_non_null(strstr(out.data, "podium_http_requests_in_work 0\n"));
	assert_null(strstr(out.data, "method=\"any\",status=\"200\""));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_label_value_can_end_its_label_or_line),
		cmocka_unit_test(every_route_has_its_own_slot_and_unknown_addresses_share_one),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
