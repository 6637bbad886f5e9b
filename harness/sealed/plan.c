#include "plan.h"

#include "within.h"

#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A plan with all that it owns. */
struct reading {
	struct plan plan;
	json_t *root;             /* owns the names */
	struct plan_blob *images; /* the plan's arrays, while they are filled */
	struct plan_variable *variables;
	struct plan_node *nodes;
	struct plan_edge *edges;
	struct plan_parameter *parameters;   /* of all kernels */
	uint8_t *values;                     /* of all parameters */
	size_t parameter_count, value_bytes; /* used so far */
	uint64_t blob_bytes;                 /* of all blobs so far */
	char *why;
	size_t why_bytes;
};

/* Writes the sentence and returns false. Later failures keep the first sentence. */
__attribute__((format(printf, 2, 3))) static bool refuse(
	struct reading *reading, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	if (reading->why_bytes && !reading->why[0])
		vsnprintf(reading->why, reading->why_bytes, format, arguments);
	va_end(arguments);
	return false;
}

/* ---- values ---- */

static bool is_within(json_int_t number, uint64_t least, uint64_t most)
{
	return number >= 0 && (uint64_t)number >= least && (uint64_t)number <= most;
}

static bool is_index(json_int_t number, uint32_t count)
{
	return number >= 0 && number < (json_int_t)count;
}

/* Reads an array of three numbers from `least` to `most`. */
static bool read_three(json_t *array, uint32_t least, uint32_t most, uint32_t three[static 3])
{
	if (json_array_size(array) != 3)
		return false;
	for (size_t i = 0; i < 3; i++) {
		json_t *one = json_array_get(array, i);
		if (!json_is_integer(one) || !is_within(json_integer_value(one), least, most))
			return false;
		three[i] = (uint32_t)json_integer_value(one);
	}
	return true;
}

static int digit_of(char letter)
{
	return letter >= '0' && letter <= '9' ? letter - '0'
		: letter >= 'a' && letter <= 'f'  ? letter - 'a' + 10
										  : -1;
}

/* Decodes `length` digits, an even number, to `bytes`. */
static bool read_hex(const char *digits, size_t length, uint8_t *bytes)
{
	for (size_t i = 0; i < length; i += 2) {
		int high = digit_of(digits[i]), low = digit_of(digits[i + 1]);
		if (high < 0 || low < 0)
			return false;
		bytes[i / 2] = (uint8_t)(high << 4 | low);
	}
	return true;
}

static bool read_blob(struct reading *reading, const char *digits, size_t length, json_int_t bytes,
	uint64_t most, struct plan_blob *blob)
{
	if (length != 2 * (size_t)plan_hash_bytes || !read_hex(digits, length, blob->hash)
		|| !is_within(bytes, 1, most))
		return false;
	blob->bytes = (uint32_t)bytes;
	reading->blob_bytes += blob->bytes;
	return true;
}

/* Whether a kernel or variable may have this name: 1 to 4096 letters, digits, `_`, `$` and `.`, as
 * compilers make them. */
