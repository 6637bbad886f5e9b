#include "record.h"

#include "calls.h"
#include "cubin.h"
#include "driver.h"
#include "harness/isolated/driver.h"
#include "harness/isolated/inside.h"
#include "listing.h"
#include "plan.h"
#include "range.h"

#include <jansson.h>
#include <pthread.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(crypto_hash_sha256_BYTES == plan_hash_bytes, "a hash has another size");

/* All images that one process may load. torch alone loads hundreds. */
enum { most_loaded = 8192, most_loaded_bytes = plan_most_blob_bytes };

struct image {
	const void *module; /* NULL: not known; UNLOADED: there is none any more */
	uint8_t *bytes;     /* NULL: too many, or memory was short */
	size_t length;
	struct cubin cubin; /* in `bytes` */
	bool owns_bytes, is_cubin;
	int64_t number; /* in the plan; -1: no kernel of the plan is in it */
};

static const char UNLOADED[] = "";

/* What a variable contained when the plan was made. */
struct content {
	uint8_t *bytes;
	size_t length;
};

struct sealed_record {
	pthread_mutex_t lock; /* for the next four */
	struct image images[most_loaded];
	size_t image_count, kept_bytes;
	const char *object; /* "texture" or "surface"; NULL: the process made none */
	/* Of the plan that is being made, or of the last one: */
	json_t *list; /* of its images; NULL: no plan is being made */
	struct listed {
		struct image *image;
		struct CUmod_st *module;
	} listed[plan_most_images]; /* its images */
	uint32_t listed_count;
	struct content contents[plan_most_variables]; /* of its variables */
	size_t content_count;
};

/* The call does what no plan can hold. */
#define REFUSE(...) isolated_fail(ISOLATED_VIOLATION, __VA_ARGS__)

/* ---- images ---- */

struct sealed_record *sealed_record_new(void)
{
	struct sealed_record *record = calloc(1, sizeof *record);
	if (record)
		pthread_mutex_init(&record->lock, NULL);
	return record;
}

static void forget_plan(struct sealed_record *record)
{
	while (record->listed_count)
		record->listed[--record->listed_count].image->number = -1;
	while (record->content_count)
		free(record->contents[--record->content_count].bytes);
}

void sealed_record_free(struct sealed_record *record)
{
	if (!record)
		return;
	forget_plan(record);
	for (size_t i = 0; i < record->image_count; i++)
		if (record->images[i].owns_bytes)
			free(record->images[i].bytes);
	pthread_mutex_destroy(&record->lock);
	free(record);
}

/* Gives a new image its bytes: those of an equal image, or a copy. */
static void keep_bytes(struct sealed_record *record, struct image *image, const void *bytes)
{
	for (const struct image *other = record->images; other < image; other++)
		if (other->bytes && other->length == image->length
			&& memcmp(other->bytes, bytes, image->length) == 0) {
			image->bytes = other->bytes;
			return;
		}
	if (image->length > plan_most_image_bytes
		|| image->length > most_loaded_bytes - record->kept_bytes)
		return;
	uint8_t *copy = malloc(image->length);
	if (!copy)
		return;
	image->bytes = memcpy(copy, bytes, image->length);
	image->owns_bytes = true;
	record->kept_bytes += image->length;
}

size_t sealed_record_image(
	struct sealed_record *record, const void *module, const void *bytes, size_t length)
{
	pthread_mutex_lock(&record->lock);
	const size_t number = record->image_count;
	if (number < most_loaded) {
		struct image *image = &record->images[number];
		*image = (struct image){ .module = module, .length = length, .number = -1 };
		keep_bytes(record, image, bytes);
		image->is_cubin = image->bytes && cubin_open(&image->cubin, image->bytes, length);
		record->image_count++;
	}
	pthread_mutex_unlock(&record->lock);
	return number;
}

void sealed_record_module(struct sealed_record *record, size_t image, const void *module)
{
	pthread_mutex_lock(&record->lock);
	if (image < record->image_count)
		record->images[image].module = module;
	pthread_mutex_unlock(&record->lock);
}

