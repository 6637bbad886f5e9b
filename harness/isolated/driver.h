/* Declarations of the calls that the engine makes to the CUDA driver and to NVML. Both libraries
 * are bound at run time, because the engine is built without the CUDA toolkit.
 * tests/unit/test_driver.c compares these declarations with cuda.h, tests/gpu/declarations.h with
 * nvml.h.
 *
 * Sources: CUDA Driver API, "Virtual Memory Management", "Stream Memory Operations", "Memory
 * Management", "Module Management", "Execution Control"; NVML API, "Device Queries". */
#ifndef PODIUM_ISOLATED_DRIVER_H
#define PODIUM_ISOLATED_DRIVER_H

#include <stddef.h>
#include <stdint.h>

enum {
	CUDA_CALL_SUCCEEDED = 0,
	CUDA_CALL_NOT_READY = 600,  /* CUDA_ERROR_NOT_READY: the work has not finished */
	CUDA_MEMORY_PINNED = 1,     /* CU_MEM_ALLOCATION_TYPE_PINNED */
	CUDA_HANDLE_DESCRIPTOR = 1, /* CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR */
	CUDA_PLACE_DEVICE = 1,      /* CU_MEM_LOCATION_TYPE_DEVICE */
	CUDA_ACCESS_READ_WRITE = 3, /* CU_MEM_ACCESS_FLAGS_PROT_READWRITE */
	CUDA_LEAST_GRANULARITY = 0, /* CU_MEM_ALLOC_GRANULARITY_MINIMUM */
	CUDA_STREAM_ON_ITS_OWN = 1, /* CU_STREAM_NON_BLOCKING */
	/* CU_MEMHOSTALLOC_PORTABLE and CU_MEMHOSTREGISTER_PORTABLE, and the same with _DEVICEMAP. */
	CUDA_HOST_FOR_ALL_CONTEXTS = 1,
	CUDA_HOST_FOR_DEVICE = 2,
	/* CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT and _MAX_THREADS_PER_MULTIPROCESSOR. */
	CUDA_DEVICE_SMS = 16,
	CUDA_DEVICE_SM_THREADS = 39,
	CUDA_WRITE_AFTER_ALL = 0, /* CU_STREAM_WRITE_VALUE_DEFAULT: earlier writes are visible first */
};

struct CUctx_st; /* opaque; cuda.h uses the same tags */
struct CUstream_st;
struct CUmod_st;
struct CUfunc_st;

struct cuda_place { /* CUmemLocation */
	unsigned int kind;
	int device;
};
struct cuda_access { /* CUmemAccessDesc */
	struct cuda_place place;
	unsigned int access;
};
struct cuda_memory_kind { /* CUmemAllocationProp */
	unsigned int kind, handle;
	struct cuda_place place;
	void *unused;
	uint8_t flags[8];
};

/* X(name in the library, our member, parameters). All return a status. Enums of the library are
 * unsigned int here, addresses and handles unsigned long long. */
