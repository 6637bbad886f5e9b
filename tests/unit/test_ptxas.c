#include "worker/run/profile/ptxas.h"

#include "lib/base/buffer.h"
#include "lib/base/scope.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* nvcc 13.0's output for a file with eight kernels, compiled for sm_90a with the flags of a compile
 * stage. */
static const char NVCC_13[] =
	"ptxas warning : Registers are spilled to local memory in function '_ZN5inner6spillsEPfi', "
	"9104 bytes spill stores, 22268 bytes spill loads\n"
	"ptxas info    : 272 bytes gmem\n"
	"ptxas info    : Compiling entry function '_ZN5inner6spillsEPfi' for 'sm_90a'\n"
	"ptxas info    : Function properties for _ZN5inner6spillsEPfi\n"
	"    5472 bytes stack frame, 9104 bytes spill stores, 22268 bytes spill loads\n"
	"ptxas info    : Used 32 registers, used 1 barriers, 5472 bytes cumulative stack size\n"
	"ptxas info    : Compile time = 666.771 ms\n"
	"ptxas info    : Compiling entry function '_Z5applyIZ4mainEUlfE_EvT_Pf' for 'sm_90a'\n"
	"ptxas info    : Function properties for _Z5applyIZ4mainEUlfE_EvT_Pf\n"
	"    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
	"ptxas info    : Used 8 registers, used 0 barriers\n"
	"ptxas info    : Compile time = 1.126 ms\n"
	"ptxas info    : Compiling entry function '_Z6reduceIfLi256EEvPKT_PS0_i' for 'sm_90a'\n"
	"ptxas info    : Function properties for _Z6reduceIfLi256EEvPKT_PS0_i\n"
	"    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
	"ptxas info    : Used 12 registers, used 1 barriers, 1024 bytes smem\n"
	"ptxas info    : Compile time = 2.979 ms\n"
	"ptxas info    : Compiling entry function '_Z6callerPf' for 'sm_90a'\n"
	"ptxas info    : Function properties for _Z6callerPf\n"
	"    128 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
	"ptxas info    : Used 30 registers, used 0 barriers, 128 bytes cumulative stack size\n"
	"ptxas info    : Compile time = 1.966 ms\n"
	"ptxas info    : Function properties for _Z6calleef\n"
	"    16 bytes stack frame, 4 bytes spill stores, 4 bytes spill loads\n"
	"ptxas info    : Compiling entry function 'plain' for 'sm_90a'\n"
	"ptxas info    : Function properties for plain\n"
	"    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
	"ptxas info    : Used 8 registers, used 0 barriers\n"
	"ptxas info    : Compile time = 0.526 ms\n"
	"nvlink info    : 0 bytes gmem\n";

static char *read_kernels(struct arena *arena, const char *output)
{
	json_t *kernels = ptxas_kernels(arena, output);
	cleanup_free char *text = json_dumps(kernels, JSON_COMPACT);
	json_decref(kernels);
	return arena_strdup(arena, text);
}

static void kernels_have_registers_shared_memory_and_spills(void **state)
{
	(void)state;
	cleanup_arena struct arena *arena = arena_new();
	assert_string_equal(read_kernels(arena, NVCC_13),
		"[{\"name\":\"inner::spills\",\"stack_bytes\":5472,\"spill_store_bytes\":9104,\"spill_load_"
		"bytes\":22268,\"registers\":32},{\"name\":\"apply<...>\",\"stack_bytes\":0,\"spill_store_"
		"bytes\":0,\"spill_load_bytes\":0,\"registers\":8},{\"name\":\"reduce<float, "
		"256>\",\"stack_bytes\":0,\"spill_store_bytes\":0,\"spill_load_bytes\":0,\"registers\":12,"
		"\"shared_bytes\":1024},{\"name\":\"caller\",\"stack_bytes\":128,\"spill_store_bytes\":0,"
		"\"spill_load_bytes\":0,\"registers\":30},{\"name\":\"plain\",\"stack_bytes\":0,\"spill_"
		"store_bytes\":0,\"spill_load_bytes\":0,\"registers\":8}]");
}

/* CUDA 12 prints the figures in another order, with constant memory among them. */
static void figures_may_come_in_any_order(void **state)
{
	(void)state;
	cleanup_arena struct arena *arena = arena_new();
	assert_string_equal(read_kernels(arena,
							"ptxas info    : Compiling entry function '_Z1kPf' for 'sm_80'\n"
							"ptxas info    : Function properties for _Z1kPf\n    0 bytes stack "
							"frame, 0 bytes spill stores, 0 bytes spill loads\n"
							"ptxas info    : Used 40 registers, 16384 bytes smem, 376 bytes "
							"cmem[0], 8 bytes cmem[2]\n"),
		"[{\"name\":\"k\",\"stack_bytes\":0,\"spill_store_bytes\":0,\"spill_load_bytes\":0,"
		"\"registers\":40,\"shared_bytes\":16384}]");
}

