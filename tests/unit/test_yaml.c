#include "lib/base/scope.h"
#include "lib/base/yaml.h"
#include "lib/task/reader.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

static struct yaml_node *parse(struct arena *arena, const char *text)
{
	struct yaml_node *root = NULL;
	struct error error = { 0 };
	if (yaml_parse(arena, "task.yml", text, strlen(text), &root, &error))
		fail_msg("[%s] was refused: %s", text, error.text);
	return root;
}

static void assert_refused(const char *text, size_t length, const char *part)
{
	cleanup_arena struct arena *arena = arena_new();
	struct yaml_node *root;
	struct error error = { 0 };
	assert_int_not_equal(yaml_parse(arena, "task.yml", text, length, &root, &error), 0);
	if (!strstr(error.text, part))
		fail_msg("expected a sentence with [%s], got [%s]", part, error.text);
}

static void maps_and_lists_keep_their_order_and_lines(void **state)
{
	(void)state;
	cleanup_arena struct arena *arena = arena_new();
	const struct yaml_node *root = parse(
		arena, "# a comment\na: 1\nlist:\n  - x\n  - {b: 2, c: [3, 4]}\ntext: |\n  one\n  two\n");
	assert_int_equal(root->kind, YAML_MAP);
	assert_int_equal(root->count, 3);
	assert_string_equal(root->first->key->text, "a");
	assert_int_equal(root->first->line, 2);
	const struct yaml_node *list = yaml_find(root, "list");
	assert_int_equal(list->kind, YAML_LIST);
	assert_string_equal(list->first->text, "x");
	assert_int_equal(list->first->next->line, 5);
	assert_int_equal(yaml_find(list->first->next, "c")->first->next->integer, 4);
	assert_string_equal(yaml_find(root, "text")->text, "one\ntwo\n");
	assert_null(yaml_find(root, "x"));
}

/* The value that PyYAML 6 gives to each scalar, as Python's str() writes it. */
static const struct {
	const char *text;
	enum yaml_kind kind;
	const char *python;
} SCALARS[] = {
	{ "1", YAML_INTEGER, "1" },
	{ "0", YAML_INTEGER, "0" },
	{ "-7", YAML_INTEGER, "-7" },
	{ "+3", YAML_INTEGER, "3" },
	{ "017", YAML_INTEGER, "15" },
	{ "0o17", YAML_TEXT, "0o17" },
	{ "0x1F", YAML_INTEGER, "31" },
	{ "-0xff", YAML_INTEGER, "-255" },
	{ "0b101", YAML_INTEGER, "5" },
	{ "1_000", YAML_INTEGER, "1000" },
	{ "0_7", YAML_INTEGER, "7" },
	{ "1:30", YAML_INTEGER, "90" },
	{ "-1:30:15", YAML_INTEGER, "-5415" },
	{ "190:20:30", YAML_INTEGER, "685230" },
	{ "08", YAML_TEXT, "08" },
	{ "-0", YAML_INTEGER, "0" },
	{ "00", YAML_INTEGER, "0" },
	{ "1__0", YAML_INTEGER, "10" },
	{ "9223372036854775807", YAML_INTEGER, "9223372036854775807" },
	{ "-9223372036854775807", YAML_INTEGER, "-9223372036854775807" },
	{ "1e5", YAML_TEXT, "1e5" },
	{ "1e-5", YAML_TEXT, "1e-5" },
	{ "1.0e-5", YAML_REAL, "1e-05" },
	{ "1.5e+3", YAML_REAL, "1500.0" },
	{ "1.5e3", YAML_TEXT, "1.5e3" },
	{ ".5", YAML_REAL, "0.5" },
	{ "-.5", YAML_TEXT, "-.5" },
	{ "+.5", YAML_TEXT, "+.5" },
	{ "1.", YAML_REAL, "1.0" },
	{ "1_0.5", YAML_REAL, "10.5" },
	{ ".inf", YAML_REAL, "inf" },
	{ "-.INF", YAML_REAL, "-inf" },
	{ ".nan", YAML_REAL, "nan" },
	{ "1:30.5", YAML_REAL, "90.5" },
	{ "20:30.15", YAML_REAL, "1230.15" },
	{ "0.1", YAML_REAL, "0.1" },
	{ "1.0e+16", YAML_REAL, "1e+16" },
	{ "1.0e+15", YAML_REAL, "1000000000000000.0" },
	{ "123456789.125", YAML_REAL, "123456789.125" },
	{ "1.0e-4", YAML_REAL, "0.0001" },
	{ "0.00001", YAML_REAL, "1e-05" },
	{ "1.0e-300", YAML_REAL, "1e-300" },
	{ "100000000000000000000.0", YAML_REAL, "1e+20" },
	{ "3.141592653589793", YAML_REAL, "3.141592653589793" },
	{ "4.9e-324", YAML_REAL, "5e-324" },
	{ "1.7976931348623157e+308", YAML_REAL, "1.7976931348623157e+308" },
	{ "12345678901234567890.5", YAML_REAL, "1.2345678901234567e+19" },
	{ "0.30000000000000004", YAML_REAL, "0.30000000000000004" },
	{ "0.0", YAML_REAL, "0.0" },
	{ "-0.0", YAML_REAL, "-0.0" },
	{ "true", YAML_BOOL, "True" },
	{ "TRUE", YAML_BOOL, "True" },
	{ "yes", YAML_BOOL, "True" },
	{ "On", YAML_BOOL, "True" },
	{ "off", YAML_BOOL, "False" },
	{ "NO", YAML_BOOL, "False" },
	{ "y", YAML_TEXT, "y" },
	{ "n", YAML_TEXT, "n" },
	{ "~", YAML_NULL, "None" },
	{ "null", YAML_NULL, "None" },
	{ "", YAML_NULL, "None" },
	{ "none", YAML_TEXT, "none" },
	{ "1.2.3", YAML_TEXT, "1.2.3" },
	{ "a:b", YAML_TEXT, "a:b" },
	{ "bf16", YAML_TEXT, "bf16" },
	{ "'1'", YAML_TEXT, "1" },
	{ "\"true\"", YAML_TEXT, "true" },
	{ "''", YAML_TEXT, "" },
	{ "[1, 2]", YAML_LIST, "[1, 2]" },
	{ "[]", YAML_LIST, "[]" },
	{ "[a, 'it''s', true, 0.5]", YAML_LIST, "['a', \"it's\", True, 0.5]" },
	{ "['a\\b']", YAML_LIST, "['a\\\\b']" },
	{ "{a: 1, b: [x]}", YAML_MAP, "{'a': 1, 'b': ['x']}" },
	{ "2001-12-14", YAML_DATE, NULL },
	{ "2001-12-14 21:59:43", YAML_DATE, NULL },
	{ "[2001-12-14]", YAML_LIST, NULL },
	{ "'a;b'", YAML_TEXT, "a;b" },
	{ "\"a\\nb\"", YAML_TEXT, NULL },
	{ "\"a\\x1b\"", YAML_TEXT, NULL },
};

