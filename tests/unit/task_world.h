/* Helpers for tests of task definitions: the parts of a valid task.yml, which GOOD puts together;
 * stock files; and functions that parse an upload together with the stock files. */
#ifndef PODIUM_TESTS_TASK_WORLD_H
#define PODIUM_TESTS_TASK_WORLD_H

#include "lib/base/scope.h"
#include "lib/files/fileset.h"
#include "lib/task/task.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define HEAD "lang: py\ndescription: |\n  # Add two vectors\n  Fill `output`.\n"
#define FILES \
	"files:\n  - {name: submission.py, source: \"@SUBMISSION@\"}\n  - {name: reference.py, " \
	"source: reference.py}\n" \
	"  - {name: eval.py, source: \"@STOCK@\"}\n  - {name: utils.py, source: \"@STOCK@\"}\n"
#define CONFIG "config: {main: eval.py}\n"
#define CASES \
	"tests:\n  - {size: 128, seed: 5}\nbenchmarks:\n  - {size: 256, seed: 6}\n  - {size: 512, " \
	"seed: 7}\n"
#define TEST "tests: [{n: 1}]\n"
#define GOOD HEAD FILES CONFIG CASES

struct world {
	struct arena *arena;
	struct fileset upload, stock;
	struct task *task;
	struct task_faults faults;
	struct error error;
};

static inline void add(struct fileset *set, const char *path, const char *text)
{
	assert_int_equal(fileset_add(set, path, text, strlen(text), NULL), 0);
}

static inline struct world make_world(struct arena *arena)
{
	struct world world = {
		.arena = arena, .upload = fileset_make(arena), .stock = fileset_make(arena)
	};
	static const char *const names[] = {
		"eval.py",
		"utils.py",
		"single_reference.py",
		"score_eval.py",
		"eval.cu",
		"utils.h",
		"wrapped_kernel.cu",
		"single_reference.cuh",
		"single_main.cu",
		"score_eval.cu",
	};
	for (size_t i = 0; i < COUNT(names); i++)
		add(&world.stock, names[i], arena_printf(arena, "stock %s\n", names[i]));
	return world;
}

/* Makes an upload with this task.yml and every file that the tests' task.yml name. */
static inline struct world upload_with(struct arena *arena, const char *yaml)
{
	struct world world = make_world(arena);
	add(&world.upload, "task.yml", yaml);
	add(&world.upload, "reference.py",
		"def generate_input(size, seed): ...\ndef check_implementation(data, output): ...\n");
	add(&world.upload, "template.py", "def custom_kernel(data): ...\n");
	add(&world.upload, "reference.cuh", "// reference\n");
	add(&world.upload, "samples/right.py", "right\n");
	add(&world.upload, "samples/wrong.py", "wrong\n");
	add(&world.upload, "samples/empty.py", "");
	add(&world.upload, "samples/latin.py", "\xe4");
	return world;
}

static inline int parse(struct world *world)
{
	return task_parse(world->arena, &world->upload, &world->stock, &world->task, &world->error);
}

static inline struct world parse_good(struct arena *arena, const char *yaml)
{
	struct world world = upload_with(arena, yaml);
	if (parse(&world))
		fail_msg("refused: %s", world.error.text);
	return world;
}

static inline const struct task_content *content(
	const struct task_content *contents, size_t count, enum task_file_role role, const char *path)
{
	for (size_t i = 0; i < count; i++)
		if (contents[i].role == role && strcmp(contents[i].path, path) == 0)
			return &contents[i];
	fail_msg("no %s %s", task_file_role_name(role), path);
	return NULL;
}

static inline void assert_round_trip(struct arena *arena, const struct task *task)
{
	json_t *first = task_to_json(task);
	assert_non_null(first);
	char *text = json_dumps(first, JSON_SORT_KEYS);
	json_t *loaded = json_loads(text, 0, NULL);
	struct task *again;
	struct error error;
	if (task_from_json(arena, loaded, &again, &error))
		fail_msg("%s", error.text);
	json_t *second = task_to_json(again);
	char *text_again = json_dumps(second, JSON_SORT_KEYS);
	assert_string_equal(text, text_again);
	assert_string_equal(again->files[0].name, task->files[0].name);
	assert_int_equal(again->files[0].is_submission, task->files[0].is_submission);
	assert_int_equal(again->language, task->language);
	assert_int_equal(again->ranking_by, task->ranking_by);
	assert_int_equal(again->expected_count, task->expected_count);
	assert_string_equal(again->benchmarks[0], task->benchmarks[0]);
	free(text);
	free(text_again);
	json_decref(first);
	json_decref(loaded);
	json_decref(second);
}

#endif
