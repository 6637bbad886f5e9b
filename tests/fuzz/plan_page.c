/* What pages show of two plans. A registered host writes plans.nodes, and the names come from
 * submissions. */
#include "cgi/page/plan.h"

#include "tests/fuzz/fuzz.h"

#include <math.h>

enum { most_nodes = 500, most_label_bytes = 512 };

static void check_node(struct arena *arena, const struct plan_node_row *node)
{
	require(node->label && strlen(node->label) <= most_label_bytes);
	require_text(node->label, strlen(node->label));
	require(isnan(node->begin_ns) == isnan(node->end_ns) && !(node->end_ns < node->begin_ns));
	require(!(node->gap_ns < 0) && !(plan_occupancy(node) < 0));
	if (node->name)
		require(*plan_three(arena, node->grid) && *plan_three(arena, node->block));
}

static void check_plan(struct arena *arena, const struct plan_view *plan)
{
	cleanup_buffer struct buffer out = { 0 };
	require(plan->count <= most_nodes && plan->kernels <= plan->count);
	for (size_t i = 0; i < plan->count; i++)
		check_node(arena, &plan->nodes[i]);
	struct timeline timeline = plan_timeline(arena, plan);
	require(timeline.count <= plan->count && (timeline.count > 0) == !isnan(plan->call_ns));
	html_timeline(&out, &timeline);
	require_text(buffer_string(&out), out.length);
	plan_words(arena, plan);
	json_decref(plan_json(plan));
}

/* The input is the nodes of two plans, with a line break between them. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	cleanup_arena struct arena *arena = arena_new();
	cleanup_free char *text = fuzz_string(bytes, length);
	char *second = strchr(text, '\n');
	if (second)
		*second++ = '\0';
	const struct plan_row rows[] = { { .stage = "ranked", .gpu = "H200", .nodes = text },
		{ .stage = "ranked", .gpu = "H200", .nodes = second } };
	struct plan_view *plans = plan_read_rows(arena, rows, 2, most_nodes);
	struct plan_change *changes;
	check_plan(arena, &plans[0]);
	check_plan(arena, &plans[1]);
	plans[0].best = &plans[1];
	size_t count = plan_compare(arena, &plans[0], &changes);
	require(count <= plans[0].kernels + plans[1].kernels);
	for (size_t i = 0; i < count; i++)
		require_text(changes[i].words, strlen(changes[i].words));
	plans[0].best = &plans[0];
	require(plan_compare(arena, &plans[0], &changes) == 0);
	return 0;
}
