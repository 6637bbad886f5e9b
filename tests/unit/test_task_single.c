/* Uploads without a task.yml: tasks in the older form of a single file, and uploads that are not
 * tasks. */
#include "tests/unit/task_world.h"

#define SINGLE \
	"# comment\n\"\"\"Copy the input.\n\n    Fast.\n      Very.\n    \"\"\"\nimport torch\n" \
	"def generate_input(): ...\nref_kernel = abs\ndef check_implementation(custom_output, " \
	"ref_output): ...\n"

static void a_single_file_becomes_a_py_task(void **state)
{
	(void)state;
	cleanup_arena struct arena *arena = arena_new();
	struct world world = make_world(arena);
	add(&world.upload, "reference_code.py", SINGLE);
	add(&world.upload, "template.py", "t\n");
	add(&world.upload, "samples/passed.py", "p\n");
	add(&world.upload, "samples/wrong-answer-zeros.py", "w\n");
	add(&world.upload, "samples/notes.txt", "n\n");
	add(&world.upload, "samples/other.py", "n\n");
	if (parse(&world))
		fail_msg("%s", world.error.text);
	const struct task *task = world.task;
	assert_string_equal(task->description, "Copy the input.\n\nFast.\n  Very.");
	assert_string_equal(task->main, "eval.py");
	assert_int_equal(task->file_count, 5);
	assert_int_equal(task->test_count, 3);
	assert_string_equal(task->tests[2], "seed: 3");
	assert_int_equal(task->benchmark_count, 1);
	assert_string_equal(task->benchmarks[0], "seed: 4");
	assert_int_equal(task->template_count, 1);
	assert_int_equal(task->expected_count, 2);
	assert_int_equal(task->expected[1].verdict, VERDICT_WRONG_ANSWER);
	struct task_content *contents;
	size_t count;
	assert_int_equal(
		task_contents(arena, task, &world.upload, &world.stock, &contents, &count, &world.error),
		0);
	assert_int_equal(count, 4 + 1 + 2);
	assert_string_equal(
		content(contents, count, ROLE_FILE, "reference.py")->bytes, "stock single_reference.py\n");
	assert_string_equal(content(contents, count, ROLE_FILE, "reference_code.py")->bytes, SINGLE);
	assert_round_trip(arena, task);
}

static void templates_and_samples_of_a_single_file_must_be_valid_submissions(void **state)
{
	(void)state;
	static const struct {
		const char *path, *text, *sentence;
	} cases[] = {
		{ "template.py", "\xe4", "reference_code.py: the file \"template.py\" is not UTF-8 text." },
		{ "template.py", "", "reference_code.py: the file \"template.py\" is empty." },
		{ "samples/passed.py", "\xe4",
			"reference_code.py: the file \"samples/passed.py\" is not UTF-8 text." },
	};
	for (size_t i = 0; i < COUNT(cases); i++) {
		cleanup_arena struct arena *arena = arena_new();
		struct world world = make_world(arena);
		add(&world.upload, "reference_code.py", SINGLE);
		add(&world.upload, cases[i].path, cases[i].text);
		assert_int_equal(parse(&world), ERROR_INPUT);
		assert_string_equal(world.error.text, cases[i].sentence);
	}
}

#define SINGLE_CUH \
	"/* Copy the input.\n *\n *     indented\n */\n#include <vector>\nusing input_t = " \
	"std::vector<float>, output_t = input_t;\n" \
	"input_t generate_input();\noutput_t ref_kernel(input_t);\nbool " \
	"check_implementation(output_t, output_t);\n"

