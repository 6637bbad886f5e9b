#include "worker/run/sandbox/variables.h"

#include "lib/base/buffer.h"
#include "lib/base/scope.h"

#include <stdlib.h>
#include <string.h>

static const char SYSTEM_PATH[] =
	"/usr/local/cuda/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/* The operator's variables that programs also need. */
static const char *const PASSED_ON[] = { "CUDA_HOME", "LD_LIBRARY_PATH" };

static const struct {
	const char *name, *value;
} FIXED[] = {
	{ "LANG", "C.UTF-8" },
	{ "PYTHONDONTWRITEBYTECODE", "1" },
	{ "PYTHONUNBUFFERED", "1" },
	/* Without user site packages, a stage cannot leave modules for the next stage's harness. */
	{ "PYTHONNOUSERSITE", "1" },
};

void variables_set(struct variables *variables, const char *name, const char *value)
{
	if (variables->count == variables_most)
		abort();
	variables->list[variables->count++] = arena_printf(variables->arena, "%s=%s", name, value);
}

static void set_path(struct variables *variables, const char *const *programs)
{
	cleanup_buffer struct buffer path = { 0 };
	for (; *programs; programs++) {
		const char *slash = strrchr(*programs, '/');
		if (slash && slash > *programs) {
			buffer_append(&path, *programs, (size_t)(slash - *programs));
			buffer_byte(&path, ':');
		}
	}
	buffer_text(&path, SYSTEM_PATH);
	variables_set(variables, "PATH", buffer_string(&path));
}

struct variables variables_basic(struct arena *arena, const struct account *account,
	const char *const *programs, const char *home)
{
	struct variables variables = { .arena = arena };
	set_path(&variables, programs);
	for (size_t i = 0; i < COUNT(FIXED); i++)
		variables_set(&variables, FIXED[i].name, FIXED[i].value);
	for (size_t i = 0; i < COUNT(PASSED_ON); i++)
		if (getenv(PASSED_ON[i]))
			variables_set(&variables, PASSED_ON[i], getenv(PASSED_ON[i]));
	variables_set(&variables, "USER", account->name);
	variables_set(&variables, "HOME", home);
	return variables;
}
