/* Helpers for eval.cu, a task's reference.cuh and submissions in CUDA C++: exit codes, CUDA_CHECK,
 * device buffers, reproducible random inputs, and comparisons that say what differs. */
#ifndef PODIUM_UTILS_H
#define PODIUM_UTILS_H

#include <cuda_runtime.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

namespace ExitCodes
{
constexpr int RAISED = 1; /* the submission threw an exception */
constexpr int USAGE = 2;
constexpr int CUDA_API = 110;   /* a CUDA call failed */
constexpr int REPORT = 111;     /* the results cannot be written */
constexpr int VALIDATION = 112; /* the answer is wrong */
constexpr int CASES = 113;      /* the cases cannot be read */
} // namespace ExitCodes

/* If a CUDA call failed, prints the call and its error and ends the program with CUDA_API. */
#define CUDA_CHECK(call) podium_cuda_check((call), #call, __FILE__, __LINE__)

inline void podium_cuda_check(cudaError_t status, const char *call, const char *file, int line)
{
	if (status == cudaSuccess)
		return;
	std::fflush(stdout);
	std::fprintf(stderr, "%s:%d: %s failed: %s (%s)\n", file, line, call,
		cudaGetErrorString(status), cudaGetErrorName(status));
	/* Skip destructors, which would call a CUDA that may be gone. */
	std::_Exit(ExitCodes::CUDA_API);
}

/* ---- device memory ---- */

/* Called with new memory before its first use. The isolated engine sets a function that poisons the
 * memory, so that nobody can read its earlier content. */
inline void (*podium_fresh_memory)(void *memory, std::size_t bytes) = nullptr;
#define PODIUM_FRESH_MEMORY podium_fresh_memory

/* An array on the GPU. Copies of the object share the memory, so passing one by value costs little;
 * clone() copies the memory, too. The last object frees the memory. The allocation, copies and the
 * release happen in the order of the default stream. */
template <class T> class DeviceBuffer
{
  public:
	using value_type = T;

	DeviceBuffer() = default;

	explicit DeviceBuffer(std::size_t size) : size_(size)
	{
		T *memory = nullptr;
		if (size)
			CUDA_CHECK(cudaMallocAsync(&memory, size * sizeof(T), nullptr));
		memory_ = std::shared_ptr<T>(memory, [](T *held) { cudaFreeAsync(held, nullptr); });
		if (podium_fresh_memory)
			podium_fresh_memory(memory, bytes());
	}

	explicit DeviceBuffer(const std::vector<T> &values) : DeviceBuffer(values.size())
	{
		CUDA_CHECK(cudaMemcpy(data(), values.data(), bytes(), cudaMemcpyHostToDevice));
	}

	/* Makes an object for memory that somebody else owns. The memory must outlive the object. */
	static DeviceBuffer view(T *data, std::size_t size)
	{
		DeviceBuffer made;
		made.memory_ = std::shared_ptr<T>(std::shared_ptr<T>(), data);
		made.size_ = size;
		return made;
	}

	T *data() const
	{
		return memory_.get();
	}
	std::size_t size() const
	{
		return size_;
	}
	std::size_t bytes() const
	{
		return size_ * sizeof(T);
	}

	DeviceBuffer clone() const
	{
		DeviceBuffer made(size_);
		CUDA_CHECK(
			cudaMemcpyAsync(made.data(), data(), bytes(), cudaMemcpyDeviceToDevice, nullptr));
		return made;
	}

	std::vector<T> to_host() const
	{
		std::vector<T> values(size_);
		CUDA_CHECK(cudaMemcpy(values.data(), data(), bytes(), cudaMemcpyDeviceToHost));
		return values;
	}

	/* Sets every byte to 0xff: NaN for floating-point types, -1 for signed integers. So elements
	 * that a kernel forgets to write show. */
	void poison() const
	{
		CUDA_CHECK(cudaMemset(data(), 0xff, bytes()));
	}

  private:
	std::shared_ptr<T> memory_;
	std::size_t size_ = 0;
};

/* ---- reproducible random values, made on the GPU ---- */

/* 64 well mixed bits for each (seed, index): the finaliser of SplitMix64 (Steele, Lea, Flood 2014).
 */
__host__ __device__ inline std::uint64_t random_bits(std::uint64_t seed, std::uint64_t index)
{
	std::uint64_t z = seed * 0xd1342543de82ef95ull + (index + 1) * 0x9e3779b97f4a7c15ull;
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	return z ^ (z >> 31);
}