static void a_single_file_in_c_becomes_a_cu_task(void **state)
{
	(void)state;
	static const char *const names[] = { "reference_code.cuh", "reference_code.cu",
		"reference_code.cpp" };
	for (size_t i = 0; i < COUNT(names); i++) {
		cleanup_arena struct arena *arena = arena_new();
		struct world world = make_world(arena);
		add(&world.upload, names[i], SINGLE_CUH);
		add(&world.upload, "table.h", "// helper\n");
		add(&world.upload, "README.md", "r\n");
		add(&world.upload, "template.cu", "t\n");
		add(&world.upload, "samples/passed.cu", "p\n");
		add(&world.upload, "samples/wrong-answer.cuh", "w\n");
		add(&world.upload, "samples/passed.py", "p\n");
		if (parse(&world))
			fail_msg("%s", world.error.text);
		const struct task *task = world.task;
		assert_int_equal(task->language, TASK_CU);
		assert_string_equal(task->description, "Copy the input.\n\n    indented");
		assert_string_equal(task->files[0].name, "train.cuh");
		assert_true(task->files[0].is_submission);
		assert_int_equal(task->file_count, 8);
		assert_string_equal(task->files[7].name, "table.h");
		assert_null(task->main);
		assert_int_equal(task->source_count, 1);
		assert_string_equal(task->sources[0], "single_main.cu");
		assert_string_equal(task->templates[0].language, "CUDA");
		assert_int_equal(task->expected_count, 2);
		struct task_content *contents;
		size_t count;
		assert_int_equal(task_contents(arena, task, &world.upload, &world.stock, &contents, &count,
							 &world.error),
			0);
		assert_string_equal(
			content(contents, count, ROLE_FILE, "reference_code.cuh")->bytes, SINGLE_CUH);
		assert_string_equal(
			content(contents, count, ROLE_FILE, "task.h")->bytes, "stock single_reference.cuh\n");
		assert_round_trip(arena, task);
	}
}

static void the_first_comment_of_a_single_file_is_its_description(void **state)
{
	(void)state;
	static const struct {
		const char *top, *description;
	} cases[] = {
		{ "// Sum of a vector.\n//\n//   * exact\n#pragma once\n",
			"Sum of a vector.\n\n  * exact" },
		{ "\n/** Sum. */\n", "Sum." },
		{ "#pragma once\n// no\n", "" },
		{ "/* never ends\n", "" },
		{ "\xef\xbb\xbf// Marked.\n", "Marked." },
	};
	for (size_t i = 0; i < COUNT(cases); i++) {
		cleanup_arena struct arena *arena = arena_new();
		struct world world = make_world(arena);
		add(&world.upload, "reference_code.cu",
			arena_printf(arena, "%s%s", cases[i].top, strchr(SINGLE_CUH, '#')));
		if (parse(&world))
			fail_msg("%s", world.error.text);
		assert_string_equal(world.task->description, cases[i].description);
	}
}

/* The lines with which the reference or the evaluation imports the submission, and the name that
 * the submission's file gets from them. */
static void the_submission_gets_the_name_under_which_it_is_imported(void **state)
{
	(void)state;
	static const struct {
		const char *code, *reference, *eval, *slot;
	} cases[] = {
		{ "reference_code.py", SINGLE, NULL, "submission.py" },
		{ "reference_code.py", SINGLE "import train\n", NULL, "train.py" },
		{ "reference_code.py", SINGLE "import training\n# import train\n", NULL, "submission.py" },
		{ "reference_code.py", "", "from train import custom_kernel\nprint('score:', 1)",
			"train.py" },
		{ "reference_code.py", "", "  from submission import custom_kernel\nprint('score:', 1)",
			"submission.py" },
		{ "reference_code.py", "", "import train as t\nlog('score', 1)", "train.py" },
		{ "reference_code.cu", "", "#include \"train.cuh\"\nlog(\"score\", s);", "train.cuh" },
		{ "reference_code.cu", "", "# include \"train.cu\"\n<< \"score: \" << s;", "train.cu" },
		{ "reference_code.cpp", "", "#include \"submission.cuh\"\nlog(\"duration.mean\", s);",
			"submission.cuh" },
	};
	for (size_t i = 0; i < COUNT(cases); i++) {
		cleanup_arena struct arena *arena = arena_new();
		struct world world = make_world(arena);
		add(&world.upload, cases[i].code, cases[i].reference);
		bool python = strstr(cases[i].code, ".py");
		if (cases[i].eval)
			add(&world.upload, python ? "eval.py" : "eval.cu", cases[i].eval);
		if (parse(&world))
			fail_msg("%s", world.error.text);
		assert_string_equal(world.task->files[0].name, cases[i].slot);
		assert_true(world.task->files[0].is_submission);
		if (!cases[i].eval)
			continue;
		assert_string_equal(python ? world.task->main : world.task->sources[1],
			python ? "score_eval.py" : "score_eval.cu");
		assert_string_equal(world.task->files[1].name, python ? "reference.py" : "reference.cuh");
		assert_string_equal(
			world.task->benchmarks[0], python ? "evaluation: eval.py" : "evaluation: eval.cu");
	}
}

