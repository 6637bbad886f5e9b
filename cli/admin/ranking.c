/* `ranking rebuild`, `ranking unfrozen`. */
#include "lib/ranking/ranking.h"

#include "cli/admin/admin.h"
#include "lib/base/format.h"
#include "lib/ranking/unfrozen.h"

static int rebuild_rankings(struct database *db, const char *name, struct error *error)
{
	cleanup_arena struct arena *arena = arena_new();
	struct leaderboard leaderboard = { 0 };
	int rc = name ? leaderboard_by_name(db, arena, name, &leaderboard, error) : 0;
	return rc ? rc : ranking_rebuild(db, leaderboard.id, error);
}

int ranking_rebuild_command(int argc, char **argv)
{
	if (argc > 2)
		return admin_usage("ranking rebuild");
	struct error error = { 0 };
	cleanup_database struct database *db = admin_connect();
	if (!db)
		return admin_failed;
	if (rebuild_rankings(db, argv[1], &error)) /* NULL: all leaderboards */
		return admin_complain(&error);
	admin_say("The ranking of %s is recomputed.", argv[1] ? argv[1] : "every leaderboard");
	return admin_done;
}

int ranking_unfrozen_command(int argc, char **argv)
{
	if (argc != 2)
		return admin_usage("ranking unfrozen");
	cleanup_arena struct arena *arena = arena_new();
	cleanup_database struct database *db = admin_connect();
	struct leaderboard leaderboard;
	struct unfrozen_rank *ranks;
	struct error error = { 0 };
	size_t count;
	if (!db)
		return admin_failed;
	if (leaderboard_by_name(db, arena, argv[1], &leaderboard, &error)
		|| unfrozen_ranks(db, arena, leaderboard.id, &ranks, &count, &error))
		return admin_complain(&error);
	for (size_t i = 0; i < count; i++) {
		format_text score;
		format_duration_ns(score, ranks[i].score_ns);
		admin_say("%-8s %3lld  %-32s %s  submission %lld", ranks[i].gpu, (long long)ranks[i].place,
			ranks[i].user, score, (long long)ranks[i].submission_id);
	}
	if (!count)
		admin_say("Nobody is ranked on %s.", leaderboard.name);
	return admin_done;
}
