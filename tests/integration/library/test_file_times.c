/* The time of a file, which all its ranked results share, in a real MariaDB, which library.test
 * starts. */
#include "tests/integration/library/contest.h"

#include "cgi/action/account_deletion.h"
#include "lib/base/buffer.h"
#include "lib/ranking/file_time.h"

#include <math.h>
#include <stdlib.h>

enum { users = 5, leaves = users - 1 };
static const char *gpus[] = { "CPU", "H200" };
static const char *a = "a = 1\n", *b = "b = 1\n", *c = "c = 1\n";

static int open_all(void **state)
{
	return contest_open(state, "files", users);
}

static int begin(void **state)
{
	(void)state;
	return contest_begin(gpus, COUNT(gpus));
}

/* Makes a submission that has run and passed. Returns its number. */
static int64_t pass_on(
	const char **gpu, int user, const char *source, double score_ns, double err_ns)
{
	int64_t id = contest_submit_source(gpu, user, source);
	contest_pass(contest_job_of(id), score_ns, err_ns, "isolated");
	return id;
}

static int64_t pass(int user, const char *source, double score_ns)
{
	return pass_on(gpus, user, source, score_ns, 1);
}

/* Ranks a submission again after its row has changed. */
static int refresh_body(struct database *connection, void *context, struct error *why)
{
	return ranking_refresh_job(connection, arena, contest_job_of(*(int64_t *)context), why);
}

static void change(int64_t submission_id, const struct statement *update)
{
	assert_done(database_execute(db, update, &error, "i", submission_id));
	assert_done(database_transaction(db, refresh_body, &submission_id, &error));
}

static const struct statement WITHDRAW =
	COMMAND("UPDATE submissions SET withdrawn_at = UTC_TIMESTAMP(3) WHERE id = ?");
static const struct statement HIDE =
	COMMAND("UPDATE submissions SET hidden_at = UTC_TIMESTAMP(3) WHERE id = ?");

/* "0:95=1" means user 0 with a time of 95 at place 1. */
static const char *page(void)
{
	static const struct statement rows = SELECT(struct text_row, TEXT_COLUMNS,
		"SELECT COALESCE(GROUP_CONCAT(CONCAT(SUBSTRING_INDEX(u.name, '-', -1), ':', r.score_ns, "
		"'=', r.place) ORDER BY r.gpu, r.position SEPARATOR ' '), '') AS text "
		"FROM ranking r JOIN users u ON u.id = r.user_id WHERE r.leaderboard_id = ?");
	struct text_row row;
	assert_done(database_row(db, arena, &rows, &row, &error, "i", contest.board.id));
	return row.text;
}

static const char *all_rows(void)
{
	static const struct statement rows = SELECT(struct text_row, TEXT_COLUMNS,
		"SELECT CONCAT((SELECT COALESCE(GROUP_CONCAT(CONCAT_WS(',', id, gpu, HEX(sha256), results, "
		"score_ns, score_err_ns) ORDER BY id SEPARATOR ' '), '') FROM file_times), "
		"' ', (SELECT COALESCE(GROUP_CONCAT(CONCAT_WS(',', user_id, gpu, submission_id, job_id, "
		"score_ns, score_err_ns, attempts, position, place, file_id) "
		"ORDER BY gpu, position SEPARATOR ' '), '') FROM ranking)) AS text");
	struct text_row row;
	assert_done(database_row(db, arena, &rows, &row, &error, ""));
	return row.text;
}

/* Checks the ranking, and checks that rebuilding it changes no row. */
static void assert_page(const char *expected)
{
	assert_string_equal(page(), expected);
	const char *before = all_rows();
	assert_done(ranking_rebuild(db, contest.board.id, &error));
	assert_string_equal(all_rows(), before);
}

struct row {
	int64_t submission_id, attempts;
	double score_ns, score_err_ns;
};
static const struct column ROW_COLUMNS[] = {
	INTEGER(struct row, submission_id),
	INTEGER(struct row, attempts),
	REAL(struct row, score_ns),
	REAL(struct row, score_err_ns),
};
static const struct statement FIRST = SELECT(struct row, ROW_COLUMNS,
	"SELECT submission_id, attempts, score_ns, score_err_ns FROM ranking WHERE position = 1");
