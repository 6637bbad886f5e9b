#pragma once

#include "task.h"

/* The signature: what participants write. */
__global__ void vector_add(const float *a, const float *b, float *sum, int size);

/* The set-up. */
inline input_t generate_input(int size, std::uint64_t seed)
{
	std::size_t count = static_cast<std::size_t>(size);
	input_t data{ DeviceBuffer<float>(count), DeviceBuffer<float>(count),
		DeviceBuffer<float>(count) };
	fill_uniform(data.a, random_bits(seed, 0), -2, 2);
	fill_uniform(data.b, random_bits(seed, 1), -2, 2);
	data.sum.poison();
	return data;
}

/* The launch. */
inline output_t custom_kernel(input_t data)
{
	int size = static_cast<int>(data.a.size());
	vector_add<<<(size + 255) / 256, 256>>>(data.a.data(), data.b.data(), data.sum.data(), size);
	return data.sum;
}

/* The validation. */
__global__ void reference_add(const float *a, const float *b, float *sum, int size)
{
	int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
	if (i < size)
		sum[i] = a[i] + b[i];
}

inline void check_implementation(
	TestReporter &reporter, const input_t &data, const output_t &output)
{
	int size = static_cast<int>(data.a.size());
	DeviceBuffer<float> expected(data.a.size());
	reference_add<<<(size + 255) / 256, 256>>>(data.a.data(), data.b.data(), expected.data(), size);
	CUDA_CHECK(cudaGetLastError());
	reporter.check_equal(output, expected);
}
