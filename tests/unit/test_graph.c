/* Plans as CUDA graphs, with a pretended driver that runs them on the host. */
#include "harness/sealed/graph.h"

#include "harness/isolated/native.h"
#include "harness/sealed/driver.h"
#include "tests/lib/pretend_cupti.h"
#include "tests/unit/plan_world.h"

#if __has_include(<cuda.h>) || __has_include("/usr/local/cuda/include/cuda.h")
#include "tests/gpu/sealed_declarations.h"
#endif

static void declarations_match_the_library(void **state)
{
	(void)state;
#ifdef CUDA_VERSION
	assert_true(CUDA_VERSION >= 12040);
#else
	print_message("cuda.h is not here\n");
	skip();
#endif
}

/* Makes the graph of a plan that must fail, and checks that nothing is left of it. */
static void fail_to_make(const char *text, int rc, const char *why)
{
	struct plan *plan;
	struct sealed_graph *graph;
	assert_int_equal(make(text, &plan, &graph), rc);
	assert_null(graph);
	assert_string_equal(isolated_why(), why);
	assert_int_equal(pretends->graph_objects, 0);
	plan_free(plan);
}

/* ---- tests ---- */

static void play(const struct sealed_graph *graph)
{
	memset(memory, 0, sizeof memory);
	assert_int_equal(sealed_graph_launch(graph), 0);
	assert_int_equal(isolated_cuda.context_wait(), 0);
}

static void a_graph_does_what_its_plan_says(void **state)
{
	(void)state;
	cleanup_arena struct arena *arena = arena_new();
	struct plan *plan;
	struct sealed_graph *graph;
	describe_image(KERNELS);
	assert_int_equal(make(text_of(arena, PLAIN, PLAIN), &plan, &graph), 0);
	assert_int_equal(sealed_graph_restore(graph), 0);
	play(graph);
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(memory[i], 5 + 1 + 3);
		assert_int_equal(memory[count + i], 0);
		assert_int_equal(memory[2 * count + i], 5 + 1 + 3);
	}
	assert_int_equal(pretends->trigger_port, CUDA_PORT_TRIGGER);
	sealed_graph_free(graph);
	plan_free(plan);
	assert_int_equal(pretends->graph_objects, 0);
	sealed_graph_free(NULL);
}

/* The kernel add_gain changes its variable. */
static void a_variable_keeps_nothing_from_call_to_call(void **state)
{
	(void)state;
	cleanup_arena struct arena *arena = arena_new();
	struct plan *plan;
	struct sealed_graph *graph;
	describe_image(KERNELS);
	assert_int_equal(make(text_of(arena, PLAIN, PLAIN), &plan, &graph), 0);
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(sealed_graph_restore(graph), 0);
		play(graph);
		assert_int_equal(memory[0], 5 + 1 + 3);
	}
	play(graph);
	assert_int_equal(memory[0], 5 + 1 + 4);
	sealed_graph_free(graph);
	plan_free(plan);
}

static void a_kernel_gets_its_attributes(void **state)
{
	(void)state;
	cleanup_arena struct arena *arena = arena_new();
	struct plan *plan;
	struct sealed_graph *graph;
	describe_image(KERNELS);
	assert_int_equal(make(text_of(arena, PLAIN, SPECIAL), &plan, &graph), 0);
	assert_int_equal(pretends->cooperative, 1);
	assert_int_equal(pretends->cluster, 2);
	assert_int_equal(pretends->carveout, 50);
	assert_int_equal(pretends->most_shared, 70000);
	assert_int_equal(pretends->large_clusters, 1);
	sealed_graph_free(graph);
	plan_free(plan);
	/* The second kernel does not keep what the first one set. */
	assert_int_equal(make(text_of(arena, SPECIAL, PLAIN), &plan, &graph), 0);
	assert_int_equal(pretends->carveout, -1);
	assert_int_equal(pretends->most_shared, 0);
	assert_int_equal(pretends->large_clusters, 0);
	sealed_graph_free(graph);
	plan_free(plan);
}

