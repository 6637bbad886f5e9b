/* What somebody wants to have checked: a task and a file, read and looked at as the server does
 * when they are sent to it. */
#ifndef PODIUM_CLI_PODIUM_GIVEN_H
#define PODIUM_CLI_PODIUM_GIVEN_H

#include "lib/arena.h"
#include "lib/directive.h"
#include "lib/error.h"
#include "lib/fileset.h"
#include "lib/submission_file.h"
#include "lib/task.h"

#include <stddef.h>

struct given {
	struct fileset upload, stock;
	struct task *task;
	struct file *files;
	size_t file_count; /* of the task, as the runner sees them */
	struct submission_file submission;
};

/* Reads the task's folder or zip. ERROR_INPUT; where `faults` has sentences, they say what is wrong
 * with the task. */
int given_read_task(struct arena *arena, const char *path, struct given *given,
	struct task_faults *faults, struct error *error);

/* Reads a file that is submitted to a task in this language, and the directives at its head. */
int given_read_file(struct arena *arena, const char *language, const char *path,
	struct submission_file *file, struct directives *directives, struct error *error);
int given_language(
	const char *path, const char **language, struct error *error); /* by the ending of its name */

/* The same; the task is there already. */
int given_read_submission(
	struct arena *arena, const char *path, struct given *given, struct error *error);

#endif
