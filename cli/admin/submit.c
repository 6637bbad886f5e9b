/* `submit`: submits a file for a user. */
#include "lib/intake/submission.h"

#include "cli/admin/admin.h"
#include "lib/base/config.h"
#include "lib/base/scope.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static int read_source(
	struct arena *arena, const char *path, struct submission_request *request, struct error *error)
{
	enum { most_bytes = submission_most_bytes + 1 };
	char *bytes = arena_alloc(arena, most_bytes);
	cleanup_file FILE *file = fopen(path, "re");
	request->file_name = path;
	request->source = bytes;
	request->length = file ? fread(bytes, 1, most_bytes, file) : 0;
	return file && !ferror(file)
		? 0
		: fail(error, ERROR_INPUT, "Cannot read %s: %s.", path, strerror(errno));
}

int submit_command(int argc, char **argv)
{
	if (argc < 5)
		return admin_usage("submit");
	struct config config;
	cleanup_arena struct arena *arena = arena_new();
	cleanup_database struct database *db = admin_connect_to(&config);
	struct leaderboard leaderboard;
	struct submission_request request = { .mode = argv[3],
		.gpus = (const char **)argv + 5,
		.gpu_count = (size_t)argc - 5,
		.config = &config };
	struct error error = { 0 };
	int64_t id;
	if (!db)
		return admin_failed;
	if (leaderboard_by_name(db, arena, argv[1], &leaderboard, &error)
		|| submission_for_user(db, arena, &leaderboard, &admin_actor, argv[2], &request, &error)
		|| read_source(arena, argv[4], &request, &error)
		|| submission_create(db, arena, &leaderboard, &request, &id, &error))
		return admin_complain(&error);
	admin_say("Submission %lld of %s to %s is queued.", (long long)id, argv[2], leaderboard.name);
	return admin_done;
}