static void two_kernels_with_the_same_readable_name_are_separate(void **state)
{
	(void)state;
	cleanup_arena struct arena *arena = arena_new();
	assert_string_equal(
		read_kernels(arena,
			"ptxas info    : Compiling entry function '_Z1kI1AEvT_' for 'sm_90a'\n"
			"ptxas info    : Used 8 registers\nptxas info    : Compiling entry function "
			"'_Z1kI1BEvT_' for 'sm_90a'\nptxas info    : Used 9 registers\n"
			"ptxas info    : Compiling entry function '_Z1fPf' for 'sm_90a'\nptxas info    : Used "
			"8 registers\n"
			"ptxas info    : Compiling entry function '_Z1fPd' for 'sm_90a'\nptxas info    : Used "
			"9 registers\n"
			"ptxas info    : Compiling entry function '_Z1fPd' for 'sm_100'\nptxas info    : Used "
			"10 registers\n"),
		"[{\"name\":\"k<A>\",\"registers\":8},{\"name\":\"k<B>\",\"registers\":9},{\"name\":\"f\","
		"\"registers\":8},{\"name\":\"f\",\"registers\":10}]");
}

static void symbols_become_readable_names(void **state)
{
	(void)state;
	static const struct {
		const char *symbol, *name;
	} cases[] = {
		{ "_ZN5inner6spillsEPfi", "inner::spills" },
		{ "_Z6reduceIdLi64EEvPKT_PS0_i", "reduce<double, 64>" },
		{ "plain", "plain" },
		{ "_Z5applyI2OpEvT_Pf", "apply<Op>" },
		{ "_Z5applyIZ4mainEUlfE_EvT_Pf", "apply<...>" },
		{ "_Z1kIN2at4HalfELb1ELin3EEvv", "k<at::Half, true, -3>" },
		{ "_Z1kILb0EfEvv", "k<false, float>" },
		{ "_Z1kIPKfEvv", "k<...>" },
		{ "_Z1kIfPKfEvv", "k<float, ...>" },
		{ "_ZN57_GLOBAL__N__00000000_4_a_cu_12345678_00000000_0000000000006hiddenEPd",
			"(anonymous)::hidden" },
		{ "_ZN2at6native1kI6float4EEvv", "at::native::k<float4>" },
		/* no symbol, or a damaged one */
		{ "", "" },
		{ "_Z", "_Z" },
		{ "_Z99short", "_Z99short" },
		{ "_Z0", "_Z0" },
		{ "_ZN1aE", "a" },
		{ "_ZN1a", "_ZN1a" },
		{ "_Z18446744073709551617x", "_Z18446744073709551617x" },
		{ "_Z1kILi", "k<...>" },
		{ "_Z1kIL", "k<...>" },
		{ "a\x1b[31mb", "a\\x1b[31mb" },
		{ "_Z1kI1aI1bI1cI1dI1eIiEEEEEEvv", "k<...>" },
	};
	cleanup_arena struct arena *arena = arena_new();
	for (size_t i = 0; i < COUNT(cases); i++)
		assert_string_equal(ptxas_readable_name(arena, cases[i].symbol), cases[i].name);
}

static void hostile_output_stays_small_and_harmless(void **state)
{
	(void)state;
	cleanup_arena struct arena *arena = arena_new();
	cleanup_buffer struct buffer text = { 0 };
	for (int i = 0; i < 1000; i++)
		buffer_printf(&text,
			"ptxas info    : Compiling entry function 'k%d%0500d' for 'sm_90a'\nptxas info    : "
			"Used 99999999999999999999 registers\n",
			i, 0);
	json_t *kernels = ptxas_kernels(arena, text.data);
	assert_int_equal(json_array_size(kernels), ptxas_most_kernels);
	json_t *first = json_array_get(kernels, 0);
	assert_true(json_string_length(json_object_get(first, "name")) <= ptxas_most_name_bytes + 3);
	assert_null(json_object_get(first, "registers"));
	json_decref(kernels);
	assert_string_equal(read_kernels(arena,
							"ptxas info    : Used 3 registers\n    5 bytes stack frame\nptxas info "
							"   : Compiling entry function '"),
		"[]");
	assert_string_equal(read_kernels(arena, "ptxas info    : "), "[]");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kernels_have_registers_shared_memory_and_spills),
		cmocka_unit_test(figures_may_come_in_any_order),
		cmocka_unit_test(two_kernels_with_the_same_readable_name_are_separate),
		cmocka_unit_test(symbols_become_readable_names),
		cmocka_unit_test(hostile_output_stays_small_and_harmless),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
