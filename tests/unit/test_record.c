/* Captured graphs as plans, with a pretended driver. */
#include "harness/sealed/record.h"

#include "harness/isolated/native.h"
#include "harness/sealed/driver.h"
#include "harness/sealed/listing.h"
#include "harness/sealed/range.h"
#include "tests/unit/plan_world.h"

#include <sodium.h>

/* ---- graphs as plans ---- */

/* A graph as if it had been captured, made of a plan, and what records it. */
struct captured {
	struct plan *plan;
	struct sealed_graph *graph;
	struct sealed_record *record;
};

static void capture(struct captured *captured, const char *text, unsigned char flags)
{
	describe_image(KERNELS);
	assert_int_equal(make(text, &captured->plan, &captured->graph), 0);
	assert_int_equal(sealed_graph_restore(captured->graph), 0);
	make_cubin(image, KERNELS, "__assertfail", flags);
	struct sealed_record *record = captured->record = sealed_record_new();
	/* The module's address was another module's before. A third module comes later. */
	assert_int_equal(sealed_record_image(record, pretends->last_library, "old", 3), 0);
	assert_int_equal(sealed_record_image(record, pretends->last_library, image, image_bytes), 1);
	assert_int_equal(sealed_record_image(record, &pretends, "other", 5), 2);
}

static void forget(struct captured *captured)
{
	sealed_record_free(captured->record);
	sealed_graph_free(captured->graph);
	plan_free(captured->plan);
}

/* Returns the plan's text with the hashes of the image and of the variable's content. */
static char *as_recorded(struct arena *arena, const char *text)
{
	static const char sha[] = "0011223344556677889900112233445566778899aabbccddeeff001122334455";
	unsigned char hash[crypto_hash_sha256_BYTES];
	crypto_hash_sha256(hash, image, image_bytes);
	char *with_hash = changed(arena, text, sha, hex_of(arena, hash, sizeof hash));
	crypto_hash_sha256(hash, (const unsigned char *)&gain, sizeof gain);
	return changed(arena, with_hash, sha, hex_of(arena, hash, sizeof hash));
}

static void record_equals(const char *text)
{
	cleanup_arena struct arena *arena = arena_new();
	struct captured captured;
	char *recorded;
	size_t length;
	capture(&captured, text, 0);
	assert_int_equal(sealed_record_plan(captured.record, pretends->last_graph, &recorded), 0);
	assert_string_equal(recorded, as_recorded(arena, text));
	free(recorded);
	assert_memory_equal(sealed_record_blob(captured.record, 0, &length), image, image_bytes);
	assert_int_equal(length, image_bytes);
	assert_memory_equal(sealed_record_blob(captured.record, 1, &length), &gain, sizeof gain);
	assert_int_equal(length, sizeof gain);
	assert_null(sealed_record_blob(captured.record, 2, &length));
	forget(&captured);
}

static void a_recorded_graph_is_the_plan_that_it_was_made_of(void **state)
{
	(void)state;
	cleanup_arena struct arena *arena = arena_new();
	record_equals(text_of(arena, PLAIN, PLAIN));
	record_equals(changed(arena, text_of(arena, PLAIN, PLAIN), "\"trigger\"", "\"start\""));
	record_equals(
		changed(arena, text_of(arena, PLAIN, PLAIN), "[0,1],[1,2,\"trigger\"],[2,3]", ""));
	pretends->packs_parameters = 1;
	record_equals(text_of(arena, PLAIN, PLAIN));
	pretends->packs_parameters = 0;
	pretends->has_kernels = 1;
	record_equals(text_of(arena, PLAIN, PLAIN));
	pretends->has_kernels = 0;
	record_equals(text_of(arena, PLAIN, SPECIAL));
}

/* Makes a graph of empty nodes with these edges between them, for a node of another graph. */
static struct CUgraph_st *make_inner(
	size_t nodes, const uint32_t (*edges)[2], size_t edge_count, struct CUgraphNode_st **handles)
{
	struct CUgraph_st *inner;
	const struct cuda_edge plain = { 0 };
	assert_int_equal(sealed_cuda.graph_make(&inner, 0), 0);
	for (size_t i = 0; i < nodes; i++)
		assert_int_equal(sealed_cuda.graph_add_empty(&handles[i], inner, NULL, 0), 0);
	for (size_t i = 0; i < edge_count; i++)
		assert_int_equal(sealed_cuda.graph_add_edges(
							 inner, &handles[edges[i][0]], &handles[edges[i][1]], &plain, 1),
			0);
	return inner;
}