static void the_stock_file_runs_a_task_s_own_evaluation_that_gives_a_score(void **state)
{
	(void)state;
	static const struct {
		const char *eval;
		bool wrapped;
	} cases[] = {
		{ "print(f'score: {mean}')", true },
		{ "log(\"score\", mean)", true },
		{ "log('benchmark.0.mean', 1); scores = 'score:'", false },
		{ "underscore", false },
	};
	for (size_t i = 0; i < COUNT(cases); i++) {
		cleanup_arena struct arena *arena = arena_new();
		struct world world = make_world(arena);
		add(&world.upload, "eval.py", cases[i].eval);
		add(&world.upload, "eval.cu", cases[i].eval);
		add(&world.upload, "task.yml",
			HEAD "files:\n  - {name: train.py, source: '@SUBMISSION@'}\n"
				 "  - {name: eval.py, source: eval.py}\n" CONFIG CASES);
		assert_int_equal(parse(&world), 0);
		assert_string_equal(world.task->main, cases[i].wrapped ? "score_eval.py" : "eval.py");
		assert_int_equal(world.task->file_count, cases[i].wrapped ? 3 : 2);
		world.upload.files[2] = (struct file){ "task.yml",
			"lang: cu\ndescription: d\nfiles: [{name: train.cuh, source: '@SUBMISSION@'}, {name: "
			"eval.cu, source: eval.cu}]\nconfig: {sources: [eval.cu]}\ntests: [{n: 1}]\n"
			"benchmarks: [{n: 1}]\n",
			0 };
		world.upload.files[2].length = strlen(world.upload.files[2].bytes);
		if (parse(&world))
			fail_msg("%s", world.error.text);
		assert_int_equal(world.task->source_count, cases[i].wrapped ? 2 : 1);
	}
}

static void all_faults_of_a_single_file_with_an_evaluation_are_reported_together(void **state)
{
	(void)state;
	cleanup_arena struct arena *arena = arena_new();
	struct world world = make_world(arena);
	add(&world.upload, "reference_code.cu", "\xff");
	add(&world.upload, "eval.cu", "int main() {}");
	assert_int_equal(
		task_check(arena, &world.upload, &world.stock, &world.task, &world.faults), ERROR_INPUT);
	assert_int_equal(world.faults.count, 3);
	static const char *const parts[] = { "reference_code.cu: the file is not UTF-8 text.",
		"eval.cu: it does not report one score",
		"eval.cu: it includes neither \"train.cuh\" nor \"submission.cuh\"" };
	for (size_t i = 0; i < COUNT(parts); i++)
		assert_non_null(strstr(world.faults.sentences[i], parts[i]));
	add(&world.upload, "reference_code.py", SINGLE);
	assert_int_equal(parse(&world), ERROR_INPUT);
	assert_non_null(strstr(
		world.error.text, "but both reference_code.py and reference_code.cu; keep one of them."));
	world = make_world(arena);
	add(&world.upload, "reference_code.py", SINGLE);
	add(&world.upload, "utils.py", "");
	assert_int_equal(parse(&world), ERROR_INPUT);
	assert_non_null(strstr(
		world.error.text, "the file \"utils.py\" has a name that the single-file form reserves"));
}

static void a_reference_may_have_its_plain_name(void **state)
{
	(void)state;
	static const char *const names[] = { "reference.py", "reference.cuh", "reference.cu",
		"reference.cpp" };
	for (size_t i = 0; i < COUNT(names); i++) {
		cleanup_arena struct arena *arena = arena_new();
		struct world world = make_world(arena);
		bool is_py = strstr(names[i], ".py");
		add(&world.upload, names[i], is_py ? SINGLE : SINGLE_CUH);
		if (parse(&world))
			fail_msg("%s", world.error.text);
		assert_int_equal(world.task->language, is_py ? TASK_PY : TASK_CU);
		assert_string_equal(
			world.task->files[1].name, is_py ? "reference_code.py" : "reference_code.cuh");
		assert_string_equal(world.task->files[1].source, names[i]);
		assert_string_equal(world.task->files[2].name, is_py ? "reference.py" : "reference.cuh");
		assert_int_equal(world.task->define_count, 0);
	}
}

