/* Images of modules, as a pretended CUPTI tells of them. In most tests, all modules have a kernel
 * of the same name, so that only its module says which image is right. */
#include "harness/sealed/images.h"

#include "harness/isolated/native.h"
#include "harness/sealed/cubin.h"
#include "harness/sealed/driver.h"
#include "harness/sealed/plan.h"
#include "lib/base/scope.h"
#include "tests/lib/make_cubin.h"
#include "tests/lib/pretend_cuda.h"
#include "tests/lib/pretend_cupti.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <cmocka.h>

#if __has_include(<cupti.h>)
#include "tests/gpu/cupti_declarations.h"
#endif

static struct pretend_cuda *pretends;
static struct pretend_cupti *cupti;

static int load(void **state)
{
	(void)state;
	pretends = pretend_load();
	return 0;
}

static void declarations_match_the_library(void **state)
{
	(void)state;
#ifdef PODIUM_TESTS_GPU_CUPTI_DECLARATIONS_H
	assert_true(CUPTI_API_VERSION >= 18);
#else
	print_message("cupti.h is not here\n");
	skip();
#endif
}

/* The path of a file in this program's folder. */
static const char *path_of(const char *name)
{
	static char path[4096];
	ssize_t length = readlink("/proc/self/exe", path, sizeof path - 64);
	assert_true(length > 0);
	path[length] = '\0';
	strcpy(strrchr(path, '/') + 1, name);
	return path;
}

/* ---- where the library is ----
 *
 * A process keeps the library, so each case is in a process for itself. These tests come first. */

static void open_in_child(const char *folders, const char *why)
{
	pid_t child = fork();
	if (!child) {
		struct sealed_record *record = sealed_record_new();
		const bool is_right =
			sealed_images_open(record, folders) ? why && strcmp(isolated_why(), why) == 0 : !why;
		if (!is_right)
			fprintf(stderr, "%s\n", isolated_why());
		_exit(!is_right);
	}
	int status;
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

/* Opens with a link to a file at `place` in the second of two folders. */
static void open_at(const char *place, const char *file, const char *why)
{
	char folder[] = "/tmp/podium-images.XXXXXX", folders[64], path[512];
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof path, "%s/%s", folder, place);
	for (char *slash = path + strlen(folder); (slash = strchr(slash + 1, '/'));) {
		*slash = '\0';
		mkdir(path, 0700);
		*slash = '/';
	}
	assert_int_equal(symlink(path_of(file), path), 0);
	snprintf(folders, sizeof folders, "/nowhere:%s", folder);
	open_in_child(folders, why);
	unlink(path);
	for (char *slash; strcmp(path, folder) != 0 && (slash = strrchr(path, '/'));) {
		*slash = '\0';
		rmdir(path);
	}
}

static void the_library_is_found_in_its_places(void **state)
{
	(void)state;
	open_at("libcupti.so.13", "libcupti.so.13", NULL);
	open_at("libcupti.so.12", "libcupti.so.13", NULL);
	open_at("libcupti.so", "libcupti.so.13", NULL);
	open_at("nvidia/cu13/lib/libcupti.so.13", "libcupti.so.13", NULL);
	open_at("nvidia/cuda_cupti/lib/libcupti.so.12", "libcupti.so.13", NULL);
}

static void a_missing_or_old_library_is_an_error(void **state)
{
	(void)state;
	open_at("libcupti.so.13", "libcuda.so.1",
		"NVIDIA's libcupti.so is too old: it lacks cuptiSubscribe.");
	if (dlopen("libcupti.so.13", RTLD_NOW) || dlopen("libcupti.so.12", RTLD_NOW)
		|| dlopen("libcupti.so", RTLD_NOW))
		return; /* this system has one */
	static const char why[] = "NVIDIA's libcupti.so is not there. Install CUPTI, as with the "
							  "Python package nvidia-cuda-cupti.";
	open_at("libother.so", "libcupti.so.13", why);
	open_in_child(NULL, why);
}

