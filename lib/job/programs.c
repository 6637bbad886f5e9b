#include "lib/job/programs.h"

#include "lib/base/scope.h"
#include "lib/job/runner.h"

#include <poll.h>
#include <string.h>

const char *tools_find(struct arena *arena, const char *name)
{
	const char *folders = getenv("PATH");
	char *rest = arena_strdup(arena, folders ? folders : "/usr/bin:/bin"), *folder;
	while ((folder = strtok_r(rest, ":", &rest))) {
		const char *path = arena_printf(arena, "%s/%s", folder, name);
		if (access(path, X_OK) == 0)
			return path;
	}
	return NULL;
}

const char *tools_find_runner(struct arena *arena, const struct config *config)
{
	static const char name[] = "podium-run";
	if (config->worker_runner[0])
		return config->worker_runner;
	const char *beside = program_beside(arena, name),
			   *runner = access(beside, X_OK) == 0 ? beside : tools_find(arena, name);
	return runner ? runner : beside;
}

const char *tools_find_nvcc(struct arena *arena, const struct config *config)
{
	static const char fallback[] = "/usr/local/cuda/bin/nvcc";
	const char *nvcc = config->nvcc[0] ? config->nvcc : tools_find(arena, "nvcc");
	return nvcc ? nvcc : access(fallback, X_OK) == 0 ? fallback : "";
}

const char *tools_find_python(
	struct arena *arena, const struct config *config, const char *runner, int wake)
{
	struct pollfd woken = { .fd = wake, .events = POLLIN };
	const char *option = config->python[0] ? arena_printf(arena, "--find-python=%s", config->python)
										   : "--find-python";
	const char *words[] = { runner, option, NULL };
	cleanup_free char *python = runner_ask(words, wake);
	if (poll(&woken, 1, 0) > 0)
		return NULL;
	return python ? arena_strdup(arena, python) : "";
}

const char *program_beside(struct arena *arena, const char *name)
{
	char path[4096];
	ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
	path[length > 0 ? length : 0] = '\0';
	char *slash = strrchr(path, '/');
	return arena_printf(arena, "%.*s/%s", slash ? (int)(slash - path) : 0, path, name);
}
