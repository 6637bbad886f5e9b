#include "lib/gpu/device.h"
#include "lib/gpu/nvml.h"

#include "lib/base/scope.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#if __has_include(<nvml.h>) || __has_include("/usr/local/cuda/include/nvml.h")
#include "tests/gpu/declarations.h"
#endif

static void our_declarations_match_the_library(void **state)
{
	(void)state;
#ifdef PODIUM_TESTS_GPU_DECLARATIONS_H
	assert_null(declarations_from_library().library);
	assert_null(gauge_declarations_from_library().library);
#else
	print_message("nvml.h is not here\n");
	skip();
#endif
}

static void models_have_their_usual_names(void **state)
{
	(void)state;
	static const struct {
		const char *product, *model;
	} cases[] = {
		{ "NVIDIA H200", "H200" },
		{ "NVIDIA H100 80GB HBM3", "H100" },
		{ "NVIDIA H100 PCIe", "H100-PCIe" },
		{ "NVIDIA H100 NVL", "H100-NVL" },
		{ "NVIDIA A100-SXM4-80GB", "A100" },
		{ "NVIDIA A100-SXM4-40GB", "A100" },
		{ "NVIDIA A100-PCIE-40GB", "A100-PCIE" },
		{ "Tesla T4", "T4" },
		{ "Tesla V100-SXM2-16GB", "V100" },
		{ "NVIDIA L4", "L4" },
		{ "NVIDIA B200", "B200" },
		{ "NVIDIA GH200 480GB", "GH200" },
		{ "NVIDIA GB200", "GB200" },
		{ "NVIDIA GeForce RTX 4090", "RTX4090" },
		{ "NVIDIA RTX A6000", "RTX-A6000" },
		{ "NVIDIA L40S", "L40S" },
		{ "NVIDIA RTX 6000 Ada Generation", "RTX6000-Ada" },
		{ "NVIDIA GeForce RTX 3080 Ti", "RTX3080-Ti" },
		{ "NVIDIA Graphics Device", "GPU" },
		{ "", "GPU" },
		{ "NVIDIA <b>X</b>", "bX-b" },
	};
	cleanup_arena struct arena *arena = arena_new();
	for (size_t i = 0; i < COUNT(cases); i++)
		assert_string_equal(device_model(arena, cases[i].product), cases[i].model);
}

static void a_long_name_is_cut(void **state)
{
	(void)state;
	cleanup_arena struct arena *arena = arena_new();
	char product[200];
	memset(product, 'x', sizeof product - 1);
	product[sizeof product - 1] = '\0';
	assert_int_equal(strlen(device_model(arena, product)), 48);
}

static void every_machine_has_a_device(void **state)
{
	(void)state;
	cleanup_arena struct arena *arena = arena_new();
	struct device *devices;
	size_t alone, count;
	devices_find(arena, false, &devices, &alone);
	assert_true(alone >= 1);
	devices_find(arena, true, &devices, &count);
	assert_string_equal(devices[count - 1].model, "CPU");
	assert_true(devices[count - 1].memory_bytes > 100 * 1000 * 1000);
	assert_true(strlen(devices[count - 1].product) > 0);
}

static void only_one_process_has_the_lock(void **state)
{
	(void)state;
	char folder[] = "/tmp/podium-lock-XXXXXX";
	assert_non_null(mkdtemp(folder));
	struct device device = { .uuid = "GPU-1" }, other = { .uuid = "GPU-2" };
	struct error error = { 0 };
	struct device_lock first, second, third;
	assert_int_equal(device_lock_open(&first, &device, folder, &error), 0);
	assert_int_equal(device_lock_open(&second, &device, folder, &error), 0);
	assert_int_equal(device_lock_open(&third, &other, folder, &error), 0);
	assert_true(device_lock_try(&first));
	assert_false(device_lock_try(&second));
	assert_true(device_lock_try(&third));
	device_lock_release(&first);
	assert_false(device_lock_try(&first)); /* `second` has waited and has the next turn */
	assert_true(device_lock_try(&second));
	assert_false(device_lock_try(&first));
	device_lock_release(&second);
	assert_true(device_lock_try(&first));
	device_lock_close(&first), device_lock_close(&second), device_lock_close(&third);
	assert_int_equal(device_lock_open(&first, &device, "/nowhere", &error), ERROR_SYSTEM);
	assert_non_null(strstr(error.text, "PODIUM_DEVICE_LOCKS"));
	for (int i = 0; i < 4; i++) {
		char path[64];
		snprintf(
			path, sizeof path, "%s/podium-GPU-%d.%s", folder, 1 + i / 2, i % 2 ? "lock" : "turn");
		assert_int_equal(unlink(path), 0);
	}
	assert_int_equal(rmdir(folder), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(our_declarations_match_the_library),
		cmocka_unit_test(models_have_their_usual_names),
		cmocka_unit_test(a_long_name_is_cut),
		cmocka_unit_test(every_machine_has_a_device),
		cmocka_unit_test(only_one_process_has_the_lock),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
