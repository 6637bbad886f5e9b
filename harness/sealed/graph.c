#include "graph.h"

#include "calls.h"
#include "cubin.h"
#include "driver.h"
#include "harness/isolated/inside.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

struct variable {
	unsigned long long address;
	const void *content;
	uint32_t bytes;
};

struct sealed_graph {
	struct CUlib_st **libraries; /* of the images; NULL: not loaded */
	struct cubin *cubins;        /* the images */
	struct CUgraphNode_st **nodes;
	struct variable *variables;
	struct sealed_kernel_figures *figures; /* of the kernels so far */
	uint32_t library_count, variable_count, figure_count, node_count;
	struct CUgraph_st *graph;
	struct CUgraphExec_st *exec;
};

/* cuLibraryLoadData gets no length and trusts the offsets in an image, so cubin_open checks them
 * first. */
static int load_images(
	struct sealed_graph *graph, const struct plan *plan, const struct sealed_blobs *blobs)
{
	for (uint32_t i = 0; i < plan->image_count; i++) {
		if (!cubin_open(&graph->cubins[i], blobs->images[i], plan->images[i].bytes))
			return isolated_fail(ISOLATED_VIOLATION, "Image %u of the plan is no cubin.", i);
		if (!cubin_names_all_bytes(&graph->cubins[i]))
			return isolated_fail(ISOLATED_VIOLATION,
				"Image %u of the plan has variables without a name, so they cannot be restored.",
				i);
		int rc = SEALED_DO(
			library_load, &graph->libraries[i], blobs->images[i], NULL, NULL, 0, NULL, NULL, 0);
		if (rc)
			return rc;
	}
	return 0;
}

static int find_variables(
	struct sealed_graph *graph, const struct plan *plan, const struct sealed_blobs *blobs)
{
	for (uint32_t i = 0; i < plan->variable_count; i++) {
		const struct plan_variable *one = &plan->variables[i];
		struct variable *found = &graph->variables[i];
		size_t bytes = 0;
		int rc = SEALED_DO(
			library_variable, &found->address, &bytes, graph->libraries[one->image], one->name);
		if (rc)
			return rc;
		if (bytes != one->content.bytes)
			return isolated_fail(ISOLATED_VIOLATION,
				"Variable %u of the plan has %u bytes in the plan and %zu in its image.", i,
				one->content.bytes, bytes);
		found->content = blobs->contents[i];
		found->bytes = one->content.bytes;
	}
	return 0;
}

static bool is_listed(const struct plan *plan, uint32_t image, const char *name)
{
	for (uint32_t i = 0; i < plan->variable_count; i++)
		if (plan->variables[i].image == image && strcmp(plan->variables[i].name, name) == 0)
			return true;
	return false;
}

/* Checks that the plan lists all variables of its images that the driver knows. Otherwise a kernel
 * could keep something in one from call to call. The driver does not know the string literals of
 * kernels (`$str`), so the plan cannot list them. What a kernel keeps there gains it nothing,
 * because no input comes twice. */
static int check_variables(const struct sealed_graph *graph, const struct plan *plan)
{
	struct cubin_variable variable;
	unsigned long long address;
	size_t bytes;
	for (uint32_t i = 0; i < plan->image_count; i++)
		for (uint64_t next = 0; cubin_next_variable(&graph->cubins[i], &next, &variable);) {
			if (variable.is_managed)
				return isolated_fail(ISOLATED_VIOLATION,
					"The variable %.200s is managed, so the host can change it.", variable.name);
			if (!is_listed(plan, i, variable.name)
				&& sealed_cuda.library_variable(
					   &address, &bytes, graph->libraries[i], variable.name)
					== CUDA_CALL_SUCCEEDED)
				return isolated_fail(ISOLATED_VIOLATION,
					"The plan does not list the variable %.200s of image %u.", variable.name, i);
		}
	return 0;
}

/* Checks that the plan's parameters are those of the kernel. The driver reads as many bytes as the
 * kernel has parameters, whatever the plan says. */
