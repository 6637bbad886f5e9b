/* `contest list`, `contest create`, `contest set`, `contest register`, `contest standings`,
 * `contest final`, `contest reopen`, `contest delete`, and those of its jury and its teams. */
#include "lib/contest/contest.h"

#include "cli/admin/admin.h"
#include "lib/account/team.h"
#include "lib/base/format.h"
#include "lib/base/rank.h"
#include "lib/base/scope.h"
#include "lib/contest/standings.h"

#include <string.h>

/* What each command needs. */
struct session {
	struct arena *arena;
	struct database *db;
	struct contest contest;
	struct error error;
};

static void end_session(struct session *session)
{
	database_close(session->db);
	arena_free(session->arena);
}
#define cleanup_session __attribute__((cleanup(end_session)))

/* Connects, and finds the contest unless `name` is NULL. Prints what is wrong. */
static int begin(struct session *session, const char *name)
{
	session->arena = arena_new();
	session->db = admin_connect();
	if (!session->db)
		return admin_failed;
	return name
			&& contest_by_name(
				session->db, session->arena, name, 0, &session->contest, &session->error)
		? admin_complain(&session->error)
		: admin_done;
}

int contest_list_command(int argc, char **argv)
{
	(void)argv;
	cleanup_session struct session session = { 0 };
	struct contest *contests;
	size_t count;
	if (argc != 1)
		return admin_usage("contest list");
	if (begin(&session, NULL))
		return admin_failed;
	if (contests_read(session.db, session.arena, 0, &contests, &count, &session.error))
		return admin_complain(&session.error);
	for (size_t i = 0; i < count; i++) {
		format_text starts, ends;
		format_utc(starts, contests[i].starts_at_ms);
		format_utc(ends, contests[i].ends_at_ms);
		admin_say("%-20s %-8s %s to %s, %lld registered, %s: %s", contests[i].name,
			contest_state(&contests[i], now_ms()), starts, ends, (long long)contests[i].entrants,
			plural(session.arena, contests[i].problems, "problem"), contests[i].title);
	}
	return admin_done;
}

/* Reads words as "title=Autumn". */
static int read_settings(
	struct session *session, int argc, char **argv, struct contest_settings *settings)
{
	for (int i = 0; i < argc; i++) {
		char *equals = strchr(argv[i], '=');
		const char *key =
			equals ? arena_strndup(session->arena, argv[i], (size_t)(equals - argv[i])) : "";
		if (!contest_set(session->arena, settings, key, equals ? equals + 1 : ""))
			return fail(&session->error, ERROR_INPUT,
				"%.80s is no setting of a contest. Write KEY=VALUE; the keys are title, starts, "
				"ends, rules, registration, code, scoring, points, freeze_minutes, team_members "
				"and problems.",
				argv[i]);
	}
	return 0;
}

int contest_create_command(int argc, char **argv)
{
	cleanup_session struct session session = { 0 };
	if (argc < 3)
		return admin_usage("contest create");
	struct contest_settings settings = { .name = argv[1],
		.title = argv[1],
		.rules = "",
		.registration = "open",
		.code = "",
		.scoring = "ranks",
		.points = "",
		.starts_at_ms = TIME_NULL,
		.ends_at_ms = TIME_NULL };
	if (begin(&session, NULL))
		return admin_failed;
	if (read_settings(&session, argc - 2, argv + 2, &settings)
		|| contest_create(session.db, session.arena, &settings, true, &admin_actor, &session.error))
		return admin_complain(&session.error);
	admin_say("The contest %s was created. Its page is /contest/%s.", argv[1], argv[1]);
	return admin_done;
}

int contest_set_command(int argc, char **argv)
{
	cleanup_session struct session session = { 0 };
	struct contest_settings settings;
	if (argc < 3)
		return admin_usage("contest set");
	if (begin(&session, argv[1]))
		return admin_failed;
	if (contest_settings_of(session.db, session.arena, &session.contest, &settings, &session.error)
		|| read_settings(&session, argc - 2, argv + 2, &settings)
		|| contest_change(session.db, session.arena, &session.contest, &settings, true,
			&admin_actor, &session.error))
		return admin_complain(&session.error);
	admin_say("The contest %s was changed.", session.contest.name);
	return admin_done;
}

int contest_register_command(int argc, char **argv)
{
	cleanup_session struct session session = { 0 };
	if (argc < 3)
		return admin_usage("contest register");
	if (begin(&session, argv[1]))
		return admin_failed;
	for (int i = 2; i < argc; i++) {
		if (contest_put_entrant(session.db, session.arena, &session.contest, argv[i], true,
				&admin_actor, &session.error))
			return admin_complain(&session.error);
		admin_say("%s is registered for %s.", argv[i], session.contest.name);
	}
	return admin_done;
}

