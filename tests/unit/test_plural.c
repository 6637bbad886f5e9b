#include "lib/base/format.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void one_is_singular_and_none_and_many_are_plural(void **state)
{
	(void)state;
	cleanup_arena struct arena *arena = arena_new();
	assert_string_equal(plural(arena, 1, "queued job"), "1 queued job");
	assert_string_equal(plural(arena, 0, "file"), "0 files");
	assert_string_equal(plural(arena, 20000, "submission"), "20000 submissions");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_is_singular_and_none_and_many_are_plural),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
