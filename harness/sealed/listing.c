#include "listing.h"

#include "driver.h"
#include "harness/isolated/inside.h"
#include "plan.h"

#include <stdlib.h>

/* The call does what no plan can hold. */
#define REFUSE(...) isolated_fail(ISOLATED_VIOLATION, __VA_ARGS__)

enum { most_depth = 8, no_parent = UINT32_MAX };

/* A node of the graph or of a graph within it. */
struct node {
	struct CUgraphNode_st *handle;
	uint32_t parent; /* the node that is its graph; no_parent: it is in the outer graph */
	uint32_t number; /* in the listing */
	bool has_before, has_after, is_opened;
};

struct opening {
	struct node *nodes;
	struct sealed_edge *edges; /* `from` and `to` are indices in `nodes`, of the same graph */
	size_t node_count, edge_count;
};

/* Makes room for more entries. */
static int grow(void *array, size_t entry_bytes, size_t count, size_t more)
{
	void *grown = realloc(*(void **)array, (count + more + 1) * entry_bytes);
	if (!grown)
		return isolated_no_memory();
	*(void **)array = grown;
	return 0;
}

/* ---- what the driver says ---- */

static int check_size(size_t nodes, size_t edges)
{
	if (nodes > plan_most_nodes || edges > plan_most_edges)
		return REFUSE("The call launches %zu nodes with %zu edges; a plan may have %d and %d.",
			nodes, edges, plan_most_nodes, plan_most_edges);
	return 0;
}

static int list_nodes(struct opening *opening, struct CUgraph_st *graph, uint32_t parent)
{
	size_t count;
	struct CUgraphNode_st **handles = NULL;
	int rc = SEALED_DO(graph_nodes, graph, NULL, &count);
	if (!rc)
		rc = check_size(opening->node_count + count, opening->edge_count);
	if (!rc && !(handles = calloc(count + 1, sizeof *handles)))
		rc = isolated_no_memory();
	if (!rc && count)
		rc = SEALED_DO(graph_nodes, graph, handles, &count);
	if (!rc)
		rc = grow(&opening->nodes, sizeof *opening->nodes, opening->node_count, count);
	for (size_t i = 0; i < count && !rc; i++)
		opening->nodes[opening->node_count++] =
			(struct node){ .handle = handles[i], .parent = parent };
	free(handles);
	return rc;
}

static int read_order(const struct cuda_edge *edge, const char **order)
{
	if (edge->to_port || edge->kind > CUDA_EDGE_PROGRAMMATIC
		|| (edge->kind == CUDA_EDGE_PROGRAMMATIC) != (edge->from_port != 0)
		|| edge->from_port > CUDA_PORT_START)
		return REFUSE("The call orders its kernels in an unknown way.");
	*order = edge->from_port == CUDA_PORT_TRIGGER ? "trigger"
		: edge->from_port == CUDA_PORT_START      ? "start"
												  : NULL;
	return 0;
}

/* Finds a node from `first` on. */
static uint32_t index_of(
	const struct opening *opening, size_t first, const struct CUgraphNode_st *handle)
{
	size_t i = first;
	while (i < opening->node_count && opening->nodes[i].handle != handle)
		i++;
	return (uint32_t)i;
}

static int add_edge(struct opening *opening, size_t first, const struct CUgraphNode_st *from,
	const struct CUgraphNode_st *to, const struct cuda_edge *kind)
{
	struct sealed_edge edge = { .from = index_of(opening, first, from),
		.to = index_of(opening, first, to) };
	if (edge.from >= opening->node_count || edge.to >= opening->node_count)
		return isolated_fail(ISOLATED_FAILED, "The CUDA driver lists an edge without its nodes.");
	int rc = read_order(kind, &edge.order);
	opening->nodes[edge.from].has_after = opening->nodes[edge.to].has_before = true;
	opening->edges[opening->edge_count++] = edge;
	return rc;
}

/* Lists the edges of a graph, whose nodes are already listed from number `first` on. The driver
 * refuses arrays for a graph without edges. */
static int list_edges(struct opening *opening, struct CUgraph_st *graph, size_t first)
{
	size_t count;
	int rc = SEALED_DO(graph_edges, graph, NULL, NULL, NULL, &count);
	if (!rc)
		rc = check_size(opening->node_count, opening->edge_count + count);
	if (rc || !count)
		return rc;
	struct CUgraphNode_st **from = calloc(count, sizeof *from), **to = calloc(count, sizeof *to);
	struct cuda_edge *kinds = calloc(count, sizeof *kinds);
	rc = from && to && kinds
		? grow(&opening->edges, sizeof *opening->edges, opening->edge_count, count)
		: isolated_no_memory();
	if (!rc)
		rc = SEALED_DO(graph_edges, graph, from, to, kinds, &count);
	for (size_t i = 0; i < count && !rc; i++)
		rc = add_edge(opening, first, from[i], to[i], &kinds[i]);
	free(from);
	free(to);
	free(kinds);
	return rc;
}

