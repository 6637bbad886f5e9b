#include "cgi/render/markdown.h"
#include "lib/base/buffer.h"
#include "lib/base/markdown_size.h"
#include "lib/base/scope.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void expect(const char *markdown, const char *html)
{
	cleanup_buffer struct buffer out = { 0 };
	markdown_render(&out, markdown, strlen(markdown), 2);
	assert_string_equal(buffer_string(&out), html);
}

static void expect_without(const char *markdown, const char *unwanted)
{
	cleanup_buffer struct buffer out = { 0 };
	markdown_render(&out, markdown, strlen(markdown), 2);
	if (strstr(buffer_string(&out), unwanted))
		fail_msg("%s gives %s", markdown, buffer_string(&out));
}

static void headings_rank_below_the_page_s_own(void **state)
{
	(void)state;
	expect("# A\n", "<h2>A</h2>\n");
	expect("### A\n", "<h4>A</h4>\n");
	expect("###### A\n", "<h6>A</h6>\n");
	expect("A\n===\n", "<h2>A</h2>\n");
}

static void raw_html_is_shown_as_text(void **state)
{
	(void)state;
	expect(
		"a <b onclick=\"x()\">c</b>\n", "<p>a &lt;b onclick=&quot;x()&quot;&gt;c&lt;/b&gt;</p>\n");
	expect("<script>alert(1)</script>\n", "<p>&lt;script&gt;alert(1)&lt;/script&gt;</p>\n");
	expect("<iframe src=x>\n\n<style>*{display:none}</style>\n",
		"<p>&lt;iframe src=x&gt;</p>\n<p>&lt;style&gt;*{display:none}&lt;/style&gt;</p>\n");
	expect("[<img src=x onerror=alert(1)>](/a)\n",
		"<p><a rel=\"nofollow noopener\" href=\"/a\">&lt;img src=x onerror=alert(1)&gt;</a></p>\n");
}

static void control_characters_are_shown(void **state)
{
	(void)state;
	const char *marked = "<p>a\\u202eb</p>\n";
	expect("a\xe2\x80\xae"
		   "b\n",
		marked);
	expect("a&#x202e;b\n", marked);
	expect("`a&rlm;\x1b`\n", "<p><code>a&amp;rlm;\\x1b</code></p>\n");
	expect("[a&rlm;](/a \"&lrm;\")\n",
		"<p><a rel=\"nofollow noopener\" href=\"/a\" title=\"\\u200e\">a\\u200f</a></p>\n");
}

static void line_breaks_and_comments_work(void **state)
{
	(void)state;
	expect("a<br>b<BR/>c\n", "<p>a<br />b<br />c</p>\n");
	expect("|a|\n|-|\n|b<br>c|\n",
		"<table tabindex=\"0\">\n<thead>\n<tr>\n<th>a</th>\n</tr>\n</thead>\n<tbody>\n"
		"<tr>\n<td>b<br />c</td>\n</tr>\n</tbody>\n</table>\n");
	expect("a <!-- for authors --> b\n", "<p>a  b</p>\n");
	expect("<!-- for authors -->\n", "<p></p>\n");
}

static void links_carry_nofollow(void **state)
{
	(void)state;
	expect("[a](https://example.org/?x=1&y=2)\n",
		"<p><a rel=\"nofollow noopener\" href=\"https://example.org/?x=1&amp;y=2\">a</a></p>\n");
	expect("[a](/queue \"It's \\\"here\\\"\")\n",
		"<p><a rel=\"nofollow noopener\" href=\"/queue\" title=\"It's "
		"&quot;here&quot;\">a</a></p>\n");
	expect("www.example.org\n",
		"<p><a rel=\"nofollow noopener\" "
		"href=\"http://www.example.org\">www.example.org</a></p>\n");
	expect("[*a* `b`](#c)\n",
		"<p><a rel=\"nofollow noopener\" href=\"#c\"><em>a</em> <code>b</code></a></p>\n");
	expect("[a](<b\"onmouseover=\"c>)\n",
		"<p><a rel=\"nofollow noopener\" href=\"b%22onmouseover=%22c\">a</a></p>\n");
}

