/* The nodes and edges of a captured graph, for a plan. A plan has no graphs within its graph, so a
 * node that is a graph is opened into its nodes. */
#ifndef PODIUM_SEALED_LISTING_H
#define PODIUM_SEALED_LISTING_H

#include <stddef.h>
#include <stdint.h>

struct CUgraph_st;
struct CUgraphNode_st;

struct sealed_edge {
	uint32_t from, to; /* numbers of nodes */
	const char *order; /* "trigger" or "start", as in a plan; NULL: `to` waits for the end */
};

struct sealed_listing {
	struct CUgraphNode_st **nodes;
	struct sealed_edge *edges; /* by `from`, then by `to` */
	size_t node_count, edge_count;
};

/* Lists a graph. Returns 0, or one of enum isolated_error with a sentence from isolated_why();
 * ISOLATED_VIOLATION: no plan can hold the graph. The caller frees the listing in any case. */
int sealed_listing_make(struct sealed_listing *listing, struct CUgraph_st *graph);
void sealed_listing_free(struct sealed_listing *listing);

#endif
