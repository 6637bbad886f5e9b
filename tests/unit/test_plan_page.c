/* What pages show of a plan: names, figures, gaps, the timeline, and the changes between two. */
#include "cgi/page/plan.h"

#include "lib/base/buffer.h"
#include "lib/base/scope.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static struct arena *arena;

static struct plan_view read_plan(const char *nodes)
{
	struct plan_row *row = arena_alloc(arena, sizeof *row);
	*row = (struct plan_row){ .id = 1, .stage = "ranked", .gpu = "H200", .nodes = nodes };
	return *plan_read_rows(arena, row, 1, plan_most_rows);
}

static struct plan_view read_kernel(const char *name)
{
	return read_plan(arena_printf(arena,
		"[{\"kind\":\"kernel\",\"name\":\"%s\",\"grid\":[8,2,1],\"block\":[250,1,1],"
		"\"shared\":4096,\"static_shared_bytes\":1024,\"registers\":32,\"blocks_per_sm\":2,"
		"\"warps_per_sm_most\":64}]",
		name));
}

static void names_are_shown_without_arguments(void **state)
{
	(void)state;
	static const char *const names[][2] = {
		{ "_Z9vectoraddPKfS0_Pfi", "vectoradd" },
		{ "_ZN2at6native29vectorized_elementwise_kernelILi4EEEvi",
			"at::native::vectorized_elementwise_kernel<…>" },
		{ "_ZN2at6native12_GLOBAL__N_14copyEv", "at::native::(anonymous)::copy" },
		{ "_ZL6hiddenPf", "hidden" },
		{ "_ZNKSt6vectorIfE4sizeEv", "std::vector<…>" },
		{ "triton_poi_fused_add_0", "triton_poi_fused_add_0" },
		/* only look mangled */
		{ "_Z", "_Z" },
		{ "_Z99short", "_Z99short" },
		{ "_Z99999999999999999999999x", "_Z99999999999999999999999x" },
		{ "_Z0x", "_Z0x" },
		{ "_ZN3abc4de", "abc" },
		{ "_ZN", "_ZN" },
		{ "_Z<b>1a", "_Z<b>1a" },
		{ "_Z1ä", "_Z1ä" },
	};
	for (size_t i = 0; i < COUNT(names); i++) {
		struct plan_view plan = read_kernel(names[i][0]);
		assert_int_equal(plan.count, 1);
		assert_string_equal(plan.nodes->label, names[i][1]);
		assert_string_equal(plan.nodes->name, names[i][0]);
	}
}

static void a_long_name_is_cut_between_characters(void **state)
{
	(void)state;
	cleanup_buffer struct buffer name = { 0 };
	for (int i = 0; i < 30000; i++)
		buffer_text(&name, "ä");
	const char *label = read_kernel(buffer_string(&name)).nodes->label;
	assert_int_equal(strlen(label), 62 - 62 % 2 - 1 + 2);
	assert_memory_equal(label + strlen(label) - 5, "ä…", 5);
}

static void figures_become_words(void **state)
{
	(void)state;
	struct plan_view plan = read_kernel("k");
	assert_int_equal(plan_shared(plan.nodes), 5120);
	assert_true(fabs(plan_occupancy(plan.nodes) - 25) < 1e-9); /* 2 blocks of 8 warps */
	assert_string_equal(plan_three(arena, plan.nodes->grid), "8 × 2");
	assert_string_equal(plan_three(arena, plan.nodes->block), "250");
	assert_string_equal(plan_percent(arena, 6.94), "6.9 %");
	assert_string_equal(plan_percent(arena, NAN), "");
	plan = read_plan("[{\"kind\":\"kernel\",\"name\":\"k\",\"grid\":[1,1,1],\"block\":[1,1,1]},"
					 "{\"kind\":\"copy\",\"bytes\":1},{\"kind\":\"copy\"},{\"kind\":\"memset\"}]");
	assert_string_equal(plan_words(arena, &plan), "1 kernel, 1 memset, 2 copies");
	assert_true(isnan(plan_occupancy(plan.nodes)) && isnan(plan.call_ns));
	assert_int_equal(plan_shared(plan.nodes), SQL_NULL_INTEGER);
	assert_int_equal(plan_timeline(arena, &plan).count, 0);
}

