/* Teams of contests. A team is an account that nobody can log into (users.kind), so its
 * submissions, quotas and ranks work like a person's. A person is in at most one team of a contest.
 * A member's submissions to the contest's leaderboards belong to the team. Members have the
 * author's rights on these submissions. The first ranked submission locks the team: from then on
 * only an admin changes its members.
 *
 * A person with a ranked submission of their own in the contest cannot join a team, because they
 * would rank twice. */
#ifndef PODIUM_LIB_ACCOUNT_TEAM_H
#define PODIUM_LIB_ACCOUNT_TEAM_H

#include "lib/account/audit.h"
#include "lib/base/arena.h"
#include "lib/base/error.h"
#include "lib/database/database.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { team_code_length = 24, team_most_reason_bytes = 200 };

/* SQL condition: `person` acts for the account `account`. Both are SQL expressions of users.id. A
 * person acts for themselves and for their teams. The function does the same in C, and
 * viewer_acts_for (cgi/http/request.h) does it for a request's viewer. */
#define SQL_ACTS_FOR(person, account) \
	"(" account " = " person \
	" OR EXISTS (SELECT 1 FROM team_members ally WHERE ally.team_id = " account \
	" AND ally.user_id = " person "))"
int team_acts_for(
	struct database *db, int64_t person_id, int64_t account_id, bool *acts, struct error *error);

/* SQL condition: the table has a row of the person or of a team of theirs. `row` is the alias of
 * that row, and `rest` has further conditions on it. There are two searches, because MariaDB would
 * use no index for one search with OR. */
#define SQL_HAS_OWN(person, table, row, rest) \
	"(EXISTS (SELECT 1 FROM " table " " row " WHERE " row ".user_id = " person " AND " rest ") " \
	"OR EXISTS (SELECT 1 FROM team_members ally JOIN " table " " row " ON " row ".user_id = " \
	"ally.team_id WHERE ally.user_id = " person " AND " rest "))"
/* SQL_OWN is the account under which a person ranks on a leaderboard: their team in its contest, or
 * the person. A statement with SQL_OWN needs the joins of SQL_JOIN_OWN. */
#define SQL_JOIN_OWN(leaderboard, person) \
	"LEFT JOIN contest_problems entered ON entered.leaderboard_id = " leaderboard ".id " \
	"LEFT JOIN team_members mate ON mate.contest_id = entered.contest_id " \
	"AND mate.user_id = " person " "
#define SQL_OWN(person) "COALESCE(mate.team_id, " person ")"

/* SQL condition: the person is in a team. */
#define SQL_IN_TEAMS(person) \
	"EXISTS (SELECT 1 FROM team_members ally WHERE ally.user_id = " person ")"

struct team_contest { /* a contest, as far as teams need it */
	int64_t id;
	const char *name, *title;
	int64_t team_members; /* most members of a team; 0: the contest has no teams */
	int64_t has_ended;
};
int team_contest_by_name(struct database *db, struct arena *arena, const char *name,
	struct team_contest *contest, struct error *error);

/* SQL condition: the person is in the jury of a problem of the contest. */
#define SQL_IS_JUROR(contest_id, person) \
	"EXISTS (SELECT 1 FROM contest_problems judged JOIN leaderboard_roles post " \
	"ON post.leaderboard_id = judged.leaderboard_id AND post.role = 'jury' " \
	"WHERE judged.contest_id = " contest_id " AND post.user_id = " person ")"
/* Fails with ERROR_CONFLICT if the user is in the jury of a problem of the contest. The jury reads
 * the sources of all contestants, so its members cannot take part. */
int team_refuse_juror(struct database *db, struct arena *arena, int64_t user_id, int64_t contest_id,
	struct error *error);

struct team_member {
	int64_t team_id, user_id;
	const char *name;
	int64_t joined_at_ms;
};

