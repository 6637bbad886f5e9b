/* The parts of the pages around rankings that need no database: ties, grouping, order. */
#include "cgi/page/history.h"
#include "cgi/page/home.h"
#include "cgi/page/job_words.h"
#include "cgi/page/leaderboard.h"
#include "lib/base/buffer.h"
#include "lib/base/scope.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum {
	now = 1000000,
	later = 2000000,
	much_later = 3000000,
	earlier = 500000,
	much_earlier = 100000
};

/* ---- a viewer's submissions ---- */

static void the_jobs_of_a_submission_are_grouped(void **state)
{
	(void)state;
	cleanup_arena struct arena *arena = arena_new();
	const struct history_job rows[] = {
		{ .submission_id = 9, .gpu = "A100" },
		{ .submission_id = 9, .gpu = "H200" },
		{ .submission_id = 7 },
		{ .submission_id = 3, .gpu = "CPU" },
	};
	struct history_submission *submissions;
	assert_int_equal(history_group(arena, rows, COUNT(rows), &submissions), 3);
	assert_int_equal(submissions[0].job_count, 2);
	assert_ptr_equal(submissions[0].jobs, &rows[0]);
	assert_int_equal(submissions[1].job_count, 1);
	assert_ptr_equal(submissions[2].jobs, &rows[3]);
	assert_int_equal(history_group(arena, NULL, 0, &submissions), 0);
}

/* ---- the front page ---- */

static struct home_row board(const char *name, int64_t deadline_ms, bool accepting)
{
	return (struct home_row){ .name = name,
		.language = "py",
		.deadline_ms = deadline_ms,
		.accepting = accepting,
		.active_at_ms = TIME_NULL,
		.own_place = SQL_NULL_INTEGER,
		.entries = SQL_NULL_INTEGER };
}

static struct home_row used(const char *name, int64_t active_at_ms)
{
	struct home_row row = board(name, TIME_NULL, true);
	row.active_at_ms = active_at_ms;
	return row;
}

static struct home_row device(const char *name, const char *gpu, const char *holder, int64_t at_ms)
{
	struct home_row row = board(name, TIME_NULL, true);
	row.gpu = gpu;
	row.engine = strcmp(gpu, "CPU") == 0 ? "isolated" : "sealed";
	row.holder = holder;
	row.record_at_ms = at_ms;
	return row;
}

static struct home_row practised(const char *name, int64_t deadline_ms, bool accepting)
{
	struct home_row row = board(name, deadline_ms, accepting);
	row.practice = 1;
	return row;
}

static struct home_view make_view(struct arena *arena, const struct home_row *rows, size_t count)
{
	const struct home_site site = { .offered = "B200,H200" };
	return home_view_make(arena, rows, count, &site, now);
}

static void expect_section(const struct home_section *section, const char *names)
{
	cleanup_buffer struct buffer found = { 0 };
	for (size_t i = 0; i < section->count; i++)
		buffer_printf(&found, "%s ", section->leaderboards[i].name);
	assert_string_equal(buffer_string(&found), names);
}

static void the_newest_submission_decides_and_ended_leaderboards_come_by_their_end(void **state)
{
	(void)state;
	cleanup_arena struct arena *arena = arena_new();
	const struct home_row rows[] = {
		board("Unused2", TIME_NULL, true),
		board("closed", TIME_NULL, false),
		board("long-ago", much_earlier, true),
		board("past", earlier, false),
		board("paused", later, false),
		practised("practice", earlier, true),
		practised("practice-closed", earlier, false),
		practised("practice-yet-to-come", much_later, true),
		board("unused", later, true),
		used("used", earlier),
		used("used-before", much_earlier),
	};
	struct home_view view = make_view(arena, rows, COUNT(rows));
	expect_section(
		&view.sections[HOME_ACTIVE], "used used-before practice-yet-to-come unused Unused2 ");
	expect_section(&view.sections[HOME_PRACTICE], "practice ");
	expect_section(&view.sections[HOME_ENDED], "paused past practice-closed long-ago closed ");
	assert_int_equal(view.count, COUNT(rows));
	assert_true(view.takes);
	assert_string_equal(view.sections[HOME_PRACTICE].leaderboards[0].state, "practice");
	assert_string_equal(view.sections[HOME_ENDED].leaderboards[0].state, "closed");
	assert_string_equal(view.sections[HOME_ENDED].leaderboards[1].state, "ended");
}

