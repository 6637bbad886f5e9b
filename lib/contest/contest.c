#include "lib/contest/contest.h"

#include "lib/base/buffer.h"
#include "lib/base/format.h"
#include "lib/base/markdown_size.h"
#include "lib/base/quote.h"
#include "lib/base/scope.h"
#include "lib/base/text.h"
#include "lib/leaderboard/leaderboard.h"
#include "lib/leaderboard/publication.h"
#include "lib/leaderboard/visibility.h"
#include "lib/ranking/ranking.h"

#include <stdlib.h>
#include <string.h>

/* ---- reading ---- */

static const struct column CONTEST_COLUMNS[] = {
	INTEGER(struct contest, id),
	TEXT(struct contest, name),
	TEXT(struct contest, title),
	TEXT(struct contest, rules),
	INTEGER(struct contest, creator_id),
	TIME(struct contest, starts_at_ms),
	TIME(struct contest, ends_at_ms),
	TEXT(struct contest, registration),
	TEXT(struct contest, code),
	TEXT(struct contest, scoring),
	TEXT(struct contest, points),
	INTEGER(struct contest, freeze_minutes),
	TIME(struct contest, final_at_ms),
	INTEGER(struct contest, has_standings),
	INTEGER(struct contest, entrants),
	INTEGER(struct contest, problems),
	INTEGER(struct contest, is_entrant),
	INTEGER(struct contest, is_juror),
	INTEGER(struct contest, team_members),
};
#define CONTESTS(rest) \
	SELECT(struct contest, CONTEST_COLUMNS, \
		"SELECT c.id, c.name, c.title, c.rules, c.creator_id, c.starts_at AS starts_at_ms, " \
		"c.ends_at AS ends_at_ms, c.registration, c.code, c.scoring, c.points, " \
		"c.freeze_minutes, c.final_at AS final_at_ms, " \
		"c.final_at IS NOT NULL AND c.standings_stored AS has_standings, " \
		"(SELECT COUNT(*) FROM contest_entrants e WHERE e.contest_id = c.id) AS entrants, " \
		"(SELECT COUNT(*) FROM contest_problems p WHERE p.contest_id = c.id) AS problems, " \
		"EXISTS (SELECT 1 FROM users reader JOIN contest_entrants e ON e.contest_id = c.id " \
		"AND e.user_id = COALESCE((SELECT t.team_id FROM team_members t WHERE " \
		"  t.contest_id = c.id AND t.user_id = reader.id), reader.id) WHERE reader.id = ?) " \
		"AS is_entrant, " SQL_IS_JUROR("c.id", "?") " AS is_juror, c.team_members " \
													"FROM contests c " rest)
static const struct statement BY_NAME = CONTESTS("WHERE c.name = ?");
static const struct statement LOCKED = CONTESTS("WHERE c.id = ? FOR UPDATE");
static const struct statement ALL = CONTESTS("ORDER BY c.ends_at DESC, c.id DESC LIMIT 200");

static const struct column PROBLEM_COLUMNS[] = {
	INTEGER(struct contest_problem, leaderboard_id),
	TEXT(struct contest_problem, name),
	TEXT(struct contest_problem, visibility),
	INTEGER(struct contest_problem, is_seen),
	INTEGER(struct contest_problem, reader_right),
	INTEGER(struct contest_problem, version),
	INTEGER(struct contest_problem, wanted_version),
};
#define READER_RIGHT SQL_RIGHT("l")
#define IS_SEEN SQL_MAY_SEE("l")
const struct statement contest_problems_reading = SELECT(struct contest_problem, PROBLEM_COLUMNS,
	"SELECT l.id AS leaderboard_id, l.name, l.visibility, " IS_SEEN " AS is_seen, " READER_RIGHT
	" AS reader_right, (SELECT v.number FROM task_versions v WHERE v.id = l.task_version_id) "
	"AS version, (SELECT v.number FROM publications w JOIN task_versions v "
	"ON v.id = w.task_version_id WHERE w.leaderboard_id = l.id) AS wanted_version "
	"FROM contest_problems p JOIN leaderboards l ON l.id = p.leaderboard_id "
	"WHERE p.contest_id = ? ORDER BY p.position, l.name");

