/* For the task vectoradd_cu and tests/gpu/sealed_judge: the call copies constants from the host, to
 * memory, to a variable, and from pinned memory. The sealed engine records them. Expected: passed.
 */
#include "task.h"

#include <vector>

__constant__ float offsets[2];

__global__ void add(const __half *a, const __half *b, __half *output, std::size_t count,
	const float *factors, const float *pinned)
{
	std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
	float sum = __half2float(a[i < count ? i : 0]) * factors[0] + offsets[0];
	sum += __half2float(b[i < count ? i : 0]) * factors[1] + offsets[1] + pinned[0];
	if (i < count)
		output[i] = __float2half(sum);
}

output_t custom_kernel(input_t data)
{
	static float *pinned = nullptr;
	if (!pinned)
		CUDA_CHECK(cudaMallocHost(&pinned, sizeof *pinned));
	*pinned = -4;
	const float made[] = { 1.5F, 2.5F };
	std::size_t count = data.a.size();
	DeviceBuffer<float> factors(std::vector<float>{ 1, 1 }), third(1);
	CUDA_CHECK(cudaMemcpyToSymbol(offsets, made, sizeof made));
	CUDA_CHECK(
		cudaMemcpyAsync(third.data(), pinned, sizeof *pinned, cudaMemcpyHostToDevice, nullptr));
	add<<<static_cast<unsigned>((count + 255) / 256), 256>>>(
		data.a.data(), data.b.data(), data.output.data(), count, factors.data(), third.data());
	return data.output;
}