void sealed_record_unload(struct sealed_record *record, const void *module)
{
	pthread_mutex_lock(&record->lock);
	for (size_t i = 0; i < record->image_count; i++)
		if (module && record->images[i].module == module)
			record->images[i].module = UNLOADED;
	pthread_mutex_unlock(&record->lock);
}

void sealed_record_object(struct sealed_record *record, const char *noun)
{
	pthread_mutex_lock(&record->lock);
	record->object = noun;
	pthread_mutex_unlock(&record->lock);
}

static int check_objects(struct sealed_record *record)
{
	pthread_mutex_lock(&record->lock);
	const char *noun = record->object;
	pthread_mutex_unlock(&record->lock);
	return noun ? REFUSE("The submission made a %s, which no plan can hold. Let the kernels use "
						 "memory by pointers, and make no %s.",
			   noun, noun)
				: 0;
}

/* Returns `length` bytes in hexadecimal as a JSON string. */
static json_t *hex_of(const uint8_t *bytes, size_t length)
{
	char *digits = malloc(2 * length + 1);
	json_t *json =
		digits ? json_string(sodium_bin2hex(digits, 2 * length + 1, bytes, length)) : NULL;
	free(digits);
	return json;
}

static json_t *hash_of(const uint8_t *bytes, size_t length)
{
	uint8_t hash[plan_hash_bytes];
	crypto_hash_sha256(hash, bytes, length);
	return hex_of(hash, sizeof hash);
}

static bool has_kernel(const struct image *image, const char *name)
{
	return image->is_cubin && cubin_has_function(&image->cubin, name);
}

/* Finds the last image of a module, because an unload may have been missed and the address used
 * again. `name`: a kernel that it must have; NULL: any. Returns NULL if there is none. */
static struct image *find_by_module(
	struct sealed_record *record, const void *module, const char *name)
{
	for (size_t i = record->image_count; i-- > 0;)
		if (record->images[i].module == module && (!name || has_kernel(&record->images[i], name)))
			return &record->images[i];
	return NULL;
}

/* Finds the image with a kernel among those whose module is not known. NULL: there is none. Counts
 * images that differ. */
static struct image *find_by_name(struct sealed_record *record, const char *name, size_t *count)
{
	struct image *found = NULL;
	*count = 0;
	for (size_t i = 0; i < record->image_count; i++)
		if (!record->images[i].module && has_kernel(&record->images[i], name)) {
			*count += !found || found->bytes != record->images[i].bytes;
			if (!found)
				found = &record->images[i];
		}
	return found;
}

/* Finds the image with a kernel. NULL: it is not known. *count: how many images it could be. */
static struct image *find_kernel(
	struct sealed_record *record, const void *module, const char *name, size_t *count)
{
	*count = 1;
	pthread_mutex_lock(&record->lock);
	struct image *image = find_by_module(record, module, name);
	if (!image && (image = find_by_name(record, name, count)) && *count == 1)
		image->module = module;
	if (!image)
		image = find_by_module(record, module, NULL);
	pthread_mutex_unlock(&record->lock);
	return image;
}

/* Refuses a kernel whose image cannot be in a plan. Returns 0 if it can. */
static int check_image(const struct image *image, const char *name, size_t count)
{
	if (count > 1)
		return REFUSE(
			"Two modules have a kernel %.200s, and CUDA does not say which one the call launches. "
			"Rename one of them.",
			name);
	if (image && image->length > plan_most_image_bytes)
		return REFUSE(
			"The image with the kernel %.200s takes %zu bytes; a plan's may take up to %d MiB.",
			name, image->length, plan_most_image_bytes >> 20);
	if (image && !image->bytes)
		return REFUSE("The process loaded more modules than %d MiB can hold before the kernel "
					  "%.200s. Load fewer modules.",
			most_loaded_bytes >> 20, name);
	if (image && !image->is_cubin)
		return REFUSE(
			"The image of a module is no cubin. Compile for this GPU, as with -arch=sm_90.");
	if (!image || !has_kernel(image, name))
		return REFUSE("The kernel %.200s is in a module that was loaded in an unknown way.", name);
	return 0;
}