static void a_graph_has_the_figures_of_its_kernels(void **state)
{
	(void)state;
	cleanup_arena struct arena *arena = arena_new();
	struct plan *plan;
	struct sealed_graph *graph;
	uint32_t kernels;
	describe_image(KERNELS);
	char *text = text_of(arena, PLAIN, PLAIN);
	text = changed(arena, text, "\"shared_bytes\":0}", "\"shared_bytes\":32768}");
	assert_int_equal(make(text, &plan, &graph), 0);
	const struct sealed_kernel_figures *figures = sealed_graph_figures(graph, &kernels);
	assert_int_equal(kernels, 2);
	assert_int_equal(figures[0].registers, 24);
	assert_int_equal(figures[0].local_bytes, 8);
	assert_int_equal(figures[0].shared_bytes, 512);
	assert_int_equal(figures[0].blocks_per_sm, 2); /* of 32 KiB shared memory each */
	assert_int_equal(figures[1].blocks_per_sm, 9);
	sealed_graph_free(graph);
	plan_free(plan);
}

static void a_plan_must_fit_its_images(void **state)
{
	(void)state;
	cleanup_arena struct arena *arena = arena_new();
	const char *text = text_of(arena, PLAIN, PLAIN);
	static const struct {
		const char *image, *why;
	} cases[] = {
		{ "kernel add_one 8 4 4\nkernel add_gain 8 4\nvariable gain 4",
			"Node 1 of the plan: its kernel has more parameters." },
		{ "kernel add_one 8\nkernel add_gain 8 4\nvariable gain 4",
			"Node 1 of the plan: parameter 1 is not as its kernel has it." },
		{ "kernel add_one 8 8\nkernel add_gain 8 4\nvariable gain 4",
			"Node 1 of the plan: parameter 1 is not as its kernel has it." },
		{ "kernel add_one 4 8\nkernel add_gain 8 4\nvariable gain 4",
			"Node 1 of the plan: parameter 0 is not as its kernel has it." },
		{ "kernel add_one 8 4\nkernel add_gain 8 4\nvariable gain 8",
			"Variable 0 of the plan has 4 bytes in the plan and 8 in its image." },
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		describe_image(cases[i].image);
		fail_to_make(text, ISOLATED_VIOLATION, cases[i].why);
	}
	describe_image(KERNELS);
	fail_to_make(changed(arena, text, "[8,\"", "[12,\""), ISOLATED_VIOLATION,
		"Node 1 of the plan: parameter 1 is not as its kernel has it.");
	fail_to_make(changed(arena, text, "add_one", "add_six"), ISOLATED_FAILED,
		"The CUDA driver refused cuLibraryGetKernel: PRETEND_ERROR (999).");
	fail_to_make(changed(arena, text, "\"gain\"", "\"loss\""), ISOLATED_FAILED,
		"The CUDA driver refused cuLibraryGetGlobal: an error without a name (500).");
}

static void all_variables_of_the_images_must_be_in_the_plan(void **state)
{
	(void)state;
	cleanup_arena struct arena *arena = arena_new();
	char *text = text_of(arena, PLAIN, PLAIN);
	make_cubin(image, KERNELS, "__assertfail", 4);
	fail_to_make(
		text, ISOLATED_VIOLATION, "The variable gain is managed, so the host can change it.");
	describe_image(KERNELS);
	strcpy(strstr(text, "\"variables\":["), "\"variables\":[]}");
	fail_to_make(text, ISOLATED_VIOLATION, "The plan does not list the variable gain of image 0.");
}

static void each_byte_of_the_variables_must_have_a_name(void **state)
{
	(void)state;
	cleanup_arena struct arena *arena = arena_new();
	const char *text = text_of(arena, PLAIN, PLAIN);
	describe_image(KERNELS);
	image[cubin_variables_size_at] = 8; /* the variable has 4 bytes */
	fail_to_make(text, ISOLATED_VIOLATION,
		"Image 0 of the plan has variables without a name, so they cannot be restored.");
}

