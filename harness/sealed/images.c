#include "images.h"

#include "cupti.h"
#include "driver.h"
#include "harness/isolated/inside.h"

#include <dlfcn.h>
#include <stdio.h>

static struct cupti {
#define CUPTI_MEMBER(name, member, parameters) unsigned int(*member) parameters;
	CUPTI_CALLS(CUPTI_MEMBER)
#undef CUPTI_MEMBER
	struct CUpti_Subscriber_st *subscriber;
} cupti;

/* ---- the library ---- */

/* Loads the library from a place, which ends in a slash or is empty. */
static void *load_from(const char *folder, const char *place, int flags)
{
	static const char *const names[] = { "libcupti.so.13", "libcupti.so.12", "libcupti.so" };
	char path[4096];
	void *library = NULL;
	for (size_t i = 0; i < sizeof names / sizeof *names && !library; i++) {
		snprintf(path, sizeof path, "%s%s%s", folder, place, names[i]);
		library = dlopen(path, RTLD_NOW | RTLD_LOCAL | flags);
	}
	return library;
}

/* torch has its own CUPTI. Two in one process would not see each other. */
static void *load_library(const char *folder)
{
	/* The last two are of the package nvidia-cuda-cupti, for CUDA 13 and for CUDA 12. */
	static const char *const places[] = { "/", "/nvidia/cu13/lib/", "/nvidia/cuda_cupti/lib/" };
	void *library = load_from("", "", RTLD_NOLOAD);
	for (size_t i = 0; folder && i < sizeof places / sizeof *places && !library; i++)
		library = load_from(folder, places[i], 0);
	return library ? library : load_from("", "", 0);
}

static int bind_library(const char *folder)
{
	static const struct isolated_binding calls[] = {
#define CUPTI_CALL(name, member, parameters) { #name, offsetof(struct cupti, member) },
		CUPTI_CALLS(CUPTI_CALL)
#undef CUPTI_CALL
	};
	void *library = load_library(folder);
	if (!library)
		return isolated_fail(ISOLATED_FAILED,
			"NVIDIA's libcupti.so is not there. Install CUPTI, as with the Python package "
			"nvidia-cuda-cupti.");
	return isolated_bind(
		library, "NVIDIA's libcupti.so", calls, sizeof calls / sizeof *calls, &cupti);
}

static int check(unsigned int status, const char *name)
{
	const char *meaning = NULL;
	if (status == CUPTI_CALL_SUCCEEDED)
		return 0;
	if (status == CUPTI_CALL_TAKEN)
		return isolated_fail(ISOLATED_FAILED,
			"Another program uses CUPTI in this process, such as a profiler. Switch it off.");
	if (cupti.result_name(status, &meaning) || !meaning)
		meaning = "an error without a name";
	return isolated_fail(ISOLATED_FAILED, "CUPTI refused %s: %s (%u).", name, meaning, status);
}

/* ---- modules ---- */

/* The driver's call that this thread is in. CUPTI gives the image of a module within the call, and
 * the call gives the module at its end. */
static _Thread_local struct {
	size_t images[8]; /* their numbers in the record; later ones stay without a module */
	size_t image_count;
	bool is_asking; /* the call is this file's own */
} now;

static void hear_module(struct sealed_record *record, const struct cupti_module *module)
{
	if (!module->cubin || !module->bytes)
		return;
	const size_t image = sealed_record_image(record, NULL, module->cubin, module->bytes);
	if (now.image_count < sizeof now.images / sizeof *now.images)
		now.images[now.image_count++] = image;
}