/* Records the graph of a plan whose second node is a graph of `nodes` empty nodes. The plan's text,
 * or NULL: no plan can hold it. The caller frees it. */
static char *record_opened(
	const char *text, size_t nodes, const uint32_t (*edges)[2], size_t edge_count)
{
	struct CUgraphNode_st *outer[4], *inner[4];
	struct captured captured;
	size_t count_of_nodes = 4;
	char *recorded;
	capture(&captured, text, 0);
	struct CUgraph_st *graph = pretends->last_graph;
	assert_int_equal(sealed_cuda.graph_nodes(graph, outer, &count_of_nodes), 0);
	pretends->opened = outer[1];
	pretends->inner = make_inner(nodes, edges, edge_count, inner);
	sealed_record_plan(captured.record, graph, &recorded);
	pretends->opened = NULL;
	sealed_cuda.graph_free(pretends->inner);
	forget(&captured);
	return recorded;
}

static void a_graph_in_the_graph_is_opened(void **state)
{
	(void)state;
	cleanup_arena struct arena *arena = arena_new();
	const char *ordered = text_of(arena, PLAIN, PLAIN),
			   *text = changed(arena, ordered, ",\"trigger\"", "");
	static const uint32_t joins[][2] = { { 0, 2 }, { 1, 2 } };
	/* Two nodes begin it, and one ends it. */
	char *opened = record_opened(text, 3, joins, 2);
	assert_non_null(strstr(opened, "\"edges\":[[0,3],[0,4],[1,2],[3,5],[4,5],[5,1]],"));
	assert_non_null(strstr(opened, "{\"kind\":\"empty\"},{\"kind\":\"empty\"},{\"kind\":"));
	assert_null(strstr(opened, "add_one"));
	free(opened);
	/* Nodes without edges between them both begin and end it. */
	opened = record_opened(text, 2, NULL, 0);
	assert_non_null(strstr(opened, "\"edges\":[[0,3],[0,4],[1,2],[3,1],[4,1]],"));
	free(opened);
	/* An empty graph stays a node, so that what surrounds it stays in order. */
	opened = record_opened(text, 0, NULL, 0);
	assert_non_null(strstr(opened, "\"edges\":[[0,1],[1,2],[2,3]],"));
	free(opened);
	assert_null(record_opened(ordered, 3, joins, 2));
	assert_string_equal(isolated_why(), "The call orders its kernels in an unknown way.");
}

static void a_graph_without_nodes_is_refused(void **state)
{
	(void)state;
	struct sealed_record *record = sealed_record_new();
	struct CUgraph_st *empty;
	char *recorded;
	assert_int_equal(sealed_cuda_open(), 0);
	assert_int_equal(sealed_cuda.graph_make(&empty, 0), 0);
	assert_int_equal(sealed_record_plan(record, empty, &recorded), ISOLATED_VIOLATION);
	assert_string_equal(
		isolated_why(), "It launches nothing on the GPU. Compute the output there in each call.");
	sealed_cuda.graph_free(empty);
	sealed_record_free(record);
}

static void graphs_in_each_other_are_opened_up_to_a_depth(void **state)
{
	(void)state;
	struct CUgraphNode_st *node;
	struct sealed_listing listing;
	assert_int_equal(sealed_cuda_open(), 0);
	struct CUgraph_st *inner = make_inner(1, NULL, 0, &node);
	pretends->opened = node;
	pretends->inner = inner; /* itself */
	assert_int_equal(sealed_listing_make(&listing, inner), ISOLATED_VIOLATION);
	assert_string_equal(
		isolated_why(), "The call launches CUDA graphs in each other, over 8 deep.");
	sealed_listing_free(&listing);
	pretends->opened = NULL;
	sealed_cuda.graph_free(inner);
}