static int list_image(struct sealed_record *record, struct image *image, struct CUmod_st *module)
{
	if (record->listed_count == plan_most_images)
		return REFUSE("The call launches kernels of more than %d modules.", plan_most_images);
	image->number = record->listed_count;
	record->listed[record->listed_count++] = (struct listed){ image, module };
	json_array_append_new(record->list,
		json_pack("{s:I, s:o}", "bytes", (json_int_t)image->length, "sha256",
			hash_of(image->bytes, image->length)));
	return 0;
}

/* Finds the image with a kernel, and lists it in the plan. */
static int find_image(
	struct sealed_record *record, struct CUfunc_st *function, const char *name, int64_t *number)
{
	struct CUmod_st *module;
	size_t count;
	int rc = SEALED_DO(function_module, &module, function);
	if (rc)
		return rc;
	struct image *image = find_kernel(record, module, name, &count);
	rc = check_image(image, name, count);
	if (!rc)
		rc = sealed_calls_check(&image->cubin, name);
	if (!rc && image->number < 0)
		rc = list_image(record, image, module);
	if (!rc)
		*number = image->number;
	return rc;
}

const void *sealed_record_blob(const struct sealed_record *record, uint32_t number, size_t *length)
{
	if (number < record->listed_count) {
		*length = record->listed[number].image->length;
		return record->listed[number].image->bytes;
	}
	if (number - record->listed_count >= record->content_count)
		return NULL;
	const struct content *content = &record->contents[number - record->listed_count];
	*length = content->length;
	return content->bytes;
}

/* ---- variables ---- */

/* Reads what a variable contains. */
static int read_content(struct sealed_record *record, unsigned long long address, size_t length)
{
	struct content content = { malloc(length), length };
	if (!content.bytes)
		return isolated_no_memory();
	record->contents[record->content_count++] = content;
	int rc = CUDA_DO(copy_to_host, content.bytes, address, length, NULL);
	return rc ? rc : CUDA_DO(context_wait);
}

/* The driver knows no name of a text in the code ($str). Such a variable cannot be restored before
 * a call, and keeps its content from the image. */
static int record_variable(struct sealed_record *record, const struct listed *listed,
	const struct cubin_variable *variable, json_t *list)
{
	unsigned long long address;
	size_t bytes;
	if (variable->is_managed)
		return REFUSE(
			"The variable %.200s is managed, so the host can change it. Make it __device__.",
			variable->name);
	const unsigned int status =
		sealed_cuda.module_variable(&address, &bytes, listed->module, variable->name);
	if (status == CUDA_CALL_NOT_FOUND)
		return 0;
	if (status != CUDA_CALL_SUCCEEDED)
		return isolated_cuda_check_named(status, "cuModuleGetGlobal_v2");
	if (record->content_count == plan_most_variables)
		return REFUSE("The modules have more than %d variables.", plan_most_variables);
	if (bytes > plan_most_variable_bytes)
		return REFUSE("The variable %.200s takes %zu bytes; at most %d MiB are allowed.",
			variable->name, bytes, plan_most_variable_bytes >> 20);
	int rc = read_content(record, address, bytes);
	if (rc)
		return rc;
	json_array_append_new(list,
		json_pack("{s:I, s:I, s:s, s:o}", "bytes", (json_int_t)bytes, "image",
			listed->image->number, "name", variable->name, "sha256",
			hash_of(record->contents[record->content_count - 1].bytes, bytes)));
	return 0;
}

static int by_name(const void *one, const void *other)
{
	return strcmp(
		((const struct cubin_variable *)one)->name, ((const struct cubin_variable *)other)->name);
}

/* Records the variables of an image by name, as a plan lists them. */
static int record_image_variables(
	struct sealed_record *record, const struct listed *listed, json_t *list)
{
	const struct cubin *cubin = &listed->image->cubin;
	size_t count = 0;
	int rc = 0;
	struct cubin_variable *found = calloc(cubin->symbols.count + 1, sizeof *found);
	if (!found)
		return isolated_no_memory();
	for (uint64_t next = 0; cubin_next_variable(cubin, &next, &found[count]);)
		count++;
	qsort(found, count, sizeof *found, by_name);
	for (size_t i = 0; i < count && !rc; i++)
		if (!i || strcmp(found[i - 1].name, found[i].name) != 0)
			rc = record_variable(record, listed, &found[i], list);
	free(found);
	return rc;
}

