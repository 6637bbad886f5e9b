#include "worker/figures.h"

#include "lib/base/scope.h"

#include <jansson.h>
#include <stdatomic.h>
#include <string.h>

static const char *const NAMES[] = {
	[FIGURE_CLAIMS] = "claims",
	[FIGURE_RUNNERS] = "runners",
	[FIGURE_ZYGOTES] = "zygotes",
	[FIGURE_FAILURES] = "failures",
	[FIGURE_LOST_CLAIMS] = "lost_claims",
	[FIGURE_FULL_DISKS] = "full_disks",
};
static const char *const STAGES[] = { "compile", "test", "benchmark", "ranked", "profile",
	"compare" };

static atomic_llong figures[figure_count];
static struct {
	atomic_llong count, total_ms;
} stages[COUNT(STAGES)];

void figures_add(enum figure figure, int64_t more)
{
	atomic_fetch_add_explicit(&figures[figure], more, memory_order_relaxed);
}

void figures_add_stage(const char *stage, int64_t duration_ms)
{
	for (size_t i = 0; i < COUNT(STAGES); i++)
		if (strcmp(STAGES[i], stage) == 0 && duration_ms >= 0) {
			atomic_fetch_add_explicit(&stages[i].count, 1, memory_order_relaxed);
			atomic_fetch_add_explicit(&stages[i].total_ms, duration_ms, memory_order_relaxed);
		}
}

char *figures_json(void)
{
	json_t *root = json_object(), *members = json_object();
	for (size_t i = 0; i < COUNT(NAMES); i++)
		json_object_set_new(
			root, NAMES[i], json_integer(atomic_load_explicit(&figures[i], memory_order_relaxed)));
	for (size_t i = 0; i < COUNT(STAGES); i++)
		json_object_set_new(members, STAGES[i],
			json_pack("[I, I]",
				(json_int_t)atomic_load_explicit(&stages[i].count, memory_order_relaxed),
				(json_int_t)atomic_load_explicit(&stages[i].total_ms, memory_order_relaxed)));
	json_object_set_new(root, "stages", members);
	char *text = json_dumps(root, JSON_COMPACT);
	json_decref(root);
	return text;
}
