#include "lib/files/fileset.h"
#include "lib/task/task.h"

#include "tests/unit/make_zip.h"
#include "tests/unit/task_world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void a_small_task_gets_the_defaults(void **state)
{
	(void)state;
	cleanup_arena struct arena *arena = arena_new();
	const struct task *task = parse_good(arena, GOOD).task;
	assert_int_equal(task->language, TASK_PY);
	assert_string_equal(task->description, "# Add two vectors\nFill `output`.\n");
	assert_int_equal(task->file_count, 4);
	assert_true(task->files[0].is_submission);
	assert_string_equal(task->files[2].source, "@STOCK@");
	assert_string_equal(task->main, "eval.py");
	assert_int_equal(task->test_count, 1);
	assert_string_equal(task->tests[0], "size: 128; seed: 5");
	assert_int_equal(task->benchmark_count, 2);
	assert_string_equal(task->benchmarks[1], "size: 512; seed: 7");
	assert_int_equal(task->test_timeout_s, 180);
	assert_int_equal(task->ranked_timeout_s, 180);
	assert_int_equal(task->ranking_by, RANKING_BY_LAST);
	assert_false(task->has_seed);
	assert_false(task->multi_gpu);
	assert_int_equal(task->engine, ENGINE_CHOOSE);
	assert_int_equal(task->template_count + task->gpu_count + task->expected_count, 0);
}

#define FULL_PY \
	GOOD "templates: {Python: template.py, Triton: template.py}\ngpus: [H200, CPU]\nlibraries: " \
		 "[numpy]\n" \
		 "test_timeout: 10\nbenchmark_timeout: 20\nranked_timeout: 30\nranking_by: geom\nseed: " \
		 "0\nmulti_gpu: false\n" \
		 "podium:\n  flops: 2 * size ** 2\n  bytes: 12 * size\n  tolerance: 0.001\n  engine: " \
		 "isolated\n  expected:\n" \
		 "    - {source: samples/right.py, verdict: passed}\n    - {source: samples/right.py, " \
		 "verdict: passed, mode: test}\n" \
		 "    - {source: samples/wrong.py, verdict: wrong answer, mode: benchmark}\n" \
		 "  input_is_right: true\n" \
		 "  baselines:\n    - {name: torch.compile, file: samples/right.py}\n" \
		 "    - {name: Triton-3, file: template.py}\n"
#define TORCH "{name: torch, file: template.py}"
#define FULL_CU \
	"lang: cu\ndescription: d\nfiles:\n  - {name: submission.cu, source: \"@SUBMISSION@\"}\n" \
	"  - {name: eval.cu, source: \"@STOCK@\"}\n  - {name: include/reference.cuh, source: " \
	"reference.cuh}\n" \
	"  - {name: harness.h, source: \"@STOCK@:utils.h\"}\n  - {name: utils.h, source: '@STOCK@'}\n" \
	"  - {name: task.h, source: reference.cuh}\n" \
	"config:\n  sources: [eval.cu, submission.cu]\n  include_dirs: [include, " \
	"/usr/local/cutlass/include]\n" \
	"  defines: {FAST: , BLOCK: 128, NAME: '\"x\"'}\n  compile_flags: [-O3, " \
	"--use_fast_math]\n" CASES

static void a_task_for_several_gpus_needs_as_many_as_its_widest_case(void **state)
{
	(void)state;
	cleanup_arena struct arena *arena = arena_new();
	assert_int_equal(task_most_ranks(parse_good(arena, GOOD).task), 1);
	assert_int_equal(
		task_most_ranks(parse_good(arena,
			HEAD FILES CONFIG
			"multi_gpu: true\ntests: [{n: 1, world_size: 4}]\n"
			"benchmarks: [{n: 5, world_size: 2}, {n: 6, my_world_size: 9, world_size: 2}]\n")
							.task),
		4);
	assert_int_equal(
		task_most_ranks(
			parse_good(arena, HEAD FILES CONFIG TEST "benchmarks: [{n: 5, world_size: 2}]\n").task),
		1);
}

