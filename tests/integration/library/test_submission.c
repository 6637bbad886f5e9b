/* Creating submissions in a real MariaDB, which library.test starts. */
#include "tests/integration/library/fixture.h"

#include "lib/base/format.h"
#include "lib/intake/submission.h"

static const char *both[] = { "H200", "CPU" }, *cpu[] = { "CPU" }, *h200[] = { "H200" },
				  *tpu[] = { "TPU" };
static struct leaderboard py, cu, single;
static int64_t user_id;

static int open_all(void **state)
{
	if (fixture_open(state))
		return -1;
	user_id = make_user("sub-ada");
	const struct actor actor = { user_id, "sub-ada", "" };
	struct material python = make_task(PY_TASK, "# reference\n"),
					cuda = make_task(CU_TASK, "# reference\n");
	struct leaderboard_settings settings = { .unchecked = true,
		.name = "sub-py",
		.deadline_ms = TIME_NULL,
		.accepting = true,
		.gpus = both,
		.gpu_count = 2 };
	assert_done(create(&settings, &python, &actor));
	settings.name = "sub-cu";
	settings.gpu_count = 1;
	assert_done(create(&settings, &cuda, &actor));
	settings.name = "sub-single";
	settings.gpus = cpu;
	assert_done(create(&settings, &python, &actor));
	py = find("sub-py");
	cu = find("sub-cu");
	single = find("sub-single");
	return 0;
}

static struct submission_request code(const char *source)
{
	return (struct submission_request){ .user_id = user_id,
		.source = source,
		.length = strlen(source),
		.mode = "test",
		.gpus = cpu,
		.gpu_count = 1 };
}

static struct submission_request file(const char *name, const char *source)
{
	struct submission_request request = code(source);
	request.file_name = name;
	return request;
}

static int send(
	const struct leaderboard *leaderboard, struct submission_request request, int64_t *id)
{
	return submission_create(db, arena, leaderboard, &request, id, &error);
}

struct stored {
	const char *file_name, *mode, *gpus, *content;
	int64_t version;
};
static const struct column STORED_COLUMNS[] = {
	TEXT(struct stored, file_name),
	TEXT(struct stored, mode),
	TEXT(struct stored, gpus),
	TEXT(struct stored, content),
	INTEGER(struct stored, version),
};
static const struct statement STORED = SELECT(struct stored, STORED_COLUMNS,
	"SELECT s.file_name, s.mode, GROUP_CONCAT(CONCAT(j.gpu, ' ', j.state) ORDER BY j.id) AS gpus, "
	"CONVERT(b.content USING utf8mb4) AS content, s.task_version_id AS version "
	"FROM submissions s JOIN jobs j ON j.submission_id = s.id "
	"JOIN blobs b ON b.sha256 = s.sha256 WHERE s.id = ? GROUP BY s.id");

static struct stored stored(int64_t id)
{
	struct stored row;
	assert_done(database_row(db, arena, &STORED, &row, &error, "i", id));
	return row;
}

static void a_submission_gets_one_job_for_each_gpu_in_the_leaderboards_order(void **state)
{
	(void)state;
	static const char *reversed[] = { "CPU", "H200", "CPU" };
	struct submission_request request = file("C:\\work\\kernel.py", "x = 'µ'\n");
	request.gpus = reversed;
	request.gpu_count = 3;
	int64_t id;
	assert_done(send(&py, request, &id));
	struct stored row = stored(id);
	assert_string_equal(row.gpus, "H200 queued,CPU queued");
	assert_string_equal(row.file_name, "kernel.py");
	assert_string_equal(row.mode, "test");
	assert_string_equal(row.content, "x = 'µ'\n");
	assert_int_equal(row.version, py.task_version_id);
}

static void pasted_code_gets_a_name_that_fits_the_language(void **state)
{
	(void)state;
	int64_t id;
	assert_done(send(&py, code("x = 1\n"), &id));
	assert_string_equal(stored(id).file_name, "submission.py");
	struct submission_request request = code("int x;\n");
	request.gpus = h200;
	assert_done(send(&cu, request, &id));
	assert_string_equal(stored(id).file_name, "submission.cu");
}

