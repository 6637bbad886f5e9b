/* `rejudge start`, `rejudge list`, `rejudge show`, `rejudge apply`, `rejudge discard`. */
#include "lib/judging/rejudging.h"

#include "cli/admin/admin.h"
#include "lib/base/format.h"
#include "lib/base/rank.h"
#include "lib/base/scope.h"
#include "lib/gpu/floor.h"

#include <math.h>
#include <string.h>

enum { most_listed = 50 };

/* ---- rejudge start ---- */

enum word { NO_WORD, SUBMISSION, USER, LEADERBOARD, TOP, GPU };

/* The arguments that follow each scope. The first `least` are required. */
static const struct form {
	const char *scope;
	enum word words[3];
	int least;
} FORMS[] = {
	{ "submission", { SUBMISSION, GPU }, 1 },
	{ "user", { USER, LEADERBOARD, GPU }, 2 },
	{ "everywhere", { USER, GPU }, 1 },
	{ "top", { TOP, LEADERBOARD, GPU }, 3 },
	{ "all", { LEADERBOARD, GPU }, 1 },
};

static void take_word(struct rejudging_order *order, enum word word, const char *text)
{
	switch (word) {
	case SUBMISSION: order->submission_id = admin_number(text); break;
	case TOP: order->top = admin_number(text); break;
	case USER: order->user = text; break;
	case LEADERBOARD: order->leaderboard = text; break;
	case GPU: order->gpu = text; break;
	case NO_WORD: break;
	}
}

/* Returns -1 if the arguments are wrong. */
static int read_order(int argc, char **argv, struct rejudging_order *order)
{
	for (size_t i = 0; i < COUNT(FORMS) && argc > 1; i++) {
		const struct form *form = &FORMS[i];
		if (strcmp(form->scope, argv[1]) != 0)
			continue;
		if (argc - 2 < form->least || argc - 2 > (int)COUNT(form->words))
			return -1;
		for (int word = 2; word < argc; word++) {
			if (form->words[word - 2] == NO_WORD)
				return -1;
			take_word(order, form->words[word - 2], argv[word]);
		}
		return rejudging_scope_from_name(form->scope, &order->scope);
	}
	return -1;
}

int rejudge_start_command(int argc, char **argv)
{
	struct rejudging_order order = {
		.leaderboard = "", .user = "", .gpu = "", .by = &admin_actor, .may_all = true
	};
	if (read_order(argc, argv, &order))
		return admin_usage("rejudge start");
	cleanup_arena struct arena *arena = arena_new();
	cleanup_database struct database *db = admin_connect();
	struct error error = { 0 };
	struct rejudging rejudging;
	int64_t id;
	if (!db)
		return admin_failed;
	if (rejudging_start(db, arena, &order, &id, &error)
		|| rejudging_find(db, arena, id, &rejudging, &error))
		return admin_complain(&error);
	admin_say("Rejudging %lld: %s; %lld job%s run%s when no submission waits.", (long long)id,
		rejudging.scope, (long long)rejudging.jobs, rejudging.jobs == 1 ? "" : "s",
		rejudging.jobs == 1 ? "s" : "");
	return admin_done;
}

/* ---- rejudge list, rejudge show ---- */

static const char *state_of(struct arena *arena, const struct rejudging *one)
{
	if (one->ended_by)
		return arena_printf(arena, "%s by %s", one->state, one->ended_by);
	if (one->waiting)
		return arena_printf(arena, "%lld of %lld finished", (long long)(one->jobs - one->waiting),
			(long long)one->jobs);
	return one->frozen ? "finished, but a ranking is frozen" : "finished; apply or discard it";
}

static void say_rejudging(struct arena *arena, const struct rejudging *one)
{
	admin_say("%-6lld %s: %s; %lld result%s; %s", (long long)one->id, one->subject, one->scope,
		(long long)one->jobs, one->jobs == 1 ? "" : "s", state_of(arena, one));
}

int rejudge_list_command(int argc, char **argv)
{
	(void)argv;
	if (argc != 1)
		return admin_usage("rejudge list");
	cleanup_arena struct arena *arena = arena_new();
	cleanup_database struct database *db = admin_connect();
	struct error error = { 0 };
	struct rejudging *rejudgings;
	size_t count;
	if (!db)
		return admin_failed;
	if (rejudgings_list(db, arena, 0, most_listed, &rejudgings, &count, &error))
		return admin_complain(&error);
	for (size_t i = 0; i < count; i++)
		say_rejudging(arena, &rejudgings[i]);
	return admin_done;
}

static const char *time_of(struct arena *arena, const char *gpu, double ns, double err_ns)
{
	format_text text;
	format_score(text, ns, err_ns, floor_reached_ns(gpu, ns));
	return isnan(ns) ? "-" : arena_strdup(arena, text);
}

