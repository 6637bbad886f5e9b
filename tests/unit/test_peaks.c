#include "lib/base/scope.h"
#include "lib/gpu/peaks.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void assert_near(double value, double expected)
{
	if (!(fabs(value - expected) <= 1e-9 * fabs(expected)))
		fail_msg("expected %.17g, got %.17g", expected, value);
}

static void a_case_is_compared_with_the_peak_of_its_gpu(void **state)
{
	(void)state;
	struct rates rates = rates_of_case("2 * m * n * k", "2 * (m * k + k * n + m * n)",
		"m: 8192; n: 8192; k: 8192; seed: 1", 1.5e6, "H200");
	assert_near(rates.tflop_s, 2.0 * 8192 * 8192 * 8192 / 1.5e6 / 1e3); /* 733 */
	assert_near(rates.gb_s, 6.0 * 8192 * 8192 / 1.5e6);                 /* 268 */
	assert_near(rates.compute_percent, 100 * rates.tflop_s / 989.4);
	assert_near(rates.memory_percent, 100 * rates.gb_s / 4800);
	assert_int_equal(rates.type, NUMBER_FP16);
}

static void an_unknown_gpu_or_formula_gives_no_percentage(void **state)
{
	(void)state;
	struct rates rates = rates_of_case(NULL, "8 * size", "size: 1000", 1000, "CPU");
	assert_near(rates.gb_s, 8);
	assert_true(
		isnan(rates.memory_percent) && isnan(rates.tflop_s) && isnan(rates.compute_percent));
	static const char *const lines[] = { "other: 5", "size: many", "", "size: 0" };
	for (size_t i = 0; i < COUNT(lines); i++)
		assert_true(isnan(rates_of_case(NULL, "8 * size", lines[i], 1000, "H200").gb_s));
	static const double times[] = { 0, -1, NAN, INFINITY };
	for (size_t i = 0; i < COUNT(times); i++)
		assert_true(
			isnan(rates_of_case(NULL, "8 * size", "size: 5", times[i], "H200").memory_percent));
	assert_true(isnan(rates_of_case("size", NULL, "size: 5; dtype: fp8", 1000, "A100")
						  .compute_percent)); /* the GPU has no fp8 */
}

static void the_type_of_a_case_chooses_the_peak(void **state)
{
	(void)state;
	static const struct {
		const char *line;
		enum number_type type;
	} cases[] = {
		{ "size: 5", NUMBER_FP16 },
		{ "dtype: torch.float32", NUMBER_FP32 },
		{ "a: 1; dtype: float64; b: 2", NUMBER_FP64 },
		{ "dtype: bfloat16", NUMBER_FP16 },
		{ "precision: TF32", NUMBER_TF32 },
		{ "dtype: torch.float8_e4m3fn", NUMBER_FP8 },
		{ "type: double", NUMBER_FP64 },
		{ "dtype: float", NUMBER_FP32 },
		{ "dtype: nonsense", NUMBER_FP16 },
		{ "mydtype: float64", NUMBER_FP16 },
		{ "dtype:", NUMBER_FP16 },
	};
	for (size_t i = 0; i < COUNT(cases); i++)
		assert_int_equal(peaks_number_type(cases[i].line), cases[i].type);
	for (int type = 0; type < NUMBER_TYPES; type++)
		assert_true(*peaks_number_name((enum number_type)type));
}

/* Smaller types are faster, and a worker's model name must find its row. */
static void the_table_is_consistent(void **state)
{
	(void)state;
	static const char *const models[] = { "H200", "H100", "H100-PCIe", "h100-pcie", "A100",
		"A100-PCIE", "B200", "L4", "T4", "RTX4090" };
	for (size_t i = 0; i < COUNT(models); i++) {
		const struct gpu_peaks *peaks = peaks_find(models[i]);
		assert_non_null(peaks);
		assert_true(peaks->memory_gb_s >= 100 && peaks->memory_gb_s <= 10000);
		assert_true(peaks->tflop_s[NUMBER_FP64] <= peaks->tflop_s[NUMBER_FP32]);
		assert_true(peaks->tflop_s[NUMBER_FP32] < peaks->tflop_s[NUMBER_FP16]);
		assert_true(peaks->tflop_s[NUMBER_FP8] == 0
			|| peaks->tflop_s[NUMBER_FP8] > peaks->tflop_s[NUMBER_FP16]);
		assert_non_null(peaks->source);
	}
	assert_null(peaks_find("CPU"));
	assert_null(peaks_find(""));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_case_is_compared_with_the_peak_of_its_gpu),
		cmocka_unit_test(an_unknown_gpu_or_formula_gives_no_percentage),
		cmocka_unit_test(the_type_of_a_case_chooses_the_peak),
		cmocka_unit_test(the_table_is_consistent),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
