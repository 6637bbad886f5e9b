/* Editing a stored task: its files as an upload again, and another description in its task.yml. */
#include "lib/task/edit.h"

#include "tests/unit/task_world.h"

/* Stores the upload's task, and makes the upload again from what is stored. */
static struct task_upload again(struct world *world, struct task_content **contents, size_t *count)
{
	struct task_upload made;
	if (parse(world))
		fail_msg("refused: %s", world->error.text);
	assert_int_equal(task_contents(world->arena, world->task, &world->upload, &world->stock,
						 contents, count, &world->error),
		0);
	if (task_upload_again(world->arena, world->task, *contents, *count, &made, &world->error))
		fail_msg("not again: %s", world->error.text);
	return made;
}

static void assert_same(struct world *world, const struct task_upload *made)
{
	struct task *task;
	struct task_faults faults;
	if (task_check(world->arena, &made->upload, &made->stock, &task, &faults))
		fail_msg("refused: %s", faults.sentences[0]);
	json_t *before = task_to_json(world->task), *after = task_to_json(task);
	assert_true(json_equal(before, after));
	json_decref(before);
	json_decref(after);
}

static void a_stored_task_becomes_the_same_upload_with_its_own_harness(void **state)
{
	(void)state;
	cleanup_arena struct arena *arena = arena_new();
	struct world world = upload_with(arena,
		GOOD "templates: {Python: template.py}\n"
			 "podium: {expected: [{source: samples/right.py, verdict: passed}]}\n");
	struct task_content *contents;
	size_t count;
	struct task_upload made = again(&world, &contents, &count);
	assert_string_equal(made.definition, "task.yml");
	assert_string_equal(fileset_find(&made.stock, "eval.py")->bytes, "stock eval.py\n");
	assert_non_null(fileset_find(&made.stock, "single_reference.py"));
	assert_null(fileset_find(&made.upload, "samples/wrong.py")); /* the task does not name it */
	assert_same(&world, &made);
}

static void the_folder_of_the_definition_is_found_again(void **state)
{
	(void)state;
	cleanup_arena struct arena *arena = arena_new();
	struct world world = make_world(arena);
	add(&world.upload, "set/one/task.yml",
		HEAD "files:\n  - {name: submission.py, source: \"@SUBMISSION@\"}\n"
			 "  - {name: reference.py, source: reference.py}\n"
			 "  - {name: eval.py, source: ../eval.py}\n" CONFIG CASES);
	add(&world.upload, "set/one/reference.py", "a\n");
	add(&world.upload, "set/eval.py", "b\n");
	struct task_content *contents;
	size_t count;
	struct task_upload made = again(&world, &contents, &count);
	assert_string_equal(made.definition, "set/one/task.yml");
	assert_same(&world, &made);
}

/* The stock files of the form with a single reference, and the reference. */
static struct world single(struct arena *arena)
{
	struct world world = make_world(arena);
	add(&world.upload, "reference.cuh",
		"// Words.\nstruct ArgumentNames {};\nusing input_t = int; using output_t = int;\n"
		"input_t generate_input(); output_t ref_kernel(input_t);\n"
		"bool check_implementation(output_t, output_t);\n");
	add(&world.upload, "template.cu", "// template\n");
	return world;
}

static void a_single_reference_is_found_again(void **state)
{
	(void)state;
	cleanup_arena struct arena *arena = arena_new();
	struct world world = single(arena);
	struct task_content *contents;
	size_t count;
	struct task_upload made = again(&world, &contents, &count);
	assert_string_equal(made.definition, "reference.cuh");
	assert_true(made.is_single);
	assert_same(&world, &made);
}

static void a_single_reference_with_other_cases_cannot_be_edited(void **state)
{
	(void)state;
	cleanup_arena struct arena *arena = arena_new();
	struct world world = single(arena);
	struct task_content *contents;
	size_t count;
	struct task_upload made;
	add(&world.upload, "problem.py", "tests = [{\"size\": 7}]\n");
	if (parse(&world))
		fail_msg("refused: %s", world.error.text);
	assert_int_equal(task_contents(arena, world.task, &world.upload, &world.stock, &contents,
						 &count, &world.error),
		0);
	assert_int_equal(
		task_upload_again(arena, world.task, contents, count, &made, &world.error), ERROR_INPUT);
	assert_non_null(strstr(world.error.text, "does not give its shapes"));
}