static void every_key_of_a_py_task_is_kept(void **state)
{
	(void)state;
	cleanup_arena struct arena *arena = arena_new();
	const struct task *task = parse_good(arena, FULL_PY).task;
	assert_int_equal(task->template_count, 2);
	assert_string_equal(task->templates[1].language, "Triton");
	assert_string_equal(task->templates[1].source, "template.py");
	assert_int_equal(task->gpu_count, 2);
	assert_string_equal(task->gpus[0], "H200");
	assert_int_equal(task->test_timeout_s, 10);
	assert_int_equal(task->benchmark_timeout_s, 20);
	assert_int_equal(task->ranked_timeout_s, 30);
	assert_int_equal(task->ranking_by, RANKING_BY_GEOM);
	assert_true(task->has_seed);
	assert_string_equal(task->flops, "2 * size ** 2");
	assert_true(task->tolerance == 0.001);
	assert_int_equal(task->engine, ENGINE_ISOLATED);
	assert_int_equal(task->expected_count, 3);
	assert_string_equal(task->expected[0].mode, "ranked");
	assert_int_equal(task->expected[2].verdict, VERDICT_WRONG_ANSWER);
	assert_string_equal(task->expected[2].mode, "benchmark");
	assert_true(task->input_is_right);
	assert_int_equal(task->baseline_count, 2);
	assert_string_equal(task->baselines[0].name, "torch.compile");
	assert_string_equal(task->baselines[1].source, "template.py");
}

static void every_key_of_a_cu_task_is_kept(void **state)
{
	(void)state;
	cleanup_arena struct arena *arena = arena_new();
	const struct task *task = parse_good(arena, FULL_CU).task;
	assert_int_equal(task->language, TASK_CU);
	assert_null(task->main);
	assert_int_equal(task->source_count, 2);
	assert_string_equal(task->sources[1], "submission.cu");
	assert_int_equal(task->include_dir_count, 2);
	assert_int_equal(task->define_count, 3);
	assert_null(task->defines[0].value);
	assert_string_equal(task->defines[1].name, "BLOCK");
	assert_string_equal(task->defines[1].value, "128");
	assert_string_equal(task->defines[2].value, "\"x\"");
	assert_int_equal(task->compile_flag_count, 2);
}

static void case_values_have_python_s_form(void **state)
{
	(void)state;
	cleanup_arena struct arena *arena = arena_new();
	const struct task *task = parse_good(arena,
		HEAD FILES CONFIG TEST
		"benchmarks:\n  - {n: 0x10, eps: 1.0e-5, raw: 1e-5, causal: yes, none: "
		"null, shape: [1, [2, x]], dtype: bf16}\n")
								  .task;
	assert_string_equal(task->benchmarks[0],
		"n: 16; eps: 1e-05; raw: 1e-5; causal: True; none: None; shape: [1, [2, 'x']]; dtype: "
		"bf16");
}

/* Returns the line of a case with truth values, as Podium writes it for this evaluation. */
static const char *truth_line(
	struct arena *arena, const char *eval, const char *reference, const char *more)
{
	struct world world = make_world(arena);
	add(&world.upload, "eval.py", eval);
	add(&world.upload, "reference.py", reference);
	add(&world.upload, "task.yml",
		arena_printf(arena,
			HEAD "files:\n  - {name: submission.py, source: '@SUBMISSION@'}\n"
				 "  - {name: eval.py, source: eval.py}\n  - {name: reference.py, source: "
				 "reference.py}\n" CONFIG TEST
				 "benchmarks: [{n: 5, mask: yes, pair: [1, false]}]\n%s",
			more));
	if (parse(&world))
		fail_msg("%s", world.error.text);
	return world.task->benchmarks[0];
}

/* An evaluation that does not know truth values reads "False" as a text, which counts as true.
 * Podium therefore gives it 0 and 1. */
static void truth_values_have_the_form_that_the_evaluation_reads(void **state)
{
	(void)state;
	static const struct {
		const char *eval, *reference, *more, *line;
	} cases[] = {
		{ "int(value)", "", "", "n: 5; mask: 1; pair: [1, 0]" },
		{ "value == 'true'", "", "", "n: 5; mask: true; pair: [1, false]" },
		{ "value.lower() == \"true\"", "mask == 'True'", "", "n: 5; mask: true; pair: [1, false]" },
		{ "value in ('True', 'False')", "", "", "n: 5; mask: True; pair: [1, False]" },
		{ "ast.literal_eval(value)", "", "", "n: 5; mask: True; pair: [1, False]" },
		{ "int(value)", "mask == \"True\"", "", "n: 5; mask: True; pair: [1, False]" },
		{ "int(value)", "", "podium: {booleans: lowercase}\n",
			"n: 5; mask: true; pair: [1, false]" },
		{ "value == 'true'", "", "podium: {booleans: python}\n",
			"n: 5; mask: True; pair: [1, False]" },
		{ "value == 'true'", "", "podium: {booleans: numbers}\n", "n: 5; mask: 1; pair: [1, 0]" },
	};
	for (size_t i = 0; i < COUNT(cases); i++) {
		cleanup_arena struct arena *arena = arena_new();
		assert_string_equal(
			truth_line(arena, cases[i].eval, cases[i].reference, cases[i].more), cases[i].line);
	}
}