const char *contest_state(const struct contest *contest, int64_t now_ms)
{
	if (contest->final_at_ms != TIME_NULL)
		return "final";
	if (now_ms < contest->starts_at_ms)
		return "soon";
	return now_ms < contest->ends_at_ms ? "running" : "ended";
}

static int64_t freezes_at_ms(int64_t ends_at_ms, int64_t freeze_minutes)
{
	return freeze_minutes ? ends_at_ms - freeze_minutes * 60000 : TIME_NULL;
}

int64_t contest_freezes_at_ms(const struct contest *contest)
{
	return freezes_at_ms(contest->ends_at_ms, contest->freeze_minutes);
}

bool contest_is_frozen(const struct contest *contest, int64_t now_ms)
{
	int64_t at_ms = contest_freezes_at_ms(contest);
	return at_ms != TIME_NULL && at_ms <= now_ms && contest->final_at_ms == TIME_NULL;
}

int contest_by_name(struct database *db, struct arena *arena, const char *name, int64_t reader_id,
	struct contest *contest, struct error *error)
{
	int rc = text_is_leaderboard_name(name)
		? database_row(db, arena, &BY_NAME, contest, error, "iis", reader_id, reader_id, name)
		: ERROR_NOT_FOUND;
	return rc == ERROR_NOT_FOUND
		? fail(error, rc, "There is no contest named %s.", quote(arena, name))
		: rc;
}

int contest_lock(struct database *db, struct arena *arena, int64_t id, struct contest *contest,
	struct error *error)
{
	return database_row(db, arena, &LOCKED, contest, error, "iii", (int64_t)0, (int64_t)0, id);
}

int contests_read(struct database *db, struct arena *arena, int64_t reader_id,
	struct contest **contests, size_t *count, struct error *error)
{
	return database_rows(db, arena, &ALL, contests, count, error, "ii", reader_id, reader_id);
}

int contest_problems(struct database *db, struct arena *arena, int64_t contest_id,
	int64_t reader_id, struct contest_problem **problems, size_t *count, struct error *error)
{
	return database_rows(db, arena, &contest_problems_reading, problems, count, error, "iii",
		reader_id, reader_id, contest_id);
}

struct offer {
	const char *name;
};
static const struct column OFFER_COLUMNS[] = { TEXT(struct offer, name) };
static const struct statement OFFERS = SELECT(struct offer, OFFER_COLUMNS,
	"SELECT l.name FROM leaderboards l WHERE l.archived_at IS NULL AND (? OR l.creator_id = ?) "
	"AND NOT EXISTS (SELECT 1 FROM contest_problems p WHERE p.leaderboard_id = l.id "
	"AND p.contest_id <> ?) ORDER BY l.name LIMIT ?");

int contest_offers(struct database *db, struct arena *arena, int64_t contest_id, bool may_all,
	int64_t actor_id, const char ***names, size_t *count, struct error *error)
{
	struct offer *offers;
	int rc = database_rows(db, arena, &OFFERS, &offers, count, error, "iiii", (int64_t)may_all,
		actor_id, contest_id, (int64_t)contest_most_offered);
	if (rc)
		return rc;
	*names = arena_array(arena, const char *, *count);
	for (size_t i = 0; i < *count; i++)
		(*names)[i] = offers[i].name;
	return 0;
}

int contest_settings_of(struct database *db, struct arena *arena, const struct contest *contest,
	struct contest_settings *settings, struct error *error)
{
	struct contest_problem *problems;
	*settings = (struct contest_settings){ contest->name, contest->title, contest->rules,
		contest->registration, contest->code, contest->scoring, contest->points,
		contest->starts_at_ms, contest->ends_at_ms, contest->freeze_minutes, contest->team_members,
		NULL, 0 };
	int rc =
		contest_problems(db, arena, contest->id, 0, &problems, &settings->problem_count, error);
	if (rc)
		return rc;
	settings->problems = arena_array(arena, const char *, settings->problem_count);
	for (size_t i = 0; i < settings->problem_count; i++)
		settings->problems[i] = problems[i].name;
	return 0;
}

