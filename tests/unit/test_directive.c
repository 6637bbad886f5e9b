#include "lib/base/scope.h"
#include "lib/submission/directive.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const struct {
	const char *source, *leaderboard, *gpus;
} GOOD[] = {
	{ "", NULL, "" },
	{ "import torch\n#!POPCORN leaderboard late\n", NULL, "" },
	{ "#!POPCORN leaderboard vectoradd\n#!POPCORN gpus H200 A100\n\nimport torch\n", "vectoradd",
		"H200 A100" },
	{ "//!POPCORN leaderboard Add\r\n//!POPCORN gpu H200\r\n", "Add", "H200" },
	{ "#include <x>\n//!POPCORN gpus A\n", NULL, "A" },
	{ "# comment\n\n#!POPCORN gpus A\n", NULL, "" },
	{ " #!POPCORN gpus A\n", NULL, "" },
	{ "# !POPCORN gpus A\n#!popcorn gpus B\n#!POPCORNS gpus C\n", NULL, "" },
	{ "#!POPCORN\tLeaderBoard\t x  and the rest\n", "x", "" },
	{ "#!POPCORN gpus A A B A\n", NULL, "A B" },
	{ "\xef\xbb\xbf#!POPCORN gpus A", NULL, "A" },
	{ "#!POPCORN gpus a\r#!POPCORN leaderboard b", "b", "a" },
};

static void directives_are_read_up_to_the_first_line_of_code(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(GOOD); i++) {
		cleanup_arena struct arena *arena = arena_new();
		struct directives directives;
		struct error error;
		if (directives_parse(arena, GOOD[i].source, &directives, &error))
			fail_msg("[%s] was refused: %s", GOOD[i].source, error.text);
		if (GOOD[i].leaderboard)
			assert_string_equal(directives.leaderboard, GOOD[i].leaderboard);
		else
			assert_null(directives.leaderboard);
		const char *gpus = "";
		for (size_t gpu = 0; gpu < directives.gpu_count; gpu++)
			gpus = arena_printf(arena, "%s%s%s", gpus, gpu ? " " : "", directives.gpus[gpu]);
		assert_string_equal(gpus, GOOD[i].gpus);
	}
}

static const struct {
	const char *source, *part;
} BAD[] = {
	{ "#!POPCORN\n", "Line 1: !POPCORN has no directive" },
	{ "# x\n//!POPCORN   \n",
		"Line 2: !POPCORN has no directive; write `//!POPCORN leaderboard NAME`" },
	{ "#!POPCORN leaderboard\n", "Line 1: !POPCORN leaderboard has no value" },
	{ "#!POPCORN gpus\n", "Line 1: !POPCORN gpus has no value; write `#!POPCORN gpus A B`." },
	{ "# a\r\n# b\r\n#!POPCORN team x\n", "Line 3: there is no directive !POPCORN \"team\"" },
	{ "#!POPCORN \x1b[31m x\n", "!POPCORN \"\\x1b[31m\"" },
	{ "#!POPCORN leaderboard a\n#!POPCORN leaderboard a\n",
		"Line 2: the leaderboard is named twice" },
	{ "#!POPCORN gpus A\n#!POPCORN gpu B\n", "Line 2: the GPUs are named twice" },
	{ "#!POPCORN gpus A,B\n", "Line 1: \"A,B\" contains a comma; separate the GPUs by spaces." },
};

static void faulty_directives_name_their_line(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(BAD); i++) {
		cleanup_arena struct arena *arena = arena_new();
		struct directives directives;
		struct error error = { 0 };
		assert_int_equal(directives_parse(arena, BAD[i].source, &directives, &error), ERROR_INPUT);
		if (!strstr(error.text, BAD[i].part))
			fail_msg("expected a sentence with [%s], got [%s]", BAD[i].part, error.text);
	}
}

static void a_line_of_a_thousand_words_is_refused(void **state)
{
	(void)state;
	cleanup_arena struct arena *arena = arena_new();
	char *source = arena_alloc(arena, 3000);
	strcpy(source, "#!POPCORN gpus");
	for (int i = 0; i < 1000; i++)
		strcat(source, " A");
	struct directives directives;
	assert_int_equal(directives_parse(arena, source, &directives, NULL), ERROR_INPUT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(directives_are_read_up_to_the_first_line_of_code),
		cmocka_unit_test(faulty_directives_name_their_line),
		cmocka_unit_test(a_line_of_a_thousand_words_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
