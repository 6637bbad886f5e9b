/* `podium list` and `podium ranking`: list the leaderboards, and the ranking of one. */
#include "cli/podium/commands.h"

#include "cli/podium/api.h"
#include "cli/podium/podium.h"
#include "cli/podium/print.h"
#include "cli/podium/table.h"
#include "cli/podium/words.h"
#include "lib/base/member.h"
#include "lib/base/scope.h"

#include <stdio.h>
#include <string.h>

enum { most_leaderboards = 1000 };

/* ---- list ---- */

static void write_leaderboards(struct buffer *out, struct arena *arena, const json_t *items)
{
	static const struct table_column columns[] = {
		{ "Leaderboard", false },
		{ "State", false },
		{ "Language", false },
		{ "GPUs", false },
		{ "Deadline", true },
		{ "Title", false },
	};
	struct table table = table_make(arena, columns, COUNT(columns), json_array_size(items));
	size_t i;
	json_t *item;
	json_array_foreach(items, i, item)
	{
		const char *title = member_text(item, "title"), *name = member_text(item, "name");
		table_add(&table,
			(const char *[]){ name, member_text(item, "state"), member_text(item, "language"),
				words_list(arena, item, "gpus"), words_time(arena, item, "deadline"),
				strcmp(title, name) == 0 ? NULL : title });
	}
	print_table(out, &table);
}

int list_command(const struct call *call)
{
	cleanup_session struct session session = { 0 };
	cleanup_buffer struct buffer out = { 0 };
	struct error error = { 0 };
	cleanup_json json_t *items = NULL;
	const char *state = call_value(call, "state");
	const char *path =
		state ? arena_printf(call->arena, "/leaderboards?state=%s", state) : "/leaderboards";
	int rc = session_open(&session, call, &error);
	rc = rc ? rc : api_list(&session, path, most_leaderboards, &items, &error);
	if (rc)
		return session_end(&session, rc, &error);
	if (session.as_json)
		return print_json(items);
	if (json_array_size(items))
		write_leaderboards(&out, call->arena, items);
	else
		buffer_text(&out, "No leaderboards.\n");
	fputs(buffer_string(&out), stdout);
	return podium_done;
}

/* ---- ranking ---- */

static void write_ranking(struct buffer *out, struct arena *arena, const json_t *items)
{
	static const struct table_column columns[] = {
		{ "Rank", true },
		{ "User", false },
		{ "Score", true },
		{ "To fastest", true },
		{ "To above", true },
		{ "Of peak", true },
		{ "Language", false },
		{ "Submitted", true },
		{ "Attempts", true },
		{ "Submission", true },
		{ "Why this rank", false },
	};
	struct table table = table_make(arena, columns, COUNT(columns), json_array_size(items));
	size_t i;
	json_t *row;
	json_array_foreach(items, i, row) table_add(&table,
		(const char *[]){ words_rank(arena, row, "rank", "tie"), member_text(row, "user"),
			words_score_err(arena, row), words_fastest_gap(arena, row), words_above_gap(arena, row),
			words_share(arena, row, "peak_share"), member_text(row, "language"),
			words_time(arena, row, "submitted_at"), words_count(arena, row, "attempts"),
			words_count(arena, row, "submission"), words_text(arena, row, "reason") });
	print_table(out, &table);
}

/* Chooses the GPU of the option --gpu, else all GPUs of the leaderboard. */
static int choose_gpus(
	struct session *session, const char *leaderboard, json_t **gpus, struct error *error)
{
	const char *gpu = call_value(session->call, "gpu");
	cleanup_json json_t *about = NULL;
	if (gpu) {
		*gpus = json_pack("[s]", gpu);
		return *gpus ? 0 : fail(error, ERROR_INPUT, "The name of the GPU is not valid UTF-8.");
	}
	int rc = api_get(
		session, arena_printf(session->arena, "/leaderboards/%s", leaderboard), &about, error);
	*gpus = rc ? NULL : json_incref(json_object_get(about, "gpus"));
	return rc;
}

static int tell_ranking(struct session *session, const char *leaderboard, const char *gpu,
	size_t most, json_t *all, struct buffer *out, struct error *error)
{
	cleanup_json json_t *items = NULL;
	int rc = api_list(session,
		arena_printf(session->arena, "/leaderboards/%s/rankings?gpu=%s", leaderboard,
			http_escape(session->arena, gpu)),
		most, &items, error);
	if (rc)
		return rc;
	json_object_set(all, gpu, items);
	buffer_text(out, out->length ? "\n" : "");
	print_fact(out, "GPU", gpu);
	if (json_array_size(items))
		write_ranking(out, session->arena, items);
	else
		buffer_text(out, "  Nobody is ranked here yet.\n");
	return 0;
}

int ranking_command(const struct call *call)
{
	cleanup_session struct session session = { 0 };
	cleanup_buffer struct buffer out = { 0 };
	struct error error = { 0 };
	cleanup_json json_t *gpus = NULL, *all = json_object();
	const char *leaderboard = http_escape(call->arena, call->arguments[0]);
	long long most;
	if (call_number(call, "limit", 1, 10000, 20, &most, &error))
		return podium_complain(&error, podium_misused);
	int rc = session_open(&session, call, &error);
	rc = rc ? rc : choose_gpus(&session, leaderboard, &gpus, &error);
	for (size_t i = 0; !rc && i < json_array_size(gpus); i++)
		rc = tell_ranking(&session, leaderboard, json_string_value(json_array_get(gpus, i)),
			(size_t)most, all, &out, &error);
	if (rc)
		return session_end(&session, rc, &error);
	if (session.as_json)
		return print_json(all);
	fputs(buffer_string(&out), stdout);
	return podium_done;
}