static void an_image_must_be_a_cubin(void **state)
{
	(void)state;
	cleanup_arena struct arena *arena = arena_new();
	const char *text = text_of(arena, PLAIN, PLAIN);
	static const struct {
		size_t at;
		uint8_t byte;
	} changes[] = {
		{ 0, '/' },                       /* not ELF, but PTX */
		{ 4, 1 },                         /* of 32 bits */
		{ 18, 62 },                       /* for a CPU */
		{ 41, 5 },                        /* section headers behind the end */
		{ 60, 17 },                       /* too many of them */
		{ 47, 0xff },                     /* at an address beyond all memory */
		{ 60, 0 },                        /* no sections */
		{ 62, 5 },                        /* names in a section that is not there */
		{ 592 + 3 * 64 + 4, SHT_SYMTAB }, /* a second table of symbols */
		{ 592 + 3 * 64 + 33, 0xff },      /* a section that ends behind the end */
	};
	describe_image(KERNELS);
	for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
		const uint8_t before = image[changes[i].at];
		image[changes[i].at] = changes[i].byte;
		fail_to_make(text, ISOLATED_VIOLATION, "Image 0 of the plan is no cubin.");
		image[changes[i].at] = before;
	}
	struct plan *plan;
	struct sealed_graph *graph;
	assert_int_equal(make(changed(arena, text, "\"bytes\":1024", "\"bytes\":63"), &plan, &graph),
		ISOLATED_VIOLATION);
	plan_free(plan);
}

static void a_kernel_may_not_call_the_driver_s_functions(void **state)
{
	(void)state;
	cleanup_arena struct arena *arena = arena_new();
	const char *text = text_of(arena, PLAIN, PLAIN);
	static const char *const refused[] = { "vprintf", "malloc", "free", "__cuda_syscallCnpv2" };
	for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
		make_cubin(image, KERNELS, refused[i], 0);
		fail_to_make(text, ISOLATED_VIOLATION,
			arena_printf(arena,
				"The kernel add_one calls %s. A sealed call may not print, allocate memory or "
				"launch kernels on the GPU. Remove this from the kernel.",
				refused[i]));
	}
	struct plan *plan;
	struct sealed_graph *graph;
	image[321] = 'x'; /* no table of calls, as in cuBLAS's cubins */
	assert_int_equal(make(text, &plan, &graph), 0);
	sealed_graph_free(graph);
	plan_free(plan);
	describe_image(KERNELS);
	assert_int_equal(make(text, &plan, &graph), 0);
	sealed_graph_free(graph);
	plan_free(plan);
}

static void a_failed_step_leaves_nothing_behind(void **state)
{
	(void)state;
	cleanup_arena struct arena *arena = arena_new();
	const char *text = text_of(arena, "\"cooperative\":true," PLAIN, PLAIN);
	static const char *const calls[] = { "cuLibraryLoadData", "cuKernelGetFunction",
		"cuFuncSetAttribute", "cuGraphCreate", "cuGraphAddKernelNode_v2",
		"cuGraphKernelNodeSetAttribute", "cuGraphAddMemsetNode", "cuGraphAddMemcpyNode",
		"cuGraphAddDependencies_v2", "cuGraphInstantiateWithFlags", "cuGraphUpload",
		"cuCtxSynchronize" };
	describe_image(KERNELS);
	for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
		struct plan *plan;
		struct sealed_graph *graph;
		pretends->refuses = calls[i];
		assert_int_equal(make(text, &plan, &graph), ISOLATED_FAILED);
		assert_null(graph);
		assert_int_equal(pretends->graph_objects, 0);
		pretends->refuses = NULL;
		plan_free(plan);
	}
}

/* ---- traces ----
 *
 * A process keeps CUPTI, so the tests without it come first. */

static struct pretend_cupti *cupti;

