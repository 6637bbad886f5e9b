/* Creating, editing and deleting leaderboards in a real MariaDB, which library.test starts. */
#include "tests/integration/library/fixture.h"

#include "lib/base/format.h"
#include "lib/database/blob.h"
#include "lib/gpu/device.h"
#include "lib/intake/submission.h"
#include "lib/leaderboard/dry_run.h"
#include "lib/leaderboard/publication.h"

#include <pthread.h>

static const char REFERENCE[] = "def check_implementation(data, output):\n    return True, ''\n";
static const char *both[] = { "H200", "CPU" }, *cpu[] = { "CPU" };
static struct actor ada;

static int open_all(void **state)
{
	int rc = fixture_open(state);
	if (!rc)
		ada = (struct actor){ make_user("board-ada"), "board-ada", "127.0.0.1" };
	return rc;
}

static struct leaderboard_settings settings_of(const char *name)
{
	return (struct leaderboard_settings){ .unchecked = true,
		.name = name,
		.deadline_ms = TIME_NULL,
		.accepting = true,
		.gpus = both,
		.gpu_count = 2 };
}

static int64_t submit(const struct leaderboard *leaderboard, int64_t user_id, const char *source)
{
	struct submission_request request = { .user_id = user_id,
		.source = source,
		.length = strlen(source),
		.mode = "ranked",
		.gpus = cpu,
		.gpu_count = 1 };
	int64_t id = 0;
	assert_done(submission_create(db, arena, leaderboard, &request, &id, &error));
	return id;
}

static void a_leaderboard_keeps_its_settings_its_task_and_every_file(void **state)
{
	(void)state;
	struct material m = make_task(PY_TASK, REFERENCE);
	struct leaderboard_settings settings = settings_of("Kept");
	settings.deadline_ms = now_ms() / 60000 * 60000 + 3600000;
	assert_done(create(&settings, &m, &ada));
	struct leaderboard board = find("kEPT");
	assert_string_equal(board.name, "Kept");
	assert_string_equal(board.language, "py");
	assert_int_equal(board.deadline_ms, settings.deadline_ms);
	assert_int_equal(board.creator_id, ada.id);
	assert_int_equal(board.version_number, 1);
	const char **gpus;
	size_t count;
	assert_done(leaderboard_gpus(db, arena, board.id, &gpus, &count, &error));
	assert_int_equal(count, 2);
	assert_string_equal(gpus[0], "H200");
	struct task *task;
	assert_done(leaderboard_task(db, arena, board.task_version_id, &task, &error));
	assert_string_equal(task->main, "eval.py");
	assert_string_equal(task->tests[0], m.task->tests[0]);
	struct blob_value content;
	assert_done(leaderboard_file(
		db, arena, board.task_version_id, ROLE_FILE, "reference.py", &content, &error));
	assert_int_equal(content.length, strlen(REFERENCE));
	assert_memory_equal(content.bytes, REFERENCE, content.length);
	assert_done(
		leaderboard_file(db, arena, board.task_version_id, ROLE_FILE, "eval.py", &content, &error));
	assert_done(leaderboard_file(
		db, arena, board.task_version_id, ROLE_DEFINITION, "task.yml", &content, &error));
	assert_done(leaderboard_file(
		db, arena, board.task_version_id, ROLE_TEMPLATE, "Python", &content, &error));
	assert_int_equal(
		leaderboard_file(db, arena, board.task_version_id, ROLE_FILE, "task.yml", &content, &error),
		ERROR_NOT_FOUND);
}

static void the_secret_seed_is_below_two_to_the_31_and_differs(void **state)
{
	(void)state;
	struct material m = make_task(PY_TASK, REFERENCE);
	struct leaderboard_settings settings = settings_of("seed");
	assert_done(create(&settings, &m, &ada));
	static const struct statement seeds =
		NUMBER("SELECT COUNT(DISTINCT secret_seed) = 2 AND MAX(secret_seed) < 2147483648 AS number "
			   "FROM leaderboards WHERE name IN ('kept', 'seed')");
	assert_int_equal(number_of(&seeds), 1);
}

