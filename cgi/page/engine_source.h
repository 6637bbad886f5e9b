/* Private to cgi/page: the source of Podium's engines, so that contestants can read everything that
 * runs beside their submissions. The Makefile lists the files. */
#ifndef PODIUM_CGI_PAGE_ENGINE_SOURCE_H
#define PODIUM_CGI_PAGE_ENGINE_SOURCE_H

#include "lib/base/arena.h"
#include "lib/task/task.h"

struct engine_source {
	const char *path; /* "judge.py" */
	const char *bytes;
	size_t length;
	const char *note; /* how an engine uses it, as part of a sentence */
};

/* Lists the files that `engine` runs or compiles for a task: the files of the judge and the
 * contestant, and the source of their libraries. Does not look at the engine that `task` itself
 * asks for. */
size_t engine_sources(struct arena *arena, const struct task *task, enum task_engine engine,
	struct engine_source **sources);

/* Finds a file by its path among the files of all engines and tasks. Without such a file, the
 * result's path is NULL. */
struct engine_source engine_source_find(const char *path);

#endif
