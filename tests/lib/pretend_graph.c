/* The pretended driver's libraries and graphs. An image is an ELF header and lines of text:
 *
 *	kernel NAME BYTES...     a kernel and the sizes of its parameters
 *	variable NAME BYTES
 *
 * Kernels are functions below. They run on the host when a launched graph's turn comes. If the test
 * has set `places`, a kernel does nothing when its parameters name other memory: a plan may contain
 * such a kernel, so that is no fault of the launcher. What a launcher may never do sets `strayed`.
 */
#include "tests/lib/pretend_cuda.h"

#include "harness/sealed/cupti.h"
#include "harness/sealed/driver.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DECLARE(name, member, parameters) unsigned int name parameters;
CUDA_GRAPH_CALLS(DECLARE)

enum {
	elf_header_bytes = 64,
	most_text_bytes = 255,
	most_parameters = 4,
	most_functions = 4,
	most_parameter_bytes = 16,
	most_nodes = 520,
	most_edges = 8,
	refused = 999
};
#define REFUSE(name) \
	do \
		if (pretend_cuda.refuses && strcmp(pretend_cuda.refuses, name) == 0) \
			return refused; \
	while (0)

/* Notes what no launcher may do. Returns whether it did. */
static bool stray(bool did, const char *what)
{
	if (did)
		pretend_cuda.strayed = what;
	return did;
}

/* The driver accepts a CUkernel where it expects a CUfunction. Each CUkern_st begins with this
 * mark, so that the functions below can tell the two apart. */
enum { kernel_mark = 0x4b };

struct CUkern_st {
	uint64_t mark;
	struct CUfunc_st *function;
};

struct CUfunc_st {
	char name[32];
	struct CUkern_st kernel;
	size_t bytes[most_parameters], count;
	struct CUlib_st *library;
	int most_shared, carveout, large_clusters;
};

static struct CUfunc_st empty_kernel = { .name = "empty" };
struct CUfunc_st *const pretend_empty = &empty_kernel;

struct CUlib_st {
	struct CUlib_st *next; /* in `libraries` */
	struct CUfunc_st functions[most_functions];
	size_t function_count, variable_bytes;
	char variable_name[32];
	uint32_t variable[4];
};
static struct CUlib_st *libraries; /* all that are loaded */

/* ---- the kernels ---- */

struct arguments {
	const uint8_t *values[most_parameters];
	struct CUlib_st *library;
};

static uint8_t *place_of(const struct arguments *arguments)
{
	uint64_t address;
	memcpy(&address, arguments->values[0], sizeof address);
	return (uint8_t *)(uintptr_t)address;
}

static uint32_t count_of(const struct arguments *arguments)
{
	uint32_t count;
	memcpy(&count, arguments->values[1], sizeof count);
	return count;
}

static bool may_write(const struct arguments *arguments)
{
	return pretend_is_in_a_place(
		&pretend_cuda, (uintptr_t)place_of(arguments), count_of(arguments));
}

/* add_one(uint8_t *place, uint32_t count) */
static void add_one(const struct arguments *arguments)
{
	if (!may_write(arguments))
		return;
	for (uint32_t i = 0; i < count_of(arguments); i++)
		place_of(arguments)[i]++;
}

/* add_gain(uint8_t *place, uint32_t count): adds the library's variable, and one to the variable */
static void add_gain(const struct arguments *arguments)
{
	if (!may_write(arguments))
		return;
	for (uint32_t i = 0; i < count_of(arguments); i++)
		place_of(arguments)[i] += (uint8_t)arguments->library->variable[0];
	arguments->library->variable[0]++;
}

static const struct {
	const char *name;
	void (*run)(const struct arguments *arguments);
} KERNELS[] = { { "add_one", add_one }, { "add_gain", add_gain } };

/* Whether a kernel has the parameters that the functions above read. */
static bool has_place_and_count(const struct CUfunc_st *function)
{
	return function->count == 2 && function->bytes[0] == sizeof(uint64_t)
		&& function->bytes[1] == sizeof(uint32_t);
}

