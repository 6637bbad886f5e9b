#include "record.h"

#include "arena.h"
#include "harness/isolated/inside.h"
#include "plan.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Fails because the call differs from the one before it. */
#define REFUSE(...) isolated_fail(ISOLATED_VIOLATION, __VA_ARGS__)
#define AGAIN " A sealed call must do the same each time."

/* ---- the types of parameters ---- */

/* Returns the C++ signature of a mangled name, which the caller frees; NULL: the name is not
 * mangled, or there is no C++ library. */
static char *demangle(const char *name)
{
	char *(*find)(const char *name, char *made, size_t *length, int *status) = NULL;
	int status;
	void *library = strncmp(name, "_Z", 2) == 0 ? dlopen("libstdc++.so.6", RTLD_LAZY) : NULL;
	if (library)
		*(void **)&find = dlsym(library, "__cxa_demangle");
	char *made = find ? find(name, NULL, NULL, &status) : NULL;
	if (library)
		dlclose(library);
	return made;
}

/* Whether a type is one of a number or a pointer, so that each of its bytes has a meaning. */
static bool is_number_type(const char *type, size_t length)
{
	static const char *const numbers[] = { "bool", "char", "signed char", "unsigned char", "short",
		"unsigned short", "int", "unsigned int", "long", "unsigned long", "long long",
		"unsigned long long", "float", "double", "__half", "__nv_bfloat16" };
	if (length && type[length - 1] == '*')
		return true;
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
		if (strlen(numbers[i]) == length && memcmp(type, numbers[i], length) == 0)
			return true;
	return false;
}

/* Finds the parenthesis that opens the last one of a signature. NULL: there is none. */
static const char *find_list(const char *signature, const char *end)
{
	int depth = 0;
	while (end-- > signature) {
		depth += (*end == ')') - (*end == '(');
		if (*end == '(' && !depth)
			return end;
	}
	return NULL;
}

/* Splits the list of a signature's parameters. Calls *is_number for each of up to `count` ones.
 * Returns how many there are. */
static uint32_t read_types(const char *signature, bool *is_number, uint32_t count)
{
	const char *last = strrchr(signature, ')'), *at = last ? find_list(signature, last + 1) : NULL;
	uint32_t found = 0;
	int depth = 0;
	if (!at)
		return 0;
	for (const char *begin = ++at; at <= last; at++) {
		if (depth == 0 && (*at == ',' || at == last)) {
			if (found < count)
				is_number[found] = is_number_type(begin, (size_t)(at - begin));
			found++;
			begin = at + 1 + (at[1] == ' ');
		}
		depth += (strchr("<([{", *at) != NULL) - (strchr(">)]}", *at) != NULL);
	}
	return found;
}

/* Finds which parameters are numbers or pointers. All others count as structures. Kernels of Triton
 * have no mangled name, which would show the types: their parameters of up to 8 bytes count as
 * numbers. Returns NULL if memory is short; the caller frees the array. */
static bool *find_numbers(const struct plan_kernel *kernel)
{
	const uint32_t count = kernel->parameter_count;
	bool *is_number = calloc(count + 1, sizeof *is_number);
	char *signature = demangle(kernel->name);
	const bool is_mangled = strncmp(kernel->name, "_Z", 2) == 0,
			   is_known =
				   is_number && signature && read_types(signature, is_number, count) == count;
	for (uint32_t i = 0; is_number && !is_known && i < count; i++)
		is_number[i] = !is_mangled && kernel->parameters[i].bytes <= sizeof(uint64_t);
	free(signature);
	return is_number;
}

/* ---- parameters ---- */

struct comparison {
	char *doubt;
	size_t doubt_bytes;
};

static uint64_t word_at(const struct plan_parameter *parameter, uint32_t at)
{
	uint64_t word = 0;
	const uint32_t left = parameter->bytes - at;
	memcpy(&word, parameter->value + at, left < sizeof word ? left : sizeof word);
	return word;
}

/* A structure may have padding, and members that nobody set (torch's have). Both contain what was
 * on the stack before, so a difference in a structure is only a doubt. */