static void addresses_that_run_code_are_no_links(void **state)
{
	(void)state;
	static const char *const addresses[] = { "javascript:alert(1)", "JaVaScRiPt:alert(1)",
		"vbscript:x", "data:text/html,x", "file:///etc/passwd", "&#106;avascript:alert(1)",
		"javascript&colon;alert(1)", "<java\\script:x>", "x:y" };
	for (size_t i = 0; i < COUNT(addresses); i++) {
		char markdown[128];
		snprintf(markdown, sizeof markdown, "[a](%s)\n", addresses[i]);
		expect_without(markdown, "<a ");
		expect_without(markdown, "href");
		snprintf(markdown, sizeof markdown, "![a](%s)\n", addresses[i]);
		expect_without(markdown, "<a ");
		expect_without(markdown, "<img");
	}
	expect("[a](<java\tscript:alert(1)>)\n", "<p>a</p>\n");
	expect_without("<javascript:alert(1)>\n", "<a ");
}

static void images_become_links(void **state)
{
	(void)state;
	expect("![chart](https://example.org/a.png)\n",
		"<p><a rel=\"nofollow noopener\" href=\"https://example.org/a.png\">chart</a></p>\n");
	expect("![](https://example.org/a.png)\n",
		"<p><a rel=\"nofollow noopener\" href=\"https://example.org/a.png\">image</a></p>\n");
	expect("[![badge](https://example.org/a.png)](https://example.org/)\n",
		"<p><a rel=\"nofollow noopener\" href=\"https://example.org/\">badge</a></p>\n");
	expect(
		"![a ![b](c) [d](e)](f)\n", "<p><a rel=\"nofollow noopener\" href=\"f\">a b d</a></p>\n");
}

static void tables_strikethrough_and_task_lists_work(void **state)
{
	(void)state;
	expect("| a | b |\n|---|--:|\n| 1 | [x](y) |\n",
		"<table tabindex=\"0\">\n<thead>\n<tr>\n<th>a</th>\n<th "
		"class=\"right\">b</th>\n</tr>\n</thead>\n<tbody>\n<tr>\n<td>1</td>\n"
		"<td class=\"right\"><a rel=\"nofollow noopener\" "
		"href=\"y\">x</a></td>\n</tr>\n</tbody>\n</table>\n");
	expect("~~a~~\n", "<p><del>a</del></p>\n");
	expect("- [x] a\n- [ ] b\n",
		"<ul>\n<li><input type=\"checkbox\" checked disabled aria-label=\"done\" /> a</li>\n"
		"<li><input type=\"checkbox\" disabled aria-label=\"not done\" /> b</li>\n</ul>\n");
}

static void code_is_escaped(void **state)
{
	(void)state;
	expect("```py\nif a < b: \"c\"\n```\n",
		"<pre tabindex=\"0\"><code class=\"language-py\">if a &lt; b: "
		"&quot;c&quot;\n</code></pre>\n");
	expect("``` x\"onclick=\"y\n```\n",
		"<pre tabindex=\"0\"><code class=\"language-x&quot;onclick=&quot;y\"></code></pre>\n");
}

static void bytes_that_are_not_text_are_replaced(void **state)
{
	(void)state;
	expect("a\xff"
		   "b\n",
		"<p>a\xef\xbf\xbd"
		"b</p>\n");
}

static void a_text_that_is_too_long_is_shown_unformatted(void **state)
{
	(void)state;
	cleanup_buffer struct buffer text = { 0 }, out = { 0 };
	while (text.length <= markdown_most_bytes)
		buffer_text(&text, "*<b>");
	markdown_render(&out, text.data, text.length, 2);
	assert_memory_equal(out.data, "<pre class=\"log\" tabindex=\"0\">*&lt;b&gt;*", 39);
}

/* Fills `text` with a beginning, a part again and again, and an end. */
static void repeat(
	struct buffer *text, const char *begin, const char *part, size_t times, const char *end)
{
	buffer_clear(text);
	buffer_text(text, begin);
	for (size_t i = 0; i < times; i++)
		buffer_text(text, part);
	buffer_text(text, end);
}

static void expect_size(const struct buffer *text, const char *sentence)
{
	struct error error = { 0 };
	int rc = markdown_check(buffer_string(text), text->length, &error);
	assert_int_equal(rc, *sentence ? ERROR_INPUT : 0);
	assert_string_equal(error.text, sentence);
}

