#include "images.h"

#include "cupti.h"
#include "driver.h"

#include <stdbool.h>

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

/* Finds the module of the images that came in this call. The driver may load a module only when
 * find_module asks for it, so images that come then belong to it, too. */
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
		now.image_count = 0; /* forget images that came in calls which are not in HEARD */
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

int sealed_images_open(struct sealed_record *record, const char *folders)
{
	int rc = sealed_cupti_open(folders, hear, record);
	if (rc)
		return rc;
	rc = sealed_cupti_enable(CUPTI_DOMAIN_RESOURCE, CUPTI_MODULE_LOADED);
	if (!rc)
		rc = sealed_cuda_open(); /* hear_call needs it */
	for (size_t i = 0; i < sizeof HEARD / sizeof *HEARD && !rc; i++)
		rc = sealed_cupti_enable(CUPTI_DOMAIN_DRIVER, HEARD[i].number);
	if (rc)
		sealed_images_close();
	return rc;
}

void sealed_images_close(void)
{
	sealed_cupti_close();
}
