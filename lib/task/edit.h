/* Edits a stored task: turns its files back into an upload, and replaces the description in the
 * text of a task.yml. */
#ifndef PODIUM_LIB_TASK_EDIT_H
#define PODIUM_LIB_TASK_EDIT_H

#include "lib/task/task.h"

/* The files of a stored version, in the form that task_check takes. */
struct task_upload {
	struct fileset upload;
	/* The stock files as the version stored them, and the current ones for stock files that it does
	 * not use. */
	struct fileset stock;
	const char *definition; /* path of task.yml, or of the single reference, in the upload */
	bool is_single;         /* there is no task.yml */
};

/* Makes the upload from the version's definition and contents (task_contents). ERROR_INPUT: the
 * version's task was a single reference with a problem.py, which Podium does not store.
 * ERROR_SYSTEM: a file is missing. */
int task_upload_again(struct arena *arena, const struct task *task,
	const struct task_content *contents, size_t count, struct task_upload *made,
	struct error *error);

/* Replaces a file's bytes, which must outlive the set. Does nothing if the set lacks the path. */
void task_upload_replace(
	struct fileset *upload, const char *path, const char *bytes, size_t length);

/* Returns the text of a task.yml with another description. NULL: no line of the text begins with
 * the key `description`. The caller reads the result again and compares, because YAML cannot
 * express every text. */
const char *task_replace_description(
	struct arena *arena, const char *definition, const char *description);

/* Like task_replace_description, but takes the description as it is written in `source`, the text
 * of another task.yml. */
const char *task_copy_description(struct arena *arena, const char *definition, const char *source);

/* Whether two descriptions differ, other than in line ends at the end of the text. */
bool task_descriptions_differ(const char *a, const char *b);

#endif
