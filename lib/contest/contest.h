/* Contests: leaderboards that start and end together and share their contestants and one scoreboard
 * (lib/contest/standings.h). docs/contests.md is for the people who run contests.
 *
 * A contest's leaderboards are its problems. Before the start they are hidden, so nobody but their
 * creators and admins finds them (lib/leaderboard/visibility.h). Each waits to be published
 * (lib/leaderboard/publication.h), and becomes visible at the start at the earliest. The end of the
 * contest is their deadline, and their rankings freeze with the scoreboard. */
#ifndef PODIUM_LIB_CONTEST_CONTEST_H
#define PODIUM_LIB_CONTEST_CONTEST_H

#include "lib/account/audit.h"
#include "lib/base/arena.h"
#include "lib/base/error.h"
#include "lib/contest/scoring.h"
#include "lib/database/database.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	contest_most_problems = 50,
	contest_most_title_bytes = 120,
	contest_most_code_bytes = 64,
	contest_most_rules_bytes = 60000,
	contest_most_freeze_minutes = 14 * 24 * 60,
	contest_most_team_members = 50,
	contest_most_offered = 500,
};

struct contest {
	int64_t id;
	const char *name, *title, *rules; /* rules: Markdown */
	int64_t creator_id;               /* SQL_NULL_INTEGER: none */
	int64_t starts_at_ms, ends_at_ms;
	const char *registration; /* "open", "code", "closed" */
	const char *code;    /* for registration "code"; show it only to whoever manages the contest */
	const char *scoring; /* a word of scoring_word (lib/contest/scoring.h) */
	const char *points;  /* a text for scoring_read_points */
	int64_t freeze_minutes; /* before the end; 0: no freeze */
	int64_t final_at_ms;    /* when the standings were declared final; TIME_NULL: not yet */
	int64_t has_standings;  /* whether final standings are stored (lib/contest/standings.h) */
	int64_t entrants;       /* registered accounts */
	int64_t problems;       /* leaderboards */
	int64_t is_entrant;     /* the reader, or their team in the contest, is registered */
	int64_t is_juror;       /* the reader is in the jury of a problem, and cannot take part */
	int64_t team_members;   /* most members of a team (lib/account/team.h); 0: no teams */
};

/* The settings that somebody typed for a contest. contest_checks tells which are wrong. */
struct contest_settings {
	const char *name; /* only for creating */
	const char *title, *rules, *registration, *code, *scoring, *points;
	int64_t starts_at_ms, ends_at_ms; /* TIME_NULL: not set */
	/* SQL_NULL_INTEGER: not a number */
	int64_t freeze_minutes, team_members;
	const char **problems; /* names of leaderboards, in order */
	size_t problem_count;
};

/* "soon", "running", "ended" (not final yet) or "final". */
const char *contest_state(const struct contest *contest, int64_t now_ms);
/* When the scoreboard freezes; TIME_NULL: never. */
int64_t contest_freezes_at_ms(const struct contest *contest);
/* Whether the scoreboard is frozen now. After the end it stays frozen until the standings are
 * final. */
bool contest_is_frozen(const struct contest *contest, int64_t now_ms);

/* contest_by_name reads one contest, contests_read all, starting with the one that ends last.
 * `reader_id` 0: nobody is signed in. ERROR_NOT_FOUND with a sentence: no contest has this name. */
int contest_by_name(struct database *db, struct arena *arena, const char *name, int64_t reader_id,
	struct contest *contest, struct error *error);
/* Reads a contest and locks its row. Private to lib/contest. */
int contest_lock(struct database *db, struct arena *arena, int64_t id, struct contest *contest,
	struct error *error);
int contests_read(struct database *db, struct arena *arena, int64_t reader_id,
	struct contest **contests, size_t *count, struct error *error);

/* A problem, and whether the reader may see it (SQL_MAY_SEE). */
struct contest_problem {
	int64_t leaderboard_id;
	const char *name, *visibility;
	int64_t is_seen;
	int64_t reader_right;            /* enum leaderboard_right (lib/leaderboard/right.h) */
	int64_t version, wanted_version; /* as in struct leaderboard */
};
int contest_problems(struct database *db, struct arena *arena, int64_t contest_id,
	int64_t reader_id, struct contest_problem **problems, size_t *count, struct error *error);
/* contest_problems as a statement for a bundle. The parameters are the reader, the reader again,
 * and the contest. */
extern const struct statement contest_problems_reading;

struct contest_entrant {
	const char *name;
	int64_t registered_at_ms;
};
int contest_entrants(struct database *db, struct arena *arena, int64_t contest_id,
	struct contest_entrant **entrants, size_t *count, struct error *error);

/* A user with the role jury (lib/leaderboard/role.h) on problems of a contest. contest_jury lists
 * them by name. */
struct contest_juror {
	const char *name;
	int64_t problems; /* how many they judge */
};
int contest_jury(struct database *db, struct arena *arena, int64_t contest_id,
	struct contest_juror **jurors, size_t *count, struct error *error);

/* Gives a user the role jury on all problems, or takes this role away on all. A co-creator of a
 * problem keeps that role. Errors are those of leaderboard_role_change, and ERROR_FORBIDDEN if the
 * actor may not give roles on one of the problems. */
int contest_change_jury(struct database *db, struct arena *arena, const struct contest *contest,
	const char *user, bool gives, const struct actor *actor, struct error *error);