template <class T>
__global__ void podium_fill_uniform(
	T *values, std::size_t size, std::uint64_t seed, float low, float high)
{
	std::size_t step = static_cast<std::size_t>(gridDim.x) * blockDim.x;
	for (std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < size;
		 i += step) {
		float unit = static_cast<float>(random_bits(seed, i) >> 40) * 0x1p-24f; /* 0 <= unit < 1 */
		values[i] = static_cast<T>(low + (high - low) * unit);
	}
}

/* The i-th value depends only on the seed and i. */
template <class T>
void fill_uniform(const DeviceBuffer<T> &buffer, std::uint64_t seed, float low, float high)
{
	if (buffer.size())
		podium_fill_uniform<<<1024, 256>>>(buffer.data(), buffer.size(), seed, low, high);
	CUDA_CHECK(cudaGetLastError());
}

/* ---- the result of a check ---- */

/* The result of a check. A check calls pass(), or fail() with the reason, or check_equal() and
 * check_close(), which each add their failure. A check that calls nothing has not passed.
 *
 *	reporter.fail() << "the sum is " << got << ", expected " << expected; */
class TestReporter
{
  public:
	void pass()
	{
		passed_ = true;
	}

	std::ostream &fail()
	{
		if (failed_)
			text_ << '\n';
		failed_ = true;
		return text_;
	}

	template <class Got, class Expected>
	bool check_equal(const char *what, const Got &got, const Expected &expected)
	{
		bool good = got == expected;
		if (good)
			pass();
		else
			fail() << what << " is " << got << ", expected " << expected;
		return good;
	}

	template <class T>
	bool check_close(
		const DeviceBuffer<T> &got, const DeviceBuffer<T> &expected, double rtol, double atol);

	/* Compares values and not bits: 0.0 equals -0.0, and NaN differs even from NaN. */
	template <class T> bool check_equal(const DeviceBuffer<T> &got, const DeviceBuffer<T> &expected)
	{
		return check_close(got, expected, 0, 0);
	}

	bool has_passed() const
	{
		return passed_ && !failed_;
	}

	std::string message() const
	{
		return failed_ || passed_
			? text_.str()
			: "check_implementation said neither that the output is right nor why it is wrong.";
	}

  private:
	bool passed_ = false, failed_ = false;
	std::ostringstream text_;
};

__host__ __device__ inline bool podium_is_close(
	double got, double expected, double rtol, double atol)
{
	return got == expected || fabs(got - expected) <= atol + rtol * fabs(expected);
}

template <class T>
__global__ void podium_count_wrong(const T *got, const T *expected, std::size_t size, double rtol,
	double atol, unsigned long long *wrong)
{
	std::size_t step = static_cast<std::size_t>(gridDim.x) * blockDim.x;
	unsigned long long mine = 0;
	for (std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < size;
		 i += step)
		mine += !podium_is_close(
			static_cast<double>(got[i]), static_cast<double>(expected[i]), rtol, atol);
	if (mine)
		atomicAdd(wrong, mine);
}

/* Compares on the GPU: |got - expected| <= atol + rtol * |expected| for every element. */
template <class T>
bool TestReporter::check_close(
	const DeviceBuffer<T> &got, const DeviceBuffer<T> &expected, double rtol, double atol)
{
	if (got.size() != expected.size()) {
		fail() << "the output has " << got.size() << " elements, expected " << expected.size();
		return false;
	}
	DeviceBuffer<unsigned long long> counter(std::vector<unsigned long long>{ 0 });
	if (got.size())
		podium_count_wrong<<<1024, 256>>>(
			got.data(), expected.data(), got.size(), rtol, atol, counter.data());
	CUDA_CHECK(cudaGetLastError());
	unsigned long long wrong = counter.to_host()[0];
	if (!wrong) {
		pass();
		return true;
	}
	constexpr int most_shown = 5;
	std::vector<T> mine = got.to_host(), right = expected.to_host();
	std::ostream &out = fail();
	out.precision(9);
	out << wrong << " of " << got.size() << " elements are wrong, the first at ";
	int shown = 0;
	for (std::size_t i = 0; i < mine.size() && shown < most_shown; i++) {
		double a = static_cast<double>(mine[i]), b = static_cast<double>(right[i]);
		if (podium_is_close(a, b, rtol, atol))
			continue;
		out << (shown++ ? "\n" : "") << '[' << i << "]: expected " << b << ", got " << a;
		if (rtol > 0 || atol > 0)
			out << " (off by " << std::fabs(a - b) << ", tolerance " << atol + rtol * std::fabs(b)
				<< ')';
	}
	return false;
}

#endif