static void a_wrong_plan_is_left_out(void **state)
{
	(void)state;
	static const char *const wrong[] = {
		"",
		"{}",
		"[",
		"[]",
		"7",
		"[7]",
		"[{}]",
		"[{\"kind\":\"host\"}]",
		"[{\"kind\":\"empty\"},{\"kind\":3}]",
		"[{\"kind\":\"kernel\"}]",
		"[{\"kind\":\"kernel\",\"name\":\"\",\"grid\":[1,1,1],\"block\":[1,1,1]}]",
		"[{\"kind\":\"kernel\",\"name\":\"k\",\"grid\":[1,1],\"block\":[1,1,1]}]",
		"[{\"kind\":\"kernel\",\"name\":\"k\",\"grid\":[1,1,0],\"block\":[1,1,1]}]",
		"[{\"kind\":\"kernel\",\"name\":\"k\",\"grid\":[1,1,1],\"block\":\"1\"}]",
		"[{\"kind\":\"kernel\",\"name\":\"k\",\"grid\":[1,1,1],\"block\":[1,1,4294967296]}]",
	};
	for (size_t i = 0; i < COUNT(wrong); i++)
		assert_int_equal(read_plan(wrong[i]).count, 0);
	assert_int_equal(read_plan(NULL).count, 0);
	/* A wrong figure is only unknown. */
	struct plan_view plan = read_plan("[{\"kind\":\"copy\",\"registers\":-1,\"local_bytes\":1e9,"
									  "\"bytes\":-1,\"begin_ns\":5,\"end_ns\":4}]");
	assert_int_equal(plan.count, 1);
	assert_int_equal(plan.nodes->registers, SQL_NULL_INTEGER);
	assert_int_equal(plan.nodes->local_bytes, SQL_NULL_INTEGER);
	assert_true(isnan(plan.nodes->bytes) && isnan(plan.nodes->begin_ns));
}

static void a_page_has_a_limited_number_of_nodes(void **state)
{
	(void)state;
	static const char three[] = "[{\"kind\":\"empty\"},{\"kind\":\"empty\"},{\"kind\":\"empty\"}]",
					  one[] = "[{\"kind\":\"empty\"}]";
	const struct plan_row rows[] = { { .nodes = three }, { .nodes = three }, { .nodes = one } };
	struct plan_view *plans = plan_read_rows(arena, rows, 3, 5);
	assert_int_equal(plans[0].count, 3);
	assert_int_equal(plans[1].count, 0);
	assert_int_equal(plans[2].count, 1);
}

static void gaps_are_times_in_which_nothing_ran(void **state)
{
	(void)state;
	struct plan_view plan = read_plan("[{\"kind\":\"copy\",\"begin_ns\":50,\"end_ns\":60},"
									  "{\"kind\":\"copy\",\"begin_ns\":5,\"end_ns\":40},"
									  "{\"kind\":\"empty\"},"
									  "{\"kind\":\"copy\",\"begin_ns\":10,\"end_ns\":20}]");
	assert_true(plan.nodes[0].gap_ns == 10 && plan.nodes[1].gap_ns == 5);
	assert_true(isnan(plan.nodes[2].gap_ns) && plan.nodes[3].gap_ns == 0 && plan.call_ns == 60);
	struct timeline timeline = plan_timeline(arena, &plan);
	static const size_t numbers[] = { 2, 4, 1 };
	assert_int_equal(timeline.count, 3);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(timeline.spans[i].number, numbers[i]);
}

static void a_timeline_has_lanes_gaps_and_escaped_labels(void **state)
{
	(void)state;
	const struct timeline_span spans[] = {
		{ 100, 600, 100, 1, "<script>\"", true },
		{ 200, 500, 0, 2, "copy", false },
		{ 990, 1000, 390, 3, "k", true },
	};
	cleanup_buffer struct buffer out = { 0 };
	html_timeline(&out, &(struct timeline){ spans, 3, 1000 });
	const char *text = buffer_string(&out);
	assert_null(strstr(text, "<script"));
	assert_non_null(strstr(text, "<title>1 &lt;script&gt;"));
	assert_non_null(
		strstr(text, "aria-label=\"Timeline of 1.000 µs: 3 nodes, 2 gaps, 490.0 ns in"));
	assert_non_null(strstr(text, "class=\"other\" x=\"20.000%\" y=\"26\" width=\"30.000%\""));
	assert_non_null(strstr(text, "class=\"main\" x=\"99.000%\" y=\"2\" width=\"1.000%\""));
	assert_non_null(strstr(text, "class=\"gap\" x=\"60.000%\" y=\"48\" width=\"39.000%\""));
	assert_non_null(strstr(text, ">390.0 ns</text>"));
	buffer_clear(&out);
	html_timeline(&out, &(struct timeline){ spans, 0, NAN });
	assert_int_equal(out.length, 0);
	/* Times that are all 0 draw something, without dividing by 0. */
	html_timeline(
		&out, &(struct timeline){ (struct timeline_span[]){ { 0, 0, 0, 1, "k", true } }, 1, 0 });
	assert_null(strstr(buffer_string(&out), "nan"));
}