static void a_library_that_is_loaded_already_is_used(void **state)
{
	(void)state;
	void *library = dlopen(path_of("libcupti.so.13"), RTLD_NOW | RTLD_LOCAL);
	assert_non_null(library);
	open_in_child(NULL, NULL);
	/* The one in the folder lacks all calls. */
	open_at("libcupti.so.13", "libcuda.so.1", NULL);
	cupti = dlsym(library, "pretend_cupti");
	assert_non_null(cupti);
	pretends->tell = cupti->tell_call;
}

/* ---- modules ---- */

static struct sealed_record *start(void)
{
	struct sealed_record *record = sealed_record_new();
	assert_int_equal(sealed_images_open(record, NULL), 0);
	return record;
}

static void finish(struct sealed_record *record)
{
	sealed_images_close();
	assert_null(cupti->hear);
	sealed_record_free(record);
}

/* A module with the kernel add_one. */
struct module {
	uint8_t image[cubin_bytes];
	struct CUlib_st *library; /* also the CUmodule */
	struct CUkern_st *kernel;
	struct CUfunc_st *function;
};

/* `mark`: a word that makes the image differ from others. */
static void make_module(struct module *module, const char *mark)
{
	char text[128];
	snprintf(text, sizeof text, "kernel add_one 8 4\nkernel %s\n", mark);
	make_cubin(module->image, text, "__assertfail", 0);
	assert_int_equal(
		sealed_cuda.library_load(&module->library, module->image, NULL, NULL, 0, NULL, NULL, 0), 0);
	assert_int_equal(sealed_cuda.library_kernel(&module->kernel, module->library, "add_one"), 0);
	assert_int_equal(sealed_cuda.kernel_function(&module->function, module->kernel), 0);
}

static void make_two(struct module two[static 2])
{
	make_module(&two[0], "first");
	make_module(&two[1], "second");
}

/* Makes the image of a module, but with a kernel sub_one. */
static void make_other(uint8_t image[static cubin_bytes], const struct module *module)
{
	enum { text_end = 320 }; /* the names of the cubin come after it */
	memcpy(image, module->image, cubin_bytes);
	memcpy(memmem(image + text_end, cubin_bytes - text_end, "add_one", 7), "sub", 3);
}

static void free_two(const struct module two[static 2])
{
	sealed_cuda.library_unload(two[0].library);
	sealed_cuda.library_unload(two[1].library);
}

/* Makes the plan of a graph that launches the kernels of these modules. */
static int make_plan(struct sealed_record *record, const struct module *modules, size_t count)
{
	uint64_t address = 0;
	uint32_t elements = 0;
	void *parameters[] = { &address, &elements };
	struct CUgraph_st *graph;
	struct CUgraphNode_st *node;
	char *text = NULL;
	assert_int_equal(sealed_cuda.graph_make(&graph, 0), 0);
	for (size_t i = 0; i < count; i++) {
		const struct cuda_kernel_node kernel = { .function = modules[i].function,
			.grid = { 1, 1, 1 },
			.block = { 1, 1, 1 },
			.parameters = parameters };
		assert_int_equal(sealed_cuda.graph_add_kernel(&node, graph, NULL, 0, &kernel), 0);
	}
	int rc = sealed_record_plan(record, graph, &text);
	free(text);
	sealed_cuda.graph_free(graph);
	return rc;
}

/* Checks which image a plan of a module's kernel has. */
static void assert_image(
	struct sealed_record *record, const struct module *module, const uint8_t *image)
{
	size_t length;
	if (make_plan(record, module, 1))
		fail_msg("%s", isolated_why());
	const void *blob = sealed_record_blob(record, 0, &length);
	assert_int_equal(length, cubin_bytes);
	assert_memory_equal(blob, image, cubin_bytes);
	assert_null(sealed_record_blob(record, 1, &length));
}

static void assert_both_images(struct sealed_record *record, const struct module two[static 2])
{
	assert_image(record, &two[0], two[0].image);
	assert_image(record, &two[1], two[1].image);
}

static void assert_refused(
	struct sealed_record *record, const struct module *module, const char *why)
{
	assert_int_equal(make_plan(record, module, 1), ISOLATED_VIOLATION);
	assert_string_equal(isolated_why(), why);
}