int contest_standings_command(int argc, char **argv)
{
	cleanup_session struct session session = { 0 };
	bool is_whole = argc == 3 && strcmp(argv[1], "--unfrozen") == 0;
	struct standings standings;
	if (argc != 2 && !is_whole)
		return admin_usage("contest standings");
	if (begin(&session, argv[argc - 1]))
		return admin_failed;
	if ((is_whole ? standings_read_final : standings_read)(
			session.db, session.arena, &session.contest, 0, &standings, &session.error))
		return admin_complain(&session.error);
	for (size_t i = 0; i < standings.row_count; i++) {
		const struct standings_row *row = &standings.rows[i];
		format_text rank;
		format_rank(rank, row->score->place, row->score->is_tied);
		admin_say("%-5s %-32s %.2f", rank, row->user, row->score->total);
	}
	return admin_done;
}

int contest_final_command(int argc, char **argv)
{
	cleanup_session struct session session = { 0 };
	if (argc != 2)
		return admin_usage("contest final");
	if (begin(&session, argv[1]))
		return admin_failed;
	if (contest_finish(session.db, session.arena, &session.contest, &admin_actor, &session.error))
		return admin_complain(&session.error);
	admin_say("The standings of %s are final.", session.contest.name);
	return admin_done;
}

int contest_reopen_command(int argc, char **argv)
{
	cleanup_session struct session session = { 0 };
	if (argc != 2)
		return admin_usage("contest reopen");
	if (begin(&session, argv[1]))
		return admin_failed;
	if (contest_reopen(session.db, session.arena, &session.contest, &admin_actor, &session.error))
		return admin_complain(&session.error);
	admin_say("The standings of %s are not final any more.", session.contest.name);
	return admin_done;
}

int contest_delete_command(int argc, char **argv)
{
	cleanup_session struct session session = { 0 };
	if (argc != 2)
		return admin_usage("contest delete");
	if (begin(&session, argv[1]))
		return admin_failed;
	if (contest_delete(session.db, session.arena, &session.contest, &admin_actor, &session.error))
		return admin_complain(&session.error);
	admin_say("The contest %s was deleted. Its problems stay as leaderboards.", argv[1]);
	return admin_done;
}

/* ---- the jury ---- */

int contest_jury_command(int argc, char **argv)
{
	cleanup_session struct session session = { 0 };
	struct contest_juror *jury;
	size_t count;
	if (argc != 2)
		return admin_usage("contest jury");
	if (begin(&session, argv[1]))
		return admin_failed;
	if (contest_jury(session.db, session.arena, session.contest.id, &jury, &count, &session.error))
		return admin_complain(&session.error);
	for (size_t i = 0; i < count; i++)
		admin_say("%-32s %lld of %s", jury[i].name, (long long)jury[i].problems,
			plural(session.arena, session.contest.problems, "problem"));
	return admin_done;
}

static int change_jury(int argc, char **argv, const char *command, bool gives, const char *outcome)
{
	cleanup_session struct session session = { 0 };
	if (argc < 3)
		return admin_usage(command);
	if (begin(&session, argv[1]))
		return admin_failed;
	for (int i = 2; i < argc; i++) {
		if (contest_change_jury(session.db, session.arena, &session.contest, argv[i], gives,
				&admin_actor, &session.error))
			return admin_complain(&session.error);
		admin_say("%s %s the jury of %s.", argv[i], outcome, session.contest.name);
	}
	return admin_done;
}

int contest_judge_command(int argc, char **argv)
{
	return change_jury(argc, argv, "contest judge", true, "is in");
}

int contest_dismiss_command(int argc, char **argv)
{
	return change_jury(argc, argv, "contest dismiss", false, "is no longer in");
}

/* ---- teams ---- */

static void say_team(struct arena *arena, const struct team *team)
{
	const char *names = "";
	for (size_t i = 0; i < team->member_count; i++)
		names = arena_printf(arena, "%s%s%s", names, i ? ", " : "", team->members[i].name);
	admin_say(
		"%-32s %-8s %s", team->name, team->locked_at_ms == TIME_NULL ? "open" : "locked", names);
}

int team_list_command(int argc, char **argv)
{
	cleanup_session struct session session = { 0 };
	struct team *teams;
	size_t count;
	if (argc != 2)
		return admin_usage("team list");
	if (begin(&session, argv[1]))
		return admin_failed;
	if (teams_of_contest(
			session.db, session.arena, session.contest.id, &teams, &count, &session.error))
		return admin_complain(&session.error);
	for (size_t i = 0; i < count; i++)
		say_team(session.arena, &teams[i]);
	return admin_done;
}

static int change_team(int argc, char **argv, const char *command, team_change *change)
{
	cleanup_session struct session session = { 0 };
	if (argc != 4)
		return admin_usage(command);
	if (begin(&session, NULL))
		return admin_failed;
	if (change(session.db, argv[1], argv[2], argv[3], &admin_actor, &session.error))
		return admin_complain(&session.error);
	admin_say("The members of %s were changed.", argv[1]);
	return admin_done;
}

int team_add_command(int argc, char **argv)
{
	return change_team(argc, argv, "team add", team_put_member);
}

int team_remove_command(int argc, char **argv)
{
	return change_team(argc, argv, "team remove", team_remove_member);
}
