/* `exception list`, `exception extend`, `exception disqualify`, `exception lift`. */
#include "lib/judging/exception.h"

#include "cli/admin/admin.h"
#include "lib/base/format.h"
#include "lib/base/scope.h"

#include <string.h>

int exception_list_command(int argc, char **argv)
{
	if (argc != 2)
		return admin_usage("exception list");
	cleanup_arena struct arena *arena = arena_new();
	cleanup_database struct database *db = admin_connect();
	struct leaderboard leaderboard;
	struct exception *rows;
	struct error error = { 0 };
	size_t count;
	if (!db)
		return admin_failed;
	if (leaderboard_by_name(db, arena, argv[1], &leaderboard, &error)
		|| exceptions_list(db, arena, leaderboard.id, &rows, &count, &error))
		return admin_complain(&error);
	for (size_t i = 0; i < count; i++)
		admin_say("%-32s %s%s%s  by %s", rows[i].user,
			rows[i].submission_id
				? arena_printf(arena, "submission %lld ", (long long)rows[i].submission_id)
				: "",
			*rows[i].reason ? "disqualified: " : "deadline ",
			*rows[i].reason ? rows[i].reason
							: leaderboard_deadline_words(arena, rows[i].deadline_ms),
			rows[i].given_by);
	if (!count)
		admin_say("%s has no exceptions.", leaderboard.name);
	return admin_done;
}

/* `extend` below, or exception_disqualify. `text` is the new deadline or the reason; NULL ends the
 * exception. */
typedef int exception_change(struct database *db, const struct exception_order *order,
	const char *text, struct error *error);

static int extend(
	struct database *db, const struct exception_order *order, const char *text, struct error *error)
{
	int64_t deadline_ms = TIME_NULL;
	return text && parse_utc(text, &deadline_ms)
		? fail(error, ERROR_INPUT, "Type the time as \"2026-11-21 06:10\", in UTC.")
		: exception_extend(db, order, deadline_ms, error);
}

static int run_change(exception_change *change, char **argv, const char *text)
{
	cleanup_arena struct arena *arena = arena_new();
	cleanup_database struct database *db = admin_connect();
	struct leaderboard leaderboard;
	struct error error = { 0 };
	if (!db)
		return admin_failed;
	if (leaderboard_by_name(db, arena, argv[1], &leaderboard, &error))
		return admin_complain(&error);
	const struct exception_order order = { &leaderboard, argv[2], &admin_actor };
	if (change(db, &order, text, &error))
		return admin_complain(&error);
	admin_say("Done: %s on %s.", argv[2], leaderboard.name);
	return admin_done;
}

int exception_extend_command(int argc, char **argv)
{
	return argc == 4 ? run_change(extend, argv, argv[3]) : admin_usage("exception extend");
}

int exception_disqualify_command(int argc, char **argv)
{
	return argc == 4 ? run_change(exception_disqualify, argv, argv[3])
					 : admin_usage("exception disqualify");
}

int exception_lift_command(int argc, char **argv)
{
	if (argc == 4 && strcmp(argv[3], "deadline") == 0)
		return run_change(extend, argv, NULL);
	return argc == 4 && strcmp(argv[3], "disqualification") == 0
		? run_change(exception_disqualify, argv, NULL)
		: admin_usage("exception lift");
}
