/* Compares harness/sealed/driver.h with NVIDIA's header, as isolated_declarations.h does. */
#ifndef PODIUM_TESTS_GPU_SEALED_DECLARATIONS_H
#define PODIUM_TESTS_GPU_SEALED_DECLARATIONS_H

#include "harness/sealed/driver.h"
#include "tests/gpu/isolated_declarations.h"

#ifdef CUDA_VERSION
SAME_VALUE(CUDA_CALL_INVALID_VALUE, CUDA_ERROR_INVALID_VALUE)
SAME_VALUE(CUDA_CALL_NOT_FOUND, CUDA_ERROR_NOT_FOUND)
SAME_VALUE(CUDA_FUNCTION_SHARED, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES)
SAME_VALUE(CUDA_FUNCTION_LOCAL, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES)
SAME_VALUE(CUDA_FUNCTION_REGISTERS, CU_FUNC_ATTRIBUTE_NUM_REGS)
SAME_VALUE(CUDA_FUNCTION_MOST_SHARED, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES)
SAME_VALUE(CUDA_FUNCTION_CARVEOUT, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT)
SAME_VALUE(CUDA_FUNCTION_LARGE_CLUSTERS, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED)
SAME_VALUE(CUDA_LAUNCH_COOPERATIVE, CU_LAUNCH_ATTRIBUTE_COOPERATIVE)
SAME_VALUE(CUDA_LAUNCH_CLUSTER, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)
SAME_VALUE(CUDA_MEMORY_TYPE_HOST, CU_MEMORYTYPE_HOST)
SAME_VALUE(CUDA_MEMORY_TYPE_DEVICE, CU_MEMORYTYPE_DEVICE)
SAME_VALUE(CUDA_MEMORY_TYPE_ARRAY, CU_MEMORYTYPE_ARRAY)
SAME_VALUE(CUDA_MEMORY_TYPE_UNIFIED, CU_MEMORYTYPE_UNIFIED)
SAME_VALUE(CUDA_POINTER_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_MEMORY_TYPE)
SAME_VALUE(CUDA_POINTER_IS_MANAGED, CU_POINTER_ATTRIBUTE_IS_MANAGED)
SAME_VALUE(CUDA_PARAMETERS_BUFFER, CU_LAUNCH_PARAM_BUFFER_POINTER_AS_INT)
SAME_VALUE(CUDA_PARAMETERS_BYTES, CU_LAUNCH_PARAM_BUFFER_SIZE_AS_INT)
SAME_VALUE(CUDA_NODE_KERNEL, CU_GRAPH_NODE_TYPE_KERNEL)
SAME_VALUE(CUDA_NODE_COPY, CU_GRAPH_NODE_TYPE_MEMCPY)
SAME_VALUE(CUDA_NODE_MEMSET, CU_GRAPH_NODE_TYPE_MEMSET)
SAME_VALUE(CUDA_NODE_HOST, CU_GRAPH_NODE_TYPE_HOST)
SAME_VALUE(CUDA_NODE_EMPTY, CU_GRAPH_NODE_TYPE_EMPTY)
SAME_VALUE(CUDA_NODE_ALLOCATE, CU_GRAPH_NODE_TYPE_MEM_ALLOC)
SAME_VALUE(CUDA_NODE_CONDITIONAL, CU_GRAPH_NODE_TYPE_CONDITIONAL)
SAME_VALUE(CUDA_EDGE_PROGRAMMATIC, CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC)
SAME_VALUE(CUDA_PORT_TRIGGER, CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC)
SAME_VALUE(CUDA_PORT_START, CU_GRAPH_KERNEL_NODE_PORT_LAUNCH_ORDER)

