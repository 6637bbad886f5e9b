#include "cgi/http/paging.h"
#include "lib/base/scope.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { per_page = 100 };

static void expect(int64_t entries, int64_t page, struct paging expected)
{
	struct paging paging;
	assert_int_equal(paging_make(&paging, entries, per_page, page, NULL), 0);
	assert_memory_equal(&paging, &expected, sizeof paging);
}

static void every_entry_is_on_one_page(void **state)
{
	(void)state;
	expect(1, 1, (struct paging){ 1, 1, 1, 1 });
	expect(100, 1, (struct paging){ 1, 1, 1, 100 });
	expect(101, 1, (struct paging){ 1, 2, 1, 100 });
	expect(101, 2, (struct paging){ 2, 2, 101, 101 });
	expect(1000, 10, (struct paging){ 10, 10, 901, 1000 });
	for (int64_t entry = 1; entry <= 250; entry++) {
		struct paging paging;
		assert_int_equal(
			paging_make(&paging, 250, per_page, paging_page_of(entry, per_page), NULL), 0);
		assert_in_range(entry, paging.first, paging.last);
	}
}

static void an_empty_list_has_one_page_without_entries(void **state)
{
	(void)state;
	expect(0, 1, (struct paging){ 1, 1, 1, 0 });
}

static void a_page_that_does_not_exist_is_not_found(void **state)
{
	(void)state;
	struct paging paging;
	struct error error = { 0 };
	assert_int_equal(paging_make(&paging, 0, per_page, 2, &error), ERROR_NOT_FOUND);
	assert_string_equal(error.text, "This list has 1 page, and none with the number 2.");
	assert_int_equal(paging_make(&paging, 250, per_page, INT64_MAX, &error), ERROR_NOT_FOUND);
	assert_int_equal(paging_make(&paging, 250, per_page, 0, &error), ERROR_NOT_FOUND);
	assert_int_equal(paging_make(&paging, 250, per_page, INT64_MIN, &error), ERROR_NOT_FOUND);
}

static void only_a_positive_number_is_accepted_from_the_query(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		int64_t number;
	} cases[] = {
		{ "7", 7 },
		{ "007", 7 },
		{ "999999999999999", 999999999999999 },
		{ "", -1 },
		{ "0", -1 },
		{ "-3", -1 },
		{ "+3", -1 },
		{ " 3", -1 },
		{ "3 ", -1 },
		{ "3x", -1 },
		{ "0x10", -1 },
		{ "1e3", -1 },
		{ "9999999999999999", -1 },
		{ "9999999999999999999", -1 },
	};
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct field field = { "page", cases[i].text };
		struct request request = { .query = &field, .query_count = 1 };
		assert_int_equal(query_number(&request, "page", -1), cases[i].number);
		assert_int_equal(query_number(&request, "before", -1), -1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_entry_is_on_one_page),
		cmocka_unit_test(an_empty_list_has_one_page_without_entries),
		cmocka_unit_test(a_page_that_does_not_exist_is_not_found),
		cmocka_unit_test(only_a_positive_number_is_accepted_from_the_query),
	};
	return cmocka_run_group_tests_name("paging", tests, NULL, NULL);
}
