/* How long queued jobs will wait, estimated from the data in a real MariaDB, which library.test
 * starts. */
#include "tests/integration/library/fixture.h"

#include "lib/intake/submission.h"
#include "lib/job/wait.h"

#include <math.h>

static const char *h200[] = { "H200" };
static struct leaderboard board;
static int64_t ada, bob;

static void script(const char *sql)
{
	assert_done(database_script(db, sql, &error));
}

/* Creates a leaderboard for H200, and a worker with one H200 that takes jobs. */
static int begin(void **state)
{
	if (fixture_open(state))
		return -1;
	ada = make_user("wait-ada");
	bob = make_user("wait-bob");
	const struct actor actor = { ada, "wait-ada", "" };
	struct material material = make_task(PY_TASK, "# reference\n");
	struct leaderboard_settings settings = { .unchecked = true,
		.name = "wait",
		.deadline_ms = TIME_NULL,
		.accepting = true,
		.gpus = h200,
		.gpu_count = 1 };
	assert_done(create(&settings, &material, &actor));
	board = find("wait");
	script("INSERT INTO workers (name, version, host, started_at, seen_at) "
		   "VALUES ('wait', '0', '{}', UTC_TIMESTAMP(3), UTC_TIMESTAMP(3)); "
		   "INSERT INTO gpus (worker_id, uuid, model, product, memory_bytes, driver, "
		   "compute_capability, seen_at) "
		   "SELECT id, 'GPU-wait', 'H200', 'H200', 1, '', '', UTC_TIMESTAMP(3) FROM workers "
		   "WHERE name = 'wait'");
	return 0;
}

static int end(void **state)
{
	const struct actor actor = { ada, "wait-ada", "" };
	if (leaderboard_delete(db, &board, &actor, &error)
		|| database_script(db,
			"DELETE FROM workers WHERE name = 'wait'; "
			"DELETE FROM users WHERE name LIKE 'wait-%'",
			&error))
		return -1;
	return fixture_close(state);
}

static int64_t submit(int64_t user, const char *mode)
{
	static const struct statement job = NUMBER("SELECT MAX(id) AS number FROM jobs");
	static const char source[] = "def custom_kernel(data):\n    return data\n";
	const struct submission_request request = { .user_id = user,
		.file_name = "kernel.py",
		.source = source,
		.length = sizeof source - 1,
		.mode = mode };
	assert_done(submission_create(db, arena, &board, &request, NULL, &error));
	return number_of(&job);
}

/* Makes a job that ran for `took_ms` and has finished, and stores its duration for estimates. */
static void run(int64_t user, const char *mode, int64_t took_ms)
{
	static const struct statement finish =
		COMMAND("UPDATE jobs SET state = 'done', "
				"started_at = UTC_TIMESTAMP(3) - INTERVAL ? * 1000 MICROSECOND, "
				"finished_at = UTC_TIMESTAMP(3) WHERE id = ?");
	int64_t job = submit(user, mode);
	assert_done(database_execute(db, &finish, &error, "ii", took_ms, job));
	assert_done(wait_keep(db, arena, job, &error));
}

static struct wait wait_for(int64_t job)
{
	struct wait wait;
	assert_done(wait_of_job(db, arena, job, &wait, &error));
	return wait;
}

static struct wait next_of(int64_t user)
{
	struct wait wait;
	struct database_answer answer;
	assert_done(database_rows(db, arena, &wait_reading, &answer.rows, &answer.count, &error, "ii",
		(int64_t)0, (int64_t)0));
	wait_of_next(arena, &answer, user, h200, 1, &wait);
	return wait;
}

/* ---- the stored durations ---- */

static const struct statement MEDIAN =
	NUMBER("SELECT median_ms AS number FROM job_times WHERE mode = 'benchmark'");
static const struct statement KINDS = NUMBER("SELECT COUNT(*) AS number FROM job_times");

static void the_median_follows_the_last_jobs_of_a_kind(void **state)
{
	(void)state;
	run(ada, "benchmark", 100);
	assert_in_range(number_of(&MEDIAN), 100, 102);
	for (int i = 0; i < 31; i++)
		run(ada, "benchmark", 60000);
	assert_in_range(number_of(&MEDIAN), 60000, 60002);
	for (int i = 0; i < 16; i++)
		run(bob, "benchmark", 19500);
	assert_in_range(number_of(&MEDIAN), 19500, 19502);
	assert_int_equal(number_of(&KINDS), 1);
	static const struct statement length = NUMBER(
		"SELECT LENGTH(recent) - LENGTH(REPLACE(recent, ',', '')) + 1 AS number FROM job_times");
	assert_int_equal(number_of(&length), 31);
}