/* ---- libraries ---- */

static void read_line(struct CUlib_st *library, char *line)
{
	char *rest = NULL, *kind = strtok_r(line, " ", &rest), *name = strtok_r(NULL, " ", &rest),
		 *word;
	if (!kind || !name)
		return;
	if (strcmp(kind, "variable") == 0) {
		const int bytes = atoi(rest);
		if (bytes < 0 || (size_t)bytes > sizeof library->variable)
			return;
		snprintf(library->variable_name, sizeof library->variable_name, "%s", name);
		library->variable_bytes = (size_t)bytes;
		return;
	}
	if (library->function_count == most_functions)
		return;
	struct CUfunc_st *function = &library->functions[library->function_count++];
	snprintf(function->name, sizeof function->name, "%s", name);
	function->library = library;
	function->kernel = (struct CUkern_st){ kernel_mark, function };
	while ((word = strtok_r(NULL, " ", &rest)) && function->count < most_parameters) {
		const int bytes = atoi(word);
		if (bytes > 0 && bytes <= most_parameter_bytes)
			function->bytes[function->count++] = (size_t)bytes;
	}
}

unsigned int cuLibraryLoadData(struct CUlib_st **library, const void *image,
	unsigned int *jit_options, void **jit_values, unsigned int jit_count, unsigned int *options,
	void **values, unsigned int count)
{
	REFUSE("cuLibraryLoadData");
	char *text = strndup((const char *)image + elf_header_bytes, most_text_bytes), *rest = text,
		 *line;
	*library = pretend_cuda.last_library = calloc(1, sizeof **library);
	while ((line = strsep(&rest, "\n")))
		read_line(*library, line);
	free(text);
	(*library)->next = libraries;
	libraries = *library;
	pretend_cuda.graph_objects++;
	return jit_options || jit_values || jit_count || options || values || count;
}

static bool is_a_variable(unsigned long long address, size_t bytes)
{
	const struct CUlib_st *one = libraries;
	while (one && (uintptr_t)one->variable != address)
		one = one->next;
	return one && one->variable_bytes == bytes;
}

unsigned int cuLibraryUnload(struct CUlib_st *library)
{
	struct CUlib_st **at = &libraries;
	while (*at != library)
		at = &(*at)->next;
	*at = library->next;
	free(library);
	pretend_cuda.graph_objects--;
	return 0;
}

unsigned int cuLibraryGetKernel(
	struct CUkern_st **kernel, struct CUlib_st *library, const char *name)
{
	for (size_t i = 0; i < library->function_count; i++)
		if (strcmp(library->functions[i].name, name) == 0) {
			*kernel = &library->functions[i].kernel;
			return 0;
		}
	return refused;
}

/* Tells CUPTI's pretended subscriber of a call. */
static void tell(uint32_t number, unsigned int site, const void *first, const void *second)
{
	const void *const parameters[] = { first, second };
	if (pretend_cuda.tell)
		pretend_cuda.tell(number, site, parameters, 0);
}

unsigned int cuKernelGetFunction(struct CUfunc_st **function, struct CUkern_st *kernel)
{
	enum { number = 683 };
	REFUSE("cuKernelGetFunction");
	tell(number, CUPTI_SITE_ENTER, function, kernel);
	*function = kernel->function;
	tell(number, CUPTI_SITE_EXIT, function, kernel);
	return kernel->mark != kernel_mark;
}

/* A library is its own module. */
unsigned int cuLibraryGetModule(struct CUmod_st **module, struct CUlib_st *library)
{
	enum { number = 682 };
	REFUSE("cuLibraryGetModule");
	tell(number, CUPTI_SITE_ENTER, module, library);
	*module = (struct CUmod_st *)library;
	tell(number, CUPTI_SITE_EXIT, module, library);
	return 0;
}

