#include "recorder.h"

#include "range.h"
#include "within.h"

#include <stdio.h>
#include <string.h>

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
		return REFUSE("%s managed memory, which the host can change. Use %s instead of "
					  "cudaMallocManaged.",
			use, record->allocator);
	if (kind == CUDA_MEMORY_TYPE_HOST)
		return REFUSE("%s memory on the host. Copy the data to the GPU in the first call, and keep "
					  "it there.",
			use);
	const char *variable = sealed_modules_variable_at(record, address);
	return variable
		? REFUSE("%s the variable %.200s. Use the variable by its name in the kernel, "
				 "or memory of %s instead.",
			use, variable, record->allocator)
		: REFUSE("%s memory on the GPU that %s did not allocate. Use %s instead of %s a "
				 "variable's address.",
			use, record->is_cpp ? "the submission" : "torch", record->allocator,
			record->is_cpp ? "a library's buffer or" : "cudaMalloc or");
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
		const uint8_t *value = node->parameters                 ? node->parameters[i]
			: buffer && sealed_is_within(offset, bytes, length) ? buffer + offset
																: NULL;
		if (!value)
			return REFUSE("The kernel %.200s was launched without parameter %zu.", name, i);
		int rc = check_parameter(record, value, bytes, name);
		if (rc)
			return rc;
		json_array_append_new(
			list, json_pack("[I, o]", (json_int_t)offset, sealed_hex(value, bytes)));
	}
}

static json_t *three(const unsigned int numbers[static 3])
{
	return json_pack(
		"[I, I, I]", (json_int_t)numbers[0], (json_int_t)numbers[1], (json_int_t)numbers[2]);
}

/* Adds the attributes that are not at their default. Those of a function are read after the
 * capture: if a call changes one between two launches, both get the last value. That gains nothing,
 * because the judge times and checks the plan with these values, not the call. */
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
		rc = sealed_modules_find(record, kernel.function, name, &image);
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

/* ---- nodes ---- */

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
		"The call allocates memory (cudaMallocAsync). Keep a buffer from the first call." },
	[CUDA_NODE_FREE] = { NULL,
		"The call frees memory (cudaFreeAsync). Keep the buffer for the next call." },
	[CUDA_NODE_MEMORY_WORDS] = { NULL,
		"The call waits for or writes a word in memory (cuStreamWaitValue). Use events." },
	[CUDA_NODE_CONDITIONAL] = { NULL,
		"The call contains conditional nodes. Launch the same kernels in each call." },
};

int sealed_nodes_record(struct sealed_record *record, struct CUgraphNode_st *node, json_t *list)
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
