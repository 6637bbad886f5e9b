/* What a participant writes for a task: the function's signature, the types in it, and a first file
 * for a task that brings no template. All of it is read from the task's files. */
#ifndef PODIUM_LIB_TASK_STARTER_H
#define PODIUM_LIB_TASK_STARTER_H

#include "lib/task/task.h"

struct task_starter {
	/* One line: "def custom_kernel(data: input_t) -> output_t". NULL: the files do not tell. */
	const char *signature;
	const char *types; /* the definitions of input_t and output_t, as the task has them; or "" */
	/* A first file that fits the harness. Until the participant fills it in, it fails with a
	 * sentence. NULL: the signature is unknown. */
	const char *code;
};

/* `files` are the task's files of the role ROLE_FILE, with any bytes. The texts live in `arena`. */
struct task_starter task_starter_make(
	struct arena *arena, const struct task *task, const struct task_content *files, size_t count);

#endif
