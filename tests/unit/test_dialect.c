/* The dialect of a source, detected from its imports. */
#include "lib/base/scope.h"
#include "lib/submission/dialect.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const struct {
	const char *source, *name;
} SOURCES[] = {
	{ "", "python" },
	{ "x = 1", "python" },
	{ "import torch\n", "pytorch" },
	{ "import torch\nimport triton\nimport triton.language as tl\n", "triton" },
	{ "import os, triton.language as tl, torch", "triton" },
	{ "from triton import jit", "triton" },
	{ "def f():\n\tfrom  triton import jit\n", "triton" },
	{ "import torch\r\nimport triton\r\n", "triton" },
	{ "import tritonclient\nimport mytriton\n", "python" },
	{ "import my.triton", "python" },
	{ "# import triton\nx = 'import triton'\nimportant = 1\n", "python" },
	{ "import torch # import triton, numba", "pytorch" },
	{ "from torch.utils.cpp_extension import load_inline\nimport torch", "cuda" },
	{ "import cuda.tile as ct", "cutile" },
	{ "from cuda import nvrtc", "cuda" },
	{ "import cutlass\nimport cutlass.cute as cute\nimport triton", "cute" },
	{ "import triton\nimport helion\n", "helion" },
	{ "import tilelang", "tilelang" },
	{ "from numba import cuda", "numba" },
	{ "import cupy as cp", "cupy" },
	{ "import jax.numpy as jnp", "jax" },
	{ "import", "python" },
	{ "from", "python" },
	{ "import ", "python" },
};

static void the_imports_decide_the_dialect_of_python(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(SOURCES); i++)
		assert_string_equal(
			dialect_of_source("py", SOURCES[i].source, strlen(SOURCES[i].source))->name,
			SOURCES[i].name);
}

/* Bytes beyond the source's length must be ignored. */
static void nothing_after_the_source_is_read(void **state)
{
	(void)state;
	static const char source[] = "import triton";
	for (size_t length = 0; length < strlen(source); length++) {
		cleanup_free char *exact = malloc(length ? length : 1);
		memcpy(exact, source, length);
		assert_string_equal(dialect_of_source("py", exact, length)->name, "python");
	}
}

static void cuda_cpp_is_one_dialect(void **state)
{
	(void)state;
	assert_string_equal(dialect_of_source("cu", "import triton", 13)->name, "cuda-cpp");
}

static void an_unknown_name_means_the_first_dialect_of_the_language(void **state)
{
	(void)state;
	assert_string_equal(dialect_find("py", "triton")->title, "Triton");
	assert_string_equal(dialect_find("py", NULL)->name, "python");
	assert_string_equal(dialect_find("py", "cuda-cpp")->name, "python");
	assert_string_equal(dialect_find("cu", "triton")->name, "cuda-cpp");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_imports_decide_the_dialect_of_python),
		cmocka_unit_test(nothing_after_the_source_is_read),
		cmocka_unit_test(cuda_cpp_is_one_dialect),
		cmocka_unit_test(an_unknown_name_means_the_first_dialect_of_the_language),
	};
	return cmocka_run_group_tests_name("dialect", tests, NULL, NULL);
}