unsigned int cuLibraryGetGlobal(
	unsigned long long *address, size_t *bytes, struct CUlib_st *library, const char *name)
{
	*address = (uintptr_t)library->variable;
	*bytes = library->variable_bytes;
	return strcmp(library->variable_name, name) == 0 ? 0 : CUDA_CALL_NOT_FOUND;
}

unsigned int cuModuleGetGlobal_v2(
	unsigned long long *address, size_t *bytes, struct CUmod_st *module, const char *name)
{
	REFUSE("cuModuleGetGlobal_v2");
	return cuLibraryGetGlobal(address, bytes, (struct CUlib_st *)module, name);
}

unsigned int cuPointerGetAttribute(void *value, unsigned int attribute, unsigned long long address)
{
	enum { bytes = 64 };
	REFUSE("cuPointerGetAttribute");
	if (!pretend_cuda.known || address - pretend_cuda.known >= bytes)
		return CUDA_CALL_INVALID_VALUE;
	*(unsigned int *)value = attribute == CUDA_POINTER_IS_MANAGED ? pretend_cuda.known_is_managed
																  : pretend_cuda.known_kind;
	return 0;
}

unsigned int cuFuncSetAttribute(struct CUfunc_st *function, unsigned int attribute, int value)
{
	REFUSE("cuFuncSetAttribute");
	if (attribute == CUDA_FUNCTION_MOST_SHARED)
		pretend_cuda.most_shared = function->most_shared = value;
	if (attribute == CUDA_FUNCTION_CARVEOUT)
		pretend_cuda.carveout = function->carveout = value;
	if (attribute == CUDA_FUNCTION_LARGE_CLUSTERS)
		pretend_cuda.large_clusters = function->large_clusters = value;
	return 0;
}

unsigned int cuFuncGetAttribute(int *value, unsigned int attribute, struct CUfunc_st *function)
{
	REFUSE("cuFuncGetAttribute");
	*value = attribute == CUDA_FUNCTION_MOST_SHARED ? function->most_shared
		: attribute == CUDA_FUNCTION_CARVEOUT       ? function->carveout
		: attribute == CUDA_FUNCTION_LARGE_CLUSTERS ? function->large_clusters
		: attribute == CUDA_FUNCTION_REGISTERS      ? 24
		: attribute == CUDA_FUNCTION_LOCAL          ? 8
													: 512;
	return 0;
}

/* The pretended SM has room for 1024 threads and 64 KiB of shared memory. */
unsigned int cuOccupancyMaxActiveBlocksPerMultiprocessor(
	int *blocks, struct CUfunc_st *function, int block_threads, size_t shared_bytes)
{
	REFUSE("cuOccupancyMaxActiveBlocksPerMultiprocessor");
	(void)function;
	int by_threads = 1024 / block_threads, by_shared = shared_bytes ? 65536 / (int)shared_bytes : 9;
	*blocks = by_threads < by_shared ? by_threads : by_shared;
	return 0;
}

unsigned int cuFuncGetName(const char **name, struct CUfunc_st *function)
{
	REFUSE("cuFuncGetName");
	*name = function->name;
	return 0;
}

unsigned int cuFuncGetModule(struct CUmod_st **module, struct CUfunc_st *function)
{
	REFUSE("cuFuncGetModule");
	if (((const struct CUkern_st *)function)->mark == kernel_mark)
		return refused;
	*module = (struct CUmod_st *)function->library;
	return 0;
}

/* A parameter begins at a multiple of its size. */
unsigned int cuFuncGetParamInfo(
	struct CUfunc_st *function, size_t number, size_t *offset, size_t *bytes)
{
	if (number >= function->count)
		return CUDA_CALL_INVALID_VALUE;
	size_t end = 0;
	for (size_t i = 0; i <= number; i++) {
		*bytes = function->bytes[i];
		*offset = (end + *bytes - 1) / *bytes * *bytes;
		end = *offset + *bytes;
	}
	return 0;
}

/* ---- graphs ---- */

