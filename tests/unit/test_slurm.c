/* Parsers for the output of Slurm's programs. */
#include "worker/slurm.h"

#include "lib/base/scope.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static struct arena *arena;

static int open_arena(void **state)
{
	(void)state;
	arena = arena_new();
	return 0;
}

static int close_arena(void **state)
{
	(void)state;
	arena_free(arena);
	return 0;
}

/* ---- sinfo ---- */

static const struct slurm_offer *find_offer(
	const struct slurm_offer *offers, size_t count, const char *model)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(offers[i].model, model) == 0)
			return &offers[i];
	return NULL;
}

static void assert_offer(const char *text, const char *partitions, const char *model,
	const char *gres, int devices, int usable)
{
	struct slurm_offer *offers;
	size_t count;
	slurm_read_nodes(arena, text, partitions, &offers, &count);
	const struct slurm_offer *offer = find_offer(offers, count, model);
	assert_non_null(offer);
	assert_string_equal(offer->gres, gres);
	assert_int_equal(offer->devices, devices);
	assert_int_equal(offer->usable, usable);
}

static void assert_no_offer(const char *text, const char *model)
{
	struct slurm_offer *offers;
	size_t count;
	slurm_read_nodes(arena, text, NULL, &offers, &count);
	assert_null(find_offer(offers, count, model));
}

static const char NODES[] = "n1|idle|gpu*|gpu:h200:4(S:0-1)\n"
							"n2|mix|gpu*|gpu:h200:4(S:0,1),gpu:a100:2,mps:400\n"
							"n3|down*|gpu*|gpu:h200:8\n"
							"n1|idle|old|gpu:h200:4(S:0-1)\n"
							"n4|drng|old|gpu:nvidia_h100_pcie:2\n"
							"c1|alloc|gpu*|(null)\n";

static void gpus_are_counted_by_type_and_node_state(void **state)
{
	(void)state;
	assert_offer(NODES, NULL, "H200", "gpu:h200", 16, 8);
	assert_offer(NODES, NULL, "A100", "gpu:a100", 2, 2);
	assert_offer(NODES, NULL, "CPU", "", 4, 3);
	assert_no_offer(NODES, "H100-PCIe"); /* not in the default partition */
}

static void nodes_of_other_partitions_do_not_count(void **state)
{
	(void)state;
	assert_offer(NODES, "old", "H200", "gpu:h200", 4, 4);
	assert_offer(NODES, "old", "H100-PCIe", "gpu:nvidia_h100_pcie", 2, 0);
	assert_offer(NODES, "old,gpu", "H200", "gpu:h200", 16, 8);
	assert_offer(NODES, "ol", "CPU", "", 0, 0);
}

static void without_a_default_partition_all_partitions_count(void **state)
{
	(void)state;
	assert_offer("n1|idle|a|gpu:h200:1\nn2|idle|b|gpu:h200:1\nn1|idle|b|gpu:h200:1\n", NULL, "H200",
		"gpu:h200", 2, 2);
}

static void gpus_without_a_type_have_no_model(void **state)
{
	(void)state;
	assert_offer("n1|idle|a|gpu:4(S:0)\n", NULL, "", "gpu", 4, 4);
	assert_offer("n1|idle|a|gpu:3\n", NULL, "", "gpu", 3, 3);
}

static void powered_down_nodes_take_jobs_and_silent_ones_do_not(void **state)
{
	(void)state;
	static const char *const good[] = { "idle", "idle~", "mix", "alloc", "comp", "mix#", "plnd",
		"resv", "boot^" };
	static const char *const bad[] = { "down", "down*", "idle*", "drain", "drng", "inval", "fail",
		"unk", "maint", "idlex", "" };
	for (size_t i = 0; i < COUNT(good); i++)
		assert_offer(
			arena_printf(arena, "n|%s|p|gpu:h200:1\n", good[i]), NULL, "H200", "gpu:h200", 1, 1);
	for (size_t i = 0; i < COUNT(bad); i++)
		assert_offer(
			arena_printf(arena, "n|%s|p|gpu:h200:1\n", bad[i]), NULL, "H200", "gpu:h200", 1, 0);
}

