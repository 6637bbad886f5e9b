#include "cupti.h"

#include "harness/isolated/driver.h"
#include "harness/isolated/inside.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

struct cupti sealed_cupti;
static struct CUpti_Subscriber_st *subscriber;

/* Loads the library from a place, which ends in a slash or is empty. `length`: of the folder. */
static void *load_from(const char *folder, size_t length, const char *place, int flags)
{
	static const char *const names[] = { "libcupti.so.13", "libcupti.so.12", "libcupti.so" };
	char path[4096];
	void *library = NULL;
	for (size_t i = 0; i < sizeof names / sizeof *names && !library; i++) {
		const int written =
			snprintf(path, sizeof path, "%.*s%s%s", (int)length, folder, place, names[i]);
		if (written > 0 && (size_t)written < sizeof path)
			library = dlopen(path, RTLD_NOW | RTLD_LOCAL | flags);
	}
	return library;
}

static void *load_from_folder(const char *folder, size_t length)
{
	/* The last two are of the package nvidia-cuda-cupti, for CUDA 13 and for CUDA 12. */
	static const char *const places[] = { "/", "/nvidia/cu13/lib/", "/nvidia/cuda_cupti/lib/" };
	void *library = NULL;
	for (size_t i = 0; i < sizeof places / sizeof *places && !library; i++)
		library = load_from(folder, length, places[i], 0);
	return library;
}

/* torch has its own CUPTI. Two in one process would not see each other. */
static void *load_library(const char *folders)
{
	void *library = load_from("", 0, "", RTLD_NOLOAD);
	for (size_t length; folders && *folders && !library; folders += length + !!folders[length]) {
		length = strcspn(folders, ":");
		if (length)
			library = load_from_folder(folders, length);
	}
	return library ? library : load_from("", 0, "", 0);
}

static int bind_library(const char *folders)
{
	static const struct isolated_binding calls[] = {
#define CUPTI_CALL(name, member, parameters) { #name, offsetof(struct cupti, member) },
		CUPTI_CALLS(CUPTI_CALL)
#undef CUPTI_CALL
	};
	void *library = load_library(folders);
	if (!library)
		return isolated_fail(ISOLATED_FAILED,
			"NVIDIA's libcupti.so is not there. Install CUPTI, as with the Python package "
			"nvidia-cuda-cupti.");
	return isolated_bind(
		library, "NVIDIA's libcupti.so", calls, sizeof calls / sizeof *calls, &sealed_cupti);
}

int sealed_cupti_check(unsigned int status, const char *name)
{
	const char *meaning = NULL;
	if (status == CUPTI_CALL_SUCCEEDED)
		return 0;
	if (status == CUPTI_CALL_TAKEN)
		return isolated_fail(ISOLATED_FAILED,
			"Another program uses CUPTI in this process, such as a profiler. Switch it off.");
	if (sealed_cupti.result_name(status, &meaning) || !meaning)
		meaning = "an error without a name";
	return isolated_fail(ISOLATED_FAILED, "CUPTI refused %s: %s (%u).", name, meaning, status);
}

int sealed_cupti_open(const char *folders, cupti_hear hear, void *ours)
{
	int rc = bind_library(folders);
	return rc
		? rc
		: sealed_cupti_check(sealed_cupti.subscribe(&subscriber, hear, ours), "cuptiSubscribe");
}

void sealed_cupti_close(void)
{
	(void)sealed_cupti.unsubscribe(subscriber);
}

int sealed_cupti_enable(unsigned int domain, uint32_t number)
{
	return sealed_cupti_check(
		sealed_cupti.enable(1, subscriber, domain, number), "cuptiEnableCallback");
}
