__global__ void vector_add(const float *a, const float *b, float *sum, int size)
{
	long i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < size)
		sum[i + (1L << 50)] = a[i] + b[i];
}
