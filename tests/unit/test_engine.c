#include "lib/task/engine.h"

#include "lib/base/scope.h"
#include "lib/task/public_harness.h"
#include "lib/task/stock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* Replaces the table in lib/task/public_harness.c. The digests are the SHA-256 of "call\n" and of
 * similar texts. */
const struct public_harness public_harnesses[] = {
	{ "472df7efe735cdadef5a6a25ffaee398cbf49d418d82330cd857dea648f09550", HARNESS_CALL },
	{ "539b9f77a4c9840da32d59e50ed831be29f06bedd25b62c21029078cfb1712a0", HARNESS_BATCH },
	{ "fd9d63f006fed497d836138b7a738ac4ac66f5609373f915c9db0f1ee148d339", HARNESS_GRAPH },
	{ "26265e2cb0d09985af048453d19d714eded6533a875c898a5c9203a597a2e277", HARNESS_RANKS },
};
const size_t public_harness_count = COUNT(public_harnesses);

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

static const char REFERENCE[] = "def generate_input(): ...\ndef check_implementation(): ...\n";

/* A task and the contents of its files. */
struct world {
	struct task task;
	struct task_file files[8];
	struct fileset set;
};

static void add(struct world *world, const char *name, const char *source, const char *text)
{
	world->files[world->task.file_count++] = (struct task_file){ .name = name, .source = source };
	assert_int_equal(fileset_add(&world->set, name, text, strlen(text), NULL), 0);
}

static struct world *make_world(enum task_language language, const char *slot)
{
	struct world *world = arena_array(arena, struct world, 1);
	world->set = fileset_make(arena);
	world->task = (struct task){ .language = language, .engine = ENGINE_CHOOSE };
	world->task.files = world->files;
	world->files[world->task.file_count++] =
		(struct task_file){ .name = slot, .source = "@SUBMISSION@", .is_submission = true };
	return world;
}

/* A Python task whose main file has this text. */
static struct world *py_world(const char *main, const char *text)
{
	struct world *world = make_world(TASK_PY, "submission.py");
	world->task.main = main;
	add(world, "reference.py", "reference.py", REFERENCE);
	add(world, main, main, text);
	return world;
}

static void expect(struct world *world, enum task_engine engine, const char *reason)
{
	struct engine_choice choice = engine_choose(arena, &world->task, &world->set);
	assert_int_equal(choice.engine, engine);
	assert_string_equal(choice.reason, reason);
}

static const char *stock_text(const char *name)
{
	for (size_t i = 0; i < stock_file_count; i++)
		if (strcmp(stock_files[i].name, name) == 0)
			return stock_files[i].bytes;
	return NULL;
}

#define STOCK_REASON(name) \
	name " is Podium's stock harness, and the isolated engine measures the same."
#define ON_GPUS ", so the sealed engine measures on GPUs, and the isolated engine on the CPU."
#define SEALED_REASON(name) name " is Podium's stock harness" ON_GPUS
#define CHOICE \
	"; choose `podium: {engine: isolated}` in task.yml if the reference checks everything that " \
	"matters."
#define UNKNOWN_REASON(name) \
	name " is not a harness that Podium knows, so the custom engine runs it as written" CHOICE

static void the_stock_harness_is_known_by_its_source_and_by_its_text(void **state)
{
	(void)state;
	struct world *older = py_world("eval.py", "an older stock harness\n");
	older->files[2].source = "@STOCK@";
	expect(older, ENGINE_SEALED, SEALED_REASON("eval.py"));
	expect(py_world("eval.py", stock_text("eval.py")), ENGINE_SEALED, SEALED_REASON("eval.py"));
	expect(py_world("bench.py", stock_text("eval.py")), ENGINE_SEALED, SEALED_REASON("bench.py"));
}

static void copying_a_harness_does_not_change_it(void **state)
{
	(void)state;
	static const char *const texts[] = { "call\n", "call", "\n \t\ncall  \t\r\n\r\n\n" };
	for (size_t i = 0; i < COUNT(texts); i++)
		expect(py_world("eval.py", texts[i]), ENGINE_SEALED,
			"eval.py is a public harness that times one call at a time" ON_GPUS);
	static const char *const others[] = { " call\n", "call\ncall\n", "ca ll\n", "" };
	for (size_t i = 0; i < COUNT(others); i++)
		expect(py_world("eval.py", others[i]), ENGINE_CUSTOM, UNKNOWN_REASON("eval.py"));
}