static void say_result(struct arena *arena, const struct rejudged_result *one)
{
	admin_say("  %-8lld %-12s %s of %s: %s %s -> %s %s%s%s", (long long)one->submission_id,
		one->gpu, one->leaderboard, one->user, one->old_verdict ? one->old_verdict : "-",
		time_of(arena, one->gpu, one->old_score_ns, one->old_score_err_ns),
		one->verdict ? one->verdict : one->state,
		time_of(arena, one->gpu, one->score_ns, one->score_err_ns),
		one->differs == 1 ? "; another verdict: " : "",
		one->differs == 1 && one->reason ? one->reason : "");
}

static const char *rank_of(struct arena *arena, int64_t place, bool is_tied)
{
	format_text rank;
	format_rank(rank, place, is_tied);
	return place == SQL_NULL_INTEGER ? "not ranked" : arena_strdup(arena, rank);
}

static int say_changes(struct database *db, struct arena *arena, const struct rejudging *rejudging,
	struct error *error)
{
	struct rank_change *changes;
	size_t count;
	int rc = rejudging_preview(db, arena, rejudging, &changes, &count, error);
	if (rc)
		return rc;
	admin_say(count ? "Applying it changes these ranks and times:"
					: "Applying it changes no rank and no time.");
	for (size_t i = 0; i < count; i++)
		admin_say("  %s %s, version %lld, %s: %s %s -> %s %s", changes[i].leaderboard,
			changes[i].gpu, (long long)changes[i].version, changes[i].user,
			rank_of(arena, changes[i].old_place, changes[i].old_is_tied),
			time_of(arena, changes[i].gpu, changes[i].old_score_ns, changes[i].old_score_err_ns),
			rank_of(arena, changes[i].new_place, changes[i].new_is_tied),
			time_of(arena, changes[i].gpu, changes[i].new_score_ns, changes[i].new_score_err_ns));
	return 0;
}

static int print_rejudge(struct database *db, struct arena *arena, int64_t id, struct error *error)
{
	struct rejudging rejudging;
	struct rejudged_result *results;
	size_t count;
	int rc = rejudging_find(db, arena, id, &rejudging, error);
	if (!rc)
		rc = rejudging_results(db, arena, id, 0, rejudging_most_jobs, &results, &count, error);
	if (rc)
		return rc;
	say_rejudging(arena, &rejudging);
	for (size_t i = 0; i < count; i++)
		say_result(arena, &results[i]);
	if (rejudging.ended_by || rejudging.waiting)
		return 0;
	if (!rejudging.frozen)
		return say_changes(db, arena, &rejudging, error);
	admin_say("The ranking of %s is frozen. Lift the freeze before you apply this rejudging.",
		rejudging.frozen);
	return 0;
}

int rejudge_show_command(int argc, char **argv)
{
	if (argc != 2)
		return admin_usage("rejudge show");
	cleanup_arena struct arena *arena = arena_new();
	cleanup_database struct database *db = admin_connect();
	struct error error = { 0 };
	if (!db)
		return admin_failed;
	return print_rejudge(db, arena, admin_number(argv[1]), &error) ? admin_complain(&error)
																   : admin_done;
}

/* ---- rejudge apply, rejudge discard ---- */

typedef int rejudging_end(
	struct database *db, int64_t id, const struct actor *by, struct error *error);

/* The arguments are NUMBER and NAME; the name confirms that the number is the intended one. */
static int end_rejudging(
	const char *command, int argc, char **argv, rejudging_end *run, const char *outcome)
{
	if (argc != 3)
		return admin_usage(command);
	cleanup_arena struct arena *arena = arena_new();
	cleanup_database struct database *db = admin_connect();
	struct error error = { 0 };
	struct rejudging rejudging;
	if (!db)
		return admin_failed;
	int rc = rejudging_find(db, arena, admin_number(argv[1]), &rejudging, &error);
	if (!rc)
		rc = rejudging_check_name(&rejudging, argv[2], &error);
	if (!rc)
		rc = run(db, rejudging.id, &admin_actor, &error);
	if (rc)
		return admin_complain(&error);
	admin_say("Rejudging %lld is %s", (long long)rejudging.id, outcome);
	return admin_done;
}

int rejudge_apply_command(int argc, char **argv)
{
	return end_rejudging(
		"rejudge apply", argc, argv, rejudging_apply, "applied. The rankings use the new results.");
}

int rejudge_discard_command(int argc, char **argv)
{
	return end_rejudging(
		"rejudge discard", argc, argv, rejudging_discard, "discarded. Every old result stays.");
}
