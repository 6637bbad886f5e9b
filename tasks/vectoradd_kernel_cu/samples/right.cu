/* Names and macros of its own must not meet those of the harness. */
#define CUDA_CHECK(call) (call)
#define run 1

struct Report {
	float value;
};

__device__ Report combine(float a, float b)
{
	return { a + b };
}

__global__ void vector_add(const float *a, const float *b, float *sum, int size)
{
	int i = run * (blockIdx.x * blockDim.x + threadIdx.x);
	if (i < size)
		sum[i] = combine(a[i], b[i]).value;
}
