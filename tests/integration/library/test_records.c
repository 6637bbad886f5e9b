/* Records, which are the history of a ranking's best times, in a real MariaDB, which library.test
 * starts. */
#include "tests/integration/library/contest.h"

#include "cgi/action/account_deletion.h"
#include "lib/ranking/records.h"

#include <stdlib.h>

enum { users = 5, leaves = users - 1 }; /* the last user deletes their account */
static const char *gpus[] = { "CPU", "H200" };

static int open_all(void **state)
{
	return contest_open(state, "records", users);
}

static int begin(void **state)
{
	(void)state;
	return contest_begin(gpus, COUNT(gpus));
}

/* ---- what workers do ---- */

/* Creates a submission and returns the number of its job. */
static int64_t submit_on(const char **gpu, int user)
{
	return contest_job_of(contest_submit(gpu, user));
}

static int64_t submit(int user)
{
	return submit_on(gpus, user);
}

static int64_t submit_source(int user, const char *source)
{
	return contest_job_of(contest_submit_source(gpus, user, source));
}

static void pass(int64_t job_id, double score_ns)
{
	contest_pass(job_id, score_ns, 0.001, NULL);
}

/* ---- the records ---- */

static const char *all_rows(void)
{
	static const struct statement rows = SELECT(struct text_row, TEXT_COLUMNS,
		"SELECT COALESCE(GROUP_CONCAT(CONCAT_WS(',', leaderboard_id, "
		"task_version_id, gpu, line, submission_id, job_id, user_id, score_ns, submitted_at, "
		"ranked_at, held_id) "
		"ORDER BY leaderboard_id, gpu, line, submission_id SEPARATOR ' '), '') AS text "
		"FROM records");
	struct text_row row;
	assert_done(database_row(db, arena, &rows, &row, &error, ""));
	return row.text;
}

/* Checks one line of records, for everybody or for one user, and checks that rebuilding the ranking
 * changes no record. "0:90 1:80" means a time of 90 by user 0, then a time of 80 by user 1. */
static void assert_line(const char *gpu, int64_t line, const char *expected)
{
	static const struct statement points = SELECT(struct text_row, TEXT_COLUMNS,
		"SELECT COALESCE(GROUP_CONCAT(CONCAT(SUBSTRING(u.name, 9), ':', r.score_ns) "
		"ORDER BY r.ranked_at, r.job_id SEPARATOR ' '), '') AS text "
		"FROM records r JOIN users u ON u.id = r.user_id WHERE r.leaderboard_id = ? "
		"AND r.gpu = ? AND r.line = ?");
	struct text_row row;
	assert_done(database_row(db, arena, &points, &row, &error, "isi", contest.board.id, gpu, line));
	assert_string_equal(row.text, expected);
	const char *before = all_rows();
	assert_done(ranking_rebuild(db, contest.board.id, &error));
	assert_string_equal(all_rows(), before);
}

/* ---- the tests ---- */

static void a_line_has_what_was_faster_than_all_before(void **state)
{
	(void)state;
	static const double scores[] = { 100, 120, 90, 90, 91, 40 };
	for (size_t i = 0; i < COUNT(scores); i++)
		pass(submit(0), scores[i]);
	assert_line("CPU", contest.user_ids[0], "0:100 0:90 0:40");
	assert_line("CPU", records_everybody, "0:100 0:90 0:40");
	assert_line("H200", records_everybody, "");
}

static void everybodys_line_goes_from_one_leader_to_the_next(void **state)
{
	(void)state;
	pass(submit(0), 100);
	pass(submit(1), 110);
	pass(submit(1), 80);
	pass(submit(0), 85);
	pass(submit(2), 70);
	assert_line("CPU", records_everybody, "0:100 1:80 2:70");
	assert_line("CPU", contest.user_ids[0], "0:100 0:85");
	assert_line("CPU", contest.user_ids[1], "1:110 1:80");
}

static void devices_have_lines_of_their_own(void **state)
{
	(void)state;
	pass(submit(0), 100);
	pass(submit_on(gpus + 1, 0), 10);
	assert_line("CPU", contest.user_ids[0], "0:100");
	assert_line("H200", contest.user_ids[0], "0:10");
}

static void an_early_submission_that_finishes_late_must_beat_what_was_ranked_before(void **state)
{
	(void)state;
	int64_t first = submit(0), second = submit(0), third = submit(1);
	pass(third, 70);
	pass(first, 80);
	assert_line("CPU", contest.user_ids[0], "0:80");
	assert_line("CPU", records_everybody, "1:70");
	pass(second, 60);
	assert_line("CPU", contest.user_ids[0], "0:80 0:60");
	assert_line("CPU", records_everybody, "1:70 0:60");
}

