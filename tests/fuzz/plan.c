/* A plan of the sealed engine, which comes from the process of a submission. */
#include "harness/sealed/plan.h"

#include "tests/fuzz/fuzz.h"

static bool is_in(__uint128_t address, __uint128_t bytes, const struct plan_range *range)
{
	return address >= range->address
		&& address + bytes <= (__uint128_t)range->address + range->bytes;
}

static __uint128_t bytes_of(const struct plan_copy *copy, const struct plan_pitched *side)
{
	return ((__uint128_t)(copy->depth - 1) * side->rows + copy->height - 1) * side->pitch
		+ copy->width;
}

static void check_kernel(const struct plan *plan, const struct plan_kernel *kernel)
{
	uint64_t end = 0, touched = 0;
	require(kernel->image < plan->image_count && *kernel->name);
	require((uint64_t)kernel->block[0] * kernel->block[1] * kernel->block[2] <= 1024);
	require(kernel->grid[0] && kernel->grid[1] && kernel->grid[2]);
	for (uint32_t i = 0; i < kernel->parameter_count; i++) {
		const struct plan_parameter *one = &kernel->parameters[i];
		require(one->offset >= end && one->bytes);
		end = (uint64_t)one->offset + one->bytes;
		for (uint32_t k = 0; k < one->bytes; k++)
			touched += one->value[k];
	}
	require(end <= plan_most_parameter_bytes && touched <= 255 * end);
}

static void check_node(const struct plan *plan, const struct plan_node *node,
	const struct plan_range *range, bool stays)
{
	const struct plan_memset *set = &node->set;
	const struct plan_copy *copy = &node->copy;
	if (node->kind == PLAN_KERNEL)
		check_kernel(plan, &node->kernel);
	else if (node->kind == PLAN_MEMSET && stays)
		require(is_in(set->address,
			(__uint128_t)(set->height - 1) * set->pitch + set->width * set->element_bytes, range));
	else if (node->kind == PLAN_COPY && stays)
		require(is_in(copy->from.address, bytes_of(copy, &copy->from), range)
			&& is_in(copy->to.address, bytes_of(copy, &copy->to), range));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	char why[200];
	const struct plan_range range = { 4096, 1 << 20 };
	/* A copy of exactly this length, so that ASan sees a read past its end. */
	cleanup_free char *text = malloc(length ? length : 1);
	if (length)
		memcpy(text, bytes, length);
	struct plan *plan = plan_read(text, length, why, sizeof why);
	require(!plan == !!*why);
	if (!plan)
		return 0;
	require(plan->node_count);
	for (uint32_t i = 0; i < plan->variable_count; i++)
		require(plan->variables[i].image < plan->image_count);
	for (uint32_t i = 0; i < plan->edge_count; i++)
		require(plan->edges[i].from < plan->node_count && plan->edges[i].to < plan->node_count);
	const bool stays = plan_stays_in(plan, &range, 1, why, sizeof why);
	for (uint32_t i = 0; i < plan->node_count; i++)
		check_node(plan, &plan->nodes[i], &range, stays);
	plan_free(plan);
	return 0;
}
