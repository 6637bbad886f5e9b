#include "lib/plural.h"

const char *plural(struct arena *arena, int64_t count, const char *noun)
{
	return arena_printf(arena, "%lld %s%s", (long long)count, noun, count == 1 ? "" : "s");
}