/* ---- settings as text ---- */

const char *const contest_keys[] = { "title", "starts", "ends", "rules", "registration", "code",
	"scoring", "points", "freeze_minutes", "team_members", "problems", NULL };

static void set_time(int64_t *ms, const char *value)
{
	format_text unchanged;
	format_datetime_local(unchanged, *ms);
	if (strcmp(unchanged, value) != 0 && parse_utc(value, ms))
		*ms = TIME_NULL;
}

static int64_t read_count(const char *value)
{
	size_t digits = strspn(value, "0123456789");
	return digits && digits <= 9 && !value[digits] ? strtoll(value, NULL, 10) : SQL_NULL_INTEGER;
}

static void set_problems(struct arena *arena, struct contest_settings *settings, const char *value)
{
	static const char separators[] = ", \t\r\n";
	settings->problems = arena_array(arena, const char *, strlen(value) / 2 + 1);
	settings->problem_count = 0;
	for (value += strspn(value, separators); *value; value += strspn(value, separators)) {
		size_t length = strcspn(value, separators);
		settings->problems[settings->problem_count++] = arena_strndup(arena, value, length);
		value += length;
	}
}

bool contest_set(
	struct arena *arena, struct contest_settings *settings, const char *key, const char *value)
{
	const struct {
		const char *key, **place;
	} texts[] = { { "title", &settings->title }, { "rules", &settings->rules },
		{ "registration", &settings->registration }, { "code", &settings->code },
		{ "scoring", &settings->scoring }, { "points", &settings->points } };
	for (size_t i = 0; i < COUNT(texts); i++)
		if (strcmp(key, texts[i].key) == 0) {
			*texts[i].place = value;
			return true;
		}
	if (strcmp(key, "starts") == 0)
		set_time(&settings->starts_at_ms, value);
	else if (strcmp(key, "ends") == 0)
		set_time(&settings->ends_at_ms, value);
	else if (strcmp(key, "freeze_minutes") == 0)
		settings->freeze_minutes = read_count(value);
	else if (strcmp(key, "team_members") == 0)
		settings->team_members = read_count(value);
	else if (strcmp(key, "problems") == 0)
		set_problems(arena, settings, value);
	else
		return false;
	return true;
}

const char *contest_problem_words(struct arena *arena, const struct contest_settings *settings)
{
	const char *names = settings->problem_count ? settings->problems[0] : "";
	for (size_t i = 1; i < settings->problem_count; i++)
		names = arena_printf(arena, "%s %s", names, settings->problems[i]);
	return names;
}

/* ---- checking settings ---- */

static int check_name(const struct contest_settings *settings, struct error *error)
{
	return text_is_leaderboard_name(settings->name)
		? 0
		: fail_field(error, "name",
			"A name has 1 to 64 letters, digits, dots, dashes and underscores, and starts with a "
			"letter or digit.");
}

static int check_title(const struct contest_settings *settings, struct error *error)
{
	return text_is_line(settings->title, contest_most_title_bytes)
		? 0
		: fail_field(error, "title", "Type a title of one line and at most %d bytes.",
			contest_most_title_bytes);
}

static int check_starts(const struct contest_settings *settings, struct error *error)
{
	return settings->starts_at_ms != TIME_NULL
		? 0
		: fail_field(error, "starts", "Type the start as 2026-11-21 06:10, in UTC.");
}

static int check_ends(const struct contest_settings *settings, struct error *error)
{
	if (settings->ends_at_ms == TIME_NULL)
		return fail_field(error, "ends", "Type the end as 2026-11-21 06:10, in UTC.");
	if (settings->starts_at_ms != TIME_NULL && settings->ends_at_ms <= settings->starts_at_ms)
		return fail_field(error, "ends", "The end must be after the start.");
	return 0;
}

