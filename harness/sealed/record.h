/* Records what a submission's call launched: a captured CUDA graph becomes a plan (plan.h). This
 * runs in the process of the submission, which can change every byte of it. So the plan is only a
 * claim, which plan_read, the launcher and the judge check. */
#ifndef PODIUM_SEALED_RECORD_H
#define PODIUM_SEALED_RECORD_H

#include <stddef.h>
#include <stdint.h>

struct CUgraph_st;

/* The images of modules that were loaded so far. The functions about images are thread-safe. Only
 * one thread may make plans. */
struct sealed_record;

struct sealed_record *sealed_record_new(void); /* NULL: not enough memory */
void sealed_record_free(struct sealed_record *record);

/* Notes the image of a module and copies its bytes; equal bytes are kept once. `module`: its
 * CUmodule; NULL: not known yet. The bytes are not kept if a plan cannot hold them or memory is
 * short; plans with the module's kernels are then refused. Returns the image's number. */
size_t sealed_record_image(
	struct sealed_record *record, const void *module, const void *bytes, size_t length);
/* Notes the module of an image. Without it, the image is found by the name of its kernel. */
void sealed_record_module(struct sealed_record *record, size_t image, const void *module);
/* Notes that a module is unloaded, so its address may become another module's. */
void sealed_record_unload(struct sealed_record *record, const void *module);
/* Notes that the process made a "texture" or a "surface", whose handle means nothing in the
 * launcher. Plans are refused from then on, because any number in a kernel's parameters could be
 * the handle. Thread-safe. `noun` must live as long as the record. */
void sealed_record_object(struct sealed_record *record, const char *noun);

/* Call it for a submission in C++: the sentences then advise its author to use calls of CUDA C++
 * instead of torch's. */
void sealed_record_for_cpp(struct sealed_record *record);

/* Makes the plan of a captured graph: *text is its text with a NUL, which the caller frees with
 * free(); NULL on failure. Returns 0, or one of enum isolated_error with a sentence from
 * isolated_why(). Reads the variables of modules, so the GPU must have no work left.
 * ISOLATED_VIOLATION: the graph does what no plan can hold; the sentence is for the participant. */
int sealed_record_plan(struct sealed_record *record, struct CUgraph_st *graph, char **text);

/* Compares the plans of two recordings of one call: each node with its launch dimensions,
 * attributes and parameters, all memsets, copies and edges, and the contents of variables. Only
 * addresses in the arena may differ, because the second recording may have found other free memory
 * there, and the plan has its own. Returns 0, or ISOLATED_VIOLATION with a sentence for the
 * participant.
 *
 * Structures as parameters contain padding, which differs by chance. If only such bytes differ,
 * *doubt is a sentence about the first of them, else "". Padding does not change what a kernel
 * does; other bytes make the replay's outputs wrong. */
int sealed_record_compare(const char *before, const char *after, char *doubt, size_t doubt_bytes);

/* The bytes of a blob of the last plan: its images, then the contents of its variables. NULL: there
 * are fewer blobs. Valid until the next plan is made or the record is freed. */
const void *sealed_record_blob(const struct sealed_record *record, uint32_t number, size_t *length);

#endif
