#include "cgi/page/speed_of_light.h"
#include "lib/base/scope.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* On an H200, the memory needs `a` ns and the arithmetic `b` ns. */
static const char *BENCHMARKS[] = { "a: 1; b: 8", "a: 2; b: 1" };

static char bytes[] = "4800 * a", flops[] = "989400 * b", misfit[] = "c";

static struct task task_ranked_by(enum task_ranking_by rule)
{
	return (struct task){ .benchmarks = BENCHMARKS,
		.benchmark_count = COUNT(BENCHMARKS),
		.bytes = bytes,
		.flops = flops,
		.ranking_by = rule };
}

static void a_score_combines_the_bounds_of_the_ranked_benchmarks(void **state)
{
	(void)state;
	static const struct {
		enum task_ranking_by rule;
		double ns;
		const char *limit, *peak;
	} cases[] = {
		{ RANKING_BY_LAST, 2, "memory", "4.8 TB/s" },
		{ RANKING_BY_MEAN, 5, "memory and fp16", "4.8 TB/s and 989.4 TFLOP/s" },
		{ RANKING_BY_GEOM, 4, "memory and fp16", "4.8 TB/s and 989.4 TFLOP/s" },
	};
	cleanup_arena struct arena *arena = arena_new();
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct task task = task_ranked_by(cases[i].rule);
		struct speed_of_light light = speed_of_light(arena, &task, "H200");
		assert_true(fabs(light.ns - cases[i].ns) < 1e-9);
		assert_string_equal(light.limit, cases[i].limit);
		assert_string_equal(light.peak, cases[i].peak);
	}
}

static void a_bound_is_unknown_without_a_peak_or_a_formula_that_fits(void **state)
{
	(void)state;
	cleanup_arena struct arena *arena = arena_new();
	struct task task = task_ranked_by(RANKING_BY_GEOM);
	assert_true(isnan(speed_of_light(arena, &task, "CPU").ns));
	task.flops = NULL;
	assert_string_equal(speed_of_light(arena, &task, "H200").limit, "memory");
	task.bytes = misfit;
	assert_true(isnan(speed_of_light(arena, &task, "H200").ns));
	task.benchmark_count = 0;
	assert_true(isnan(speed_of_light(arena, &task, "H200").ns));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_score_combines_the_bounds_of_the_ranked_benchmarks),
		cmocka_unit_test(a_bound_is_unknown_without_a_peak_or_a_formula_that_fits),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
