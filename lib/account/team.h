/* Teams of contests. A team is an account that nobody can log into (users.kind), so its
 * submissions, quotas and ranks work as a person's. A person is in at most one team of a contest.
 * What a member submits to a leaderboard of the contest, the team has submitted. Members have the
 * author's rights on the team's submissions. The first ranked submission locks the team: then only
 * an admin changes its members.
 *
 * A person with a ranked submission of their own to the contest cannot join a team, because they
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

/* A part of a statement, true or false: `person` acts for the account `account`, both expressions
 * of users.id. A person acts for themselves and for their teams. viewer_acts_for
 * (cgi/http/request.h) says the same of a request's viewer. */
#define SQL_ACTS_FOR(person, account) \
	"(" account " = " person \
	" OR EXISTS (SELECT 1 FROM team_members ally WHERE ally.team_id = " account \
	" AND ally.user_id = " person "))"
int team_acts_for(
	struct database *db, int64_t person_id, int64_t account_id, bool *acts, struct error *error);

/* The person, or a team of theirs, has a row in the table: `row` is its name in `rest`, further
 * conditions. With OR in one search, MariaDB would not use an index. */
#define SQL_HAS_OWN(person, table, row, rest) \
	"(EXISTS (SELECT 1 FROM " table " " row " WHERE " row ".user_id = " person " AND " rest ") " \
	"OR EXISTS (SELECT 1 FROM team_members ally JOIN " table " " row " ON " row ".user_id = " \
	"ally.team_id WHERE ally.user_id = " person " AND " rest "))"
/* Joins by which SQL_OWN is the account that ranks for a person on a leaderboard: that of their
 * team in its contest, or their own. */
#define SQL_JOIN_OWN(leaderboard, person) \
	"LEFT JOIN contest_problems entered ON entered.leaderboard_id = " leaderboard ".id " \
	"LEFT JOIN team_members mate ON mate.contest_id = entered.contest_id " \
	"AND mate.user_id = " person " "
#define SQL_OWN(person) "COALESCE(mate.team_id, " person ")"

/* The person is in a team. */
#define SQL_IN_TEAMS(person) \
	"EXISTS (SELECT 1 FROM team_members ally WHERE ally.user_id = " person ")"

struct team_contest { /* a contest, as far as teams need it */
	int64_t id;
	const char *name, *title;
	int64_t team_members; /* at most, of a team; 0: no teams */
	int64_t has_ended;
};
int team_contest_by_name(struct database *db, struct arena *arena, const char *name,
	struct team_contest *contest, struct error *error);

/* A part of a statement: the person is in the jury of a problem of the contest. */
#define SQL_IS_JUROR(contest_id, person) \
	"EXISTS (SELECT 1 FROM contest_problems judged JOIN leaderboard_roles post " \
	"ON post.leaderboard_id = judged.leaderboard_id AND post.role = 'jury' " \
	"WHERE judged.contest_id = " contest_id " AND post.user_id = " person ")"
/* ERROR_CONFLICT if the user is in the jury of a problem of the contest: the jury reads the sources
 * of all contestants. */
int team_refuse_juror(struct database *db, struct arena *arena, int64_t user_id, int64_t contest_id,
	struct error *error);

struct team_member {
	int64_t team_id, user_id;
	const char *name;
	int64_t joined_at_ms;
};

struct team {
	int64_t id; /* of its account */
	const char *name;
	int64_t contest_id;                  /* SQL_NULL_INTEGER: the contest was deleted */
	const char *contest, *contest_title; /* NULL likewise */
	const char *code;                    /* with which people join; show it only to members */
	int64_t locked_at_ms;                /* TIME_NULL: not locked */
	int64_t is_final;                    /* the contest's standings are */
	int64_t is_registered;               /* for the contest */
	int64_t most;                        /* members, at most */
	/* By name; teams_of_person does not read them. */
	const struct team_member *members;
	size_t member_count;
};

/* The teams of a contest, by name. */
int teams_of_contest(struct database *db, struct arena *arena, int64_t contest_id,
	struct team **teams, size_t *count, struct error *error);
/* The teams of a person, newest first. */
int teams_of_person(struct database *db, struct arena *arena, int64_t user_id, struct team **teams,
	size_t *count, struct error *error);
/* The same as a part of a bundle. Its parameter: the person. */
extern const struct statement teams_of_person_reading;
/* ERROR_NOT_FOUND with a sentence: no team has this name. */
int team_by_name(struct database *db, struct arena *arena, const char *name, struct team *team,
	struct error *error);
int team_by_id(
	struct database *db, struct arena *arena, int64_t id, struct team *team, struct error *error);

/* The account that a person's submissions to a leaderboard belong to: the team in the leaderboard's
 * contest, or the person. Call team_lock_author in the transaction that stores the submission: it
 * locks the person's row and then the team's, so that the members stay until the end of the
 * transaction. */
int team_author(struct database *db, struct arena *arena, int64_t user_id, int64_t leaderboard_id,
	int64_t *author_id, struct error *error);
int team_lock_author(struct database *db, struct arena *arena, int64_t user_id,
	int64_t leaderboard_id, int64_t *author_id, struct error *error);
/* Likewise the account that takes part in a contest for a person. Locks the person's row only. */
int team_lock_contestant(struct database *db, int64_t person_id, int64_t contest_id,
	int64_t *contestant_id, struct error *error);
/* Locks a team after team_lock_author; does nothing for a person. */
int team_note_ranked(struct database *db, int64_t author_id, struct error *error);

/* Create a team of a contest with the actor as its member, join one by its code, or leave it. Each
 * gets an entry in the audit log. Errors name the field `name` or `code`. ERROR_CONFLICT with a
 * sentence: the team is full or locked, or has submitted and is left, the contest has ended, or the
 * actor has a team or a ranked submission in it. A registration for the contest passes from the
 * person to the team. Who leaves an unlocked team is registered if the team was and the
 * registration is open. The code changes when a member leaves. A team whose last member leaves
 * before its first submission is deleted. */
int team_create(struct database *db, const char *contest, const char *name,
	const struct actor *actor, int64_t *id, struct error *error);
int team_join(struct database *db, const char *contest, const char *code, const struct actor *actor,
	int64_t *id, struct error *error);
int team_leave(
	struct database *db, const char *contest, const struct actor *actor, struct error *error);

/* Takes an account, whose row the caller has locked, out of its teams, also of locked ones. */
int team_forget_member(
	struct database *db, struct arena *arena, int64_t user_id, struct error *error);

/* Before a contest is deleted: deletes its teams that have not submitted. The others stay with
 * their members, because their submissions stay. */
int teams_end_contest(struct database *db, int64_t contest_id, struct error *error);

/* Add or remove a member, also of a locked team; for admins and commands. The reason goes to the
 * audit log. Errors name the field `user` or `reason`. ERROR_CONFLICT with a sentence also if the
 * contest's standings are final or it was deleted. */
typedef int team_change(struct database *db, const char *team, const char *user, const char *reason,
	const struct actor *actor, struct error *error);
team_change team_put_member, team_remove_member;

#endif