static void a_job_that_never_began_leaves_nothing(void **state)
{
	(void)state;
	int64_t job = submit(ada, "profile"), before = number_of(&KINDS);
	script("UPDATE jobs SET state = 'done', finished_at = UTC_TIMESTAMP(3) WHERE state = 'queued'");
	assert_done(wait_keep(db, arena, job, &error));
	assert_int_equal(number_of(&KINDS), before);
}

/* ---- the estimates ---- */

static void a_job_starts_when_those_before_it_have_ended(void **state)
{
	(void)state;
	int64_t first = submit(ada, "benchmark"), second = submit(ada, "benchmark");
	assert_int_equal(wait_for(first).position, 1);
	assert_true(wait_for(first).start_ms == 0);
	assert_int_equal(wait_for(second).position, 2);
	assert_in_range((int64_t)wait_for(second).start_ms, 19500, 19502);
	assert_string_equal(wait_for(second).words, "in about 20 s");
	assert_int_equal(wait_for(second).devices, 1);
	assert_false(wait_for(second).at_least);
	assert_int_equal(next_of(ada).position, 3);
	assert_in_range((int64_t)next_of(ada).start_ms, 39000, 39004);
	assert_int_equal(next_of(bob).position, 2); /* users take turns: bob follows ada's first job */
}

static void what_runs_or_has_ended_does_not_wait(void **state)
{
	(void)state;
	script("UPDATE jobs SET state = 'running', "
		   "started_at = UTC_TIMESTAMP(3) - INTERVAL 5 SECOND WHERE state = 'queued' "
		   "ORDER BY id LIMIT 1");
	static const struct statement runs =
		NUMBER("SELECT id AS number FROM jobs WHERE state = 'running'");
	int64_t running = number_of(&runs);
	assert_int_equal(wait_for(running).position, 0);
	assert_null(wait_for(running).words);
	assert_int_equal(wait_for(INT64_MAX).position, 0);
	struct wait next = next_of(bob);
	assert_int_equal(next.position, 1);
	assert_true(next.start_ms > 0 && next.start_ms <= 14502);
}

static void a_mode_without_a_time_of_its_own_makes_those_behind_it_uncertain(void **state)
{
	(void)state;
	script("DELETE FROM jobs");
	submit(ada, "ranked");
	assert_int_equal(next_of(bob).position, 2);
	assert_true(isnan(next_of(bob).start_ms));
	assert_null(next_of(bob).words);
}

static void a_device_that_is_paused_starts_nothing(void **state)
{
	(void)state;
	script("DELETE FROM jobs; INSERT INTO pauses (worker, uuid, kind, paused_by) "
		   "VALUES ('wait', 'GPU-wait', 'drain', 'admin')");
	assert_int_equal(next_of(bob).devices, 0);
	assert_int_equal(next_of(bob).position, 1);
	assert_true(isnan(next_of(bob).start_ms));
	script("DELETE FROM pauses WHERE worker = 'wait'");
	assert_true(next_of(bob).start_ms == 0);
}

static void of_a_long_line_the_least_is_said(void **state)
{
	(void)state;
	script("DELETE FROM jobs; INSERT INTO submissions (leaderboard_id, task_version_id, user_id, "
		   "file_name, sha256, mode) "
		   "SELECT leaderboard_id, task_version_id, user_id, file_name, sha256, mode "
		   "FROM (SELECT * FROM submissions LIMIT 1) one, seq_1_to_300; "
		   "INSERT INTO jobs (submission_id, user_id, gpu) SELECT id, user_id, 'H200' "
		   "FROM submissions ORDER BY id DESC LIMIT 300");
	static const struct statement last = NUMBER("SELECT MAX(id) AS number FROM jobs");
	struct wait wait = wait_for(number_of(&last));
	assert_true(wait.at_least);
	assert_int_equal(wait.position, 201);
	script("DELETE FROM jobs ORDER BY id LIMIT 101");
	assert_false(wait_for(number_of(&last)).at_least);
	assert_int_equal(wait_for(number_of(&last)).position, 199);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_median_follows_the_last_jobs_of_a_kind),
		cmocka_unit_test(a_job_that_never_began_leaves_nothing),
		cmocka_unit_test(a_job_starts_when_those_before_it_have_ended),
		cmocka_unit_test(what_runs_or_has_ended_does_not_wait),
		cmocka_unit_test(a_mode_without_a_time_of_its_own_makes_those_behind_it_uncertain),
		cmocka_unit_test(a_device_that_is_paused_starts_nothing),
		cmocka_unit_test(of_a_long_line_the_least_is_said),
	};
	return cmocka_run_group_tests_name("wait", tests, begin, end);
}