static void what_cannot_be_is_refused_at_its_field_and_nothing_is_stored(void **state)
{
	(void)state;
	static const struct statement rows =
		NUMBER("SELECT (SELECT COUNT(*) FROM leaderboards) + (SELECT COUNT(*) "
			   "FROM task_versions) + (SELECT COUNT(*) FROM blobs) "
			   "+ (SELECT COUNT(*) FROM audit_log) AS number");
	int64_t before = number_of(&rows);
	struct material m = make_task(PY_TASK, "def other(): pass\n");
	struct leaderboard_settings settings = settings_of("../x");
	assert_refused(create(&settings, &m, &ada), ERROR_INPUT, "name", "1 to 64");
	settings.name = "x.json";
	assert_refused(create(&settings, &m, &ada), ERROR_INPUT, "name", ".json");
	settings.name = "KEPT";
	assert_refused(create(&settings, &m, &ada), ERROR_CONFLICT, "name", "KEPT already");
	settings = settings_of("fine");
	settings.deadline_ms = now_ms() - 1000;
	assert_refused(create(&settings, &m, &ada), ERROR_INPUT, "deadline", "has passed");
	settings.deadline_ms = TIME_NULL;
	static const char *hostile[] = { "CPU", "<b>" }, *empty[] = { "" };
	settings.gpus = hostile;
	assert_refused(create(&settings, &m, &ada), ERROR_INPUT, "gpu", "\"<b>\"");
	settings.gpus = empty;
	settings.gpu_count = 1;
	assert_refused(create(&settings, &m, &ada), ERROR_INPUT, "gpu", "1 to 48");
	struct material cu = make_task(CU_TASK, REFERENCE);
	settings = settings_of("fine");
	assert_refused(create(&settings, &cu, &ada), ERROR_INPUT, "gpu", "CPU cannot run");
	assert_int_equal(number_of(&rows), before);
}

static void a_gpu_named_twice_counts_once_and_none_is_allowed(void **state)
{
	(void)state;
	static const char *twice[] = { "CPU", "CPU" };
	struct material m = make_task(PY_TASK, REFERENCE);
	struct leaderboard_settings settings = settings_of("twice");
	settings.gpus = twice;
	assert_done(create(&settings, &m, &ada));
	const char **gpus;
	size_t count;
	assert_done(leaderboard_gpus(db, arena, find("twice").id, &gpus, &count, &error));
	assert_int_equal(count, 1);
	settings = settings_of("without");
	settings.gpu_count = 0;
	assert_done(create(&settings, &m, &ada));
	assert_done(leaderboard_gpus(db, arena, find("without").id, &gpus, &count, &error));
	assert_int_equal(count, 0);
}

static int update(
	const char *name, const struct leaderboard_settings *settings, const struct material *m)
{
	struct leaderboard board = find(name);
	return leaderboard_update(db, arena, &board, settings, m ? m->task : NULL,
		m ? &m->upload : NULL, m ? &m->stock : NULL, &ada, NULL, &error);
}

static const struct statement AUDIT_ENTRIES =
	NUMBER("SELECT COUNT(*) AS number FROM audit_log WHERE subject = 'kept' "
		   "AND action = 'leaderboard.update'");

static void an_edit_that_changes_nothing_writes_nothing(void **state)
{
	(void)state;
	struct material same = make_task(PY_TASK, REFERENCE);
	struct leaderboard_settings settings = settings_of(NULL);
	settings.deadline_ms = find("kept").deadline_ms;
	assert_done(update("kept", &settings, &same));
	assert_done(update("kept", &settings, NULL));
	assert_int_equal(find("kept").version_number, 1);
	assert_int_equal(number_of(&AUDIT_ENTRIES), 0);
}