#define CU_HEAD \
	"lang: cu\ndescription: d\nfiles:\n  - {name: submission.cuh, source: '@SUBMISSION@'}\n" \
	"  - {name: wrapped_kernel.cu, source: '@STOCK@'}\n  - {name: eval.cu, source: '@STOCK@'}\n" \
	"  - {name: reference.cuh, source: reference.cuh}\n  - {name: utils.h, source: '@STOCK@'}\n" \
	"  - {name: task.h, source: reference.cuh}\n"

static void compiler_options_are_unchanged(void **state)
{
	(void)state;
	cleanup_arena struct arena *arena = arena_new();
	const struct task *task = parse_good(arena,
		CU_HEAD "config:\n  sources: [wrapped_kernel.cu]\n"
				"  compile_flags: [-Xcompiler, -fopenmp, -Xcompiler, -march=native]\n"
				"  defines: {FAST: true, SLOW: no, HALF: 0.5, PAIR: 'a;b'}\n" CASES)
								  .task;
	assert_int_equal(task->compile_flag_count, 4);
	assert_string_equal(task->compile_flags[2], "-Xcompiler");
	static const char *const values[] = { "1", "0", "0.5", "a;b" };
	for (size_t i = 0; i < COUNT(values); i++)
		assert_string_equal(task->defines[i].value, values[i]);
}

#define KERNEL CU_HEAD "config: {sources: [wrapped_kernel.cu]}\n" CASES

static void the_signature_of_a_kernel_must_be_declared_by_the_task(void **state)
{
	(void)state;
	cleanup_arena struct arena *arena = arena_new();
	static const char yaml[] =
		KERNEL "podium: {kernel_signature: '__global__ void add(const float *a, int n)'}\n";
	struct world world = upload_with(arena, yaml);
	assert_int_equal(parse(&world), ERROR_INPUT);
	assert_non_null(strstr(world.error.text,
		"line 16, podium.kernel_signature: none of the files declares \"__global__ void add("));
	world = make_world(arena);
	add(&world.upload, "task.yml", yaml);
	add(&world.upload, "reference.cuh",
		"#pragma once\n__global__ void\n  add(const float* a,\n      int n) ;\n");
	if (parse(&world))
		fail_msg("%s", world.error.text);
	assert_string_equal(world.task->kernel_signature, "__global__ void add(const float *a, int n)");
	json_t *json = task_to_json(world.task);
	struct task *again;
	assert_int_equal(task_from_json(arena, json, &again, &world.error), 0);
	assert_string_equal(again->kernel_signature, world.task->kernel_signature);
	json_decref(json);
}