static int check_parameters(
	struct CUfunc_st *function, const struct plan_kernel *kernel, uint32_t node)
{
	size_t offset, bytes;
	for (uint32_t i = 0; i < kernel->parameter_count; i++)
		if (sealed_cuda.function_parameter(function, i, &offset, &bytes) != CUDA_CALL_SUCCEEDED
			|| offset != kernel->parameters[i].offset || bytes != kernel->parameters[i].bytes)
			return isolated_fail(ISOLATED_VIOLATION,
				"Node %u of the plan: parameter %u is not as its kernel has it.", node, i);
	if (sealed_cuda.function_parameter(function, kernel->parameter_count, &offset, &bytes)
		!= CUDA_CALL_INVALID_VALUE)
		return isolated_fail(
			ISOLATED_VIOLATION, "Node %u of the plan: its kernel has more parameters.", node);
	return 0;
}

/* Sets the function's attributes. Launches of one function in a plan may want different ones, and a
 * node keeps those that the function had when it was added. */
static int set_function(struct CUfunc_st *function, const struct plan_kernel *kernel)
{
	int rc = SEALED_DO(
		function_set, function, CUDA_FUNCTION_MOST_SHARED, (int)kernel->most_shared_bytes);
	if (!rc)
		rc = SEALED_DO(function_set, function, CUDA_FUNCTION_CARVEOUT, kernel->carveout);
	return rc ? rc
			  : SEALED_DO(
				  function_set, function, CUDA_FUNCTION_LARGE_CLUSTERS, kernel->has_large_clusters);
}

/* The figures are only shown, so an unknown one is 0. */
static uint32_t attribute_of(struct CUfunc_st *function, unsigned int attribute)
{
	int value = 0;
	return sealed_cuda.function_attribute(&value, attribute, function) == CUDA_CALL_SUCCEEDED
			&& value > 0
		? (uint32_t)value
		: 0;
}

/* Call it once the function has its attributes, because occupancy depends on them. */
static void note_figures(
	struct sealed_graph *graph, struct CUfunc_st *function, const struct plan_kernel *kernel)
{
	int blocks = 0;
	/* The driver takes an int. It refuses launches with larger blocks, which no GPU can run. */
	const uint64_t threads = (uint64_t)kernel->block[0] * kernel->block[1] * kernel->block[2];
	if (threads > INT_MAX
		|| sealed_cuda.function_blocks_per_sm(&blocks, function, (int)threads, kernel->shared_bytes)
			!= CUDA_CALL_SUCCEEDED)
		blocks = 0;
	graph->figures[graph->figure_count++] =
		(struct sealed_kernel_figures){ attribute_of(function, CUDA_FUNCTION_REGISTERS),
			attribute_of(function, CUDA_FUNCTION_LOCAL),
			attribute_of(function, CUDA_FUNCTION_SHARED), (uint32_t)blocks };
}

static int set_launch(struct CUgraphNode_st *node, const struct plan_kernel *kernel)
{
	union cuda_launch_value value = { { 0 } };
	int rc = 0;
	if (kernel->is_cooperative) {
		value.is_cooperative = 1;
		rc = SEALED_DO(kernel_node_set, node, CUDA_LAUNCH_COOPERATIVE, &value);
	}
	if (!rc && kernel->cluster[0]) {
		value = (union cuda_launch_value){ { 0 } };
		memcpy(value.cluster, kernel->cluster, sizeof value.cluster);
		rc = SEALED_DO(kernel_node_set, node, CUDA_LAUNCH_CLUSTER, &value);
	}
	return rc;
}

static int add_kernel(struct sealed_graph *graph, const struct plan_kernel *kernel, uint32_t number)
{
	struct CUkern_st *found;
	struct cuda_kernel_node node = { .shared_bytes = kernel->shared_bytes };
	int rc = SEALED_DO(library_kernel, &found, graph->libraries[kernel->image], kernel->name);
	if (!rc)
		rc = SEALED_DO(kernel_function, &node.function, found);
	if (!rc)
		rc = check_parameters(node.function, kernel, number);
	if (!rc)
		rc = sealed_calls_check(&graph->cubins[kernel->image], kernel->name);
	if (!rc)
		rc = set_function(node.function, kernel);
	if (rc)
		return rc;
	note_figures(graph, node.function, kernel);
	memcpy(node.grid, kernel->grid, sizeof node.grid);
	memcpy(node.block, kernel->block, sizeof node.block);
	node.parameters = calloc((size_t)kernel->parameter_count + 1, sizeof *node.parameters);
	if (!node.parameters)
		return isolated_no_memory();
	for (uint32_t i = 0; i < kernel->parameter_count; i++)
		node.parameters[i] = (void *)(uintptr_t)kernel->parameters[i].value;
	rc = SEALED_DO(graph_add_kernel, &graph->nodes[number], graph->graph, NULL, 0, &node);
	free(node.parameters); /* the driver has copied the values */
	return rc ? rc : set_launch(graph->nodes[number], kernel);
}

