#pragma once

#include "task.h"

__global__ void reference_add_one(const float *source, float *sum, std::size_t count)
{
	std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
	if (i < count)
		sum[i] = source[i] + 1;
}

inline input_t generate_input(int work, std::size_t size, long amount, std::uint64_t seed)
{
	input_t data{ work, amount, DeviceBuffer<float>(size), DeviceBuffer<float>(size) };
	fill_uniform(data.source, seed, 0, 1);
	data.output.poison();
	return data;
}

inline void check_implementation(
	TestReporter &reporter, const input_t &data, const output_t &output)
{
	std::size_t count = data.source.size();
	DeviceBuffer<float> expected(count);
	reference_add_one<<<static_cast<unsigned>((count + 255) / 256), 256>>>(
		data.source.data(), expected.data(), count);
	CUDA_CHECK(cudaGetLastError());
	reporter.check_equal(output, expected);
}
