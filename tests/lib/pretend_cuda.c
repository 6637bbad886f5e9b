/* A libcuda.so.1 for tests without a GPU: the driver's functions that the engines call,
 * working on host memory. Each stream has a thread that does the stream's work in order, so that
 * work is really asynchronous. The library counts objects, so that tests see leaks. A test can make
 * a named call fail. */
#include "tests/lib/pretend_cuda.h"
#include "harness/sealed/driver.h"

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define DECLARE(name, member, parameters) unsigned int name parameters;
CUDA_CALLS(DECLARE)
CUDA_GRAPH_CALLS(DECLARE)

struct pretend_cuda pretend_cuda;

enum { granularity = 1 << 16, most_work = 64, refused = 999 };
#define REFUSE(name) \
	do \
		if (pretend_cuda.refuses && strcmp(pretend_cuda.refuses, name) == 0) \
			return refused; \
	while (0)

unsigned int cuInit(unsigned int flags)
{
	REFUSE("cuInit");
	return flags;
}

unsigned int cuGetErrorName(unsigned int status, const char **name)
{
	*name = "PRETEND_ERROR";
	return status != refused;
}

unsigned int cuDeviceGet(int *device, int number)
{
	*device = 40 + number;
	return 0;
}

/* The pretended GPU has two SMs with 1024 threads each, which is room for two blocks of the gate's
 * kernel. */
unsigned int cuDeviceGetAttribute(int *value, unsigned int attribute, int device)
{
	*value = attribute == CUDA_DEVICE_SMS ? 2 : attribute == CUDA_DEVICE_SM_THREADS ? 1024 : 0;
	return device != 40;
}

unsigned int cuDevicePrimaryCtxRetain(struct CUctx_st **context, int device)
{
	*context = (struct CUctx_st *)&pretend_cuda;
	pretend_cuda.contexts++;
	return device != 40;
}

unsigned int cuCtxSetCurrent(struct CUctx_st *context)
{
	return context != (struct CUctx_st *)&pretend_cuda;
}

unsigned int cuCtxGetCurrent(struct CUctx_st **context)
{
	*context = (struct CUctx_st *)&pretend_cuda;
	return 0;
}

/* ---- memory: a handle is a descriptor of a file in memory plus one ---- */

static bool is_right_kind(const struct cuda_memory_kind *kind)
{
	return kind->kind == CUDA_MEMORY_PINNED && kind->handle == CUDA_HANDLE_DESCRIPTOR
		&& kind->place.kind == CUDA_PLACE_DEVICE && kind->place.device == 0;
}

unsigned int cuMemGetAllocationGranularity(
	size_t *bytes, const struct cuda_memory_kind *kind, unsigned int which)
{
	*bytes = granularity;
	return !is_right_kind(kind) || which != CUDA_LEAST_GRANULARITY;
}

unsigned int cuMemCreate(unsigned long long *handle, size_t bytes,
	const struct cuda_memory_kind *kind, unsigned long long flags)
{
	REFUSE("cuMemCreate");
	int file = memfd_create("pretend", MFD_CLOEXEC);
	if (!is_right_kind(kind) || flags || bytes % granularity || file < 0
		|| ftruncate(file, (off_t)bytes))
		return 1;
	*handle = (unsigned long long)file + 1;
	pretend_cuda.handles++;
	return 0;
}

unsigned int cuMemRelease(unsigned long long handle)
{
	pretend_cuda.handles--;
	return close((int)handle - 1) != 0;
}

unsigned int cuMemExportToShareableHandle(
	void *descriptor, unsigned long long handle, unsigned int kind, unsigned long long flags)
{
	REFUSE("cuMemExportToShareableHandle");
	*(int *)descriptor = dup((int)handle - 1);
	return kind != CUDA_HANDLE_DESCRIPTOR || flags;
}

unsigned int cuMemImportFromShareableHandle(
	unsigned long long *handle, void *descriptor, unsigned int kind)
{
	REFUSE("cuMemImportFromShareableHandle");
	int file = dup((int)(intptr_t)descriptor);
	if (kind != CUDA_HANDLE_DESCRIPTOR || file < 0)
		return 1;
	*handle = (unsigned long long)file + 1;
	pretend_cuda.handles++;
	return 0;
}

