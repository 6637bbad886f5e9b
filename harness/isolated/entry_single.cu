/* A submission to a task in the older form in C++, as in single_main.cu: a header, which may
 * include the reference for the types. The reference comes along; it is public, and knows no seed.
 */
#define custom_kernel \
	podium_custom_kernel /* so that the submission's may take its input by reference, too */
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