static void any_other_main_file_runs_as_written(void **state)
{
	(void)state;
	const char *edited = arena_printf(arena, "%s# edited\n", stock_text("eval.py"));
	expect(py_world("eval.py", edited), ENGINE_CUSTOM, UNKNOWN_REASON("eval.py"));
	expect(py_world("run_it.py", "print()\n"), ENGINE_CUSTOM, UNKNOWN_REASON("run_it.py"));
	/* Only the main file counts, and "@STOCK@:..." of another file is not the stock eval.py. */
	struct world *other = py_world("run_it.py", "print()\n");
	add(other, "eval.py", "@STOCK@", stock_text("eval.py"));
	expect(other, ENGINE_CUSTOM, UNKNOWN_REASON("run_it.py"));
	struct world *renamed = py_world("eval.py", "print()\n");
	renamed->files[2].source = "@STOCK@:utils.py";
	expect(renamed, ENGINE_CUSTOM, UNKNOWN_REASON("eval.py"));
}

static void a_harness_that_measures_something_else_is_described(void **state)
{
	(void)state;
	static const struct {
		const char *text, *does;
	} harnesses[] = {
		{ "batch\n", "times several calls together" },
		{ "graph\n", "times replays of a CUDA graph" },
		{ "ranks\n", "times processes on several GPUs" },
	};
	for (size_t i = 0; i < COUNT(harnesses); i++)
		expect(py_world("eval.py", harnesses[i].text), ENGINE_CUSTOM,
			arena_printf(arena,
				"eval.py %s, which the isolated engine does not, so the custom engine runs it as "
				"written" CHOICE,
				harnesses[i].does));
	struct world *several = py_world("eval.py", "ranks\n");
	several->task.multi_gpu = true;
	expect(several, ENGINE_CUSTOM,
		"eval.py times processes on several GPUs, which the isolated engine does not, so the "
		"custom engine runs it as written.");
}

static void an_own_harness_needs_no_other_reason(void **state)
{
	(void)state;
	struct world *world = make_world(TASK_PY, "submission.py");
	world->task.main = "eval.py";
	add(world, "eval.py", "eval.py", "own\n");
	expect(world, ENGINE_CUSTOM,
		"eval.py is not a harness that Podium knows, so the custom engine runs it as written.");
}

static void the_author_may_choose(void **state)
{
	(void)state;
	struct world *world = py_world("eval.py", "own\n");
	world->task.engine = ENGINE_ISOLATED;
	expect(
		world, ENGINE_ISOLATED, "task.yml chooses the isolated engine, so eval.py does not run.");
	world->task.engine = ENGINE_SEALED;
	expect(world, ENGINE_SEALED,
		"task.yml chooses the sealed engine, so eval.py does not run; the isolated engine measures "
		"on the CPU.");
	world = py_world("eval.py", stock_text("eval.py"));
	world->task.engine = ENGINE_ISOLATED;
	expect(
		world, ENGINE_ISOLATED, "task.yml chooses the isolated engine, so eval.py does not run.");
	world->task.engine = ENGINE_CUSTOM;
	expect(world, ENGINE_CUSTOM, "task.yml chooses the custom engine, so eval.py runs as written.");
}

static void the_cpu_gets_the_isolated_engine_of_a_sealed_task(void **state)
{
	(void)state;
	for (enum task_engine engine = ENGINE_CUSTOM; engine < ENGINE_CHOOSE; engine++) {
		const struct engine_choice choice = { engine, "why" };
		assert_int_equal(engine_on(choice, "H200").engine, engine);
		assert_int_equal(
			engine_on(choice, "CPU").engine, engine == ENGINE_SEALED ? ENGINE_ISOLATED : engine);
		assert_string_equal(engine_on(choice, "CPU").reason, "why");
	}
}

static void a_version_from_before_the_sealed_engine_stays_isolated(void **state)
{
	(void)state;
	struct world *world = py_world("eval.py", stock_text("eval.py"));
	struct engine_choice choice = engine_choose_unsealed(arena, &world->task, &world->set);
	assert_int_equal(choice.engine, ENGINE_ISOLATED);
	assert_string_equal(choice.reason, STOCK_REASON("eval.py"));
}

static void what_the_sealed_engine_lacks_is_named(void **state)
{
	(void)state;
	struct world *world = py_world("eval.py", stock_text("eval.py"));
	assert_null(engine_sealed_obstacle(&world->task, &world->set));
	world->task.multi_gpu = true;
	assert_string_equal(engine_sealed_obstacle(&world->task, &world->set),
		"The task runs on several GPUs, and the sealed engine replays on one.");
	world->task.multi_gpu = false;
	world->task.main = "score_eval.py";
	assert_string_equal(engine_sealed_obstacle(&world->task, &world->set),
		engine_obstacle(&world->task, &world->set));
}

static void what_the_isolated_engine_lacks_is_named(void **state)
{
	(void)state;
	struct world *world = make_world(TASK_PY, "submission.py");
	world->task.main = "eval.py";
	add(world, "eval.py", "@STOCK@", "");
	expect(world, ENGINE_CUSTOM, "The task has no reference.py.");
	add(world, "reference.py", "reference.py", "def generate_input(): ...\n");
	expect(world, ENGINE_CUSTOM,
		"The task's reference.py does not offer generate_input and check_implementation.");
	world = py_world("eval.py", "call\n");
	world->task.multi_gpu = true;
	expect(world, ENGINE_CUSTOM,
		"The task runs on several GPUs, which the isolated engine does not share between "
		"processes.");
	world = py_world("score_eval.py", "");
	world->files[2].source = "@STOCK@";
	expect(world, ENGINE_CUSTOM,
		"The task has an evaluation of the oldest form, whose cases are not arguments of "
		"generate_input.");
}

