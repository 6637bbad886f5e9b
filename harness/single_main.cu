/* The program of a task in the older form in C++, where reference and submission are headers of one
 * source: eval.cu, then the submission, which defines `output_t custom_kernel(input_t data)`. It
 * stands last, so that its macros change nothing that stands before. */
#define custom_kernel \
	podium_custom_kernel /* so that the submission's may take its input by reference, too */
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
