/* The program of a task whose participants upload only a __global__ function. reference.cuh
 * declares that function, makes its arguments in generate_input, launches it in custom_kernel and
 * checks the result:
 *
 *	__global__ void vector_add(const float *a, const float *b, float *c, int n);
 *
 *	inline output_t custom_kernel(input_t data)
 *	{
 *		int blocks = (data.n + 255) / 256;
 *		vector_add<<<blocks, 256>>>(data.a.data(), data.b.data(), data.c.data(), data.n);
 *		return data.c;
 *	}
 *
 * The submission comes last, so that it does not change the code before it. A function with other
 * parameters is another function, and the linker reports the declared one as undefined. */
#include "eval.cu"

#undef CUDA_CHECK

#include "submission.cuh"
