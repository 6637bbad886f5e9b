/* A submission to a task of the older form in C++, as in single_main.cu: a header that may include
 * the reference for its types. The reference is public and knows no seed. */
/* Podium's declaration gets another name, because the submission's custom_kernel may take its input
 * by reference. */
#define custom_kernel podium_custom_kernel
#include "entry.h"

output_t custom_kernel(input_t data);

PODIUM_ENTRY
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