/* Lists at most contest_most_offered leaderboards that the actor may put into the contest: those
 * that the actor created (all if `may_all`), that are not archived, and that belong to no other
 * contest. `contest_id` 0: a new contest. */
int contest_offers(struct database *db, struct arena *arena, int64_t contest_id, bool may_all,
	int64_t actor_id, const char ***names, size_t *count, struct error *error);

/* Reads the current settings of a contest. */
int contest_settings_of(struct database *db, struct arena *arena, const struct contest *contest,
	struct contest_settings *settings, struct error *error);

/* Sets one setting from text. The keys are title, starts, ends, rules, registration, code, scoring,
 * points, freeze_minutes, team_members and problems. The text of problems is a list of names,
 * separated by spaces or commas. An unreadable time becomes TIME_NULL and an unreadable number
 * SQL_NULL_INTEGER, which the checks refuse. A time that equals the stored one to the minute keeps
 * the stored seconds. Returns false for another key. */
bool contest_set(
	struct arena *arena, struct contest_settings *settings, const char *key, const char *value);
extern const char *const contest_keys[]; /* the last is NULL */

/* The names of the problems, separated by spaces. */
const char *contest_problem_words(struct arena *arena, const struct contest_settings *settings);

/* Each of these checks one setting. The error's field is name or one of contest_keys. */
typedef int contest_check(const struct contest_settings *settings, struct error *error);
extern contest_check *const contest_checks[]; /* the last is NULL */

/* Create a contest, or change one. Leaderboards that join a contest before its start are hidden
 * until then, and become visible once their check has passed, too. All problems get the contest's
 * end as deadline, and its freeze. `may_all`: the actor may use other people's leaderboards.
 *
 * After the start, the name, the start, the scoring and the size of teams cannot change, and
 * problems can only be added. After the standings are final, nothing can change. The error's field
 * may also be problems. */
int contest_create(struct database *db, struct arena *arena,
	const struct contest_settings *settings, bool may_all, const struct actor *actor,
	struct error *error);
int contest_change(struct database *db, struct arena *arena, const struct contest *contest,
	const struct contest_settings *settings, bool may_all, const struct actor *actor,
	struct error *error);

/* contest_register registers a person, or their team in the contest, and makes that account a
 * member of the contest's leaderboards. It fails after the end, if registration is closed, and with
 * the field code for a wrong code. Registering twice changes nothing. contest_leave withdraws the
 * registration of the actor or of their team before the start, with an audit entry. */
int contest_register(struct database *db, struct arena *arena, const struct contest *contest,
	int64_t person_id, const char *code, struct error *error);
int contest_leave(struct database *db, struct arena *arena, const struct contest *contest,
	const struct actor *actor, struct error *error);

/* Makes a contestant a member of the contest's leaderboards; `contestant_id` 0: all contestants. */
int contest_seat_entrants(
	struct database *db, int64_t contest_id, int64_t contestant_id, struct error *error);

/* Registers an account by its name, or removes it, even if registration is closed. ERROR_CONFLICT:
 * the standings are final. */
int contest_put_entrant(struct database *db, struct arena *arena, const struct contest *contest,
	const char *user, bool is_entrant, const struct actor *actor, struct error *error);

/* Declares the standings final: lifts the freeze of all problems, stores the standings and writes
 * an event for webhooks. ERROR_CONFLICT: the contest has not ended, somebody has a later deadline,
 * or the contest has unfinished jobs, held results or unfinished comparisons. */
int contest_finish(struct database *db, struct arena *arena, const struct contest *contest,
	const struct actor *actor, struct error *error);

/* Deletes the stored final standings, so that the scoreboard follows the rankings again. The
 * contest then has no freeze, because everybody has seen the standings. ERROR_CONFLICT: the
 * standings are not final. */
int contest_reopen(struct database *db, struct arena *arena, const struct contest *contest,
	const struct actor *actor, struct error *error);

/* Deletes the contest with its registrations and final standings. Its problems become ordinary
 * leaderboards: hidden ones stay hidden until somebody publishes them, and all lose the freeze and
 * a deadline that has not passed. Submissions stay, also those of teams. */
int contest_delete(struct database *db, struct arena *arena, const struct contest *contest,
	const struct actor *actor, struct error *error);

/* Notes contests that have started or ended since the last call, and writes their events for
 * webhooks. Also stores final standings that an earlier version of Podium did not store. podium-web
 * calls this each second, after publications_advance. */
int contests_advance(struct database *db, struct error *error);

/* SQL condition: the contest of the leaderboard has not ended, and the user may not submit to it.
 * Until the end only contestants, the leaderboard's creator and admins may submit. The one `?` is
 * the user's ID. */
#define SQL_LACKS_REGISTRATION(leaderboard) \
	"EXISTS (SELECT 1 FROM contest_problems cp JOIN contests c ON c.id = cp.contest_id " \
	"JOIN users cu ON cu.id = ? WHERE cp.leaderboard_id = " leaderboard \
	".id AND c.ends_at > UTC_TIMESTAMP(3) AND cu.role <> 'admin' " \
	"AND cu.id <> COALESCE(" leaderboard ".creator_id, 0) AND NOT EXISTS (SELECT 1 " \
	"FROM contest_entrants ce WHERE ce.contest_id = c.id AND ce.user_id = cu.id))"

#endif