static const char UNKNOWN[] =
	"The kernel add_one is in a module that was loaded in an unknown way.";
static const char TWO_MODULES[] =
	"Two modules have a kernel add_one, and CUDA does not say which one the call launches. Rename "
	"one of them.";

/* ---- calls that load ---- */

enum handle { MODULE_MADE, LIBRARY_MADE, LIBRARY, FUNCTION_MADE, FUNCTION, KERNEL };

/* A call of the driver by its number in CUPTI, and which of its parameters is a handle. Each
 * parameter before the handle takes 8 bytes. */
struct way {
	uint32_t number;
	enum handle handle;
	size_t at;
};

static const struct way LOAD_DATA = { 19, MODULE_MADE, 0 };

static void tell(
	const struct way *way, unsigned int site, const struct module *module, unsigned int status)
{
	void *const handles[] = { [MODULE_MADE] = module->library,
		[LIBRARY_MADE] = module->library,
		[LIBRARY] = module->library,
		[FUNCTION_MADE] = module->function,
		[FUNCTION] = module->function,
		[KERNEL] = module->kernel };
	void *handle = handles[way->handle], *parameters[4] = { NULL };
	const bool is_made =
		way->handle == MODULE_MADE || way->handle == LIBRARY_MADE || way->handle == FUNCTION_MADE;
	parameters[way->at] = is_made ? &handle : handle;
	cupti->tell_call(way->number, site, parameters, status);
}

/* A call that loads a module, which the driver may give another image than its own. */
static void load_image(const struct way *way, const struct module *module, const void *image)
{
	tell(way, CUPTI_SITE_ENTER, module, 0);
	cupti->tell_module(image, cubin_bytes);
	tell(way, CUPTI_SITE_EXIT, module, 0);
}

static void load_two(const struct way *way, const struct module two[static 2])
{
	load_image(way, &two[0], two[0].image);
	load_image(way, &two[1], two[1].image);
}

static void each_way_of_loading_tells_the_module(void **state)
{
	(void)state;
	static const struct way ways[] = {
		{ 18, MODULE_MADE, 0 },                 /* cuModuleLoad */
		{ 19, MODULE_MADE, 0 },                 /* cuModuleLoadData */
		{ 20, MODULE_MADE, 0 },                 /* cuModuleLoadDataEx */
		{ 21, MODULE_MADE, 0 },                 /* cuModuleLoadFatBinary */
		{ 678, LIBRARY_MADE, 0 },               /* cuLibraryLoadData */
		{ 679, LIBRARY_MADE, 0 },               /* cuLibraryLoadFromFile */
		{ 682, MODULE_MADE, 0 },                /* cuLibraryGetModule */
		{ 684, LIBRARY, 2 },                    /* cuLibraryGetGlobal */
		{ 685, LIBRARY, 2 },                    /* cuLibraryGetManaged */
		{ 683, FUNCTION_MADE, 0 },              /* cuKernelGetFunction */
		{ 686, KERNEL, 2 },                     /* cuKernelGetAttribute */
		{ 687, KERNEL, 1 },                     /* cuKernelSetAttribute */
		{ 374, KERNEL, 1 },                     /* cuOccupancyMaxActiveBlocksPerMultiprocessor */
		{ 451, KERNEL, 1 },                     /* the same WithFlags */
		{ 307, FUNCTION, 0 },                   /* cuLaunchKernel */
		{ 307, KERNEL, 0 }, { 442, KERNEL, 0 }, /* cuLaunchKernel_ptsz */
		{ 652, KERNEL, 1 },                     /* cuLaunchKernelEx */
		{ 653, KERNEL, 1 },                     /* cuLaunchKernelEx_ptsz */
		{ 477, KERNEL, 0 },                     /* cuLaunchCooperativeKernel */
		{ 478, KERNEL, 0 },                     /* cuLaunchCooperativeKernel_ptsz */
	};
	for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
		struct sealed_record *record = start();
		struct module two[2];
		make_two(two);
		load_two(&ways[i], two);
		assert_both_images(record, two);
		free_two(two);
		finish(record);
	}
}

