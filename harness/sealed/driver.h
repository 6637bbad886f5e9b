/* Declarations of the calls of the CUDA driver that only plans need. They are bound separately from
 * those of harness/isolated/driver.h, because drivers older than CUDA 12.4 lack some.
 * tests/gpu/sealed_declarations.h compares the declarations with cuda.h.
 *
 * Source: CUDA Driver API, "Library Management", "Execution Control", "Graph Management", "Unified
 * Addressing". */
#ifndef PODIUM_SEALED_DRIVER_H
#define PODIUM_SEALED_DRIVER_H

#include "harness/isolated/driver.h"

enum {
	CUDA_CALL_NOT_FOUND = 500,         /* CUDA_ERROR_NOT_FOUND */
	CUDA_CALL_INVALID_VALUE = 1,       /* CUDA_ERROR_INVALID_VALUE */
	CUDA_FUNCTION_SHARED = 1,          /* CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES */
	CUDA_FUNCTION_LOCAL = 3,           /* CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES */
	CUDA_FUNCTION_REGISTERS = 4,       /* CU_FUNC_ATTRIBUTE_NUM_REGS */
	CUDA_FUNCTION_MOST_SHARED = 8,     /* CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES */
	CUDA_FUNCTION_CARVEOUT = 9,        /* CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT */
	CUDA_FUNCTION_LARGE_CLUSTERS = 14, /* CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED */
	CUDA_LAUNCH_COOPERATIVE = 2,       /* CU_LAUNCH_ATTRIBUTE_COOPERATIVE */
	CUDA_LAUNCH_CLUSTER = 4,           /* CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION */
	CUDA_MEMORY_TYPE_HOST = 1,         /* CU_MEMORYTYPE_HOST, _DEVICE, _ARRAY, _UNIFIED */
	CUDA_MEMORY_TYPE_DEVICE = 2,
	CUDA_MEMORY_TYPE_ARRAY = 3,
	CUDA_MEMORY_TYPE_UNIFIED = 4,
	CUDA_POINTER_MEMORY_TYPE = 2, /* CU_POINTER_ATTRIBUTE_MEMORY_TYPE */
	CUDA_POINTER_IS_MANAGED = 8,  /* CU_POINTER_ATTRIBUTE_IS_MANAGED */
	CUDA_PARAMETERS_BUFFER = 1,   /* CU_LAUNCH_PARAM_BUFFER_POINTER_AS_INT */
	CUDA_PARAMETERS_BYTES = 2,    /* CU_LAUNCH_PARAM_BUFFER_SIZE_AS_INT */
	/* CU_GRAPH_NODE_TYPE_KERNEL, _MEMCPY, _MEMSET, _HOST, _GRAPH, _EMPTY, _WAIT_EVENT,
	 * _EVENT_RECORD, _EXT_SEMAS_SIGNAL, _EXT_SEMAS_WAIT, _MEM_ALLOC, _MEM_FREE, _BATCH_MEM_OP,
	 * _CONDITIONAL. */
	CUDA_NODE_KERNEL = 0,
	CUDA_NODE_COPY,
	CUDA_NODE_MEMSET,
	CUDA_NODE_HOST,
	CUDA_NODE_GRAPH,
	CUDA_NODE_EMPTY,
	CUDA_NODE_EVENT_WAIT,
	CUDA_NODE_EVENT_RECORD,
	CUDA_NODE_SEMAPHORE_SIGNAL,
	CUDA_NODE_SEMAPHORE_WAIT,
	CUDA_NODE_ALLOCATE,
	CUDA_NODE_FREE,
	CUDA_NODE_MEMORY_WORDS,
	CUDA_NODE_CONDITIONAL,
	CUDA_EDGE_PROGRAMMATIC = 1, /* CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC */
	CUDA_PORT_TRIGGER = 1,      /* CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC */
	CUDA_PORT_START = 2,        /* CU_GRAPH_KERNEL_NODE_PORT_LAUNCH_ORDER */
};

