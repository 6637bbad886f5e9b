/* When each node of a graph runs, by NVIDIA's CUPTI. From the first trace on, CUPTI slows each
 * launch of this process, so trace after everything that is timed. Functions return 0, or
 * ISOLATED_FAILED with a sentence from isolated_why(). Not thread-safe. */
#ifndef PODIUM_SEALED_TRACE_H
#define PODIUM_SEALED_TRACE_H

#include <stdint.h>

enum { sealed_traced_calls = 6 };

/* From the beginning of the graph's first node, in a typical one of the calls. */
struct sealed_times {
	uint64_t begin_ns, end_ns; /* SEALED_UNKNOWN_NS: not known; a node without work has no times */
};
#define SEALED_UNKNOWN_NS UINT64_MAX

struct CUgraphNode_st;

/* Begins a trace of a graph with these nodes, and drops an earlier one. Then instantiate the graph:
 * CUPTI tells which of these nodes the instance's nodes are clones of. Then launch the instance
 * sealed_traced_calls times. `folders`: as for sealed_cupti_open (cupti.h). */
int sealed_trace_begin(const char *folders, struct CUgraphNode_st *const *nodes, uint32_t count);

/* Ends the trace, once the GPU is idle. Gives the times of `count` nodes in one typical launch,
 * from the beginning of the first node. Fails if the trace has another number of nodes, or if CUPTI
 * recorded none of them in every launch. */
int sealed_trace_end(struct sealed_times *times, uint32_t count);

#endif
