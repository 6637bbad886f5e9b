/* The CUDA driver, which is bound at its first use and stays loaded. */
#include "inside.h"

#include "driver.h"

#include <dlfcn.h>
#include <stdio.h>

struct cuda_driver isolated_cuda;

static const struct {
	const char *name;
	size_t member;
} CALLS[] = {
#define CUDA_CALL(name, member, parameters) { #name, offsetof(struct cuda_driver, member) },
	CUDA_CALLS(CUDA_CALL)
#undef CUDA_CALL
};

static int bind_library(void)
{
	if (isolated_cuda.library)
		return 0;
	void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
	if (!library)
		return isolated_fail(
			ISOLATED_FAILED, "The CUDA driver's libcuda.so.1 cannot be loaded: %s.", dlerror());
	for (size_t i = 0; i < sizeof CALLS / sizeof CALLS[0]; i++) {
		void *found = dlsym(library, CALLS[i].name);
		if (!found)
			return isolated_fail(
				ISOLATED_FAILED, "The CUDA driver is too old: it lacks %s.", CALLS[i].name);
		*(void **)(void *)((char *)&isolated_cuda + CALLS[i].member) = found;
	}
	isolated_cuda.library = library;
	return 0;
}

static const char *name_of(size_t member)
{
	size_t i = 0;
	while (CALLS[i].member != member)
		i++;
	return CALLS[i].name;
}

int isolated_cuda_check_named(unsigned int status, const char *name)
{
	const char *meaning = NULL;
	if (status == CUDA_CALL_SUCCEEDED)
		return 0;
	if (isolated_cuda.error_name(status, &meaning) || !meaning)
		meaning = "an error without a name";
	return isolated_fail(
		ISOLATED_FAILED, "The CUDA driver refused %s: %s (%u).", name, meaning, status);
}

int isolated_cuda_check(unsigned int status, size_t member)
{
	return status == CUDA_CALL_SUCCEEDED ? 0 : isolated_cuda_check_named(status, name_of(member));
}

int isolated_cuda_open(void)
{
	static struct CUctx_st *context;
	int device, rc = bind_library();
	if (!rc && !context) {
		rc = CUDA_DO(start, 0);
		if (!rc)
			rc = CUDA_DO(device_get, &device, 0);
		if (!rc)
			rc = CUDA_DO(primary_context, &context, device);
	}
	return rc ? rc : CUDA_DO(context_use, context);
}
