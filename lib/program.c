#include "lib/program.h"

#include <string.h>
#include <unistd.h>

const char *program_beside(struct arena *arena, const char *name)
{
	char path[4096];
	ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
	path[length > 0 ? length : 0] = '\0';
	char *slash = strrchr(path, '/');
	return arena_printf(arena, "%.*s/%s", slash ? (int)(slash - path) : 0, path, name);
}