unsigned int cuMemAddressReserve(unsigned long long *address, size_t bytes, size_t alignment,
	unsigned long long wish, unsigned long long flags)
{
	REFUSE("cuMemAddressReserve");
	void *reserved = mmap((void *)(uintptr_t)wish, bytes, PROT_NONE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (reserved == MAP_FAILED || alignment || flags)
		return 1;
	*address = (uintptr_t)reserved;
	pretend_cuda.addresses++;
	return 0;
}

unsigned int cuMemAddressFree(unsigned long long address, size_t bytes)
{
	pretend_cuda.addresses--;
	return munmap((void *)(uintptr_t)address, bytes) != 0;
}

unsigned int cuMemMap(unsigned long long address, size_t bytes, size_t offset,
	unsigned long long handle, unsigned long long flags)
{
	REFUSE("cuMemMap");
	if (mmap((void *)(uintptr_t)address, bytes, PROT_NONE, MAP_SHARED | MAP_FIXED, (int)handle - 1,
			(off_t)offset)
			== MAP_FAILED
		|| flags)
		return 1;
	pretend_cuda.mappings++;
	return 0;
}

unsigned int cuMemUnmap(unsigned long long address, size_t bytes)
{
	pretend_cuda.mappings--;
	return mmap((void *)(uintptr_t)address, bytes, PROT_NONE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0)
		== MAP_FAILED;
}

unsigned int cuMemSetAccess(
	unsigned long long address, size_t bytes, const struct cuda_access *access, size_t count)
{
	REFUSE("cuMemSetAccess");
	return count != 1 || access->access != CUDA_ACCESS_READ_WRITE
		|| access->place.kind != CUDA_PLACE_DEVICE
		|| mprotect((void *)(uintptr_t)address, bytes, PROT_READ | PROT_WRITE) != 0;
}

unsigned int cuMemHostAlloc(void **address, size_t bytes, unsigned int flags)
{
	REFUSE("cuMemHostAlloc");
	*address = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	return *address == MAP_FAILED || flags != (CUDA_HOST_FOR_ALL_CONTEXTS | CUDA_HOST_FOR_DEVICE);
}

unsigned int cuMemHostRegister_v2(void *address, size_t bytes, unsigned int flags)
{
	REFUSE("cuMemHostRegister_v2");
	return !address || !bytes || flags != (CUDA_HOST_FOR_ALL_CONTEXTS | CUDA_HOST_FOR_DEVICE);
}

unsigned int cuMemHostGetDevicePointer_v2(
	unsigned long long *address, void *host, unsigned int flags)
{
	*address = (uintptr_t)host;
	return flags;
}

/* ---- streams ---- */

struct work {
	enum { WRITE, COPY, WAIT, RUN } what;
	unsigned long long from;
	void *to;
	size_t bytes;
	uint32_t value;
	void (*run)(void *argument);
};

/* The caller's thread adds work to the ring, and the stream's thread does the work. */
struct CUstream_st {
	struct work work[most_work];
	unsigned int added, did;
};

/* Does what the kernel in harness/isolated/gate.c does: waits until the gate shows the call's
 * number, then copies the lines behind the gate to their places in `slot`. */
static void wait_for_gate(const uint64_t *gate, uint32_t number, char *slot)
{
	enum { places_at = 64, lines_at = 2112, line_bytes = 128 };
	uint64_t both;
	while ((uint32_t)(both = __atomic_load_n(gate, __ATOMIC_ACQUIRE)) != number)
		usleep(20);
	for (uint64_t i = 0; i < both >> 32; i++) {
		uint64_t place;
		memcpy(&place, (const char *)gate + places_at + i * sizeof place, sizeof place);
		memcpy(slot + place, (const char *)gate + lines_at + i * line_bytes, line_bytes);
	}
}

static void do_work(const struct work *work)
{
	if (work->what == WRITE)
		__atomic_store_n((uint32_t *)work->to, work->value, __ATOMIC_RELEASE);
	if (work->what == COPY)
		memcpy(work->to, (const void *)(uintptr_t)work->from, work->bytes);
	if (work->what == WAIT)
		wait_for_gate(work->to, work->value, (char *)(uintptr_t)work->from);
	if (work->what == RUN)
		work->run(work->to);
}

static void *run_stream(void *argument)
{
	struct CUstream_st *stream = argument;
	for (;;) {
		if (stream->did == __atomic_load_n(&stream->added, __ATOMIC_ACQUIRE)) {
			usleep(20);
			continue;
		}
		do_work(&stream->work[stream->did % most_work]);
		__atomic_store_n(&stream->did, stream->did + 1, __ATOMIC_RELEASE);
	}
	return NULL;
}

static unsigned int add_work(struct CUstream_st *stream, struct work work)
{
	if (stream->added - __atomic_load_n(&stream->did, __ATOMIC_ACQUIRE) == most_work)
		return 1;
	stream->work[stream->added % most_work] = work;
	__atomic_store_n(&stream->added, stream->added + 1, __ATOMIC_RELEASE);
	return 0;
}

static struct CUstream_st streams[8];
static unsigned int stream_count;

unsigned int cuStreamCreate(struct CUstream_st **stream, unsigned int flags)
{
	pthread_t thread;
	REFUSE("cuStreamCreate");
	if (flags != CUDA_STREAM_ON_ITS_OWN || stream_count == 8)
		return 1;
	*stream = &streams[stream_count++];
	return pthread_create(&thread, NULL, run_stream, *stream) || pthread_detach(thread);
}

static struct CUstream_st *find_legacy_stream(void)
{
	static struct CUstream_st *legacy;
	if (!legacy && cuStreamCreate(&legacy, CUDA_STREAM_ON_ITS_OWN))
		legacy = NULL;
	return legacy;
}

unsigned int pretend_enqueue(void (*run)(void *argument), void *argument)
{
	struct CUstream_st *legacy = find_legacy_stream();
	return !legacy || add_work(legacy, (struct work){ .what = RUN, .to = argument, .run = run });
}

unsigned int cuCtxSynchronize(void)
{
	REFUSE("cuCtxSynchronize");
	for (unsigned int i = 0; i < stream_count; i++)
		while (streams[i].added != __atomic_load_n(&streams[i].did, __ATOMIC_ACQUIRE))
			sched_yield();
	return 0;
}

unsigned int cuStreamQuery(struct CUstream_st *stream)
{
	REFUSE("cuStreamQuery");
	return stream->added == __atomic_load_n(&stream->did, __ATOMIC_ACQUIRE) ? 0
																			: CUDA_CALL_NOT_READY;
}

unsigned int cuStreamWriteValue32_v2(
	struct CUstream_st *stream, unsigned long long address, uint32_t value, unsigned int flags)
{
	REFUSE("cuStreamWriteValue32_v2");
	return flags != CUDA_WRITE_AFTER_ALL
		|| add_work(stream,
			(struct work){ .what = WRITE, .to = (void *)(uintptr_t)address, .value = value });
}

unsigned int cuMemcpyDtoHAsync_v2(
	void *host, unsigned long long device, size_t bytes, struct CUstream_st *stream)
{
	REFUSE("cuMemcpyDtoHAsync_v2");
	pretend_cuda.copies++;
	if (!stream)
		stream = find_legacy_stream();
	return !stream
		|| add_work(
			stream, (struct work){ .what = COPY, .from = device, .to = host, .bytes = bytes });
}

/* ---- kernels: the module has "wait_for_gate" and "empty" ---- */

unsigned int cuModuleLoadData(struct CUmod_st **module, const void *image)
{
	REFUSE("cuModuleLoadData");
	*module = (struct CUmod_st *)&pretend_cuda;
	return strncmp(image, ".version", 8) != 0;
}

unsigned int cuModuleGetFunction(
	struct CUfunc_st **function, struct CUmod_st *module, const char *name)
{
	const bool is_empty = strcmp(name, "empty") == 0;
	*function = is_empty ? pretend_empty : (struct CUfunc_st *)&pretend_cuda;
	return module != (struct CUmod_st *)&pretend_cuda
		|| (!is_empty && strcmp(name, "wait_for_gate") != 0);
}

unsigned int cuLaunchKernel(struct CUfunc_st *function, unsigned int grid_x, unsigned int grid_y,
	unsigned int grid_z, unsigned int block_x, unsigned int block_y, unsigned int block_z,
	unsigned int shared_bytes, struct CUstream_st *stream, void **parameters, void **extra)
{
	REFUSE("cuLaunchKernel");
	struct CUstream_st *legacy = find_legacy_stream();
	if (!legacy)
		return 1;
	if (function == pretend_empty)
		return grid_x * grid_y * grid_z * block_x * block_y * block_z != 1 || shared_bytes || stream
			|| parameters || extra;
	return function != (struct CUfunc_st *)&pretend_cuda
		|| grid_x * grid_y * grid_z * block_x * block_y * block_z != 2048 || shared_bytes || stream
		|| extra
		|| add_work(legacy,
			(struct work){ .what = WAIT,
				.to = *(void **)parameters[0],
				.value = *(uint32_t *)parameters[1],
				.from = *(uint64_t *)parameters[2] });
}
