/* Reads the task and the submission's file that `podium check` runs. Validates them as the server
 * validates uploads. */
#ifndef PODIUM_CLI_PODIUM_CHECK_INPUT_H
#define PODIUM_CLI_PODIUM_CHECK_INPUT_H

#include "lib/base/arena.h"
#include "lib/base/error.h"
#include "lib/files/fileset.h"
#include "lib/submission/directive.h"
#include "lib/submission/file.h"
#include "lib/task/task.h"

#include <stddef.h>

struct check_input {
	struct fileset upload, stock;
	struct task *task;
	struct file *files;
	size_t file_count; /* the task's files that podium-run gets */
	struct submission_file submission;
};

/* Reads the task's folder, zip or single file; `root` as in task_from_path. On ERROR_INPUT,
 * `faults` may list what is wrong with the task. */
int check_input_read_task(struct arena *arena, const char *path, const char *root,
	struct check_input *input, struct task_faults *faults, struct error *error);

/* Reads a submission's file, written in `language`, and the directives at the top of the file. */
int check_input_read_file(struct arena *arena, const char *language, const char *path,
	struct submission_file *file, struct directives *directives, struct error *error);

/* Finds the language by the ending of the file's name. */
int check_input_language(const char *path, const char **language, struct error *error);

/* Like check_input_read_file, but takes the language from the task that `input` holds. */
int check_input_read_submission(
	struct arena *arena, const char *path, struct check_input *input, struct error *error);

#endif