#define KERNEL \
	"// Add.\nusing input_t = int, output_t = int;\n__global__\tvoid add(const float *a,\n\t" \
	"float *b, int n) ;\ninput_t generate_input();\noutput_t custom_kernel(input_t);\n"
#define OWN_CHECK "void check_implementation(TestReporter &, input_t, output_t);\n"
#define ARGUMENTS "constexpr std::array<const char *, 2> ArgumentNames = { \"size\", \"seed\" };\n"
#define PROBLEM \
	"r\"\"\"Add two.\n\n[not] = a value\n\"\"\"\n# cases\ntests = [\n\t{'size': 128, 'seed': 5}, " \
	" # " \
	"small\n]\nbenchmarks = [{\"size\": 4096, \"seed\": 6}, {\"size\": 1, \"seed\": 7}]\n" \
	"ranking_by = 'geom'\nranked_timeout=60"

static void a_reference_that_launches_a_kernel_asks_for_the_kernel_alone(void **state)
{
	(void)state;
	cleanup_arena struct arena *arena = arena_new();
	struct world world = make_world(arena);
	add(&world.upload, "reference.cu", KERNEL ARGUMENTS OWN_CHECK);
	add(&world.upload, "problem.py", PROBLEM);
	if (parse(&world))
		fail_msg("%s", world.error.text);
	const struct task *task = world.task;
	assert_string_equal(task->description, "Add two.\n\n[not] = a value");
	assert_string_equal(
		task->kernel_signature, "__global__ void add(const float *a, float *b, int n)");
	assert_string_equal(task->files[0].name, "submission.cuh");
	assert_int_equal(task->file_count, 7);
	assert_int_equal(task->source_count, 1);
	assert_string_equal(task->sources[0], "wrapped_kernel.cu");
	assert_int_equal(task->define_count, 2);
	assert_string_equal(task->defines[0].name, "PODIUM_HAS_ARGUMENTS");
	assert_string_equal(task->defines[1].name, "PODIUM_HAS_REPORTER");
	assert_int_equal(task->test_count, 1);
	assert_string_equal(task->tests[0], "size: 128; seed: 5");
	assert_int_equal(task->benchmark_count, 2);
	assert_string_equal(task->benchmarks[0], "size: 4096; seed: 6");
	assert_int_equal(task->ranking_by, RANKING_BY_GEOM);
	assert_int_equal(task->ranked_timeout_s, 60);
	assert_round_trip(arena, task);
}

static void a_kernel_alone_needs_no_problem(void **state)
{
	(void)state;
	cleanup_arena struct arena *arena = arena_new();
	struct world world = make_world(arena);
	add(&world.upload, "reference.cu",
		KERNEL "output_t ref_kernel(input_t);\nbool check_implementation(output_t, output_t);\n");
	if (parse(&world))
		fail_msg("%s", world.error.text);
	assert_string_equal(world.task->description, "Add.");
	assert_string_equal(world.task->sources[0], "wrapped_kernel.cu");
	assert_int_equal(world.task->define_count, 0);
	assert_string_equal(world.task->benchmarks[0], "seed: 4");
}