/* ---- CUDA C++ ---- */

static struct world *cu_world_with(
	const char *types, const char *slot, const char *main, const char *main_source)
{
	struct world *world = make_world(TASK_CU, slot);
	bool is_whole = strcmp(main, "eval.cu") == 0;
	const char **sources = arena_array(arena, const char *, 2);
	sources[0] = main;
	sources[1] = slot;
	world->task.sources = sources;
	world->task.source_count = is_whole ? 2 : 1;
	add(world, "task.h", "task.h", types);
	add(world, "reference.cuh", "reference.cuh", "");
	add(world, main, main_source, "an older text\n");
	return world;
}

static struct world *cu_world(const char *slot, const char *main, const char *main_source)
{
	return cu_world_with("using input_t = DeviceBuffer<int>;", slot, main, main_source);
}

static void the_sealed_engine_needs_data_on_the_gpu(void **state)
{
	(void)state;
	struct world *world;
	static const char *const types[] = { "using input_t = DeviceBuffer<int>;",
		"struct Mine { static Mine view(int *data, std::size_t size); };",
		"using input_t = std::vector<int>;" };
	for (size_t i = 0; i < COUNT(types); i++) {
		world = cu_world_with(types[i], "submission.cu", "eval.cu", "@STOCK@");
		const char *why = engine_sealed_obstacle(&world->task, &world->set);
		if (i + 1 < COUNT(types))
			assert_null(why);
		else
			assert_string_equal(why,
				"The task's types have no DeviceBuffer, so its data are on the host. The sealed "
				"engine needs inputs that differ only on the GPU.");
	}
}

static void the_stock_harness_of_cuda_is_known_in_its_three_forms(void **state)
{
	(void)state;
	expect(
		cu_world("submission.cu", "eval.cu", "@STOCK@"), ENGINE_SEALED, SEALED_REASON("eval.cu"));
	expect(cu_world_with("std::vector<int>", "submission.cu", "eval.cu", "@STOCK@"),
		ENGINE_ISOLATED, STOCK_REASON("eval.cu"));
	static const char *const forms[][2] = { { "submission.cuh", "wrapped_kernel.cu" },
		{ "train.cuh", "single_main.cu" } };
	for (size_t i = 0; i < COUNT(forms); i++) {
		struct world *world = cu_world(forms[i][0], forms[i][1], "@STOCK@");
		add(world, "eval.cu", "@STOCK@", "");
		expect(world, ENGINE_SEALED, arena_printf(arena, SEALED_REASON("%s"), forms[i][1]));
		world->files[4].source = "mine.cu";
		expect(world, ENGINE_CUSTOM, UNKNOWN_REASON("eval.cu"));
		world->files[4].source = "@STOCK@";
		world->files[3].source = "mine.cu";
		expect(world, ENGINE_CUSTOM, arena_printf(arena, UNKNOWN_REASON("%s"), forms[i][1]));
	}
}

static void another_program_in_cuda_runs_as_written(void **state)
{
	(void)state;
	expect(
		cu_world("submission.cu", "eval.cu", "eval.cu"), ENGINE_CUSTOM, UNKNOWN_REASON("eval.cu"));
	expect(cu_world("submission.cu", "bench.cu", "bench.cu"), ENGINE_CUSTOM,
		"The task compiles other sources than eval.cu and the submission.");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_stock_harness_is_known_by_its_source_and_by_its_text),
		cmocka_unit_test(copying_a_harness_does_not_change_it),
		cmocka_unit_test(any_other_main_file_runs_as_written),
		cmocka_unit_test(a_harness_that_measures_something_else_is_described),
		cmocka_unit_test(an_own_harness_needs_no_other_reason),
		cmocka_unit_test(the_author_may_choose),
		cmocka_unit_test(the_cpu_gets_the_isolated_engine_of_a_sealed_task),
		cmocka_unit_test(a_version_from_before_the_sealed_engine_stays_isolated),
		cmocka_unit_test(what_the_sealed_engine_lacks_is_named),
		cmocka_unit_test(what_the_isolated_engine_lacks_is_named),
		cmocka_unit_test(the_sealed_engine_needs_data_on_the_gpu),
		cmocka_unit_test(the_stock_harness_of_cuda_is_known_in_its_three_forms),
		cmocka_unit_test(another_program_in_cuda_runs_as_written),
	};
	return cmocka_run_group_tests(tests, open_arena, close_arena);
}