static void a_file_that_cannot_be_run_is_refused_at_its_field(void **state)
{
	(void)state;
	static const struct {
		const char *name, *source, *sentence;
	} files[] = {
		{ "a.exe", "x", "\"a.exe\"" },
		{ "a.PY", "x", ".py" },
		{ "a.py.cu", "x", "Python" },
		{ ".py/", "x", "wrong type" },
		{ "a.py", "", "empty" },
		{ "a.py", " \n\t\r\n", "empty" },
		{ "a.py", "x\ny = '\xff'", "line 2" },
		{ "a.py", "\xc0\x80", "UTF-8" },
	};
	for (size_t i = 0; i < COUNT(files); i++)
		assert_refused(send(&py, file(files[i].name, files[i].source), NULL), ERROR_INPUT, "file",
			files[i].sentence);
	assert_refused(send(&cu, file("a.py", "x"), NULL), ERROR_INPUT, "file", ".cu, .cuh or .cpp");
	assert_refused(send(&py, code(""), NULL), ERROR_INPUT, "code", "empty");
	struct submission_request nul = code("x");
	nul.source = "x\n\0y";
	nul.length = 4;
	assert_refused(send(&py, nul, NULL), ERROR_INPUT, "code", "NUL byte in line 2");
	char *long_name = arena_printf(arena, "%0300d.py", 7);
	assert_refused(send(&py, file(long_name, "x"), NULL), ERROR_INPUT, "file", "longer than 200");
}

static void a_million_bytes_are_taken_and_one_more_is_not(void **state)
{
	(void)state;
	char *large = arena_alloc(arena, submission_most_bytes + 2);
	memset(large, '#', submission_most_bytes + 1);
	struct submission_request request = code(large);
	assert_refused(send(&py, request, NULL), ERROR_INPUT, "code", "1 MB (1000000 bytes)");
	request.length = submission_most_bytes;
	assert_done(send(&py, request, NULL));
}

static void an_unknown_or_missing_mode_is_refused(void **state)
{
	(void)state;
	struct submission_request request = code("x");
	request.mode = "nonsense\n";
	assert_refused(send(&py, request, NULL), ERROR_INPUT, "mode", "\"nonsense\\x0a\"");
	request.mode = NULL;
	assert_refused(send(&py, request, NULL), ERROR_INPUT, "mode", "Choose a mode");
}

static void the_header_and_the_form_must_agree(void **state)
{
	(void)state;
	assert_done(send(&py, code("#!POPCORN leaderboard SUB-PY\n#!POPCORN gpu cpu\nx = 1\n"), NULL));
	assert_refused(send(&py, code("#!POPCORN leaderboard other\nx = 1\n"), NULL), ERROR_INPUT,
		"code", "\"other\"");
	assert_refused(send(&py, file("a.py", "#!POPCORN leaderboard other\n"), NULL), ERROR_INPUT,
		"file", "\"other\"");
	assert_refused(send(&py, code("#!POPCORN gpus H200\nx = 1\n"), NULL), ERROR_INPUT, "gpu",
		"names H200, but the form names CPU");
	assert_refused(send(&py, code("#!POPCORN gpus H200 CPU\nx = 1\n"), NULL), ERROR_INPUT, "gpu",
		"H200 and CPU");
	assert_refused(send(&py, code("#!POPCORN nonsense x\n"), NULL), ERROR_INPUT, "code", "Line 1");
}

static void gpus_come_from_the_form_else_the_header_else_there_is_only_one(void **state)
{
	(void)state;
	struct submission_request request = code("#!POPCORN gpus CPU H200\nx = 1\n");
	request.gpu_count = 0;
	int64_t id;
	assert_done(send(&py, request, &id));
	assert_string_equal(stored(id).gpus, "H200 queued,CPU queued");
	request = code("x = 1\n");
	request.gpu_count = 0;
	assert_refused(send(&py, request, NULL), ERROR_INPUT, "gpu", "H200 and CPU");
	assert_done(send(&single, request, &id));
	assert_string_equal(stored(id).gpus, "CPU queued");
	request.gpus = tpu;
	request.gpu_count = 1;
	assert_refused(send(&py, request, NULL), ERROR_INPUT, "gpu", "\"TPU\"");
	request = code("#!POPCORN gpus \x1b[31mTPU\n");
	request.gpu_count = 0;
	assert_refused(send(&py, request, NULL), ERROR_INPUT, "gpu", "\\x1b");
}

