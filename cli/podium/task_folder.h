/* Writes a server's files to a folder. Does not trust the paths that the server sends, and never
 * overwrites the user's work.
 *
 * The folder's .podium-task.json records the origin and SHA-256 of each file. A newer version
 * replaces an unchanged file; every other file is kept. Links below the folder are not followed. */
#ifndef PODIUM_CLI_PODIUM_TASK_FOLDER_H
#define PODIUM_CLI_PODIUM_TASK_FOLDER_H

#include "lib/base/arena.h"
#include "lib/base/error.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

typedef char task_digest[65]; /* SHA-256 in hexadecimal */

struct task_folder {
	struct arena *arena;
	const char *path;
	int fd;
	json_t *known; /* {"server", "leaderboard", "files": {PATH: SHA-256}} */
};

/* Opens the folder `path` and creates it if it is missing. ERROR_CONFLICT if the folder holds
 * another leaderboard's task. */
int task_folder_open(struct arena *arena, const char *path, const char *server,
	const char *leaderboard, struct task_folder *task, struct error *error);

enum task_file_outcome {
	TASK_FILE_NEW,
	TASK_FILE_SAME,
	TASK_FILE_UPDATED,
	TASK_FILE_KEPT /* changed locally, so not overwritten */
};

/* Writes a file unless the outcome is TASK_FILE_SAME or TASK_FILE_KEPT. ERROR_INPUT if
 * task_folder_path_fault finds a fault in the path. */
int task_folder_put(struct task_folder *task, const char *path, const void *bytes, size_t length,
	enum task_file_outcome *outcome, struct error *error);

/* Returns what is wrong with a server's path, as the end of an error message, or NULL. */
const char *task_folder_path_fault(const char *path);

/* Whether the local file already has this digest, so that it need not be fetched. */
bool task_folder_has(const struct task_folder *task, const char *path, const char *digest);

/* Writes .podium-task.json. */
int task_folder_save(const struct task_folder *task, struct error *error);
void task_folder_close(struct task_folder *task);

void task_digest_of(task_digest out, const void *bytes, size_t length);

#define cleanup_task_folder __attribute__((cleanup(task_folder_close)))

#endif
