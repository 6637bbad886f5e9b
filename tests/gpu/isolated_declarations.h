/* Compares the isolated engine's declarations of the CUDA driver and NVML with the toolkit's
 * headers: a difference does not compile. The whole test is `cc -fsyntax-only -Werror -I. -x c
 * tests/gpu/isolated_declarations.h`. */
#ifndef PODIUM_TESTS_GPU_ISOLATED_DECLARATIONS_H
#define PODIUM_TESTS_GPU_ISOLATED_DECLARATIONS_H

#include "harness/isolated/driver.h"

#if __has_include("/usr/local/cuda/include/cuda.h")
#include "/usr/local/cuda/include/cuda.h"
#elif __has_include(<cuda.h>)
#include <cuda.h>
#endif
#if __has_include("/usr/local/cuda/include/nvml.h")
#include "/usr/local/cuda/include/nvml.h"
#elif __has_include(<nvml.h>)
#include <nvml.h>
#endif

/* CUDA 13 deprecates some of NVML, but older drivers lack the recommended functions. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

#define SAME_VALUE(ours, theirs) _Static_assert((long long)(ours) == (long long)(theirs), #theirs);
#define SAME_TYPE(name, member, parameters) \
	_Static_assert( \
		__builtin_types_compatible_p(__typeof__(&name), unsigned int(*) parameters), #name);
#define SAME_PLACE(ours, our_member, theirs, their_member) \
	_Static_assert( \
		offsetof(ours, our_member) == offsetof(theirs, their_member), #theirs "." #their_member); \
	_Static_assert(sizeof(((ours *)0)->our_member) == sizeof(((theirs *)0)->their_member), \
		#theirs "." #their_member);

#ifdef CUDA_VERSION
SAME_VALUE(CUDA_CALL_SUCCEEDED, CUDA_SUCCESS)
SAME_VALUE(CUDA_CALL_NOT_READY, CUDA_ERROR_NOT_READY)
SAME_VALUE(CUDA_MEMORY_PINNED, CU_MEM_ALLOCATION_TYPE_PINNED)
SAME_VALUE(CUDA_HANDLE_DESCRIPTOR, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
SAME_VALUE(CUDA_PLACE_DEVICE, CU_MEM_LOCATION_TYPE_DEVICE)
SAME_VALUE(CUDA_ACCESS_READ_WRITE, CU_MEM_ACCESS_FLAGS_PROT_READWRITE)
SAME_VALUE(CUDA_LEAST_GRANULARITY, CU_MEM_ALLOC_GRANULARITY_MINIMUM)
SAME_VALUE(CUDA_STREAM_ON_ITS_OWN, CU_STREAM_NON_BLOCKING)
SAME_VALUE(CUDA_HOST_FOR_ALL_CONTEXTS, CU_MEMHOSTALLOC_PORTABLE)
SAME_VALUE(CUDA_HOST_FOR_DEVICE, CU_MEMHOSTALLOC_DEVICEMAP)
SAME_VALUE(CUDA_HOST_FOR_ALL_CONTEXTS, CU_MEMHOSTREGISTER_PORTABLE)
SAME_VALUE(CUDA_HOST_FOR_DEVICE, CU_MEMHOSTREGISTER_DEVICEMAP)
SAME_VALUE(CUDA_DEVICE_SMS, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)
SAME_VALUE(CUDA_DEVICE_SM_THREADS, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR)
SAME_VALUE(CUDA_WRITE_AFTER_ALL, CU_STREAM_WRITE_VALUE_DEFAULT)

SAME_VALUE(sizeof(struct cuda_place), sizeof(CUmemLocation))
SAME_PLACE(struct cuda_place, kind, CUmemLocation, type)
SAME_PLACE(struct cuda_place, device, CUmemLocation, id)
SAME_VALUE(sizeof(struct cuda_access), sizeof(CUmemAccessDesc))
SAME_PLACE(struct cuda_access, place, CUmemAccessDesc, location)
SAME_PLACE(struct cuda_access, access, CUmemAccessDesc, flags)
SAME_VALUE(sizeof(struct cuda_memory_kind), sizeof(CUmemAllocationProp))
SAME_PLACE(struct cuda_memory_kind, kind, CUmemAllocationProp, type)
SAME_PLACE(struct cuda_memory_kind, handle, CUmemAllocationProp, requestedHandleTypes)
SAME_PLACE(struct cuda_memory_kind, place, CUmemAllocationProp, location)
SAME_PLACE(struct cuda_memory_kind, unused, CUmemAllocationProp, win32HandleMetaData)
SAME_PLACE(struct cuda_memory_kind, flags, CUmemAllocationProp, allocFlags)

/* The engine's structs have just been compared with the library's. So the types of the calls below
 * use the library's structs in place of the engine's. */
#define cuda_memory_kind CUmemAllocationProp_st
#define cuda_access CUmemAccessDesc_st
CUDA_CALLS(SAME_TYPE)
#undef cuda_memory_kind
#undef cuda_access
#endif

#ifdef NVML_API_VERSION
SAME_VALUE(NVML_STATE_SUCCEEDED, NVML_SUCCESS)
SAME_VALUE(NVML_STATE_SM_CLOCK, NVML_CLOCK_SM)
SAME_VALUE(NVML_STATE_MEMORY_CLOCK, NVML_CLOCK_MEM)
SAME_VALUE(NVML_STATE_GPU_SENSOR, NVML_TEMPERATURE_GPU)
NVML_STATE_CALLS(SAME_TYPE)
#endif

#pragma GCC diagnostic pop
#endif