static int check_rules(const struct contest_settings *settings, struct error *error)
{
	struct error fault;
	size_t length = strlen(settings->rules);
	if (length > contest_most_rules_bytes)
		return fail_field(
			error, "rules", "The rules may have at most %d bytes.", contest_most_rules_bytes);
	return markdown_check(settings->rules, length, &fault)
		? fail_field(error, "rules", "The rules, %s", fault.text)
		: 0;
}

static int check_registration(const struct contest_settings *settings, struct error *error)
{
	static const char *const known[] = { "open", "code", "closed" };
	return text_is_one_of(settings->registration, known, COUNT(known))
		? 0
		: fail_field(error, "registration", "The registration is open, code or closed.");
}

static int check_code(const struct contest_settings *settings, struct error *error)
{
	bool needs = strcmp(settings->registration, "code") == 0;
	if (!needs && !*settings->code)
		return 0;
	return text_count_characters(settings->code) >= 6
			&& text_is_line(settings->code, contest_most_code_bytes)
		? 0
		: fail_field(error, "code",
			"Type a code of 6 to %d characters. Some letters count as several.",
			contest_most_code_bytes);
}

static int check_scoring(const struct contest_settings *settings, struct error *error)
{
	return scoring_method_of(settings->scoring) < scoring_methods
		? 0
		: fail_field(error, "scoring", "The scoring is ranks, ratios or mean.");
}

static int check_points(const struct contest_settings *settings, struct error *error)
{
	struct scoring_rule rule;
	if (strlen(settings->points) > 1000 || !text_is_ascii(settings->points))
		return fail_field(error, "points", "The points may have at most 1000 characters.");
	return scoring_read_points(&rule, settings->points, error);
}

static int check_freeze(const struct contest_settings *settings, struct error *error)
{
	return settings->freeze_minutes >= 0 && settings->freeze_minutes <= contest_most_freeze_minutes
		? 0
		: fail_field(error, "freeze_minutes",
			"Type the minutes before the end as a whole number from 0 to %d.",
			contest_most_freeze_minutes);
}

static int check_teams(const struct contest_settings *settings, struct error *error)
{
	int64_t most = settings->team_members;
	return most == 0 || (most >= 2 && most <= contest_most_team_members)
		? 0
		: fail_field(error, "team_members",
			"Type how many members a team may have, from 2 to %d, or 0 for no teams.",
			contest_most_team_members);
}

contest_check *const contest_checks[] = { check_name, check_title, check_starts, check_ends,
	check_rules, check_registration, check_code, check_scoring, check_points, check_freeze,
	check_teams, NULL };

static int check_all(const struct contest_settings *settings, struct error *error)
{
	int rc = 0;
	for (size_t i = 0; contest_checks[i] && !rc; i++)
		rc = contest_checks[i](settings, error);
	return rc;
}

/* ---- creating and changing ---- */

