/* A submission that is a __global__ function and nothing else, as in wrapped_kernel.cu:
 * reference.cuh has the custom_kernel that launches it. What else stands there comes along; it is
 * public, and knows no seed. */
#include "entry.h"
#include "reference.cuh"

PODIUM_ENTRY

#undef CUDA_CHECK

#include "submission.cuh"
