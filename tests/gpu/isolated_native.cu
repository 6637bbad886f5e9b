/* Kernels of tests/gpu/isolated_native.c. */

static __device__ unsigned long long now_ns()
{
	unsigned long long now;
	asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
	return now;
}

extern "C" __global__ void nothing()
{
}

/* Runs for a while and keeps writing the GPU's time to the host and to the first 8 bytes of the
 * output. Writes the rest of the output at the end. Uses one block. */
extern "C" __global__ void hold(unsigned int *output, unsigned int words,
	unsigned long long duration_ns, unsigned long long *host_clock, unsigned int finished)
{
	volatile unsigned long long *output_clock = (unsigned long long *)output, *clock = host_clock;
	if (threadIdx.x == 0) {
		const unsigned long long begin = now_ns();
		unsigned long long now;
		do {
			now = now_ns();
			*output_clock = now;
			*clock = now;
		} while (now - begin < duration_ns);
	}
	__syncthreads();
	for (unsigned int i = 2 + threadIdx.x; i < words; i += blockDim.x)
		output[i] = finished;
}