static void refuse_to_record_with(unsigned char flags, const char *why)
{
	cleanup_arena struct arena *arena = arena_new();
	struct captured captured;
	char *recorded;
	capture(&captured, text_of(arena, PLAIN, PLAIN), flags);
	assert_int_equal(
		sealed_record_plan(captured.record, pretends->last_graph, &recorded), ISOLATED_VIOLATION);
	assert_string_equal(isolated_why(), why);
	assert_null(recorded);
	forget(&captured);
}

static void refuse_to_record(const char *why)
{
	refuse_to_record_with(0, why);
}

static void what_a_plan_cannot_hold_is_refused(void **state)
{
	(void)state;
	static const struct {
		int kind;
		const char *why;
	} nodes[] = {
		{ CUDA_NODE_HOST, "The call runs a function on the host (cudaLaunchHostFunc). Remove it." },
		{ CUDA_NODE_ALLOCATE,
			"The call allocates memory (cudaMallocAsync). Keep a buffer from the first call." },
		{ CUDA_NODE_CONDITIONAL,
			"The call contains conditional nodes. Launch the same kernels in each call." },
		{ 14, "The call contains a node of the unknown kind 14." },
	};
	for (size_t i = 0; i < sizeof nodes / sizeof *nodes; i++) {
		pretends->node_kind = nodes[i].kind;
		refuse_to_record(nodes[i].why);
	}
	pretends->node_kind = 0;
	pretends->copies_from = CUDA_MEMORY_TYPE_HOST;
	refuse_to_record("The call copies from the host to the GPU. Make constants in the first call, "
					 "and keep them on the GPU.");
	pretends->copies_from = CUDA_MEMORY_TYPE_ARRAY;
	refuse_to_record("The call copies a CUDA array. Use linear memory.");
	pretends->copies_from = 0;
	pretends->copies_to = CUDA_MEMORY_TYPE_HOST;
	refuse_to_record(
		"The call copies from the GPU to the host. Keep all data of the call on the GPU.");
	pretends->copies_to = 0;
	pretends->packs_parameters = pretends->packs_too_few = 1;
	refuse_to_record("The kernel add_one was launched without parameter 1.");
	pretends->packs_parameters = pretends->packs_too_few = 0;
	refuse_to_record_with(
		4, "The variable gain is managed, so the host can change it. Make it __device__.");
}

/* ---- what only the build can see ---- */

/* A module and a graph, as if a call had been captured. */
struct call {
	struct CUlib_st *library;
	struct CUfunc_st *function; /* add_one */
	struct CUgraph_st *graph;
	struct sealed_record *record;
};

static struct call begin(const char *kernels, const char *called)
{
	struct CUkern_st *kernel;
	struct call call = { .record = sealed_record_new() };
	make_cubin(image, kernels, called, 0);
	assert_int_equal(sealed_cuda_open(), 0);
	assert_int_equal(
		sealed_cuda.library_load(&call.library, image, NULL, NULL, 0, NULL, NULL, 0), 0);
	assert_int_equal(sealed_cuda.library_kernel(&kernel, call.library, "add_one"), 0);
	assert_int_equal(sealed_cuda.kernel_function(&call.function, kernel), 0);
	assert_int_equal(sealed_cuda.graph_make(&call.graph, 0), 0);
	sealed_record_image(call.record, call.library, image, image_bytes);
	return call;
}

static void launch_with(struct call *call, void *parameter)
{
	uint32_t elements = count;
	struct CUgraphNode_st *node;
	const struct cuda_kernel_node kernel = { .function = call->function,
		.grid = { 1, 1, 1 },
		.block = { 1, 1, 1 },
		.parameters = (void *[]){ parameter, &elements } };
	assert_int_equal(sealed_cuda.graph_add_kernel(&node, call->graph, NULL, 0, &kernel), 0);
}

/* Records the plan and frees all. `why`: the sentence; NULL: a plan can hold the call. */
static void end(struct call *call, const char *why)
{
	char *recorded;
	assert_int_equal(
		sealed_record_plan(call->record, call->graph, &recorded), why ? ISOLATED_VIOLATION : 0);
	if (why)
		assert_string_equal(isolated_why(), why);
	free(recorded);
	sealed_record_free(call->record);
	sealed_cuda.graph_free(call->graph);
	sealed_cuda.library_unload(call->library);
}

