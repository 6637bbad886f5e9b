/* The judge's own work on the GPU: laying out an input without waiting, copying outputs, and
 * measuring how long that takes. Unused without a GPU. */
#ifndef PODIUM_ISOLATED_GPU_H
#define PODIUM_ISOLATED_GPU_H

#include "blocks.h"
#include "native.h"

#include <cuda_runtime.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>

namespace podium
{

inline double ns_since(std::chrono::steady_clock::time_point began)
{
	return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - began)
		.count();
}

/* The judge's own work on the GPU failed: the GPU is lost. */
struct GpuLost : std::runtime_error {
	using std::runtime_error::runtime_error;
};

inline void cuda(cudaError_t status, const char *what)
{
	if (status != cudaSuccess)
		throw GpuLost(std::string(what) + ": " + cudaGetErrorString(status) + " ("
			+ cudaGetErrorName(status) + ")");
}

/* 64 mixed bits for each (seed, index): the finalizer of SplitMix64 (Steele, Lea, Flood 2014). */
__host__ __device__ inline std::uint64_t mixed(std::uint64_t seed, std::uint64_t index)
{
	std::uint64_t z = seed * 0xd1342543de82ef95ull + (index + 1) * 0x9e3779b97f4a7c15ull;
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	return z ^ (z >> 31);
}

/* Returns random bits. With `is_floating`, the bits are NaN with a random payload, whether read as
 * numbers of 16, 32 or 64 bits. */
__host__ __device__ inline std::uint64_t poison_word(
	std::uint64_t seed, std::uint64_t index, bool is_floating)
{
	std::uint64_t bits = mixed(seed, index);
	return is_floating ? (bits & 0x8007800780078007ull) | 0x7ff87ff87ff87ff8ull : bits;
}

static __global__ void write_poison(
	std::uint64_t *words, std::size_t count, std::uint64_t seed, bool is_floating)
{
	std::size_t step = static_cast<std::size_t>(gridDim.x) * blockDim.x;
	for (std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
		 i += step)
		words[i] = poison_word(seed, i, is_floating);
}

static __global__ void spin_gpu(long long cycles)
{
	for (long long began = clock64(); clock64() - began < cycles;)
		;
}

template <class Word>
__global__ void find_difference(const Word *a, const Word *b, std::size_t count, unsigned *differs)
{
	std::size_t step = static_cast<std::size_t>(gridDim.x) * blockDim.x;
	bool mine = false;
	for (std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
		 i += step)
		mine |= a[i] != b[i];
	if (mine)
		*differs = 1;
}

/* Raises *last to one more than the index of the last word that is not 0. */
static __global__ void find_last(
	const std::uint64_t *words, std::size_t count, unsigned long long *last)
{
	std::size_t step = static_cast<std::size_t>(gridDim.x) * blockDim.x, mine = 0;
	for (std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
		 i += step)
		if (words[i])
			mine = i + 1;
	if (mine)
		atomicMax(last, static_cast<unsigned long long>(mine));
}

/* Two events and the time between them. */
class Span
{
  public:
	Span()
	{
		cuda(cudaEventCreate(&begin_), "an event");
		cuda(cudaEventCreate(&end_), "an event");
	}
	Span(const Span &) = delete;

	void begin(cudaStream_t stream)
	{
		cuda(cudaEventRecord(begin_, stream), "an event");
	}
	void end(cudaStream_t stream)
	{
		cuda(cudaEventRecord(end_, stream), "an event");
	}

	double elapsed_ns() const
	{
		float elapsed_ms;
		cuda(cudaEventElapsedTime(&elapsed_ms, begin_, end_), "the time between two events");
		return static_cast<double>(elapsed_ms) * 1e6;
	}

  private:
	cudaEvent_t begin_ = nullptr, end_ = nullptr;
};

class Device
{
  public:
	Device()
	{
		int l2_bytes;
		cuda(cudaSetDevice(0), "GPU 0");
		cuda(cudaDeviceGetAttribute(&l2_bytes, cudaDevAttrL2CacheSize, 0),
			"the size of the L2 cache");
		keep_freed_memory();
		l2_bytes_ = static_cast<std::size_t>(l2_bytes);
		cuda(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "a stream");
		cuda(cudaMalloc(&cache_, 2 * l2_bytes_), "memory to overwrite the L2 cache");
		cuda(cudaMalloc(&differs_, sizeof *differs_), "memory");
		cuda(cudaMalloc(&last_, sizeof *last_), "memory");
	}
	Device(const Device &) = delete;

	cudaStream_t stream() const
	{
		return stream_;
	}
	std::size_t l2_bytes() const
	{
		return l2_bytes_;
	}

