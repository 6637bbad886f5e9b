/* Plans of the sealed engine. Each test changes a good plan in one place. */
#include "harness/sealed/plan.h"

#include "lib/base/buffer.h"
#include "lib/base/embed.h"
#include "lib/base/scope.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

/* In this plan a memset comes first, then two kernels, of which the second may start before the
 * first has ended, then a copy. */
EMBED(plan_text, "tests/fuzz/corpus/plan/all-kinds");

/* Appends `text` with `from`, which must be in it, replaced by `to`. */
static void append_changed(
	struct buffer *buffer, const char *text, const char *from, const char *to)
{
	const char *at = strstr(text, from);
	assert_non_null(at);
	buffer_append(buffer, text, (size_t)(at - text));
	buffer_text(buffer, to);
	buffer_text(buffer, at + strlen(from));
}

static void write_plan(struct buffer *buffer)
{
	buffer_append(
		buffer, embedded_plan_text, (size_t)(embedded_plan_text_end - embedded_plan_text));
}

static struct plan *read_text(const struct buffer *text, char why[static 200])
{
	return plan_read(buffer_string(text), text->length, why, 200);
}

/* Reads the plan with one change. Returns why it is refused, or "" if it is not. */
static const char *read_changed(const char *from, const char *to)
{
	static char why[200];
	cleanup_buffer struct buffer plan = { 0 }, changed = { 0 };
	write_plan(&plan);
	append_changed(&changed, buffer_string(&plan), from, to);
	plan_free(read_text(&changed, why));
	return why;
}

static void a_plan_is_read(void **state)
{
	(void)state;
	char why[200];
	cleanup_buffer struct buffer text = { 0 };
	write_plan(&text);
	struct plan *plan = read_text(&text, why);
	assert_string_equal(why, "");
	assert_non_null(plan);
	assert_int_equal(plan->node_count, 4);
	assert_int_equal(plan->edge_count, 3);
	assert_int_equal(plan->edges[1].order, PLAN_AFTER_TRIGGER);
	assert_int_equal(plan->images[0].hash[1], 0x11);
	assert_string_equal(plan->variables[0].name, "gain");
	const struct plan_memset *set = &plan->nodes[0].set;
	assert_int_equal(set->value, 7);
	assert_int_equal(set->width, 16);
	const struct plan_kernel *add = &plan->nodes[1].kernel, *mul = &plan->nodes[2].kernel;
	assert_string_equal(add->name, "add.1");
	assert_int_equal(add->grid[1], 2);
	assert_int_equal(add->cluster[0], 0);
	assert_int_equal(add->carveout, -1);
	assert_int_equal(add->parameter_count, 2);
	assert_int_equal(add->parameters[0].value[1], 0x20);
	assert_int_equal(add->parameters[1].offset, 16);
	assert_int_equal(add->parameters[1].value[0], 0xff);
	assert_int_equal(mul->most_shared_bytes, 232448);
	assert_true(mul->is_cooperative && mul->has_large_clusters && !add->is_cooperative);
	assert_int_equal(plan->nodes[3].copy.to.rows, 3);
	plan_free(plan);
	plan_free(NULL);
}

#define NODE(number, fault) "Node " #number " of the plan: " fault
#define NO_MEMSET "no plan has such a memset. A row takes at most 2 GiB."
#define NO_COPY "no plan has such a copy. A row takes at most 2 GiB."
#define NODE_STATES_DEFAULT "Node 2 of the plan states what holds without a key."
#define SHA "0011223344556677889900112233445566778899aabbccddeeff001122334455"
#define NO_BLOB "Image 0 of the plan has no SHA-256 or no size up to 64 MiB."
#define NO_EDGE(number) \
	"Edge " #number \
	" of the plan is not [from, to] with two nodes of the plan, and perhaps \"trigger\" or " \
	"\"start\"."
#define BAD_PARAMETERS "its parameters overlap, have no bytes, or take more than 32764."

