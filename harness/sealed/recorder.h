/* Shared by the files of the recorder: record.c (plans), modules.c (modules, their functions and
 * variables) and nodes.c (what the nodes of a graph do). */
#ifndef PODIUM_SEALED_RECORDER_H
#define PODIUM_SEALED_RECORDER_H

#include "cubin.h"
#include "driver.h"
#include "harness/isolated/inside.h"
#include "plan.h"

#include <jansson.h>
#include <pthread.h>
#include <stdbool.h>

/* All images that one process may load. torch alone loads hundreds. */
enum { sealed_most_loaded = 8192, sealed_most_loaded_bytes = plan_most_blob_bytes };

struct sealed_image {
	const void *module; /* a CUmodule; NULL: not known; UNLOADED of modules.c: unloaded */
	uint8_t *bytes;     /* NULL: too many, or memory was short */
	size_t length;
	struct cubin cubin; /* in `bytes` */
	bool owns_bytes, is_cubin, is_hashed;
	uint8_t hash[plan_hash_bytes];
	int64_t number; /* in the plan; -1: no kernel of the plan is in it */
};

/* What a variable contained when the plan was made. */
struct sealed_content {
	uint8_t *bytes;
	size_t length;
};

/* An image that the plan lists. */
struct sealed_listed {
	struct sealed_image *image;
	struct CUmod_st *module;
};

struct sealed_record {
	pthread_mutex_t lock; /* for `images`, image_count, kept_bytes and `object` */
	struct sealed_image images[sealed_most_loaded];
	size_t image_count, kept_bytes;
	bool is_cpp;           /* for sentences: the submission is in C++ */
	const char *allocator; /* for sentences: the function that the author should allocate with */
	const char *object;    /* "texture" or "surface"; NULL: the process made none */
	/* Of the plan that is being made, or of the last one: */
	json_t *list; /* of its images; NULL: no plan is being made */
	struct sealed_listed listed[plan_most_images];
	uint32_t listed_count;
	struct sealed_content contents[plan_most_variables]; /* of its variables */
	size_t content_count;
};

/* The call does what no plan can hold. */
#define REFUSE(...) isolated_fail(ISOLATED_VIOLATION, __VA_ARGS__)

/* All functions below return 0, or one of enum isolated_error with a sentence from isolated_why().
 */

/* modules.c: finds the image with a kernel, and lists it in the plan. */
int sealed_modules_find(
	struct sealed_record *record, struct CUfunc_st *function, const char *name, int64_t *number);
/* modules.c: records the variables of all images that the plan lists, in their order. */
int sealed_modules_record_variables(struct sealed_record *record, json_t *list);
/* modules.c: the name of the variable at an address; NULL: the images that the plan lists so far
 * have none. */
const char *sealed_modules_variable_at(const struct sealed_record *record, uint64_t address);
/* modules.c: forgets what belongs to the last plan; frees all images. */
void sealed_modules_forget_plan(struct sealed_record *record);
void sealed_modules_free(struct sealed_record *record);
/* modules.c: returns `length` bytes in hexadecimal as a JSON string. */
json_t *sealed_hex(const uint8_t *bytes, size_t length);

/* nodes.c: appends a node to the plan's list. */
int sealed_nodes_record(struct sealed_record *record, struct CUgraphNode_st *node, json_t *list);

#endif