/* A whole task.yml and the distinctive part of its message. */
static const struct {
	const char *yaml, *part;
} REFUSED[] = {
	{ "", "task.yml is empty." },
	{ "just text\n", "task.yml line 1: the task must be a map (`key: value` lines), not text." },
	{ "lang: [py\n", "task.yml line 2, column 1 is not YAML" },
	{ GOOD "langs: py\n", "line 16: the task has no key \"langs\"; did you mean lang?" },
	{ GOOD "name: x\n",
		"has no key \"name\" (a leaderboard gets its name when it is created); known are lang," },
	{ GOOD "lang: cu\n", "the key \"lang\" occurs twice (first in line 1)" },
	{ FILES CONFIG CASES "description: d\n", "the task lacks the key lang." },
	{ "lang: py\n" FILES CONFIG CASES, "the task lacks the key description." },
	{ HEAD CONFIG CASES, "the task lacks the key files." },
	{ HEAD FILES CASES, "the task lacks the key config." },
	{ "lang: rust\ndescription: d\n" FILES CONFIG CASES,
		"line 1, lang: expected py or cu, not \"rust\"." },
	{ "lang: py\ndescription: 5\n" FILES CONFIG CASES,
		"line 2, description: expected text, not a whole number \"5\"" },
	{ HEAD "files: eval.py\n" CONFIG CASES, "line 5, files: expected a list" },
	{ HEAD "files: [eval.py]\n" CONFIG CASES, "line 5: entry 1 of files must be a map" },
	{ HEAD "files:\n  - {name: eval.py, source: '@STOCK@'}\n" CONFIG CASES,
		"line 6, files: no file has the source \"@SUBMISSION@\"" },
	{ HEAD FILES "  - {name: b.py, source: '@SUBMISSION@'}\n" CONFIG CASES,
		"2 files have the source \"@SUBMISSION@\"" },
	{ HEAD FILES "  - {name: b.py}\n" CONFIG CASES,
		"line 10: entry 5 of files lacks the key source." },
	{ HEAD FILES "  - {name: b.py, sorce: x}\n" CONFIG CASES,
		"entry 5 of files has no key \"sorce\"; did you mean source?" },
	{ HEAD FILES "  - {name: b.py, source: b.py}\n" CONFIG CASES,
		"line 10, files: the source \"b.py\" is not in the upload." },
	{ HEAD FILES "  - {name: b.py, source: right.py}\n" CONFIG CASES,
		"not in the upload; there is \"samples/right.py\"." },
	{ HEAD FILES "  - {name: b.py, source: ../b.py}\n" CONFIG CASES,
		"the source \"../b.py\" leads out of the upload" },
	{ HEAD FILES "  - {name: b.py, source: /etc/passwd}\n" CONFIG CASES,
		"must be a path relative to task.yml" },
	{ HEAD FILES "  - {name: ../b.py, source: template.py}\n" CONFIG CASES,
		"files.name: \"../b.py\" contains \"..\"" },
	{ HEAD FILES "  - {name: -o, source: template.py}\n" CONFIG CASES,
		"files.name: \"-o\" begins with \"-\"" },
	{ HEAD FILES "  - {name: Eval.py, source: template.py}\n" CONFIG CASES,
		"differ only in upper and lower case" },
	{ HEAD FILES "  - {name: x.py, source: '@STOCK@'}\n" CONFIG CASES,
		"there is no stock file \"x.py\"" },
	{ HEAD "files:\n  - {name: s.py, source: '@SUBMISSION@'}\n  - {name: eval.py, source: "
		   "'@STOCK@'}\n  - {name: reference.py, source: reference.py}\n"
		   "  - {name: utils.py, source: '@STOCK@'}\n" CONFIG CASES,
		"line 6, files: the stock file eval.py needs a file named submission.py or train.py, which "
		"is not there." },
	{ HEAD "files:\n  - {name: train.py, source: '@SUBMISSION@'}\n  - {name: eval.py, source: "
		   "'@STOCK@'}\n  - {name: reference.py, source: reference.py}\n" CONFIG CASES,
		"files: the stock file eval.py needs a file named utils.py, which is not there; it is a "
		"stock file, too." },
	{ HEAD FILES "config: {main: other.py}\n" CASES,
		"line 10, config.main: \"other.py\" is not the name of one of the files." },
	{ HEAD FILES "config: {main: submission.py}\n" CASES, "may not evaluate itself" },
	{ HEAD FILES "config: {}\n" CASES, "config lacks the key main." },
	{ HEAD FILES "config: {main: eval.py, sources: []}\n" CASES,
		"config has no key \"sources\"; known are main." },
	{ HEAD FILES CONFIG, "there are neither tests nor benchmarks" },
	{ HEAD FILES CONFIG "benchmarks: [{n: 1}]\n",
		"there are no tests, so no submission can be checked; give at least one." },
	{ HEAD FILES CONFIG "tests: []\nbenchmarks: [{n: 1}]\n", "line 11: there are no tests" },
	{ HEAD FILES CONFIG "tests: [{n: 1}]\n",
		"there are no benchmarks, so nothing can be ranked; ranking_by last needs" },
	{ HEAD FILES CONFIG "benchmarks: {n: 1}\n", "line 11, benchmarks: expected a list" },
	{ HEAD FILES CONFIG "benchmarks: [5]\n", "benchmarks: case 1 must be a map of arguments" },
	{ HEAD FILES CONFIG "benchmarks: [{n: 1}, {}]\n", "benchmarks: case 2 has no arguments" },
	{ HEAD FILES CONFIG "benchmarks: [{n: 'a;b'}]\n", "the value of n in case 1 contains \";\"" },
	{ HEAD FILES CONFIG "benchmarks: [{n: \"a\\nb\"}]\n",
		"the value of n in case 1 contains a line break" },
	{ HEAD FILES CONFIG "benchmarks: [{n: 2026-11-21}]\n",
		"the value of n in case 1 is a date to YAML" },
	{ HEAD FILES CONFIG "benchmarks: [{on: 1}]\n",
		"the argument name \"on\" of case 1 is a truth value to YAML" },
	{ HEAD FILES CONFIG "benchmarks: [{a-b: 1}]\n",
		"the argument name \"a-b\" of case 1 is not an identifier" },
	{ GOOD "multi_gpu: true\n", "tests: case 1 has no world_size" },
	{ GOOD "multi_gpu: 1\n", "line 16, multi_gpu: expected true or false, not \"1\"." },
	{ GOOD "test_timeout: 0\n",
		"line 16, test_timeout: expected a whole number from 1 to 3600, not \"0\"." },
	{ GOOD "ranked_timeout: 1e3\n",
		"ranked_timeout: expected a whole number from 1 to 3600, not \"1e3\"." },
	{ GOOD "ranking_by: best\n", "ranking_by: expected last, mean or geom, not \"best\"." },
	{ GOOD "seed: 2147483648\n", "seed: expected a whole number from 0 to 2147483647" },
	{ GOOD "templates: {Rust: template.py}\n",
		"templates: \"Rust\" is not a language of templates" },
	{ GOOD "templates: {Python: t.py}\n", "templates: the source \"t.py\" is not in the upload." },
	{ GOOD "templates: {Python: samples/latin.py}\n",
		"line 16, templates: the file \"samples/latin.py\" is not UTF-8 text." },
	{ GOOD "gpus: [A B]\n", "gpus: \"A B\" is not the name of a GPU" },
	{ GOOD "gpus: [H200, H200]\n", "gpus: \"H200\" occurs twice." },
	{ GOOD "podium: {expect: []}\n", "podium has no key \"expect\"; did you mean expected?" },
	{ GOOD "podium: {engine: fast}\n",
		"podium.engine: expected custom, isolated or sealed, not \"fast\"." },
	{ GOOD "podium: {tolerance: 1e-5}\n",
		"podium.tolerance: expected a number above 0, not \"1e-5\" (YAML reads 1e-5 as text" },
	{ GOOD "podium: {booleans: yes}\n",
		"podium.booleans: expected python, lowercase or numbers, not \"yes\"." },
	{ KERNEL "podium: {input_is_right: true}\n",
		"podium.input_is_right: only a task with lang: py" },
	{ KERNEL "podium: {kernel_signature: void add()}\n",
		"\"void add()\" is not the signature of a kernel" },
	{ GOOD "podium: {kernel_signature: __global__ void add()}\n",
		"only a task with lang: cu can ask for a kernel alone." },
	{ GOOD "podium: {flops: 2 * m}\n",
		"podium.flops: the formula \"2 * m\" for benchmark 1 uses m, which is not a number" },
	{ GOOD "podium: {bytes: 2 * (size}\n", "for benchmark 1 expected \")\"" },
	{ GOOD "podium: {expected: [{source: samples/right.py, verdict: great}]}\n",
		"\"great\" is not a verdict that a sample can get" },
	{ GOOD "podium: {expected: [{source: samples/empty.py, verdict: passed}]}\n",
		"the file \"samples/empty.py\" is empty." },
	{ GOOD "podium: {baselines: {torch: template.py}}\n",
		"line 16, podium.baselines: expected a list" },
	{ GOOD "podium: {baselines: [{name: torch, file: x.py}]}\n",
		"podium.baselines: the source \"x.py\" is not in the upload." },
	{ GOOD "podium: {baselines: [{name: a, file: ../../x.py}]}\n",
		"the source \"../../x.py\" leads out of the upload" },
	{ GOOD "podium: {baselines: [{name: a, file: /etc/passwd}]}\n", "must be a path relative to" },
	{ GOOD "podium: {baselines: [{name: a, file: [template.py]}]}\n", "expected text" },
	{ GOOD "podium: {baselines: [template.py]}\n", "entry 1 of podium.baselines" },
	{ GOOD "podium: {baselines: [{name: a/b, file: template.py}]}\n",
		"\"a/b\" is not the name of a baseline" },
	{ GOOD "podium: {baselines: [{name: ..., file: template.py}]}\n", "is not the name" },
	{ GOOD "podium: {baselines: [{name: -x, file: template.py}]}\n", "is not the name" },
	{ GOOD "podium: {baselines: [{name: <b>torch</b>, file: template.py}]}\n", "is not the name" },
	{ GOOD "podium: {baselines: [{name: \"\", file: template.py}]}\n", "is not the name" },
	{ GOOD "podium: {baselines: [{name: abcdefghijklmnopqrstuvwxyz-123456, file: template.py}]}\n",
		"is not the name" },
	{ GOOD "podium: {baselines: [{name: torch}]}\n",
		"entry 1 of podium.baselines lacks the key file" },
	{ GOOD "podium: {baselines: [{name: torch, file: samples/empty.py}]}\n",
		"the file \"samples/empty.py\" is empty." },
	{ GOOD "podium: {baselines: [" TORCH ", {name: Torch, file: template.py}]}\n",
		"the name \"Torch\" occurs twice." },
	{ GOOD "podium: {baselines: [" TORCH ", " TORCH ", " TORCH ", " TORCH ", " TORCH ", " TORCH
		   "]}\n",
		"there are 6 baselines; at most 5 are allowed." },
	{ GOOD "podium: {expected: [{source: x.py, verdict: passed, mode: fast}]}\n",
		"expected test, benchmark or ranked, not \"fast\"" },
	{ "lang: cu\ndescription: d\n" FILES "config: {sources: [x.cu]}\n" CASES,
		"config.sources: \"x.cu\" is not the name of one of" },
	{ "lang: cu\ndescription: d\n" FILES "config: {sources: []}\n" CASES,
		"config.sources: the list is empty" },
	{ "lang: cu\ndescription: d\n" FILES "config: {sources: [eval.py], defines: {1a: 1}}\n" CASES,
		"not a valid name for a macro" },
	{ "lang: cu\ndescription: d\n" FILES
	  "config: {sources: [eval.py], compile_flags: [O3]}\n" CASES,
		"\"O3\" must begin with \"-\"" },
	{ "lang: cu\ndescription: d\n" FILES
	  "config: {sources: [eval.py], include_dirs: [../x]}\n" CASES,
		"include_dirs: \"../x\" contains" },
};