static void malformed_lines_of_sinfo_are_skipped(void **state)
{
	(void)state;
	assert_offer("sinfo: warning: a|b\n\n|||\nn "
				 "1|idle|p|gpu:h200:1\nn1|idle|p|gpu:h200:1|more\nn2|idle|p|gpu:h200:1",
		NULL, "H200", "gpu:h200", 1, 1);
	assert_no_offer("n1|idle|p|gpu:h2;00:1\n", "H2;00");
	assert_no_offer("n1|idle|p|gpu:h200:\n", "H200");
	assert_no_offer("n1|idle|p|gpu:h200:99999999999\n", "H200");
	assert_no_offer("n1|idle|p|gpu:h200:-1\n", "H200");
}

static void types_get_the_models_of_their_products(void **state)
{
	(void)state;
	static const struct {
		const char *type, *model;
	} names[] = {
		{ "h200", "H200" },
		{ "nvidia_h200", "H200" },
		{ "nvidia_h100_80gb_hbm3", "H100" },
		{ "nvidia_h100_pcie", "H100-PCIe" },
		{ "a100-sxm4-80gb", "A100" },
		{ "tesla_v100", "V100" },
		{ "nvidia_geforce_rtx_4090", "RTX4090" },
		{ "rtx_3080_ti", "RTX3080-Ti" },
		{ "l40s", "L40S" },
		{ "B200", "B200" },
	};
	for (size_t i = 0; i < COUNT(names); i++)
		assert_string_equal(slurm_model(arena, names[i].type), names[i].model);
}

/* ---- squeue ---- */

static void the_newest_job_counts(void **state)
{
	(void)state;
	struct slurm_job job;
	assert_true(slurm_read_job(
		"9|CANCELLED|Resources|\n17|PENDING|Resources|\n12|RUNNING|None|n1\n", &job));
	assert_string_equal(job.number, "17");
	assert_string_equal(job.state, "PENDING");
	assert_string_equal(job.reason, "Resources");
	assert_string_equal(job.node, "");
	assert_false(slurm_is_over(&job));
}

static void malformed_jobs_are_skipped(void **state)
{
	(void)state;
	struct slurm_job job;
	assert_false(slurm_read_job("", &job));
	assert_false(slurm_read_job(
		"slurm_load_jobs error: Unable to contact slurm controller (connect failure)\n", &job));
	assert_false(slurm_read_job("1_2|RUNNING|None|n1\n-1|RUNNING|None|n1\n5|RUNNING|None\n", &job));
}

static void control_characters_in_reasons_are_replaced(void **state)
{
	(void)state;
	struct slurm_job job;
	assert_true(slurm_read_job("5|PENDING|\033[2J(bad)\xff|n1\n", &job));
	assert_string_equal(job.reason, "?[2J(bad)?");
}

static void completing_jobs_are_not_finished(void **state)
{
	(void)state;
	static const char *const over[] = { "TIMEOUT", "NODE_FAIL", "PREEMPTED", "CANCELLED", "FAILED",
		"COMPLETED", "OUT_OF_MEMORY" };
	static const char *const not_yet[] = { "RUNNING", "PENDING", "COMPLETING", "CONFIGURING", "" };
	struct slurm_job job = { 0 };
	for (size_t i = 0; i < COUNT(over); i++) {
		strcpy(job.state, over[i]);
		assert_true(slurm_is_over(&job));
	}
	for (size_t i = 0; i < COUNT(not_yet); i++) {
		strcpy(job.state, not_yet[i]);
		assert_false(slurm_is_over(&job));
	}
}

static void leftovers_are_those_with_our_prefix_and_a_number(void **state)
{
	(void)state;
	struct slurm_leftover left[4];
	static const char list[] = "3|podium-a-01-1\n4|podium-a-01-x\n5|podium-a-01-\n6|podium-a-010-"
							   "1\n7|other\nx|podium-a-01-1\n8|podium-a-01-12\n";
	assert_int_equal(slurm_read_leftovers(list, "podium-a-01-", left, 4), 2);
	assert_string_equal(left[0].number, "3");
	assert_int_equal(left[0].place, 1);
	assert_string_equal(left[1].number, "8");
	assert_int_equal(left[1].place, 12);
	assert_int_equal(slurm_read_leftovers(list, "podium-a-01-", left, 1), 1);
}

/* ---- ends of jobs ---- */

