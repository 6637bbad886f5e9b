#include "lib/base/required_walls.h"

#include "lib/base/scope.h"
#include "lib/base/text.h"

#include <stdlib.h>
#include <string.h>

static const char *const REQUIRED[] = { "files", "network", "processes" };

bool required_walls_has(const char *name)
{
	return text_is_one_of(name, REQUIRED, COUNT(REQUIRED));
}

/* Returns the next name of a list, and moves *rest behind it; NULL at the end. */
static const char *next_name(char **rest)
{
	const char *name;
	while ((name = strsep(rest, ", \t")))
		if (*name)
			return name;
	return NULL;
}

bool required_walls_accepts(const char *accepted, const char *name)
{
	cleanup_free char *list = strdup(accepted ? accepted : "");
	char *rest = list;
	for (const char *one; (one = next_name(&rest));)
		if (strcmp(one, name) == 0)
			return true;
	return false;
}

int required_walls_check(const char *accepted, struct error *error)
{
	cleanup_free char *list = strdup(accepted ? accepted : "");
	char *rest = list;
	for (const char *one; (one = next_name(&rest));)
		if (!required_walls_has(one))
			return fail(error, ERROR_INPUT,
				"accept_missing_walls has the name \"%.40s\". Use files, network, processes, or "
				"several of them with commas between.",
				one);
	return 0;
}

const char *required_walls_option(struct arena *arena, const char *accepted)
{
	return arena_printf(arena, "--require-walls=%s", accepted);
}

int required_walls_refuse(const char *missing, struct error *error)
{
	return fail(error, ERROR_SYSTEM,
		"No job runs on this host, because its sandbox lacks these walls: %s. \"podium-admin "
		"doctor\" says how to get them. To run submissions without them, name them in the setting "
		"accept_missing_walls (PODIUM_ACCEPT_MISSING_WALLS) and restart the worker.",
		missing);
}