static void devices_keep_their_order_and_a_board_waits_without_a_worker(void **state)
{
	(void)state;
	cleanup_arena struct arena *arena = arena_new();
	const struct home_row rows[] = {
		device("a", "H200", "ada", earlier),
		device("a", "CPU", "bob", much_earlier),
		device("b", "H20", NULL, TIME_NULL),
		device("c", "CPU", "cyd", later),
		board("d", TIME_NULL, true),
	};
	struct home_view view = make_view(arena, rows, COUNT(rows));
	const struct home_leaderboard *active = view.sections[HOME_ACTIVE].leaderboards;
	assert_int_equal(view.sections[HOME_ACTIVE].count, 4);
	assert_string_equal(active[0].name, "c"); /* a newer record than that of a */
	assert_true(active[0].waits);
	assert_int_equal(active[1].gpu_count, 2);
	assert_string_equal(active[1].gpus[0].gpu, "H200");
	assert_string_equal(active[1].gpus[1].gpu, "CPU");
	assert_false(active[1].waits);
	assert_true(active[2].waits); /* H20 is not H200 */
	assert_int_equal(active[3].gpu_count, 0);
	assert_false(active[3].waits);
	assert_ptr_equal(view.newest, &active[0]);
	assert_string_equal(view.newest_gpu->holder, "cyd");
}

static void the_filter_keeps_devices_and_finds_words(void **state)
{
	(void)state;
	cleanup_arena struct arena *arena = arena_new();
	const struct {
		struct home_filter filter;
		const char *kept;
	} cases[] = {
		{ { "", "", "" }, "a a b c " },
		{ { "", "H200", "" }, "a b " },
		{ { "", "CPU", "sealed" }, "" },
		{ { "", "", "isolated" }, "a " },
		{ { "PRODUCT of", "", "" }, "b " },
		{ { "C", "", "" }, "b c " },
	};
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct home_row rows[] = {
			device("a", "H200", NULL, TIME_NULL),
			device("a", "CPU", NULL, TIME_NULL),
			device("b", "H200", NULL, TIME_NULL),
			board("c", TIME_NULL, true),
		};
		rows[2].description = "The *product* of two matrices.";
		cleanup_buffer struct buffer kept = { 0 };
		size_t count = home_rows_filter(arena, rows, COUNT(rows), &cases[i].filter);
		for (size_t r = 0; r < count; r++)
			buffer_printf(&kept, "%s ", rows[r].name);
		assert_string_equal(buffer_string(&kept), cases[i].kept);
	}
}

static void a_summary_is_the_first_sentence_without_marks(void **state)
{
	(void)state;
	cleanup_arena struct arena *arena = arena_new();
	const struct {
		const char *markdown, *summary;
	} cases[] = {
		{ NULL, "" },
		{ "", "" },
		{ "# Title\n\nAdd *two* `vectors`. Quickly.", "Add two vectors." },
		{ "Multiply\nmatrices, as [here](https://x.example/a_b) said\n\nMore",
			"Multiply matrices, as here said" },
		{ "| a | b |\n|---|---|\n\nText", "Text" },
	};
	for (size_t i = 0; i < COUNT(cases); i++)
		assert_string_equal(home_summary(arena, cases[i].markdown), cases[i].summary);
	char words[400] = "";
	for (size_t i = 0; i < 60; i++)
		strcat(words, "wörd ");
	const char *cut = home_summary(arena, words);
	assert_in_range(strlen(cut), 120, 145);
	assert_string_equal(cut + strlen(cut) - strlen("wörd…"), "wörd…");
	char unbroken[400] = "";
	for (size_t i = 0; i < 190; i++)
		strcat(unbroken, "ö");
	assert_in_range(strlen(home_summary(arena, unbroken)), 130, 145);
}

static void without_leaderboards_there_is_nothing_to_show(void **state)
{
	(void)state;
	cleanup_arena struct arena *arena = arena_new();
	struct home_view view = make_view(arena, NULL, 0);
	assert_int_equal(view.count, 0);
	assert_false(view.takes);
}

static void a_job_has_a_step(void **state)
{
	(void)state;
	const struct {
		const char *state, *progress;
		int step;
	} cases[] = {
		{ "queued", "", STEP_QUEUE },
		{ "queued", "test 3/12", STEP_QUEUE }, /* its worker was lost */
		{ "running", NULL, STEP_COMPILE },
		{ "running", "", STEP_COMPILE },
		{ "running", "compile", STEP_COMPILE },
		{ "running", "test 4/12", STEP_TEST },
		{ "running", "benchmark 1/5", STEP_TIME },
		{ "running", "timing 2/5", STEP_TIME },
	};
	for (size_t i = 0; i < COUNT(cases); i++) {
		const struct job_row job = { .state = cases[i].state, .progress = cases[i].progress };
		assert_int_equal(job_step(&job), cases[i].step);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_jobs_of_a_submission_are_grouped),
		cmocka_unit_test(the_newest_submission_decides_and_ended_leaderboards_come_by_their_end),
		cmocka_unit_test(devices_keep_their_order_and_a_board_waits_without_a_worker),
		cmocka_unit_test(the_filter_keeps_devices_and_finds_words),
		cmocka_unit_test(a_summary_is_the_first_sentence_without_marks),
		cmocka_unit_test(a_job_has_a_step),
		cmocka_unit_test(without_leaderboards_there_is_nothing_to_show),
	};
	return cmocka_run_group_tests_name("boards", tests, NULL, NULL);
}
