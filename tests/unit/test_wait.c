/* Who starts when: the order of a line, and devices that work it off. */
#include "lib/scope.h"
#include "lib/wait.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { ada = 1, bob, cyd };
#define RUNS(number, user, model, takes, since) \
	{ \
		.id = (number), .user_id = (user), .gpu = (model), .expected_ms = (takes), \
		.running_ms = (since) \
	}
#define WAITS(number, user, model, takes) RUNS(number, user, model, takes, NAN)

static void estimate(struct wait_job *jobs, size_t count, int64_t h200)
{
	cleanup_arena struct arena *arena = arena_new();
	const struct wait_devices devices[] = { { .gpu = "H200", .count = h200 },
		{ .gpu = "CPU", .count = 1 } };
	wait_estimate(arena, jobs, count, devices, COUNT(devices));
}

static void expect(const struct wait_job *job, int64_t position, double start_ms)
{
	assert_int_equal(job->position, position);
	if (isnan(start_ms))
		assert_true(isnan(job->start_ms));
	else
		assert_true(job->start_ms == start_ms);
}

static void an_idle_device_takes_the_first_at_once_and_the_next_behind_it(void **state)
{
	(void)state;
	struct wait_job jobs[] = { WAITS(1, ada, "H200", 4000), WAITS(2, bob, "H200", 6000),
		WAITS(3, cyd, "H200", 1000) };
	estimate(jobs, COUNT(jobs), 1);
	expect(&jobs[0], 1, 0);
	expect(&jobs[1], 2, 4000);
	expect(&jobs[2], 3, 10000);
}

static void what_runs_has_its_rest_to_go_and_what_is_late_as_much_again(void **state)
{
	(void)state;
	struct wait_job jobs[] = { RUNS(1, ada, "H200", 5000, 2000), WAITS(2, bob, "H200", 1000) };
	estimate(jobs, COUNT(jobs), 1);
	expect(&jobs[0], 0, NAN);
	expect(&jobs[1], 1, 3000);
	jobs[0].running_ms = 5000;
	estimate(jobs, COUNT(jobs), 1);
	expect(&jobs[1], 1, 0);
	jobs[0].running_ms = 9000;
	estimate(jobs, COUNT(jobs), 1);
	expect(&jobs[1], 1, 4000);
}

static void devices_share_the_line_and_each_model_has_its_own(void **state)
{
	(void)state;
	struct wait_job jobs[] = {
		RUNS(1, ada, "H200", 9000, 0),
		WAITS(2, bob, "H200", 2000),
		WAITS(3, cyd, "H200", 2000),
		WAITS(4, bob, "CPU", 1000),
		WAITS(5, cyd, "CPU", 1000),
	};
	estimate(jobs, COUNT(jobs), 2);
	expect(&jobs[1], 1, 0);
	expect(&jobs[2], 2, 2000);
	expect(&jobs[3], 1, 0);
	expect(&jobs[4], 2, 1000);
}

static void users_take_turns_and_those_who_have_something_running_come_later(void **state)
{
	(void)state;
	struct wait_job jobs[] = {
		RUNS(1, ada, "CPU", 1000, 0),
		WAITS(2, ada, "H200", 1000),
		WAITS(3, bob, "H200", 1000),
		WAITS(4, bob, "H200", 1000),
		WAITS(5, cyd, "H200", 1000),
		WAITS(6, cyd, "H200", 1000),
	};
	static const int64_t positions[] = { 0, 3, 1, 4, 2, 5 };
	estimate(jobs, COUNT(jobs), 1);
	for (size_t i = 0; i < COUNT(jobs); i++)
		assert_int_equal(jobs[i].position, positions[i]);
}

static void a_lower_priority_number_comes_first_whosever_it_is(void **state)
{
	(void)state;
	struct wait_job jobs[] = { WAITS(1, 0, "H200", 1000), WAITS(2, ada, "H200", 1000),
		WAITS(3, ada, "H200", 1000) };
	jobs[0].priority = 1;
	estimate(jobs, COUNT(jobs), 1);
	expect(&jobs[0], 3, 2000);
	expect(&jobs[2], 2, 1000);
}

static void behind_a_job_of_unknown_length_only_another_device_helps(void **state)
{
	(void)state;
	struct wait_job jobs[] = { WAITS(1, ada, "H200", NAN), WAITS(2, bob, "H200", 3000),
		WAITS(3, cyd, "H200", 1000) };
	estimate(jobs, COUNT(jobs), 1);
	expect(&jobs[0], 1, 0);
	expect(&jobs[1], 2, NAN);
	expect(&jobs[2], 3, NAN);
	estimate(jobs, COUNT(jobs), 2);
	expect(&jobs[1], 2, 0);
	expect(&jobs[2], 3, 3000);
}

static void without_a_device_there_is_a_place_but_no_start(void **state)
{
	(void)state;
	struct wait_job jobs[] = { RUNS(1, ada, "H200", 100, 0), WAITS(2, ada, "H200", 1000),
		WAITS(3, bob, "A100", 1000) };
	estimate(jobs, COUNT(jobs), 0);
	expect(&jobs[1], 1, NAN);
	expect(&jobs[2], 1, NAN);
}

static void times_are_said_as_coarsely_as_they_are_known(void **state)
{
	(void)state;
	static const struct {
		double ms;
		const char *words;
	} cases[] = {
		{ 0, "at any moment" },
		{ 5000, "at any moment" },
		{ 5001, "in about 10 s" },
		{ 41000, "in about 50 s" },
		{ 50001, "in about 1 min" },
		{ 60001, "in about 2 min" },
		{ 59 * 60000.0, "in about 59 min" },
		{ 59 * 60000.0 + 1, "in about 1 h" },
		{ 61 * 60000.0, "in about 1 h 10 min" },
		{ 24 * 3600000.0, "in about 24 h" },
		{ 24 * 3600000.0 + 1, "in more than a day" },
	};
	cleanup_arena struct arena *arena = arena_new();
	for (size_t i = 0; i < COUNT(cases); i++)
		assert_string_equal(wait_words(arena, cases[i].ms), cases[i].words);
	assert_null(wait_words(arena, NAN));
}

static void the_median_of_a_list_is_its_middle(void **state)
{
	(void)state;
	assert_int_equal(wait_median_ms("4210"), 4210);
	assert_int_equal(wait_median_ms("900,100,200"), 200);
	assert_int_equal(wait_median_ms("400,100,200,301"), 251);
	assert_int_equal(wait_median_ms(""), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_idle_device_takes_the_first_at_once_and_the_next_behind_it),
		cmocka_unit_test(what_runs_has_its_rest_to_go_and_what_is_late_as_much_again),
		cmocka_unit_test(devices_share_the_line_and_each_model_has_its_own),
		cmocka_unit_test(users_take_turns_and_those_who_have_something_running_come_later),
		cmocka_unit_test(a_lower_priority_number_comes_first_whosever_it_is),
		cmocka_unit_test(behind_a_job_of_unknown_length_only_another_device_helps),
		cmocka_unit_test(without_a_device_there_is_a_place_but_no_start),
		cmocka_unit_test(times_are_said_as_coarsely_as_they_are_known),
		cmocka_unit_test(the_median_of_a_list_is_its_middle),
	};
	return cmocka_run_group_tests_name("wait", tests, NULL, NULL);
}