static const struct statement BASELINE = SELECT(struct row, ROW_COLUMNS,
	"SELECT submission_id, 0 AS attempts, score_ns, score_err_ns FROM baselines");

static struct row read_row(const struct statement *question)
{
	struct row row;
	assert_done(database_row(db, arena, question, &row, &error, ""));
	return row;
}

static void assert_near(double value, double expected)
{
	if (!(fabs(value - expected) < 0.001))
		fail_msg("%.6f instead of %.6f", value, expected);
}

/* ---- the tests ---- */

static void a_resubmission_adds_its_measurement(void **state)
{
	(void)state;
	int64_t first = pass(0, a, 100);
	assert_page("0:100=1");
	pass(0, a, 90);
	pass(0, a, 92);
	assert_page("0:94=1");
	assert_int_equal(read_row(&FIRST).submission_id, first);
	assert_int_equal(read_row(&FIRST).attempts, 3);
	assert_near(read_row(&FIRST).score_err_ns, 3.055); /* the standard deviation is 5.292 */
}

static void errors_of_results_that_agree_shrink_with_their_number(void **state)
{
	(void)state;
	for (int i = 0; i < 4; i++)
		pass(0, a, 100);
	assert_near(read_row(&FIRST).score_err_ns, 0.5);
}

static void an_unknown_error_stays_unknown(void **state)
{
	(void)state;
	pass(0, a, 100);
	pass_on(gpus, 0, a, 100, NAN);
	assert_true(isnan(read_row(&FIRST).score_err_ns));
}

static void users_with_one_file_tie(void **state)
{
	(void)state;
	static const struct statement comparisons =
		NUMBER("SELECT COUNT(*) AS number FROM comparisons");
	static const struct statement same =
		NUMBER("SELECT COUNT(*) AS number FROM comparisons c "
			   "JOIN submissions s ON s.id = c.challenger_id "
			   "JOIN submissions t ON t.id = c.incumbent_id WHERE s.sha256 = t.sha256");
	pass(0, a, 100);
	pass(1, a, 80);
	assert_page("0:90=1 1:90=1");
	assert_int_equal(number_of(&comparisons), 0);
	pass(2, b, 150);
	assert_page("0:90=1 1:90=1 2:150=3");
	pass(3, b, 95);
	assert_true(number_of(&comparisons) > 0);
	assert_int_equal(number_of(&same), 0);
}

static void a_comparison_counts_for_all_entries_of_two_files(void **state)
{
	(void)state;
	static const struct statement comparisons =
		NUMBER("SELECT COUNT(*) AS number FROM comparisons");
	int64_t first = pass(0, a, 100), second = pass(1, b, 100.5);
	contest_compare(second, first, 0.98, 0.99);
	assert_page("1:100.5=1 0:100=2");
	pass(2, a, 100);
	assert_page("1:100.5=1 0:100=2 2:100=2");
	pass(0, a, 100);
	change(first, &WITHDRAW);
	assert_page("1:100.5=1 2:100=2 0:100=2");
	assert_int_equal(number_of(&comparisons), 1);
}

static void a_comparison_waits_while_somebody_has_the_file(void **state)
{
	(void)state;
	static const struct statement waiting = NUMBER(
		"SELECT COUNT(*) AS number FROM jobs WHERE comparison_id IS NOT NULL AND state = 'queued'");
	int64_t first = pass(0, a, 100);
	pass(1, b, 100.5);
	pass(2, a, 100);
	change(first, &WITHDRAW);
	assert_int_equal(number_of(&waiting), 1);
	pass(2, c, 50);
	assert_int_equal(number_of(&waiting), 0);
}