static void every_fault_in_a_definition_has_its_own_message(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(REFUSED); i++) {
		cleanup_arena struct arena *arena = arena_new();
		struct world world = upload_with(arena, REFUSED[i].yaml);
		assert_int_equal(parse(&world), ERROR_INPUT);
		assert_string_equal(world.error.field, "task");
		if (!strstr(world.error.text, REFUSED[i].part))
			fail_msg("expected a sentence with [%s], got [%s]", REFUSED[i].part, world.error.text);
	}
}

static void an_engine_that_the_files_rule_out_is_refused(void **state)
{
	(void)state;
	cleanup_arena struct arena *arena = arena_new();
	struct world world = upload_with(arena,
		"lang: py\ndescription: d\nfiles:\n  - {name: submission.py, source: '@SUBMISSION@'}\n"
		"  - {name: eval.py, source: eval.py}\n" CONFIG CASES "podium: {engine: isolated}\n");
	add(&world.upload, "eval.py", "import submission\n");
	assert_int_equal(parse(&world), ERROR_INPUT);
	assert_string_equal(world.error.text,
		"task.yml, podium.engine: the isolated engine cannot run the task. The task has no "
		"reference.py. Leave the key out, or choose custom.");
	struct world cuda = upload_with(arena, KERNEL "podium: {engine: sealed}\n");
	assert_int_equal(parse(&cuda), ERROR_INPUT);
	assert_string_equal(cuda.error.text,
		"task.yml, podium.engine: the sealed engine cannot run the task. The task's types have no "
		"DeviceBuffer, so its data are on the host. The sealed engine needs inputs that differ "
		"only on the GPU. Leave the key out, or choose isolated.");
}

