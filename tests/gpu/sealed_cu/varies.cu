/* For the task vectoradd_cu and tests/gpu/sealed_judge: a parameter of the kernel differs from call
 * to call. Expected: refused, with a sentence about the kernel add and its parameter 4. */
#include "task.h"

__global__ void add(
	const __half *a, const __half *b, __half *output, std::size_t count, unsigned call)
{
	std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
	if (i < count && call)
		output[i] = __hadd(a[i], b[i]);
}

output_t custom_kernel(input_t data)
{
	static unsigned calls;
	std::size_t count = data.a.size();
	add<<<static_cast<unsigned>((count + 255) / 256), 256>>>(
		data.a.data(), data.b.data(), data.output.data(), count, ++calls);
	return data.output;
}