/* Records the variables of all images that the plan lists, in their order. */
static int record_variables(struct sealed_record *record, json_t *list)
{
	int rc = 0;
	for (uint32_t i = 0; i < record->listed_count && !rc; i++)
		rc = record_image_variables(record, &record->listed[i], list);
	return rc;
}

/* ---- addresses ---- */

/* Asks for an attribute of the memory at an address. Sets *value to 0 if the driver knows none. */
static int ask(unsigned int attribute, uint64_t address, uint64_t *value)
{
	*value = 0;
	const unsigned int status = sealed_cuda.pointer_attribute(value, attribute, address);
	return status == CUDA_CALL_INVALID_VALUE
		? 0
		: isolated_cuda_check_named(status, "cuPointerGetAttribute");
}

/* The name of the variable at an address; NULL: the images that the plan lists so far have none. */
static const char *find_variable(const struct sealed_record *record, uint64_t address)
{
	struct cubin_variable variable;
	unsigned long long begin;
	size_t bytes;
	for (uint32_t i = 0; i < record->listed_count; i++)
		for (uint64_t next = 0;
			 cubin_next_variable(&record->listed[i].image->cubin, &next, &variable);)
			if (sealed_cuda.module_variable(&begin, &bytes, record->listed[i].module, variable.name)
					== CUDA_CALL_SUCCEEDED
				&& address - begin < bytes)
				return variable.name;
	return NULL;
}

/* Refuses the address of memory that the launcher will not have. A number that is no address of
 * memory passes. Addresses within memory, as in lists of pointers, are not seen. `use`: the
 * sentence's beginning. */
static int check_address(const struct sealed_record *record, uint64_t address, const char *use)
{
	uint64_t kind, is_managed = 0;
	if (address - SEALED_RANGE_ADDRESS < SEALED_RANGE_BYTES)
		return 0;
	int rc = ask(CUDA_POINTER_MEMORY_TYPE, address, &kind);
	if (!rc && kind)
		rc = ask(CUDA_POINTER_IS_MANAGED, address, &is_managed);
	if (rc || !kind)
		return rc;
	if (is_managed)
		return REFUSE("%s managed memory, which the host can change. Use torch.empty instead of "
					  "cudaMallocManaged.",
			use);
	if (kind == CUDA_MEMORY_TYPE_HOST)
		return REFUSE("%s memory on the host. Copy the data to the GPU in the first call, and keep "
					  "it there.",
			use);
	const char *variable = find_variable(record, address);
	return variable ? REFUSE("%s the variable %.200s. Use the variable by its name in the kernel, "
							 "or memory of torch.empty instead.",
			   use, variable)
					: REFUSE("%s memory on the GPU that torch did not allocate. Use torch.empty "
							 "instead of cudaMalloc or a variable's address.",
						use);
}

/* ---- kernels ---- */

/* Checks each 8 bytes of a parameter, because a structure may contain pointers. */
static int check_parameter(
	const struct sealed_record *record, const uint8_t *value, size_t bytes, const char *name)
{
	char use[256];
	uint64_t address;
	int rc = 0;
	snprintf(use, sizeof use, "The kernel %.200s gets a pointer to", name);
	for (size_t at = 0; at + sizeof address <= bytes && !rc; at += sizeof address) {
		memcpy(&address, value + at, sizeof address);
		rc = check_address(record, address, use);
	}
	return rc;
}

/* The buffer with all parameters of a launch by `extra`; NULL: none. */
static const uint8_t *find_buffer(void **extra, size_t *length)
{
	const uint8_t *buffer = NULL;
	*length = 0;
	for (; extra && *extra; extra += 2) {
		if ((uintptr_t)extra[0] == CUDA_PARAMETERS_BUFFER)
			buffer = extra[1];
		else if ((uintptr_t)extra[0] == CUDA_PARAMETERS_BYTES)
			memcpy(length, extra[1], sizeof *length);
	}
	return buffer;
}

