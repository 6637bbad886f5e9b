/* Helpers of the tests of leaderboards and submissions: a connection, users, a small task, and
 * queries that return one number. */
#ifndef PODIUM_TESTS_FIXTURE_H
#define PODIUM_TESTS_FIXTURE_H

#include "lib/account/user.h"
#include "lib/base/scope.h"
#include "lib/leaderboard/leaderboard.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

struct number {
	int64_t number;
};
static const struct column NUMBER_COLUMNS[] = { INTEGER(struct number, number) };
#define NUMBER(sql) SELECT(struct number, NUMBER_COLUMNS, sql)

static struct database *db;
static struct config config;
static struct arena *arena;
static struct error error;

static int fixture_open(void **state)
{
	(void)state;
	arena = arena_new();
	if (config_load(&config, &error) || !(db = database_open(&config, &error)))
		fprintf(stderr, "%s\n", error.text);
	return db ? 0 : -1;
}

static int fixture_close(void **state)
{
	(void)state;
	database_close(db);
	arena_free(arena);
	return 0;
}

/* Creates a user who cannot log in: hashing a password takes long, and these tests need none. */
static inline int64_t make_user(const char *name)
{
	static const struct statement insert =
		COMMAND("INSERT INTO users (name, password_hash) VALUES (?, 'none')");
	assert_int_equal(database_execute(db, &insert, &error, "s", name), 0);
	return (int64_t)database_insert_id(db);
}

static inline int64_t number_of(const struct statement *statement)
{
	struct number row;
	if (database_row(db, arena, statement, &row, &error, ""))
		fail_msg("%s", error.text);
	return row.number;
}

struct material {
	struct fileset upload, stock;
	struct task *task;
};

static const char PY_TASK[] =
	"lang: py\ndescription: |\n  Returns its *input*.\nfiles:\n"
	"  - {name: submission.py, source: \"@SUBMISSION@\"}\n  - {name: reference.py, source: "
	"reference.py}\n"
	"  - {name: eval.py, source: \"@STOCK@\"}\n  - {name: utils.py, source: \"@STOCK@\"}\nconfig: "
	"{main: eval.py}\n"
	"tests: [{seed: 1}]\nbenchmarks: [{seed: 2}]\ntemplates: {Python: template.py}\n";
static const char CU_TASK[] =
	"lang: cu\ndescription: the same in CUDA C++\nfiles:\n  - {name: submission.cu, source: "
	"\"@SUBMISSION@\"}\n  - {name: eval.cu, source: eval.cu}\n"
	"config: {sources: [eval.cu, submission.cu]}\ntests: [{seed: 1}]\nbenchmarks: [{seed: 2}]\n";

static inline void add(struct fileset *set, const char *path, const char *text)
{
	assert_int_equal(fileset_add(set, path, text, strlen(text), &error), 0);
}

static inline struct material make_task(const char *definition, const char *reference)
{
	struct material m = { .upload = fileset_make(arena), .stock = fileset_make(arena) };
	add(&m.upload, "task.yml", definition);
	add(&m.upload, "reference.py", reference);
	add(&m.upload, "template.py", "def custom_kernel(data):\n    pass\n");
	add(&m.stock, "eval.py", "import reference\n");
	add(&m.upload, "eval.cu", "int main() {}\n");
	add(&m.stock, "utils.py", "import torch\n");
	if (task_parse(arena, &m.upload, &m.stock, &m.task, &error))
		fail_msg("%s", error.text);
	return m;
}

static inline int create(const struct leaderboard_settings *settings, const struct material *m,
	const struct actor *actor)
{
	return leaderboard_create(
		db, arena, settings, m->task, &m->upload, &m->stock, actor, NULL, &error);
}

static inline struct leaderboard find(const char *name)
{
	struct leaderboard leaderboard;
	if (leaderboard_by_name(db, arena, name, &leaderboard, &error))
		fail_msg("%s", error.text);
	return leaderboard;
}

#define assert_refused(call, code, where, part) \
	do { \
		memset(&error, 0, sizeof error); \
		assert_int_equal((call), (code)); \
		assert_string_equal(error.field, (where)); \
		if (!strstr(error.text, (part))) \
			fail_msg("\"%s\" is not in: %s", (part), error.text); \
	} while (0)

#define assert_done(call) \
	do { \
		if (call) \
			fail_msg("%s", error.text); \
	} while (0)

#endif