static const struct statement INSERT =
	COMMAND("INSERT INTO contests (name, title, rules, "
			"registration, code, scoring, points, starts_at, ends_at, freeze_minutes, "
			"team_members, creator_id) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
static const struct statement UPDATE =
	COMMAND("UPDATE contests SET title = ?, rules = ?, "
			"registration = ?, code = ?, scoring = ?, points = ?, starts_at = ?, ends_at = ?, "
			"freeze_minutes = ?, team_members = ?, "
			"ended_at = IF(? > UTC_TIMESTAMP(3), NULL, ended_at) WHERE id = ?");

struct joining {
	int64_t id, version_id, contest_id;
	const char *visibility, *wanted;
};
static const struct column JOINING_COLUMNS[] = {
	INTEGER(struct joining, id),
	INTEGER(struct joining, version_id),
	INTEGER(struct joining, contest_id),
	TEXT(struct joining, visibility),
	TEXT(struct joining, wanted),
};
static const struct statement JOINING = SELECT(struct joining, JOINING_COLUMNS,
	"SELECT l.id, l.task_version_id AS version_id, "
	"(SELECT p.contest_id FROM contest_problems p WHERE p.leaderboard_id = l.id) AS contest_id, "
	"l.visibility, (SELECT w.visibility FROM publications w WHERE w.leaderboard_id = l.id) "
	"AS wanted FROM leaderboards l WHERE l.name = ? AND (l.id IN "
	"(SELECT o.leaderboard_id FROM contest_problems o WHERE o.contest_id = ?) "
	"OR (l.archived_at IS NULL AND (? OR l.creator_id = ?))) FOR UPDATE");
static const struct statement PUT_PROBLEM =
	COMMAND("INSERT INTO contest_problems (leaderboard_id, contest_id, position) VALUES (?, ?, ?) "
			"ON DUPLICATE KEY UPDATE position = VALUES(position)");
static const struct statement DROP_PROBLEM =
	COMMAND("DELETE FROM contest_problems WHERE leaderboard_id = ?");
static const struct statement SET_TIMES =
	COMMAND("UPDATE leaderboards SET deadline = ?, frozen_at = ?, updated_at = UTC_TIMESTAMP(3) "
			"WHERE id = ?");

struct count_row {
	int64_t count;
};
static const struct column COUNT_COLUMNS[] = { INTEGER(struct count_row, count) };
static const struct statement SCOREBOARD_WIDTH = SELECT(struct count_row, COUNT_COLUMNS,
	"SELECT COUNT(*) AS count FROM contest_problems p "
	"JOIN leaderboard_gpus g ON g.leaderboard_id = p.leaderboard_id WHERE p.contest_id = ?");

struct order {
	struct arena *arena;
	const struct contest_settings *asked;
	struct contest_settings settings; /* as asked, but with keep_freeze applied */
	bool is_new;
	int64_t id;            /* of the contest */
	struct contest before; /* the contest before the change; not set if is_new */
	bool may_all;
	const struct actor *actor;
	int64_t now_ms;
};

/* A leaderboard that joins before the start is hidden, and waits for the start with the visibility
 * that it had. After the start it becomes visible as soon as its check has passed. */
static int hide_problem(struct database *db, const struct order *order,
	const struct joining *leaderboard, struct error *error)
{
	bool is_hidden = strcmp(leaderboard->visibility, "hidden") == 0;
	int rc = 0;
	if (!is_hidden && order->settings.starts_at_ms <= order->now_ms)
		return 0;
	if (!is_hidden)
		rc = leaderboard_show(db, leaderboard->id, "hidden", error);
	if (rc || leaderboard->wanted)
		return rc;
	return publication_want(db, leaderboard->id, leaderboard->version_id,
		is_hidden ? "public" : leaderboard->visibility, error);
}

static int put_problem(
	struct database *db, const struct order *order, size_t position, struct error *error)
{
	const char *name = order->settings.problems[position];
	const struct contest_settings *settings = &order->settings;
	struct joining leaderboard;
	int rc = text_is_leaderboard_name(name) ? database_row(db, order->arena, &JOINING, &leaderboard,
				 error, "siii", name, order->id, (int64_t)order->may_all, order->actor->id)
											: ERROR_NOT_FOUND;
	if (rc == ERROR_NOT_FOUND)
		return fail_field(error, "problems", "There is no leaderboard named %s that you may use.",
			quote(order->arena, name));
	if (!rc && leaderboard.contest_id != SQL_NULL_INTEGER && leaderboard.contest_id != order->id)
		return fail_field(error, "problems", "%s belongs to another contest.", name);
	if (!rc && leaderboard.contest_id == SQL_NULL_INTEGER)
		rc = hide_problem(db, order, &leaderboard, error);
	if (!rc)
		rc = database_execute(
			db, &PUT_PROBLEM, error, "iii", leaderboard.id, order->id, (int64_t)position);
	if (!rc)
		rc = database_execute(db, &SET_TIMES, error, "tti", settings->ends_at_ms,
			freezes_at_ms(settings->ends_at_ms, settings->freeze_minutes), leaderboard.id);
	return rc || settings->starts_at_ms > order->now_ms
		? rc
		: ranking_rebuild(db, leaderboard.id, error);
}

/* Removes the problems that the settings no longer name. Such a leaderboard stays hidden, because
 * its creator may not want to show it yet. It loses the contest's deadline and freeze. */
static int drop_problems(struct database *db, const struct order *order, struct error *error)
{
	const struct contest_settings *settings = &order->settings;
	struct contest_problem *problems;
	size_t count;
	int rc = contest_problems(db, order->arena, order->id, 0, &problems, &count, error);
	for (size_t i = 0; i < count && !rc; i++) {
		bool stays = text_is_one_of(problems[i].name, settings->problems, settings->problem_count);
		if (!stays && order->before.starts_at_ms <= order->now_ms)
			return fail_field(
				error, "problems", "The contest has started, so %s must stay.", problems[i].name);
		if (!stays)
			rc = database_execute(db, &DROP_PROBLEM, error, "i", problems[i].leaderboard_id);
		if (!stays && !rc)
			rc = database_execute(
				db, &SET_TIMES, error, "tti", TIME_NULL, TIME_NULL, problems[i].leaderboard_id);
		if (!stays && !rc)
			rc = publication_withdraw(db, problems[i].leaderboard_id, error);
	}
	return rc;
}

/* Leaves out the code, because many admins can read the audit log. */
static const char *describe(struct arena *arena, const struct contest_settings *settings)
{
	format_text starts, ends;
	format_utc(starts, settings->starts_at_ms);
	format_utc(ends, settings->ends_at_ms);
	return arena_printf(arena,
		"%s to %s; registration: %s; scoring: %s; points: %s; freeze: %lld minutes; members of a "
		"team: %lld; problems: %s",
		starts, ends, settings->registration, settings->scoring,
		*settings->points ? settings->points : "as usual", (long long)settings->freeze_minutes,
		(long long)settings->team_members, contest_problem_words(arena, settings));
}

/* Names the changed settings that describe() does not list. */
static const char *other_changes(const struct order *order)
{
	const struct contest_settings *now = &order->settings;
	const struct contest *before = &order->before;
	if (order->is_new)
		return "";
	return arena_printf(order->arena, "%s%s%s",
		strcmp(now->title, before->title) != 0 ? "; new title" : "",
		strcmp(now->rules, before->rules) != 0 ? "; new rules" : "",
		strcmp(now->code, before->code) != 0 ? "; new code" : "");
}

/* Contestants rely on the scoring, so it cannot change after the start. A freeze that has begun
 * cannot change either, because that would show withheld results. */
static int check_scores_stay(const struct contest *before, const struct contest_settings *now,
	int64_t now_ms, struct error *error)
{
	static const char sentence[] = "The contest has started, so this does not change any more.";
	if (strcmp(now->scoring, before->scoring) != 0)
		return fail_field(error, "scoring", "%s", sentence);
	if (strcmp(now->points, before->points) != 0)
		return fail_field(error, "points", "%s", sentence);
	if (now->team_members != before->team_members)
		return fail_field(error, "team_members", "%s", sentence);
	return now->freeze_minutes == before->freeze_minutes || !contest_is_frozen(before, now_ms)
		? 0
		: fail_field(
			error, "freeze_minutes", "The scoreboard is frozen, so this does not change any more.");
}

/* If the end moves while the scoreboard is frozen, changes freeze_minutes so that the freeze still
 * starts when it did. */
static int keep_freeze(struct order *order, struct error *error)
{
	const struct contest *before = &order->before;
	int64_t minutes;
	if (order->settings.ends_at_ms == before->ends_at_ms
		|| !contest_is_frozen(before, order->now_ms))
		return 0;
	minutes = (order->settings.ends_at_ms - contest_freezes_at_ms(before) + 59999) / 60000;
	if (minutes > contest_most_freeze_minutes)
		return fail_field(error, "ends",
			"The scoreboard is frozen, and a freeze lasts at most %d days. Type an earlier end.",
			contest_most_freeze_minutes / (24 * 60));
	order->settings.freeze_minutes = minutes > 1 ? minutes : 1;
	return 0;
}

static int check_change(struct order *order, struct error *error)
{
	const struct contest *before = &order->before;
	if (before->final_at_ms != TIME_NULL)
		return fail(error, ERROR_CONFLICT,
			"The standings of %s are final, so the contest does not change any more.",
			before->name);
	if (before->starts_at_ms <= order->now_ms
		&& order->settings.starts_at_ms != before->starts_at_ms)
		return fail_field(
			error, "starts", "The contest has started, so its start does not change any more.");
	if (before->starts_at_ms > order->now_ms)
		return 0;
	int rc = check_scores_stay(before, &order->settings, order->now_ms, error);
	return rc ? rc : keep_freeze(order, error);
}

static int store(struct database *db, struct order *order, struct error *error)
{
	const struct contest_settings *s = &order->settings;
	if (order->is_new) {
		int rc = database_execute(db, &INSERT, error, "sssssssttiii", s->name, s->title, s->rules,
			s->registration, s->code, s->scoring, s->points, s->starts_at_ms, s->ends_at_ms,
			s->freeze_minutes, s->team_members,
			order->actor->id ? order->actor->id : SQL_NULL_INTEGER);
		order->id = (int64_t)database_insert_id(db);
		return rc == ERROR_CONFLICT
			? fail_field(error, "name", "There is a contest named %s already.", s->name)
			: rc;
	}
	int rc = drop_problems(db, order, error);
	return rc ? rc
			  : database_execute(db, &UPDATE, error, "ssssssttiiti", s->title, s->rules,
				  s->registration, s->code, s->scoring, s->points, s->starts_at_ms, s->ends_at_ms,
				  s->freeze_minutes, s->team_members, s->ends_at_ms, order->id);
}

/* Limits the scoreboard's width: it has a column for each problem on each device. */
static int check_columns(struct database *db, const struct order *order, struct error *error)
{
	struct count_row columns;
	int rc = database_row(db, order->arena, &SCOREBOARD_WIDTH, &columns, error, "i", order->id);
	if (rc || columns.count <= contest_most_columns)
		return rc;
	return fail_field(error, "problems",
		"The scoreboard would have %lld columns, one for each problem on each device. It may have "
		"at most %d.",
		(long long)columns.count, contest_most_columns);
}

static int order_body(struct database *db, void *context, struct error *error)
{
	struct order *order = context;
	order->settings = *order->asked;
	int rc = order->is_new ? 0 : contest_lock(db, order->arena, order->id, &order->before, error);
	if (!rc && !order->is_new)
		rc = check_change(order, error);
	if (!rc)
		rc = store(db, order, error);
	for (size_t i = 0; i < order->settings.problem_count && !rc; i++)
		rc = put_problem(db, order, i, error);
	if (!rc)
		rc = check_columns(db, order, error);
	if (!rc)
		rc = contest_seat_entrants(db, order->id, 0, error);
	return rc ? rc
			  : audit(db, order->actor->id, order->actor->name, order->actor->address,
				  order->is_new ? "contest.create" : "contest.change",
				  order->is_new ? order->settings.name : order->before.name,
				  arena_printf(order->arena, "%s%s", describe(order->arena, &order->settings),
					  other_changes(order)),
				  error);
}

static int run_order(struct database *db, struct order *order, struct error *error)
{
	int rc = check_all(order->asked, error);
	if (!rc && order->asked->problem_count > contest_most_problems)
		rc = fail_field(
			error, "problems", "A contest has at most %d problems.", contest_most_problems);
	order->now_ms = now_ms();
	return rc ? rc : database_transaction(db, order_body, order, error);
}

int contest_create(struct database *db, struct arena *arena,
	const struct contest_settings *settings, bool may_all, const struct actor *actor,
	struct error *error)
{
	struct order order = {
		.arena = arena, .asked = settings, .is_new = true, .may_all = may_all, .actor = actor
	};
	return run_order(db, &order, error);
}

int contest_change(struct database *db, struct arena *arena, const struct contest *contest,
	const struct contest_settings *settings, bool may_all, const struct actor *actor,
	struct error *error)
{
	struct order order = {
		.arena = arena, .id = contest->id, .asked = settings, .may_all = may_all, .actor = actor
	};
	return run_order(db, &order, error);
}