static int add_parameters(const struct sealed_record *record, const struct cuda_kernel_node *node,
	const char *name, json_t *list)
{
	size_t offset, bytes, length;
	const uint8_t *buffer = find_buffer(node->extra, &length);
	for (size_t i = 0;; i++) {
		const unsigned int status =
			sealed_cuda.function_parameter(node->function, i, &offset, &bytes);
		if (status == CUDA_CALL_INVALID_VALUE) /* there are no more */
			return 0;
		if (status != CUDA_CALL_SUCCEEDED)
			return isolated_cuda_check_named(status, "cuFuncGetParamInfo");
		const uint8_t *value = node->parameters                      ? node->parameters[i]
			: buffer && offset <= length && bytes <= length - offset ? buffer + offset
																	 : NULL;
		if (!value)
			return REFUSE("The kernel %.200s was launched without parameter %zu.", name, i);
		int rc = check_parameter(record, value, bytes, name);
		if (rc)
			return rc;
		json_array_append_new(list, json_pack("[I, o]", (json_int_t)offset, hex_of(value, bytes)));
	}
}

static json_t *three(const unsigned int numbers[static 3])
{
	return json_pack(
		"[I, I, I]", (json_int_t)numbers[0], (json_int_t)numbers[1], (json_int_t)numbers[2]);
}

/* Adds the attributes that are not at their default. Those of a function are read after the
 * capture: if a call changes one between two launches, both get the last value. */
static int add_attributes(struct CUgraphNode_st *node, struct CUfunc_st *function, json_t *kernel)
{
	union cuda_launch_value cooperative = { { 0 } }, cluster = { { 0 } };
	int most_shared = 0, carveout = -1, has_large = 0;
	int rc = SEALED_DO(node_attribute, node, CUDA_LAUNCH_COOPERATIVE, &cooperative);
	if (!rc)
		rc = SEALED_DO(node_attribute, node, CUDA_LAUNCH_CLUSTER, &cluster);
	if (!rc)
		rc = SEALED_DO(function_attribute, &most_shared, CUDA_FUNCTION_MOST_SHARED, function);
	if (!rc)
		rc = SEALED_DO(function_attribute, &carveout, CUDA_FUNCTION_CARVEOUT, function);
	if (!rc)
		rc = SEALED_DO(function_attribute, &has_large, CUDA_FUNCTION_LARGE_CLUSTERS, function);
	if (rc)
		return rc;
	if (cooperative.is_cooperative)
		json_object_set_new(kernel, "cooperative", json_true());
	if (cluster.cluster[0])
		json_object_set_new(kernel, "cluster", three(cluster.cluster));
	if (most_shared)
		json_object_set_new(kernel, "most_shared_bytes", json_integer(most_shared));
	if (carveout != -1)
		json_object_set_new(kernel, "carveout", json_integer(carveout));
	if (has_large)
		json_object_set_new(kernel, "large_clusters", json_true());
	return 0;
}

static int record_kernel(struct sealed_record *record, struct CUgraphNode_st *node, json_t *json)
{
	struct cuda_kernel_node kernel;
	const char *name;
	int64_t image = -1;
	json_t *parameters = json_array();
	json_object_set_new(json, "parameters", parameters);
	int rc = SEALED_DO(node_kernel, node, &kernel);
	if (!rc && !kernel.function) /* launched by its CUkernel */
		rc = SEALED_DO(kernel_function, &kernel.function, kernel.kernel);
	if (!rc)
		rc = SEALED_DO(function_name, &name, kernel.function);
	if (!rc)
		rc = find_image(record, kernel.function, name, &image);
	if (!rc)
		rc = add_parameters(record, &kernel, name, parameters);
	if (!rc)
		rc = add_attributes(node, kernel.function, json);
	if (rc)
		return rc;
	json_object_set_new(json, "kind", json_string("kernel"));
	json_object_set_new(json, "image", json_integer(image));
	json_object_set_new(json, "name", json_string(name));
	json_object_set_new(json, "grid", three(kernel.grid));
	json_object_set_new(json, "block", three(kernel.block));
	json_object_set_new(json, "shared_bytes", json_integer(kernel.shared_bytes));
	return 0;
}

