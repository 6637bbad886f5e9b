/* Stands between a submission in CUDA C++ and its CUDA runtime. It is linked into submission.so
 * with the option --wrap of the linker for each function that has a wrap here (isolated_cu.c).
 *
 * - Memory that the submission allocates comes from the arena, so that it lies where the launcher
 *   has it too. An allocation in a captured call is no work on the GPU, and its address belongs to
 *   the plan.
 * - In a captured call, waits for the GPU return at once. The call's work has not begun, and it
 *   cannot read results, because copies to the host are refused.
 * - In a captured call, cudaMemset and copies to the GPU do not wait either.
 * - In a captured call, a copy from the host becomes a copy from the arena, because a plan has no
 *   data on the host. The builder writes the bytes there after the capture. A copy from the host
 *   to a variable is left out, because the launcher restores variables before each call. The
 *   builder checks that the variable has these bytes.
 * - In a captured call, the launch of a CUDA graph adds this graph to the captured one. CUDA
 *   refuses such a launch, and gives no graph for an instance, so a copy of each graph is kept.
 * - In a captured call, work on a stream that is not captured is noted.
 *
 * It is compiled as C++, without code for the GPU. With --default-stream=per-thread, CUDA's headers
 * append _ptsz or _ptds to the names of some calls, also in this file. All of this runs in the
 * process of the submission, so it protects nothing. */
#include "range.h"

#include <cuda_runtime.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

#include <dlfcn.h>
#include <sys/types.h>

namespace
{

/* The functions of arena.h, if the process has loaded them, as the builder has. Else NULL: memory
 * then comes from CUDA. */
struct Arena {
	void *(*take)(ssize_t bytes, int device, void *stream);
	void (*give)(void *memory, ssize_t bytes, int device, void *stream);
};

/* Finds the functions at the first call. A global object could be constructed too late, because
 * constructors of the submission's global objects may allocate. */
const Arena &arena()
{
	static const Arena found = { reinterpret_cast<decltype(Arena::take)>(
									 dlsym(RTLD_DEFAULT, "sealed_arena_malloc")),
		reinterpret_cast<decltype(Arena::give)>(dlsym(RTLD_DEFAULT, "sealed_arena_free")) };
	return found;
}

bool is_in_range(const void *memory)
{
	return reinterpret_cast<std::uint64_t>(memory) - SEALED_RANGE_ADDRESS < SEALED_RANGE_BYTES;
}

constexpr char left_out[] =
	"The call launches work on a stream that does not wait for the default stream. Record an event "
	"with cudaEventRecord(event) and let the stream wait: cudaStreamWaitEvent(stream, event).";
constexpr char unknown_graph[] =
	"The call launches a CUDA graph that a library made, or that was changed in an unknown way. "
	"Make "
	"graphs with cudaGraphInstantiate, and change them with cudaGraphExecUpdate or "
	"cudaGraphExecKernelNodeSetParams.";

std::atomic<bool> is_captured = false;
std::atomic<const char *> obstacle = nullptr; /* to recording the captured call: a sentence */
std::mutex lock;
std::vector<void *> freed; /* in the captured call */

/* A copy from the host in the captured call. */
struct Copied {
	void *place; /* in the arena, or in a variable */
	std::vector<char> bytes;
	bool is_variable;
};
std::vector<Copied> copied;

/* For each instance of a graph, a copy of the graph. */
std::map<cudaGraphExec_t, cudaGraph_t> graphs;

} // namespace

