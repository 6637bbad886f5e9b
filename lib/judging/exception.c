#include "lib/judging/exception.h"

#include "lib/account/user.h"
#include "lib/base/clock.h"
#include "lib/base/format.h"
#include "lib/base/quote.h"
#include "lib/base/scope.h"
#include "lib/base/text.h"
#include "lib/judging/review.h"
#include "lib/ranking/ranking.h"

static const struct column EXCEPTION_COLUMNS[] = {
	TEXT(struct exception, kind),
	TEXT(struct exception, user),
	INTEGER(struct exception, submission_id),
	TIME(struct exception, deadline_ms),
	TEXT(struct exception, reason),
	TEXT(struct exception, given_by),
	TIME(struct exception, given_at_ms),
};
static const struct statement LIST = SELECT(struct exception, EXCEPTION_COLUMNS,
	"SELECT x.kind, u.name AS user, submission_id, deadline_ms, reason, given_by, given_at_ms FROM "
	"(SELECT 'extension' AS kind, user_id, 0 AS submission_id, deadline AS deadline_ms, "
	"'' AS reason, given_by, given_at AS given_at_ms FROM leaderboard_extensions "
	"WHERE leaderboard_id = ? "
	"UNION ALL SELECT 'disqualification', user_id, submission_id, NULL, reason, given_by, given_at "
	"FROM disqualifications WHERE leaderboard_id = ?) x JOIN users u ON u.id = x.user_id "
	"ORDER BY u.name, x.kind, submission_id");
static const struct statement EXTEND =
	COMMAND("INSERT INTO leaderboard_extensions (leaderboard_id, user_id, deadline, given_by) "
			"VALUES (?, ?, ?, ?) ON DUPLICATE KEY UPDATE deadline = VALUES(deadline), "
			"given_by = VALUES(given_by), given_at = UTC_TIMESTAMP(3)");
static const struct statement TAKE_EXTENSION =
	COMMAND("DELETE FROM leaderboard_extensions WHERE leaderboard_id = ? AND user_id = ?");
static const struct statement DISQUALIFY = COMMAND(
	"INSERT INTO disqualifications (leaderboard_id, user_id, submission_id, reason, given_by) "
	"VALUES (?, ?, ?, ?, ?) ON DUPLICATE KEY UPDATE reason = VALUES(reason), "
	"given_by = VALUES(given_by), given_at = UTC_TIMESTAMP(3)");
static const struct statement REQUALIFY =
	COMMAND("DELETE FROM disqualifications WHERE leaderboard_id = ? AND user_id = ? "
			"AND submission_id = ?");

struct target {
	int64_t leaderboard_id, user_id;
};
static const struct column TARGET_COLUMNS[] = { INTEGER(struct target, leaderboard_id),
	INTEGER(struct target, user_id) };
/* Locks as moderation of submissions does. */
static const struct statement LOCK = SELECT(struct target, TARGET_COLUMNS,
	"SELECT leaderboard_id, user_id FROM submissions WHERE id = ? FOR UPDATE");

int exceptions_list(struct database *db, struct arena *arena, int64_t leaderboard_id,
	struct exception **exceptions, size_t *count, struct error *error)
{
	return database_rows(
		db, arena, &LIST, exceptions, count, error, "ii", leaderboard_id, leaderboard_id);
}

static int find_user(struct database *db, struct arena *arena, const char *name, struct user *user,
	struct error *error)
{
	int rc = text_is_user_name(name) ? user_by_name(db, arena, name, user, error) : ERROR_NOT_FOUND;
	return rc == ERROR_NOT_FOUND
		? fail_field(error, "user", "There is no user named %s.", quote(arena, name))
		: rc;
}

/* ---- extensions ---- */

struct extension {
	const struct exception_order *order;
	int64_t deadline_ms;
};

static int check_deadline(const struct extension *extension, struct error *error)
{
	const struct leaderboard *leaderboard = extension->order->leaderboard;
	int64_t at_ms = extension->deadline_ms;
	if (leaderboard->deadline_ms == TIME_NULL)
		return fail_field(error, "deadline", "%s has no deadline.", leaderboard->name);
	if (at_ms <= leaderboard->deadline_ms || at_ms <= now_ms())
		return fail_field(error, "deadline",
			"Type a time that is later than now and than the deadline of %s.", leaderboard->name);
	return 0;
}

struct final_contest {
	const char *name;
};
static const struct column FINAL_COLUMNS[] = { TEXT(struct final_contest, name) };
static const struct statement FINAL = SELECT(struct final_contest, FINAL_COLUMNS,
	"SELECT c.name FROM contest_problems p JOIN contests c ON c.id = p.contest_id "
	"WHERE p.leaderboard_id = ? AND c.final_at IS NOT NULL LOCK IN SHARE MODE");

/* Fails if the contest's standings are final, because a later submission would change them. The
 * lock makes contest_finish wait until the extension is stored. */