struct CUgraphNode_st {
	unsigned int kind; /* as CUgraphNodeType */
	struct cuda_kernel_node kernel;
	uint8_t values[most_parameters]
				  [most_parameter_bytes]; /* of the parameters, as the kernel has them */
	void *parameters[most_parameters];
	int is_cooperative;
	unsigned int cluster[3];
	struct cuda_memset_node set;
	struct cuda_copy_node copy;
};

struct CUgraph_st {
	struct CUgraphNode_st nodes[most_nodes];
	size_t node_count;
	struct {
		struct CUgraphNode_st *from, *to;
		struct cuda_edge kind;
	} edges[most_edges];
	size_t edge_count;
};

struct CUgraphExec_st {
	struct CUgraph_st graph;
	struct CUgraph_st *original; /* whose nodes the edges point to */
};

unsigned int cuGraphCreate(struct CUgraph_st **graph, unsigned int flags)
{
	REFUSE("cuGraphCreate");
	*graph = pretend_cuda.last_graph = calloc(1, sizeof **graph);
	pretend_cuda.graph_objects++;
	return flags;
}

unsigned int cuGraphDestroy(struct CUgraph_st *graph)
{
	free(graph);
	pretend_cuda.graph_objects--;
	return 0;
}

static struct CUgraphNode_st *add_node(struct CUgraph_st *graph, unsigned int kind)
{
	struct CUgraphNode_st *node = &graph->nodes[graph->node_count++];
	node->kind = kind;
	return node;
}

/* Whether CUDA has no such launch: CUDA C++ Programming Guide, "Technical Specifications". */
static bool is_no_launch(const struct cuda_kernel_node *kernel)
{
	const unsigned int *grid = kernel->grid, *block = kernel->block;
	return !grid[0] || !grid[1] || !grid[2] || grid[0] > INT32_MAX || grid[1] > 65535
		|| grid[2] > 65535 || !block[0] || !block[1] || !block[2] || block[2] > 64
		|| (uint64_t)block[0] * block[1] * block[2] > 1024 || kernel->shared_bytes > 256 << 10;
}

unsigned int cuGraphAddKernelNode_v2(struct CUgraphNode_st **node, struct CUgraph_st *graph,
	struct CUgraphNode_st *const *after, size_t count, const struct cuda_kernel_node *kernel)
{
	REFUSE("cuGraphAddKernelNode_v2");
	if (graph->node_count == most_nodes || stray(is_no_launch(kernel), "a grid or a block"))
		return refused;
	*node = add_node(graph, CUDA_NODE_KERNEL);
	(*node)->kernel = *kernel;
	(*node)->kernel.parameters = (*node)->parameters;
	for (size_t i = 0; i < kernel->function->count; i++) {
		if (stray(!kernel->parameters[i], "a parameter that is not there"))
			return refused;
		memcpy((*node)->values[i], kernel->parameters[i], kernel->function->bytes[i]);
		(*node)->parameters[i] = (*node)->values[i];
	}
	return after || count || kernel->extra || kernel->kernel || !kernel->grid[0]
		|| !kernel->block[0];
}

unsigned int cuGraphKernelNodeSetAttribute(
	struct CUgraphNode_st *node, unsigned int attribute, const union cuda_launch_value *value)
{
	REFUSE("cuGraphKernelNodeSetAttribute");
	if (attribute == CUDA_LAUNCH_COOPERATIVE)
		pretend_cuda.cooperative = node->is_cooperative = value->is_cooperative;
	if (attribute == CUDA_LAUNCH_CLUSTER) {
		memcpy(node->cluster, value->cluster, sizeof node->cluster);
		pretend_cuda.cluster = (int)value->cluster[0];
		for (size_t i = 0; i < 3; i++)
			if (stray(!value->cluster[i] || node->kernel.grid[i] % value->cluster[i], "a cluster"))
				return refused;
	}
	return node->kind != CUDA_NODE_KERNEL;
}