static void the_build_refuses_calls_of_the_driver_s_functions(void **state)
{
	(void)state;
	uint64_t address = 0;
	struct call call = begin(KERNELS, "vprintf");
	launch_with(&call, &address);
	end(&call,
		"The kernel add_one calls vprintf. A sealed call may not print, allocate memory or launch "
		"kernels on the GPU. Remove this from the kernel.");
}

static void the_build_refuses_variables_without_a_name(void **state)
{
	(void)state;
	uint64_t address = 0;
	struct call call = begin(KERNELS, "__assertfail");
	image[cubin_variables_size_at] = 8; /* the variable has 4 bytes */
	sealed_record_image(call.record, call.library, image, image_bytes);
	launch_with(&call, &address);
	end(&call,
		"The module with the kernel add_one has variables without a name, so they cannot be "
		"restored before a call. Do not strip its symbols.");
}

/* The driver knows memory of this kind. Returns its address. */
static uint64_t know(unsigned int kind, bool is_managed)
{
	pretends->known_kind = kind;
	pretends->known_is_managed = is_managed;
	return pretends->known = UINT64_C(0x7f0000000000);
}

static void record_kernel_with(uint64_t address, const char *why)
{
	struct call call = begin(KERNELS, "__assertfail");
	launch_with(&call, &address);
	end(&call, why);
	pretends->known = 0;
}

#define GETS "The kernel add_one gets a pointer to "
#define MANAGED \
	"managed memory, which the host can change. Use torch.empty instead of cudaMallocManaged."
#define ON_HOST "memory on the host. Copy the data to the GPU in the first call, and keep it there."
#define ON_GPU \
	"memory on the GPU that torch did not allocate. Use torch.empty instead of cudaMalloc or a " \
	"variable's address."

static void a_pointer_to_memory_that_is_not_the_call_s_is_refused(void **state)
{
	(void)state;
	record_kernel_with(know(CUDA_MEMORY_TYPE_DEVICE, false), GETS ON_GPU);
	record_kernel_with(know(CUDA_MEMORY_TYPE_DEVICE, false) + 1, GETS ON_GPU);
	record_kernel_with(know(CUDA_MEMORY_TYPE_HOST, false), GETS ON_HOST);
	record_kernel_with(know(CUDA_MEMORY_TYPE_HOST, true), GETS MANAGED);
	record_kernel_with(know(CUDA_MEMORY_TYPE_DEVICE, true), GETS MANAGED);
	record_kernel_with(know(CUDA_MEMORY_TYPE_DEVICE, false) - 8, NULL); /* no memory is there */
}

static void a_pointer_into_the_range_is_not_refused(void **state)
{
	(void)state;
	const uint64_t ends[] = { SEALED_RANGE_ADDRESS, SEALED_RANGE_ADDRESS + SEALED_RANGE_BYTES - 1,
		SEALED_RANGE_ADDRESS + SEALED_RANGE_BYTES, SEALED_RANGE_ADDRESS - 1 };
	for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
		know(CUDA_MEMORY_TYPE_DEVICE, false);
		pretends->known = ends[i];
		record_kernel_with(ends[i], i < 2 ? NULL : GETS ON_GPU);
	}
}

static void a_pointer_in_a_structure_is_refused(void **state)
{
	(void)state;
	uint64_t structure[2] = { 0, know(CUDA_MEMORY_TYPE_DEVICE, false) };
	struct call call = begin("kernel add_one 16 4\n", "__assertfail");
	launch_with(&call, structure);
	end(&call, GETS ON_GPU);
	pretends->known = 0;
}

static void a_pointer_to_a_variable_is_refused_by_its_name(void **state)
{
	(void)state;
	unsigned long long address;
	size_t bytes;
	struct call call = begin(KERNELS, "__assertfail");
	assert_int_equal(sealed_cuda.library_variable(&address, &bytes, call.library, "gain"), 0);
	know(CUDA_MEMORY_TYPE_DEVICE, false);
	pretends->known = address;
	launch_with(&call, &address);
	end(&call,
		GETS "the variable gain. Use the variable by its name in the kernel, or memory of "
			 "torch.empty instead.");
	pretends->known = 0;
}