struct CUlib_st; /* opaque; cuda.h uses the same tags */
struct CUkern_st;
struct CUgraph_st;
struct CUgraphNode_st;
struct CUgraphExec_st;

struct cuda_kernel_node { /* CUDA_KERNEL_NODE_PARAMS_v2 */
	struct CUfunc_st *function;
	unsigned int grid[3], block[3], shared_bytes;
	void **parameters, **extra;
	struct CUkern_st *kernel;
	struct CUctx_st *context;
};

struct cuda_memset_node { /* CUDA_MEMSET_NODE_PARAMS */
	unsigned long long address;
	size_t pitch;
	unsigned int value, element_bytes;
	size_t width, height;
};

struct cuda_copy_side { /* a half of CUDA_MEMCPY3D */
	size_t x, y, z, level;
	unsigned int kind;
	void *host;
	unsigned long long device;
	void *array, *unused;
	size_t pitch, height;
};

struct cuda_copy_node { /* CUDA_MEMCPY3D */
	struct cuda_copy_side from, to;
	size_t width, height, depth;
};

struct cuda_edge { /* CUgraphEdgeData */
	unsigned char from_port, to_port, kind, unused[5];
};

union cuda_launch_value { /* CUlaunchAttributeValue */
	char all[64];
	int is_cooperative;
	unsigned int cluster[3];
};