/* ---- memsets and copies ---- */

static int record_memset(struct sealed_record *record, struct CUgraphNode_st *node, json_t *json)
{
	struct cuda_memset_node set;
	int rc = SEALED_DO(node_memset, node, &set);
	if (!rc)
		rc = check_address(record, set.address, "The call sets");
	if (rc)
		return rc;
	json_object_update_new(json,
		json_pack("{s:I, s:I, s:I, s:s, s:I, s:I, s:I}", "address", (json_int_t)set.address,
			"element_bytes", (json_int_t)set.element_bytes, "height", (json_int_t)set.height,
			"kind", "memset", "pitch", (json_int_t)(set.height > 1 ? set.pitch : 0), "value",
			(json_int_t)set.value, "width", (json_int_t)set.width));
	return 0;
}

static bool is_on_device(const struct cuda_copy_side *side)
{
	return side->kind == CUDA_MEMORY_TYPE_DEVICE || side->kind == CUDA_MEMORY_TYPE_UNIFIED;
}

static uint64_t address_of(const struct cuda_copy_side *side)
{
	return side->device + (side->z * side->height + side->y) * side->pitch + side->x;
}

static json_t *place_of(const struct cuda_copy_node *copy, const struct cuda_copy_side *side)
{
	const bool has_layers = copy->depth > 1, has_rows = copy->height > 1 || has_layers;
	return json_pack("[I, I, I]", (json_int_t)address_of(side),
		(json_int_t)(has_rows ? side->pitch : 0), (json_int_t)(has_layers ? side->height : 0));
}

static int record_copy(struct sealed_record *record, struct CUgraphNode_st *node, json_t *json)
{
	struct cuda_copy_node copy;
	int rc = SEALED_DO(node_copy, node, &copy);
	if (rc)
		return rc;
	if (copy.from.kind == CUDA_MEMORY_TYPE_HOST)
		return REFUSE(
			"The call copies from the host to the GPU. Make constants in the first call, and "
			"keep them on the GPU.");
	if (copy.to.kind == CUDA_MEMORY_TYPE_HOST)
		return REFUSE(
			"The call copies from the GPU to the host. Keep all data of the call on the GPU.");
	if (!is_on_device(&copy.from) || !is_on_device(&copy.to))
		return REFUSE("The call copies a CUDA array. Use linear memory.");
	rc = check_address(record, address_of(&copy.from), "The call copies from");
	if (!rc)
		rc = check_address(record, address_of(&copy.to), "The call copies to");
	if (rc)
		return rc;
	json_object_update_new(json,
		json_pack("{s:I, s:o, s:I, s:s, s:o, s:I}", "depth", (json_int_t)copy.depth, "from",
			place_of(&copy, &copy.from), "height", (json_int_t)copy.height, "kind", "copy", "to",
			place_of(&copy, &copy.to), "width", (json_int_t)copy.width));
	return 0;
}

static int record_empty(struct sealed_record *record, struct CUgraphNode_st *node, json_t *json)
{
	(void)record, (void)node;
	json_object_set_new(json, "kind", json_string("empty"));
	return 0;
}

/* ---- nodes and edges ---- */

