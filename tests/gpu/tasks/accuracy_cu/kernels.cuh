/* Kernels of known durations, for the sample and for measurements without the engine.
 * accuracy_py/samples/right.py explains `work`. */
#pragma once

#include <chrono>
#include <cstddef>

#include <cuda_runtime.h>

__global__ void add_one(const float *source, float *output, std::size_t count)
{
	std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
	if (i < count)
		output[i] = source[i] + 1;
}

__global__ void add_one_in_passes(
	const float4 *source, volatile float4 *output, std::size_t count, long passes)
{
	for (long pass = 0; pass < passes; pass++)
		for (std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
			 i < count; i += static_cast<std::size_t>(gridDim.x) * blockDim.x) {
			const float4 value = __ldcv(source + i);
			output[i].x = value.x + 1;
			output[i].y = value.y + 1;
			output[i].z = value.z + 1;
			output[i].w = value.w + 1;
		}
}

__global__ void add_one_after(const float *source, float *output, long cycles)
{
	const long long begin = clock64();
	while (clock64() - begin < cycles)
		;
	output[threadIdx.x] = source[threadIdx.x] + 1;
}

inline void add_part(const float *source, float *output, std::size_t count)
{
	add_one<<<static_cast<unsigned>((count + 255) / 256), 256>>>(source, output, count);
}

inline void wait_on_host(long us)
{
	const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(us);
	while (std::chrono::steady_clock::now() < end)
		;
}

inline void do_work(int work, const float *source, float *output, std::size_t count, long amount)
{
	const std::size_t parts = work == 4 ? 2
		: work >= 3                     ? static_cast<std::size_t>(amount)
										: 1,
					  step = count / parts;
	if (work == 2)
		add_one_after<<<1, static_cast<unsigned>(count)>>>(source, output, amount);
	else if (work == 1 && count % 4 == 0)
		add_one_in_passes<<<132 * 4, 512>>>(reinterpret_cast<const float4 *>(source),
			reinterpret_cast<volatile float4 *>(output), count / 4, amount);
	else
		for (std::size_t part = 0; part < parts; part++) {
			add_part(source + part * step, output + part * step, step);
			if (work == 4 && part == 0)
				wait_on_host(amount);
			if (work == 5)
				cudaDeviceSynchronize();
		}
}