static void the_sealed_engine_can_be_asked_for(void **state)
{
	(void)state;
	cleanup_arena struct arena *arena = arena_new();
	const struct task *task = parse_good(arena, GOOD "podium: {engine: sealed}\n").task;
	assert_int_equal(task->engine, ENGINE_SEALED);
	assert_int_equal(task->choice.engine, ENGINE_SEALED);
	json_t *stored = task_to_json(task);
	struct task *read;
	struct error error;
	assert_int_equal(task_from_json(arena, stored, &read, &error), 0);
	assert_int_equal(read->engine, ENGINE_SEALED);
	json_decref(stored);
}

static void all_faults_are_reported_together(void **state)
{
	(void)state;
	cleanup_arena struct arena *arena = arena_new();
	struct world world = upload_with(arena,
		"lang: rust\nfiles: []\nconfig: {main: x}\n" TEST
		"benchmarks: [{n: 'a;b'}, {}]\nseed: -1\n");
	assert_int_equal(
		task_check(arena, &world.upload, &world.stock, &world.task, &world.faults), ERROR_INPUT);
	assert_int_equal(world.faults.count, 6); /* lang, description, two cases, seed, no slot */
	cleanup_buffer struct buffer many = { 0 };
	buffer_text(&many, GOOD);
	for (int i = 0; i < 100; i++)
		buffer_printf(&many, "key%d: 1\n", i);
	world = upload_with(arena, many.data);
	assert_int_equal(
		task_check(arena, &world.upload, &world.stock, &world.task, &world.faults), ERROR_INPUT);
	assert_int_equal(world.faults.count, task_most_faults);
}

