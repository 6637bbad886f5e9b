__global__ void scale(const float *values, float *scaled, int size, float factor)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < size)
		scaled[i] = values[i] * factor;
}
