/* A plan: what one call of a submission does on the GPU, as data. The sealed engine's build records
 * it in the process of the submission, so every byte is hostile. The launcher plays it later, in a
 * process without any of the submission's code.
 *
 * A plan is JSON in canonical form: ASCII, without spaces, keys in order, all numbers whole. So two
 * plans are equal if and only if their bytes are. plan.schema.json describes the keys.
 *
 *	{"edges":[[0,1]],"format":"podium plan 1","images":[...],"nodes":[...],"variables":[...]}
 *
 * A plan has addresses of inputs and outputs, not their bytes. The judge maps its memory at the
 * same addresses in the build and in the launcher.
 *
 * Sources: CUDA Driver API, "Graph Management" and "Data types used by CUDA driver"; CUDA C++
 * Programming Guide, "Technical Specifications per Compute Capability". */
#ifndef PODIUM_SEALED_PLAN_H
#define PODIUM_SEALED_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	plan_most_bytes = 16 << 20,     /* of the text */
	plan_most_lists = 1 << 20,      /* lists and objects in the text */
	plan_most_blob_bytes = 1 << 30, /* of all blobs together */
	plan_most_nodes = 4096,
	plan_most_edges = 16 * plan_most_nodes,
	plan_most_images = 512,
	plan_most_image_bytes = 64 << 20,
	plan_most_variables = 4096,
	plan_most_variable_bytes = 64 << 20,
	plan_most_name_bytes = 4096,
	plan_most_parameter_bytes = 32764, /* CUDA's limit for all parameters of a kernel */
	plan_hash_bytes = 32,
};

/* Bytes that the plan needs and does not contain, known by their SHA-256. */
struct plan_blob {
	uint8_t hash[plan_hash_bytes];
	uint32_t bytes; /* at least 1 */
};

/* A `__device__` or `__constant__` variable, and what it contains before each call. */
struct plan_variable {
	uint32_t image; /* the index in the plan's images */
	const char *name;
	struct plan_blob content;
};

/* One parameter: `bytes` bytes at `value`, which the kernel finds at `offset`. */
struct plan_parameter {
	uint32_t offset, bytes;
	const uint8_t *value;
};

struct plan_kernel {
	uint32_t image;
	const char *name;
	uint32_t grid[3], block[3]; /* blocks in the grid, threads in a block: x, y, z */
	uint32_t cluster[3];        /* blocks in a cluster; zeros: no clusters */
	uint32_t shared_bytes;      /* dynamic shared memory of this launch */
	/* Attributes of the function. Most dynamic shared bytes; preferred share of shared memory in
	 * percent, -1: the driver's choice; whether clusters of over 8 blocks are allowed. */
	uint32_t most_shared_bytes;
	int32_t carveout;
	bool has_large_clusters;
	bool is_cooperative;
	const struct plan_parameter *parameters; /* by offset, without overlaps */
	uint32_t parameter_count;
};

/* Sets `height` rows of `width` elements to `value`. */
struct plan_memset {
	uint64_t address;
	uint64_t pitch; /* bytes from row to row; 0 if there is one row */
	uint64_t width, height;
	uint32_t value, element_bytes; /* 1, 2 or 4 */
};

/* One side of a copy: rows at `address`, `pitch` bytes apart, `rows` of them in a layer. `rows` is
 * 0 if there is one layer, and `pitch` too if there is one row. */
struct plan_pitched {
	uint64_t address, pitch, rows;
};

/* Copies `depth` layers of `height` rows of `width` bytes between places on the GPU. */
struct plan_copy {
	struct plan_pitched from, to;
	uint64_t width, height, depth;
};

enum plan_kind { PLAN_KERNEL, PLAN_MEMSET, PLAN_COPY, PLAN_EMPTY };

struct plan_node {
	enum plan_kind kind;
	union {
		struct plan_kernel kernel;
		struct plan_memset set;
		struct plan_copy copy;
	};
};

/* When `to` may start: after `from` has ended; once all blocks of the kernel `from` have called
 * cudaTriggerProgrammaticLaunchCompletion() or ended; or once they have started. */
enum plan_order { PLAN_AFTER_END, PLAN_AFTER_TRIGGER, PLAN_AFTER_START };

struct plan_edge {
	uint32_t from, to;
	enum plan_order order;
};

struct plan {
	const struct plan_blob *images;        /* cubins */
	const struct plan_variable *variables; /* by image and name, each once */
	const struct plan_node *nodes;
	const struct plan_edge *edges; /* without cycles */
	uint32_t image_count, variable_count, node_count, edge_count;
};

/* Reads a plan. `text` needs no NUL and may be freed afterwards. Returns NULL with a sentence in
 * `why` if a byte is wrong, a limit is exceeded or memory is short; otherwise `why` is "". Free the
 * plan with plan_free. */
struct plan *plan_read(const char *text, size_t length, char *why, size_t why_bytes);
void plan_free(struct plan *plan);

/* A plan's file is its text, then the blobs of its images, then those of its variables. Each blob
 * begins at the next multiple of this number of bytes. */
enum { plan_blob_alignment = 16 };

/* Returns the blob with this number, from 0 on, in the order of the file. NULL: there are fewer. */
const struct plan_blob *plan_blob_at(const struct plan *plan, uint32_t number);

/* Finds the next blob of a file at or behind *end, which is the text's length at first, and moves
 * *end behind it. NULL: the file is too short. */
const void *plan_find_blob(
	const void *file, size_t file_bytes, const struct plan_blob *blob, size_t *end);

struct plan_range {
	uint64_t address, bytes;
};

/* Whether all memsets and copies stay within these ranges, each side within one. If not, writes a
 * sentence to `why`. Kernels are not checked: they can use all memory that is mapped. */
bool plan_stays_in(const struct plan *plan, const struct plan_range *ranges, size_t count,
	char *why, size_t why_bytes);

#endif
