/* `similar`: the submissions of a leaderboard whose sources resemble each other. */
#include "lib/similarity/similarity.h"

#include "cli/admin/admin.h"
#include "lib/base/quote.h"

int similar_command(int argc, char **argv)
{
	if (argc != 2)
		return admin_usage("similar");
	cleanup_arena struct arena *arena = arena_new();
	cleanup_database struct database *db = admin_connect();
	struct error error = { 0 };
	struct leaderboard leaderboard;
	struct similar_pair *pairs;
	size_t count;
	if (!db)
		return admin_failed;
	if (leaderboard_by_name(db, arena, argv[1], &leaderboard, &error)
		|| similarity_list(db, arena, leaderboard.id, &pairs, &count, &error))
		return admin_complain(&error);
	for (size_t i = 0; i < count; i++)
		admin_say("%3lld %%  %lld of %s, then %lld of %s", (long long)pairs[i].percent,
			(long long)pairs[i].other_id, pairs[i].other_user, (long long)pairs[i].submission_id,
			pairs[i].user);
	return admin_done;
}