static void one_plan_has_kernels_of_two_modules(void **state)
{
	(void)state;
	struct sealed_record *record = start();
	struct module two[2];
	size_t length;
	make_two(two);
	load_two(&LOAD_DATA, two);
	assert_int_equal(make_plan(record, two, 2), 0);
	assert_memory_equal(sealed_record_blob(record, 0, &length), two[0].image, cubin_bytes);
	assert_memory_equal(sealed_record_blob(record, 1, &length), two[1].image, cubin_bytes);
	free_two(two);
	finish(record);
}

/* In a launch, the driver may load modules of its own besides the one of the kernel. */
static void a_call_may_load_two_images(void **state)
{
	(void)state;
	static const char helper[] = "a module of the driver";
	struct sealed_record *record = start();
	struct module two[2];
	make_two(two);
	load_image(&LOAD_DATA, &two[1], two[1].image);
	tell(&LOAD_DATA, CUPTI_SITE_ENTER, &two[0], 0);
	cupti->tell_module(two[0].image, cubin_bytes);
	cupti->tell_module(helper, sizeof helper);
	tell(&LOAD_DATA, CUPTI_SITE_EXIT, &two[0], 0);
	assert_both_images(record, two);
	free_two(two);
	finish(record);
}

static void a_call_may_load_many_images(void **state)
{
	(void)state;
	struct sealed_record *record = start();
	struct module two[2];
	make_two(two);
	tell(&LOAD_DATA, CUPTI_SITE_ENTER, &two[0], 0);
	for (size_t i = 0; i < 8; i++)
		cupti->tell_module(two[0].image, cubin_bytes);
	cupti->tell_module(two[1].image, cubin_bytes); /* stays without a module */
	tell(&LOAD_DATA, CUPTI_SITE_EXIT, &two[0], 0);
	assert_both_images(record, two);
	free_two(two);
	finish(record);
}

static void a_call_without_its_module_tells_nothing(void **state)
{
	(void)state;
	static const struct way launch = { 307, KERNEL, 0 };
	struct sealed_record *record = start();
	struct module two[2];
	make_two(two);
	/* A failed call has no handle. */
	for (size_t i = 0; i < 2; i++) {
		tell(&LOAD_DATA, CUPTI_SITE_ENTER, &two[i], 0);
		cupti->tell_module(two[i].image, cubin_bytes);
		tell(&LOAD_DATA, CUPTI_SITE_EXIT, &two[0], 1);
	}
	assert_refused(record, &two[0], TWO_MODULES);
	finish(record);
	record = start();
	pretends->refuses = "cuFuncGetModule";
	load_two(&launch, two);
	pretends->refuses = NULL;
	assert_refused(record, &two[0], TWO_MODULES);
	free_two(two);
	finish(record);
}

/* ---- modules that are not known ---- */

static void an_image_without_a_module_is_found_by_its_kernel(void **state)
{
	(void)state;
	struct sealed_record *record = start();
	struct module two[2];
	make_two(two);
	/* A call that is not heard, then one that is. */
	cupti->tell_module(two[0].image, cubin_bytes);
	load_image(&LOAD_DATA, &two[1], two[1].image);
	assert_both_images(record, two);
	finish(record);
	/* The second image has a kernel of another name. */
	record = start();
	uint8_t other[cubin_bytes];
	make_other(other, &two[1]);
	cupti->tell_module(two[0].image, cubin_bytes);
	cupti->tell_module(other, cubin_bytes);
	assert_image(record, &two[0], two[0].image);
	free_two(two);
	finish(record);
}

static void only_functions_of_a_cubin_are_kernels(void **state)
{
	(void)state;
	uint8_t image[cubin_bytes];
	struct cubin cubin;
	make_cubin(image, "", "vprintf", 0);
	assert_true(cubin_open(&cubin, image, sizeof image));
	assert_true(cubin_has_function(&cubin, "add_one"));
	assert_true(cubin_has_function(&cubin, "add_gain"));
	assert_false(cubin_has_function(&cubin, "add"));
	assert_false(cubin_has_function(&cubin, "gain"));    /* a variable */
	assert_false(cubin_has_function(&cubin, "vprintf")); /* in the driver */
}