static void faults_of_a_problem_name_their_place(void **state)
{
	(void)state;
	static const struct {
		const char *reference, *problem, *part;
	} cases[] = {
		{ KERNEL ARGUMENTS OWN_CHECK, "'''a\nb'''\nimport torch\n",
			"problem.py line 3: the file is not run, so it may only assign plain values" },
		{ KERNEL ARGUMENTS OWN_CHECK, "tests = [{'size': 1}]\nbenchmarks = []\n",
			"problem.py: there are no benchmarks" },
		{ KERNEL ARGUMENTS OWN_CHECK, "benchmarks = [{'size': 1}]\ntests = []\n",
			"problem.py: there are no tests" },
		{ KERNEL ARGUMENTS OWN_CHECK, "a = 1\nbenchmarks = [\n{'n': 1}]\n",
			"problem.py line 1: the problem has no key \"a\"" },
		{ KERNEL ARGUMENTS OWN_CHECK, "files = []\n", "the problem has no key \"files\"" },
		{ KERNEL ARGUMENTS OWN_CHECK, "benchmarks = [{'n': 1}\n", "problem.py line" },
		{ KERNEL ARGUMENTS OWN_CHECK, "benchmarks = 'never ends", "problem.py line 1" },
		{ KERNEL ARGUMENTS OWN_CHECK, "\xff", "problem.py: the file is not UTF-8 text." },
		{ KERNEL OWN_CHECK, "benchmarks = [{'size': 1, 'seed': 2}]",
			"reference.cu: it has no ArgumentNames, but the case \"size: 1; seed: 2\"" },
		{ KERNEL "bool check_implementation(output_t, output_t);\n", "",
			"reference.cu: it has no ref_kernel; a check_implementation without a TestReporter" },
	};
	for (size_t i = 0; i < COUNT(cases); i++) {
		cleanup_arena struct arena *arena = arena_new();
		struct world world = make_world(arena);
		add(&world.upload, "reference.cu", cases[i].reference);
		add(&world.upload, "problem.py", cases[i].problem);
		assert_int_equal(parse(&world), ERROR_INPUT);
		if (!strstr(world.error.text, cases[i].part))
			fail_msg("expected a sentence with [%s], got [%s]", cases[i].part, world.error.text);
	}
}

static const struct {
	const char *path, *text, *part;
} OTHER_UPLOADS[] = {
	{ "readme.md", "x",
		"task.yml: there is none in the upload, and no reference.py (or .cuh, .cu, .cpp) "
		"either" },
	{ "task.yaml", GOOD, "there is a task.yaml; rename it to task.yml." },
	{ "reference_code.cu", "x",
		"reference_code.cu: it has no generate_input; the single-file form" },
	{ "reference_code.cuh", "generate_input ref_kernel check_implementation input_t",
		"reference_code.cuh: it has no output_t;" },
	{ "reference_code.cpp", "\xff", "reference_code.cpp: the file is not UTF-8 text." },
	{ "reference_code.py", "def generate_input(): ...\ndef ref_kernels(): ...",
		"reference_code.py: it has no ref_kernel;" },
	{ "reference_code.py", "\xff", "reference_code.py: the file is not UTF-8 text." },
};

static void uploads_without_a_definition_are_told_what_is_missing(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(OTHER_UPLOADS); i++) {
		cleanup_arena struct arena *arena = arena_new();
		struct world world = make_world(arena);
		add(&world.upload, OTHER_UPLOADS[i].path, OTHER_UPLOADS[i].text);
		assert_int_equal(parse(&world), ERROR_INPUT);
		if (!strstr(world.error.text, OTHER_UPLOADS[i].part))
			fail_msg(
				"expected a sentence with [%s], got [%s]", OTHER_UPLOADS[i].part, world.error.text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_single_file_becomes_a_py_task),
		cmocka_unit_test(templates_and_samples_of_a_single_file_must_be_valid_submissions),
		cmocka_unit_test(a_single_file_in_c_becomes_a_cu_task),
		cmocka_unit_test(the_first_comment_of_a_single_file_is_its_description),
		cmocka_unit_test(the_submission_gets_the_name_under_which_it_is_imported),
		cmocka_unit_test(the_stock_file_runs_a_task_s_own_evaluation_that_gives_a_score),
		cmocka_unit_test(all_faults_of_a_single_file_with_an_evaluation_are_reported_together),
		cmocka_unit_test(a_reference_may_have_its_plain_name),
		cmocka_unit_test(a_reference_that_launches_a_kernel_asks_for_the_kernel_alone),
		cmocka_unit_test(a_kernel_alone_needs_no_problem),
		cmocka_unit_test(faults_of_a_problem_name_their_place),
		cmocka_unit_test(uploads_without_a_definition_are_told_what_is_missing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
