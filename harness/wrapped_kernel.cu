/* The program of a task whose participants upload a __global__ function and nothing else.
 *reference.cuh declares that function, sets up its arguments in generate_input, launches it in
 *custom_kernel and checks the result:
 *
 *	__global__ void vector_add(const float *a, const float *b, float *c, int n);
 *
 *	inline output_t custom_kernel(input_t data)
 *	{
 *		vector_add<<<(data.n + 255) / 256, 256>>>(data.a.data(), data.b.data(), data.c.data(),
 *data.n); return data.c;
 *	}
 *
 * The function itself follows here. It stands last, so that nothing in it changes what stands
 *before; one with other parameters is another function, and leaves the declared one undefined. */
#include "eval.cu"

#undef CUDA_CHECK

#include "submission.cuh"