unsigned int cuGraphAddMemsetNode(struct CUgraphNode_st **node, struct CUgraph_st *graph,
	struct CUgraphNode_st *const *after, size_t count, const struct cuda_memset_node *set,
	struct CUctx_st *context)
{
	REFUSE("cuGraphAddMemsetNode");
	if (graph->node_count == most_nodes)
		return refused;
	*node = add_node(graph, CUDA_NODE_MEMSET);
	(*node)->set = *set;
	return after || count || context != (struct CUctx_st *)&pretend_cuda;
}

/* Whether rows overlap, which CUDA refuses. */
static bool is_narrow(const struct cuda_copy_node *copy, const struct cuda_copy_side *side)
{
	return (copy->height > 1 || copy->depth > 1) && side->pitch < copy->width;
}

unsigned int cuGraphAddMemcpyNode(struct CUgraphNode_st **node, struct CUgraph_st *graph,
	struct CUgraphNode_st *const *after, size_t count, const struct cuda_copy_node *copy,
	struct CUctx_st *context)
{
	REFUSE("cuGraphAddMemcpyNode");
	if (graph->node_count == most_nodes
		|| stray(is_narrow(copy, &copy->from) || is_narrow(copy, &copy->to), "rows that overlap"))
		return refused;
	*node = add_node(graph, CUDA_NODE_COPY);
	(*node)->copy = *copy;
	return after || count || context != (struct CUctx_st *)&pretend_cuda
		|| copy->from.kind != CUDA_MEMORY_TYPE_DEVICE || copy->to.kind != CUDA_MEMORY_TYPE_DEVICE;
}

unsigned int cuGraphAddEmptyNode(struct CUgraphNode_st **node, struct CUgraph_st *graph,
	struct CUgraphNode_st *const *after, size_t count)
{
	REFUSE("cuGraphAddEmptyNode");
	if (graph->node_count == most_nodes)
		return refused;
	*node = add_node(graph, CUDA_NODE_EMPTY);
	return after || count;
}

unsigned int cuGraphAddDependencies_v2(struct CUgraph_st *graph, struct CUgraphNode_st *const *from,
	struct CUgraphNode_st *const *to, const struct cuda_edge *edges, size_t count)
{
	REFUSE("cuGraphAddDependencies_v2");
	if (graph->edge_count == most_edges)
		return refused;
	graph->edges[graph->edge_count].from = *from;
	graph->edges[graph->edge_count].kind = *edges;
	graph->edges[graph->edge_count++].to = *to;
	if (edges->kind == CUDA_EDGE_PROGRAMMATIC)
		pretend_cuda.trigger_port = edges->from_port;
	return count != 1;
}

unsigned int cuGraphInstantiateWithFlags(
	struct CUgraphExec_st **ready, struct CUgraph_st *graph, unsigned long long flags)
{
	REFUSE("cuGraphInstantiateWithFlags");
	*ready = calloc(1, sizeof **ready);
	(*ready)->graph = *graph;
	(*ready)->original = graph;
	for (size_t i = 0; i < graph->node_count && pretend_cuda.cloned; i++)
		pretend_cuda.cloned(&(*ready)->graph.nodes[i], &graph->nodes[i]);
	pretend_cuda.graph_objects++;
	return flags != 0;
}

unsigned int cuGraphExecDestroy(struct CUgraphExec_st *ready)
{
	free(ready);
	pretend_cuda.graph_objects--;
	return 0;
}

unsigned int cuGraphUpload(struct CUgraphExec_st *ready, struct CUstream_st *stream)
{
	REFUSE("cuGraphUpload");
	return !ready || stream;
}

/* ---- what a graph has ---- */

unsigned int cuGraphGetNodes(struct CUgraph_st *graph, struct CUgraphNode_st **nodes, size_t *count)
{
	REFUSE("cuGraphGetNodes");
	*count = graph->node_count;
	for (size_t i = 0; nodes && i < graph->node_count; i++)
		nodes[i] = &graph->nodes[i];
	return 0;
}