static int add_memset(struct sealed_graph *graph, const struct plan_memset *set, uint32_t number,
	struct CUctx_st *context)
{
	const struct cuda_memset_node node = { .address = set->address,
		.pitch = set->pitch,
		.value = set->value,
		.element_bytes = set->element_bytes,
		.width = set->width,
		.height = set->height };
	return SEALED_DO(
		graph_add_memset, &graph->nodes[number], graph->graph, NULL, 0, &node, context);
}

static struct cuda_copy_side side_of(const struct plan_pitched *side)
{
	return (struct cuda_copy_side){ .kind = CUDA_MEMORY_TYPE_DEVICE,
		.device = side->address,
		.pitch = side->pitch,
		.height = side->rows };
}

static int add_copy(struct sealed_graph *graph, const struct plan_copy *copy, uint32_t number,
	struct CUctx_st *context)
{
	const struct cuda_copy_node node = { .from = side_of(&copy->from),
		.to = side_of(&copy->to),
		.width = copy->width,
		.height = copy->height,
		.depth = copy->depth };
	return SEALED_DO(graph_add_copy, &graph->nodes[number], graph->graph, NULL, 0, &node, context);
}

static int add_nodes(struct sealed_graph *graph, const struct plan *plan)
{
	struct CUctx_st *context;
	int rc = SEALED_DO(context_current, &context);
	for (uint32_t i = 0; i < plan->node_count && !rc; i++)
		switch (plan->nodes[i].kind) {
		case PLAN_KERNEL: rc = add_kernel(graph, &plan->nodes[i].kernel, i); break;
		case PLAN_MEMSET: rc = add_memset(graph, &plan->nodes[i].set, i, context); break;
		case PLAN_COPY: rc = add_copy(graph, &plan->nodes[i].copy, i, context); break;
		case PLAN_EMPTY:
			rc = SEALED_DO(graph_add_empty, &graph->nodes[i], graph->graph, NULL, 0);
			break;
		}
	return rc;
}

static int add_edges(struct sealed_graph *graph, const struct plan *plan)
{
	static const struct cuda_edge edges[] = {
		[PLAN_AFTER_END] = { 0 },
		[PLAN_AFTER_TRIGGER] = { .from_port = CUDA_PORT_TRIGGER, .kind = CUDA_EDGE_PROGRAMMATIC },
		[PLAN_AFTER_START] = { .from_port = CUDA_PORT_START, .kind = CUDA_EDGE_PROGRAMMATIC },
	};
	int rc = 0;
	for (uint32_t i = 0; i < plan->edge_count && !rc; i++) {
		const struct plan_edge *edge = &plan->edges[i];
		rc = SEALED_DO(graph_add_edges, graph->graph, &graph->nodes[edge->from],
			&graph->nodes[edge->to], &edges[edge->order], 1);
	}
	return rc;
}

/* Makes an empty CUDA graph with room for what the plan has. The caller frees it also if this
 * fails. */
static int begin(struct sealed_graph **graph, const struct plan *plan)
{
	int rc = sealed_cuda_open();
	struct sealed_graph *made = *graph = rc ? NULL : calloc(1, sizeof *made);
	if (!made)
		return rc ? rc : isolated_no_memory();
	made->library_count = plan->image_count;
	made->variable_count = plan->variable_count;
	made->node_count = plan->node_count;
	made->libraries = calloc((size_t)plan->image_count + 1, sizeof *made->libraries);
	made->cubins = calloc((size_t)plan->image_count + 1, sizeof *made->cubins);
	made->nodes = calloc((size_t)plan->node_count + 1, sizeof *made->nodes);
	made->variables = calloc((size_t)plan->variable_count + 1, sizeof *made->variables);
	made->figures = calloc((size_t)plan->node_count + 1, sizeof *made->figures);
	return made->libraries && made->cubins && made->nodes && made->variables && made->figures
		? SEALED_DO(graph_make, &made->graph, 0)
		: isolated_no_memory();
}