/* Returns the module that a parameter of a call leads to; NULL: the driver does not tell. */
static struct CUmod_st *find_module(enum cupti_parameter kind, void *parameter)
{
	struct CUmod_st *module = NULL;
	struct CUfunc_st *function = parameter;
	unsigned int status = CUDA_CALL_SUCCEEDED;
	switch (kind) {
	case CUPTI_MODULE_MADE: module = *(struct CUmod_st **)parameter; break;
	case CUPTI_LIBRARY_MADE:
		status = sealed_cuda.library_module(&module, *(struct CUlib_st **)parameter);
		break;
	case CUPTI_LIBRARY:
	case CUPTI_LIBRARY_UNLOADED: status = sealed_cuda.library_module(&module, parameter); break;
	case CUPTI_FUNCTION_MADE:
		status = sealed_cuda.function_module(&module, *(struct CUfunc_st **)parameter);
		break;
	case CUPTI_FUNCTION:
		status = sealed_cuda.function_module(&module, function);
		if (status != CUDA_CALL_SUCCEEDED)
			status = sealed_cuda.kernel_function(&function, parameter);
		if (status == CUDA_CALL_SUCCEEDED && !module)
			status = sealed_cuda.function_module(&module, function);
		break;
	case CUPTI_MODULE_UNLOADED:
	case CUPTI_TEXTURE_MADE:
	case CUPTI_SURFACE_MADE: break;
	}
	return status == CUDA_CALL_SUCCEEDED ? module : NULL;
}

static const struct heard {
	uint32_t number;
	enum cupti_parameter kind;
	size_t at;
} HEARD[] = {
#define CUPTI_HEARD(name, number, kind, at, member) { number, kind, at },
	CUPTI_DRIVER_CALLS(CUPTI_HEARD)
#undef CUPTI_HEARD
};

/* Finds the module of the images that came in this call, or while the driver was asked for it. */
static const struct CUmod_st *note_module(
	struct sealed_record *record, enum cupti_parameter kind, void *parameter)
{
	now.is_asking = true;
	const struct CUmod_st *module = find_module(kind, parameter);
	now.is_asking = false;
	while (now.image_count)
		sealed_record_module(record, now.images[--now.image_count], module);
	return module;
}

static void hear_call(
	struct sealed_record *record, const struct heard *heard, const struct cupti_driver_call *call)
{
	void *const parameter = *(void *const *)((const char *)call->parameters + heard->at);
	if (call->site == CUPTI_SITE_ENTER) {
		now.image_count = 0; /* other images came in calls that are not heard */
		if (heard->kind == CUPTI_MODULE_UNLOADED)
			sealed_record_unload(record, parameter);
		if (heard->kind == CUPTI_LIBRARY_UNLOADED)
			sealed_record_unload(record, note_module(record, heard->kind, parameter));
		return;
	}
	if (*(const unsigned int *)call->status != CUDA_CALL_SUCCEEDED)
		return;
	if (heard->kind == CUPTI_TEXTURE_MADE)
		sealed_record_object(record, "texture");
	if (heard->kind == CUPTI_SURFACE_MADE)
		sealed_record_object(record, "surface");
	if (now.image_count)
		note_module(record, heard->kind, parameter);
}

/* CUPTI calls this on any thread, also for the calls of find_module. */
static void hear(void *ours, unsigned int domain, uint32_t number, const void *data)
{
	struct sealed_record *record = ours;
	if (domain == CUPTI_DOMAIN_RESOURCE && number == CUPTI_MODULE_LOADED)
		hear_module(record, ((const struct cupti_resource *)data)->descriptor);
	if (domain != CUPTI_DOMAIN_DRIVER || now.is_asking)
		return;
	for (size_t i = 0; i < sizeof HEARD / sizeof *HEARD; i++)
		if (HEARD[i].number == number)
			hear_call(record, &HEARD[i], data);
}

/* ---- listening ---- */

static int enable(unsigned int domain, uint32_t number)
{
	return check(cupti.enable(1, cupti.subscriber, domain, number), "cuptiEnableCallback");
}

int sealed_images_open(struct sealed_record *record, const char *folder)
{
	int rc = bind_library(folder);
	if (!rc)
		rc = check(cupti.subscribe(&cupti.subscriber, hear, record), "cuptiSubscribe");
	if (rc)
		return rc;
	rc = enable(CUPTI_DOMAIN_RESOURCE, CUPTI_MODULE_LOADED);
	if (!rc)
		rc = sealed_cuda_open(); /* hear_call needs it */
	for (size_t i = 0; i < sizeof HEARD / sizeof *HEARD && !rc; i++)
		rc = enable(CUPTI_DOMAIN_DRIVER, HEARD[i].number);
	if (rc)
		sealed_images_close();
	return rc;
}

void sealed_images_close(void)
{
	(void)cupti.unsubscribe(cupti.subscriber);
}