static void a_users_best_changes_with_the_time_of_the_file(void **state)
{
	(void)state;
	pass(0, a, 100);
	pass(0, b, 110);
	pass(1, a, 400);
	assert_page("0:110=1 1:250=1");
	for (int i = 0; i < 7; i++)
		pass(2, a, 20);
	assert_page("0:71.111=1 1:71.111=1 2:71.111=1");
}

static void devices_have_times_of_their_own(void **state)
{
	(void)state;
	contest_use_engine(gpus[1], "isolated");
	pass(0, a, 100);
	pass_on(gpus + 1, 0, a, 10, 1);
	assert_page("0:100=1 0:10=1");
}

static void a_withdrawn_result_still_counts_and_a_hidden_one_does_not(void **state)
{
	(void)state;
	int64_t slow = pass(0, a, 120);
	pass(0, a, 80);
	change(slow, &WITHDRAW);
	assert_page("0:100=1");
	change(slow, &HIDE);
	assert_page("0:80=1");
	int64_t only = pass(1, b, 70);
	assert_page("1:70=1 0:80=2");
	change(only, &WITHDRAW);
	assert_page("0:80=1");
}

static void results_that_differ_much_are_charged_on_a_gpu(void **state)
{
	(void)state;
	contest_use_engine(gpus[1], "isolated");
	pass_on(gpus + 1, 0, a, 1000000, 1);
	pass_on(gpus + 1, 0, a, 2000000, 1);
	/* 1.5 ms, and half of the interval is 0.98 ms. */
	assert_page("0:2480000=1");
	assert_near(1.96 * read_row(&FIRST).score_err_ns, 15400);
	pass(1, b, 1000000);
	pass(1, b, 2000000);
	assert_page("1:1500000=1 0:2480000=1");
}

static void a_sample_has_the_time_of_its_file(void **state)
{
	(void)state;
	static const struct statement make_sample =
		COMMAND("INSERT INTO task_files (task_version_id, role, path, sha256) "
				"SELECT task_version_id, 'sample', 'sample.py', sha256 FROM submissions "
				"WHERE id = ?");
	int64_t first = contest_submit_source(gpus, 0, a);
	assert_done(database_execute(db, &make_sample, &error, "i", first));
	contest_pass(contest_job_of(first), 90, 1, "isolated");
	assert_near(read_row(&BASELINE).score_ns, 90);
	pass(1, a, 110);
	assert_near(read_row(&BASELINE).score_ns, 100);
	assert_page("0:100=1 1:100=1");
	assert_near(read_row(&BASELINE).score_ns, 100);
}

/* Deletes a user's account, and checks the ranking. */
static void delete_user(int user, const char *expected)
{
	assert_done(account_delete(db, contest.user_ids[user], &error));
	assert_page(expected);
}

static void results_of_a_deleted_account_stay_in_the_time_of_a_file(void **state)
{
	(void)state;
	static const struct statement left =
		NUMBER("SELECT COUNT(*) AS number FROM submissions s JOIN blobs b ON b.sha256 = s.sha256 "
			   "WHERE b.content LIKE 'This source was deleted%' AND file_name = 'deleted.txt'");
	const int user = leaves;
	const long long gone = contest.user_ids[user], next = contest.user_ids[user - 1];
	pass(0, a, 100);
	int64_t slow = pass(user, a, 180); /* the unlucky run of a file that another user shares */
	change(slow, &WITHDRAW);
	pass(user, b, 10); /* the user's own file */
	pass(user, b, 30);
	pass(user, c, 210); /* the user's own file too, and no place comes from it */
	contest_submit_source(gpus, user, "e = 1\n");
	pass(user - 1, "d = 1\n", 40);
	assert_page("4:20=1 3:40=2 0:140=3");
	struct account_extent extent;
	assert_done(account_extent(db, arena, gone, &extent, &error));
	assert_int_equal(extent.places, 1);
	assert_int_equal(extent.kept, 4);
	assert_int_equal(extent.deleted, 1);
	delete_user(user, arena_printf(arena, "%lld:20=1 3:40=2 0:140=3", gone));
	assert_int_equal(number_of(&left), 4);
	/* A second account's file does not become the same file as the first one's. */
	delete_user(user - 1, arena_printf(arena, "%lld:20=1 %lld:40=2 0:140=3", gone, next));
	pass(0, a, 80); /* the file is still the same */
	pass(1, b, 50);
	assert_page(arena_printf(arena, "%lld:30=1 1:30=1 %lld:40=1 0:120=4", gone, next));
	pass(2, c, 190); /* so is the file that nobody else had sent before */
	assert_page(arena_printf(arena, "%lld:30=1 1:30=1 %lld:40=1 0:120=4 2:200=5", gone, next));
}