static void too_many_cases_are_refused(void **state)
{
	(void)state;
	cleanup_arena struct arena *arena = arena_new();
	cleanup_buffer struct buffer yaml = { 0 };
	buffer_text(&yaml, HEAD FILES CONFIG TEST "benchmarks:\n");
	for (int i = 0; i < task_most_cases; i++)
		buffer_printf(&yaml, "  - {n: %d}\n", i);
	assert_int_equal(parse_good(arena, yaml.data).task->benchmark_count, task_most_cases);
	buffer_text(&yaml, "  - {n: 1}\n");
	struct world world = upload_with(arena, yaml.data);
	assert_int_equal(parse(&world), ERROR_INPUT);
	assert_non_null(strstr(world.error.text, "there are 201 cases; at most 200 are allowed."));
}

static void using_a_source_under_many_names_cannot_grow_a_task(void **state)
{
	(void)state;
	cleanup_arena struct arena *arena = arena_new();
	cleanup_buffer struct buffer yaml = { 0 };
	buffer_text(&yaml, HEAD CONFIG CASES FILES);
	for (int i = 0; i < 10; i++)
		buffer_printf(&yaml, "  - {name: f%d, source: large}\n", i);
	struct world world = upload_with(arena, yaml.data);
	char *large = arena_alloc(arena, fileset_most_file_bytes);
	assert_int_equal(fileset_add(&world.upload, "large", large, fileset_most_file_bytes, NULL), 0);
	assert_int_equal(parse(&world), ERROR_INPUT);
	assert_non_null(strstr(world.error.text, "together they are larger than 16 MiB"));
}

static void shared_files_next_to_the_task_s_folder_are_found(void **state)
{
	(void)state;
	cleanup_arena struct arena *arena = arena_new();
	struct world world = make_world(arena);
	add(&world.upload, "eval.py", "shared\n");
	add(&world.upload, "add/reference.py", "own\n");
	add(&world.upload, "add/task.yml",
		HEAD "files:\n  - {name: submission.py, source: '@SUBMISSION@'}\n"
			 "  - {name: eval.py, source: ../eval.py}\n  - {name: reference.py, source: "
			 "./reference.py}\n" CONFIG CASES);
	assert_int_equal(parse(&world), 0);
	assert_string_equal(world.task->files[1].source, "eval.py");
	assert_string_equal(world.task->files[2].source, "add/reference.py");
	add(&world.upload, "mul/task.yml", GOOD);
	assert_int_equal(parse(&world), ERROR_INPUT);
	assert_non_null(
		strstr(world.error.text, "there are several (\"add/task.yml\" and \"mul/task.yml\")"));
}

/* ---- contents ---- */

static void contents_come_from_the_upload_and_the_stock(void **state)
{
	(void)state;
	cleanup_arena struct arena *arena = arena_new();
	struct world world = parse_good(arena, FULL_PY);
	struct task_content *contents;
	size_t count;
	assert_int_equal(task_contents(arena, world.task, &world.upload, &world.stock, &contents,
						 &count, &world.error),
		0);
	assert_int_equal(count, 3 + 2 + 2 + 2 + 1); /* files without the slot, templates, samples once
	                                               each, baselines, task.yml */
	assert_string_equal(content(contents, count, ROLE_BASELINE, "Triton-3")->bytes,
		"def custom_kernel(data): ...\n");
	assert_string_equal(content(contents, count, ROLE_FILE, "eval.py")->bytes, "stock eval.py\n");
	assert_string_equal(
		content(contents, count, ROLE_TEMPLATE, "Triton")->bytes, "def custom_kernel(data): ...\n");
	assert_string_equal(
		content(contents, count, ROLE_SAMPLE, "samples/wrong.py")->bytes, "wrong\n");
	assert_string_equal(content(contents, count, ROLE_DEFINITION, "task.yml")->bytes, FULL_PY);
	assert_int_equal(content(contents, count, ROLE_FILE, "reference.py")->length, 80);
	world.upload.count = 1;
	assert_int_equal(task_contents(arena, world.task, &world.upload, &world.stock, &contents,
						 &count, &world.error),
		ERROR_NOT_FOUND);
}