static void a_table_is_counted_before_it_is_parsed(void **state)
{
	(void)state;
	static const char cells[] =
		"line 11: the tables have more than 20000 cells; make them smaller.";
	cleanup_buffer struct buffer text = { 0 }, row = { 0 }, table = { 0 };
	repeat(&row, "|", "-|", 1999, "\n");
	repeat(&table, "", "|a", 1999, "|\n");
	buffer_text(&table, buffer_string(&row));
	repeat(&text, buffer_string(&table), "x\n", 8, "");
	expect_size(&text, "");
	repeat(&text, buffer_string(&table), "x\n", 10, "");
	expect_size(&text, cells);
	/* The lines end in other ways, and the table is in a quote of a list. */
	repeat(&text, buffer_string(&table), "x\r", 10, "");
	expect_size(&text, cells);
	repeat(&text, buffer_string(&table), "x\r\n", 10, "");
	expect_size(&text, cells);
	repeat(&table, "1. > ", "|a", 1999, "|\n   > ");
	buffer_text(&table, buffer_string(&row));
	repeat(&text, buffer_string(&table), "   > x\n", 10, "");
	expect_size(&text, cells);
	/* An empty line ends a table. */
	repeat(&text, buffer_string(&row), "x\n", 100, "");
	assert_int_equal(markdown_check(text.data, text.length, NULL), ERROR_INPUT);
	repeat(&text, buffer_string(&row), "\n\nx", 100, "");
	expect_size(&text, "");
}

static void quotes_lists_links_and_brackets_are_counted(void **state)
{
	(void)state;
	static const char deep[] =
		"line 1: quotes, lists or brackets are nested more than 32 deep; nest them less.";
	static const char *const deep_parts[] = { ">", "> ", "- ", "1. ", "* > ", "[", "![" };
	cleanup_buffer struct buffer text = { 0 }, address = { 0 };
	for (size_t i = 0; i < COUNT(deep_parts); i++) {
		repeat(&text, "", deep_parts[i], 16, "a");
		expect_size(&text, "");
		repeat(&text, "", deep_parts[i], 33, "a");
		expect_size(&text, deep);
	}
	repeat(&text, "", "![", 33, "](a)](a)");
	expect_size(&text, deep);
	repeat(&text, "", "- a\n", 10000, "");
	expect_size(&text, "");
	repeat(&text, "", "- a\n", 10001, "");
	expect_size(
		&text, "line 10001: there are more than 10000 quotes and items of lists; use fewer.");
	repeat(&address, "[a]: /", "x", 60000, "\n\n");
	repeat(&text, buffer_string(&address), "[a]", 10, "");
	expect_size(&text, "");
	repeat(&text, buffer_string(&address), "[a]", 100, "");
	expect_size(&text,
		"line 3: links by reference would repeat more than 4 MiB; use shorter addresses and "
		"titles.");
	/* The definition follows its uses, and its title has many lines. */
	repeat(&address, "[a]", "[a]", 100, "\n\n[a]: b '");
	repeat(&text, buffer_string(&address), "]: x\n", 10000, "'");
	assert_int_equal(markdown_check(text.data, text.length, NULL), ERROR_INPUT);
}

/* A backslash keeps a bracket from closing, so that the count cannot see the depth. */
static void deep_trees_and_long_html_are_shown_unformatted(void **state)
{
	(void)state;
	static const char plain[] = "<pre class=\"log\" tabindex=\"0\">";
	cleanup_buffer struct buffer begin = { 0 }, text = { 0 }, out = { 0 };
	repeat(&begin, "", "![\\]", 9000, "x");
	repeat(&text, buffer_string(&begin), "](a)", 9000, "");
	expect_size(&text, "");
	markdown_render(&out, text.data, text.length, 2);
	assert_memory_equal(out.data, plain, sizeof plain - 1);
	repeat(&text, "[a]: /23456789\n\n", "[a] ", 32000, "");
	buffer_clear(&out);
	expect_size(&text, "");
	markdown_render(&out, text.data, text.length, 2);
	assert_memory_equal(out.data, plain, sizeof plain - 1);
	assert_true(out.length < markdown_most_html_bytes);
}

/* The same text gets the same HTML again, for each level of its headings and after others. */
static void a_text_that_was_shown_before_is_shown_again(void **state)
{
	(void)state;
	for (size_t round = 0; round < 300; round++) {
		cleanup_buffer struct buffer text = { 0 }, out = { 0 }, wanted = { 0 };
		buffer_printf(&text, "# %zu", round % 100);
		int heading = 1 + (int)(round % 3);
		buffer_text(&out, "before ");
		markdown_render(&out, text.data, text.length, heading);
		buffer_printf(&wanted, "before <h%d>%zu</h%d>\n", heading, round % 100, heading);
		assert_string_equal(out.data, wanted.data);
	}
}

