/* Comparisons and how they change the ranking, in a real MariaDB, which library.test starts.
 */
#include "tests/integration/library/contest.h"

#include "lib/ranking/head_to_head.h"

#include <math.h>
#include <stdlib.h>

enum { users = 12 };
static const char *cpu[] = { "CPU" };

static int open_all(void **state)
{
	return contest_open(state, "compare", users);
}

static int begin(void **state)
{
	(void)state;
	return contest_begin(cpu, COUNT(cpu));
}

static const struct statement COUNT_ALL =
	NUMBER("SELECT (SELECT COUNT(*) FROM comparisons) + "
		   "(SELECT COUNT(*) FROM jobs WHERE comparison_id IS NOT NULL) AS number");
static const struct statement OPEN = NUMBER(
	"SELECT COUNT(*) AS number FROM jobs WHERE comparison_id IS NOT NULL AND state = 'queued'");

static const struct statement RANKED = NUMBER("SELECT COUNT(*) AS number FROM ranking");

/* ---- what workers do ---- */

/* Makes a submission of the user that has run and passed. Returns its number. */
static int64_t pass_as(int user, double score_ns, double err_ns, const char *engine)
{
	int64_t id = contest_submit(cpu, user);
	contest_pass(contest_job_of(id), score_ns, err_ns, engine);
	return id;
}

static int64_t pass(int user, double score_ns, double err_ns)
{
	return pass_as(user, score_ns, err_ns, "isolated");
}

/* ---- the ranking ---- */

/* Returns the ranking as text: "0:1 3:2" means user 0 at place 1, then user 3 at place 2. Checks
 * that the positions have no gap. */
static const char *page(void)
{
	static const struct statement rows = SELECT(struct text_row, TEXT_COLUMNS,
		"SELECT COALESCE(GROUP_CONCAT(CONCAT(SUBSTRING(u.name, 9), ':', r.place) "
		"ORDER BY r.position SEPARATOR ' '), '') AS text "
		"FROM ranking r JOIN users u ON u.id = r.user_id WHERE r.leaderboard_id = ?");
	static const struct statement positions = NUMBER(
		"SELECT COUNT(*) = COALESCE(MAX(position), 0) AND COUNT(DISTINCT position) = COUNT(*) "
		"AND COALESCE(MIN(position), 1) = 1 AS number FROM ranking WHERE leaderboard_id = ?");
	struct text_row row;
	struct number number;
	assert_done(database_row(db, arena, &rows, &row, &error, "i", contest.board.id));
	assert_done(database_row(db, arena, &positions, &number, &error, "i", contest.board.id));
	assert_int_equal(number.number, 1);
	return row.text;
}

/* Checks the ranking, and checks that rebuilding the ranking changes no row. */
static void assert_page(const char *expected)
{
	static const struct statement all = SELECT(struct text_row, TEXT_COLUMNS,
		"SELECT COALESCE(GROUP_CONCAT(CONCAT_WS(',', leaderboard_id, "
		"task_version_id, gpu, user_id, submission_id, job_id, score_ns, score_err_ns, "
		"submitted_at, position, place, tied, COALESCE(above_ns, 0), COALESCE(reason, 0), "
		"COALESCE(other_id, 0)) "
		"ORDER BY leaderboard_id, position SEPARATOR ' '), '') AS text FROM ranking");
	struct text_row before, after;
	assert_string_equal(page(), expected);
	assert_done(database_row(db, arena, &all, &before, &error, ""));
	assert_done(ranking_rebuild(db, contest.board.id, &error));
	assert_done(database_row(db, arena, &all, &after, &error, ""));
	assert_string_equal(after.text, before.text);
}

/* Checks the whole ranking: "=1 user0 -" is a shared rank without a group above it, then the reason
 * and the user whom it names. */