	std::size_t free_bytes() const
	{
		std::size_t free, all;
		cuda(cudaMemGetInfo(&free, &all), "the free memory");
		return free;
	}

	/* Poisons all whole words of 8 bytes. Leaves the bytes after the last word as they are. */
	void poison(std::byte *at, std::size_t bytes, bool is_floating, std::uint64_t seed)
	{
		if (bytes >= sizeof(std::uint64_t))
			write_poison<<<blocks, threads, 0, stream_>>>(reinterpret_cast<std::uint64_t *>(at),
				bytes / sizeof(std::uint64_t), seed, is_floating);
		cuda(cudaGetLastError(), "poison");
	}

	void copy(std::byte *to, const std::byte *from, std::size_t bytes)
	{
		if (bytes)
			cuda(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream_), "a copy");
	}

	/* Copies `lines` lines of `bytes` bytes each. A pitch is the distance between the starts of two
	 * lines. `to` or `from` may be on the host. */
	void copy_lines(std::byte *to, std::size_t to_pitch, const std::byte *from,
		std::size_t from_pitch, std::size_t bytes, std::size_t lines)
	{
		cuda(cudaMemcpy2DAsync(
				 to, to_pitch, from, from_pitch, bytes, lines, cudaMemcpyDefault, stream_),
			"a copy of lines");
	}

	void read(void *to, const std::byte *from, std::size_t bytes)
	{
		cuda(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, stream_), "a copy");
		wait();
	}

	/* Keeps the GPU busy for about 250 us, while the judge enqueues the staging and rings the bell.
	 * Otherwise the staging could end before the contestant has launched its kernels, and the
	 * call's time would include the launch. */
	void keep_busy()
	{
		spin_gpu<<<1, 1, 0, stream_>>>(busy_cycles);
		cuda(cudaGetLastError(), "a kernel of the judge");
	}

	/* Runs the smallest kernel. It takes long if another process has used the GPU, because the GPU
	 * then switches contexts. */
	void touch()
	{
		write_poison<<<1, 1, 0, stream_>>>(reinterpret_cast<std::uint64_t *>(cache_), 1, 0, false);
		wait();
	}

	/* Notes how long a touch took after a contestant's finished call: what a switch costs. Call it
	 * only before a submission is loaded. Later a submission could make a switch look expensive. */
	void note_switch(double touch_ns)
	{
		if (switches_.size() < most_switches) {
			switches_.push_back(touch_ns);
			switched_ns_ = center(switches_) / 2;
		}
	}

	/* Returns how many ns `copies` copies of `bytes` bytes in all take on the device, at most. */
	double copy_ns(std::size_t bytes, std::size_t copies)
	{
		if (!copies)
			return 0;
		if (!copy_ns_per_byte_)
			copy_ns_per_byte_ = measure_copy();
		return copy_margin * copy_ns_per_byte_ * static_cast<double>(bytes)
			+ launch_ns * static_cast<double>(copies);
	}

	/* Leaves the GPU alone until no other process uses it, so that work which a call left behind
	 * can finish. Returns how many ns that took; 0 while the cost of a switch is unknown. */
	double rest()
	{
		if (!(switched_ns_ > 0))
			return 0;
		for (auto began = Clock::now();;) {
			for (auto resting = Clock::now(); ns_since(resting) < rest_ns;)
				;
			auto touching = Clock::now();
			touch();
			double touch_ns = ns_since(touching);
			quickest_ns_ = std::min(quickest_ns_, touch_ns);
			/* A touch that is hardly slower than the quickest shows no switch. */
			if (touch_ns < std::max(switched_ns_, 3 * quickest_ns_)
				|| ns_since(began) > most_rest_ns)
				return ns_since(began);
		}
	}

	void overwrite_l2()
	{
		cuda(cudaMemsetAsync(cache_, ++filling_, 2 * l2_bytes_, stream_),
			"overwriting the L2 cache");
	}
	void wait()
	{
		cuda(cudaStreamSynchronize(stream_), "waiting for the GPU");
	}

	/* `a` and `b` must be aligned to 8 bytes. */
	bool differ(const std::byte *a, const std::byte *b, std::size_t bytes)
	{
		std::size_t whole = bytes / sizeof(std::uint64_t);
		unsigned found;
		cuda(cudaMemsetAsync(differs_, 0, sizeof *differs_, stream_), "a comparison");
		if (whole)
			find_difference<<<blocks, threads, 0, stream_>>>(
				reinterpret_cast<const std::uint64_t *>(a),
				reinterpret_cast<const std::uint64_t *>(b), whole, differs_);
		std::size_t at = whole * sizeof(std::uint64_t);
		if (at < bytes)
			find_difference<<<1, 8, 0, stream_>>>(reinterpret_cast<const unsigned char *>(a) + at,
				reinterpret_cast<const unsigned char *>(b) + at, bytes - at, differs_);
		cuda(cudaGetLastError(), "a comparison");
		read(&found, reinterpret_cast<const std::byte *>(differs_), sizeof found);
		return found;
	}

	void clear(std::byte *at, std::size_t bytes)
	{
		if (bytes)
			cuda(cudaMemsetAsync(at, 0, bytes, stream_), "clearing memory");
	}

	/* Returns how many bytes of this memory there are up to the last word that is not 0. `at` must
	 * be aligned to 8 bytes. */
	std::size_t used_bytes(const std::byte *at, std::size_t bytes)
	{
		unsigned long long found;
		cuda(cudaMemsetAsync(last_, 0, sizeof *last_, stream_), "a search");
		find_last<<<blocks, threads, 0, stream_>>>(
			reinterpret_cast<const std::uint64_t *>(at), bytes / sizeof(std::uint64_t), last_);
		cuda(cudaGetLastError(), "a search");
		read(&found, reinterpret_cast<const std::byte *>(last_), sizeof found);
		return found * sizeof(std::uint64_t);
	}

	Span head; /* the judge's own work before a call */

  private:
	static constexpr int blocks = 1024, threads = 256;
	static constexpr long long busy_cycles = 500'000; /* about 250 us */

	double measure_copy()
	{
		Span span;
		Values took;
		for (int i = 0; i < copies; i++) {
			span.begin(stream_);
			copy(cache_, cache_ + l2_bytes_, l2_bytes_);
			span.end(stream_);
			wait();
			took.push_back(span.elapsed_ns());
		}
		return center(took) / static_cast<double>(l2_bytes_);
	}

	static void keep_freed_memory()
	{
		cudaMemPool_t pool;
		std::uint64_t all = UINT64_MAX;
		cuda(cudaDeviceGetDefaultMemPool(&pool, 0), "the memory pool");
		cuda(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &all),
			"the memory pool");
	}

	using Clock = std::chrono::steady_clock;

	/* How long the judge leaves the GPU alone after a call: before each touch, and in all. */
	static constexpr double rest_ns = 120'000, most_rest_ns = 20'000'000;
	static constexpr std::size_t most_switches = 100; /* enough calls to know a switch's cost */
	/* For copy_ns: how many copies measure the rate, the factor on the rate as a margin, and the
	 * most that each launch takes in addition. */
	static constexpr int copies = 5;
	static constexpr double copy_margin = 1.25, launch_ns = 3000;

	cudaStream_t stream_ = nullptr;
	Values switches_;
	double switched_ns_ = 0; /* a longer touch shows a switch: half a switch's cost; 0: unknown */
	double copy_ns_per_byte_ = 0;
	double quickest_ns_ = std::numeric_limits<double>::infinity(); /* of all touches */
	std::size_t l2_bytes_ = 0;
	std::byte *cache_ = nullptr;
	unsigned *differs_ = nullptr;
	unsigned long long *last_ = nullptr;
	int filling_ = 0;
};