static void other_bytes_are_refused(void **state)
{
	(void)state;
	static const struct {
		const char *from, *to, *why;
	} changes[] = {
		{ "podium plan 1", "podium plan 2", "The plan's format is not \"podium plan 1\"." },
		{ "{\"edges\"", "{\"a\":1,\"edges\"",
			"The plan has not exactly the keys edges, format, images, nodes and variables." },
		{ "{\"edges\"", "{\"edges\":[],\"edges\"", "The plan is not JSON." },
		{ "{\"edges\"", "{ \"edges\"", "The plan is not in canonical form." },
		{ "gain", "g\\u0061in", "The plan is not in canonical form." },
		{ "\"bytes\":4096", "\"bytes\":4096.0",
			"Image 0 of the plan has a missing, wrong or unknown key." },
		{ "\"bytes\":4096", "\"bytes\":0", NO_BLOB },
		{ "\"bytes\":4096", "\"bytes\":67108865", NO_BLOB },
		{ "4096,\"sha256\":\"00", "4096,\"sha256\":\"0", NO_BLOB },
		{ "4096,\"sha256\":\"00", "4096,\"sha256\":\"0A", NO_BLOB },
		{ "\"image\":0,\"name\"", "\"image\":1,\"name\"",
			"Variable 0 of the plan is in an image that is not there." },
		{ "\"gain\"", "\"\"", "Variable 0 of the plan has a name that no compiler makes." },
		{ "\"gain\"", "\"ga/in\"", "Variable 0 of the plan has a name that no compiler makes." },
		{ "\"images\":[{\"bytes\":4096,\"sha256\":\"00", "\"images\":3,\"x\":[{\"sha256\":\"00",
			"The plan has not exactly the keys edges, format, images, nodes and variables." },
		{ "\"copy\"", "\"host\"", "Node 3 of the plan is of no known kind." },
		{ "\"copy\"", "\"empty\"", NODE(3, "an empty node has no keys.") },
		{ "\"name\":\"add.1\"", "\"name\":\"add 1\"", NODE(1, "no compiler makes such a name.") },
		{ "\"image\":0,\"kind\"", "\"image\":-1,\"kind\"", NODE(1, "its image is not there.") },
		{ "\"grid\":[8,2,1]", "\"grid\":[8,65536,1]",
			NODE(1, "CUDA has no such grid, block or cluster.") },
		{ "\"grid\":[8,2,1]", "\"grid\":[0,2,1]",
			NODE(1, "CUDA has no such grid, block or cluster.") },
		{ "\"grid\":[8,2,1]", "\"grid\":[8,2]",
			NODE(1, "CUDA has no such grid, block or cluster.") },
		{ "[256,1,1]", "[256,5,1]", NODE(1, "CUDA has no such grid, block or cluster.") },
		{ "[256,1,1]", "[1,1,65]", NODE(1, "CUDA has no such grid, block or cluster.") },
		{ "[2,1,1]", "[3,1,1]", NODE(2, "CUDA has no such grid, block or cluster.") },
		{ "[2,1,1]", "[2,2,1]", NODE(2, "CUDA has no such grid, block or cluster.") },
		{ "\"carveout\":100", "\"carveout\":101", NODE(2, "its carveout is not from -1 to 100.") },
		{ "\"shared_bytes\":65536", "\"shared_bytes\":262145",
			NODE(2, "a block has at most 256 KiB of shared memory.") },
		{ "[16,\"ff\"]", "[7,\"ff\"]", NODE(1, BAD_PARAMETERS) },
		{ "[16,\"ff\"]", "[16,\"\"]", NODE(1, BAD_PARAMETERS) },
		{ "[16,\"ff\"]", "[16,\"f\"]", NODE(1, BAD_PARAMETERS) },
		{ "[16,\"ff\"]", "[32764,\"ff\"]", NODE(1, BAD_PARAMETERS) },
		{ "\"value\":7", "\"value\":4294967296", NODE(0, NO_MEMSET) },
		{ "\"element_bytes\":4", "\"element_bytes\":3", NODE(0, NO_MEMSET) },
		{ "\"pitch\":64", "\"pitch\":63", NODE(0, NO_MEMSET) },
		{ "\"address\":8192", "\"address\":8190", NODE(0, NO_MEMSET) },
		{ "\"height\":2", "\"height\":0", NODE(0, NO_MEMSET) },
		{ "[8192,64,4]", "[8192,31,4]", NODE(3, NO_COPY) },
		{ "[8192,64,4]", "[8192,64,2]", NODE(3, NO_COPY) },
		{ "[8192,64,4]", "[-8192,64,4]", NODE(3, NO_COPY) },
		{ "\"depth\":2", "\"depth\":9223372036854775807", NODE(3, NO_COPY) },
		{ "[0,1],", "[0,4],", NO_EDGE(0) },
		{ "[0,1],", "[0,0],", NO_EDGE(0) },
		{ "[1,2,\"trigger\"]", "[1,2,\"end\"]", NO_EDGE(1) },
		{ "[2,3]", "[2,3,\"start\"]", "Edge 2 of the plan: only a kernel can trigger another." },
		{ "[2,3]", "[1,2]", "Edge 2 of the plan is not in order." },
		{ "[2,3]", "[2,1]", "The plan's edges form a cycle, or memory is short." },
		{ "[0,1],[1,2,\"trigger\"],[2,3]", "[2,3],[3,2]",
			"The plan's edges form a cycle, or memory is short." },
		{ "\"variables\":[{\"bytes\":4,\"image\":0,\"name\":\"gain\"",
			"\"variables\":[{\"bytes\":4,\"image\":0,\"name\":\"gain\",\"sha256\":\"" SHA
			"\"},{\"bytes\":4,\"image\":0,\"name\":\"gain\"",
			"Variable 1 of the plan is not in order." },
		{ "\"carveout\":100", "\"carveout\":-1", NODE_STATES_DEFAULT },
		{ "\"cooperative\":true", "\"cooperative\":false", NODE_STATES_DEFAULT },
		{ "\"large_clusters\":true", "\"large_clusters\":false", NODE_STATES_DEFAULT },
		{ "\"most_shared_bytes\":232448", "\"most_shared_bytes\":0", NODE_STATES_DEFAULT },
		{ "\"pitch\":64", "\"pitch\":66", NODE(0, NO_MEMSET) },
		{ "\"height\":2", "\"height\":1", NODE(0, NO_MEMSET) },
		{ "\"depth\":2", "\"depth\":1", NODE(3, NO_COPY) },
	};
	for (size_t i = 0; i < sizeof changes / sizeof *changes; i++)
		assert_string_equal(read_changed(changes[i].from, changes[i].to), changes[i].why);
	assert_string_equal(read_changed("[2,3]", "[1,3,\"start\"]"),
		"Edge 2 of the plan: only a kernel can trigger another.");
	assert_string_equal(read_changed("[2,3]", "[1,3]"), "");
	assert_string_equal(read_changed(",\"cluster\":[2,1,1]", ""), "");
}

