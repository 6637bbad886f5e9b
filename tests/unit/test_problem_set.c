/* Problem sets: the place of the YAML, its keys, and faults with file and line. Also which part of
 * an upload becomes the task of a folder deep in a tree. */
#include "lib/leaderboard/problem_set.h"

#include "lib/base/format.h"
#include "lib/base/scope.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define TASK(source) \
	"lang: py\ndescription: d\nfiles:\n  - {name: submission.py, source: \"@SUBMISSION@\"}\n" \
	"  - {name: reference.py, source: reference.py}\n  - {name: utils.py, source: " source "}\n" \
	"  - {name: eval.py, source: \"@STOCK@\"}\nconfig: {main: eval.py}\ntests: [{seed: " \
	"1}]\nbenchmarks: [{seed: 2}]\n"
#define SET "name: Autumn\ndeadline: \"\"\ndescription: Three kernels\nproblems:\n"
#define SORT \
	"  - {directory: week/sort, name: sort, deadline: \"2031-05-06 7:08\", gpus: [H200, CPU]}\n"
#define SCAN "  - {directory: ./scan/, name: scan}\n"

struct world {
	struct arena *arena;
	struct fileset upload, stock;
	struct problem_set *set;
	struct task_faults faults;
};

static void add_file(struct fileset *set, const char *path, const char *text)
{
	assert_int_equal(fileset_add(set, path, text, strlen(text), NULL), 0);
}

static void add_task(struct world *world, const char *folder, const char *yaml)
{
	add_file(&world->upload, arena_printf(world->arena, "%stask.yml", folder), yaml);
	add_file(&world->upload, arena_printf(world->arena, "%sreference.py", folder),
		"def check_implementation(a, b): ...\n");
}

/* Makes an upload with folders as in real competitions, and with the set's YAML at `path`. */
static struct world make_tree(struct arena *arena, const char *path, const char *yaml)
{
	struct world world = {
		.arena = arena, .upload = fileset_make(arena), .stock = fileset_make(arena)
	};
	add_file(&world.stock, "eval.py", "stock\n");
	add_file(&world.stock, "utils.py", "stock\n");
	add_file(&world.stock, "single_reference.py", "stock\n");
	add_file(&world.upload, "README.md", "words\n");
	add_task(&world, "problems/week/sort/", TASK("../utils.py"));
	add_file(&world.upload, "problems/week/utils.py", "shared\n");
	add_task(&world, "problems/scan/", TASK("\"@STOCK@\""));
	add_file(&world.upload, "problems/single/reference_code.py",
		"generate_input = ref_kernel = check_implementation = None\n");
	add_file(&world.upload, path, yaml);
	return world;
}

static int read_set(struct world *world, const char *path)
{
	return problem_set_read(
		world->arena, &world->upload, &world->stock, path, &world->set, &world->faults);
}

static void assert_fault(const struct task_faults *faults, const char *sentence)
{
	for (size_t i = 0; i < faults->count; i++)
		if (strcmp(faults->sentences[i], sentence) == 0)
			return;
	fail_msg("\"%s\" is not among %zu faults, the first of which is: %s", sentence, faults->count,
		faults->count ? faults->sentences[0] : "none");
}

/* ---- valid sets ---- */

static void a_set_below_the_top_is_found_and_its_folders_are_relative_to_it(void **state)
{
	(void)state;
	cleanup_arena struct arena *arena = arena_new();
	struct world world = make_tree(arena, "problems/autumn.yaml", SET SORT SCAN);
	add_file(&world.upload, ".github/workflows/ci.yml", "on: push\n");
	assert_int_equal(read_set(&world, NULL), 0);
	assert_string_equal(world.set->path, "problems/autumn.yaml");
	assert_string_equal(world.set->name, "Autumn");
	assert_string_equal(world.set->description, "Three kernels");
	assert_int_equal(world.set->problem_count, 2);
	const struct problem *sort = &world.set->problems[0], *scan = &world.set->problems[1];
	assert_string_equal(sort->directory, "problems/week/sort");
	assert_int_equal(sort->line, 5);
	int64_t deadline_ms;
	assert_int_equal(parse_utc("2031-05-06 07:08", &deadline_ms), 0);
	assert_int_equal(sort->deadline_ms, deadline_ms);
	assert_int_equal(sort->gpu_count, 2);
	assert_string_equal(sort->gpus[1], "CPU");
	assert_string_equal(scan->directory, "problems/scan");
	assert_true(scan->deadline_ms == TIME_NULL);
	assert_int_equal(scan->gpu_count, 0);
	assert_non_null(sort->task);
	assert_non_null(scan->task);
}

