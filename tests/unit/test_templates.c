/* Lists every place where a template prints without escaping, with the reason why that is safe.
 * Review a new place before you add it to the list. */
#include "lib/base/buffer.h"
#include "lib/base/scope.h"

#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

struct raw_use {
	const char *file, *expression;
};

static const struct raw_use ALLOWED[] = {
	/* markdown_render (cgi/render/markdown.c) made this HTML; test_markdown.c covers hostile input.
	 */
	{ "contest.html", "view->rules_html" },
	/* question_html (cgi/page/questions.c) calls markdown_render. */
	{ "contest.html", "view->news[i].question_html" },
	{ "contest.html", "view->news[i].html" },
	{ "questions.html", "question_html(view->arena, one->text)" },
	{ "questions.html", "question_html(view->arena, one->answer)" },
	{ "task.html", "task->view->description_html" },
	{ "admin_leaderboard.html", "preview->description_html" },
	{ "task_edit.html", "preview->description_html" },
	/* A page of docs/, which is ours. cgi/page/help.c escapes what it puts into the page. */
	{ "help.html", "view->html" },
	{ "help.html", "view->start" },
	/* The template trend_part printed this HTML, with escaping; cgi/page/leaderboard_trend.c caches
	 * it. */
	{ "leaderboard_charts.html", "view->charts_html" },
};

struct uses {
	struct raw_use list[64];
	char names[64][128];
	size_t count;
};

static bool is_space(char byte)
{
	return byte && strchr(" \t\r\n", byte);
}

/* Notes `EXPRESSION` if the command from `begin` to `end` is `raw EXPRESSION`, as
 * templates/compile.c reads it. */
static void look_at_command(struct uses *uses, const char *file, const char *begin, const char *end)
{
	while (begin < end && is_space(*begin))
		begin++;
	if (end - begin < 4 || strncmp(begin, "raw", 3) != 0 || !is_space(begin[3]))
		return;
	for (begin += 3; begin < end && is_space(*begin);)
		begin++;
	while (end > begin && is_space(end[-1]))
		end--;
	assert_true(uses->count < COUNT(uses->list));
	char *name = uses->names[uses->count];
	snprintf(name, sizeof uses->names[0], "%.*s", (int)(end - begin), begin);
	uses->list[uses->count++] = (struct raw_use){ file, name };
}

static void find_uses(struct uses *uses, const char *file, const char *text)
{
	for (const char *at = text; (at = strstr(at, "{{"));) {
		const char *end = strstr(at, "}}");
		assert_non_null(end);
		look_at_command(uses, file, at + 2, end);
		at = end + 2;
	}
}

static void read_whole(struct buffer *text, const char *path)
{
	char bytes[4096];
	cleanup_file FILE *file = fopen(path, "r");
	assert_non_null(file);
	for (size_t got; (got = fread(bytes, 1, sizeof bytes, file)) > 0;)
		buffer_append(text, bytes, got);
}

/* `files` owns the names that `uses` points to. */
static void find_all_uses(struct uses *uses, glob_t *files)
{
	assert_int_equal(glob("templates/*.html", 0, NULL, files), 0);
	for (size_t i = 0; i < files->gl_pathc; i++) {
		cleanup_buffer struct buffer text = { 0 };
		read_whole(&text, files->gl_pathv[i]);
		assert_true(text.length > 0);
		find_uses(uses, strrchr(files->gl_pathv[i], '/') + 1, text.data);
	}
}

static bool is_in(const struct raw_use *list, size_t count, const struct raw_use *use)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(list[i].file, use->file) == 0
			&& strcmp(list[i].expression, use->expression) == 0)
			return true;
	return false;
}

static void every_raw_use_is_listed(void **state)
{
	(void)state;
	struct uses uses = { 0 };
	glob_t files;
	find_all_uses(&uses, &files);
	for (size_t i = 0; i < uses.count; i++)
		if (!is_in(ALLOWED, COUNT(ALLOWED), &uses.list[i]))
			fail_msg("templates/%s prints {{raw %s}}, which is not in the list: escape it, or say "
					 "here why it is safe",
				uses.list[i].file, uses.list[i].expression);
	globfree(&files);
}

static void every_listed_use_exists(void **state)
{
	(void)state;
	struct uses uses = { 0 };
	glob_t files;
	find_all_uses(&uses, &files);
	for (size_t i = 0; i < COUNT(ALLOWED); i++)
		if (!is_in(uses.list, uses.count, &ALLOWED[i]))
			fail_msg("templates/%s does not print {{raw %s}}: take it off the list",
				ALLOWED[i].file, ALLOWED[i].expression);
	globfree(&files);
}

static void a_raw_use_is_found_in_any_spelling(void **state)
{
	(void)state;
	struct uses uses = { 0 };
	find_uses(&uses, "x.html", "{{raw a}} {{ raw  b->c }}\n{{raw\td(e)}}<p>{{\nraw\nf\n}}</p>");
	assert_int_equal(uses.count, 4);
	static const char *const found[] = { "a", "b->c", "d(e)", "f" };
	for (size_t i = 0; i < COUNT(found); i++)
		assert_string_equal(uses.list[i].expression, found[i]);
}

static void text_that_only_looks_like_a_raw_use_is_ignored(void **state)
{
	(void)state;
	struct uses uses = { 0 };
	find_uses(&uses, "x.html", "{{# raw a }}{{rawest}}{{raw->x}}{{x | raw}} raw {{if raw}}{{end}}");
	assert_int_equal(uses.count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_raw_use_is_listed),
		cmocka_unit_test(every_listed_use_exists),
		cmocka_unit_test(a_raw_use_is_found_in_any_spelling),
		cmocka_unit_test(text_that_only_looks_like_a_raw_use_is_ignored),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