static void a_changed_file_or_definition_becomes_a_version_and_old_ones_stay(void **state)
{
	(void)state;
	struct leaderboard first = find("kept");
	struct leaderboard_settings settings = settings_of(NULL);
	settings.deadline_ms = first.deadline_ms;
	struct material changed =
		make_task(PY_TASK, "def check_implementation(data, output):\n    return False, 'no'\n");
	assert_done(update("kept", &settings, &changed));
	assert_int_equal(find("kept").version_number, 2);
	struct blob_value content;
	assert_done(leaderboard_file(
		db, arena, first.task_version_id, ROLE_FILE, "reference.py", &content, &error));
	assert_memory_equal(content.bytes, REFERENCE, content.length);
	char definition[sizeof PY_TASK + 64];
	snprintf(definition, sizeof definition, "%stest_timeout: 7\n", PY_TASK);
	struct material longer = make_task(definition, REFERENCE);
	assert_done(update("kept", &settings, &longer));
	struct task *task;
	assert_done(leaderboard_task(db, arena, find("kept").task_version_id, &task, &error));
	assert_int_equal(task->test_timeout_s, 7);
	assert_int_equal(find("kept").version_number, 3);
	assert_int_equal(number_of(&AUDIT_ENTRIES), 2);
}

static void settings_can_be_changed_alone(void **state)
{
	(void)state;
	struct leaderboard_settings settings = { .unchecked = true,
		.deadline_ms = TIME_NULL,
		.accepting = false,
		.sources = "ranked",
		.license = "MIT",
		.gpus = cpu,
		.gpu_count = 1 };
	assert_done(update("kept", &settings, NULL));
	struct leaderboard board = find("kept");
	assert_true(board.deadline_ms == TIME_NULL);
	assert_int_equal(board.accepting, 0);
	assert_string_equal(board.sources, "ranked");
	assert_string_equal(board.license, "MIT");
	assert_int_equal(board.version_number, 3);
	static const struct statement gpus =
		NUMBER("SELECT COUNT(*) AS number FROM leaderboard_gpus g "
			   "JOIN leaderboards l ON l.id = g.leaderboard_id WHERE l.name = 'kept'");
	assert_int_equal(number_of(&gpus), 1);
	struct material cu = make_task(CU_TASK, REFERENCE);
	assert_refused(update("kept", &settings, &cu), ERROR_INPUT, "gpu", "CPU cannot run");
	assert_int_equal(find("kept").version_number, 3);
}

/* ---- deleting ---- */

static const struct statement ORPHANS =
	NUMBER("SELECT (SELECT COUNT(*) FROM blobs b WHERE NOT EXISTS (SELECT 1 FROM task_files t "
		   "WHERE t.sha256 = b.sha256) "
		   "AND NOT EXISTS (SELECT 1 FROM submissions s WHERE s.sha256 = b.sha256)) "
		   "+ (SELECT COUNT(*) FROM jobs j LEFT JOIN submissions s ON s.id = j.submission_id "
		   "WHERE s.id IS NULL) AS number");