static void a_set_may_be_at_the_top_or_next_to_its_task_definition(void **state)
{
	(void)state;
	cleanup_arena struct arena *arena = arena_new();
	struct world world =
		make_tree(arena, "set.yml", "problems:\n  - {directory: problems/scan, name: scan}\n");
	assert_int_equal(read_set(&world, NULL), 0);
	assert_non_null(world.set->problems[0].task);
	assert_string_equal(world.set->name, "");
	world = make_tree(arena, "problems/scan/set.yml", "problems: [{directory: ., name: scan}]\n");
	assert_int_equal(read_set(&world, NULL), 0);
	assert_string_equal(world.set->problems[0].directory, "problems/scan");
	assert_non_null(world.set->problems[0].task);
}

static const char *source_of(const struct problem *problem, const char *name)
{
	for (size_t i = 0; i < problem->task->file_count; i++)
		if (strcmp(problem->task->files[i].name, name) == 0)
			return problem->task->files[i].source;
	return NULL;
}

static void a_task_does_not_depend_on_the_depth_of_its_folder(void **state)
{
	(void)state;
	cleanup_arena struct arena *arena = arena_new();
	struct world world = make_tree(arena, "problems/autumn.yaml", SET SORT SCAN);
	assert_int_equal(read_set(&world, NULL), 0);
	assert_string_equal(source_of(&world.set->problems[0], "reference.py"), "sort/reference.py");
	assert_string_equal(source_of(&world.set->problems[0], "utils.py"), "utils.py");
	assert_string_equal(source_of(&world.set->problems[1], "reference.py"), "reference.py");
	struct task_content *contents;
	size_t count;
	const struct problem *sort = &world.set->problems[0];
	assert_int_equal(
		task_contents(arena, sort->task, &sort->upload, &world.stock, &contents, &count, NULL), 0);
	for (size_t i = 0; i < count; i++)
		if (strcmp(contents[i].path, "utils.py") == 0)
			assert_memory_equal(contents[i].bytes, "shared\n", contents[i].length);
	assert_int_equal(count, 4);
}

static void the_older_single_file_format_works_in_a_tree(void **state)
{
	(void)state;
	cleanup_arena struct arena *arena = arena_new();
	struct world world = make_tree(
		arena, "problems/autumn.yaml", "problems:\n- {directory: single, name: single}\n");
	assert_int_equal(read_set(&world, NULL), 0);
	assert_non_null(world.set->problems[0].task);
}

static void deadlines_are_dates_with_or_without_a_time_and_empty_means_none(void **state)
{
	(void)state;
	static const struct {
		const char *written, *meant;
	} cases[] = {
		{ "\"2031-05-06 07:08\"", "2031-05-06 07:08" },
		{ "2031-05-06 7:08", "2031-05-06 07:08" },
		{ "2031-05-06", "2031-05-06 00:00" },
		{ "\"2031-05-06\"", "2031-05-06 00:00" },
		{ "\"\"", NULL },
		{ "", NULL },
	};
	for (size_t i = 0; i < COUNT(cases); i++) {
		cleanup_arena struct arena *arena = arena_new();
		struct world world = make_tree(arena, "problems/a.yaml",
			arena_printf(arena,
				"deadline: 2030-01-01\nproblems:\n- directory: scan\n  name: scan\n  deadline: "
				"%s\n- {directory: scan, name: other}\n",
				cases[i].written));
		int64_t meant_ms = TIME_NULL, sets_ms;
		assert_int_equal(read_set(&world, NULL), 0);
		if (cases[i].meant)
			assert_int_equal(parse_utc(cases[i].meant, &meant_ms), 0);
		assert_true(world.set->problems[0].deadline_ms == meant_ms);
		assert_int_equal(parse_utc("2030-01-01", &sets_ms), 0);
		assert_true(world.set->problems[1].deadline_ms == sets_ms);
	}
}

/* ---- choosing the YAML ---- */