/* The last edge comes first, so that the recorder has to sort. */
unsigned int cuGraphGetEdges_v2(struct CUgraph_st *graph, struct CUgraphNode_st **from,
	struct CUgraphNode_st **to, struct cuda_edge *edges, size_t *count)
{
	REFUSE("cuGraphGetEdges_v2");
	if (from && !graph->edge_count)
		return CUDA_CALL_INVALID_VALUE;
	*count = graph->edge_count;
	for (size_t i = 0; from && i < graph->edge_count; i++) {
		const size_t last = graph->edge_count - 1 - i;
		from[i] = graph->edges[last].from;
		to[i] = graph->edges[last].to;
		edges[i] = graph->edges[last].kind;
	}
	return 0;
}

unsigned int cuGraphNodeGetType(struct CUgraphNode_st *node, unsigned int *kind)
{
	REFUSE("cuGraphNodeGetType");
	*kind = node == pretend_cuda.opened ? CUDA_NODE_GRAPH
		: pretend_cuda.node_kind        ? (unsigned int)pretend_cuda.node_kind
										: node->kind;
	return 0;
}

unsigned int cuGraphChildGraphNodeGetGraph(struct CUgraphNode_st *node, struct CUgraph_st **graph)
{
	REFUSE("cuGraphChildGraphNodeGetGraph");
	*graph = pretend_cuda.inner;
	return node != pretend_cuda.opened;
}

/* With `packs_parameters`, the launch has all its parameters in one buffer, as launches of cuBLAS
 * have. */
unsigned int cuGraphKernelNodeGetParams_v2(
	struct CUgraphNode_st *node, struct cuda_kernel_node *kernel)
{
	static uint8_t buffer[64];
	static size_t length;
	static void *extra[] = { (void *)CUDA_PARAMETERS_BUFFER, buffer, (void *)CUDA_PARAMETERS_BYTES,
		&length, NULL };
	REFUSE("cuGraphKernelNodeGetParams_v2");
	*kernel = node->kernel;
	if (pretend_cuda.has_kernels) {
		kernel->kernel = &node->kernel.function->kernel;
		kernel->function = NULL;
	}
	if (!pretend_cuda.packs_parameters)
		return 0;
	for (size_t i = 0; i < kernel->function->count; i++) {
		size_t offset, bytes;
		cuFuncGetParamInfo(kernel->function, i, &offset, &bytes);
		memcpy(buffer + offset, node->values[i], bytes);
		length = offset + bytes - (size_t)pretend_cuda.packs_too_few;
	}
	kernel->parameters = NULL;
	kernel->extra = extra;
	return 0;
}

unsigned int cuGraphKernelNodeGetAttribute(
	struct CUgraphNode_st *node, unsigned int attribute, union cuda_launch_value *value)
{
	REFUSE("cuGraphKernelNodeGetAttribute");
	if (attribute == CUDA_LAUNCH_COOPERATIVE)
		value->is_cooperative = node->is_cooperative;
	else
		memcpy(value->cluster, node->cluster, sizeof node->cluster);
	return 0;
}

unsigned int cuGraphMemsetNodeGetParams(struct CUgraphNode_st *node, struct cuda_memset_node *set)
{
	REFUSE("cuGraphMemsetNodeGetParams");
	*set = node->set;
	return 0;
}

unsigned int cuGraphMemcpyNodeGetParams(struct CUgraphNode_st *node, struct cuda_copy_node *copy)
{
	REFUSE("cuGraphMemcpyNodeGetParams");
	*copy = node->copy;
	if (pretend_cuda.copies_from)
		copy->from.kind = (unsigned int)pretend_cuda.copies_from;
	if (pretend_cuda.copies_to)
		copy->to.kind = (unsigned int)pretend_cuda.copies_to;
	return 0;
}

/* ---- launches ---- */

static uint8_t *row_of(const struct cuda_copy_side *side, size_t layer, size_t row)
{
	return (uint8_t *)(uintptr_t)side->device + (layer * side->height + row) * side->pitch;
}

static bool is_in_a_place(const void *address, size_t bytes, const char *what)
{
	return !stray(!pretend_is_in_a_place(&pretend_cuda, (uintptr_t)address, bytes), what);
}

