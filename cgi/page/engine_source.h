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
	const char *note; /* what becomes of it, as part of a sentence */
};

/* The files that an engine of this kind runs or compiles for a task: the judge's, the contestant's,
 * and their libraries in source form. `task` has an engine of its own, which does not count. */
size_t engine_sources(struct arena *arena, const struct task *task, enum task_engine engine,
	struct engine_source **sources);

/* The file at this path, whichever engine and task it is for; path NULL: there is none. */
struct engine_source engine_source_find(const char *path);

#endif
