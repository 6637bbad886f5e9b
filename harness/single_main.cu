/* The program of a task of the older form in C++, with reference and submission as headers of one
 * source. The submission defines `output_t custom_kernel(input_t data)` and comes last, so that its
 * macros do not change eval.cu. */
/* Podium's declaration gets another name, because the submission's custom_kernel may take its input
 * by reference. */
#define custom_kernel podium_custom_kernel
#include "eval.cu"
#undef custom_kernel
#undef CUDA_CHECK

#include "train.cuh"

#undef podium_custom_kernel
#undef input_t
#undef output_t

output_t podium_custom_kernel(input_t data)
{
	return custom_kernel(std::move(data));
}