static void a_plan_is_neither_empty_nor_endless(void **state)
{
	(void)state;
	char why[200];
	static const char empty[] =
		"{\"edges\":[],\"format\":\"podium plan 1\",\"images\":[],\"nodes\":[],\"variables\":[]}";
	assert_null(plan_read(empty, sizeof empty - 1, why, sizeof why));
	assert_string_equal(why, "The plan does nothing.");
	assert_null(plan_read("[]", 2, why, sizeof why));
	assert_null(plan_read("", 0, why, sizeof why));
	char *long_text = calloc(1, plan_most_bytes + 1);
	assert_null(plan_read(long_text, plan_most_bytes + 1, why, sizeof why));
	assert_string_equal(why, "The plan is longer than 16 MiB.");
	memset(long_text, '[', plan_most_bytes);
	assert_null(plan_read(long_text, plan_most_bytes, why, sizeof why));
	assert_string_equal(why, "The plan has over 1048576 lists and objects.");
	free(long_text);
	cleanup_buffer struct buffer many = { 0 };
	buffer_text(&many, "{\"edges\":[],\"format\":\"podium plan 1\",\"images\":[],\"nodes\":[");
	for (size_t i = 0; i <= plan_most_nodes; i++)
		buffer_text(&many, i ? ",{\"kind\":\"empty\"}" : "{\"kind\":\"empty\"}");
	buffer_text(&many, "],\"variables\":[]}");
	assert_null(read_text(&many, why));
	assert_string_equal(why, "The plan's nodes are no list of at most 4096.");
	/* 17 images of 64 MiB. */
	cleanup_buffer struct buffer large = { 0 };
	buffer_text(&large, "{\"edges\":[],\"format\":\"podium plan 1\",\"images\":[");
	for (size_t i = 0; i < 17; i++)
		buffer_printf(&large, "%s{\"bytes\":67108864,\"sha256\":\"%s\"}", i ? "," : "", SHA);
	buffer_text(&large, "],\"nodes\":[{\"kind\":\"empty\"}],\"variables\":[]}");
	assert_null(read_text(&large, why));
	assert_string_equal(why, "The plan's images and variables take over 1024 MiB.");
}

/* The memset writes 64 + 64 bytes at 8192. The copy reads (4 + 2) * 64 + 32 bytes at 8192 and
 * writes (3 + 2) * 32 + 32 at 16384. */
static void sets_and_copies_stay_in_the_memory_of_the_call(void **state)
{
	(void)state;
	char why[200];
	cleanup_buffer struct buffer text = { 0 };
	write_plan(&text);
	struct plan *plan = read_text(&text, why);
	static const struct {
		struct plan_range ranges[2];
		int node; /* the first that uses other memory; -1: none */
	} cases[] = {
		{ { { 8192, 416 }, { 16384, 192 } }, -1 },
		{ { { 0, 8192 + 415 }, { 16384, 192 } }, 3 },
		{ { { 8192, 416 }, { 16385, 191 } }, 3 },
		{ { { 8192, 127 }, { 16384, 192 } }, 0 },
		{ { { 8193, 4096 }, { 16384, 192 } }, 0 },
		{ { { 8192, 10 }, { 8202, UINT64_MAX - 8202 } }, 0 },
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char expected[80] = "";
		if (cases[i].node >= 0)
			snprintf(expected, sizeof expected,
				"Node %d of the plan uses memory that is not the call's.", cases[i].node);
		why[0] = '\0';
		assert_int_equal(
			plan_stays_in(plan, cases[i].ranges, 2, why, sizeof why), cases[i].node < 0);
		assert_string_equal(why, expected);
	}
	plan_free(plan);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_plan_is_read),
		cmocka_unit_test(other_bytes_are_refused),
		cmocka_unit_test(a_plan_is_neither_empty_nor_endless),
		cmocka_unit_test(sets_and_copies_stay_in_the_memory_of_the_call),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
