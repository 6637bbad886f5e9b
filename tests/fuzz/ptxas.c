/* Output of a compiler, half of which a submission can choose. */
#include "worker/run/profile/ptxas.h"

#include "tests/fuzz/fuzz.h"

static bool is_figure(const char *key)
{
	static const char *const keys[] = { "registers", "shared_bytes", "stack_bytes",
		"spill_store_bytes", "spill_load_bytes" };
	for (size_t i = 0; i < COUNT(keys); i++)
		if (strcmp(keys[i], key) == 0)
			return true;
	return false;
}

static void check_name(const char *name)
{
	require(name && strlen(name) <= ptxas_most_name_bytes + strlen("..."));
	require_sentence(*name ? name : "-");
}

static void check_kernel(json_t *kernel)
{
	const char *key;
	json_t *value;
	check_name(json_string_value(json_object_get(kernel, "name")));
	json_object_foreach(kernel, key, value)
	{
		require(strcmp(key, "name") == 0 || (is_figure(key) && json_is_integer(value)));
		require(!json_is_integer(value)
			|| (json_integer_value(value) >= 0 && json_integer_value(value) < 1 << 30));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	cleanup_free char *output = fuzz_string(bytes, length);
	cleanup_arena struct arena *arena = arena_new();
	json_t *kernels = ptxas_kernels(arena, output);
	require(json_is_array(kernels) && json_array_size(kernels) <= ptxas_most_kernels);
	for (size_t i = 0; i < json_array_size(kernels); i++)
		check_kernel(json_array_get(kernels, i));
	json_decref(kernels);
	check_name(ptxas_readable_name(arena, output));
	return 0;
}
