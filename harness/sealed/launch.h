/* The messages between the judge and the launcher, besides the protocol of
 * harness/isolated/native.h. The launcher is the contestant of the sealed engine:
 *
 *	launch           plays the plan that the judge sends
 *	launch --null    the null contestant: plays a graph with an empty kernel
 *
 * Descriptor 3 is the socket to the judge. After HELLO and READY the judge sends PLACE for each
 * piece of memory of the call, then PLAN. Calls may follow, and other places and plans. The
 * launcher answers each of these frames with MAPPED, or with TEXT and the reason. The answer to
 * PLAN has the figures of the plan's kernels. After a refused plan, the launcher has none. Inputs
 * and outputs need no frames, because the judge maps the same memory. There is no LOAD. */
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
	uint32_t is_input;
	uint32_t is_arena; /* 1: the memory for what the submission allocates; only for the builder */
};

/* The content of a frame PLAN. Its descriptor is a memfd: the plan's text, then the blobs of its
 * images, then those of its variables (plan_blob_alignment in plan.h). Only the judge can
 * write to the memfd. */
struct sealed_plan_frame {
	uint32_t text_bytes;
	uint32_t spec; /* the number of the output's form, which the launcher repeats in each call */
	/* 0: the judge has compared the blobs with the plan's hashes. 1: the launcher does, which is as
	 * trusted. The judge of a CUDA C++ task reads no JSON. */
	uint32_t compares_hashes;
};

/* The content of the answer to PLAN: this, and then a struct sealed_kernel_figures (graph.h) for
 * each kernel in the order of the nodes, as far as a frame has room. */
struct sealed_plan_figures {
	uint32_t warps_per_sm; /* the most of this GPU */
	uint32_t kernels;      /* whose figures follow */
};

/* ---- traces ----
 *
 * A trace says when each node of a plan runs, for the page. TRACE with folders (sealed_cupti_open
 * in cupti.h) starts a trace of the current plan; MAPPED follows. Then sealed_traced_calls ordinary
 * calls (trace.h) follow. TRACE without content ends the trace; the answer is MAPPED with a struct
 * sealed_times for each node, as far as a frame has room. TEXT instead of MAPPED: there are no
 * times. From the first trace on, calls take longer, so traces come after all timed calls. */

/* ---- the builder ----
 *
 * harness/sealed/builder.py is the process of the submission. It takes these frames from the judge
 * on descriptor 3, and has neither a page nor a gate:
 *
 *	HELLO     without descriptors; READY follows
 *	PLACE     as the launcher; one place must be the arena, another the input
 *	LOAD      imports the submission; READY follows
 *	INPUTS    the address of the input's place (u64), then the input's tree
 *	          (podium_tree.py), whose tensors lie at offsets in that place. A
 *	          descriptor brings the part on the host. MAPPED follows
 *	BUILD     calls the submission twice, captures and records its third call and
 *	          its fourth, and compares the two plans; BUILT follows with the last
 *
 * The builder answers a frame that fails with TEXT and the reason. */

/* In a task in CUDA C++, the builder is harness/sealed/builder.cu, and values are the streams of
 * harness/isolated/carry.h. The content of INPUTS is then this; the descriptor brings the input's
 * stream. */
struct sealed_input_stream {
	uint64_t address, device_bytes; /* of the input's place; the bytes of it that the input takes */
	uint64_t stream_bytes;
};

/* In a task in CUDA C++, this follows struct sealed_built, and the output's stream follows this. A
 * piece of the output that is not a piece of the input starts at a multiple of 256 in this part of
 * the arena. The first byte of the text for SEALED_RAISED is one of enum Complaint (wire.h). */
struct sealed_outputs {
	uint64_t begin, bytes; /* offset from the arena's beginning; both are multiples of 256 */
};

/* The content of a frame BUILT begins with this. With SEALED_BUILT, the output's tree follows: its
 * tensors lie at offsets from SEALED_RANGE_ADDRESS, and the frame's descriptor is a memfd as for
 * PLAN. Otherwise a sentence for the participant follows. The judge trusts none of it. */
struct sealed_built {
	uint32_t status, text_bytes;
	/* How much of the arena the plan needs, from its beginning; 0 without a plan. If this is too
	 * little, the plan's own kernels fail. */
	uint64_t arena_bytes;
};

enum sealed_status {
	SEALED_BUILT,
	SEALED_RAISED,    /* custom_kernel raised an error */
	SEALED_NO_OUTPUT, /* it returned nothing that the judge can check */
	SEALED_REFUSED,   /* no plan can hold what the call does */
	SEALED_STATUSES,
};

enum { sealed_most_places = 16 };

#endif