/* ---- graphs within the graph ---- */

static int open_graph(
	struct opening *opening, struct CUgraph_st *graph, uint32_t parent, int depth);

static int open_node(struct opening *opening, uint32_t number, int depth)
{
	unsigned int kind;
	struct CUgraph_st *inner;
	int rc = SEALED_DO(node_kind, opening->nodes[number].handle, &kind);
	if (rc || kind != CUDA_NODE_GRAPH)
		return rc;
	const size_t before = opening->node_count;
	rc = SEALED_DO(node_graph, opening->nodes[number].handle, &inner);
	if (!rc)
		rc = open_graph(opening, inner, number, depth + 1);
	opening->nodes[number].is_opened = opening->node_count > before;
	return rc;
}

/* Lists a graph, and the graphs within it. */
static int open_graph(struct opening *opening, struct CUgraph_st *graph, uint32_t parent, int depth)
{
	const size_t first = opening->node_count;
	if (depth > most_depth)
		return REFUSE("The call launches CUDA graphs in each other, over %d deep.", most_depth);
	int rc = list_nodes(opening, graph, parent);
	if (!rc)
		rc = list_edges(opening, graph, first);
	const size_t end = opening->node_count;
	for (size_t i = first; i < end && !rc; i++)
		rc = open_node(opening, (uint32_t)i, depth);
	return rc;
}

/* ---- the listing ---- */

/* Whether a node begins (or ends) what `whole` stands for: it is `whole`, or nothing comes before
 * (after) it in the opened graph. */
static bool is_end_of(const struct opening *opening, uint32_t node, uint32_t whole, bool begins)
{
	while (node != whole) {
		const struct node *at = &opening->nodes[node];
		if (at->parent == no_parent || (begins ? at->has_before : at->has_after))
			return false;
		node = at->parent;
	}
	return true;
}

static int put_edge(struct sealed_listing *listing, struct sealed_edge edge)
{
	int rc = check_size(listing->node_count, listing->edge_count + 1);
	if (!rc)
		rc = grow(&listing->edges, sizeof edge, listing->edge_count, 1);
	if (!rc)
		listing->edges[listing->edge_count++] = edge;
	return rc;
}

/* Puts an edge from each node that ends its source to each that begins its target. */
static int put_edges(
	const struct opening *opening, const struct sealed_edge *edge, struct sealed_listing *listing)
{
	int rc = 0;
	const bool is_plain =
		!opening->nodes[edge->from].is_opened && !opening->nodes[edge->to].is_opened;
	if (is_plain)
		return put_edge(listing,
			(struct sealed_edge){
				opening->nodes[edge->from].number, opening->nodes[edge->to].number, edge->order });
	if (edge->order)
		return REFUSE("The call orders its kernels in an unknown way.");
	for (uint32_t from = 0; from < opening->node_count && !rc; from++)
		for (uint32_t to = 0; to < opening->node_count && !rc && !opening->nodes[from].is_opened
			 && is_end_of(opening, from, edge->from, false);
			 to++)
			if (!opening->nodes[to].is_opened && is_end_of(opening, to, edge->to, true))
				rc = put_edge(listing,
					(struct sealed_edge){
						opening->nodes[from].number, opening->nodes[to].number, NULL });
	return rc;
}

static int by_nodes(const void *one, const void *other)
{
	const struct sealed_edge *a = one, *b = other;
	return a->from != b->from ? (a->from > b->from) - (a->from < b->from)
							  : (a->to > b->to) - (a->to < b->to);
}

static int put_all(struct opening *opening, struct sealed_listing *listing)
{
	listing->nodes = calloc(opening->node_count + 1, sizeof *listing->nodes);
	int rc = listing->nodes ? 0 : isolated_no_memory();
	for (size_t i = 0; i < opening->node_count && !rc; i++)
		if (!opening->nodes[i].is_opened) {
			opening->nodes[i].number = (uint32_t)listing->node_count;
			listing->nodes[listing->node_count++] = opening->nodes[i].handle;
		}
	for (size_t i = 0; i < opening->edge_count && !rc; i++)
		rc = put_edges(opening, &opening->edges[i], listing);
	if (!rc && listing->edge_count)
		qsort(listing->edges, listing->edge_count, sizeof *listing->edges, by_nodes);
	return rc;
}

int sealed_listing_make(struct sealed_listing *listing, struct CUgraph_st *graph)
{
	struct opening opening = { 0 };
	*listing = (struct sealed_listing){ 0 };
	int rc = open_graph(&opening, graph, no_parent, 0);
	if (!rc)
		rc = put_all(&opening, listing);
	free(opening.nodes);
	free(opening.edges);
	return rc;
}

void sealed_listing_free(struct sealed_listing *listing)
{
	free(listing->nodes);
	free(listing->edges);
}
