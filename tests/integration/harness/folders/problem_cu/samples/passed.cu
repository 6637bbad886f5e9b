__global__ void scale(const float *values, float *scaled, float factor, int size)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < size)
		scaled[i] = values[i] * factor;
}