static void one_of_several_sets_must_be_chosen(void **state)
{
	(void)state;
	cleanup_arena struct arena *arena = arena_new();
	struct world world = make_tree(arena, "problems/a.yaml", SET SORT);
	add_file(&world.upload, "problems/b.yaml", SET SCAN);
	const char **paths;
	assert_int_equal(problem_set_paths(arena, &world.upload, &paths), 2);
	assert_int_equal(read_set(&world, NULL), ERROR_INPUT);
	assert_fault(&world.faults,
		"the upload: there are 2 problem sets in it (\"problems/a.yaml\", \"problems/b.yaml\"); "
		"choose one.");
	assert_int_equal(read_set(&world, "problems/b.yaml"), 0);
	assert_string_equal(world.set->problems[0].name, "scan");
	assert_int_equal(read_set(&world, "problems/c.yaml"), ERROR_INPUT);
	assert_fault(&world.faults, "the upload: there is no file \"problems/c.yaml\" in it.");
}

static void an_upload_without_a_set_is_an_error(void **state)
{
	(void)state;
	cleanup_arena struct arena *arena = arena_new();
	struct world world = make_tree(arena, "notes.txt", "problems: none\n");
	const char **paths;
	assert_int_equal(problem_set_paths(arena, &world.upload, &paths), 0);
	assert_int_equal(read_set(&world, NULL), ERROR_INPUT);
	assert_fault(&world.faults,
		"the upload: there is no problem set in it; add a YAML file with the key problems, not "
		"named task.yml.");
}

/* ---- faults ---- */

static void every_fault_of_a_set_names_file_and_line(void **state)
{
	(void)state;
	static const struct {
		const char *yaml, *sentence;
	} cases[] = {
		{ "name: x\n", "s.yaml line 1: the problem set lacks the key problems." },
		{ "problems: []\n",
			"s.yaml line 1, problems: the list is empty; name at least one problem." },
		{ "problems:\n  sort: x\n",
			"s.yaml line 2, problems: expected a list of problems (lines that begin with \"- \"), "
			"not a map." },
		{ "- x\nproblems: 1\n", NULL },
		{ "problems:\n- sort\n",
			"s.yaml line 2: entry 1 of problems must be a map (`key: value` lines), not text." },
		{ "problems:\n- {name: sort}\n",
			"s.yaml line 2: entry 1 of problems lacks the key directory." },
		{ "problems:\n- {directory: problems/scan}\n",
			"s.yaml line 2: entry 1 of problems lacks the key name." },
		{ "problems:\n- {directory: a, name: b, gpu: [CPU]}\n",
			"s.yaml line 2: entry 1 of problems has no key \"gpu\"; did you mean gpus?" },
		{ "nome: x\nproblems:\n- {directory: a, name: b}\n",
			"s.yaml line 1: the problem set has no key \"nome\"; did you mean name?" },
		{ "name: 7\nproblems:\n- {directory: a, name: b}\n",
			"s.yaml line 1, name: expected text, not a whole number \"7\"; put it in quotes if it "
			"is meant as text." },
		{ "deadline: soon\nproblems:\n- {directory: a, name: b}\n",
			"s.yaml line 1, deadline: \"soon\" is not a date and time; write it as 2026-11-21 "
			"06:10 or 2026-11-21, in UTC, or leave it empty for none." },
		{ "problems:\n- directory: a\n  name: b\n  deadline: 2031-02-31\n",
			"s.yaml line 4, problems.deadline: \"2031-02-31\" is not a date and time; write it as "
			"2026-11-21 06:10 or 2026-11-21, in UTC, or leave it empty for none." },
		{ "problems:\n- directory: a\n  name: b\n  deadline: [1]\n",
			"s.yaml line 4, problems.deadline: a list is not a date and time; write it as "
			"2026-11-21 06:10 or 2026-11-21, in UTC, or leave it empty for none." },
		{ "problems:\n- {directory: ../x, name: b}\n",
			"s.yaml line 2, problems.directory: \"../x\" leads out of the folder of this file; "
			"name a folder below it." },
		{ "problems:\n- {directory: /x, name: b}\n",
			"s.yaml line 2, problems.directory: \"/x\" leads out of the folder of this file; name "
			"a folder below it." },
		{ "problems:\n- {directory: \"a\\\\b\", name: b}\n",
			"s.yaml line 2, problems.directory: \"a\\b\" contains a backslash; folders are "
			"separated by \"/\"." },
		{ "problems:\n- {directory: \"\", name: b}\n",
			"s.yaml line 2, problems.directory: \"\" is empty; name the task's folder, relative to "
			"the folder of this file." },
		{ "problems:\n- {directory: a, name: \"b c\"}\n",
			"s.yaml line 2, problems.name: \"b c\" is not a valid leaderboard name (1 to 64 "
			"letters, digits, dots, dashes and underscores, beginning with a letter or digit)." },
		{ "problems:\n- {directory: a, name: b.json}\n",
			"s.yaml line 2, problems.name: \"b.json\" ends like a file name and would get the "
			"address of a file; choose another." },
		{ "problems:\n- {directory: a, name: b}\n- {directory: a, name: B}\n",
			"s.yaml line 3, problems.name: \"B\" is listed twice, the first time in line 2." },
		{ "problems:\n- {directory: a, name: b, gpus: [\"<b>\"]}\n",
			"s.yaml line 2, problems.gpus: \"<b>\" is not a valid GPU model (1 to 48 letters, "
			"digits, dots, dashes and underscores, for example H200 or CPU)." },
		{ "problems:\n- {directory: a, name: b, gpus: H200}\n",
			"s.yaml line 2, problems.gpus: expected a list (lines that begin with \"- \"), not "
			"text." },
		{ "problems:\n- {directory: a, name: b, gpus: [CPU, CPU]}\n",
			"s.yaml line 2, problems.gpus: \"CPU\" occurs twice." },
	};
	for (size_t i = 0; i < COUNT(cases); i++) {
		cleanup_arena struct arena *arena = arena_new();
		struct world world = make_tree(arena, "s.yaml", cases[i].yaml);
		assert_int_equal(read_set(&world, NULL), ERROR_INPUT);
		assert_true(world.faults.count > 0);
		if (cases[i].sentence)
			assert_fault(&world.faults, cases[i].sentence);
	}
}

