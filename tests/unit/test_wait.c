/* The order of a queue, and the estimated starts of its jobs on the devices. */
#include "lib/base/scope.h"
#include "lib/job/wait.h"

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

static void assert_wait(const struct wait_job *job, int64_t position, double start_ms)
{
	assert_int_equal(job->position, position);
	if (isnan(start_ms))
		assert_true(isnan(job->start_ms));
	else
		assert_true(job->start_ms == start_ms);
}

static void an_idle_device_starts_the_first_job_now_and_the_next_one_after_it(void **state)
{
	(void)state;
	struct wait_job jobs[] = { WAITS(1, ada, "H200", 4000), WAITS(2, bob, "H200", 6000),
		WAITS(3, cyd, "H200", 1000) };
	estimate(jobs, COUNT(jobs), 1);
	assert_wait(&jobs[0], 1, 0);
	assert_wait(&jobs[1], 2, 4000);
	assert_wait(&jobs[2], 3, 10000);
}

static void a_running_job_takes_its_remaining_time_and_a_late_job_its_delay_again(void **state)
{
	(void)state;
	struct wait_job jobs[] = { RUNS(1, ada, "H200", 5000, 2000), WAITS(2, bob, "H200", 1000) };
	estimate(jobs, COUNT(jobs), 1);
	assert_wait(&jobs[0], 0, NAN);
	assert_wait(&jobs[1], 1, 3000);
	jobs[0].running_ms = 5000;
	estimate(jobs, COUNT(jobs), 1);
	assert_wait(&jobs[1], 1, 0);
	jobs[0].running_ms = 9000;
	estimate(jobs, COUNT(jobs), 1);
	assert_wait(&jobs[1], 1, 4000);
}

static void devices_of_a_model_share_a_queue(void **state)
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
	assert_wait(&jobs[1], 1, 0);
	assert_wait(&jobs[2], 2, 2000);
	assert_wait(&jobs[3], 1, 0);
	assert_wait(&jobs[4], 2, 1000);
}

static void users_take_turns_and_users_with_running_jobs_come_later(void **state)
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

static void a_lower_priority_number_comes_first_for_every_user(void **state)
{
	(void)state;
	struct wait_job jobs[] = { WAITS(1, 0, "H200", 1000), WAITS(2, ada, "H200", 1000),
		WAITS(3, ada, "H200", 1000) };
	jobs[0].priority = 1;
	estimate(jobs, COUNT(jobs), 1);
	assert_wait(&jobs[0], 3, 2000);
	assert_wait(&jobs[2], 2, 1000);
}

static void a_job_of_unknown_length_blocks_its_device(void **state)
{
	(void)state;
	struct wait_job jobs[] = { WAITS(1, ada, "H200", NAN), WAITS(2, bob, "H200", 3000),
		WAITS(3, cyd, "H200", 1000) };
	estimate(jobs, COUNT(jobs), 1);
	assert_wait(&jobs[0], 1, 0);
	assert_wait(&jobs[1], 2, NAN);
	assert_wait(&jobs[2], 3, NAN);
	estimate(jobs, COUNT(jobs), 2);
	assert_wait(&jobs[1], 2, 0);
	assert_wait(&jobs[2], 3, 3000);
}

static void without_a_device_a_job_has_a_position_but_no_start(void **state)
{
	(void)state;
	struct wait_job jobs[] = { RUNS(1, ada, "H200", 100, 0), WAITS(2, ada, "H200", 1000),
		WAITS(3, bob, "A100", 1000) };
	estimate(jobs, COUNT(jobs), 0);
	assert_wait(&jobs[1], 1, NAN);
	assert_wait(&jobs[2], 1, NAN);
}

static void waiting_times_are_rounded_coarsely(void **state)
{
	(void)state;
	static const struct {
		double ms;
		const char *words;
	} cases[] = {
		{ 0, "at once" },
		{ 5000, "at once" },
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

static void the_median_is_the_middle_of_the_list(void **state)
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
		cmocka_unit_test(an_idle_device_starts_the_first_job_now_and_the_next_one_after_it),
		cmocka_unit_test(a_running_job_takes_its_remaining_time_and_a_late_job_its_delay_again),
		cmocka_unit_test(devices_of_a_model_share_a_queue),
		cmocka_unit_test(users_take_turns_and_users_with_running_jobs_come_later),
		cmocka_unit_test(a_lower_priority_number_comes_first_for_every_user),
		cmocka_unit_test(a_job_of_unknown_length_blocks_its_device),
		cmocka_unit_test(without_a_device_a_job_has_a_position_but_no_start),
		cmocka_unit_test(waiting_times_are_rounded_coarsely),
		cmocka_unit_test(the_median_is_the_middle_of_the_list),
	};
	return cmocka_run_group_tests_name("wait", tests, NULL, NULL);
}
