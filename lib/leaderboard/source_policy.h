/* When others may read the sources of a leaderboard's submissions, and under which license. The
 * column leaderboards.sources_open has the policy; SQL_MAY_SEE_SOURCE in visibility.h is the one
 * condition that every reading of a source contains. */
#ifndef PODIUM_LIB_LEADERBOARD_SOURCE_POLICY_H
#define PODIUM_LIB_LEADERBOARD_SOURCE_POLICY_H

#include "lib/account/team.h"
#include "lib/base/arena.h"
#include "lib/base/error.h"
#include "lib/leaderboard/freeze.h"

#include <stdbool.h>
#include <stddef.h>

enum { license_most_bytes = 200 };

struct source_policy {
	const char *name;  /* as in the database and in programs' JSON */
	const char *title; /* the name on the form: "After the deadline" */
	const char *hint;
	const char *until; /* see source_policy_until */
	bool waits_for_freeze;
	const char *when; /* "after the deadline" */
};
extern const struct source_policy source_policies[];
extern const size_t source_policy_count;
#define SOURCE_POLICY_USUAL "deadline"

/* NULL: there is no such policy. */
const struct source_policy *source_policy_named(const char *name);

/* The end of the sentence "Only its author sees the source". has_freeze: a freeze of the ranking is
 * planned or in effect. */
const char *source_policy_until(struct arena *arena, const char *name, bool has_freeze);

/* ERROR_INPUT with the field `sources` or `license`. */
int source_policy_check(const char *name, const char *license, struct error *error);

/* SQL expression: the name of the policy. Rows that the previous version of Podium wrote have only
 * the column sources_public_after_deadline. */
#define SQL_SOURCE_POLICY(leaderboard) \
	"COALESCE(" leaderboard ".sources_open, IF(" leaderboard \
	".sources_public_after_deadline, 'deadline', 'never'))"

/* SQL condition: the deadline has passed for everybody, including users with a later one
 * (lib/judging/exception.h). */
#define SQL_IS_OVER(leaderboard) \
	"(COALESCE(" leaderboard \
	".deadline <= UTC_TIMESTAMP(3), FALSE) AND NOT EXISTS (SELECT 1 FROM " \
	"leaderboard_extensions late WHERE late.leaderboard_id = " leaderboard \
	".id AND late.deadline > UTC_TIMESTAMP(3)))"

/* SQL condition: the policy lets everybody read the sources. The policy 'closing' waits until the
 * leaderboard takes no more submissions, not even for practice. A leaderboard without a deadline
 * closes when somebody closes or archives it. During a freeze, sources that open after the deadline
 * or the closing stay closed, because a source shows how fast its result is. */
#define SQL_SOURCES_ARE_OPEN(leaderboard) \
	"CASE " SQL_SOURCE_POLICY( \
		leaderboard) " WHEN 'always' THEN TRUE " \
					 "WHEN 'deadline' THEN NOT " SQL_IS_FROZEN(leaderboard) " AND " SQL_IS_OVER( \
						 leaderboard) " " \
									  "WHEN 'closing' THEN NOT " SQL_IS_FROZEN( \
										  leaderboard) " AND (NOT " leaderboard \
													   ".accepting OR " leaderboard \
													   ".archived_at IS NOT NULL OR " \
													   "(" SQL_IS_OVER( \
														   leaderboard) " AND NOT " leaderboard \
																		".practice)) ELSE FALSE " \
																		"END"

/* SQL condition: the policy lets this user, a row of users, read the sources, because the user or a
 * team of theirs has a ranked result on the leaderboard. */
#define SQL_SOURCES_ARE_OPEN_TO(user, leaderboard) \
	"(" SQL_SOURCE_POLICY(leaderboard) " = 'ranked' AND " SQL_HAS_OWN( \
		user ".id", "ranking", "own_rank", "own_rank.leaderboard_id = " leaderboard ".id") ")"

#endif
