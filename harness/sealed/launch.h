/* What the judge and the launcher say to each other, besides the protocol of
 * harness/isolated/native.h. The launcher is the contestant of the sealed engine:
 *
 *	launch           plays the plan that the judge sends
 *	launch --null    the null contestant: plays a graph with an empty kernel
 *
 * Descriptor 3 is the socket to the judge. After HELLO and READY the judge sends PLACE for each
 *piece of memory of the call, then PLAN. Calls may follow, and other places and plans. The launcher
 *answers each of these frames with MAPPED, or with TEXT and the reason. A refused plan leaves no
 *plan. Inputs and outputs need no frames, because the judge maps the same memory. There is no LOAD.
 */
#ifndef PODIUM_SEALED_LAUNCH_H
#define PODIUM_SEALED_LAUNCH_H

#include <stdint.h>

/* The content of a frame PLACE: memory of the call. With a descriptor, the launcher maps it at this
 * address; both numbers are multiples of the granularity of the GPU's memory. Without a descriptor,
 * it unmaps what begins at this address. Memsets and copies of later plans must stay in such
 * memory. */
struct sealed_place {
	uint64_t address, bytes;
	/* 1: the memory of the input, in which the judge withholds lines until the gate opens */
	uint32_t is_input, unused;
};

/* The content of a frame PLAN. Its descriptor is a memfd: the plan's text, then the blobs of its
 * images, then those of its variables, each from the next multiple of 16 on. The judge has compared
 * the blobs with the plan's hashes, and nobody else can write to the memfd. */
struct sealed_plan_frame {
	uint32_t text_bytes;
	uint32_t spec; /* the number of the output's form, which the launcher repeats in each call */
};

enum { sealed_blob_alignment = 16, sealed_most_places = 16 };

#endif
