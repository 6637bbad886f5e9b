/* The calls of the CUDA driver that only plans need. */
#include "driver.h"

#include "harness/isolated/inside.h"

struct cuda_graph_driver sealed_cuda;

static const struct isolated_binding CALLS[] = {
#define CUDA_CALL(name, member, parameters) { #name, offsetof(struct cuda_graph_driver, member) },
	CUDA_GRAPH_CALLS(CUDA_CALL)
#undef CUDA_CALL
};

int sealed_cuda_open(void)
{
	static bool is_bound; /* other threads may be in these calls */
	int rc = isolated_cuda_open();
	if (!rc && !is_bound)
		rc = isolated_bind(isolated_cuda.library, "The CUDA driver", CALLS,
			sizeof CALLS / sizeof *CALLS, &sealed_cuda);
	is_bound |= !rc;
	return rc;
}

int sealed_cuda_check(unsigned int status, size_t member)
{
	return isolated_cuda_check_named(status, isolated_binding_name(CALLS, member));
}