static void one_that_ran_again_is_looked_at_anew(void **state)
{
	(void)state;
	int64_t first = submit(0), second = submit(0), third = submit(1);
	pass(first, 100);
	pass(second, 90);
	pass(third, 95);
	assert_line("CPU", records_everybody, "0:100 0:90");
	pass(second, 99);
	assert_line("CPU", records_everybody, "0:100 1:95");
	pass(first, 98);
	assert_line("CPU", contest.user_ids[0], "0:99 0:98");
	assert_line("CPU", records_everybody, "1:95");
}

static void what_is_held_is_no_record_before_it_is_released(void **state)
{
	(void)state;
	static const struct statement hold =
		COMMAND("UPDATE jobs SET held_at = UTC_TIMESTAMP(3) WHERE id = ?");
	static const struct statement release = COMMAND("UPDATE jobs SET released_by = 0 WHERE id = ?");
	int64_t held = submit(0), later = submit(0);
	assert_done(database_execute(db, &hold, &error, "i", held));
	pass(later, 90);
	assert_done(database_script(db,
		"UPDATE jobs SET state = 'done', verdict = 'passed', score_ns = 1 "
		"WHERE held_at IS NOT NULL",
		&error));
	assert_line("CPU", contest.user_ids[0], "0:90");
	assert_done(database_execute(db, &release, &error, "i", held));
	pass(held, 1);
	assert_line("CPU", contest.user_ids[0], "0:90 0:1");
}

/* Equal source has the mean of its times. If later results make the mean slower, the record that it
 * was keeps its moment. */
static void a_resubmission_is_a_record_if_it_makes_the_mean_the_fastest(void **state)
{
	(void)state;
	static const char *source = "a = 'resubmitted'\n";
	pass(submit_source(0, source), 110);
	pass(submit(1), 100);
	pass(submit_source(0, source), 80);
	assert_line("CPU", contest.user_ids[0], "0:110 0:95");
	assert_line("CPU", records_everybody, "0:110 1:100 0:95");
	pass(submit_source(0, source), 98);
	assert_line("CPU", records_everybody, "0:110 1:100 0:96");
	pass(submit_source(2, source), 96); /* another user's result of the file */
	assert_line("CPU", records_everybody, "0:110 1:100 0:96");
	pass(submit_source(0, source), 300);
	assert_line("CPU", contest.user_ids[0], "0:136.8");
	assert_line("CPU", records_everybody, "0:136.8 1:100");
}

/* The first who sent a file holds its records, also those that another user's result makes. */
static const struct statement withdraw =
	COMMAND("UPDATE submissions SET withdrawn_at = UTC_TIMESTAMP(3) WHERE id = ?");

static void equal_source_has_one_time_in_the_history_whoever_sent_it(void **state)
{
	(void)state;
	static const struct statement holder =
		NUMBER("SELECT COALESCE(held_id, submission_id) AS number FROM records WHERE line = 0 "
			   "ORDER BY score_ns LIMIT 1");
	static const char *source = "a = 'shared'\n";
	int64_t first = contest_submit_source(gpus, 0, source);
	pass(contest_job_of(first), 110);
	pass(submit(1), 100);
	pass(submit_source(2, source), 70);
	assert_line("CPU", records_everybody, "0:110 1:100 0:90");
	assert_line("CPU", contest.user_ids[0], "0:110 0:90");
	assert_line("CPU", contest.user_ids[2], "2:90");
	pass(submit_source(2, source), 75);
	assert_line("CPU", records_everybody, "0:110 1:100 0:90 0:85");
	assert_line("CPU", contest.user_ids[0], "0:110 0:85");
	assert_line("CPU", contest.user_ids[2], "2:90 2:85");
	assert_int_equal(number_of(&holder), first);
	pass(submit_source(2, source), 145); /* the mean is 100 */
	assert_line("CPU", records_everybody, "0:110 1:100");
	assert_line("CPU", contest.user_ids[2], "2:100");
	pass(submit_source(0, source), 70); /* 94 */
	assert_done(database_execute(db, &withdraw, &error, "i", first));
	pass(submit_source(2, source), 94); /* the same mean */
	assert_line("CPU", records_everybody, "1:100 2:94");
}

static void a_withdrawn_result_still_counts_in_the_history_of_its_file(void **state)
{
	(void)state;
	static const char *source = "a = 'withdrawn'\n";
	int64_t first = contest_submit_source(gpus, 0, source);
	pass(contest_job_of(first), 120);
	assert_done(database_execute(db, &withdraw, &error, "i", first));
	pass(submit_source(2, source), 60);
	pass(submit_source(2, source), 60);
	assert_line("CPU", records_everybody, "2:90 2:80");
}

/* Some submissions have equal source. */
static int64_t submit_something(void)
{
	int user = (int)(random() % leaves);
	return random() % 3 ? submit(user)
						: submit_source(user, arena_printf(arena, "f = %ld\n", random() % 6));
}