static void any_course_of_events_leaves_the_rows_that_a_rebuilding_gives(void **state)
{
	(void)state;
	enum { events = 60, files = 6 };
	srandom(11);
	for (int i = 0; i < events; i++) {
		int64_t id = pass((int)(random() % leaves),
			arena_printf(arena, "f = %ld\n", random() % files), 1000 + (double)(random() % 100));
		if (random() % 4 == 0)
			change(id, random() % 2 ? &WITHDRAW : &HIDE);
		const char *before = all_rows();
		assert_done(ranking_rebuild(db, contest.board.id, &error));
		assert_string_equal(all_rows(), before);
	}
}

/* ---- a file that many users have sent ---- */

enum { crowd = 300, files_of_each = 5 };
#define SEQUENCE "seq_1_to_1500 "
_Static_assert(crowd *files_of_each == 1500, "SEQUENCE has a number for each file");
#define HASH_OF(number) "UNHEX(SHA2(CONCAT('crowd ', " number "), 256))"

/* Gives each user of a crowd files of the user's own and the file of a submission, all with a
 * result. */
static void send_by_a_crowd(int64_t submission_id)
{
	static const struct statement put_users =
		COMMAND("INSERT INTO users (name, password_hash) SELECT CONCAT('crowd-', seq), 'none' "
				"FROM " SEQUENCE "WHERE seq <= ?");
	static const struct statement put_files = COMMAND(
		"INSERT INTO blobs (sha256, size, content) SELECT " HASH_OF("seq") ", 1, 'x' "
																		   "FROM " SEQUENCE);
	static const struct statement put_own =
		COMMAND("INSERT INTO submissions (leaderboard_id, task_version_id, user_id, file_name, "
				"sha256, mode, practice, dialect) SELECT o.leaderboard_id, o.task_version_id, "
				"u.id, 'f.py', " HASH_OF(
					"seq") ", 'ranked', FALSE, 'python' FROM " SEQUENCE
						   "JOIN users u ON u.name = CONCAT('crowd-', (seq - 1) DIV ? + 1) "
						   "JOIN submissions o ON o.id = ?");
	static const struct statement put_shared =
		COMMAND("INSERT INTO submissions (leaderboard_id, task_version_id, user_id, file_name, "
				"sha256, mode, practice, dialect) SELECT o.leaderboard_id, o.task_version_id, "
				"u.id, 'f.py', o.sha256, 'ranked', FALSE, 'python' FROM users u "
				"JOIN submissions o ON o.id = ? WHERE u.name LIKE 'crowd-%'");
	static const struct statement put_jobs =
		COMMAND("INSERT INTO jobs (submission_id, user_id, gpu, state, verdict, score_ns, "
				"score_err_ns, engine, finished_at, ranked_at) SELECT id, user_id, 'CPU', 'done', "
				"'passed', 1000 + id, 1, 'isolated', UTC_TIMESTAMP(3), UTC_TIMESTAMP(3) "
				"FROM submissions WHERE id > ? AND file_name = 'f.py'");
	assert_done(database_execute(db, &put_users, &error, "i", (int64_t)crowd));
	assert_done(database_execute(db, &put_files, &error, ""));
	assert_done(
		database_execute(db, &put_own, &error, "ii", (int64_t)files_of_each, submission_id));
	assert_done(database_execute(db, &put_shared, &error, "i", submission_id));
	assert_done(database_execute(db, &put_jobs, &error, "i", submission_id));
	assert_done(ranking_rebuild(db, contest.board.id, &error));
}

