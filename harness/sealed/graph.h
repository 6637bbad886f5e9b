/* A plan as a CUDA graph, which the launcher plays in its own process. Everything in a plan comes
 * from a submission: each call of the driver may fail, and kernels may do anything on the GPU. */
#ifndef PODIUM_SEALED_GRAPH_H
#define PODIUM_SEALED_GRAPH_H

#include "plan.h"
#include "trace.h"

struct sealed_graph;

/* What a kernel of a plan takes on this GPU, as the driver says. */
struct sealed_kernel_figures {
	uint32_t registers, local_bytes; /* of a thread */
	uint32_t shared_bytes;           /* static, of a block */
	uint32_t blocks_per_sm;          /* how many blocks fit on an SM together */
};

/* The bytes of a plan's blobs. The caller has compared them with the plan's hashes and sizes. */
struct sealed_blobs {
	const void *const *images;   /* as many as the plan has */
	const void *const *contents; /* of the plan's variables */
};

/* Makes the graph in the GPU's primary context. Returns 0, or one of enum isolated_error with a
 * sentence from isolated_why(); *graph is then NULL. ISOLATED_VIOLATION: the plan does not fit its
 * images. The bytes of the blobs must live as long as the graph; `plan` and the arrays need not.
 * Free the graph with sealed_graph_free, which takes NULL. */
int sealed_graph_make(
	struct sealed_graph **graph, const struct plan *plan, const struct sealed_blobs *blobs);
void sealed_graph_free(struct sealed_graph *graph);

/* The figures of the plan's kernels, in the order of their nodes. The graph owns them. */
const struct sealed_kernel_figures *sealed_graph_figures(
	const struct sealed_graph *graph, uint32_t *count);

/* Makes a graph of one empty kernel, for the null contestant. Call isolated_gate_map first, which
 * loads the kernel. */
int sealed_graph_make_empty(struct sealed_graph **graph);

/* Gives all variables the contents of the plan, and waits until they have them. */
int sealed_graph_restore(const struct sealed_graph *graph);

/* Enqueues one launch of the graph on the legacy default stream and returns. What was enqueued
 * there before, such as the gate, runs first. */
int sealed_graph_launch(const struct sealed_graph *graph);

/* sealed_graph_trace begins a trace of the graph (trace.h). After sealed_traced_calls launches,
 * once the GPU is idle, sealed_graph_times ends the trace and gives the times of all
 * sealed_graph_nodes() nodes. After an error, the graph can still be launched. */
int sealed_graph_trace(struct sealed_graph *graph, const char *folders);
int sealed_graph_times(const struct sealed_graph *graph, struct sealed_times *times);
uint32_t sealed_graph_nodes(const struct sealed_graph *graph);

#endif
