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

/* Appends the code of some kernels of a cubin to `text`. `names`: of the kernels, with commas
 * between them. `like`: a process with the host, folder and view of the program that runs here; the
 * function writes the cubin into its folder as `image`. Appends nothing if cuobjdump fails: the
 * cubin may be anything. Cuts the text at sass_most_bytes. */
void sass_append(struct buffer *text, struct arena *arena, const struct process *like,
	const char *cuobjdump, const char *names, const char *image);

/* Likewise appends all PTX in a program or library, which lies in the process's folder as `file`.
 */
void sass_append_ptx(struct buffer *text, struct arena *arena, const struct process *like,
	const char *cuobjdump, const char *file);

#endif
