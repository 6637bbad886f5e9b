/* `review list`, `review release`, `review reject`. */
#include "lib/judging/review.h"

#include "cli/admin/admin.h"
#include "lib/base/format.h"
#include "lib/gpu/floor.h"

int review_list_command(int argc, char **argv)
{
	(void)argv;
	if (argc != 1)
		return admin_usage("review list");
	cleanup_arena struct arena *arena = arena_new();
	cleanup_database struct database *db = admin_connect();
	struct error error = { 0 };
	struct held_result *results;
	size_t count;
	if (!db)
		return admin_failed;
	if (reviews_waiting(db, arena, &results, &count, &error))
		return admin_complain(&error);
	for (size_t i = 0; i < count; i++) {
		format_text time;
		format_measured(time, results[i].score_ns, results[i].score_err_ns,
			floor_reached_ns(results[i].gpu, results[i].score_ns));
		admin_say("%-8lld %-12s %s of %s, %s, engine %s: %s", (long long)results[i].submission_id,
			results[i].gpu, results[i].leaderboard, results[i].user, time,
			results[i].engine ? results[i].engine : "unknown", results[i].reason);
	}
	return admin_done;
}

int review_release_command(int argc, char **argv)
{
	if (argc != 3)
		return admin_usage("review release");
	const struct review review = { admin_number(argv[1]), argv[2], &admin_actor };
	cleanup_database struct database *db = admin_connect();
	struct error error = { 0 };
	if (!db)
		return admin_failed;
	if (review_release(db, &review, &error))
		return admin_complain(&error);
	admin_say("The result of submission %s on %s is released and ranked.", argv[1], argv[2]);
	return admin_done;
}

int review_reject_command(int argc, char **argv)
{
	if (argc != 4)
		return admin_usage("review reject");
	const struct review review = { admin_number(argv[1]), argv[2], &admin_actor };
	cleanup_database struct database *db = admin_connect();
	struct error error = { 0 };
	if (!db)
		return admin_failed;
	if (review_reject(db, &review, argv[3], &error))
		return admin_complain(&error);
	admin_say("The result of submission %s on %s is rejected. Its author sees the reason.", argv[1],
		argv[2]);
	return admin_done;
}
