#include "lib/base/scope.h"
#include "lib/gpu/floor.h"
#include "lib/gpu/peaks.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const double mib = 1024 * 1024;

static bool is_held(const struct floor_case *one, double ns)
{
	cleanup_arena struct arena *arena = arena_new();
	return floor_objection(arena, one, ns) != NULL;
}

static void assert_objection(const struct floor_case *one, double ns, const char *sentence)
{
	cleanup_arena struct arena *arena = arena_new();
	const char *got = floor_objection(arena, one, ns);
	assert_non_null(got);
	assert_string_equal(got, sentence);
}

static void assert_near(double value, double expected)
{
	if (!(fabs(value - expected) <= 1e-9 * fabs(expected)))
		fail_msg("expected %.17g, got %.17g", expected, value);
}

static void bytes_beyond_the_cache_take_memory_time(void **state)
{
	(void)state;
	struct floor_case one = { .bytes = "mib * 1024 * 1024", .case_line = "mib: 96", .gpu = "H200" };
	assert_near(floor_ns(&one), 36 * mib / 4800);
	assert_objection(&one, 4100,
		"4.100 µs for 101 MB would be 24.6 TB/s; the memory of H200 moves 4.8 TB/s, and its cache "
		"saves at most 62.9 MB.");
	one.case_line = "mib: 6000";
	assert_near(floor_ns(&one), 5940 * mib / 4800);
	assert_true(is_held(&one, 5940 * mib / 4800 / 1.051));
	assert_false(is_held(&one, 5940 * mib / 4800 / 1.049));
}

/* A warm cache may be full of inputs before the call, and full of outputs after it. Neither moves
 * through the memory during the call. */
static void a_warm_cache_saves_twice_its_size(void **state)
{
	(void)state;
	struct floor_case one = {
		.bytes = "mib * 1024 * 1024", .case_line = "mib: 6000", .gpu = "H200", .warm = true
	};
	assert_near(floor_ns(&one), 5880 * mib / 4800);
}

static void bytes_that_fit_into_the_cache_take_cache_time(void **state)
{
	(void)state;
	struct floor_case one = { .bytes = "mib * 1024 * 1024", .case_line = "mib: 40", .gpu = "H200" };
	assert_near(floor_ns(&one), 40 * mib / 38400);
	assert_objection(&one, 600,
		"600.0 ns for 41.9 MB would be 69.9 TB/s; the memory of H200 moves 4.8 TB/s, and even its "
		"cache moves less than 38.4 TB/s.");
	assert_false(is_held(&one, 40 * mib / 38400 / 1.049));
	one.case_line = "mib: 1";
	assert_near(floor_ns(&one), floor_launch_ns);
}

/* A submission may use the units of other types for fp64 work, so the fastest units of the GPU set
 * the floor. */
static void operations_take_the_time_of_the_fastest_units(void **state)
{
	(void)state;
	struct floor_case one = {
		.flops = "2 * n ** 3", .case_line = "n: 8192; dtype: float64", .gpu = "H200"
	};
	double least = 2 * pow(8192, 3) / 1979e3;
	assert_near(floor_ns(&one), least);
	assert_false(is_held(&one, least / 1.09));
	assert_objection(&one, 400000,
		"400.0 µs for 1.1 TFLOP would be 2.75 PFLOP/s; the fastest units of H200 reach 1.98 "
		"PFLOP/s.");
	one.gpu = "B200";
	assert_near(floor_ns(&one), 2 * pow(8192, 3) / 9000e3);
}

static void the_larger_of_two_floors_counts(void **state)
{
	(void)state;
	struct floor_case one = {
		.flops = "flops", .bytes = "bytes", .case_line = "flops: 1e12; bytes: 1e9", .gpu = "H200"
	};
	assert_near(floor_ns(&one), 1e12 / 1979e3);
	one.case_line = "flops: 1e9; bytes: 1e10";
	assert_near(floor_ns(&one), (1e10 - 60 * mib) / 4800);
}

/* Realistic times must not be held on any GPU, in either engine. The tested times reach 90 % of the
 * memory's rate, with as much help from the cache as possible, and 80 % of the fastest units' rate.
 */
static void honest_times_are_never_held(void **state)
{
	(void)state;
	static const char *const gpus[] = { "B200", "GB200", "H200", "H200-NVL", "GH200", "H100",
		"H100-NVL", "H100-PCIe", "A100", "A100-PCIe", "L40S", "L40", "L4", "A10", "T4", "V100",
		"RTX4090", "RTX3090" };
	cleanup_arena struct arena *arena = arena_new();
	for (size_t i = 0; i < COUNT(gpus); i++) {
		const struct gpu_peaks *peaks = peaks_find(gpus[i]);
		assert_non_null(peaks);
		assert_true(peaks->l2_mib >= 4 && peaks->l2_mib <= 200);
		for (int type = 0; type < NUMBER_TYPES; type++)
			assert_true(peaks->most_tflop_s >= peaks->tflop_s[type]);
		for (double bytes = 1; bytes < 1e12; bytes *= 1.7)
			for (int warm = 0; warm < 2; warm++) {
				struct floor_case one = { .bytes = "bytes",
					.gpu = gpus[i],
					.warm = warm,
					.case_line = arena_printf(arena, "bytes: %.0f", bytes) };
				double saved_bytes = peaks->l2_mib * mib * (1 + warm);
				double from_cache = bytes / (6 * peaks->memory_gb_s),
					   from_memory = (bytes - saved_bytes) / (.9 * peaks->memory_gb_s);
				assert_false(is_held(&one, fmax(fmax(from_cache, from_memory), 1000)));
			}
		for (double flops = 1e9; flops < 1e15; flops *= 3) {
			struct floor_case one = { .flops = "flops",
				.gpu = gpus[i],
				.case_line = arena_printf(arena, "flops: %.0f", flops) };
			assert_false(is_held(&one, fmax(flops / (.8 * peaks->most_tflop_s * 1e3), 1000)));
		}
	}
}