static void record_memset_at(uint64_t address, const char *why)
{
	struct call call = begin(KERNELS, "__assertfail");
	struct CUctx_st *context;
	struct CUgraphNode_st *node;
	const struct cuda_memset_node set = {
		.address = address, .element_bytes = 1, .width = 1, .height = 1
	};
	assert_int_equal(sealed_cuda.context_current(&context), 0);
	assert_int_equal(sealed_cuda.graph_add_memset(&node, call.graph, NULL, 0, &set, context), 0);
	end(&call, why);
	pretends->known = 0;
}

static void record_copy_between(uint64_t from, uint64_t to, const char *why)
{
	struct call call = begin(KERNELS, "__assertfail");
	struct CUctx_st *context;
	struct CUgraphNode_st *node;
	const struct cuda_copy_node copy = { .from = { .kind = CUDA_MEMORY_TYPE_DEVICE,
											 .device = from },
		.to = { .kind = CUDA_MEMORY_TYPE_DEVICE, .device = to },
		.width = 1,
		.height = 1,
		.depth = 1 };
	assert_int_equal(sealed_cuda.context_current(&context), 0);
	assert_int_equal(sealed_cuda.graph_add_copy(&node, call.graph, NULL, 0, &copy, context), 0);
	end(&call, why);
	pretends->known = 0;
}

static void memsets_and_copies_of_memory_that_is_not_the_call_s_are_refused(void **state)
{
	(void)state;
	const uint64_t ours = SEALED_RANGE_ADDRESS;
	record_memset_at(ours, NULL);
	record_memset_at(know(CUDA_MEMORY_TYPE_DEVICE, false), "The call sets " ON_GPU);
	record_memset_at(know(CUDA_MEMORY_TYPE_DEVICE, true), "The call sets " MANAGED);
	record_copy_between(ours, ours, NULL);
	record_copy_between(know(CUDA_MEMORY_TYPE_HOST, false), ours, "The call copies from " ON_HOST);
	record_copy_between(ours, know(CUDA_MEMORY_TYPE_DEVICE, false), "The call copies to " ON_GPU);
}

static void a_kernel_of_an_unknown_module_is_refused(void **state)
{
	(void)state;
	cleanup_arena struct arena *arena = arena_new();
	struct captured captured;
	char *recorded;
	capture(&captured, text_of(arena, PLAIN, PLAIN), 0);
	struct sealed_record *empty = sealed_record_new();
	assert_int_equal(
		sealed_record_plan(empty, pretends->last_graph, &recorded), ISOLATED_VIOLATION);
	assert_string_equal(
		isolated_why(), "The kernel add_one is in a module that was loaded in an unknown way.");
	sealed_record_free(empty);
	forget(&captured);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_recorded_graph_is_the_plan_that_it_was_made_of),
		cmocka_unit_test(a_graph_in_the_graph_is_opened),
		cmocka_unit_test(a_graph_without_nodes_is_refused),
		cmocka_unit_test(graphs_in_each_other_are_opened_up_to_a_depth),
		cmocka_unit_test(what_a_plan_cannot_hold_is_refused),
		cmocka_unit_test(the_build_refuses_calls_of_the_driver_s_functions),
		cmocka_unit_test(the_build_refuses_variables_without_a_name),
		cmocka_unit_test(a_pointer_to_memory_that_is_not_the_call_s_is_refused),
		cmocka_unit_test(a_pointer_into_the_range_is_not_refused),
		cmocka_unit_test(a_pointer_in_a_structure_is_refused),
		cmocka_unit_test(a_pointer_to_a_variable_is_refused_by_its_name),
		cmocka_unit_test(memsets_and_copies_of_memory_that_is_not_the_call_s_are_refused),
		cmocka_unit_test(a_kernel_of_an_unknown_module_is_refused),
	};
	return cmocka_run_group_tests(tests, load, NULL);
}
