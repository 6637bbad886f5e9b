/* Helpers of the tests of rankings: they create numbered users, a new leaderboard for each test,
 * and submissions that have passed. */
#ifndef PODIUM_TESTS_CONTEST_H
#define PODIUM_TESTS_CONTEST_H

#include "tests/integration/library/fixture.h"

#include "lib/intake/submission.h"
#include "lib/ranking/ranking.h"

enum { contest_most_users = 12 };
static struct {
	const char *name;
	struct leaderboard board;
	int64_t user_ids[contest_most_users];
} contest;

/* Opens the database and creates the users NAME-0, NAME-1, ... */
static inline int contest_open(void **state, const char *name, int users)
{
	if (fixture_open(state))
		return -1;
	contest.name = name;
	for (int i = 0; i < users; i++)
		contest.user_ids[i] = make_user(arena_printf(arena, "%s-%d", name, i));
	return 0;
}

static inline struct actor contest_actor(void)
{
	return (struct actor){ contest.user_ids[0], arena_printf(arena, "%s-0", contest.name), "" };
}

static inline int contest_begin(const char **gpus, size_t gpu_count)
{
	static int number;
	const struct actor actor = contest_actor();
	const char *name = arena_printf(arena, "%s-%d", contest.name, ++number);
	struct material material = make_task(PY_TASK, "# generate_input, check_implementation\n");
	struct leaderboard_settings settings = { .name = name,
		.unchecked = true,
		.deadline_ms = TIME_NULL,
		.accepting = true,
		.gpus = gpus,
		.gpu_count = gpu_count };
	assert_done(create(&settings, &material, &actor));
	contest.board = find(name);
	return 0;
}

/* Stores the engine of the leaderboard's task for a GPU, as a dry run does. */
static inline void contest_use_engine(const char *gpu, const char *engine)
{
	static const struct statement put = COMMAND("REPLACE INTO task_engines VALUES (?, ?, ?, '')");
	assert_done(
		database_execute(db, &put, &error, "iss", contest.board.task_version_id, gpu, engine));
}

/* Deletes the test's leaderboard. */
static inline int contest_end(void **state)
{
	(void)state;
	const struct actor actor = contest_actor();
	return leaderboard_delete(db, &contest.board, &actor, &error);
}

/* Creates a submission in mode ranked for one device. Returns its number. */
static inline int64_t contest_submit_source(const char **gpu, int user, const char *source)
{
	struct submission_request request = { .user_id = contest.user_ids[user],
		.source = source,
		.length = strlen(source),
		.mode = "ranked",
		.gpus = gpu,
		.gpu_count = 1 };
	int64_t id;
	assert_done(submission_create(db, arena, &contest.board, &request, &id, &error));
	return id;
}

/* The same with source that no other submission has: equal source has one time. */
static inline int64_t contest_submit(const char **gpu, int user)
{
	static int number;
	return contest_submit_source(gpu, user, arena_printf(arena, "x = %d\n", ++number));
}

static inline int64_t contest_job_of(int64_t submission_id)
{
	static const struct statement job =
		NUMBER("SELECT id AS number FROM jobs WHERE submission_id = ?");
	struct number row;
	assert_done(database_row(db, arena, &job, &row, &error, "i", submission_id));
	return row.number;
}

static inline int contest_rank_body(struct database *connection, void *context, struct error *why)
{
	return ranking_insert(connection, arena, *(int64_t *)context, why);
}

/* Ranks a job that has passed, as a worker does. */
static inline void contest_rank(int64_t job_id)
{
	assert_done(database_transaction(db, contest_rank_body, &job_id, &error));
}

static inline void contest_pass(int64_t job_id, double score_ns, double err_ns, const char *engine)
{
	static const struct statement finish = COMMAND(
		"UPDATE jobs SET state = 'done', verdict = 'passed', score_ns = ?, score_err_ns = ?, "
		"engine = ?, finished_at = UTC_TIMESTAMP(3) WHERE id = ?");
	assert_done(database_execute(db, &finish, &error, "ddsi", score_ns, err_ns, engine, job_id));
	contest_rank(job_id);
}

/* Returns the number of the job that compares the two submissions, or 0 if there is none. */
static inline int64_t contest_comparison_of(int64_t challenger, int64_t incumbent)
{
	static const struct statement job = NUMBER(
		"SELECT COALESCE(MAX(j.id), 0) AS number FROM comparisons c "
		"JOIN jobs j ON j.comparison_id = c.id WHERE c.challenger_id = ? AND c.incumbent_id = ?");
	struct number row;
	assert_done(database_row(db, arena, &job, &row, &error, "ii", challenger, incumbent));
	return row.number;
}

struct contest_compared {
	int64_t job_id;
	struct head_to_head_result ratio;
};

static inline int contest_compare_body(
	struct database *connection, void *context, struct error *why)
{
	const struct contest_compared *ended = context;
	return ranking_compare(connection, arena, ended->job_id, &ended->ratio, why);
}

/* Ends the comparison: `low` and `high` are the bounds of the challenger's time / the incumbent's.
 */
static inline void contest_compare(int64_t challenger, int64_t incumbent, double low, double high)
{
	static const struct statement finish =
		COMMAND("UPDATE jobs SET state = 'done', verdict = 'passed' WHERE id = ?");
	struct contest_compared ended = { contest_comparison_of(challenger, incumbent),
		{ (low + high) / 2, low, high, NULL } };
	assert_true(ended.job_id > 0);
	assert_done(database_execute(db, &finish, &error, "i", ended.job_id));
	assert_done(database_transaction(db, contest_compare_body, &ended, &error));
}

struct text_row {
	const char *text;
};
static const struct column TEXT_COLUMNS[] = { TEXT(struct text_row, text) };

#endif
