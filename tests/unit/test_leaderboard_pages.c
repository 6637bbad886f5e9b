/* The parts of the pages around rankings that need no database: ties, grouping, order. */
#include "cgi/page/history.h"
#include "cgi/page/home.h"
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
		.entries = SQL_NULL_INTEGER };
}

static struct home_row place(const char *name, const char *gpu, int64_t number, const char *user)
{
	struct home_row row = board(name, TIME_NULL, true);
	row.gpu = gpu;
	row.place = number;
	row.user = user;
	row.entries = number == 1 ? 40 : SQL_NULL_INTEGER;
	return row;
}

static struct home_row practised(const char *name, int64_t deadline_ms, bool accepting)
{
	struct home_row row = board(name, deadline_ms, accepting);
	row.practice = 1;
	return row;
}

static void expect_section(const struct home_section *section, const char *names)
{
	cleanup_buffer struct buffer found = { 0 };
	for (size_t i = 0; i < section->count; i++)
		buffer_printf(&found, "%s ", section->leaderboards[i].name);
	assert_string_equal(buffer_string(&found), names);
}

static void active_leaderboards_come_first_by_deadline_and_ended_ones_by_their_end(void **state)
{
	(void)state;
	cleanup_arena struct arena *arena = arena_new();
	const struct home_row rows[] = {
		board("closed", TIME_NULL, false),
		board("endless", TIME_NULL, true),
		board("Endless2", TIME_NULL, true),
		board("long-ago", much_earlier, true),
		board("much-later", much_later, true),
		board("past", earlier, false),
		board("paused", later, false),
		practised("practice", earlier, true),
		practised("practice-closed", earlier, false),
		practised("practice-long-ago", much_earlier, true),
		practised("practice-yet-to-come", much_later, true),
		board("soon", later, true),
	};
	struct home_view view = home_view_make(arena, rows, COUNT(rows), now);
	expect_section(
		&view.sections[HOME_ACTIVE], "soon much-later practice-yet-to-come endless Endless2 ");
	expect_section(&view.sections[HOME_PRACTICE], "practice practice-long-ago ");
	expect_section(&view.sections[HOME_ENDED], "paused past practice-closed long-ago closed ");
	assert_int_equal(view.count, COUNT(rows));
	assert_true(view.takes);
	assert_string_equal(view.sections[HOME_PRACTICE].leaderboards[0].state, "practice");
	assert_string_equal(view.sections[HOME_ENDED].leaderboards[0].state, "closed");
	assert_string_equal(view.sections[HOME_ENDED].leaderboards[1].state, "ended");
}

static void devices_keep_their_order_and_their_first_places(void **state)
{
	(void)state;
	cleanup_arena struct arena *arena = arena_new();
	const struct home_row rows[] = {
		place("a", "H200", 1, "ada"),
		place("a", "H200", 1, "bob"),
		place("a", "H200", 3, "cyd"),
		place("a", "CPU", 1, "bob"),
		place("a", "CPU", 0, NULL),
		place("a", "CPU", 0, NULL),
		place("b", "H200", 0, NULL),
		place("b", "H200", 0, NULL),
		place("b", "H200", 0, NULL),
		board("c", TIME_NULL, true),
	};
	struct home_view view = home_view_make(arena, rows, COUNT(rows), now);
	assert_int_equal(view.sections[HOME_ACTIVE].count, 3);
	const struct home_leaderboard *a = &view.sections[HOME_ACTIVE].leaderboards[0];
	assert_int_equal(a->gpu_count, 2);
	assert_string_equal(a->gpus[0].name, "H200");
	assert_int_equal(a->gpus[0].top_count, 3);
	assert_int_equal(a->gpus[0].entries, 40);
	assert_string_equal(a->gpus[0].top[2].user, "cyd");
	assert_int_equal(a->gpus[0].top[2].place, 3);
	assert_string_equal(a->gpus[1].name, "CPU");
	assert_int_equal(a->gpus[1].top_count, 1);
	assert_int_equal(view.sections[HOME_ACTIVE].leaderboards[1].gpu_count, 1);
	assert_int_equal(view.sections[HOME_ACTIVE].leaderboards[1].gpus[0].top_count, 0);
	assert_int_equal(view.sections[HOME_ACTIVE].leaderboards[2].gpu_count, 0);
}

static void without_leaderboards_there_is_nothing_to_show(void **state)
{
	(void)state;
	cleanup_arena struct arena *arena = arena_new();
	struct home_view view = home_view_make(arena, NULL, 0, now);
	assert_int_equal(view.count, 0);
	assert_false(view.takes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_jobs_of_a_submission_are_grouped),
		cmocka_unit_test(active_leaderboards_come_first_by_deadline_and_ended_ones_by_their_end),
		cmocka_unit_test(devices_keep_their_order_and_their_first_places),
		cmocka_unit_test(without_leaderboards_there_is_nothing_to_show),
	};
	return cmocka_run_group_tests_name("boards", tests, NULL, NULL);
}