static void deleting_takes_all_of_it_and_leaves_what_others_use(void **state)
{
	(void)state;
	struct material m = make_task(PY_TASK, REFERENCE), own = make_task(PY_TASK, "# only here\n");
	struct leaderboard_settings settings = settings_of("doomed"), other = settings_of("other");
	assert_done(create(&settings, &own, &ada));
	assert_done(create(&other, &m, &ada));
	struct leaderboard doomed = find("doomed"), survivor = find("other");
	int64_t user_id = make_user("board-bob");
	submit(&doomed, user_id, "shared = 1\n");
	int64_t submission = submit(&doomed, user_id, "own = 1\n"),
			kept = submit(&survivor, user_id, "shared = 1\n");
	static const struct statement run = COMMAND(
		"UPDATE jobs SET state = 'running', lease_owner = 'w', fence = 1 WHERE submission_id = ?");
	static const struct statement stage =
		COMMAND("INSERT INTO stages (job_id, position, name, message, command, stdout, stderr) "
				"SELECT id, 0, 'compile', '', '', '', '' FROM jobs WHERE submission_id = ?");
	static const struct statement measurement =
		COMMAND("INSERT INTO measurements (stage_id, case_index, spec, verdict, message) "
				"SELECT id, 0, '', 'passed', '' FROM stages");
	static const struct statement rank = COMMAND(
		"INSERT INTO ranking (leaderboard_id, task_version_id, gpu, user_id, submission_id, "
		"job_id, score_ns, score_err_ns, submitted_at, "
		"position, place) SELECT s.leaderboard_id, s.task_version_id, j.gpu, s.user_id, s.id, "
		"j.id, 1, 1, s.submitted_at, 1, 1 "
		"FROM jobs j JOIN submissions s ON s.id = j.submission_id WHERE s.id = ?");
	assert_done(database_execute(db, &run, &error, "i", submission));
	assert_done(database_execute(db, &stage, &error, "i", submission));
	assert_done(database_execute(db, &measurement, &error, ""));
	assert_done(database_execute(db, &rank, &error, "i", submission));
	assert_done(leaderboard_delete(db, &doomed, &ada, &error));
	assert_int_equal(leaderboard_by_name(db, arena, "doomed", &doomed, &error), ERROR_NOT_FOUND);
	static const struct statement left =
		NUMBER("SELECT (SELECT COUNT(*) FROM stages) + (SELECT COUNT(*) "
			   "FROM measurements) + (SELECT COUNT(*) FROM ranking) AS number");
	assert_int_equal(number_of(&left), 0);
	assert_int_equal(number_of(&ORPHANS), 0);
	static const struct statement content =
		NUMBER("SELECT COUNT(*) AS number FROM submissions s JOIN blobs b ON b.sha256 = s.sha256 "
			   "WHERE b.content = 'shared = 1\\n'");
	assert_int_equal(number_of(&content), 1);
	static const struct statement entry =
		NUMBER("SELECT COUNT(*) AS number FROM audit_log WHERE action = 'leaderboard.delete' "
			   "AND subject = 'doomed' "
			   "AND actor = 'board-ada' AND address = '127.0.0.1' AND detail LIKE '%1 task "
			   "version%2 submissions%1 of them running%'");
	assert_int_equal(number_of(&entry), 1);
	struct blob_value file;
	assert_done(leaderboard_file(
		db, arena, survivor.task_version_id, ROLE_FILE, "reference.py", &file, &error));
	assert_true(kept > 0);
}

static void deleting_twice_says_so(void **state)
{
	(void)state;
	struct leaderboard board = find("twice");
	assert_done(leaderboard_delete(db, &board, &ada, &error));
	assert_refused(
		leaderboard_delete(db, &board, &ada, &error), ERROR_NOT_FOUND, "", "deleted already");
	struct leaderboard_settings settings = settings_of(NULL);
	assert_refused(
		leaderboard_update(db, arena, &board, &settings, NULL, NULL, NULL, &ada, NULL, &error),
		ERROR_NOT_FOUND, "", "deleted meanwhile");
}

/* Threads that keep submitting a file to one leaderboard, while the test creates and deletes other
 * leaderboards whose task has the same file. */
enum { rounds = 25, submitters = 2 };
struct submitter {
	struct leaderboard board;
	int64_t user_id;
	int rc;
	struct error error;
};

static void *submit_again_and_again(void *context)
{
	struct submitter *s = context;
	cleanup_arena struct arena *own = arena_new();
	cleanup_database struct database *connection = database_open(&config, &s->error);
	static const char source[] = "contended = 1\n";
	struct submission_request request = { .user_id = s->user_id,
		.source = source,
		.length = sizeof source - 1,
		.mode = "test",
		.gpus = cpu,
		.gpu_count = 1 };
	for (int i = 0; i < rounds * 4 && !s->rc; i++) {
		int64_t id;
		s->rc = connection ? submission_create(connection, own, &s->board, &request, &id, &s->error)
						   : -1;
		arena_reset(own);
	}
	return NULL;
}