static void scalars_have_python_s_values(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(SCALARS); i++) {
		cleanup_arena struct arena *arena = arena_new();
		const struct yaml_node *node =
			yaml_find(parse(arena, arena_printf(arena, "k: %s\n", SCALARS[i].text)), "k");
		const char *fault, *text = task_python_text(arena, node, TRUTH_PYTHON, &fault);
		if (node->kind != SCALARS[i].kind)
			fail_msg("%s is %s", SCALARS[i].text, yaml_kind_name(node->kind));
		if (!SCALARS[i].python)
			assert_null(text);
		else
			assert_string_equal(text, SCALARS[i].python);
	}
}

static const struct {
	const char *text, *part;
} REFUSED[] = {
	{ "", "task.yml is empty." },
	{ "# nothing\n", "task.yml is empty." },
	{ "a: &x 1\nb: 2\n", "line 1: anchors (&name) are not allowed" },
	{ "a: 1\nb: *a\n", "line 2: aliases (*name) are not allowed" },
	{ "a: !!python/object:os.system x\n", "line 1: tags (!name) are not allowed" },
	{ "a: ! x\n", "line 1: tags (!name) are not allowed" },
	{ "a: !!map {}\n", "line 1: tags (!name) are not allowed" },
	{ "a: 1\nb: 2\na: 3\n", "line 3: the key \"a\" occurs twice (first in line 1)" },
	{ "a:\n  <<: {b: 1}\n", "line 2: merge keys (<<) are not allowed" },
	{ "? [a]\n: 1\n", "line 1: a key must be a word" },
	{ "a: 1\n---\nb: 2\n", "line 2: a second document begins here" },
	{ "a: [1, 2\n", "is not YAML: did not find expected" },
	{ "a: b: c\n", "line 1, column 5 is not YAML: mapping values are not allowed in this context" },
	{ "a:\n\t- 1\n", "line 2, column 1 is not YAML" },
	{ "a: \"\\0\"\n", "line 1: there is a NUL character" },
	{ "a: 99999999999999999999\n",
		"line 1: \"99999999999999999999\" is not a whole number of at most 64 bits" },
	{ "a: 0x_\n", "\"0x_\" is not a whole number" },
	{ "a: \xff\n", "is not UTF-8 from byte 3 on" },
	{ "a: \x01\n", "is not YAML" },
	{ "[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]",
		"line 1: lists and maps are nested more than 16 deep" },
};

static void every_fault_is_refused_with_its_own_message(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(REFUSED); i++)
		assert_refused(REFUSED[i].text, strlen(REFUSED[i].text), REFUSED[i].part);
	assert_refused("a: 1\0", 5, "not YAML");
}

static char *repeat(struct arena *arena, const char *piece, size_t count)
{
	char *text = arena_alloc(arena, strlen(piece) * count + 1);
	for (size_t i = 0; i < count; i++)
		memcpy(text + i * strlen(piece), piece, strlen(piece));
	return text;
}

static void too_large_input_is_refused_before_it_costs_time(void **state)
{
	(void)state;
	cleanup_arena struct arena *arena = arena_new();
	const char *many = repeat(arena, "- 1\n", 20001), *large = repeat(arena, "# comment\n", 30000);
	assert_refused(many, strlen(many), "more than 20000 values");
	assert_refused(large, strlen(large), "larger than 256 KiB");
	/* Shapes that have made YAML readers slow. */
	static const char *const pieces[] = { "[", "{", "- ", "? ", "a: ", "\"", "-\n", "{a", "[a,",
		"!", "&a ", "%", "|\n", " \n", "[?" };
	for (size_t i = 0; i < COUNT(pieces); i++) {
		const char *text = repeat(arena, pieces[i], 250000 / strlen(pieces[i]));
		struct yaml_node *root;
		struct error error = { 0 };
		clock_t start = clock();
		yaml_parse(arena, "task.yml", text, strlen(text), &root, &error);
		if (clock() - start > 4 * CLOCKS_PER_SEC)
			fail_msg("%zu bytes of [%s] took too long", strlen(text), pieces[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(maps_and_lists_keep_their_order_and_lines),
		cmocka_unit_test(scalars_have_python_s_values),
		cmocka_unit_test(every_fault_is_refused_with_its_own_message),
		cmocka_unit_test(too_large_input_is_refused_before_it_costs_time),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