static void run_copy(const struct cuda_copy_node *copy)
{
	for (size_t layer = 0; layer < copy->depth; layer++)
		for (size_t row = 0; row < copy->height; row++) {
			uint8_t *to = row_of(&copy->to, layer, row), *from = row_of(&copy->from, layer, row);
			if (!is_in_a_place(to, copy->width, "a copy's target")
				|| !is_in_a_place(from, copy->width, "a copy's source"))
				return;
			memmove(to, from, copy->width);
		}
}

static void run_memset(const struct cuda_memset_node *set)
{
	for (size_t row = 0; row < set->height; row++)
		for (size_t i = 0; i < set->width; i++) {
			uint8_t *at =
				(uint8_t *)(uintptr_t)set->address + row * set->pitch + i * set->element_bytes;
			if (!is_in_a_place(at, set->element_bytes, "a memset"))
				return;
			memcpy(at, &set->value, set->element_bytes);
		}
}

static void run_kernel(const struct CUgraphNode_st *node)
{
	struct arguments arguments = { .library = node->kernel.function->library };
	for (size_t i = 0; i < node->kernel.function->count; i++)
		arguments.values[i] = node->values[i];
	for (size_t i = 0; i < sizeof KERNELS / sizeof *KERNELS; i++)
		if (strcmp(KERNELS[i].name, node->kernel.function->name) == 0
			&& has_place_and_count(node->kernel.function))
			KERNELS[i].run(&arguments);
}

static void run_node(const struct CUgraphNode_st *node)
{
	if (node->kind == CUDA_NODE_KERNEL)
		run_kernel(node);
	if (node->kind == CUDA_NODE_MEMSET)
		run_memset(&node->set);
	if (node->kind == CUDA_NODE_COPY)
		run_copy(&node->copy);
}

static bool may_run(const struct CUgraphExec_st *ready, size_t number, const bool *did)
{
	for (size_t i = 0; i < ready->graph.edge_count; i++)
		if (ready->graph.edges[i].to == &ready->original->nodes[number]
			&& !did[ready->graph.edges[i].from - ready->original->nodes])
			return false;
	return true;
}

/* Runs the last node that may run, so that only edges keep nodes in order. */
static void run_graph(void *argument)
{
	static unsigned int launch;
	const struct CUgraphExec_st *ready = argument;
	bool did[most_nodes] = { false };
	launch++;
	size_t left = ready->graph.node_count, before = 0;
	while (left && left != before) {
		before = left;
		for (size_t i = ready->graph.node_count; i-- > 0 && left == before;)
			if (!did[i] && may_run(ready, i, did)) {
				run_node(&ready->graph.nodes[i]);
				if (pretend_cuda.ran)
					pretend_cuda.ran(&ready->graph.nodes[i], ready->graph.nodes[i].kind, launch);
				did[i] = true;
				left--;
			}
	}
	stray(left, "edges in a circle");
}

unsigned int cuGraphLaunch(struct CUgraphExec_st *ready, struct CUstream_st *stream)
{
	REFUSE("cuGraphLaunch");
	return stream || pretend_enqueue(run_graph, ready);
}

struct upload {
	void *to;
	const void *from;
	size_t bytes;
};

static void run_upload(void *argument)
{
	struct upload *upload = argument;
	memcpy(upload->to, upload->from, upload->bytes);
	free(upload);
}

unsigned int cuMemcpyHtoDAsync_v2(
	unsigned long long device, const void *host, size_t bytes, struct CUstream_st *stream)
{
	REFUSE("cuMemcpyHtoDAsync_v2");
	if (pretend_cuda.places[0].bytes
		&& stray(!is_a_variable(device, bytes), "another size than a variable has"))
		return refused;
	struct upload *upload = malloc(sizeof *upload);
	*upload = (struct upload){ (void *)(uintptr_t)device, host, bytes };
	return stream || pretend_enqueue(run_upload, upload);
}
