/* Private to lib/task: public harnesses that Podium knows, and what each of them measures at a
 * time. */
#ifndef PODIUM_LIB_TASK_PUBLIC_HARNESS_H
#define PODIUM_LIB_TASK_PUBLIC_HARNESS_H

#include <stddef.h>

enum harness_kind {
	HARNESS_UNKNOWN,
	HARNESS_STOCK,
	HARNESS_CALL,  /* one cold call, as in the isolated engine */
	HARNESS_BATCH, /* several calls at once */
	HARNESS_GRAPH, /* replays of a CUDA graph */
	HARNESS_RANKS, /* processes on several GPUs */
};

struct public_harness {
	const char *sha256; /* hexadecimal */
	enum harness_kind kind;
};

extern const struct public_harness public_harnesses[];
extern const size_t public_harness_count;

#endif