static void images_without_modules_that_have_the_same_kernel_are_refused(void **state)
{
	(void)state;
	struct sealed_record *record = start();
	struct module two[2];
	make_two(two);
	cupti->tell_module(two[0].image, cubin_bytes);
	cupti->tell_module(two[1].image, cubin_bytes);
	assert_refused(record, &two[0], TWO_MODULES);
	free_two(two);
	finish(record);
}

/* Two modules have their own variables, even if their images are equal. */
static void equal_images_without_modules_are_one_for_each_module(void **state)
{
	(void)state;
	struct sealed_record *record = start();
	struct module two[2];
	size_t length;
	make_module(&two[0], "same");
	make_module(&two[1], "same");
	cupti->tell_module(two[0].image, cubin_bytes);
	cupti->tell_module(two[1].image, cubin_bytes);
	assert_int_equal(make_plan(record, two, 2), 0);
	const void *first = sealed_record_blob(record, 0, &length);
	assert_memory_equal(first, two[0].image, cubin_bytes);
	assert_ptr_equal(sealed_record_blob(record, 1, &length), first); /* kept once */
	free_two(two);
	finish(record);
}

static void an_unknown_or_unusable_image_is_refused(void **state)
{
	(void)state;
	struct sealed_record *record = start();
	struct module two[2];
	make_two(two);
	cupti->tell_module(NULL, 0);
	assert_refused(record, &two[0], UNKNOWN);
	two[0].image[0] = '/';
	load_image(&LOAD_DATA, &two[0], two[0].image);
	assert_refused(record, &two[0],
		"The image of a module is no cubin. Compile for this GPU, as with -arch=sm_90.");
	/* The bytes of an image that is too large are not read. */
	tell(&LOAD_DATA, CUPTI_SITE_ENTER, &two[1], 0);
	cupti->tell_module(two[1].image, plan_most_image_bytes + 1);
	tell(&LOAD_DATA, CUPTI_SITE_EXIT, &two[1], 0);
	assert_refused(record, &two[1],
		"The image with the kernel add_one takes 67108865 bytes; a plan's may take up to 64 MiB.");
	free_two(two);
	finish(record);
}

static void a_plan_has_few_modules(void **state)
{
	(void)state;
	enum { too_many = plan_most_images + 1 };
	struct sealed_record *record = start();
	struct module *modules = calloc(too_many, sizeof *modules);
	for (size_t i = 0; i < too_many; i++) {
		make_module(&modules[i], "same");
		load_image(&LOAD_DATA, &modules[i], modules[i].image);
	}
	assert_int_equal(make_plan(record, modules, plan_most_images), 0);
	assert_int_equal(make_plan(record, modules, too_many), ISOLATED_VIOLATION);
	assert_string_equal(isolated_why(), "The call launches kernels of more than 512 modules.");
	for (size_t i = 0; i < too_many; i++)
		sealed_cuda.library_unload(modules[i].library);
	free(modules);
	finish(record);
}

/* ---- textures and surfaces ---- */

static void make_object(uint32_t number, unsigned int status)
{
	unsigned long long object = 1;
	const void *const parameters[] = { &object, NULL, NULL, NULL };
	cupti->tell_call(number, CUPTI_SITE_ENTER, parameters, 0);
	cupti->tell_call(number, CUPTI_SITE_EXIT, parameters, status);
}

static void refuse_object(uint32_t number, const char *why)
{
	struct sealed_record *record = start();
	struct module two[2];
	make_two(two);
	load_two(&LOAD_DATA, two);
	make_object(number, 1); /* a failed call makes none */
	assert_both_images(record, two);
	make_object(number, 0);
	assert_refused(record, &two[0], why);
	free_two(two);
	finish(record);
}

