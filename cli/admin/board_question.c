/* `question list`, `question answer`: the questions about leaderboards. */
#include "lib/question/question.h"

#include "cli/admin/admin.h"
#include "lib/base/format.h"

#include <string.h>

int question_list_command(int argc, char **argv)
{
	if (argc > 2)
		return admin_usage("question list");
	cleanup_arena struct arena *arena = arena_new();
	cleanup_database struct database *db = admin_connect();
	struct error error = { 0 };
	struct question *questions;
	size_t count;
	if (!db)
		return admin_failed;
	if (questions_open(db, arena, argc == 2 ? argv[1] : "", &questions, &count, &error))
		return admin_complain(&error);
	for (size_t i = 0; i < count; i++) {
		format_text at;
		format_utc(at, questions[i].asked_at_ms);
		admin_say("%-6lld %s, %s, %s: %s", (long long)questions[i].id, questions[i].leaderboard,
			questions[i].asker, at, questions[i].text);
	}
	return admin_done;
}

int question_answer_command(int argc, char **argv)
{
	bool for_all = argc == 4 && strcmp(argv[2], "all") == 0;
	if (argc != 4 || (!for_all && strcmp(argv[2], "asker") != 0))
		return admin_usage("question answer");
	cleanup_arena struct arena *arena = arena_new();
	cleanup_database struct database *db = admin_connect();
	struct question_answering answering = { .id = admin_number(argv[1]),
		.text = argv[3],
		.for_all = for_all,
		.replaces_any = true,
		.by = &admin_actor };
	struct error error = { 0 };
	if (!db)
		return admin_failed;
	if (question_leaderboard(db, arena, answering.id, &answering.leaderboard, &error)
		|| question_answer(db, &answering, &error))
		return admin_complain(&error);
	admin_say("Question %s about %s is answered, %s.", argv[1], answering.leaderboard,
		for_all ? "for all" : "for who asked");
	return admin_done;
}