/* Makes an instance of the graph that is ready for its first launch. The caller frees *exec also if
 * this fails. */
static int instantiate(struct CUgraphExec_st **exec, struct CUgraph_st *graph)
{
	int rc = SEALED_DO(graph_instantiate, exec, graph, 0);
	if (!rc)
		rc = SEALED_DO(exec_upload, *exec, NULL);
	return rc ? rc : CUDA_DO(context_wait);
}

/* Prepares the graph for its first launch. If that or an earlier step failed, frees the graph. */
static int finish(struct sealed_graph **graph, int rc)
{
	if (!rc)
		rc = instantiate(&(*graph)->exec, (*graph)->graph);
	if (rc) {
		sealed_graph_free(*graph);
		*graph = NULL;
	}
	return rc;
}

int sealed_graph_make(
	struct sealed_graph **graph, const struct plan *plan, const struct sealed_blobs *blobs)
{
	int rc = begin(graph, plan);
	if (!rc)
		rc = load_images(*graph, plan, blobs);
	if (!rc)
		rc = find_variables(*graph, plan, blobs);
	if (!rc)
		rc = check_variables(*graph, plan);
	if (!rc)
		rc = add_nodes(*graph, plan);
	if (!rc)
		rc = add_edges(*graph, plan);
	return finish(graph, rc);
}

int sealed_graph_make_empty(struct sealed_graph **graph)
{
	static const struct plan plan = { .node_count = 1 };
	const struct cuda_kernel_node node = {
		.function = isolated_empty_kernel(), .grid = { 1, 1, 1 }, .block = { 1, 1, 1 }
	};
	int rc = begin(graph, &plan);
	if (!rc)
		rc = SEALED_DO(graph_add_kernel, &(*graph)->nodes[0], (*graph)->graph, NULL, 0, &node);
	return finish(graph, rc);
}

void sealed_graph_free(struct sealed_graph *graph)
{
	if (!graph)
		return;
	if (graph->exec)
		sealed_cuda.exec_free(graph->exec);
	if (graph->graph)
		sealed_cuda.graph_free(graph->graph);
	for (uint32_t i = 0; graph->libraries && i < graph->library_count; i++)
		if (graph->libraries[i])
			sealed_cuda.library_unload(graph->libraries[i]);
	free(graph->libraries);
	free(graph->cubins);
	free(graph->nodes);
	free(graph->variables);
	free(graph->figures);
	free(graph);
}

const struct sealed_kernel_figures *sealed_graph_figures(
	const struct sealed_graph *graph, uint32_t *count)
{
	*count = graph->figure_count;
	return graph->figures;
}

int sealed_graph_restore(const struct sealed_graph *graph)
{
	int rc = 0;
	for (uint32_t i = 0; i < graph->variable_count && !rc; i++)
		rc = SEALED_DO(copy_to_device, graph->variables[i].address, graph->variables[i].content,
			graph->variables[i].bytes, NULL);
	return rc ? rc : CUDA_DO(context_wait);
}

int sealed_graph_launch(const struct sealed_graph *graph)
{
	return SEALED_DO(exec_launch, graph->exec, NULL);
}

/* ---- traces ---- */

int sealed_graph_trace(struct sealed_graph *graph, const char *folders)
{
	struct CUgraphExec_st *exec = NULL, *other;
	int rc = sealed_trace_begin(folders, graph->nodes, graph->node_count);
	if (rc)
		return rc;
	rc = instantiate(&exec, graph->graph);
	other = rc ? exec : graph->exec;
	graph->exec = rc ? graph->exec : exec;
	if (other)
		sealed_cuda.exec_free(other);
	return rc;
}

int sealed_graph_times(const struct sealed_graph *graph, struct sealed_times *times)
{
	return sealed_trace_end(times, graph->node_count);
}

uint32_t sealed_graph_nodes(const struct sealed_graph *graph)
{
	return graph->node_count;
}