static void all_faults_are_reported_together(void **state)
{
	(void)state;
	cleanup_arena struct arena *arena = arena_new();
	struct world world = make_tree(arena, "s.yaml",
		"deadline: soon\nproblems:\n- {directory: a, name: \"b c\"}\n- {directory: ../x, nam: "
		"b}\n");
	assert_int_equal(read_set(&world, NULL), ERROR_INPUT);
	assert_int_equal(world.faults.count, 5);
}

static void an_unusable_folder_does_not_affect_the_other_problems(void **state)
{
	(void)state;
	cleanup_arena struct arena *arena = arena_new();
	struct world world = make_tree(arena, "problems/a.yaml",
		"problems:\n- {directory: scan, name: scan}\n- {directory: sort, name: sort}\n- "
		"{directory: nowhere, name: nowhere}\n- {directory: week, name: week}\n- {directory: bad, "
		"name: bad}\n");
	add_file(&world.upload, "problems/bad/task.yml", TASK("../../missing.py") "test_timeout: 0\n");
	assert_int_equal(read_set(&world, NULL), 0);
	const struct problem *problems = world.set->problems;
	assert_non_null(problems[0].task);
	for (size_t i = 1; i < world.set->problem_count; i++)
		assert_null(problems[i].task);
	assert_fault(&problems[1].faults,
		"problems/a.yaml line 3, problems.directory: there is no folder \"problems/sort\" in the "
		"upload; there is \"problems/week/sort\".");
	assert_fault(&problems[2].faults,
		"problems/a.yaml line 4, problems.directory: there is no folder \"problems/nowhere\" in "
		"the upload.");
	assert_true(problems[3].faults.count > 0);
	assert_int_equal(strncmp(problems[3].faults.sentences[0], "problems/week/", 14), 0);
	assert_fault(&problems[4].faults,
		"problems/bad/task.yml line 11, test_timeout: expected a whole number from 1 to 3600, not "
		"\"0\".");
	assert_true(problems[4].faults.count >= 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_set_below_the_top_is_found_and_its_folders_are_relative_to_it),
		cmocka_unit_test(a_set_may_be_at_the_top_or_next_to_its_task_definition),
		cmocka_unit_test(a_task_does_not_depend_on_the_depth_of_its_folder),
		cmocka_unit_test(the_older_single_file_format_works_in_a_tree),
		cmocka_unit_test(deadlines_are_dates_with_or_without_a_time_and_empty_means_none),
		cmocka_unit_test(one_of_several_sets_must_be_chosen),
		cmocka_unit_test(an_upload_without_a_set_is_an_error),
		cmocka_unit_test(every_fault_of_a_set_names_file_and_line),
		cmocka_unit_test(all_faults_are_reported_together),
		cmocka_unit_test(an_unusable_folder_does_not_affect_the_other_problems),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
