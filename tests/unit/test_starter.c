/* What a participant writes for a task, read from the task's files. */
#include "lib/task/starter.h"

#include "lib/base/scope.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define EVAL "kernel = getattr(submission, \"custom_kernel\", None)\n"

struct given {
	const char *path, *text;
};

static struct task_starter start(
	struct arena *arena, const struct task *task, const struct given *given, size_t count)
{
	struct task_content *files = arena_array(arena, struct task_content, count + 1);
	for (size_t i = 0; i < count; i++)
		files[i] =
			(struct task_content){ ROLE_FILE, given[i].path, given[i].text, strlen(given[i].text) };
	return task_starter_make(arena, task, files, count);
}
#define START(task, ...) \
	start(arena, &(task), (const struct given[]){ __VA_ARGS__ }, \
		COUNT(((const struct given[]){ __VA_ARGS__ })))

static const struct task PYTHON = { .language = TASK_PY }, CUDA = { .language = TASK_CU };

static void python_types_give_the_signature_and_the_import(void **state)
{
	(void)state;
	cleanup_arena struct arena *arena = arena_new();
	struct task_starter starter = START(PYTHON, { "eval.py", EVAL },
		{ "types_of_it.py",
			"import torch\ninput_t_size = 1\nif input_t == 1:\n    pass\n"
			"class input_t(TypedDict):\n    a: int\n\n    b: int\n\nx = 1\n"
			"output_t: TypeAlias = tuple[\n    int]\ny = 2\n" });
	assert_string_equal(starter.signature, "def custom_kernel(data: input_t) -> output_t");
	assert_string_equal(starter.types,
		"class input_t(TypedDict):\n    a: int\n\n    b: int\noutput_t: TypeAlias = tuple[\n    "
		"int]");
	assert_string_equal(starter.code,
		"# The types of the task, from types_of_it.py:\n#\n#     class input_t(TypedDict):\n"
		"#         a: int\n#\n#         b: int\n#     output_t: TypeAlias = tuple[\n#         "
		"int]\n"
		"from types_of_it import input_t, output_t\n\n\n"
		"def custom_kernel(data: input_t) -> output_t:\n"
		"    raise NotImplementedError(\"Write the kernel here.\")\n");
}

static void a_python_harness_tells_the_functions_name(void **state)
{
	(void)state;
	static struct task_file slot = { .name = "train.py", .is_submission = true };
	static const struct task own = { .language = TASK_PY, .files = &slot, .file_count = 1 };
	static const struct {
		const char *text, *signature;
	} cases[] = {
		{ "from train import solve\n", "def solve(data)" },
		{ "import train\nretrain.wrong(1)\ntrain.attention(x)\n", "def attention(data)" },
		{ "from train import *\n" EVAL, "def custom_kernel(data)" },
		{ "print(train.__doc__)\n", NULL },
	};
	for (size_t i = 0; i < COUNT(cases); i++) {
		cleanup_arena struct arena *arena = arena_new();
		struct task_starter starter = START(own, { "eval.py", cases[i].text });
		if (cases[i].signature)
			assert_string_equal(starter.signature, cases[i].signature);
		else
			assert_null(starter.signature);
		assert_int_equal(!starter.code, !cases[i].signature);
		assert_string_equal(starter.types, "");
	}
}

static void cuda_types_give_the_signature_and_the_header(void **state)
{
	(void)state;
	cleanup_arena struct arena *arena = arena_new();
	struct task_starter starter = START(CUDA,
		{ "reference.cuh",
			"struct input_t;\nstruct input_t {\n\tfloat *a; /* one */\n};\nusing output_t = "
			"int;\n" });
	assert_string_equal(starter.signature, "output_t custom_kernel(input_t data)");
	assert_string_equal(
		starter.types, "struct input_t {\n\tfloat *a; /* one */\n};\nusing output_t = int;");
	assert_string_equal(starter.code,
		"// The types of the task, from reference.cuh:\n//\n//     struct input_t {\n"
		"//     \tfloat *a; /* one */\n//     };\n//     using output_t = int;\n"
		"#include \"reference.cuh\"\n\n#include <stdexcept>\n\n"
		"output_t custom_kernel(input_t data)\n{\n"
		"\tthrow std::runtime_error(\"Write the kernel here.\");\n}\n");
	starter = START(CUDA, { "code.cuh", "struct input_t {};\nusing output_t = int;\n" },
		{ "task.h", "#include \"code.cuh\"\n" });
	assert_non_null(strstr(starter.code, "\n#include \"task.h\"\n"));
	starter = START(CUDA, { "eval.cu", "int main() { }\n" });
	assert_null(starter.signature);
	assert_null(starter.code);
}

static void a_kernel_alone_has_the_tasks_own_signature(void **state)
{
	(void)state;
	cleanup_arena struct arena *arena = arena_new();
	static const struct task alone = { .language = TASK_CU,
		.kernel_signature = "__global__ void add(float *a)" };
	struct task_starter starter = START(alone, { "task.h", "struct input_t {};\n" });
	assert_string_equal(starter.signature, alone.kernel_signature);
	assert_string_equal(
		starter.code, "__global__ void add(float *a)\n{\n\t// Write the kernel here.\n}\n");
}

static void text_that_does_not_end_defines_nothing(void **state)
{
	(void)state;
	cleanup_arena struct arena *arena = arena_new();
	char *endless = arena_alloc(arena, 5001);
	memset(endless, '(', 5000);
	memcpy(endless, "input_t = ", 10);
	endless[5000] = '\0';
	struct task_starter starter = START(
		PYTHON, { "task.py", endless }, { "other.py", "output_t = int\n" }, { "eval.py", EVAL });
	assert_string_equal(starter.types, "");
	assert_string_equal(starter.signature, "def custom_kernel(data)");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(python_types_give_the_signature_and_the_import),
		cmocka_unit_test(a_python_harness_tells_the_functions_name),
		cmocka_unit_test(cuda_types_give_the_signature_and_the_header),
		cmocka_unit_test(a_kernel_alone_has_the_tasks_own_signature),
		cmocka_unit_test(text_that_does_not_end_defines_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
