#include "calls.h"

#include "harness/isolated/inside.h"

int sealed_calls_check(const struct cubin *cubin, const char *kernel)
{
	const char *called;
	if (!cubin_find_refused_call(cubin, kernel, &called))
		return isolated_fail(ISOLATED_VIOLATION,
			"The kernel %.200s is not in its image, or its calls are nested too deep.", kernel);
	return called ? isolated_fail(ISOLATED_VIOLATION,
			   "The kernel %.200s calls %.80s. A sealed call may not print, allocate memory "
			   "or launch kernels on the GPU. Remove this from the kernel.",
			   kernel, called)
				  : 0;
}
