/* The machine code of kernels as text (SASS), and their PTX, by NVIDIA's cuobjdump. */
#ifndef PODIUM_WORKER_RUN_PROFILE_SASS_H
#define PODIUM_WORKER_RUN_PROFILE_SASS_H

#include "lib/base/arena.h"
#include "lib/base/buffer.h"
#include "worker/run/sandbox/process.h"

enum {
	sass_most_bytes = 4 << 20,       /* of the text */
	sass_most_image_bytes = 2 << 20, /* larger images, such as torch's, take seconds */
};

/* Appends the code of some kernels of a cubin to `text`. `names` are the kernels' names, separated
 * by commas. cuobjdump runs with the host, folder, view and environment of `like`. The caller has
 * written the cubin into that folder as `image`. Appends nothing if cuobjdump fails: the cubin may
 * be anything. Cuts the text at sass_most_bytes. */
void sass_append(struct buffer *text, struct arena *arena, const struct process *like,
	const char *cuobjdump, const char *names, const char *image);

/* Likewise appends all PTX in a program or library, which the caller has written as `file`. */
void sass_append_ptx(struct buffer *text, struct arena *arena, const struct process *like,
	const char *cuobjdump, const char *file);

#endif