/* Measured times of the float16 addition of two size * size matrices on an H200. In one measurement
 * the constant had drifted. */
static void measured_times_are_not_held(void **state)
{
	(void)state;
	static const struct {
		const char *line;
		double ns;
	} measured[] = {
		{ "size: 256", 960 },
		{ "size: 256", 2570 },
		{ "size: 1024", 2980 },
		{ "size: 2048", 7300 },
		{ "size: 3072", 14400 },
		{ "size: 4096", 24190 },
		{ "size: 4096", 21320 },
		{ "size: 8192", 92540 },
	};
	for (size_t i = 0; i < COUNT(measured); i++) {
		struct floor_case one = { .bytes = "6 * size * size",
			.flops = "size * size",
			.case_line = measured[i].line,
			.gpu = "H200" };
		assert_false(is_held(&one, measured[i].ns));
	}
}

static void without_formulas_the_floor_is_a_launch(void **state)
{
	(void)state;
	static const struct floor_case cases[] = {
		{ .case_line = "size: 5", .gpu = "H200" },
		{ .bytes = "8 * other",
			.flops = "n",
			.case_line = "size: 5",
			.gpu = "H200" }, /* the formulas use names that the case lacks */
		{ .bytes = "1e15 * size", .flops = "1e18 * size", .case_line = "size: 5", .gpu = "MI300X" },
	};
	for (size_t i = 0; i < COUNT(cases); i++) {
		assert_near(floor_ns(&cases[i]), 500);
		assert_false(is_held(&cases[i], 500));
		assert_objection(&cases[i], 499.9,
			"499.9 ns is less than any kernel takes: launch and run take at least 500.0 ns.");
		assert_true(is_held(&cases[i], 1));
		assert_false(is_held(&cases[i], NAN));
	}
}

static void a_cpu_has_no_floor(void **state)
{
	(void)state;
	struct floor_case one = { .bytes = "1e15 * size", .case_line = "size: 5", .gpu = "CPU" };
	assert_near(floor_ns(&one), 0);
	assert_false(is_held(&one, 1));
}

static void a_time_too_short_to_measure_has_reached_the_floor(void **state)
{
	(void)state;
	static const struct {
		const char *gpu;
		double ns;
		bool is_reached;
	} cases[] = { { "H200", 1, true }, { "H200", 500, true }, { "H200", 500.1, false },
		{ "MI300X", 499, true }, { "CPU", 501, true }, { "CPU", 5000, true },
		{ "CPU", 5000.1, false }, { "CPU", NAN, false } };
	for (size_t i = 0; i < COUNT(cases); i++) {
		double floor = floor_reached_ns(cases[i].gpu, cases[i].ns);
		assert_int_equal(isnan(floor) == 0, cases[i].is_reached);
		assert_near(floor_resolved_ns(cases[i].gpu), strcmp(cases[i].gpu, "CPU") ? 500 : 5000);
		if (cases[i].is_reached)
			assert_near(floor, floor_resolved_ns(cases[i].gpu));
	}
	/* The review looks at the measured time, not at the floor. */
	const struct floor_case one = { .case_line = "size: 5", .gpu = "H200" };
	assert_true(is_held(&one, 1) && !is_held(&one, floor_resolved_ns("H200")));
}

static void several_gpus_share_the_work(void **state)
{
	(void)state;
	struct floor_case one = {
		.bytes = "bytes", .flops = "1e15", .case_line = "bytes: 1e11; world_size: 4", .gpu = "H200"
	};
	assert_near(floor_ns(&one), 1e15 / (4 * 1979e3));
	one.flops = NULL;
	assert_near(floor_ns(&one), (1e11 - 4 * 60 * mib) / (4 * 4800));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bytes_beyond_the_cache_take_memory_time),
		cmocka_unit_test(a_warm_cache_saves_twice_its_size),
		cmocka_unit_test(bytes_that_fit_into_the_cache_take_cache_time),
		cmocka_unit_test(operations_take_the_time_of_the_fastest_units),
		cmocka_unit_test(the_larger_of_two_floors_counts),
		cmocka_unit_test(honest_times_are_never_held),
		cmocka_unit_test(measured_times_are_not_held),
		cmocka_unit_test(without_formulas_the_floor_is_a_launch),
		cmocka_unit_test(a_cpu_has_no_floor),
		cmocka_unit_test(a_time_too_short_to_measure_has_reached_the_floor),
		cmocka_unit_test(several_gpus_share_the_work),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
