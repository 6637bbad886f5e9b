/* A submission that is only a __global__ function, as in wrapped_kernel.cu: reference.cuh has the
 * custom_kernel that launches it. The rest of reference.cuh is public and knows no seed. */
#include "entry.h"
#include "reference.cuh"

PODIUM_ENTRY

#undef CUDA_CHECK

#include "submission.cuh"