static void a_plan_has_no_textures_and_surfaces(void **state)
{
	(void)state;
	enum { make_texture = 339, make_surface = 343 };
	refuse_object(make_texture,
		"The submission made a texture, which no plan can hold. Let the kernels use memory by "
		"pointers, and make no texture.");
	refuse_object(make_surface,
		"The submission made a surface, which no plan can hold. Let the kernels use memory by "
		"pointers, and make no surface.");
}

/* ---- addresses that are used again ---- */

static void the_last_image_of_an_address_counts(void **state)
{
	(void)state;
	struct sealed_record *record = start();
	struct module two[2];
	make_two(two);
	load_image(&LOAD_DATA, &two[0], two[0].image);
	load_image(&LOAD_DATA, &two[0], two[1].image);
	assert_image(record, &two[0], two[1].image);
	free_two(two);
	finish(record);
}

static void an_image_without_the_kernel_is_passed_over(void **state)
{
	(void)state;
	struct sealed_record *record = start();
	struct module two[2];
	uint8_t other[cubin_bytes];
	make_two(two);
	make_other(other, &two[1]);
	load_image(&LOAD_DATA, &two[0], other);
	assert_refused(record, &two[0], UNKNOWN);
	cupti->tell_module(two[0].image, cubin_bytes);
	assert_image(record, &two[0], two[0].image);
	free_two(two);
	finish(record);
}

static void an_unloaded_module_is_forgotten(void **state)
{
	(void)state;
	static const struct way unload = { 22, LIBRARY, 0 };
	struct sealed_record *record = start();
	struct module two[2];
	size_t length;
	make_two(two);
	load_image(&LOAD_DATA, &two[0], two[0].image);
	assert_image(record, &two[0], two[0].image);
	tell(&unload, CUPTI_SITE_ENTER, &two[0], 0);
	/* The last plan still has its image. */
	assert_memory_equal(sealed_record_blob(record, 0, &length), two[0].image, cubin_bytes);
	/* Another thread gets the address before the unload ends. */
	cupti->tell_module(two[1].image, cubin_bytes);
	tell(&unload, CUPTI_SITE_EXIT, &two[0], 1);
	/* An unload of no module forgets none. */
	tell(&unload, CUPTI_SITE_ENTER, &(struct module){ .library = NULL }, 0);
	assert_image(record, &two[0], two[1].image);
	free_two(two);
	finish(record);
}

/* ---- threads ---- */

enum { thread_count = 8, rounds = 20 };

struct loader {
	pthread_t thread;
	pthread_barrier_t *barrier;
	struct module modules[rounds];
};

/* All threads are in their calls when the images come. */
static void *load_rounds(void *argument)
{
	static const struct way launch = { 652, KERNEL, 1 };
	struct loader *loader = argument;
	for (size_t i = 0; i < rounds; i++) {
		const struct module *module = &loader->modules[i];
		tell(&launch, CUPTI_SITE_ENTER, module, 0);
		pthread_barrier_wait(loader->barrier);
		cupti->tell_module(module->image, cubin_bytes);
		pthread_barrier_wait(loader->barrier);
		tell(&launch, CUPTI_SITE_EXIT, module, 0);
	}
	return NULL;
}

static void threads_load_at_the_same_time(void **state)
{
	(void)state;
	struct sealed_record *record = start();
	struct loader *loaders = calloc(thread_count, sizeof *loaders);
	struct module two[2];
	pthread_barrier_t barrier;
	pthread_barrier_init(&barrier, NULL, thread_count);
	make_two(two);
	load_two(&LOAD_DATA, two);
	for (size_t i = 0; i < thread_count * rounds; i++) {
		char mark[16];
		snprintf(mark, sizeof mark, "kernel_%zu", i);
		make_module(&loaders[i / rounds].modules[i % rounds], mark);
	}
	for (size_t i = 0; i < thread_count; i++) {
		loaders[i].barrier = &barrier;
		assert_int_equal(pthread_create(&loaders[i].thread, NULL, load_rounds, &loaders[i]), 0);
	}
	for (size_t i = 0; i < rounds; i++)
		assert_both_images(record, two);
	for (size_t i = 0; i < thread_count; i++)
		pthread_join(loaders[i].thread, NULL);
	for (size_t i = 0; i < thread_count * rounds; i++) {
		struct module *module = &loaders[i / rounds].modules[i % rounds];
		assert_image(record, module, module->image);
		sealed_cuda.library_unload(module->library);
	}
	free_two(two);
	free(loaders);
	pthread_barrier_destroy(&barrier);
	finish(record);
}