extern "C" {

/* ---- for the builder ---- */

/* Begins or ends a captured call. At its end, returns why it cannot be recorded, a sentence; NULL:
 * nothing is known against it. */
__attribute__((visibility("default"))) const char *podium_capture(bool is_begin)
{
	std::lock_guard guard(lock);
	is_captured = is_begin;
	if (is_begin) {
		for (const Copied &copy : copied)
			if (!copy.is_variable)
				arena().give(copy.place, 0, 0, nullptr);
		copied.clear();
		return obstacle = nullptr;
	}
	for (void *memory : freed)
		arena().give(memory, 0, 0, nullptr);
	freed.clear();
	return obstacle;
}

/* Gives a copy from the host of the last captured call, in their order: the place that must have
 * the bytes before each call, in the arena or in a variable. False: there are fewer. The bytes and
 * the place in the arena belong to the copy until the next captured call begins. */
__attribute__((visibility("default"))) bool podium_copied(
	std::size_t number, void **place, const void **bytes, std::size_t *count, bool *is_variable)
{
	std::lock_guard guard(lock);
	if (number >= copied.size())
		return false;
	const Copied &copy = copied[number];
	*place = copy.place;
	*bytes = copy.bytes.data();
	*count = copy.bytes.size();
	*is_variable = copy.is_variable;
	return true;
}

/* ---- memory ---- */

cudaError_t __real_cudaDeviceSynchronize(void);

static cudaError_t take_memory(void **memory, std::size_t bytes)
{
	if (!memory)
		return cudaErrorInvalidValue;
	*memory = bytes && bytes <= PTRDIFF_MAX ? arena().take(static_cast<ssize_t>(bytes), 0, nullptr)
											: nullptr;
	return *memory || !bytes ? cudaSuccess : cudaErrorMemoryAllocation;
}

/* Any stream may get the memory next, so the GPU must have ended its work. A captured call's work
 * has not begun, so its memory is kept until its end. */
static void give_memory(void *memory)
{
	if (!is_captured) {
		__real_cudaDeviceSynchronize();
		arena().give(memory, 0, 0, nullptr);
		return;
	}
	std::lock_guard guard(lock);
	freed.push_back(memory);
}

#define ALLOCATION(name, parameters, memory, bytes, ...) \
	cudaError_t __real_##name parameters; \
	cudaError_t __wrap_##name parameters \
	{ \
		return arena().take ? take_memory(memory, bytes) : __real_##name(__VA_ARGS__); \
	}

#define RELEASE(name, parameters, memory, ...) \
	cudaError_t __real_##name parameters; \
	cudaError_t __wrap_##name parameters \
	{ \
		if (is_captured && !memory) \
			return cudaSuccess; \
		if (!arena().give || !is_in_range(memory)) \
			return __real_##name(__VA_ARGS__); \
		give_memory(memory); \
		return cudaSuccess; \
	}

ALLOCATION(cudaMalloc, (void **at, std::size_t bytes), at, bytes, at, bytes)
ALLOCATION(cudaMallocAsync, (void **at, std::size_t bytes, cudaStream_t stream), at, bytes, at,
	bytes, stream)
ALLOCATION(cudaMallocAsync_ptsz, (void **at, std::size_t bytes, cudaStream_t stream), at, bytes, at,
	bytes, stream)
ALLOCATION(cudaMallocFromPoolAsync,
	(void **at, std::size_t bytes, cudaMemPool_t pool, cudaStream_t stream), at, bytes, at, bytes,
	pool, stream)
ALLOCATION(cudaMallocFromPoolAsync_ptsz,
	(void **at, std::size_t bytes, cudaMemPool_t pool, cudaStream_t stream), at, bytes, at, bytes,
	pool, stream)
RELEASE(cudaFree, (void *memory), memory, memory)
RELEASE(cudaFreeAsync, (void *memory, cudaStream_t stream), memory, memory, stream)
RELEASE(cudaFreeAsync_ptsz, (void *memory, cudaStream_t stream), memory, memory, stream)

cudaError_t __real_cudaMallocPitch(
	void **at, std::size_t *pitch, std::size_t width, std::size_t height);
cudaError_t __wrap_cudaMallocPitch(
	void **at, std::size_t *pitch, std::size_t width, std::size_t height)
{
	constexpr std::size_t alignment = 512;
	if (!arena().take)
		return __real_cudaMallocPitch(at, pitch, width, height);
	if (!pitch || width > PTRDIFF_MAX || (height && width > PTRDIFF_MAX / 2 / height))
		return cudaErrorInvalidValue;
	*pitch = (width + alignment - 1) / alignment * alignment;
	return take_memory(at, *pitch * height);
}

/* ---- waits ---- */

#define WAIT(name, parameters, ...) \
	cudaError_t __real_##name parameters; \
	cudaError_t __wrap_##name parameters \
	{ \
		return is_captured ? cudaSuccess : __real_##name(__VA_ARGS__); \
	}

WAIT(cudaDeviceSynchronize, (void), )
WAIT(cudaStreamSynchronize, (cudaStream_t stream), stream)
WAIT(cudaStreamSynchronize_ptsz, (cudaStream_t stream), stream)
WAIT(cudaEventSynchronize, (cudaEvent_t event), event)

/* ---- copies ---- */

cudaError_t __real_cudaMemcpyAsync_ptsz(
	void *to, const void *from, std::size_t bytes, cudaMemcpyKind kind, cudaStream_t stream);
cudaError_t __real_cudaMemsetAsync_ptsz(
	void *to, int value, std::size_t bytes, cudaStream_t stream);

static void note_work(cudaStream_t stream)
{
	cudaStreamCaptureStatus status = cudaStreamCaptureStatusActive;
	if (is_captured && cudaStreamIsCapturing(stream, &status) == cudaSuccess
		&& status == cudaStreamCaptureStatusNone)
		obstacle = left_out;
}

static bool is_on_host(const void *memory, cudaMemcpyKind kind)
{
	cudaPointerAttributes known = {};
	if (kind != cudaMemcpyDefault)
		return kind == cudaMemcpyHostToDevice;
	return !is_in_range(memory) && cudaPointerGetAttributes(&known, memory) == cudaSuccess
		&& (known.type == cudaMemoryTypeHost || known.type == cudaMemoryTypeUnregistered);
}

static void note_copy(void *place, const void *from, std::size_t bytes, bool is_variable)
{
	auto first = static_cast<const char *>(from);
	std::lock_guard guard(lock);
	copied.push_back({ place, std::vector<char>(first, first + bytes), is_variable });
}

cudaError_t __wrap_cudaMemcpyAsync_ptsz(
	void *to, const void *from, std::size_t bytes, cudaMemcpyKind kind, cudaStream_t stream)
{
	note_work(stream);
	if (!is_captured || !bytes || !is_in_range(to) || !is_on_host(from, kind))
		return __real_cudaMemcpyAsync_ptsz(to, from, bytes, kind, stream);
	void *place;
	cudaError_t status = take_memory(&place, bytes);
	if (status != cudaSuccess)
		return status;
	note_copy(place, from, bytes, false);
	return __real_cudaMemcpyAsync_ptsz(to, place, bytes, cudaMemcpyDeviceToDevice, stream);
}

/* The call could read what a copy to the host brings, so CUDA may refuse such a copy. */
cudaError_t __real_cudaMemcpy_ptds(
	void *to, const void *from, std::size_t bytes, cudaMemcpyKind kind);
cudaError_t __wrap_cudaMemcpy_ptds(
	void *to, const void *from, std::size_t bytes, cudaMemcpyKind kind)
{
	return is_captured && is_in_range(to)
		? __wrap_cudaMemcpyAsync_ptsz(to, from, bytes, kind, cudaStreamPerThread)
		: __real_cudaMemcpy_ptds(to, from, bytes, kind);
}

/* Leaves a copy from the host out. Returns false for any other. */
static bool leave_out(const void *variable, const void *from, std::size_t bytes, std::size_t offset,
	cudaMemcpyKind kind, cudaError_t &status)
{
	void *place = nullptr;
	if (!is_captured || !is_on_host(from, kind))
		return false;
	status = cudaGetSymbolAddress(&place, variable);
	if (status == cudaSuccess)
		note_copy(static_cast<char *>(place) + offset, from, bytes, true);
	return true;
}

#define COPY_TO_VARIABLE(name, parameters, ...) \
	cudaError_t __real_##name parameters; \
	cudaError_t __wrap_##name parameters \
	{ \
		cudaError_t status; \
		return leave_out(variable, from, bytes, offset, kind, status) \
			? status \
			: __real_##name(__VA_ARGS__); \
	}

COPY_TO_VARIABLE(cudaMemcpyToSymbol_ptds,
	(const void *variable, const void *from, std::size_t bytes, std::size_t offset,
		cudaMemcpyKind kind),
	variable, from, bytes, offset, kind)
COPY_TO_VARIABLE(cudaMemcpyToSymbolAsync_ptsz,
	(const void *variable, const void *from, std::size_t bytes, std::size_t offset,
		cudaMemcpyKind kind, cudaStream_t stream),
	variable, from, bytes, offset, kind, stream)

cudaError_t __wrap_cudaMemsetAsync_ptsz(void *to, int value, std::size_t bytes, cudaStream_t stream)
{
	note_work(stream);
	return __real_cudaMemsetAsync_ptsz(to, value, bytes, stream);
}

cudaError_t __real_cudaMemset_ptds(void *to, int value, std::size_t bytes);
cudaError_t __wrap_cudaMemset_ptds(void *to, int value, std::size_t bytes)
{
	return is_captured ? __real_cudaMemsetAsync_ptsz(to, value, bytes, cudaStreamPerThread)
					   : __real_cudaMemset_ptds(to, value, bytes);
}

/* ---- launches ---- */

#define LAUNCH(name, parameters, stream, ...) \
	cudaError_t __real_##name parameters; \
	cudaError_t __wrap_##name parameters \
	{ \
		note_work(stream); \
		return __real_##name(__VA_ARGS__); \
	}

LAUNCH(cudaLaunchKernel_ptsz,
	(const void *kernel, dim3 grid, dim3 block, void **arguments, std::size_t shared,
		cudaStream_t stream),
	stream, kernel, grid, block, arguments, shared, stream)
LAUNCH(cudaLaunchCooperativeKernel_ptsz,
	(const void *kernel, dim3 grid, dim3 block, void **arguments, std::size_t shared,
		cudaStream_t stream),
	stream, kernel, grid, block, arguments, shared, stream)
LAUNCH(cudaLaunchKernelExC_ptsz,
	(const cudaLaunchConfig_t *launch, const void *kernel, void **arguments), launch->stream,
	launch, kernel, arguments)

/* nvcc of CUDA 13 compiles <<<>>> to this call. Older runtimes lack it, and nothing calls it there.
 */
#define __cudaLaunchKernel_ptsz_parameters \
	(cudaKernel_t kernel, dim3 grid, dim3 block, void **arguments, std::size_t shared, \
		cudaStream_t stream)
__attribute__((weak)) cudaError_t __real___cudaLaunchKernel_ptsz __cudaLaunchKernel_ptsz_parameters;
cudaError_t __wrap___cudaLaunchKernel_ptsz __cudaLaunchKernel_ptsz_parameters
{
	note_work(stream);
	return __real___cudaLaunchKernel_ptsz(kernel, grid, block, arguments, shared, stream);
}

/* ---- graphs ---- */

/* Allows this thread what CUDA forbids during a capture, such as making instances of graphs. */
struct Relaxed {
	Relaxed()
	{
		cudaThreadExchangeStreamCaptureMode(&mode);
	}
	~Relaxed()
	{
		cudaThreadExchangeStreamCaptureMode(&mode);
	}
	cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
};

static void forget_graph(cudaGraphExec_t instance)
{
	auto found = graphs.find(instance);
	if (found == graphs.end())
		return;
	cudaGraphDestroy(found->second);
	graphs.erase(found);
}

static cudaError_t remember_graph(cudaError_t status, cudaGraphExec_t instance, cudaGraph_t graph)
{
	cudaGraph_t copy;
	std::lock_guard guard(lock);
	if (status != cudaSuccess)
		return status;
	forget_graph(instance);
	if (cudaGraphClone(&copy, graph) == cudaSuccess)
		graphs[instance] = copy;
	return cudaSuccess;
}

#define INSTANTIATE(name, parameters, instance, ...) \
	cudaError_t __real_##name parameters; \
	cudaError_t __wrap_##name parameters \
	{ \
		Relaxed relaxed; \
		cudaError_t status = __real_##name(__VA_ARGS__); \
		return remember_graph(status, instance, graph); \
	}

INSTANTIATE(cudaGraphInstantiate,
	(cudaGraphExec_t * instance, cudaGraph_t graph, unsigned long long flags), *instance, instance,
	graph, flags)
INSTANTIATE(cudaGraphInstantiateWithFlags,
	(cudaGraphExec_t * instance, cudaGraph_t graph, unsigned long long flags), *instance, instance,
	graph, flags)
INSTANTIATE(cudaGraphInstantiateWithParams_ptsz,
	(cudaGraphExec_t * instance, cudaGraph_t graph, cudaGraphInstantiateParams *more), *instance,
	instance, graph, more)
INSTANTIATE(cudaGraphExecUpdate,
	(cudaGraphExec_t instance, cudaGraph_t graph, cudaGraphExecUpdateResultInfo *result), instance,
	instance, graph, result)

cudaError_t __real_cudaGraphExecDestroy(cudaGraphExec_t instance);
cudaError_t __wrap_cudaGraphExecDestroy(cudaGraphExec_t instance)
{
	Relaxed relaxed;
	std::lock_guard guard(lock);
	forget_graph(instance);
	return __real_cudaGraphExecDestroy(instance);
}

/* The node of the copy for a node of the graph. NULL: it is not known. */
static cudaGraphNode_t find_node(cudaGraphExec_t instance, cudaGraphNode_t node)
{
	cudaGraphNode_t found = nullptr;
	auto graph = graphs.find(instance);
	return graph != graphs.end()
			&& cudaGraphNodeFindInClone(&found, node, graph->second) == cudaSuccess
		? found
		: nullptr;
}

/* Defines the wrap of a call that changes a node of an instance. `set` makes the same change in the
 * copy of the graph. If that fails, the copy is forgotten. */
#define CHANGE(name, parameters, set, ...) \
	cudaError_t __real_##name parameters; \
	cudaError_t __wrap_##name parameters \
	{ \
		Relaxed relaxed; \
		std::lock_guard guard(lock); \
		cudaError_t status = __real_##name(instance, node, __VA_ARGS__); \
		cudaGraphNode_t copy = find_node(instance, node); \
		if (!copy || set != cudaSuccess) \
			forget_graph(instance); \
		return status; \
	}

CHANGE(cudaGraphExecKernelNodeSetParams,
	(cudaGraphExec_t instance, cudaGraphNode_t node, const cudaKernelNodeParams *to),
	cudaGraphKernelNodeSetParams(copy, to), to)
CHANGE(cudaGraphExecMemsetNodeSetParams,
	(cudaGraphExec_t instance, cudaGraphNode_t node, const cudaMemsetParams *to),
	cudaGraphMemsetNodeSetParams(copy, to), to)
CHANGE(cudaGraphExecMemcpyNodeSetParams,
	(cudaGraphExec_t instance, cudaGraphNode_t node, const cudaMemcpy3DParms *to),
	cudaGraphMemcpyNodeSetParams(copy, to), to)
CHANGE(cudaGraphExecMemcpyNodeSetParams1D,
	(cudaGraphExec_t instance, cudaGraphNode_t node, void *to, const void *from, std::size_t bytes,
		cudaMemcpyKind kind),
	cudaGraphMemcpyNodeSetParams1D(copy, to, from, bytes, kind), to, from, bytes, kind)
/* These changes cannot be repeated in the copy, so the copy is forgotten. */
CHANGE(cudaGraphExecNodeSetParams,
	(cudaGraphExec_t instance, cudaGraphNode_t node, cudaGraphNodeParams *to),
	cudaErrorNotSupported, to)
CHANGE(cudaGraphExecChildGraphNodeSetParams,
	(cudaGraphExec_t instance, cudaGraphNode_t node, cudaGraph_t to), cudaErrorNotSupported, to)
CHANGE(cudaGraphNodeSetEnabled, (cudaGraphExec_t instance, cudaGraphNode_t node, unsigned int to),
	cudaErrorNotSupported, to)

/* Adds a graph to the one that the stream captures, behind the stream's work so far. */
static cudaError_t add_graph(cudaGraph_t graph, cudaStream_t stream)
{
	cudaStreamCaptureStatus state;
	cudaGraph_t whole;
	const cudaGraphNode_t *before;
	cudaGraphNode_t node;
	std::size_t count;
#if CUDART_VERSION >= 13000
	cudaError_t status =
		cudaStreamGetCaptureInfo(stream, &state, nullptr, &whole, &before, nullptr, &count);
#else
	cudaError_t status =
		cudaStreamGetCaptureInfo_v2(stream, &state, nullptr, &whole, &before, &count);
#endif
	if (status == cudaSuccess)
		status = cudaGraphAddChildGraphNode(&node, whole, before, count, graph);
	if (status != cudaSuccess)
		return status;
#if CUDART_VERSION >= 13000
	return cudaStreamUpdateCaptureDependencies(
		stream, &node, nullptr, 1, cudaStreamSetCaptureDependencies);
#else
	return cudaStreamUpdateCaptureDependencies(stream, &node, 1, cudaStreamSetCaptureDependencies);
#endif
}

cudaError_t __real_cudaGraphLaunch_ptsz(cudaGraphExec_t instance, cudaStream_t stream);
cudaError_t __wrap_cudaGraphLaunch_ptsz(cudaGraphExec_t instance, cudaStream_t stream)
{
	note_work(stream);
	if (!is_captured || obstacle)
		return __real_cudaGraphLaunch_ptsz(instance, stream);
	std::lock_guard guard(lock);
	auto found = graphs.find(instance);
	if (found != graphs.end())
		return add_graph(found->second, stream);
	obstacle = unknown_graph;
	return cudaErrorStreamCaptureUnsupported;
}

/* What nvcc makes of cudaGraphLaunch also with --default-stream=per-thread, because of an inline
 * function in cuda_device_runtime_api.h (CUDA 13.0). */
cudaError_t __wrap_cudaGraphLaunch(cudaGraphExec_t instance, cudaStream_t stream)
{
	return __wrap_cudaGraphLaunch_ptsz(instance, stream ? stream : cudaStreamPerThread);
}

cudaError_t __real_cudaGraphUpload_ptsz(cudaGraphExec_t instance, cudaStream_t stream);
cudaError_t __wrap_cudaGraphUpload_ptsz(cudaGraphExec_t instance, cudaStream_t stream)
{
	return is_captured ? cudaSuccess : __real_cudaGraphUpload_ptsz(instance, stream);
}

} /* extern "C" */
