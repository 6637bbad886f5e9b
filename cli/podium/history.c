/* `podium history`: lists the user's submissions, newest first. */
#include "cli/podium/commands.h"

#include "cli/podium/api.h"
#include "cli/podium/podium.h"
#include "cli/podium/print.h"
#include "cli/podium/table.h"
#include "cli/podium/words.h"
#include "lib/base/member.h"
#include "lib/base/scope.h"

#include <stdio.h>
#include <unistd.h>

/* Returns the path of the request. Each option becomes the query parameter of the same name. */
static const char *history_path(const struct call *call)
{
	static const char *const PARTS[] = { "leaderboard", "gpu", "mode", "verdict", "state" };
	const char *path = "/submissions";
	for (size_t i = 0, count = 0; i < COUNT(PARTS); i++) {
		const char *value = call_value(call, PARTS[i]);
		if (value)
			path = arena_printf(call->arena, "%s%c%s=%s", path, count++ ? '&' : '?', PARTS[i],
				http_escape(call->arena, value));
	}
	return path;
}

static const char *score_of(struct arena *arena, const json_t *job, const char *key)
{
	(void)key;
	return words_score(arena, job);
}

/* Joins the values of all jobs with commas. */
static const char *join_jobs(struct arena *arena, const json_t *submission,
	const char *(*words)(struct arena *, const json_t *, const char *), const char *key)
{
	const char *all = NULL;
	size_t i;
	json_t *job;
	json_array_foreach(json_object_get(submission, "jobs"), i, job)
	{
		const char *one = words(arena, job, key);
		if (one)
			all = all ? arena_printf(arena, "%s, %s", all, one) : one;
	}
	return all;
}

static void write_rows(struct buffer *out, struct arena *arena, const json_t *items)
{
	static const struct table_column columns[] = {
		{ "ID", true },
		{ "Leaderboard", false },
		{ "Mode", false },
		{ "GPU", false },
		{ "Result", false },
		{ "Score", true },
		{ "Submitted", true },
		{ "File", false },
		{ "Note", false },
	};
	struct table table = table_make(arena, columns, COUNT(columns), json_array_size(items));
	size_t i;
	json_t *item;
	json_array_foreach(items, i, item) table_add(&table,
		(const char *[]){ words_count(arena, item, "id"), member_text(item, "leaderboard"),
			member_text(item, "mode"), join_jobs(arena, item, words_text, "gpu"),
			*member_text(item, "verdict") ? member_text(item, "verdict")
										  : member_text(item, "state"),
			join_jobs(arena, item, score_of, NULL), words_time(arena, item, "submitted_at"),
			member_text(item, "file_name"),
			member_true(item, "withdrawn") ? "(withdrawn)" : member_text(item, "note") });
	print_table(out, &table);
}

int history_command(const struct call *call)
{
	cleanup_session struct session session = { 0 };
	cleanup_buffer struct buffer out = { 0 };
	struct error error = { 0 };
	cleanup_json json_t *items = NULL;
	long long most;
	if (call_number(call, "limit", 1, 10000, 20, &most, &error))
		return podium_complain(&error, podium_misused);
	int rc = session_open(&session, call, &error);
	rc = rc ? rc : api_list(&session, history_path(call), (size_t)most, &items, &error);
	if (rc)
		return session_end(&session, rc, &error);
	if (session.as_json)
		return print_json(items);
	if (json_array_size(items))
		write_rows(&out, call->arena, items);
	else
		buffer_text(&out, "No submissions.\n");
	fputs(buffer_string(&out), stdout);
	return podium_done;
}