/* ---- descriptions ---- */

static const char *const DEFINITIONS[] = {
	"lang: py\ndescription: Short.\n" FILES CONFIG CASES,
	"lang: py\ndescription: |\n  One.\n\n  - two: 3\n    # four\n\n" FILES CONFIG CASES,
	"lang: py\ndescription: >-\n    Folded\n    text.\n# a comment\n" FILES CONFIG CASES,
	"lang: py\ndescription: \"quoted:\n  \\\"text\\\"\"\n" FILES CONFIG CASES,
	"lang: py\n" FILES CONFIG CASES "description: |\n  At the end",
};
static const char *const DESCRIPTIONS[] = {
	"Plain.",
	"# Title\n\nA list:\n\n- one: {a: 1}\n- \"two\" # not a comment\n\n```\n\tcode\n```\n",
	"    indented first\nthen not\n",
	"\n\nAfter empty lines.",
	"---\n...\n%TAG ! x\ndescription: |\n  nested\nfiles: []\n",
	"Umlauts: äöü, a pipe |, 'quotes', & * ! % @ `.\n",
	"Trailing blanks  \nand a line of blanks:\n   \nend\n\n\n",
};

static void any_description_replaces_any_other(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(DEFINITIONS); i++)
		for (size_t j = 0; j < COUNT(DESCRIPTIONS); j++) {
			cleanup_arena struct arena *arena = arena_new();
			struct world before = parse_good(arena, DEFINITIONS[i]);
			const char *text = task_replace_description(arena, DEFINITIONS[i], DESCRIPTIONS[j]);
			assert_non_null(text);
			struct world after = parse_good(arena, text);
			if (task_descriptions_differ(after.task->description, DESCRIPTIONS[j]))
				fail_msg(
					"%zu, %zu: [%s] became [%s]", i, j, DESCRIPTIONS[j], after.task->description);
			after.task->description = before.task->description;
			json_t *a = task_to_json(before.task), *b = task_to_json(after.task);
			assert_true(json_equal(a, b));
			json_decref(a);
			json_decref(b);
		}
}

static void the_text_around_a_description_stays(void **state)
{
	(void)state;
	cleanup_arena struct arena *arena = arena_new();
	assert_string_equal(
		task_replace_description(arena,
			"# first\ndescription: |\n  old\n\n  old\n\n# files\nfiles: []\n", "new\n\nlines\n"),
		"# first\ndescription: |\n  new\n\n  lines\n\n# files\nfiles: []\n");
	assert_string_equal(
		task_replace_description(arena, "description: old", ""), "description: \"\"\n");
	assert_string_equal(task_copy_description(arena, "a: 1\ndescription: \"\"\nb: 2\n",
							"description: >-\n  old\n\n  old\nb: 1\n"),
		"a: 1\ndescription: >-\n  old\n\n  old\nb: 2\n");
	assert_string_equal(
		task_copy_description(arena, "description: \"\"\nb: 2\n", "description: old"),
		"description: old\nb: 2\n");
	assert_null(task_copy_description(arena, "description: new\n", "a: 1\n"));
	assert_null(task_replace_description(arena, "{description: old}\n", "new"));
	assert_null(task_replace_description(arena, "  description: old\n", "new"));
}

static void only_line_ends_at_the_end_do_not_count(void **state)
{
	(void)state;
	assert_false(task_descriptions_differ("a\n", "a"));
	assert_false(task_descriptions_differ("", "\n\n"));
	assert_true(task_descriptions_differ("a ", "a"));
	assert_true(task_descriptions_differ("a\nb", "a\n"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_stored_task_becomes_the_same_upload_with_its_own_harness),
		cmocka_unit_test(the_folder_of_the_definition_is_found_again),
		cmocka_unit_test(a_single_reference_is_found_again),
		cmocka_unit_test(a_single_reference_with_other_cases_cannot_be_edited),
		cmocka_unit_test(any_description_replaces_any_other),
		cmocka_unit_test(the_text_around_a_description_stays),
		cmocka_unit_test(only_line_ends_at_the_end_do_not_count),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