static int compare_parameter(struct comparison *comparison, const char *name, uint32_t number,
	bool is_number, const struct plan_parameter *before, const struct plan_parameter *after)
{
	for (uint32_t at = 0; at < after->bytes; at += sizeof(uint64_t)) {
		const uint64_t old = word_at(before, at), new = word_at(after, at);
		if (old == new || (sealed_arena_has(old) && sealed_arena_has(new)))
			continue;
		if (is_number)
			return REFUSE("The kernel %.150s gets %#llx as parameter %u, and got %#llx in the call "
						  "before." AGAIN
						  " Keep what changes on the GPU, or compute it from the input.",
				name, (unsigned long long)new, number, (unsigned long long)old);
		if (!*comparison->doubt)
			snprintf(comparison->doubt, comparison->doubt_bytes,
				"The kernel %.150s gets a structure as parameter %u whose bytes from %u on differ "
				"from call to call. Each sealed call gets those of the last one.",
				name, number, at);
	}
	return 0;
}

static int compare_parameters(struct comparison *comparison, const struct plan_kernel *before,
	const struct plan_kernel *after)
{
	int rc = 0;
	bool *is_number = find_numbers(after);
	if (!is_number)
		return isolated_no_memory();
	for (uint32_t i = 0; i < after->parameter_count && !rc; i++)
		rc = compare_parameter(comparison, after->name, i, is_number[i], &before->parameters[i],
			&after->parameters[i]);
	free(is_number);
	return rc;
}

static bool have_same_form(const struct plan_kernel *before, const struct plan_kernel *after)
{
	if (before->parameter_count != after->parameter_count)
		return false;
	for (uint32_t i = 0; i < after->parameter_count; i++)
		if (before->parameters[i].offset != after->parameters[i].offset
			|| before->parameters[i].bytes != after->parameters[i].bytes)
			return false;
	return true;
}

/* ---- nodes ---- */

static int compare_three(const char *name, const char *noun, const uint32_t before[static 3],
	const uint32_t after[static 3])
{
	return memcmp(before, after, 3 * sizeof *before) == 0
		? 0
		: REFUSE(
			"The kernel %.150s has %s of %u x %u x %u, and had one of %u x %u x %u in the call "
			"before." AGAIN,
			name, noun, after[0], after[1], after[2], before[0], before[1], before[2]);
}

static bool have_same_attributes(const struct plan_kernel *before, const struct plan_kernel *after)
{
	return before->most_shared_bytes == after->most_shared_bytes
		&& before->carveout == after->carveout
		&& before->has_large_clusters == after->has_large_clusters
		&& before->is_cooperative == after->is_cooperative;
}

static int compare_kernels(struct comparison *comparison, const struct plan_kernel *before,
	const struct plan_kernel *after)
{
	const char *name = after->name;
	int rc = compare_three(name, "a grid", before->grid, after->grid);
	if (!rc)
		rc = compare_three(name, "a block", before->block, after->block);
	if (!rc)
		rc = compare_three(name, "a cluster", before->cluster, after->cluster);
	if (!rc && before->shared_bytes != after->shared_bytes)
		rc = REFUSE(
			"The kernel %.150s has %u bytes of dynamic shared memory, and had %u in the call "
			"before." AGAIN,
			name, after->shared_bytes, before->shared_bytes);
	if (!rc && !have_same_attributes(before, after))
		rc = REFUSE("The kernel %.150s has other attributes than in the call before." AGAIN, name);
	return rc ? rc : compare_parameters(comparison, before, after);
}

static bool is_same_place(uint64_t before, uint64_t after)
{
	return before == after || (sealed_arena_has(before) && sealed_arena_has(after));
}

static int compare_memsets(const struct plan_memset *before, const struct plan_memset *after)
{
	if (before->value != after->value)
		return REFUSE("The call sets memory to %#x, and set it to %#x in the call before." AGAIN,
			after->value, before->value);
	return is_same_place(before->address, after->address) && before->pitch == after->pitch
			&& before->width == after->width && before->height == after->height
			&& before->element_bytes == after->element_bytes
		? 0
		: REFUSE("The call sets other memory than the call before it." AGAIN);
}

static bool is_same_side(const struct plan_pitched *before, const struct plan_pitched *after)
{
	return is_same_place(before->address, after->address) && before->pitch == after->pitch
		&& before->rows == after->rows;
}

static int compare_copies(const struct plan_copy *before, const struct plan_copy *after)
{
	return is_same_side(&before->from, &after->from) && is_same_side(&before->to, &after->to)
			&& before->width == after->width && before->height == after->height
			&& before->depth == after->depth
		? 0
		: REFUSE("The call copies other memory than the call before it." AGAIN);
}