static int check_standings(struct database *db, struct arena *arena,
	const struct leaderboard *leaderboard, struct error *error)
{
	struct final_contest contest;
	int rc = database_row(db, arena, &FINAL, &contest, error, "i", leaderboard->id);
	if (rc)
		return rc == ERROR_NOT_FOUND ? 0 : rc;
	return fail(error, ERROR_CONFLICT,
		"The standings of the contest %s are final, so nobody submits later.", contest.name);
}

static int extend_body(struct database *db, void *context, struct error *error)
{
	const struct extension *extension = context;
	const struct exception_order *order = extension->order;
	cleanup_arena struct arena *arena = arena_new();
	bool gives = extension->deadline_ms != TIME_NULL;
	struct user user;
	int rc = find_user(db, arena, order->user, &user, error);
	if (!rc && gives)
		rc = check_deadline(extension, error);
	if (!rc && gives)
		rc = check_standings(db, arena, order->leaderboard, error);
	if (rc)
		return rc;
	rc = gives
		? database_execute(db, &EXTEND, error, "iits", order->leaderboard->id, user.id,
			extension->deadline_ms, order->by->name)
		: database_execute(db, &TAKE_EXTENSION, error, "ii", order->leaderboard->id, user.id);
	if (!rc && !gives && !database_affected(db))
		return fail(error, ERROR_NOT_FOUND, "%s has no later deadline on %s.", user.name,
			order->leaderboard->name);
	return rc ? rc
			  : audit(db, order->by->id, order->by->name, order->by->address, "leaderboard.extend",
				  order->leaderboard->name,
				  arena_printf(arena, "%s: %s", user.name,
					  gives ? leaderboard_deadline_words(arena, extension->deadline_ms)
							: "no later deadline"),
				  error);
}

int exception_extend(struct database *db, const struct exception_order *order, int64_t deadline_ms,
	struct error *error)
{
	struct extension extension = { order, deadline_ms };
	return database_transaction(db, extend_body, &extension, error);
}

/* ---- disqualifications ---- */

struct disqualification {
	const struct exception_order *order; /* NULL: of one submission */
	int64_t submission_id;               /* 0: of a user */
	const char *reason;                  /* NULL: lifts it */
	const struct actor *by;
};

/* Finds whom it is about. */
static int find_target(struct database *db, struct arena *arena,
	const struct disqualification *change, struct target *target, struct error *error)
{
	struct user user;
	int rc;
	if (!change->order) {
		rc = database_row(db, arena, &LOCK, target, error, "i", change->submission_id);
		return rc == ERROR_NOT_FOUND ? fail(error, rc, "There is no submission with this number.")
									 : rc;
	}
	rc = find_user(db, arena, change->order->user, &user, error);
	if (!rc)
		*target = (struct target){ change->order->leaderboard->id, user.id };
	return rc;
}

static int store_disqualification(struct database *db, const struct disqualification *change,
	const struct target *target, struct error *error)
{
	int rc = change->reason
		? database_execute(db, &DISQUALIFY, error, "iiiss", target->leaderboard_id, target->user_id,
			change->submission_id, change->reason, change->by->name)
		: database_execute(db, &REQUALIFY, error, "iii", target->leaderboard_id, target->user_id,
			change->submission_id);
	if (!rc && !change->reason && !database_affected(db))
		return fail(error, ERROR_NOT_FOUND, "There is no such disqualification.");
	return rc ? rc : ranking_refresh_leaderboard(db, target->leaderboard_id, error);
}

static int disqualify_body(struct database *db, void *context, struct error *error)
{
	const struct disqualification *change = context;
	const struct exception_order *order = change->order;
	cleanup_arena struct arena *arena = arena_new();
	const char *detail = change->reason ? change->reason : "it was lifted";
	struct target target;
	int rc = find_target(db, arena, change, &target, error);
	if (!rc)
		rc = store_disqualification(db, change, &target, error);
	return rc ? rc
			  : audit(db, change->by->id, change->by->name, change->by->address,
				  order ? "leaderboard.disqualify" : "submission.disqualify",
				  order ? order->leaderboard->name
						: arena_printf(arena, "submission %lld", (long long)change->submission_id),
				  order ? arena_printf(arena, "%s: %s", order->user, detail) : detail, error);
}

static int change_disqualification(
	struct database *db, struct disqualification *change, struct error *error)
{
	cleanup_arena struct arena *arena = arena_new();
	int rc =
		change->reason ? review_check_reason(arena, change->reason, &change->reason, error) : 0;
	return rc ? rc : database_transaction(db, disqualify_body, change, error);
}

int exception_disqualify(struct database *db, const struct exception_order *order,
	const char *reason, struct error *error)
{
	struct disqualification change = { .order = order, .reason = reason, .by = order->by };
	return change_disqualification(db, &change, error);
}

int exception_disqualify_submission(struct database *db, int64_t submission_id, const char *reason,
	const struct actor *by, struct error *error)
{
	struct disqualification change = { .submission_id = submission_id, .reason = reason, .by = by };
	return change_disqualification(db, &change, error);
}