static void assert_end(const char *state_name, const char *said, const char *part)
{
	struct slurm_job job = { .number = "5", .node = "n1" };
	cleanup_buffer struct buffer sentence = { 0 };
	strcpy(job.state, state_name);
	slurm_say_end(&sentence, &job, said, 14);
	if (!strstr(buffer_string(&sentence), part))
		fail_msg("\"%s\" is not in \"%s\"", part, buffer_string(&sentence));
	assert_int_equal(sentence.data[sentence.length - 1], '.');
}

static void the_state_gives_the_reason_of_a_job_s_end(void **state)
{
	(void)state;
	assert_end("NODE_FAIL", "",
		"While it ran on the node n1 (Slurm job 5), the node failed (Slurm: NODE_FAIL).");
	assert_end("PREEMPTED", "", "(preempted)");
	assert_end("TIMEOUT", "", "Slurm's time limit was reached; the job had asked for 14 min");
	assert_end("CANCELLED", "", "cancelled in the cluster");
	assert_end("OUT_OF_MEMORY", "", "more memory than Slurm allows");
}

static void without_a_state_srun_s_output_gives_the_reason(void **state)
{
	(void)state;
	assert_end("COMPLETING",
		"slurmstepd-n1: error: *** STEP 3.0 ON n1 CANCELLED AT 2026-11-22T07:25:42 DUE TO "
		"PREEMPTION ***\n",
		"(preempted)");
	assert_end("",
		"slurmstepd: error: *** STEP 3.0 ON n1 CANCELLED AT 2026-11-22T07:25:42 DUE TO TIME LIMIT "
		"***\n",
		"time limit");
	assert_end("", "srun: error: Node failure on n1\n", "the node failed");
	assert_end("RUNNING",
		"slurmstepd: error: *** STEP 4.0 ON n2 CANCELLED AT 2026-11-22T07:25:42 ***\n",
		"cancelled in the cluster");
	assert_end("FAILED",
		"2026-11-22T07:25:42.123Z error podium-run: The disk is full.\nsrun: error: n1: task 0: "
		"Exited with exit code 1\n",
		"podium-run exited: The disk is full.");
	assert_end("FAILED", "", "podium-run exited: FAILED.");
}

static void assert_error(const char *said, const char *expected)
{
	cleanup_buffer struct buffer error = { 0 };
	slurm_say_error(&error, said);
	assert_string_equal(buffer_string(&error), expected);
}

static void the_last_line_with_a_reason_is_the_error(void **state)
{
	(void)state;
	assert_error("srun: error: invalid partition specified: x\nsrun: error: Unable to allocate "
				 "resources: Invalid partition name specified\n",
		"Unable to allocate resources: Invalid partition name specified");
	assert_error("slurmstepd-n2: error: execve(): /no/such: No such file or directory\nsrun: "
				 "error: n2: task 0: Exited with exit code 2\n",
		"execve(): /no/such: No such file or directory");
	assert_error("slurm_load_partitions: Unable to contact slurm controller (connect failure)\n",
		"Unable to contact slurm controller (connect failure)");
	assert_error("", "");
	assert_error("\n\nsrun: error: n2: task 0: Killed\n", "");
	assert_error("srun: error: \033[31mred\033[0m\xff", "\\x1b[31mred\\x1b[0m\xef\xbf\xbd");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(gpus_are_counted_by_type_and_node_state),
		cmocka_unit_test(nodes_of_other_partitions_do_not_count),
		cmocka_unit_test(without_a_default_partition_all_partitions_count),
		cmocka_unit_test(gpus_without_a_type_have_no_model),
		cmocka_unit_test(powered_down_nodes_take_jobs_and_silent_ones_do_not),
		cmocka_unit_test(malformed_lines_of_sinfo_are_skipped),
		cmocka_unit_test(types_get_the_models_of_their_products),
		cmocka_unit_test(the_newest_job_counts),
		cmocka_unit_test(malformed_jobs_are_skipped),
		cmocka_unit_test(control_characters_in_reasons_are_replaced),
		cmocka_unit_test(completing_jobs_are_not_finished),
		cmocka_unit_test(leftovers_are_those_with_our_prefix_and_a_number),
		cmocka_unit_test(the_state_gives_the_reason_of_a_job_s_end),
		cmocka_unit_test(without_a_state_srun_s_output_gives_the_reason),
		cmocka_unit_test(the_last_line_with_a_reason_is_the_error),
	};
	return cmocka_run_group_tests(tests, open_arena, close_arena);
}