SAME_VALUE(sizeof(struct cuda_kernel_node), sizeof(CUDA_KERNEL_NODE_PARAMS_v2))
SAME_PLACE(struct cuda_kernel_node, function, CUDA_KERNEL_NODE_PARAMS_v2, func)
SAME_PLACE(struct cuda_kernel_node, grid[2], CUDA_KERNEL_NODE_PARAMS_v2, gridDimZ)
SAME_PLACE(struct cuda_kernel_node, block[0], CUDA_KERNEL_NODE_PARAMS_v2, blockDimX)
SAME_PLACE(struct cuda_kernel_node, shared_bytes, CUDA_KERNEL_NODE_PARAMS_v2, sharedMemBytes)
SAME_PLACE(struct cuda_kernel_node, parameters, CUDA_KERNEL_NODE_PARAMS_v2, kernelParams)
SAME_PLACE(struct cuda_kernel_node, extra, CUDA_KERNEL_NODE_PARAMS_v2, extra)
SAME_PLACE(struct cuda_kernel_node, kernel, CUDA_KERNEL_NODE_PARAMS_v2, kern)
SAME_PLACE(struct cuda_kernel_node, context, CUDA_KERNEL_NODE_PARAMS_v2, ctx)

SAME_VALUE(sizeof(struct cuda_memset_node), sizeof(CUDA_MEMSET_NODE_PARAMS))
SAME_PLACE(struct cuda_memset_node, address, CUDA_MEMSET_NODE_PARAMS, dst)
SAME_PLACE(struct cuda_memset_node, pitch, CUDA_MEMSET_NODE_PARAMS, pitch)
SAME_PLACE(struct cuda_memset_node, value, CUDA_MEMSET_NODE_PARAMS, value)
SAME_PLACE(struct cuda_memset_node, element_bytes, CUDA_MEMSET_NODE_PARAMS, elementSize)
SAME_PLACE(struct cuda_memset_node, width, CUDA_MEMSET_NODE_PARAMS, width)
SAME_PLACE(struct cuda_memset_node, height, CUDA_MEMSET_NODE_PARAMS, height)

SAME_VALUE(sizeof(struct cuda_copy_node), sizeof(CUDA_MEMCPY3D))
SAME_PLACE(struct cuda_copy_node, from.kind, CUDA_MEMCPY3D, srcMemoryType)
SAME_PLACE(struct cuda_copy_node, from.device, CUDA_MEMCPY3D, srcDevice)
SAME_PLACE(struct cuda_copy_node, from.pitch, CUDA_MEMCPY3D, srcPitch)
SAME_PLACE(struct cuda_copy_node, from.height, CUDA_MEMCPY3D, srcHeight)
SAME_PLACE(struct cuda_copy_node, to.x, CUDA_MEMCPY3D, dstXInBytes)
SAME_PLACE(struct cuda_copy_node, to.device, CUDA_MEMCPY3D, dstDevice)
SAME_PLACE(struct cuda_copy_node, to.height, CUDA_MEMCPY3D, dstHeight)
SAME_PLACE(struct cuda_copy_node, width, CUDA_MEMCPY3D, WidthInBytes)
SAME_PLACE(struct cuda_copy_node, height, CUDA_MEMCPY3D, Height)
SAME_PLACE(struct cuda_copy_node, depth, CUDA_MEMCPY3D, Depth)

SAME_VALUE(sizeof(struct cuda_edge), sizeof(CUgraphEdgeData))
SAME_PLACE(struct cuda_edge, from_port, CUgraphEdgeData, from_port)
SAME_PLACE(struct cuda_edge, to_port, CUgraphEdgeData, to_port)
SAME_PLACE(struct cuda_edge, kind, CUgraphEdgeData, type)

SAME_VALUE(sizeof(union cuda_launch_value), sizeof(CUlaunchAttributeValue))
SAME_PLACE(union cuda_launch_value, is_cooperative, CUlaunchAttributeValue, cooperative)
SAME_PLACE(union cuda_launch_value, cluster[1], CUlaunchAttributeValue, clusterDim.y)

/* As in isolated_declarations.h, the structs have just been compared. */
#define cuda_kernel_node CUDA_KERNEL_NODE_PARAMS_v2_st
#define cuda_memset_node CUDA_MEMSET_NODE_PARAMS_st
#define cuda_copy_node CUDA_MEMCPY3D_st
#define cuda_edge CUgraphEdgeData_st
#define cuda_launch_value CUlaunchAttributeValue_union
CUDA_GRAPH_CALLS(SAME_TYPE)
#undef cuda_kernel_node
#undef cuda_memset_node
#undef cuda_copy_node
#undef cuda_edge
#undef cuda_launch_value
#endif

#endif
