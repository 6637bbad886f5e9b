/* Reads a task from the local disk, where its folder may lie in a larger tree. */
#ifndef PODIUM_LIB_TASK_LOCAL_H
#define PODIUM_LIB_TASK_LOCAL_H

#include "lib/files/fileset.h"

/* Reads a folder, a zip or a single reference into `set`, in the form for task_check.
 *
 * If the folder's task.yml names files above the folder ("../utils.py"), `set` gets these files
 * too. The paths then begin at the lowest folder that contains everything. The files must lie
 * inside the tree: `root` if it is not NULL, else the git working tree, else the folder above the
 * task. Links are not followed. ERROR_INPUT: a source leads out of the tree. */
int task_from_path(struct fileset *set, const char *path, const char *root, struct error *error);

#endif