static void resubmitting_a_file_of_many_users_reads_each_of_their_results_a_few_times(void **state)
{
	(void)state;
	static const struct statement read =
		NUMBER("SELECT CAST(SUM(variable_value) AS INTEGER) AS number "
			   "FROM information_schema.session_status WHERE variable_name LIKE 'Handler_read%'");
	enum { results = crowd * (files_of_each + 1), reads_of_each = 120 };
	send_by_a_crowd(pass(0, a, 100));
	int64_t before = number_of(&read);
	pass(1, a, 200);
	int64_t rows = number_of(&read) - before;
	printf("# %lld rows read for %d results\n", (long long)rows, results);
	assert_true(rows < reads_of_each * results);
}

/* ---- what resubmitting gains ---- */

/* In each of the trials, one file gets `rounds` results: normal noise, and one in 200 is slow. */
enum { trials = 500, rounds = 50, one_in_slow = 200, rules = 21 };
static const double usual_ns = 1e6, noise_ns = 5e3, slow_ns = 2e4;

#define DRAWS "JSON_TABLE(?, '$[*]' COLUMNS (number FOR ORDINALITY, score_ns DOUBLE PATH '$')) d "
#define HASH "UNHEX(SHA2(d.number, 256))"
static const struct statement PUT_FILES =
	COMMAND("INSERT INTO blobs (sha256, size, content) SELECT " HASH
			", LENGTH(d.number), d.number FROM " DRAWS);
static const struct statement PUT_SUBMISSIONS =
	COMMAND("INSERT INTO submissions (leaderboard_id, task_version_id, user_id, file_name, sha256, "
			"mode, practice, dialect) SELECT ?, ?, ?, 'f.py', " HASH
			", 'ranked', FALSE, 'python' FROM " DRAWS);
static const struct statement PUT_JOBS = COMMAND(
	"INSERT INTO jobs (submission_id, user_id, gpu, state, verdict, score_ns, score_err_ns, "
	"engine, finished_at) SELECT s.id, s.user_id, 'H200', 'done', 'passed', d.score_ns, ?, "
	"'isolated', UTC_TIMESTAMP(3) FROM " DRAWS
	"STRAIGHT_JOIN submissions s ON s.id = ? + d.number - 1");

struct time_row {
	double score_ns;
	int64_t results;
};
static const struct column TIME_ROW_COLUMNS[] = {
	REAL(struct time_row, score_ns),
	INTEGER(struct time_row, results),
};
static const struct statement TIMES = SELECT(struct time_row, TIME_ROW_COLUMNS,
	"SELECT score_ns, results FROM file_times WHERE task_version_id = ? ORDER BY id");

static double draw(void)
{
	double normal = sqrt(-2 * log(1 - drand48())) * cos(6.283185307179586 * drand48());
	return usual_ns + noise_ns * normal + (lrand48() % one_in_slow ? 0 : slow_ns);
}

static int rebuild_body(struct database *connection, void *context, struct error *why)
{
	(void)context;
	return file_time_rebuild(connection, contest.board.id, why);
}

/* Gives each file another result, and reads the times of all files, in nanoseconds. */
static void run_round(const double *scores_ns, int round, double *times_ns)
{
	cleanup_buffer struct buffer draws = { 0 };
	struct time_row *rows;
	size_t count;
	for (int i = 0; i < trials; i++)
		buffer_printf(&draws, "%s%.3f", i ? "," : "[", scores_ns[i]);
	buffer_text(&draws, "]");
	const char *json = buffer_string(&draws);
	if (!round)
		assert_done(database_execute(db, &PUT_FILES, &error, "s", json));
	assert_done(database_execute(db, &PUT_SUBMISSIONS, &error, "iiis", contest.board.id,
		contest.board.task_version_id, contest.user_ids[0], json));
	int64_t first = (int64_t)database_insert_id(db);
	assert_done(database_execute(db, &PUT_JOBS, &error, "dsi", 100.0, json,
		first)); /* one INSERT numbers its rows consecutively */
	assert_done(database_transaction(db, rebuild_body, NULL, &error));
	assert_done(database_rows(
		db, arena, &TIMES, &rows, &count, &error, "i", contest.board.task_version_id));
	assert_int_equal(count, trials);
	for (int i = 0; i < trials; i++) {
		assert_int_equal(rows[i].results, round + 1);
		times_ns[i] = rows[i].score_ns;
	}
}