/* GPU memory that no contestant can reach. */
class PrivateMemory
{
  public:
	PrivateMemory() = default;
	PrivateMemory(PrivateMemory &&other) noexcept
		: memory_(std::exchange(other.memory_, nullptr)), bytes_(std::exchange(other.bytes_, 0))
	{
	}
	PrivateMemory &operator=(PrivateMemory &&other) noexcept
	{
		std::swap(memory_, other.memory_);
		std::swap(bytes_, other.bytes_);
		return *this;
	}
	~PrivateMemory()
	{
		release();
	}

	void need(std::size_t bytes)
	{
		if (bytes <= bytes_)
			return;
		release();
		memory_ = nullptr;
		bytes_ = 0;
		cuda(cudaMalloc(&memory_, bytes), "memory for a copy of the output");
		bytes_ = bytes;
	}

	std::byte *data() const
	{
		return memory_;
	}

  private:
	void release()
	{
		if (memory_)
			cudaFree(memory_);
	}

	std::byte *memory_ = nullptr;
	std::size_t bytes_ = 0;
};

/* For PODIUM_FRESH_MEMORY of utils.h: poisons new memory, so that an input that the task leaves
 * unwritten contains no result of an earlier call. */
inline void poison_fresh_memory(void *memory, std::size_t bytes)
{
	static std::uint64_t seed = 0;
	if (bytes >= sizeof(std::uint64_t))
		write_poison<<<1024, 256>>>(
			static_cast<std::uint64_t *>(memory), bytes / sizeof(std::uint64_t), ++seed, true);
}

} // namespace podium

#endif