static void assert_reasons(const char *expected)
{
	static const struct statement rows = SELECT(struct text_row, TEXT_COLUMNS,
		"SELECT COALESCE(GROUP_CONCAT(CONCAT_WS(' ', CONCAT(IF(r.tied, '=', ''), r.place), "
		"SUBSTRING(u.name, 9), COALESCE(r.above_ns, '-'), r.reason, SUBSTRING(o.name, 9)) "
		"ORDER BY r.position SEPARATOR '; '), '') AS text "
		"FROM ranking r JOIN users u ON u.id = r.user_id "
		"LEFT JOIN submissions s ON s.id = r.other_id LEFT JOIN users o ON o.id = s.user_id "
		"WHERE r.leaderboard_id = ?");
	struct text_row row;
	assert_done(database_row(db, arena, &rows, &row, &error, "i", contest.board.id));
	assert_string_equal(row.text, expected);
}

/* ---- which comparisons are queued ---- */

static void a_new_entry_is_compared_with_its_neighbours_within_noise(void **state)
{
	(void)state;
	int64_t slow = pass(0, 1010, 1), fast = pass(1, 990, 1), far = pass(2, 2000, 1);
	assert_int_equal(number_of(&OPEN), 0);
	int64_t new = pass(3, 1000.5, 1);
	assert_int_equal(number_of(&OPEN), 1); /* 990 is 1.06 % away, which is not close */
	assert_true(contest_comparison_of(new, slow) > 0);
	assert_int_equal(contest_comparison_of(new, fast), 0);
	int64_t between = pass(4, 999, 1);
	assert_int_equal(number_of(&OPEN), 3);
	assert_true(
		contest_comparison_of(between, fast) > 0 && contest_comparison_of(between, new) > 0);
	assert_int_equal(contest_comparison_of(between, far), 0);
	assert_page("1:1 4:2 3:2 0:4 2:5");
}

static void the_job_is_of_nobody_and_waits_behind_all_that_people_sent(void **state)
{
	(void)state;
	pass(0, 1000, 1);
	pass(1, 1001, 1);
	static const struct statement good =
		NUMBER("SELECT COUNT(*) AS number FROM jobs WHERE comparison_id IS NOT NULL "
			   "AND submission_id IS NULL "
			   "AND user_id = 0 AND gpu = 'CPU' AND state = 'queued' "
			   "AND priority > (SELECT MAX(priority) FROM jobs WHERE submission_id IS NOT NULL)");
	assert_int_equal(number_of(&good), 1);
}

static void wide_noise_makes_neighbours_of_what_is_more_than_a_percent_apart(void **state)
{
	(void)state;
	int64_t first = pass(0, 1000, 15), second = pass(1, 1040, 15);
	assert_true(contest_comparison_of(second, first) > 0);
}

static void what_the_custom_engine_has_timed_is_not_compared(void **state)
{
	(void)state;
	contest_use_engine("CPU", "custom");
	pass_as(0, 1000, 1, "custom");
	pass_as(1, 1001, 1, "custom");
	assert_int_equal(number_of(&RANKED), 2);
	assert_int_equal(number_of(&OPEN), 0);
}

static void two_results_of_the_sealed_engine_are_compared(void **state)
{
	(void)state;
	contest_use_engine("CPU", "sealed");
	int64_t first = pass_as(0, 1000, 1, "sealed");
	pass_as(1, 1001, 1, "isolated");
	assert_int_equal(number_of(&RANKED), 1);
	int64_t second = pass_as(2, 1001, 1, "sealed");
	assert_int_equal(number_of(&OPEN), 1);
	assert_true(contest_comparison_of(second, first) > 0);
}

static void a_ranking_holds_the_results_of_one_engine(void **state)
{
	(void)state;
	pass(0, 1000, 1);
	pass_as(1, 10, 1, "custom");
	assert_int_equal(number_of(&RANKED), 1);
	assert_done(ranking_rebuild(db, contest.board.id, &error));
	assert_int_equal(number_of(&RANKED), 1);
}

static void nobody_is_compared_with_himself_or_for_an_entry_that_is_not_his_best(void **state)
{
	(void)state;
	pass(0, 1000, 1);
	pass(1, 1100, 1);
	pass(0, 999, 1);
	pass(0, 1099, 1);
	assert_int_equal(number_of(&COUNT_ALL), 0);
}

