/* Plans of the sealed engine. Each test changes a good plan in one place. */
#include "harness/sealed/plan.h"

#include "harness/isolated/native.h"
#include "harness/sealed/arena.h"
#include "harness/sealed/record.h"
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

/* ---- two recordings of a call ---- */

#define AGAIN " A sealed call must do the same each time."
#define KEEP AGAIN " Keep what changes on the GPU, or compute it from the input."

enum { arena_begin = 0x100000, arena_bytes = 1 << 20 };

/* Compares two plans. The first has each `from` replaced by `before`, the second by `after`.
 * Returns the sentence, "" if they are the same, or the doubt behind a question mark. */
static const char *compare(const char *from, const char *before, const char *after)
{
	static char said[600];
	char doubt[512];
	cleanup_buffer struct buffer plan = { 0 }, old = { 0 }, new = { 0 };
	write_plan(&plan);
	sealed_arena_open(arena_begin, arena_bytes);
	append_changed(&old, buffer_string(&plan), from, before);
	append_changed(&new, buffer_string(&plan), from, after);
	const int rc =
		sealed_record_compare(buffer_string(&old), buffer_string(&new), doubt, sizeof doubt);
	assert_true(rc == 0 || rc == ISOLATED_VIOLATION);
	snprintf(said, sizeof said, "%s%s", rc || !*doubt ? "" : "?", rc ? isolated_why() : doubt);
	return said;
}

static void two_recordings_differ_in_any_part(void **state)
{
	(void)state;
	static const struct {
		const char *from, *after, *why;
	} changes[] = {
		{ "[16,\"ff\"]", "[16,\"fe\"]",
			"The kernel add.1 gets 0xfe as parameter 1, and got 0xff in the call before." KEEP },
		{ "\"grid\":[8,2,1]", "\"grid\":[8,4,1]",
			"The kernel add.1 has a grid of 8 x 4 x 1, and had one of 8 x 2 x 1 in the call "
			"before." AGAIN },
		{ "[256,1,1]", "[128,1,1]",
			"The kernel add.1 has a block of 128 x 1 x 1, and had one of 256 x 1 x 1 in the call "
			"before." AGAIN },
		{ "\"cluster\":[2,1,1]", "\"cluster\":[1,1,1]",
			"The kernel _Z3mulPf has a cluster of 1 x 1 x 1, and had one of 2 x 1 x 1 in the call "
			"before." AGAIN },
		{ "\"shared_bytes\":65536", "\"shared_bytes\":65537",
			"The kernel _Z3mulPf has 65537 bytes of dynamic shared memory, and had 65536 in the "
			"call "
			"before." AGAIN },
		{ "\"carveout\":100", "\"carveout\":99",
			"The kernel _Z3mulPf has other attributes than in the call before." AGAIN },
		{ "\"cooperative\":true,", "",
			"The kernel _Z3mulPf has other attributes than in the call before." AGAIN },
		{ "\"large_clusters\":true,", "",
			"The kernel _Z3mulPf has other attributes than in the call before." AGAIN },
		{ "\"most_shared_bytes\":232448", "\"most_shared_bytes\":232447",
			"The kernel _Z3mulPf has other attributes than in the call before." AGAIN },
		{ "\"name\":\"add.1\"", "\"name\":\"add.2\"",
			"Step 2 of the call is the kernel add.2, and was the kernel add.1 in the call "
			"before." AGAIN },
		{ "4096,\"sha256\":\"00", "4096,\"sha256\":\"01",
			"Step 2 of the call is the kernel add.1, and was the kernel add.1 of another module in "
			"the "
			"call before." AGAIN },
		{ "\"value\":7", "\"value\":8",
			"The call sets memory to 0x8, and set it to 0x7 in the call before." AGAIN },
		{ "\"address\":8192", "\"address\":8196",
			"The call sets other memory than the call before it." AGAIN },
		{ "\"width\":16", "\"width\":15",
			"The call sets other memory than the call before it." AGAIN },
		{ "[8192,64,4]", "[8256,64,4]",
			"The call copies other memory than the call before it." AGAIN },
		{ "\"depth\":2", "\"depth\":3",
			"The call copies other memory than the call before it." AGAIN },
		{ "[1,2,\"trigger\"]", "[1,2]",
			"The call orders its steps in another way than the call before it." AGAIN },
		{ "[2,3]", "[1,3]",
			"The call orders its steps in another way than the call before it." AGAIN },
		{ ",[2,3]", "", "The call orders its steps in another way than the call before it." AGAIN },
		{ "{\"depth\":2,\"from\":[8192,64,4],\"height\":3,\"kind\":\"copy\",\"to\":[16384,32,3],"
		  "\"width\":32}",
			"{\"kind\":\"empty\"}",
			"Step 4 of the call is an empty node, and was a copy in the call before." AGAIN },
		{ "}],\"variables\"", "},{\"kind\":\"empty\"}],\"variables\"",
			"The call has 5 steps (kernels, memsets and copies), and had 4 before." AGAIN },
		{ "\"gain\",\"sha256\":\"00", "\"gain\",\"sha256\":\"01",
			"The variable gain has other contents than in the call before." AGAIN },
	};
	for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
		const char *from = changes[i].from;
		assert_string_equal(compare(from, from, from), "");
		assert_string_equal(compare(from, from, changes[i].after), changes[i].why);
	}
}

