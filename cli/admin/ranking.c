#include "lib/ranking/ranking.h"

#include "cli/admin/admin.h"

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