static void any_course_of_events_leaves_the_rows_that_a_rebuilding_gives(void **state)
{
	(void)state;
	enum { events = 120, waiting = 5 };
	int64_t jobs[waiting];
	srandom(7);
	for (int i = 0; i < waiting; i++)
		jobs[i] = submit_something();
	for (int i = 0; i < events; i++) {
		int one = (int)(random() % waiting);
		pass(jobs[one], 1000 - i * 2 + (double)(random() % 100));
		if (random() % 4)
			jobs[one] = submit_something();
		const char *before = all_rows();
		assert_done(ranking_rebuild(db, contest.board.id, &error));
		assert_string_equal(all_rows(), before);
	}
	static const struct statement many =
		NUMBER("SELECT COUNT(*) AS number FROM records WHERE line = 0");
	assert_true(number_of(&many) > 10);
}

/* The results of a deleted user stay, under the name deleted-user-N. */
static void an_account_that_is_deleted_keeps_its_records(void **state)
{
	(void)state;
	static const struct statement attempts = NUMBER("SELECT SUM(attempts) AS number FROM ranking");
	static const struct statement baselines = NUMBER("SELECT COUNT(*) AS number FROM baselines");
	static const struct statement make_sample =
		COMMAND("INSERT INTO task_files (task_version_id, role, path, sha256) "
				"SELECT l.task_version_id, 'sample', 'sample.py', s.sha256 FROM leaderboards l "
				"JOIN submissions s ON s.leaderboard_id = l.id "
				"WHERE l.id = ? LIMIT 1");
	char line[64];
	const int64_t gone = contest.user_ids[leaves];
	int64_t first = contest_job_of(contest_submit_source(gpus, 0, "sample\n")), beaten = submit(1);
	assert_done(database_execute(db, &make_sample, &error, "i", contest.board.id));
	pass(first, 100);
	pass(submit(leaves), 70);
	pass(beaten, 90);
	pass(submit(1), 80);
	pass(submit(leaves), 50);
	pass(contest_job_of(contest_submit_source(gpus + 1, leaves, "sample\n")), 60);
	assert_line("CPU", records_everybody, "0:100 4:70 4:50");
	assert_int_equal(number_of(&attempts), 6);
	assert_int_equal(number_of(&baselines), 2);
	assert_done(account_delete(db, gone, &error));
	const char *left = all_rows();
	assert_int_equal(number_of(&attempts), 6);
	assert_int_equal(number_of(&baselines), 2);
	assert_done(ranking_rebuild(db, contest.board.id, &error));
	assert_string_equal(all_rows(), left);
	assert_int_equal(number_of(&attempts), 6);
	assert_int_equal(number_of(&baselines), 2);
	/* assert_line drops the first eight letters of "deleted-user-5". */
	snprintf(
		line, sizeof line, "0:100 user-%lld:70 user-%lld:50", (long long)gone, (long long)gone);
	assert_line("CPU", records_everybody, line);
}

static void records_go_with_their_leaderboard(void **state)
{
	(void)state;
	static const struct statement left = NUMBER("SELECT COUNT(*) AS number FROM records");
	pass(submit(0), 100);
	assert_int_equal(number_of(&left), 2);
	contest_end(state);
	assert_int_equal(number_of(&left), 0);
	begin(state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			a_line_has_what_was_faster_than_all_before, begin, contest_end),
		cmocka_unit_test_setup_teardown(
			everybodys_line_goes_from_one_leader_to_the_next, begin, contest_end),
		cmocka_unit_test_setup_teardown(devices_have_lines_of_their_own, begin, contest_end),
		cmocka_unit_test_setup_teardown(
			an_early_submission_that_finishes_late_must_beat_what_was_ranked_before, begin,
			contest_end),
		cmocka_unit_test_setup_teardown(one_that_ran_again_is_looked_at_anew, begin, contest_end),
		cmocka_unit_test_setup_teardown(
			what_is_held_is_no_record_before_it_is_released, begin, contest_end),
		cmocka_unit_test_setup_teardown(
			a_resubmission_is_a_record_if_it_makes_the_mean_the_fastest, begin, contest_end),
		cmocka_unit_test_setup_teardown(
			equal_source_has_one_time_in_the_history_whoever_sent_it, begin, contest_end),
		cmocka_unit_test_setup_teardown(
			a_withdrawn_result_still_counts_in_the_history_of_its_file, begin, contest_end),
		cmocka_unit_test_setup_teardown(
			any_course_of_events_leaves_the_rows_that_a_rebuilding_gives, begin, contest_end),
		cmocka_unit_test_setup_teardown(
			an_account_that_is_deleted_keeps_its_records, begin, contest_end),
		cmocka_unit_test_setup_teardown(records_go_with_their_leaderboard, begin, contest_end),
	};
	return cmocka_run_group_tests(tests, open_all, fixture_close);
}