/* ---- failures ---- */

static void fail_to_open(const char *why)
{
	struct sealed_record *record = sealed_record_new();
	assert_int_equal(sealed_images_open(record, NULL), ISOLATED_FAILED);
	assert_string_equal(isolated_why(), why);
	sealed_record_free(record);
}

static void another_subscriber_is_an_error(void **state)
{
	(void)state;
	struct sealed_record *record = start();
	fail_to_open("Another program uses CUPTI in this process, such as a profiler. Switch it off.");
	assert_ptr_equal(cupti->ours, record); /* the first one still listens */
	finish(record);
}

static void a_refused_call_leaves_no_subscriber(void **state)
{
	(void)state;
	cupti->refuses = "cuptiSubscribe";
	fail_to_open("CUPTI refused cuptiSubscribe: CUPTI_PRETEND_ERROR (999).");
	assert_null(cupti->hear);
	cupti->refuses = "cuptiEnableCallback";
	fail_to_open("CUPTI refused cuptiEnableCallback: CUPTI_PRETEND_ERROR (999).");
	assert_null(cupti->hear);
	cupti->refuses = NULL;
}

/* The address of a library's module becomes that of another module, whose call is not heard. */
static void the_module_of_an_unloaded_library_is_forgotten(void **state)
{
	(void)state;
	static const struct way load_library = { 678, LIBRARY_MADE, 0 }, unload = { 680, LIBRARY, 0 };
	struct sealed_record *record = start();
	struct module two[2];
	make_two(two);
	load_image(&load_library, &two[0], two[0].image);
	assert_image(record, &two[0], two[0].image);
	tell(&unload, CUPTI_SITE_ENTER, &two[0], 0);
	tell(&unload, CUPTI_SITE_EXIT, &two[0], 0);
	assert_refused(record, &two[0], UNKNOWN);
	cupti->tell_module(two[1].image, cubin_bytes);
	assert_image(record, &two[0], two[1].image);
	free_two(two);
	finish(record);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(declarations_match_the_library),
		cmocka_unit_test(the_library_is_found_in_its_places),
		cmocka_unit_test(a_missing_or_old_library_is_an_error),
		cmocka_unit_test(a_library_that_is_loaded_already_is_used),
		cmocka_unit_test(each_way_of_loading_tells_the_module),
		cmocka_unit_test(one_plan_has_kernels_of_two_modules),
		cmocka_unit_test(a_call_may_load_two_images),
		cmocka_unit_test(a_call_may_load_many_images),
		cmocka_unit_test(a_call_without_its_module_tells_nothing),
		cmocka_unit_test(an_image_without_a_module_is_found_by_its_kernel),
		cmocka_unit_test(only_functions_of_a_cubin_are_kernels),
		cmocka_unit_test(images_without_modules_that_have_the_same_kernel_are_refused),
		cmocka_unit_test(equal_images_without_modules_are_one_for_each_module),
		cmocka_unit_test(an_unknown_or_unusable_image_is_refused),
		cmocka_unit_test(a_plan_has_few_modules),
		cmocka_unit_test(a_plan_has_no_textures_and_surfaces),
		cmocka_unit_test(the_last_image_of_an_address_counts),
		cmocka_unit_test(an_image_without_the_kernel_is_passed_over),
		cmocka_unit_test(an_unloaded_module_is_forgotten),
		cmocka_unit_test(the_module_of_an_unloaded_library_is_forgotten),
		cmocka_unit_test(threads_load_at_the_same_time),
		cmocka_unit_test(another_subscriber_is_an_error),
		cmocka_unit_test(a_refused_call_leaves_no_subscriber),
	};
	return cmocka_run_group_tests(tests, load, NULL);
}