/* Either the function that records nodes of a kind, or why no plan can hold them. */
static const struct {
	int (*record)(struct sealed_record *record, struct CUgraphNode_st *node, json_t *json);
	const char *refusal;
} KINDS[] = {
	[CUDA_NODE_KERNEL] = { record_kernel, NULL },
	[CUDA_NODE_COPY] = { record_copy, NULL },
	[CUDA_NODE_MEMSET] = { record_memset, NULL },
	[CUDA_NODE_EMPTY] = { record_empty, NULL },
	[CUDA_NODE_HOST] = { NULL,
		"The call runs a function on the host (cudaLaunchHostFunc). Remove it." },
	/* An empty graph; listing.c has opened the others. */
	[CUDA_NODE_GRAPH] = { record_empty, NULL },
	[CUDA_NODE_EVENT_WAIT] = { NULL,
		"The call waits for an event that was recorded before it. Record the event in the call." },
	[CUDA_NODE_EVENT_RECORD] = { NULL,
		"The call records an event for work after it (cudaEventRecordExternal). Remove it." },
	[CUDA_NODE_SEMAPHORE_SIGNAL] = { NULL, "The call signals a semaphore. Remove it." },
	[CUDA_NODE_SEMAPHORE_WAIT] = { NULL, "The call waits for a semaphore. Remove it." },
	[CUDA_NODE_ALLOCATE] = { NULL,
		"The call allocates memory (cudaMallocAsync). Use torch.empty, or keep a buffer from the "
		"first call." },
	[CUDA_NODE_FREE] = { NULL,
		"The call frees memory (cudaFreeAsync). Keep the buffer for the next call." },
	[CUDA_NODE_MEMORY_WORDS] = { NULL,
		"The call waits for or writes a word in memory (cuStreamWaitValue). Use events." },
	[CUDA_NODE_CONDITIONAL] = { NULL,
		"The call contains conditional nodes. Launch the same kernels in each call." },
};

static int record_node(struct sealed_record *record, struct CUgraphNode_st *node, json_t *list)
{
	unsigned int kind;
	int rc = SEALED_DO(node_kind, node, &kind);
	if (rc)
		return rc;
	if (kind >= sizeof KINDS / sizeof *KINDS)
		return REFUSE("The call contains a node of the unknown kind %u.", kind);
	if (!KINDS[kind].record)
		return REFUSE("%s", KINDS[kind].refusal);
	json_t *json = json_object();
	json_array_append_new(list, json);
	return KINDS[kind].record(record, node, json);
}

static void record_edges(const struct sealed_listing *listing, json_t *list)
{
	for (size_t i = 0; i < listing->edge_count; i++) {
		const struct sealed_edge *edge = &listing->edges[i];
		json_t *json = json_pack("[I, I]", (json_int_t)edge->from, (json_int_t)edge->to);
		if (edge->order)
			json_array_append_new(json, json_string(edge->order));
		json_array_append_new(list, json);
	}
}

/* ---- the plan ---- */

static int record_graph(struct sealed_record *record, struct CUgraph_st *graph, json_t *plan)
{
	struct sealed_listing listing = { 0 };
	int rc = check_objects(record);
	if (!rc)
		rc = sealed_listing_make(&listing, graph);
	for (size_t i = 0; i < listing.node_count && !rc; i++)
		rc = record_node(record, listing.nodes[i], json_object_get(plan, "nodes"));
	if (!rc)
		record_edges(&listing, json_object_get(plan, "edges"));
	sealed_listing_free(&listing);
	return rc ? rc : record_variables(record, json_object_get(plan, "variables"));
}

/* Writes the text, unless plan_read would refuse it. */
static int write_plan(const json_t *plan, char **text)
{
	char why[200], *made = json_dumps(plan, JSON_SORT_KEYS | JSON_COMPACT | JSON_ENSURE_ASCII);
	if (!made)
		return isolated_no_memory();
	struct plan *read = plan_read(made, strlen(made), why, sizeof why);
	if (!read) {
		free(made);
		return REFUSE("%s", why);
	}
	plan_free(read);
	*text = made;
	return 0;
}

int sealed_record_plan(struct sealed_record *record, struct CUgraph_st *graph, char **text)
{
	*text = NULL;
	int rc = sealed_cuda_open();
	json_t *plan = json_pack("{s:[], s:s, s:[], s:[], s:[]}", "edges", "format", "podium plan 1",
		"images", "nodes", "variables");
	record->list = json_object_get(plan, "images");
	forget_plan(record);
	if (!rc)
		rc = plan ? record_graph(record, graph, plan) : isolated_no_memory();
	if (!rc)
		rc = write_plan(plan, text);
	record->list = NULL;
	json_decref(plan);
	return rc;
}
