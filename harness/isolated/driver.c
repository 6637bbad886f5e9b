/* The CUDA driver, which is bound at its first use and stays loaded. */
#include "inside.h"

#include "driver.h"

#include <dlfcn.h>
#include <stdio.h>

struct cuda_driver isolated_cuda;

static const struct isolated_binding CALLS[] = {
#define CUDA_CALL(name, member, parameters) { #name, offsetof(struct cuda_driver, member) },
	CUDA_CALLS(CUDA_CALL)
#undef CUDA_CALL
};

int isolated_bind(void *library, const char *noun, const struct isolated_binding *calls,
	size_t count, void *members)
{
	for (size_t i = 0; i < count; i++) {
		void *found = dlsym(library, calls[i].name);
		if (!found)
			return isolated_fail(
				ISOLATED_FAILED, "%s is too old: it lacks %s.", noun, calls[i].name);
		*(void **)(void *)((char *)members + calls[i].member) = found;
	}
	return 0;
}

const char *isolated_binding_name(const struct isolated_binding *calls, size_t member)
{
	while (calls->member != member)
		calls++;
	return calls->name;
}

static int bind_library(void)
{
	if (isolated_cuda.library)
		return 0;
	void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
	if (!library)
		return isolated_fail(
			ISOLATED_FAILED, "The CUDA driver's libcuda.so.1 cannot be loaded: %s.", dlerror());
	int rc = isolated_bind(
		library, "The CUDA driver", CALLS, sizeof CALLS / sizeof *CALLS, &isolated_cuda);
	if (!rc)
		isolated_cuda.library = library;
	return rc;
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
	return status == CUDA_CALL_SUCCEEDED
		? 0
		: isolated_cuda_check_named(status, isolated_binding_name(CALLS, member));
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