/* The folder of this program, where the pretended CUPTI is. */
static const char *here(void)
{
	static char path[4096];
	ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
	assert_true(length > 0);
	path[length] = '\0';
	*strrchr(path, '/') = '\0';
	return path;
}

struct traced {
	struct arena *arena;
	struct plan *plan;
	struct sealed_graph *graph;
	struct sealed_times times[5];
};

/* Makes a graph of the four nodes of text_of, and of an empty one at the end. */
static struct traced make_traced(void)
{
	struct traced traced = { .arena = arena_new() };
	describe_image(KERNELS);
	const char *text = changed(traced.arena, text_of(traced.arena, PLAIN, PLAIN),
		"],\"variables\":", ",{\"kind\":\"empty\"}],\"variables\":");
	assert_int_equal(make(text, &traced.plan, &traced.graph), 0);
	assert_int_equal(sealed_graph_nodes(traced.graph), 5);
	return traced;
}

static void free_traced(struct traced *traced)
{
	sealed_graph_free(traced->graph);
	plan_free(traced->plan);
	arena_free(traced->arena);
	assert_int_equal(pretends->graph_objects, 0);
}

static void play_some(const struct traced *traced, int times)
{
	for (int i = 0; i < times; i++) {
		assert_int_equal(sealed_graph_restore(traced->graph), 0);
		play(traced->graph);
		assert_int_equal(memory[0], 5 + 1 + 3);
	}
}

/* Launches of the pretended CUPTI take 1, 3, 7, 5, 9 and 8 parts of time. Without the first one, 7
 * is the median. Checks the times of all nodes but `unknown`; -1: of all. */
static void expect_times(const struct traced *traced, int unknown)
{
	const uint64_t begin = unknown == 0 ? 770 : 0;
	for (int i = 0; i < 4; i++) {
		const uint64_t begin_ns = (uint64_t)i * 770 - begin;
		assert_int_equal(traced->times[i].begin_ns, i == unknown ? SEALED_UNKNOWN_NS : begin_ns);
		assert_int_equal(
			traced->times[i].end_ns, i == unknown ? SEALED_UNKNOWN_NS : begin_ns + 700);
	}
	assert_int_equal(traced->times[4].begin_ns, SEALED_UNKNOWN_NS); /* it does nothing */
}

static void without_cupti_a_graph_can_be_played_and_not_traced(void **state)
{
	(void)state;
	struct traced traced = make_traced();
	assert_int_equal(sealed_graph_times(traced.graph, traced.times), ISOLATED_FAILED);
	assert_string_equal(isolated_why(), "There is no trace.");
	if (!dlopen("libcupti.so.13", RTLD_NOW) && !dlopen("libcupti.so.12", RTLD_NOW)
		&& !dlopen("libcupti.so", RTLD_NOW)) {
		assert_int_equal(sealed_graph_trace(traced.graph, "/nowhere"), ISOLATED_FAILED);
		assert_non_null(strstr(isolated_why(), "libcupti.so is not there"));
	}
	play_some(&traced, 1);
	free_traced(&traced);
}

static void a_refused_call_costs_only_the_times(void **state)
{
	(void)state;
	static const char *const calls[] = { "cuptiSubscribe", "cuptiEnableCallback",
		"cuptiActivityRegisterCallbacks", "cuptiActivityEnable" };
	struct traced traced = make_traced();
	void *library =
		dlopen(arena_printf(traced.arena, "%s/libcupti.so.13", here()), RTLD_NOW | RTLD_LOCAL);
	cupti = library ? dlsym(library, "pretend_cupti") : NULL;
	assert_non_null(cupti);
	for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
		cupti->refuses = calls[i];
		assert_int_equal(sealed_graph_trace(traced.graph, here()), ISOLATED_FAILED);
		assert_non_null(strstr(isolated_why(), calls[i]));
		assert_null(cupti->hear);
		play_some(&traced, 1);
	}
	cupti->refuses = NULL;
	const int objects = pretends->graph_objects;
	pretends->refuses = "cuGraphUpload";
	assert_int_equal(sealed_graph_trace(traced.graph, here()), ISOLATED_FAILED);
	pretends->refuses = NULL;
	assert_int_equal(pretends->graph_objects, objects);
	play_some(&traced, sealed_traced_calls);
	assert_int_equal(sealed_graph_times(traced.graph, traced.times), ISOLATED_FAILED);
	cupti->refuses = "cuptiActivityFlushAll";
	assert_int_equal(sealed_graph_trace(traced.graph, here()), 0);
	play_some(&traced, sealed_traced_calls);
	assert_int_equal(sealed_graph_times(traced.graph, traced.times), ISOLATED_FAILED);
	assert_string_equal(
		isolated_why(), "CUPTI refused cuptiActivityFlushAll: CUPTI_PRETEND_ERROR (999).");
	cupti->refuses = NULL;
	free_traced(&traced);
}