static bool is_name(const char *name, size_t length)
{
	static const char allowed[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_$.";
	return length && length <= plan_most_name_bytes && strspn(name, allowed) == length;
}

/* ---- images and variables ---- */

static bool read_image(struct reading *reading, uint32_t number, json_t *json)
{
	json_int_t bytes;
	const char *hash;
	size_t length;
	if (json_unpack(json, "{s:I, s:s% !}", "bytes", &bytes, "sha256", &hash, &length))
		return refuse(reading, "Image %u of the plan has a missing, wrong or unknown key.", number);
	if (!read_blob(reading, hash, length, bytes, plan_most_image_bytes, &reading->images[number]))
		return refuse(reading, "Image %u of the plan has no SHA-256 or no size up to %d MiB.",
			number, plan_most_image_bytes >> 20);
	return true;
}

static bool read_variable(struct reading *reading, uint32_t number, json_t *json)
{
	struct plan_variable *variable = &reading->variables[number];
	json_int_t bytes, image;
	const char *hash;
	size_t hash_length, name_length;
	if (json_unpack(json, "{s:I, s:I, s:s%, s:s% !}", "bytes", &bytes, "image", &image, "name",
			&variable->name, &name_length, "sha256", &hash, &hash_length))
		return refuse(
			reading, "Variable %u of the plan has a missing, wrong or unknown key.", number);
	if (!is_name(variable->name, name_length))
		return refuse(
			reading, "Variable %u of the plan has a name that no compiler makes.", number);
	if (!is_index(image, reading->plan.image_count))
		return refuse(reading, "Variable %u of the plan is in an image that is not there.", number);
	variable->image = (uint32_t)image;
	if (!read_blob(reading, hash, hash_length, bytes, plan_most_variable_bytes, &variable->content))
		return refuse(reading, "Variable %u of the plan has no SHA-256 or no size up to %d MiB.",
			number, plan_most_variable_bytes >> 20);
	const struct plan_variable *before = number ? variable - 1 : NULL;
	if (before
		&& (before->image > variable->image
			|| (before->image == variable->image && strcmp(before->name, variable->name) >= 0)))
		return refuse(reading, "Variable %u of the plan is not in order.", number);
	return true;
}

/* ---- nodes ---- */

enum {
	most_grid_x = INT32_MAX,
	most_grid_yz = 65535,
	most_threads = 1024,
	most_threads_z = 64,
	most_cluster = 16,
	most_shared_bytes = 256 << 10,
};

/* Reads [[offset, "hex"], ...]. */
static bool read_parameters(struct reading *reading, json_t *array, struct plan_kernel *kernel)
{
	const size_t first = reading->parameter_count;
	uint64_t end = 0;
	size_t i;
	json_t *one;
	json_array_foreach(array, i, one)
	{
		json_int_t offset;
		const char *digits;
		size_t length;
		if (json_unpack(one, "[I, s% !]", &offset, &digits, &length) || !length || length % 2
			|| !is_within(offset, end, plan_most_parameter_bytes)
			|| length / 2 > plan_most_parameter_bytes - (uint64_t)offset)
			return false;
		uint8_t *value = reading->values + reading->value_bytes;
		if (!read_hex(digits, length, value))
			return false;
		end = (uint64_t)offset + length / 2;
		reading->value_bytes += length / 2;
		reading->parameters[reading->parameter_count++] = (struct plan_parameter){
			.offset = (uint32_t)offset, .bytes = (uint32_t)(length / 2), .value = value
		};
	}
	kernel->parameters = reading->parameters + first;
	kernel->parameter_count = (uint32_t)(reading->parameter_count - first);
	return true;
}

static bool has_shape(const struct plan_kernel *kernel)
{
	const uint32_t *grid = kernel->grid, *block = kernel->block, *cluster = kernel->cluster;
	if (grid[1] > most_grid_yz || grid[2] > most_grid_yz || block[2] > most_threads_z
		|| (uint64_t)block[0] * block[1] * block[2] > most_threads)
		return false;
	if (!cluster[0])
		return true;
	for (size_t i = 0; i < 3; i++)
		if (grid[i] % cluster[i])
			return false;
	return cluster[0] * cluster[1] * cluster[2] <= most_cluster;
}

/* Whether an optional key has its default value. A plan must leave such a key out, so that equal
 * kernels have equal texts. */
static bool states_default(json_t *json)
{
	json_t *most_shared = json_object_get(json, "most_shared_bytes"),
		   *carveout = json_object_get(json, "carveout");
	return json_is_false(json_object_get(json, "cooperative"))
		|| json_is_false(json_object_get(json, "large_clusters"))
		|| (most_shared && json_integer_value(most_shared) == 0)
		|| (carveout && json_integer_value(carveout) == -1);
}

static bool read_kernel(struct reading *reading, uint32_t number, json_t *json)
{
	struct plan_kernel *kernel = &reading->nodes[number].kernel;
	json_t *grid, *block, *parameters, *cluster = NULL;
	json_int_t image, shared, most_shared = 0, carveout = -1;
	int is_cooperative = 0, has_large = 0;
	size_t length;
	const char *kind;
	if (json_unpack(json, "{s:o, s?:I, s?:o, s?:b, s:o, s:I, s:s, s?:b, s?:I, s:s%, s:o, s:I !}",
			"block", &block, "carveout", &carveout, "cluster", &cluster, "cooperative",
			&is_cooperative, "grid", &grid, "image", &image, "kind", &kind, "large_clusters",
			&has_large, "most_shared_bytes", &most_shared, "name", &kernel->name, &length,
			"parameters", &parameters, "shared_bytes", &shared))
		return refuse(reading, "Node %u of the plan has a missing, wrong or unknown key.", number);
	if (!is_name(kernel->name, length))
		return refuse(reading, "Node %u of the plan: no compiler makes such a name.", number);
	if (!is_index(image, reading->plan.image_count))
		return refuse(reading, "Node %u of the plan: its image is not there.", number);
	if (!read_three(grid, 1, most_grid_x, kernel->grid)
		|| !read_three(block, 1, most_threads, kernel->block)
		|| (cluster && !read_three(cluster, 1, most_cluster, kernel->cluster))
		|| !has_shape(kernel))
		return refuse(
			reading, "Node %u of the plan: CUDA has no such grid, block or cluster.", number);
	if (!is_within(shared, 0, most_shared_bytes) || !is_within(most_shared, 0, most_shared_bytes))
		return refuse(reading, "Node %u of the plan: a block has at most %d KiB of shared memory.",
			number, most_shared_bytes >> 10);
	if (carveout < -1 || carveout > 100)
		return refuse(reading, "Node %u of the plan: its carveout is not from -1 to 100.", number);
	if (states_default(json))
		return refuse(reading, "Node %u of the plan states what holds without a key.", number);
	kernel->image = (uint32_t)image;
	kernel->shared_bytes = (uint32_t)shared;
	kernel->most_shared_bytes = (uint32_t)most_shared;
	kernel->carveout = (int32_t)carveout;
	kernel->is_cooperative = is_cooperative;
	kernel->has_large_clusters = has_large;
	if (!json_is_array(parameters) || !read_parameters(reading, parameters, kernel))
		return refuse(reading,
			"Node %u of the plan: its parameters overlap, have no bytes, or take more than %d.",
			number, plan_most_parameter_bytes);
	return true;
}

/* A limit for counts of rows, bytes and layers, so that products of two fit into 64 bits. */
static const json_int_t MOST_EXTENT = INT32_MAX, MOST_ADDRESS = (json_int_t)1 << 56;

static bool read_memset(struct reading *reading, uint32_t number, json_t *json)
{
	struct plan_memset *set = &reading->nodes[number].set;
	json_int_t address, element, height, pitch, value, width;
	const char *kind;
	if (json_unpack(json, "{s:I, s:I, s:I, s:s, s:I, s:I, s:I !}", "address", &address,
			"element_bytes", &element, "height", &height, "kind", &kind, "pitch", &pitch, "value",
			&value, "width", &width))
		return refuse(reading, "Node %u of the plan has a missing, wrong or unknown key.", number);
	if ((element != 1 && element != 2 && element != 4)
		|| !is_within(value, 0, UINT32_MAX >> (32 - 8 * element))
		|| !is_within(width, 1, (uint64_t)(MOST_EXTENT / element))
		|| !is_within(height, 1, (uint64_t)MOST_EXTENT)
		|| !is_within(pitch, height > 1 ? (uint64_t)(width * element) : 0,
			height > 1 ? (uint64_t)MOST_EXTENT : 0)
		|| pitch % element || !is_within(address, 1, (uint64_t)MOST_ADDRESS) || address % element)
		return refuse(reading,
			"Node %u of the plan: no plan has such a memset. A row takes at most 2 GiB.", number);
	*set = (struct plan_memset){ .address = (uint64_t)address,
		.pitch = (uint64_t)pitch,
		.width = (uint64_t)width,
		.height = (uint64_t)height,
		.value = (uint32_t)value,
		.element_bytes = (uint32_t)element };
	return true;
}

/* Reads [address, pitch, rows]. A pitch may not be shorter than a row, nor a layer have fewer rows
 * than are copied. What is not used is 0, so that equal copies have equal texts. */
static bool read_pitched(json_t *json, const struct plan_copy *copy, struct plan_pitched *side)
{
	const bool has_rows = copy->height > 1 || copy->depth > 1, has_layers = copy->depth > 1;
	json_int_t address, pitch, rows;
	if (json_unpack(json, "[I, I, I !]", &address, &pitch, &rows)
		|| !is_within(address, 1, (uint64_t)MOST_ADDRESS)
		|| !is_within(pitch, has_rows ? copy->width : 0, has_rows ? (uint64_t)MOST_EXTENT : 0)
		|| !is_within(rows, has_layers ? copy->height : 0, has_layers ? (uint64_t)MOST_EXTENT : 0))
		return false;
	*side = (struct plan_pitched){ (uint64_t)address, (uint64_t)pitch, (uint64_t)rows };
	return true;
}

static bool read_copy(struct reading *reading, uint32_t number, json_t *json)
{
	struct plan_copy *copy = &reading->nodes[number].copy;
	json_int_t depth, height, width;
	json_t *from, *to;
	const char *kind;
	if (json_unpack(json, "{s:I, s:o, s:I, s:s, s:o, s:I !}", "depth", &depth, "from", &from,
			"height", &height, "kind", &kind, "to", &to, "width", &width))
		return refuse(reading, "Node %u of the plan has a missing, wrong or unknown key.", number);
	if (is_within(width, 1, (uint64_t)MOST_EXTENT) && is_within(height, 1, (uint64_t)MOST_EXTENT)
		&& is_within(depth, 1, (uint64_t)MOST_EXTENT)) {
		copy->width = (uint64_t)width, copy->height = (uint64_t)height,
		copy->depth = (uint64_t)depth;
		if (read_pitched(from, copy, &copy->from) && read_pitched(to, copy, &copy->to))
			return true;
	}
	return refuse(reading,
		"Node %u of the plan: no plan has such a copy. A row takes at most 2 GiB.", number);
}

static bool read_empty(struct reading *reading, uint32_t number, json_t *json)
{
	return json_object_size(json) == 1
		|| refuse(reading, "Node %u of the plan: an empty node has no keys.", number);
}

static const struct {
	const char *name;
	enum plan_kind kind;
	bool (*read)(struct reading *reading, uint32_t number, json_t *json);
} KINDS[] = {
	{ "kernel", PLAN_KERNEL, read_kernel },
	{ "memset", PLAN_MEMSET, read_memset },
	{ "copy", PLAN_COPY, read_copy },
	{ "empty", PLAN_EMPTY, read_empty },
};

static bool read_node(struct reading *reading, uint32_t number, json_t *json)
{
	const char *name = json_string_value(json_object_get(json, "kind"));
	for (size_t i = 0; name && i < sizeof KINDS / sizeof *KINDS; i++)
		if (strcmp(name, KINDS[i].name) == 0) {
			reading->nodes[number].kind = KINDS[i].kind;
			return KINDS[i].read(reading, number, json);
		}
	return refuse(reading, "Node %u of the plan is of no known kind.", number);
}

/* ---- edges ---- */

static bool read_order(const char *name, enum plan_order *order)
{
	static const char *const names[] = { NULL, "trigger", "start" };
	for (size_t i = 1; name && i < sizeof names / sizeof *names; i++)
		if (strcmp(name, names[i]) == 0) {
			*order = (enum plan_order)i;
			return true;
		}
	return !name;
}

static bool is_kernel(const struct reading *reading, uint32_t node)
{
	return reading->nodes[node].kind == PLAN_KERNEL;
}

/* Reads [from, to] or [from, to, "trigger" or "start"]. Edges are sorted, and none is there twice.
 */
static bool read_edge(struct reading *reading, uint32_t number, json_t *json)
{
	struct plan_edge *edge = &reading->edges[number];
	const uint32_t nodes = reading->plan.node_count;
	json_int_t from, to;
	const char *name = NULL;
	if (json_unpack(
			json, json_array_size(json) == 3 ? "[I, I, s !]" : "[I, I !]", &from, &to, &name)
		|| !is_index(from, nodes) || !is_index(to, nodes) || from == to
		|| !read_order(name, &edge->order))
		return refuse(reading,
			"Edge %u of the plan is not [from, to] with two nodes of the plan, and perhaps "
			"\"trigger\" or \"start\".",
			number);
	edge->from = (uint32_t)from, edge->to = (uint32_t)to;
	if (edge->order != PLAN_AFTER_END
		&& (!is_kernel(reading, edge->from) || !is_kernel(reading, edge->to)))
		return refuse(reading, "Edge %u of the plan: only a kernel can trigger another.", number);
	const struct plan_edge *before = number ? edge - 1 : NULL;
	if (before
		&& (before->from > edge->from || (before->from == edge->from && before->to >= edge->to)))
		return refuse(reading, "Edge %u of the plan is not in order.", number);
	return true;
}

/* Whether all nodes can run, in an order that obeys the edges: removes nodes that wait for no other
 * until none is left. */
static bool has_no_cycle(const struct reading *reading)
{
	const struct plan *plan = &reading->plan;
	uint32_t *waits_for = calloc((size_t)plan->node_count + 1, sizeof *waits_for),
			 *next = calloc((size_t)plan->node_count + 1, sizeof *next),
			 *first_edge = calloc((size_t)plan->node_count + 2, sizeof *first_edge);
	uint32_t done = 0, ready = 0;
	const bool has_memory = waits_for && next && first_edge;
	for (uint32_t i = 0; has_memory && i < plan->edge_count; i++) {
		waits_for[plan->edges[i].to]++;
		first_edge[plan->edges[i].from + 1] = i + 1; /* the end of its edges, as they are sorted */
	}
	for (uint32_t i = 0; has_memory && i < plan->node_count; i++) {
		if (first_edge[i + 1] < first_edge[i])
			first_edge[i + 1] = first_edge[i]; /* a node without edges */
		if (!waits_for[i])
			next[ready++] = i;
	}
	for (; done < ready; done++)
		for (uint32_t i = first_edge[next[done]]; i < first_edge[next[done] + 1]; i++)
			if (!--waits_for[plan->edges[i].to])
				next[ready++] = plan->edges[i].to;
	free(waits_for);
	free(next);
	free(first_edge);
	return has_memory && done == plan->node_count;
}

/* ---- the plan ---- */

/* Returns memory for the items of a list, or NULL with the reason. */
static void *make_items(
	struct reading *reading, const char *key, uint32_t most, size_t item_bytes, uint32_t *count)
{
	json_t *list = json_object_get(reading->root, key);
	if (!json_is_array(list) || json_array_size(list) > most) {
		refuse(reading, "The plan's %s are no list of at most %u.", key, most);
		return NULL;
	}
	*count = (uint32_t)json_array_size(list);
	void *items = calloc((size_t)*count + 1, item_bytes);
	if (!items)
		refuse(reading, "There is not enough memory for the plan.");
	return items;
}

static bool read_items(struct reading *reading, const char *key,
	bool (*read)(struct reading *reading, uint32_t number, json_t *json))
{
	size_t i;
	json_t *one, *list = json_object_get(reading->root, key);
	json_array_foreach(list, i, one) if (!read(reading, (uint32_t)i, one)) return false;
	return true;
}

/* Makes room for the items, and for as many parameters as the text can have: each takes at least
 * eight letters, two for each byte. */
static bool make_room(struct reading *reading, size_t length)
{
	struct plan *plan = &reading->plan;
	reading->images = make_items(
		reading, "images", plan_most_images, sizeof *reading->images, &plan->image_count);
	reading->variables = make_items(reading, "variables", plan_most_variables,
		sizeof *reading->variables, &plan->variable_count);
	reading->nodes =
		make_items(reading, "nodes", plan_most_nodes, sizeof *reading->nodes, &plan->node_count);
	reading->edges =
		make_items(reading, "edges", plan_most_edges, sizeof *reading->edges, &plan->edge_count);
	reading->parameters = calloc(length / 8 + 1, sizeof *reading->parameters);
	reading->values = malloc(length / 2 + 1);
	plan->images = reading->images;
	plan->variables = reading->variables;
	plan->nodes = reading->nodes;
	plan->edges = reading->edges;
	if (plan->images && plan->variables && plan->nodes && plan->edges && reading->parameters
		&& reading->values)
		return true;
	return refuse(reading, "There is not enough memory for the plan.");
}

static bool is_canonical(const struct reading *reading, const char *text, size_t length)
{
	char *again = json_dumps(reading->root, JSON_SORT_KEYS | JSON_COMPACT | JSON_ENSURE_ASCII);
	const bool is_same = again && strlen(again) == length && memcmp(again, text, length) == 0;
	free(again);
	return is_same;
}

static bool read_all(struct reading *reading, const char *text, size_t length)
{
	const char *format = json_string_value(json_object_get(reading->root, "format"));
	if (!format || strcmp(format, "podium plan 1") != 0)
		return refuse(reading, "The plan's format is not \"podium plan 1\".");
	if (json_object_size(reading->root) != 5)
		return refuse(reading,
			"The plan has not exactly the keys edges, format, images, nodes and variables.");
	if (!is_canonical(reading, text, length))
		return refuse(reading, "The plan is not in canonical form.");
	if (!make_room(reading, length) || !read_items(reading, "images", read_image)
		|| !read_items(reading, "variables", read_variable)
		|| !read_items(reading, "nodes", read_node) || !read_items(reading, "edges", read_edge))
		return false;
	if (!reading->plan.node_count)
		return refuse(reading, "The plan does nothing.");
	if (reading->blob_bytes > plan_most_blob_bytes)
		return refuse(reading, "The plan's images and variables take over %d MiB.",
			plan_most_blob_bytes >> 20);
	return has_no_cycle(reading)
		|| refuse(reading, "The plan's edges form a cycle, or memory is short.");
}

/* Whether the text has at most plan_most_lists lists and objects. Each takes far more memory than
 * its letters. */
static bool has_few_lists(const char *text, size_t length)
{
	size_t count = 0;
	for (size_t i = 0; i < length; i++)
		count += text[i] == '[' || text[i] == '{';
	return count <= plan_most_lists;
}

struct plan *plan_read(const char *text, size_t length, char *why, size_t why_bytes)
{
	struct reading *reading = calloc(1, sizeof *reading);
	if (why_bytes)
		why[0] = '\0';
	if (!reading) {
		snprintf(why, why_bytes, "There is not enough memory for the plan.");
		return NULL;
	}
	reading->why = why;
	reading->why_bytes = why_bytes;
	bool is_good = length <= plan_most_bytes
		|| refuse(reading, "The plan is longer than %d MiB.", plan_most_bytes >> 20);
	if (is_good && !has_few_lists(text, length))
		is_good = refuse(reading, "The plan has over %d lists and objects.", plan_most_lists);
	if (is_good) {
		reading->root = json_loadb(text, length, JSON_REJECT_DUPLICATES, NULL);
		is_good = reading->root ? read_all(reading, text, length)
								: refuse(reading, "The plan is not JSON.");
	}
	reading->why = NULL;
	if (is_good)
		return &reading->plan;
	plan_free(&reading->plan);
	return NULL;
}

void plan_free(struct plan *plan)
{
	struct reading *reading = (struct reading *)plan;
	if (!reading)
		return;
	json_decref(reading->root);
	free(reading->images);
	free(reading->variables);
	free(reading->nodes);
	free(reading->edges);
	free(reading->parameters);
	free(reading->values);
	free(reading);
}

/* ---- memory ---- */

static bool is_in_a_range(
	uint64_t address, uint64_t bytes, const struct plan_range *ranges, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (sealed_is_within(address - ranges[i].address, bytes, ranges[i].bytes))
			return true;
	return false;
}

/* How many bytes `layers` layers of `rows` rows of `width` bytes take, with `pitch` bytes from row
 * to row and `layer_rows` rows from layer to layer; false: too many for an address. */
static bool span_of(uint64_t width, uint64_t rows, uint64_t layers, uint64_t pitch,
	uint64_t layer_rows, uint64_t *bytes)
{
	uint64_t skipped, all_rows;
	return !__builtin_mul_overflow(layers - 1, layer_rows, &skipped)
		&& !__builtin_add_overflow(skipped, rows - 1, &all_rows)
		&& !__builtin_mul_overflow(all_rows, pitch, bytes)
		&& !__builtin_add_overflow(*bytes, width, bytes);
}

static bool is_side_in(const struct plan_copy *copy, const struct plan_pitched *side,
	const struct plan_range *ranges, size_t count)
{
	uint64_t bytes;
	return span_of(copy->width, copy->height, copy->depth, side->pitch, side->rows, &bytes)
		&& is_in_a_range(side->address, bytes, ranges, count);
}

static bool is_node_in(const struct plan_node *node, const struct plan_range *ranges, size_t count)
{
	uint64_t bytes;
	const struct plan_memset *set = &node->set;
	switch (node->kind) {
	case PLAN_MEMSET:
		return span_of(set->width * set->element_bytes, set->height, 1, set->pitch, 0, &bytes)
			&& is_in_a_range(set->address, bytes, ranges, count);
	case PLAN_COPY:
		return is_side_in(&node->copy, &node->copy.from, ranges, count)
			&& is_side_in(&node->copy, &node->copy.to, ranges, count);
	case PLAN_KERNEL:
	case PLAN_EMPTY: return true;
	}
	return false;
}

bool plan_stays_in(const struct plan *plan, const struct plan_range *ranges, size_t count,
	char *why, size_t why_bytes)
{
	for (uint32_t i = 0; i < plan->node_count; i++)
		if (!is_node_in(&plan->nodes[i], ranges, count)) {
			snprintf(why, why_bytes, "Node %u of the plan uses memory that is not the call's.", i);
			return false;
		}
	return true;
}

/* ---- the file ---- */

const struct plan_blob *plan_blob_at(const struct plan *plan, uint32_t number)
{
	if (number < plan->image_count)
		return &plan->images[number];
	number -= plan->image_count;
	return number < plan->variable_count ? &plan->variables[number].content : NULL;
}

const void *plan_find_blob(
	const void *file, size_t file_bytes, const struct plan_blob *blob, size_t *end)
{
	const size_t begin =
		(*end + plan_blob_alignment - 1) / plan_blob_alignment * (size_t)plan_blob_alignment;
	if (begin > file_bytes || blob->bytes > file_bytes - begin)
		return NULL;
	*end = begin + blob->bytes;
	return (const char *)file + begin;
}