static void a_file_that_is_submitted_elsewhere_meanwhile_survives_a_deletion(void **state)
{
	(void)state;
	struct submitter all[submitters];
	pthread_t threads[submitters];
	for (int i = 0; i < submitters; i++) {
		char name[32];
		snprintf(name, sizeof name, "board-busy-%d", i);
		all[i] = (struct submitter){ .board = find("other"), .user_id = make_user(name) };
		assert_int_equal(pthread_create(&threads[i], NULL, submit_again_and_again, &all[i]), 0);
	}
	struct material m = make_task(PY_TASK, "contended = 1\n");
	for (int i = 0; i < rounds; i++) {
		struct leaderboard_settings settings = settings_of("fleeting");
		assert_done(create(&settings, &m, &ada));
		struct leaderboard board = find("fleeting");
		submit(&board, all[0].user_id, "contended = 1\n");
		assert_done(leaderboard_delete(db, &board, &ada, &error));
	}
	for (int i = 0; i < submitters; i++) {
		pthread_join(threads[i], NULL);
		if (all[i].rc)
			fail_msg("%s", all[i].error.text);
	}
	assert_int_equal(number_of(&ORPHANS), 0);
}

static void only_devices_of_live_workers_are_offered(void **state)
{
	(void)state;
	assert_done(database_script(db,
		"DELETE FROM workers; INSERT INTO workers (id, name, version, host, started_at, "
		"seen_at) VALUES "
		"(1, 'a', '1', '{}', UTC_TIMESTAMP(), UTC_TIMESTAMP()), (2, 'b', '1', '{}', "
		"UTC_TIMESTAMP(), UTC_TIMESTAMP());"
		"INSERT INTO gpus (worker_id, uuid, model, product, memory_bytes, driver, "
		"compute_capability, seen_at) VALUES "
		"(1, 'u1', 'H200', 'NVIDIA H200', 1, '', '9.0', UTC_TIMESTAMP()), (1, 'u2', 'H200', "
		"'NVIDIA H200', 1, '', '9.0', UTC_TIMESTAMP()),(2, 'u3', 'H200', 'NVIDIA H200', 1, '', "
		"'9.0', UTC_TIMESTAMP()), (2, 'u4', 'A100', 'NVIDIA A100', 1, '', '8.0', UTC_TIMESTAMP() - "
		"INTERVAL 3 MINUTE)",
		&error));
	struct offered_gpu *gpus;
	size_t count;
	assert_done(gpus_offered(db, arena, &gpus, &count, &error));
	assert_int_equal(count, 1);
	assert_string_equal(gpus[0].model, "H200");
	assert_string_equal(gpus[0].product, "NVIDIA H200");
	assert_int_equal(gpus[0].workers, 2);
	assert_true(gpu_runs_language("CPU", TASK_PY));
	assert_false(gpu_runs_language("CPU", TASK_CU));
	assert_true(gpu_runs_language("H200", TASK_CU));
}

/* ---- checks that have failed ---- */

static int64_t status(const char *name)
{
	static const struct statement value = NUMBER(
		"SELECT CAST(VARIABLE_VALUE AS INT) AS number FROM information_schema.session_status "
		"WHERE VARIABLE_NAME = ?");
	struct number row;
	assert_done(database_row(db, arena, &value, &row, &error, "s", name));
	return row.number;
}

/* The statements of one look at all publications, and the rows that they read. */
struct work {
	int64_t statements, rows;
};
static struct work look(void)
{
	struct work work = { -status("COM_STMT_EXECUTE"), -status("ROWS_READ") };
	assert_done(publications_advance(db, &error));
	work.rows += status("ROWS_READ");
	work.statements += status("COM_STMT_EXECUTE") - 3; /* without those of status() */
	return work;
}

