__global__ void twice(float *values, int size)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < size)
		values[i] *= 3;
}