/* As CUDA_CALLS in harness/isolated/driver.h. */
#define CUDA_GRAPH_CALLS(X) \
	X(cuLibraryLoadData, library_load, \
		(struct CUlib_st * *library, const void *image, unsigned int *jit_options, \
			void **jit_values, unsigned int jit_count, unsigned int *options, void **values, \
			unsigned int count)) \
	X(cuLibraryUnload, library_unload, (struct CUlib_st * library)) \
	X(cuLibraryGetKernel, library_kernel, \
		(struct CUkern_st * *kernel, struct CUlib_st * library, const char *name)) \
	X(cuLibraryGetGlobal, library_variable, \
		(unsigned long long *address, size_t *bytes, struct CUlib_st *library, const char *name)) \
	X(cuLibraryGetModule, library_module, (struct CUmod_st * *module, struct CUlib_st * library)) \
	X(cuKernelGetFunction, kernel_function, \
		(struct CUfunc_st * *function, struct CUkern_st * kernel)) \
	X(cuFuncSetAttribute, function_set, \
		(struct CUfunc_st * function, unsigned int attribute, int value)) \
	X(cuFuncGetParamInfo, function_parameter, \
		(struct CUfunc_st * function, size_t number, size_t * offset, size_t * bytes)) \
	X(cuMemcpyHtoDAsync_v2, copy_to_device, \
		(unsigned long long device, const void *host, size_t bytes, struct CUstream_st *stream)) \
	X(cuGraphCreate, graph_make, (struct CUgraph_st * *graph, unsigned int flags)) \
	X(cuGraphDestroy, graph_free, (struct CUgraph_st * graph)) \
	X(cuGraphAddKernelNode_v2, graph_add_kernel, \
		(struct CUgraphNode_st * *node, struct CUgraph_st * graph, \
			struct CUgraphNode_st *const *after, size_t count, \
			const struct cuda_kernel_node *kernel)) \
	X(cuGraphKernelNodeSetAttribute, kernel_node_set, \
		(struct CUgraphNode_st * node, unsigned int attribute, \
			const union cuda_launch_value *value)) \
	X(cuGraphAddMemsetNode, graph_add_memset, \
		(struct CUgraphNode_st * *node, struct CUgraph_st * graph, \
			struct CUgraphNode_st *const *after, size_t count, const struct cuda_memset_node *set, \
			struct CUctx_st *context)) \
	X(cuGraphAddMemcpyNode, graph_add_copy, \
		(struct CUgraphNode_st * *node, struct CUgraph_st * graph, \
			struct CUgraphNode_st *const *after, size_t count, const struct cuda_copy_node *copy, \
			struct CUctx_st *context)) \
	X(cuGraphAddEmptyNode, graph_add_empty, \
		(struct CUgraphNode_st * *node, struct CUgraph_st * graph, \
			struct CUgraphNode_st *const *after, size_t count)) \
	X(cuGraphAddDependencies_v2, graph_add_edges, \
		(struct CUgraph_st * graph, struct CUgraphNode_st *const *from, \
			struct CUgraphNode_st *const *to, const struct cuda_edge *edges, size_t count)) \
	X(cuGraphInstantiateWithFlags, graph_instantiate, \
		(struct CUgraphExec_st * *ready, struct CUgraph_st * graph, unsigned long long flags)) \
	X(cuGraphExecDestroy, exec_free, (struct CUgraphExec_st * ready)) \
	X(cuGraphUpload, exec_upload, (struct CUgraphExec_st * ready, struct CUstream_st * stream)) \
	X(cuGraphLaunch, exec_launch, (struct CUgraphExec_st * ready, struct CUstream_st * stream)) \
	X(cuCtxGetCurrent, context_current, (struct CUctx_st * *context)) \
	X(cuModuleGetGlobal_v2, module_variable, \
		(unsigned long long *address, size_t *bytes, struct CUmod_st *module, const char *name)) \
	X(cuPointerGetAttribute, pointer_attribute, \
		(void *value, unsigned int attribute, unsigned long long address)) \
	X(cuFuncGetName, function_name, (const char **name, struct CUfunc_st *function)) \
	X(cuFuncGetModule, function_module, (struct CUmod_st * *module, struct CUfunc_st * function)) \
	X(cuFuncGetAttribute, function_attribute, \
		(int *value, unsigned int attribute, struct CUfunc_st *function)) \
	X(cuOccupancyMaxActiveBlocksPerMultiprocessor, function_blocks_per_sm, \
		(int *blocks, struct CUfunc_st *function, int block_threads, size_t shared_bytes)) \
	X(cuGraphGetNodes, graph_nodes, \
		(struct CUgraph_st * graph, struct CUgraphNode_st * *nodes, size_t * count)) \
	X(cuGraphGetEdges_v2, graph_edges, \
		(struct CUgraph_st * graph, struct CUgraphNode_st * *from, struct CUgraphNode_st * *to, \
			struct cuda_edge * edges, size_t * count)) \
	X(cuGraphChildGraphNodeGetGraph, node_graph, \
		(struct CUgraphNode_st * node, struct CUgraph_st * *graph)) \
	X(cuGraphNodeGetType, node_kind, (struct CUgraphNode_st * node, unsigned int *kind)) \
	X(cuGraphKernelNodeGetParams_v2, node_kernel, \
		(struct CUgraphNode_st * node, struct cuda_kernel_node * kernel)) \
	X(cuGraphKernelNodeGetAttribute, node_attribute, \
		(struct CUgraphNode_st * node, unsigned int attribute, union cuda_launch_value *value)) \
	X(cuGraphMemsetNodeGetParams, node_memset, \
		(struct CUgraphNode_st * node, struct cuda_memset_node * set)) \
	X(cuGraphMemcpyNodeGetParams, node_copy, \
		(struct CUgraphNode_st * node, struct cuda_copy_node * copy))

struct cuda_graph_driver {
#define CUDA_MEMBER(name, member, parameters) unsigned int(*member) parameters;
	CUDA_GRAPH_CALLS(CUDA_MEMBER)
#undef CUDA_MEMBER
};

extern struct cuda_graph_driver sealed_cuda;
/* Binds the calls and opens the GPU. Every user calls it first; repeated calls do no harm. Returns
 * 0, or ISOLATED_FAILED; isolated_why() then names the call that the driver lacks. */
int sealed_cuda_open(void);

/* Calls a member. Returns 0, or ISOLATED_FAILED with a message. */
#define SEALED_DO(member, ...) \
	sealed_cuda_check(sealed_cuda.member(__VA_ARGS__), offsetof(struct cuda_graph_driver, member))
int sealed_cuda_check(unsigned int status, size_t member);

#endif