/* Compares two launches of a kernel of this name. */
static const char *compare_parameters(const char *name, const char *before, const char *after)
{
	cleanup_buffer struct buffer old = { 0 }, new = { 0 };
	buffer_printf(&old, "\"%s\",\"parameters\":[%s]", name, before);
	buffer_printf(&new, "\"%s\",\"parameters\":[%s]", name, after);
	return compare("\"add.1\",\"parameters\":[[0,\"0020000000000000\"],[16,\"ff\"]]",
		buffer_string(&old), buffer_string(&new));
}

static void numbers_may_not_differ(void **state)
{
	(void)state;
	/* The last parameter is a number or a pointer in each. */
	static const char *const names[] = { "add", "_Z3add1Sf", "_Z3addIfEvPT_S0_", "_Z3add1S6__half",
		"_ZN2my3addE1SPKf" };
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		const char *said = compare_parameters(names[i], "[0,\"0000000000000000\"],[8,\"01000000\"]",
			"[0,\"0000000000000000\"],[8,\"02000000\"]");
		assert_non_null(strstr(said, "gets 0x2 as parameter 1, and got 0x1 in the call before."));
	}
}

static void structures_may_hold_bytes_that_nobody_set(void **state)
{
	(void)state;
	/* The second parameter is a structure or unknown in each. */
	static const char *const names[] = { "_Z3addf1S", "_ZN2at1kINS_1FIiLi4EEEEEvPFviET_", "_Z3addf",
		"_Zbroken", "_Z3addi1SIXgtLi4ELi3EEE" };
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		const char *said = compare_parameters(
			names[i], "[0,\"00000000\"],[8,\"01000000\"]", "[0,\"00000000\"],[8,\"02000000\"]");
		assert_non_null(
			strstr(said, "gets a structure as parameter 1 whose bytes from 0 on differ"));
		assert_int_equal(said[0], '?');
	}
	assert_string_equal(
		compare_parameters("add", "[0,\"000000000000000001\"]", "[0,\"000000000000000002\"]"),
		"?The kernel add gets a structure as parameter 0 whose bytes from 8 on differ from call to "
		"call. Each sealed call gets those of the last one.");
}

static void addresses_may_differ_within_the_arena(void **state)
{
	(void)state;
	/* The first and the last address of the arena, and those before and behind. */
	static const char first[] = "[0,\"0000100000000000\"]", last[] = "[0,\"0000200000000000\"]",
					  before[] = "[0,\"ffff0f0000000000\"]", behind[] = "[0,\"0100200000000000\"]";
	assert_string_equal(compare_parameters("add", first, last), "");
	assert_string_equal(compare_parameters("_Z3addPf", last, first), "");
	assert_string_equal(compare_parameters("_Z3add1S", first, last), "");
	for (int i = 0; i < 2; i++) {
		const char *other = i ? before : behind;
		assert_non_null(strstr(compare_parameters("add", first, other), "in the call before."));
		assert_non_null(strstr(compare_parameters("add", other, first), "in the call before."));
	}
	assert_string_equal(
		compare("\"address\":8192", "\"address\":1048576", "\"address\":2097152"), "");
	assert_string_equal(compare("[8192,64,4]", "[1048576,64,4]", "[2097152,64,4]"), "");
	assert_string_equal(compare("[8192,64,4]", "[1048576,64,4]", "[2097153,64,4]"),
		"The call copies other memory than the call before it." AGAIN);
}

static void recordings_of_different_forms_are_different(void **state)
{
	(void)state;
	const char *said = compare_parameters("add", "[0,\"01\"]", "[0,\"01\"],[1,\"01\"]");
	assert_string_equal(said,
		"Step 2 of the call is the kernel add, and was the kernel add of another module in the "
		"call "
		"before." AGAIN);
	char doubt[8];
	assert_int_equal(sealed_record_compare("{}", "{}", doubt, sizeof doubt), ISOLATED_FAILED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_plan_is_read),
		cmocka_unit_test(other_bytes_are_refused),
		cmocka_unit_test(a_plan_is_neither_empty_nor_endless),
		cmocka_unit_test(sets_and_copies_stay_in_the_memory_of_the_call),
		cmocka_unit_test(two_recordings_differ_in_any_part),
		cmocka_unit_test(numbers_may_not_differ),
		cmocka_unit_test(structures_may_hold_bytes_that_nobody_set),
		cmocka_unit_test(addresses_may_differ_within_the_arena),
		cmocka_unit_test(recordings_of_different_forms_are_different),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