static void fail_dry_runs(void)
{
	assert_done(database_script(db,
		"UPDATE jobs j JOIN submissions s ON s.id = j.submission_id SET j.state = 'done', "
		"j.verdict = 'wrong answer', j.finished_at = UTC_TIMESTAMP(3) "
		"WHERE s.dry_run AND j.state = 'queued'",
		&error));
}

static void a_check_that_has_failed_is_not_read_each_second(void **state)
{
	(void)state;
	enum { boards = 20, devices = boards };
	struct material m = make_task(PY_TASK, "def ref_kernel(data):\n    return data\n");
	for (int i = 0; i < boards; i++) {
		struct leaderboard_settings settings = settings_of(arena_printf(arena, "failed-%d", i));
		settings.unchecked = false;
		assert_done(create(&settings, &m, &ada));
		settings.name = arena_printf(arena, "closed-%d", i);
		settings.unchecked = true;
		settings.gpu_count = 1;
		assert_done(create(&settings, &m, &ada));
		settings.unchecked = false;
		settings.gpu_count = 2; /* the second device is closed */
		assert_done(update(settings.name, &settings, NULL));
	}
	struct work running = look();
	assert_int_equal(running.statements, 1);
	fail_dry_runs();
	struct work first = look(), next = look();
	printf("# %lld statements and %lld rows, then %lld and %lld\n", (long long)first.statements,
		(long long)first.rows, (long long)next.statements, (long long)next.rows);
	assert_true(first.statements > 5 * (boards + devices));
	assert_int_equal(next.statements, 1);
	assert_true(next.rows <= 3 * (boards + devices));
	/* A dry run that ends is read at once, and everything after a minute. */
	struct leaderboard board = find("failed-0"), other = find("closed-0");
	assert_done(dry_run_start(db, arena, &board, 1, &ada, &error));
	assert_done(dry_run_start(db, arena, &other, 1, &ada, &error));
	assert_int_equal(look().statements, 1);
	fail_dry_runs();
	struct work again = look();
	assert_true(again.statements > 10 && again.statements < 40);
	assert_int_equal(look().statements, 1);
	assert_done(database_script(db,
		"UPDATE publications SET looked_at = looked_at - INTERVAL 61 SECOND; UPDATE "
		"leaderboard_gpus SET looked_at = looked_at - INTERVAL 61 SECOND",
		&error));
	assert_int_equal(look().statements, first.statements);
}

static int close_all(void **state)
{
	assert_done(database_script(db,
		"DELETE FROM ranking; DELETE FROM submissions; DELETE FROM leaderboards; DELETE "
		"FROM task_files; "
		"DELETE FROM blobs; DELETE FROM workers; DELETE FROM audit_log; DELETE FROM users "
		"WHERE name LIKE 'board-%'",
		&error));
	return fixture_close(state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_leaderboard_keeps_its_settings_its_task_and_every_file),
		cmocka_unit_test(the_secret_seed_is_below_two_to_the_31_and_differs),
		cmocka_unit_test(what_cannot_be_is_refused_at_its_field_and_nothing_is_stored),
		cmocka_unit_test(a_gpu_named_twice_counts_once_and_none_is_allowed),
		cmocka_unit_test(an_edit_that_changes_nothing_writes_nothing),
		cmocka_unit_test(a_changed_file_or_definition_becomes_a_version_and_old_ones_stay),
		cmocka_unit_test(settings_can_be_changed_alone),
		cmocka_unit_test(deleting_takes_all_of_it_and_leaves_what_others_use),
		cmocka_unit_test(deleting_twice_says_so),
		cmocka_unit_test(a_file_that_is_submitted_elsewhere_meanwhile_survives_a_deletion),
		cmocka_unit_test(only_devices_of_live_workers_are_offered),
		cmocka_unit_test(a_check_that_has_failed_is_not_read_each_second),
	};
	return cmocka_run_group_tests(tests, open_all, close_all);
}