#define KERNEL(name, more) \
	"{\"kind\":\"kernel\",\"name\":\"" name "\",\"grid\":[8,1,1],\"block\":[256,1,1]," \
	"\"shared\":0" more "}"

static void changes_are_told_by_name(void **state)
{
	(void)state;
	struct plan_view best = read_plan("[" KERNEL("same", "") "," KERNEL("gone", "") "," KERNEL(
		"other", ",\"registers\":32,\"begin_ns\":0,\"end_ns\":1000") "," KERNEL("twice", "") "]");
	struct plan_view plan = read_plan("[" KERNEL("new", "") "," KERNEL("twice", "") "," KERNEL(
		"twice", "") "," KERNEL("other",
		",\"registers\":40,\"cluster\":[2,1,1],\"begin_ns\":0,\"end_ns\":1100") "," KERNEL("same",
		"") ",{\"kind\":\"empty\"}]");
	struct plan_change *changes;
	plan.best = &best;
	static const char *const expected[][3] = {
		{ "gone", "gone", "" },
		{ "new", "new", "" },
		{ "changed", "other", "registers 32 → 40, cluster none → 2, time 1.000 µs → 1.100 µs" },
		{ "changed", "twice", "launches 1 → 2" },
	};
	assert_int_equal(plan_compare(arena, &plan, &changes), COUNT(expected));
	for (size_t i = 0; i < COUNT(expected); i++) {
		assert_string_equal(changes[i].kind, expected[i][0]);
		assert_string_equal(changes[i].node->name, expected[i][1]);
		assert_string_equal(changes[i].words, expected[i][2]);
	}
	plan.best = &plan;
	assert_int_equal(plan_compare(arena, &plan, &changes), 0);
}

static void the_best_plan_is_that_of_the_same_case(void **state)
{
	(void)state;
	static const char one[] = "[{\"kind\":\"empty\"}]";
#define ROW(stage_name, index, line, model) \
	{ \
		.stage = stage_name, .case_index = index, .spec = line, .gpu = model, .nodes = one \
	}
	/* The benchmark's case 7 is the ranked run's first, because only the last shape is ranked. */
	const struct plan_row rows[] = { ROW("test", 0, "n: 1", "H200"),
		ROW("benchmark", 7, "n: 1", "H200"), ROW("ranked", 1, "n: 2", "H200"),
		ROW("ranked", 2, "n: 3", "H200"), ROW("ranked", 0, "n: 1", "B200"),
		ROW("benchmark", 0, NULL, "H200") },
						  bests[] = { ROW("test", 0, "n: 1", "H200"),
							  ROW("ranked", 0, "n: 1", "H200"), ROW("ranked", 1, "n: 2", "H200") };
	struct plan_view *plans = plan_read_rows(arena, rows, 6, 100),
					 *best = plan_read_rows(arena, bests, 3, 100);
	plan_join_best(plans, 6, best, 3);
	for (size_t i = 0; i < 3; i++)
		assert_ptr_equal(plans[i].best, &best[i]);
	assert_null(plans[3].best);
	assert_null(plans[4].best);
	assert_null(plans[5].best);
}

static int begin(void **state)
{
	(void)state;
	arena = arena_new();
	return 0;
}

static int end(void **state)
{
	(void)state;
	arena_free(arena);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_shown_without_arguments),
		cmocka_unit_test(a_long_name_is_cut_between_characters),
		cmocka_unit_test(figures_become_words),
		cmocka_unit_test(a_wrong_plan_is_left_out),
		cmocka_unit_test(a_page_has_a_limited_number_of_nodes),
		cmocka_unit_test(gaps_are_times_in_which_nothing_ran),
		cmocka_unit_test(a_timeline_has_lanes_gaps_and_escaped_labels),
		cmocka_unit_test(changes_are_told_by_name),
		cmocka_unit_test(the_best_plan_is_that_of_the_same_case),
	};
	return cmocka_run_group_tests(tests, begin, end);
}
