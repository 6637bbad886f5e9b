__global__ void vector_add(const float *a, const float *b, float *sum, int size)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < size && blockIdx.x + 1 < gridDim.x)
		sum[i] = a[i] + b[i];
}
