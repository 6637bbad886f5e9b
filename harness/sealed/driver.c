/* The calls of the CUDA driver that only plans need. */
#include "driver.h"

#include "harness/isolated/inside.h"

#include <dlfcn.h>

struct cuda_graph_driver sealed_cuda;

static const struct {
	const char *name;
	size_t member;
} CALLS[] = {
#define CUDA_CALL(name, member, parameters) { #name, offsetof(struct cuda_graph_driver, member) },
	CUDA_GRAPH_CALLS(CUDA_CALL)
#undef CUDA_CALL
};

int sealed_cuda_open(void)
{
	static bool is_bound; /* other threads may be in these calls */
	int rc = isolated_cuda_open();
	for (size_t i = 0; !rc && !is_bound && i < sizeof CALLS / sizeof *CALLS; i++) {
		void *found = dlsym(isolated_cuda.library, CALLS[i].name);
		if (!found)
			return isolated_fail(
				ISOLATED_FAILED, "The CUDA driver is too old: it lacks %s.", CALLS[i].name);
		*(void **)(void *)((char *)&sealed_cuda + CALLS[i].member) = found;
	}
	is_bound |= !rc;
	return rc;
}

int sealed_cuda_check(unsigned int status, size_t member)
{
	size_t i = 0;
	while (CALLS[i].member != member)
		i++;
	return isolated_cuda_check_named(status, CALLS[i].name);
}