static void deep_nesting_is_limited(void **state)
{
	(void)state;
	static const char *const openings[] = { "[", "> ", "*a ", "![", "- ", "`a", "<a ", "|" };
	for (size_t i = 0; i < COUNT(openings); i++) {
		cleanup_buffer struct buffer text = { 0 }, out = { 0 };
		while (text.length < 60000)
			buffer_text(&text, openings[i]);
		markdown_render(&out, text.data, text.length, 2);
		assert_true(out.length > 0);
	}
}

static const char *address_of(void *context, const char *address)
{
	(void)context;
	return strcmp(address, "gone.md") == 0 ? NULL : "/help/x?a&b";
}

static void note_heading(void *context, int level, const char *text, const char *id)
{
	buffer_printf(context, "%d %s %s\n", level, text, id);
}

static bool is_kept(void *context, const char *address)
{
	(void)context;
	return strcmp(address, "kept.md") == 0;
}

/* Renders `markdown` as a page of docs/ and compares the HTML and the headings. */
static void expect_page(const char *markdown, const char *html, const char *headings)
{
	cleanup_buffer struct buffer out = { 0 }, noted = { 0 };
	const struct markdown_page page = { address_of, note_heading, is_kept, &noted };
	markdown_render_page(&out, markdown, strlen(markdown), &page);
	assert_string_equal(buffer_string(&out), html);
	assert_string_equal(buffer_string(&noted), headings);
}

static void a_page_has_ids_at_its_headings_and_no_title(void **state)
{
	(void)state;
	expect_page("# The `title`\n\n## What ± means\n\n### A, b_c & D-e\n",
		"<h2 id=\"what--means\"><a href=\"#what--means\">\nWhat ± means\n</a></h2>\n"
		"<h3 id=\"a-b_c--d-e\"><a href=\"#a-b_c--d-e\">\nA, b_c &amp; D-e\n</a></h3>\n",
		"1 The title the-title\n2 What ± means what--means\n3 A, b_c & D-e a-b_c--d-e\n");
}

static void a_page_has_its_own_addresses_and_no_pictures(void **state)
{
	(void)state;
	expect_page("[a *b*](c.md) [d](gone.md) ![e \"f\"](g.png)\n",
		"<p><a href=\"/help/x?a&amp;b\">a <em>b</em></a> d e &quot;f&quot;</p>\n", "");
	expect_page("<b>a</b>\n", "<p>&lt;b&gt;a&lt;/b&gt;</p>\n", "");
}

static void a_page_leaves_out_items_and_the_headings_of_empty_lists(void **state)
{
	(void)state;
	expect_page("## A\n\n* [b](kept.md): c\n* [d](e.md)\n\n## F\n\n* [g](h.md)\n* i\n",
		"<h2 id=\"a\"><a href=\"#a\">\nA\n</a></h2>\n<ul>\n"
		"<li><a href=\"/help/x?a&amp;b\">b</a>: c</li>\n</ul>\n",
		"2 A a\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(headings_rank_below_the_page_s_own),
		cmocka_unit_test(raw_html_is_shown_as_text),
		cmocka_unit_test(control_characters_are_shown),
		cmocka_unit_test(line_breaks_and_comments_work),
		cmocka_unit_test(links_carry_nofollow),
		cmocka_unit_test(addresses_that_run_code_are_no_links),
		cmocka_unit_test(images_become_links),
		cmocka_unit_test(tables_strikethrough_and_task_lists_work),
		cmocka_unit_test(code_is_escaped),
		cmocka_unit_test(bytes_that_are_not_text_are_replaced),
		cmocka_unit_test(a_text_that_is_too_long_is_shown_unformatted),
		cmocka_unit_test(a_table_is_counted_before_it_is_parsed),
		cmocka_unit_test(quotes_lists_links_and_brackets_are_counted),
		cmocka_unit_test(deep_trees_and_long_html_are_shown_unformatted),
		cmocka_unit_test(a_text_that_was_shown_before_is_shown_again),
		cmocka_unit_test(deep_nesting_is_limited),
		cmocka_unit_test(a_page_has_ids_at_its_headings_and_no_title),
		cmocka_unit_test(a_page_has_its_own_addresses_and_no_pictures),
		cmocka_unit_test(a_page_leaves_out_items_and_the_headings_of_empty_lists),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
