/* What the judge and the launcher say to each other, besides the protocol of
 * harness/isolated/native.h. The launcher is the contestant of the sealed engine:
 *
 *	launch           plays the plan that the judge sends
 *	launch --null    the null contestant: plays a graph with an empty kernel
 *
 * Descriptor 3 is the socket to the judge. The launcher gets no input and no output by frames: the
 * judge maps the same memory. It needs no LOAD. */
#ifndef PODIUM_SEALED_LAUNCH_H
#define PODIUM_SEALED_LAUNCH_H

#include <stdint.h>

/* The content of a frame PLACE: memory of the call. With a descriptor, the launcher maps it there;
 * without, it unmaps what lies there. */
struct sealed_place {
	uint64_t address, bytes;
	/* Whether the judge withholds lines of this memory: the memory of the input. */
	uint32_t is_input, unused;
};

/* The content of a frame PLAN. Its descriptor is a memfd: the plan's text, then the blobs of its
 * images, then those of its variables, each from the next multiple of 16 on. */
struct sealed_plan_frame {
	uint32_t text_bytes;
	uint32_t spec; /* the number of the output's form, which the launcher repeats in each call */
};

enum { sealed_blob_alignment = 16, sealed_most_places = 16 };

#endif