struct team {
	int64_t id; /* the ID of its account in users */
	const char *name;
	int64_t contest_id;                  /* SQL_NULL_INTEGER: the contest was deleted */
	const char *contest, *contest_title; /* NULL: the contest was deleted */
	const char *code;                    /* people join with it; show it only to members */
	int64_t locked_at_ms;                /* TIME_NULL: not locked */
	int64_t is_final;                    /* whether the contest's standings are final */
	int64_t is_registered;               /* whether it is registered for the contest */
	int64_t most;                        /* most members that it may have */
	/* Sorted by name. teams_of_person does not fill them. */
	const struct team_member *members;
	size_t member_count;
};

/* The teams of a contest, by name. */
int teams_of_contest(struct database *db, struct arena *arena, int64_t contest_id,
	struct team **teams, size_t *count, struct error *error);
/* The teams of a person, newest first. */
int teams_of_person(struct database *db, struct arena *arena, int64_t user_id, struct team **teams,
	size_t *count, struct error *error);
/* teams_of_person as a statement for a bundle (lib/database/database.h). The parameter is the
 * person. */
extern const struct statement teams_of_person_reading;
/* ERROR_NOT_FOUND with a sentence: no team has this name. */
int team_by_name(struct database *db, struct arena *arena, const char *name, struct team *team,
	struct error *error);
int team_by_id(
	struct database *db, struct arena *arena, int64_t id, struct team *team, struct error *error);

/* Find the account to which a person's submissions to a leaderboard belong: the person's team in
 * the leaderboard's contest, or the person. Call team_lock_author in the transaction that stores
 * the submission. It locks the row of the person and then that of the team, so that the members
 * cannot change before the transaction ends. */
int team_author(struct database *db, struct arena *arena, int64_t user_id, int64_t leaderboard_id,
	int64_t *author_id, struct error *error);
int team_lock_author(struct database *db, struct arena *arena, int64_t user_id,
	int64_t leaderboard_id, int64_t *author_id, struct error *error);
/* Finds the account that takes part in a contest for a person: the person's team, or the person.
 * Locks only the person's row. */
int team_lock_contestant(struct database *db, int64_t person_id, int64_t contest_id,
	int64_t *contestant_id, struct error *error);
/* Notes a ranked submission: from now on only admins change the team's members. Call
 * team_lock_author first. Does nothing if the author is a person. */
int team_note_ranked(struct database *db, int64_t author_id, struct error *error);

/* Create a team with the actor as its member, join a team by its code, or leave it. Each writes an
 * audit entry. Errors name the field `name` or `code`.
 *
 * ERROR_CONFLICT with a sentence:
 * - the contest has ended or has no teams
 * - the team is full or locked
 * - the actor wants to leave a team that has submitted
 * - the actor is in another team, has a ranked submission in the contest, or is in its jury
 *
 * Joining passes the person's registration for the contest to the team. Whoever leaves a registered
 * team is registered if registration is open to everybody. The code changes when a member leaves.
 * If the last member leaves before the first submission, the team is deleted. */
int team_create(struct database *db, const char *contest, const char *name,
	const struct actor *actor, int64_t *id, struct error *error);
int team_join(struct database *db, const char *contest, const char *code, const struct actor *actor,
	int64_t *id, struct error *error);
int team_leave(
	struct database *db, const char *contest, const struct actor *actor, struct error *error);

/* Removes an account from all its teams, even from locked ones. The caller has locked the account's
 * row. */
int team_forget_member(
	struct database *db, struct arena *arena, int64_t user_id, struct error *error);

/* Call this before a contest is deleted. Deletes its teams that have not submitted. The others keep
 * their members, because their submissions stay. */
int teams_end_contest(struct database *db, int64_t contest_id, struct error *error);

/* Add or remove a member, also of a locked team; for admins and commands. The reason goes to the
 * audit log. Errors name the field `user` or `reason`. ERROR_CONFLICT with a sentence also if the
 * contest's standings are final or it was deleted. */
typedef int team_change(struct database *db, const char *team, const char *user, const char *reason,
	const struct actor *actor, struct error *error);
team_change team_put_member, team_remove_member;

#endif