#define CUDA_CALLS(X) \
	X(cuInit, start, (unsigned int flags)) \
	X(cuGetErrorName, error_name, (unsigned int status, const char **name)) \
	X(cuDeviceGet, device_get, (int *device, int number)) \
	X(cuDeviceGetAttribute, device_attribute, (int *value, unsigned int attribute, int device)) \
	X(cuDevicePrimaryCtxRetain, primary_context, (struct CUctx_st * *context, int device)) \
	X(cuCtxSetCurrent, context_use, (struct CUctx_st * context)) \
	X(cuCtxSynchronize, context_wait, (void)) \
	X(cuMemGetAllocationGranularity, granularity, \
		(size_t * bytes, const struct cuda_memory_kind *kind, unsigned int which)) \
	X(cuMemCreate, memory_create, \
		(unsigned long long *handle, size_t bytes, const struct cuda_memory_kind *kind, \
			unsigned long long flags)) \
	X(cuMemRelease, memory_release, (unsigned long long handle)) \
	X(cuMemExportToShareableHandle, memory_export, \
		(void *descriptor, unsigned long long handle, unsigned int kind, \
			unsigned long long flags)) \
	X(cuMemImportFromShareableHandle, memory_import, \
		(unsigned long long *handle, void *descriptor, unsigned int kind)) \
	X(cuMemAddressReserve, address_reserve, \
		(unsigned long long *address, size_t bytes, size_t alignment, unsigned long long wish, \
			unsigned long long flags)) \
	X(cuMemAddressFree, address_free, (unsigned long long address, size_t bytes)) \
	X(cuMemMap, memory_map, \
		(unsigned long long address, size_t bytes, size_t offset, unsigned long long handle, \
			unsigned long long flags)) \
	X(cuMemUnmap, memory_unmap, (unsigned long long address, size_t bytes)) \
	X(cuMemSetAccess, memory_access, \
		(unsigned long long address, size_t bytes, const struct cuda_access *access, \
			size_t count)) \
	X(cuMemHostAlloc, host_make, (void **address, size_t bytes, unsigned int flags)) \
	X(cuMemHostRegister_v2, host_register, (void *address, size_t bytes, unsigned int flags)) \
	X(cuMemHostGetDevicePointer_v2, host_on_device, \
		(unsigned long long *address, void *host, unsigned int flags)) \
	X(cuStreamCreate, stream_make, (struct CUstream_st * *stream, unsigned int flags)) \
	X(cuStreamQuery, stream_query, (struct CUstream_st * stream)) \
	X(cuStreamWriteValue32_v2, stream_write, \
		(struct CUstream_st * stream, unsigned long long address, uint32_t value, \
			unsigned int flags)) \
	X(cuMemcpyDtoHAsync_v2, copy_to_host, \
		(void *host, unsigned long long device, size_t bytes, struct CUstream_st *stream)) \
	X(cuModuleLoadData, module_load, (struct CUmod_st * *module, const void *image)) \
	X(cuModuleGetFunction, module_function, \
		(struct CUfunc_st * *function, struct CUmod_st * module, const char *name)) \
	X(cuLaunchKernel, launch, \
		(struct CUfunc_st * function, unsigned int grid_x, unsigned int grid_y, \
			unsigned int grid_z, unsigned int block_x, unsigned int block_y, unsigned int block_z, \
			unsigned int shared_bytes, struct CUstream_st *stream, void **parameters, \
			void **extra))

struct cuda_driver {
	void *library;
#define CUDA_MEMBER(name, member, parameters) unsigned int(*member) parameters;
	CUDA_CALLS(CUDA_MEMBER)
#undef CUDA_MEMBER
};

/* A call of a library, and the member of a struct that gets its address. */
struct isolated_binding {
	const char *name;
	size_t member;
};

/* Binds all calls. `library`: from dlopen(). `members`: the struct. `noun`: the library's name in
 * the sentence about a call that it lacks, such as "The CUDA driver". Returns 0 or ISOLATED_FAILED.
 */
int isolated_bind(void *library, const char *noun, const struct isolated_binding *calls,
	size_t count, void *members);
/* The name of the call that a member is bound to. */
const char *isolated_binding_name(const struct isolated_binding *calls, size_t member);

/* Bound by isolated_cuda_open, which every user calls first. */
extern struct cuda_driver isolated_cuda;

/* Calls a member. Returns 0, or ISOLATED_FAILED with a message. */
#define CUDA_DO(member, ...) \
	isolated_cuda_check(isolated_cuda.member(__VA_ARGS__), offsetof(struct cuda_driver, member))
int isolated_cuda_check(unsigned int status, size_t member);
/* The same for a call that has this name in the library. */
int isolated_cuda_check_named(unsigned int status, const char *name);

/* ---- NVML ---- */

struct nvmlDevice_st; /* opaque; nvml.h uses the same tag */

enum {
	NVML_STATE_SUCCEEDED = 0,
	NVML_STATE_SM_CLOCK = 1,
	NVML_STATE_MEMORY_CLOCK = 2,
	NVML_STATE_GPU_SENSOR = 0
};

/* The first two are required. The others may be missing in a driver version or fail for a GPU. */
#define NVML_STATE_CALLS(X) \
	X(nvmlInit_v2, start, (void)) \
	X(nvmlDeviceGetHandleByUUID, device_by_uuid, \
		(const char *uuid, struct nvmlDevice_st **device)) \
	X(nvmlDeviceGetClockInfo, clock, \
		(struct nvmlDevice_st * device, unsigned int kind, unsigned int *mhz)) \
	X(nvmlDeviceGetTemperature, temperature, \
		(struct nvmlDevice_st * device, unsigned int sensor, unsigned int *celsius)) \
	X(nvmlDeviceGetPowerUsage, power, (struct nvmlDevice_st * device, unsigned int *milliwatts)) \
	X(nvmlDeviceGetCurrentClocksThrottleReasons, slowed, \
		(struct nvmlDevice_st * device, unsigned long long *reasons))

struct nvml_state {
	void *library;
#define NVML_MEMBER(name, member, parameters) unsigned int(*member) parameters;
	NVML_STATE_CALLS(NVML_MEMBER)
#undef NVML_MEMBER
};

#endif