static void name_node(const struct plan_node *node, char *text, size_t bytes)
{
	static const char *const nouns[] = { "the kernel ", "a memset", "a copy", "an empty node" };
	snprintf(text, bytes, "%s%.150s", nouns[node->kind],
		node->kind == PLAN_KERNEL ? node->kernel.name : "");
}

/* Whether two nodes are of the same kind; kernels also of the same function. */
static bool are_alike(const struct plan *plans[static 2], uint32_t number)
{
	const struct plan_node *before = &plans[0]->nodes[number], *after = &plans[1]->nodes[number];
	if (before->kind != after->kind || before->kind != PLAN_KERNEL)
		return before->kind == after->kind;
	const struct plan_blob *old = &plans[0]->images[before->kernel.image],
						   *new = &plans[1]->images[after->kernel.image];
	return strcmp(before->kernel.name, after->kernel.name) == 0
		&& memcmp(old->hash, new->hash, sizeof new->hash) == 0
		&& have_same_form(&before->kernel, &after->kernel);
}

static int compare_nodes(
	struct comparison *comparison, const struct plan *plans[static 2], uint32_t number)
{
	const struct plan_node *before = &plans[0]->nodes[number], *after = &plans[1]->nodes[number];
	if (!are_alike(plans, number)) {
		char old[200], new[200];
		name_node(before, old, sizeof old);
		name_node(after, new, sizeof new);
		return REFUSE("Step %u of the call is %s, and was %s%s in the call before." AGAIN,
			number + 1, new, old, strcmp(old, new) ? "" : " of another module");
	}
	switch (after->kind) {
	case PLAN_KERNEL: return compare_kernels(comparison, &before->kernel, &after->kernel);
	case PLAN_MEMSET: return compare_memsets(&before->set, &after->set);
	case PLAN_COPY: return compare_copies(&before->copy, &after->copy);
	case PLAN_EMPTY: break;
	}
	return 0;
}

/* ---- plans ---- */

static bool have_same_edges(const struct plan *before, const struct plan *after)
{
	if (before->edge_count != after->edge_count)
		return false;
	for (uint32_t i = 0; i < after->edge_count; i++)
		if (before->edges[i].from != after->edges[i].from
			|| before->edges[i].to != after->edges[i].to
			|| before->edges[i].order != after->edges[i].order)
			return false;
	return true;
}

/* The variables are those of the kernels' images, so both plans have the same ones. */
static int compare_variables(const struct plan *before, const struct plan *after)
{
	for (uint32_t i = 0; i < before->variable_count && i < after->variable_count; i++)
		if (memcmp(before->variables[i].content.hash, after->variables[i].content.hash,
				plan_hash_bytes)
			!= 0)
			return REFUSE("The variable %.200s has other contents than in the call before." AGAIN,
				after->variables[i].name);
	return 0;
}

static int compare_plans(struct comparison *comparison, const struct plan *plans[static 2])
{
	const struct plan *before = plans[0], *after = plans[1];
	int rc = 0;
	const uint32_t least =
		before->node_count < after->node_count ? before->node_count : after->node_count;
	for (uint32_t i = 0; i < least && !rc; i++)
		rc = compare_nodes(comparison, plans, i);
	if (!rc && before->node_count != after->node_count)
		rc = REFUSE("The call has %u steps (kernels, memsets and copies), and had %u before." AGAIN,
			after->node_count, before->node_count);
	if (!rc && !have_same_edges(before, after))
		rc = REFUSE("The call orders its steps in another way than the call before it." AGAIN);
	return rc ? rc : compare_variables(before, after);
}

int sealed_record_compare(const char *before, const char *after, char *doubt, size_t doubt_bytes)
{
	char why[200];
	struct comparison comparison = { doubt, doubt_bytes };
	struct plan *old = plan_read(before, strlen(before), why, sizeof why),
				*new = old ? plan_read(after, strlen(after), why, sizeof why) : NULL;
	*doubt = '\0';
	int rc = new ? compare_plans(&comparison, (const struct plan *[2]){ old, new })
				 : isolated_fail(ISOLATED_FAILED, "A recorded plan cannot be read: %s", why);
	plan_free(new);
	plan_free(old);
	return rc;
}
