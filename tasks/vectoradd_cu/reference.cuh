#pragma once

#include "task.h"

__global__ void reference_add(const __half *a, const __half *b, __half *sum, std::size_t count)
{
	std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
	if (i < count)
		sum[i] = __float2half(__half2float(a[i]) + __half2float(b[i]));
}

inline input_t generate_input(std::size_t size, std::uint64_t seed)
{
	std::size_t count = size * size;
	input_t data{ DeviceBuffer<__half>(count), DeviceBuffer<__half>(count),
		DeviceBuffer<__half>(count) };
	fill_uniform(data.a, random_bits(seed, 0), -2, 2);
	fill_uniform(data.b, random_bits(seed, 1), -2, 2);
	data.output.poison();
	return data;
}

inline bool is_output_of(const input_t &data, const output_t &output)
{
	return output.data() == data.output.data();
}

inline void check_implementation(
	TestReporter &reporter, const input_t &data, const output_t &output)
{
	std::size_t count = data.a.size();
	DeviceBuffer<__half> expected(count);
	reference_add<<<static_cast<unsigned>((count + 255) / 256), 256>>>(
		data.a.data(), data.b.data(), expected.data(), count);
	CUDA_CHECK(cudaGetLastError());
	reporter.check_close(output, expected, 1e-3, 1e-3);
}
