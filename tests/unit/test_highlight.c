/* Syntax highlighting: comments, strings, numbers, keywords and directives in Python and CUDA C++.
 */
#include "cgi/render/highlight.h"
#include "lib/base/scope.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* Compares the tokens, printed in brackets with a letter for their kind; plain text has no
 * brackets. */
static void expect(enum source_language language, const char *code, const char *expected)
{
	cleanup_buffer struct buffer got = { 0 };
	struct tokenizer tokenizer = { language, code, code };
	struct token token;
	while (token_next(&tokenizer, &token)) {
		if (token.kind != TOKEN_PLAIN)
			buffer_printf(&got, "%c[", " csnkd"[token.kind]);
		buffer_append(&got, token.text, token.length);
		buffer_text(&got, token.kind == TOKEN_PLAIN ? "" : "]");
	}
	assert_string_equal(buffer_string(&got), expected);
}

static void python_has_comments_strings_numbers_keywords_and_decorators(void **state)
{
	(void)state;
	expect(SOURCE_PYTHON, "x = 1  # one\ny", "x = n[1]  c[# one]\ny");
	expect(SOURCE_PYTHON, "@torch.jit.script\ndef f(a): return a @ b",
		"d[@torch.jit.script]\nk[def] f(a): k[return] a @ b");
	expect(SOURCE_PYTHON, "  @cache\nx", "  d[@cache]\nx");
	expect(SOURCE_PYTHON, "definition in_x = None", "definition in_x = k[None]");
	expect(SOURCE_PYTHON, "0x1F + 1_000.5e-3j - .5 - a1", "n[0x1F] + n[1_000.5e-3j] - n[.5] - a1");
}

static void strings_of_python_may_have_prefixes_and_many_lines(void **state)
{
	(void)state;
	expect(SOURCE_PYTHON, "f'a # b' rb\"\\\"\" x''", "s[f'a # b'] s[rb\"\\\"\"] xs['']");
	expect(SOURCE_PYTHON, "a = '''one\n# two'' '''b", "a = s['''one\n# two'' ''']b");
	expect(SOURCE_PYTHON, "'open\nx = 1", "s['open]\nx = n[1]");
	expect(SOURCE_PYTHON, "\"\"\"never closed\nx = 1", "s[\"\"\"never closed\nx = 1]");
	expect(SOURCE_PYTHON, "'on\\\nthe next' if", "s['on\\\nthe next'] k[if]");
	expect(SOURCE_PYTHON, "buffer'x' 'a\\", "buffers['x'] s['a\\]");
}

static void cuda_has_its_own_words(void **state)
{
	(void)state;
	expect(SOURCE_CUDA, "#include <a.h>\n# define X 1\nint a#b;",
		"d[#include] <a.h>\nd[# define] X n[1]\nk[int] a#b;");
	expect(SOURCE_CUDA, "__global__ void f(const float *x) {}",
		"k[__global__] k[void] f(k[const] k[float] *x) {}");
	expect(SOURCE_CUDA, "a / b // c\\\nstill\nd /* e\n*/ f",
		"a / b c[// c\\\nstill]\nd c[/* e\n*/] f");
	expect(SOURCE_CUDA, "/* never closed", "c[/* never closed]");
	expect(SOURCE_CUDA, "1'000'000u + 0x1p-3f + 1.5e+3", "n[1'000'000u] + n[0x1p-3f] + n[1.5e+3]");
	expect(SOURCE_CUDA, "'\\'' L\"x\" u8\"y\" interior", "s['\\''] s[L\"x\"] s[u8\"y\"] interior");
}

static void raw_strings_end_with_their_delimiter(void **state)
{
	(void)state;
	expect(SOURCE_CUDA, "R\"(a\"b)\" int", "s[R\"(a\"b)\"] k[int]");
	expect(SOURCE_CUDA, "u8R\"x(a)\" )x\" int", "s[u8R\"x(a)\" )x\"] k[int]");
	expect(SOURCE_CUDA, "R\"x(never closed)\" int", "s[R\"x(never closed)\" int]");
	expect(SOURCE_CUDA, "R\"no parenthesis\"", "Rs[\"no parenthesis\"]");
}

static void plain_text_has_no_colours(void **state)
{
	(void)state;
	expect(SOURCE_TEXT, "# int 1 'x'\n", "# int 1 'x'\n");
	expect(SOURCE_PYTHON, "", "");
}

static void the_file_ending_decides_the_language(void **state)
{
	(void)state;
	assert_int_equal(source_language_of("a.py"), SOURCE_PYTHON);
	assert_int_equal(source_language_of("a.cu"), SOURCE_CUDA);
	assert_int_equal(source_language_of("a.cuh"), SOURCE_CUDA);
	assert_int_equal(source_language_of("py"), SOURCE_TEXT);
	assert_int_equal(source_language_of(""), SOURCE_TEXT);
}

static void expect_html(const char *code, const char *expected)
{
	cleanup_buffer struct buffer out = { 0 };
	html_code(&out, code, "x.py");
	assert_string_equal(buffer_string(&out), expected);
}

#define LINE(n, text) \
	"<span class=\"line\" id=\"L" n "\"><a class=\"line-number\" href=\"#L" n "\">" n "</a>" text \
	"\n</span>"

static void lines_are_numbered_escaped_and_linkable(void **state)
{
	(void)state;
	expect_html("if a<b:\r\n\r\n  x",
		LINE("1", "<span class=\"keyword\">if</span> a&lt;b:") LINE("2", "") LINE("3", "  x"));
	expect_html("'''<\n>'''\n",
		LINE("1", "<span class=\"string\">&#39;&#39;&#39;&lt;</span>")
			LINE("2", "<span class=\"string\">&gt;&#39;&#39;&#39;</span>"));
	expect_html("# c\r\n", LINE("1", "<span class=\"comment\"># c</span>"));
	expect_html("", "");
	expect_html("\n", LINE("1", ""));
}

static void several_sources_on_a_page_have_different_anchors(void **state)
{
	(void)state;
	cleanup_buffer struct buffer out = { 0 };
	html_code_of(&out, "x\n", "x.py", "a b\".py");
	assert_string_equal(buffer_string(&out),
		"<span class=\"line\" id=\"a%20b%22.py-L1\"><a class=\"line-number\" "
		"href=\"#a%20b%22.py-L1\">1</a>x\n</span>");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(python_has_comments_strings_numbers_keywords_and_decorators),
		cmocka_unit_test(strings_of_python_may_have_prefixes_and_many_lines),
		cmocka_unit_test(cuda_has_its_own_words),
		cmocka_unit_test(raw_strings_end_with_their_delimiter),
		cmocka_unit_test(plain_text_has_no_colours),
		cmocka_unit_test(the_file_ending_decides_the_language),
		cmocka_unit_test(lines_are_numbered_escaped_and_linkable),
		cmocka_unit_test(several_sources_on_a_page_have_different_anchors),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