static void a_closed_ended_or_deleted_leaderboard_takes_nothing_from_anybody(void **state)
{
	(void)state;
	static const struct statement jobs = NUMBER("SELECT COUNT(*) AS number FROM jobs");
	int64_t before = number_of(&jobs);
	assert_done(database_script(db,
		"UPDATE users SET role = 'admin' WHERE name = 'sub-ada';"
		"UPDATE leaderboards SET deadline = UTC_TIMESTAMP(3) WHERE name = 'sub-py'",
		&error));
	assert_refused(send(&py, code("x"), NULL), ERROR_INPUT, "leaderboard", "deadline");
	assert_done(database_script(db,
		"UPDATE leaderboards SET deadline = NULL, accepting = 0 WHERE name = 'sub-py'", &error));
	assert_refused(send(&py, code("x"), NULL), ERROR_INPUT, "leaderboard", "closed");
	assert_done(database_script(db,
		"UPDATE leaderboards SET deadline = UTC_TIMESTAMP(3) + INTERVAL 1 MINUTE, "
		"accepting = 1 "
		"WHERE name = 'sub-py'",
		&error));
	struct leaderboard gone = py;
	gone.id = 999999;
	assert_refused(send(&gone, code("x"), NULL), ERROR_NOT_FOUND, "", "deleted");
	assert_int_equal(number_of(&jobs), before);
	assert_done(send(&py, code("x"), NULL));
}

static void a_leaderboard_without_devices_says_so(void **state)
{
	(void)state;
	assert_done(database_script(db,
		"DELETE g FROM leaderboard_gpus g JOIN leaderboards l ON l.id = g.leaderboard_id "
		"WHERE l.name = 'sub-single'",
		&error));
	assert_refused(send(&single, code("x"), NULL), ERROR_INPUT, "gpu", "No device");
}

static void a_task_in_another_language_since_the_page_was_read_is_a_reason_to_look_again(
	void **state)
{
	(void)state;
	struct leaderboard old = cu;
	old.language = "py";
	assert_refused(send(&old, code("x"), NULL), ERROR_INPUT, "leaderboard", "was replaced");
}

static void a_banned_user_may_not_submit(void **state)
{
	(void)state;
	assert_done(database_script(
		db, "UPDATE users SET banned_at = UTC_TIMESTAMP(3) WHERE name = 'sub-ada'", &error));
	assert_refused(send(&py, code("x"), NULL), ERROR_FORBIDDEN, "", "banned");
}

static int close_all(void **state)
{
	assert_done(database_script(db,
		"DELETE FROM submissions; DELETE FROM leaderboards; DELETE FROM blobs; DELETE "
		"FROM audit_log; "
		"DELETE FROM users WHERE name LIKE 'sub-%'",
		&error));
	return fixture_close(state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_submission_gets_one_job_for_each_gpu_in_the_leaderboards_order),
		cmocka_unit_test(pasted_code_gets_a_name_that_fits_the_language),
		cmocka_unit_test(a_file_that_cannot_be_run_is_refused_at_its_field),
		cmocka_unit_test(a_million_bytes_are_taken_and_one_more_is_not),
		cmocka_unit_test(an_unknown_or_missing_mode_is_refused),
		cmocka_unit_test(the_header_and_the_form_must_agree),
		cmocka_unit_test(gpus_come_from_the_form_else_the_header_else_there_is_only_one),
		cmocka_unit_test(a_closed_ended_or_deleted_leaderboard_takes_nothing_from_anybody),
		cmocka_unit_test(a_leaderboard_without_devices_says_so),
		cmocka_unit_test(
			a_task_in_another_language_since_the_page_was_read_is_a_reason_to_look_again),
		cmocka_unit_test(a_banned_user_may_not_submit),
	};
	return cmocka_run_group_tests(tests, open_all, close_all);
}