static void a_trace_has_the_times_of_a_typical_launch(void **state)
{
	(void)state;
	struct traced traced = make_traced();
	for (int i = 0; i < 2; i++) {
		assert_int_equal(sealed_graph_trace(traced.graph, here()), 0);
		play_some(&traced, sealed_traced_calls);
		assert_int_equal(sealed_graph_times(traced.graph, traced.times), 0);
		expect_times(&traced, -1);
		play_some(&traced, 1); /* of no trace, so it counts for none */
	}
	free_traced(&traced);
}

static void a_node_whose_record_was_lost_has_no_times(void **state)
{
	(void)state;
	struct traced traced = make_traced();
	for (int node = 0; node < 4; node++) {
		assert_int_equal(sealed_graph_trace(traced.graph, here()), 0);
		play_some(&traced, sealed_traced_calls);
		cupti->loses = 4 * 2 + node + 1; /* in the third launch */
		assert_int_equal(sealed_graph_times(traced.graph, traced.times), 0);
		cupti->loses = 0;
		expect_times(&traced, node);
	}
	free_traced(&traced);
}

static void launches_that_are_missing_or_too_many_leave_no_times(void **state)
{
	(void)state;
	struct traced traced = make_traced();
	for (int calls = sealed_traced_calls - 1; calls <= sealed_traced_calls + 1; calls += 2) {
		assert_int_equal(sealed_graph_trace(traced.graph, here()), 0);
		play_some(&traced, calls);
		assert_int_equal(sealed_graph_times(traced.graph, traced.times), ISOLATED_FAILED);
		assert_string_equal(isolated_why(), "CUPTI recorded no complete launch of the plan.");
	}
	/* The trace has ended. */
	assert_int_equal(sealed_graph_times(traced.graph, traced.times), ISOLATED_FAILED);
	free_traced(&traced);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(declarations_match_the_library),
		cmocka_unit_test(a_graph_does_what_its_plan_says),
		cmocka_unit_test(a_variable_keeps_nothing_from_call_to_call),
		cmocka_unit_test(a_kernel_gets_its_attributes),
		cmocka_unit_test(a_graph_has_the_figures_of_its_kernels),
		cmocka_unit_test(a_plan_must_fit_its_images),
		cmocka_unit_test(all_variables_of_the_images_must_be_in_the_plan),
		cmocka_unit_test(each_byte_of_the_variables_must_have_a_name),
		cmocka_unit_test(an_image_must_be_a_cubin),
		cmocka_unit_test(a_kernel_may_not_call_the_driver_s_functions),
		cmocka_unit_test(a_failed_step_leaves_nothing_behind),
		cmocka_unit_test(without_cupti_a_graph_can_be_played_and_not_traced),
		cmocka_unit_test(a_refused_call_costs_only_the_times),
		cmocka_unit_test(a_trace_has_the_times_of_a_typical_launch),
		cmocka_unit_test(a_node_whose_record_was_lost_has_no_times),
		cmocka_unit_test(launches_that_are_missing_or_too_many_leave_no_times),
	};
	return cmocka_run_group_tests(tests, load, NULL);
}