static void below_the_tenth_position_nothing_is_compared(void **state)
{
	(void)state;
	for (int i = 0; i < 11; i++)
		pass_as(i, 1000 + 20 * i, 0.1, "isolated");
	assert_int_equal(number_of(&OPEN), 0);
	pass(11, 1200.5, 0.1);
	assert_int_equal(number_of(&OPEN), 0);
}

static void a_pair_is_compared_once(void **state)
{
	(void)state;
	int64_t first = pass(0, 1000, 1), second = pass(1, 1001, 1), job_id = contest_job_of(second);
	contest_rank(job_id);
	assert_int_equal(number_of(&OPEN), 1);
	contest_compare(second, first, 0.999, 1.001);
	contest_rank(job_id);
	job_id = contest_job_of(first);
	contest_rank(job_id);
	assert_int_equal(number_of(&OPEN), 0);
}

static void an_entry_that_is_replaced_takes_what_waits_for_it_along(void **state)
{
	(void)state;
	int64_t first = pass(0, 1000, 1), second = pass(1, 1001, 1);
	int64_t job_id = contest_comparison_of(second, first);
	pass(1, 900, 1);
	assert_int_equal(number_of(&OPEN), 0);
	static const struct statement cancelled =
		NUMBER("SELECT COUNT(*) AS number FROM jobs WHERE id = ? AND state = 'cancelled' "
			   "AND verdict = 'cancelled' AND reason LIKE '%replaced%'");
	struct number row;
	assert_done(database_row(db, arena, &cancelled, &row, &error, "i", job_id));
	assert_int_equal(row.number, 1);
	assert_page("1:1 0:2");
}

static void removing_the_device_cancels_what_waits_for_it(void **state)
{
	(void)state;
	static const char *others[] = { "B200" };
	int64_t first = pass(0, 1000, 1), cancelled = 0;
	int64_t job_id = contest_comparison_of(pass(1, 1001, 1), first);
	assert_int_equal(number_of(&OPEN), 1);
	const struct actor actor = contest_actor();
	struct leaderboard_settings settings = { .unchecked = true,
		.deadline_ms = TIME_NULL,
		.accepting = true,
		.gpus = others,
		.gpu_count = 1 };
	assert_done(leaderboard_update(
		db, arena, &contest.board, &settings, NULL, NULL, NULL, &actor, &cancelled, &error));
	assert_int_equal(cancelled, 1);
	assert_int_equal(number_of(&OPEN), 0);
	static const struct statement reason =
		NUMBER("SELECT COUNT(*) AS number FROM jobs WHERE id = ? AND state = 'cancelled' "
			   "AND verdict = 'cancelled' AND reason LIKE '%removed%' "
			   "AND finished_at IS NOT NULL");
	struct number row;
	assert_done(database_row(db, arena, &reason, &row, &error, "i", job_id));
	assert_int_equal(row.number, 1);
}

static void one_that_runs_already_may_end(void **state)
{
	(void)state;
	int64_t first = pass(0, 1000, 1), second = pass(1, 1001, 1);
	assert_done(database_script(
		db, "UPDATE jobs SET state = 'running' WHERE comparison_id IS NOT NULL", &error));
	pass(1, 900, 1);
	contest_compare(second, first, 0.9, 0.95);
	assert_page("1:1 0:2");
}

/* ---- what comparisons decide ---- */

static void the_faster_one_stands_first_and_a_tie_is_a_tie(void **state)
{
	(void)state;
	int64_t first = pass(0, 1000, 0.1), second = pass(1, 1001, 0.1), third = pass(2, 1002, 0.1);
	assert_page("0:1 1:2 2:3");
	contest_compare(second, first, 0.990, 0.995);
	assert_page("1:1 0:2 2:3");
	assert_int_equal(contest_comparison_of(third, first), 0);
	contest_compare(third, second, 1.001, 1.004);
	assert_page("1:1 0:2 2:3");
	int64_t fourth = pass(3, 1001.5, 0.1);
	contest_compare(fourth, second, 0.998, 1.003);
	assert_page("1:1 3:1 0:3 2:4");
}