static void a_stock_file_can_have_another_name(void **state)
{
	(void)state;
	cleanup_arena struct arena *arena = arena_new();
	struct world world = parse_good(arena, FULL_CU);
	struct task_content *contents;
	size_t count;
	assert_int_equal(task_contents(arena, world.task, &world.upload, &world.stock, &contents,
						 &count, &world.error),
		0);
	assert_string_equal(content(contents, count, ROLE_FILE, "harness.h")->bytes, "stock utils.h\n");
}

/* ---- JSON ---- */

static void json_round_trips_exactly(void **state)
{
	(void)state;
	static const char *const tasks[] = { GOOD, FULL_PY, FULL_CU,
		GOOD "seed: 2147483647\nranking_by: mean\n" };
	for (size_t i = 0; i < COUNT(tasks); i++) {
		cleanup_arena struct arena *arena = arena_new();
		assert_round_trip(arena, parse_good(arena, tasks[i]).task);
	}
}

static void damage_of_any_json_member_is_refused(void **state)
{
	(void)state;
	cleanup_arena struct arena *arena = arena_new();
	json_t *whole = task_to_json(parse_good(arena, FULL_CU).task);
	const char *key;
	json_t *value;
	json_object_foreach(whole, key, value)
	{
		json_t *damaged = json_copy(whole);
		json_object_set_new(damaged, key, json_pack("[{s:i}]", "x", 1));
		struct task *task;
		struct error error;
		assert_int_equal(task_from_json(arena, damaged, &task, &error), ERROR_INPUT);
		json_object_del(damaged, key);
		if (strcmp(key, "kernel_signature") == 0 || strcmp(key, "input_is_right") == 0
			|| strcmp(key, "baselines") == 0) {
			/* older definitions lack these members */
			assert_int_equal(task_from_json(arena, damaged, &task, &error), 0);
			assert_null(task->kernel_signature);
			assert_false(task->input_is_right);
			assert_int_equal(task->baseline_count, 0);
			json_decref(damaged);
			continue;
		}
		assert_int_equal(task_from_json(arena, damaged, &task, &error), ERROR_INPUT);
		assert_non_null(strstr(error.text, key));
		json_decref(damaged);
	}
	json_decref(whole);
}

static void mutated_definitions_never_crash_and_what_passes_round_trips(void **state)
{
	(void)state;
	static const char *const seeds[] = { FULL_PY, FULL_CU };
	uint64_t random = 20261121;
	int accepted = 0;
	cleanup_buffer struct buffer yaml = { 0 };
	for (int i = 0; i < 6000; i++) {
		mutate(&yaml, seeds[i % 2], strlen(seeds[i % 2]), &random);
		cleanup_arena struct arena *arena = arena_new();
		struct world world = make_world(arena);
		world = upload_with(arena, "");
		world.upload.files[0].bytes = yaml.data;
		world.upload.files[0].length = yaml.length;
		if (parse(&world)) {
			assert_true(*world.error.text);
			continue;
		}
		accepted++;
		assert_round_trip(arena, world.task);
	}
	assert_true(accepted > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_small_task_gets_the_defaults),
		cmocka_unit_test(a_task_for_several_gpus_needs_as_many_as_its_widest_case),
		cmocka_unit_test(every_key_of_a_py_task_is_kept),
		cmocka_unit_test(every_key_of_a_cu_task_is_kept),
		cmocka_unit_test(case_values_have_python_s_form),
		cmocka_unit_test(truth_values_have_the_form_that_the_evaluation_reads),
		cmocka_unit_test(compiler_options_are_unchanged),
		cmocka_unit_test(the_signature_of_a_kernel_must_be_declared_by_the_task),
		cmocka_unit_test(every_fault_in_a_definition_has_its_own_message),
		cmocka_unit_test(an_engine_that_the_files_rule_out_is_refused),
		cmocka_unit_test(the_sealed_engine_can_be_asked_for),
		cmocka_unit_test(all_faults_are_reported_together),
		cmocka_unit_test(too_many_cases_are_refused),
		cmocka_unit_test(using_a_source_under_many_names_cannot_grow_a_task),
		cmocka_unit_test(shared_files_next_to_the_task_s_folder_are_found),
		cmocka_unit_test(contents_come_from_the_upload_and_the_stock),
		cmocka_unit_test(a_stock_file_can_have_another_name),
		cmocka_unit_test(json_round_trips_exactly),
		cmocka_unit_test(damage_of_any_json_member_is_refused),
		cmocka_unit_test(mutated_definitions_never_crash_and_what_passes_round_trips),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