/* The mean gain of users who stop at the first time that is `wanted_ns` better than the true one.
 */
static double gain_of_stopping(const double (*times_ns)[trials], double true_ns, double wanted_ns)
{
	double gain_ns = 0;
	for (int i = 0; i < trials; i++) {
		int round = 0;
		while (round < rounds - 1 && true_ns - times_ns[round][i] < wanted_ns)
			round++;
		gain_ns += true_ns - times_ns[round][i];
	}
	return gain_ns / trials;
}

static void fifty_submissions_of_one_file_gain_nothing(void **state)
{
	(void)state;
	static double scores_ns[rounds][trials], times_ns[rounds][trials];
	const double true_ns = usual_ns + slow_ns / one_in_slow,
				 deviation_ns = sqrt(noise_ns * noise_ns
					 + slow_ns * slow_ns / one_in_slow * (1 - 1.0 / one_in_slow));
	contest_use_engine(gpus[1], "isolated");
	srand48(24);
	for (int round = 0; round < rounds; round++) {
		for (int i = 0; i < trials; i++)
			scores_ns[round][i] = draw();
		run_round(scores_ns[round], round, times_ns[round]);
	}
	double bias_ns = 0, best_gain_ns = 0, stop_gain_ns = 0;
	for (int i = 0; i < trials; i++) {
		double best_ns = INFINITY;
		for (int round = 0; round < rounds; round++)
			best_ns = fmin(best_ns, scores_ns[round][i]);
		best_gain_ns += (true_ns - best_ns) / trials;
		bias_ns += (times_ns[rounds - 1][i] - true_ns) / trials;
	}
	for (int rule = 0; rule < rules; rule++) /* from "better than the truth" to one deviation */
		stop_gain_ns = fmax(
			stop_gain_ns, gain_of_stopping(times_ns, true_ns, rule * deviation_ns / (rules - 1)));
	printf(
		"# in standard deviations of one run: bias after %d runs %.4f, gain of the best %.2f, of "
		"stopping %.2f\n",
		rounds, bias_ns / deviation_ns, best_gain_ns / deviation_ns, stop_gain_ns / deviation_ns);
	assert_true(fabs(bias_ns) < 3 * deviation_ns / sqrt((double)rounds * trials));
	assert_true(best_gain_ns > 2 * deviation_ns);
	assert_true(stop_gain_ns < 0.5 * deviation_ns); /* docs/ranking.md says so */
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, contest_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_resubmission_adds_its_measurement),
		TEST(errors_of_results_that_agree_shrink_with_their_number),
		TEST(an_unknown_error_stays_unknown),
		TEST(fifty_submissions_of_one_file_gain_nothing),
		TEST(users_with_one_file_tie),
		TEST(a_comparison_counts_for_all_entries_of_two_files),
		TEST(a_comparison_waits_while_somebody_has_the_file),
		TEST(a_users_best_changes_with_the_time_of_the_file),
		TEST(devices_have_times_of_their_own),
		TEST(a_withdrawn_result_still_counts_and_a_hidden_one_does_not),
		TEST(results_that_differ_much_are_charged_on_a_gpu),
		TEST(a_sample_has_the_time_of_its_file),
		TEST(any_course_of_events_leaves_the_rows_that_a_rebuilding_gives),
		TEST(results_of_a_deleted_account_stay_in_the_time_of_a_file),
		TEST(resubmitting_a_file_of_many_users_reads_each_of_their_results_a_few_times),
	};
	return cmocka_run_group_tests(tests, open_all, fixture_close);
}