/* Returns the notices of overtaking as text: "0<1" tells user 0 that user 1 is now ahead. */
static const char *told(void)
{
	static const struct statement rows = SELECT(struct text_row, TEXT_COLUMNS,
		"SELECT COALESCE(GROUP_CONCAT(CONCAT(SUBSTRING(u.name, 9), '<', "
		"SUBSTRING(v.name, 9)) ORDER BY u.id SEPARATOR ' '), '') AS text FROM overtakings o "
		"JOIN users u ON u.id = o.user_id "
		"JOIN users v ON v.id = o.by_user_id WHERE o.leaderboard_id = ?");
	struct text_row row;
	assert_done(database_row(db, arena, &rows, &row, &error, "i", contest.board.id));
	return row.text;
}

static void whom_a_comparison_puts_behind_is_told(void **state)
{
	(void)state;
	static const struct statement forget = COMMAND("DELETE FROM overtakings");
	assert_done(database_execute(db, &forget, &error, ""));
	int64_t first = pass(0, 1000, 0.1), second = pass(1, 1001, 0.1);
	pass(2, 1500, 0.1);
	assert_page("0:1 1:2 2:3");
	assert_string_equal(told(), "");
	contest_compare(second, first, 0.99, 0.995);
	assert_page("1:1 0:2 2:3");
	assert_string_equal(told(), "0<1");
	assert_done(database_execute(db, &forget, &error, ""));
	int64_t third = pass(2, 1002, 0.1);
	contest_compare(third, second, 1.001, 1.003);
	assert_page("1:1 0:2 2:3");
	assert_string_equal(told(), "");
}

static void a_result_without_a_comparison_of_its_own_is_refused(void **state)
{
	(void)state;
	int64_t job_id = contest_job_of(pass(0, 1000, 1));
	struct contest_compared ended = { job_id, { 1, 1, 1, NULL } };
	assert_refused(database_transaction(db, contest_compare_body, &ended, &error), ERROR_NOT_FOUND,
		"", "does not belong to a comparison");
}

static void the_table_says_why_an_entry_ranks_where_it_does(void **state)
{
	(void)state;
	int64_t first = pass(0, 1000, 1), second = pass(1, 1001, 1);
	assert_reasons("=1 0 -; =1 1 -");
	contest_compare(second, first, 0.990, 0.995);
	assert_reasons("1 1 -; 2 0 1001 slower 1");
	pass(2, 1003, 1);
	assert_reasons("1 1 -; 2 0 1001 slower 1; 3 2 1000 between 1");
	pass(3, 1005, 1);
	assert_reasons("1 1 -; 2 0 1001 slower 1; =3 2 1000 between 1; =3 3 1000");
	/* A new first entry shifts the others, which keep their reasons, and changes the gap of one
	 * group. */
	pass(4, 500, 1);
	assert_page("4:1 1:2 0:3 2:4 3:4");
	assert_reasons("1 4 -; 2 1 500; 3 0 1001 slower 1; =4 2 1000 between 1; =4 3 1000");
	pass(1, 900, 1);
	assert_page("4:1 1:2 0:3 2:4 3:4");
	assert_reasons("1 4 -; 2 1 500; 3 0 900; =4 2 1000; =4 3 1000");
}

static void it_counts_only_while_both_entries_are_their_users_best(void **state)
{
	(void)state;
	int64_t first = pass(0, 1000, 1), second = pass(1, 1001, 1);
	contest_compare(second, first, 0.990, 0.995);
	assert_page("1:1 0:2");
	pass(0, 999.5, 1);
	assert_page("0:1 1:1");
}

static void what_came_to_nothing_leaves_the_scores_to_decide(void **state)
{
	(void)state;
	int64_t first = pass(0, 1000, 1), second = pass(1, 1001, 1);
	assert_true(contest_comparison_of(second, first) > 0);
	assert_done(database_script(db,
		"UPDATE jobs SET state = 'failed', verdict = 'internal error' "
		"WHERE comparison_id IS NOT NULL",
		&error));
	pass(2, 3000, 1);
	assert_page("0:1 1:1 2:3");
}

static void any_course_of_events_leaves_the_rows_that_a_rebuilding_gives(void **state)
{
	(void)state;
	enum { events = 120 };
	static const struct statement waiting =
		NUMBER("SELECT COALESCE(MIN(id), 0) AS number FROM jobs WHERE comparison_id IS NOT NULL "
			   "AND state = 'queued'");
	static const struct statement finish =
		COMMAND("UPDATE jobs SET state = 'done', verdict = 'passed' WHERE id = ?");
	srandom(11);
	double best[users];
	for (int i = 0; i < users; i++)
		best[i] = 1000;
	for (int i = 0; i < events; i++) {
		int user = (int)(random() % users);
		pass(user, best[user] -= (double)(random() % 20) / 10,
			random() % 5 ? (double)(random() % 20) / 10 : NAN);
		struct contest_compared ended = { number_of(&waiting),
			{ 0, 0.985 + (double)(random() % 20) / 1000, 0, NULL } };
		ended.ratio.high = ended.ratio.low + 0.01;
		ended.ratio.ratio = ended.ratio.low + 0.005;
		if (ended.job_id && random() % 3) {
			assert_done(database_execute(db, &finish, &error, "i", ended.job_id));
			assert_done(database_transaction(db, contest_compare_body, &ended, &error));
		}
		if (i % 10 == 9)
			assert_page(page());
	}
	static const struct statement decided =
		NUMBER("SELECT COUNT(*) AS number FROM comparisons WHERE ratio IS NOT NULL");
	assert_true(number_of(&decided) > 20);
}

/* ---- deletion ---- */

static void a_comparison_and_its_job_go_with_either_submission(void **state)
{
	(void)state;
	for (int i = 0; i < 2; i++) {
		int64_t pair[2] = { pass(0, 1000 - 100 * i, 1), pass(1, 1001 - 100 * i, 1) };
		static const struct statement stage =
			COMMAND("INSERT INTO stages (job_id, position, name, message, command, stdout, stderr) "
					"VALUES (?, 0, 'compare', '', '', '', '')");
		static const struct statement delete = COMMAND("DELETE FROM submissions WHERE id = ?");
		assert_done(
			database_execute(db, &stage, &error, "i", contest_comparison_of(pair[1], pair[0])));
		assert_done(database_execute(db, &delete, &error, "i", pair[i]));
		assert_int_equal(number_of(&COUNT_ALL), 0);
		static const struct statement stages = NUMBER("SELECT COUNT(*) AS number FROM stages");
		assert_int_equal(number_of(&stages), 0);
	}
}

static void a_comparison_goes_with_a_user_and_with_its_leaderboard(void **state)
{
	(void)state;
	int64_t leaver = make_user("compare-leaver"), kept = contest.user_ids[3];
	contest.user_ids[3] = leaver;
	pass(0, 1000, 1);
	pass(3, 1001, 1);
	pass(4, 1002, 1);
	contest.user_ids[3] = kept;
	assert_int_equal(number_of(&COUNT_ALL), 4);
	assert_done(database_script(db, "DELETE FROM users WHERE name = 'compare-leaver'", &error));
	assert_int_equal(number_of(&COUNT_ALL), 0);
	pass(5, 1000.5, 1);
	assert_int_equal(number_of(&COUNT_ALL), 4);
	const struct actor actor = contest_actor();
	assert_done(leaderboard_delete(db, &contest.board, &actor, &error));
	assert_int_equal(number_of(&COUNT_ALL), 0);
	begin(state);
}

static void a_ban_cancels_what_waits_for_the_user_and_nothing_else(void **state)
{
	(void)state;
	int64_t first = pass(0, 1000, 1), second = pass(1, 1001, 1);
	pass(2, 2000, 1);
	int64_t other = pass(3, 2001, 1);
	assert_int_equal(number_of(&OPEN), 2);
	assert_done(head_to_head_withdraw_user(db, contest.user_ids[0], &error));
	static const struct statement state_of = SELECT(struct text_row, TEXT_COLUMNS,
		"SELECT CONCAT(state, ': ', COALESCE(reason, '')) AS text FROM jobs WHERE id = ?");
	struct text_row row;
	assert_done(database_row(
		db, arena, &state_of, &row, &error, "i", contest_comparison_of(second, first)));
	assert_string_equal(row.text,
		"cancelled: The account of one of the two authors was banned or deleted before the "
		"comparison.");
	assert_int_equal(number_of(&OPEN), 1);
	assert_true(other > 0);
}

static void a_job_is_a_submissions_or_a_comparisons(void **state)
{
	(void)state;
	assert_int_not_equal(
		database_script(db, "INSERT INTO jobs (user_id, gpu) VALUES (0, 'CPU')", &error), 0);
}

static int close_all(void **state)
{
	assert_done(database_script(db,
		"DELETE FROM leaderboards WHERE name LIKE 'compare-%'; DELETE FROM blobs "
		"WHERE sha256 NOT IN "
		"(SELECT sha256 FROM submissions UNION SELECT sha256 FROM task_files); DELETE "
		"FROM audit_log; DELETE FROM users WHERE name LIKE 'compare-%'",
		&error));
	return fixture_close(state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			a_new_entry_is_compared_with_its_neighbours_within_noise, begin, contest_end),
		cmocka_unit_test_setup_teardown(
			the_job_is_of_nobody_and_waits_behind_all_that_people_sent, begin, contest_end),
		cmocka_unit_test_setup_teardown(
			wide_noise_makes_neighbours_of_what_is_more_than_a_percent_apart, begin, contest_end),
		cmocka_unit_test_setup_teardown(
			what_the_custom_engine_has_timed_is_not_compared, begin, contest_end),
		cmocka_unit_test_setup_teardown(
			two_results_of_the_sealed_engine_are_compared, begin, contest_end),
		cmocka_unit_test_setup_teardown(
			a_ranking_holds_the_results_of_one_engine, begin, contest_end),
		cmocka_unit_test_setup_teardown(
			nobody_is_compared_with_himself_or_for_an_entry_that_is_not_his_best, begin,
			contest_end),
		cmocka_unit_test_setup_teardown(
			below_the_tenth_position_nothing_is_compared, begin, contest_end),
		cmocka_unit_test_setup_teardown(a_pair_is_compared_once, begin, contest_end),
		cmocka_unit_test_setup_teardown(
			an_entry_that_is_replaced_takes_what_waits_for_it_along, begin, contest_end),
		cmocka_unit_test_setup_teardown(
			removing_the_device_cancels_what_waits_for_it, begin, contest_end),
		cmocka_unit_test_setup_teardown(one_that_runs_already_may_end, begin, contest_end),
		cmocka_unit_test_setup_teardown(
			the_faster_one_stands_first_and_a_tie_is_a_tie, begin, contest_end),
		cmocka_unit_test_setup_teardown(whom_a_comparison_puts_behind_is_told, begin, contest_end),
		cmocka_unit_test_setup_teardown(
			a_result_without_a_comparison_of_its_own_is_refused, begin, contest_end),
		cmocka_unit_test_setup_teardown(
			the_table_says_why_an_entry_ranks_where_it_does, begin, contest_end),
		cmocka_unit_test_setup_teardown(
			it_counts_only_while_both_entries_are_their_users_best, begin, contest_end),
		cmocka_unit_test_setup_teardown(
			what_came_to_nothing_leaves_the_scores_to_decide, begin, contest_end),
		cmocka_unit_test_setup_teardown(
			any_course_of_events_leaves_the_rows_that_a_rebuilding_gives, begin, contest_end),
		cmocka_unit_test_setup_teardown(
			a_comparison_and_its_job_go_with_either_submission, begin, contest_end),
		cmocka_unit_test_setup_teardown(
			a_comparison_goes_with_a_user_and_with_its_leaderboard, begin, contest_end),
		cmocka_unit_test_setup_teardown(
			a_ban_cancels_what_waits_for_the_user_and_nothing_else, begin, contest_end),
		cmocka_unit_test_setup_teardown(
			a_job_is_a_submissions_or_a_comparisons, begin, contest_end),
	};
	return cmocka_run_group_tests(tests, open_all, close_all);
}
