#include "cgi/action/publishing.h"

#include "lib/account/audit.h"
#include "lib/account/user.h"
#include "lib/base/buffer.h"
#include "lib/base/format.h"
#include "lib/base/quote.h"
#include "lib/base/scope.h"
#include "lib/base/text.h"
#include "lib/leaderboard/publication.h"
#include "lib/ranking/ranking.h"

#include <string.h>

/* The stored settings. Reading them locks them, so that concurrent changes wait for each other. */
struct state {
	int64_t practice, frozen_at_ms, archived, version_id;
	const char *visibility;
	const char *wanted; /* the visibility that a publication waits for; NULL: none */
};
static const struct column STATE_COLUMNS[] = {
	TEXT(struct state, visibility),
	INTEGER(struct state, practice),
	TIME(struct state, frozen_at_ms),
	INTEGER(struct state, archived),
	INTEGER(struct state, version_id),
	TEXT(struct state, wanted),
};
static const struct statement STATE = SELECT(struct state, STATE_COLUMNS,
	"SELECT visibility, practice, frozen_at AS frozen_at_ms, "
	"archived_at IS NOT NULL AS archived, task_version_id AS version_id, "
	"(SELECT p.visibility FROM publications p WHERE p.leaderboard_id = leaderboards.id) AS wanted "
	"FROM leaderboards WHERE id = ? FOR UPDATE");
static const struct statement STORE =
	COMMAND("UPDATE leaderboards SET practice = ?, frozen_at = ?, "
			"archived_at = IF(?, COALESCE(archived_at, UTC_TIMESTAMP(3)), NULL), "
			"updated_at = UTC_TIMESTAMP(3) WHERE id = ?");
enum { members_most = 1000 };
static const struct column MEMBER_COLUMNS[] = {
	TEXT(struct member, name),
	TIME(struct member, joined_at_ms),
	INTEGER(struct member, submissions),
};
static const struct statement MEMBERS = SELECT(struct member, MEMBER_COLUMNS,
	"SELECT u.name, m.joined_at AS joined_at_ms, (SELECT COUNT(*) FROM submissions s "
	"WHERE s.user_id = m.user_id "
	"  AND s.leaderboard_id = m.leaderboard_id AND NOT s.dry_run) AS submissions "
	"FROM leaderboard_members m JOIN users u ON u.id = m.user_id "
	"WHERE m.leaderboard_id = ? ORDER BY u.name LIMIT ?");
static const struct column REMOVED_COLUMNS[] = { TEXT(struct removed_member, name),
	TIME(struct removed_member, removed_at_ms) };
static const struct statement REMOVED = SELECT(struct removed_member, REMOVED_COLUMNS,
	"SELECT u.name, r.removed_at AS removed_at_ms FROM leaderboard_removals r "
	"JOIN users u ON u.id = r.user_id "
	"WHERE r.leaderboard_id = ? ORDER BY u.name LIMIT ?");

/* Move a user between the tables of members and of removed members: MOVE copies the row, and TAKE
 * then deletes the original. A removal is thus stored before the membership is deleted. A
 * concurrent use of an invite code therefore finds the removal and does not admit the user
 * again. */
#define MOVE(into, from) \
	COMMAND("INSERT IGNORE INTO " into \
			" (leaderboard_id, user_id) SELECT f.leaderboard_id, f.user_id FROM " from " f " \
			"JOIN users u ON u.id = f.user_id WHERE f.leaderboard_id = ? AND u.name = ?")
#define TAKE(from) \
	COMMAND("DELETE f FROM " from \
			" f JOIN users u ON u.id = f.user_id WHERE f.leaderboard_id = ? AND u.name = ?")
static const struct statement ADD_REMOVAL = MOVE("leaderboard_removals", "leaderboard_members"),
							  TAKE_SEAT = TAKE("leaderboard_members"),
							  ADD_SEAT = MOVE("leaderboard_members", "leaderboard_removals"),
							  TAKE_REMOVAL = TAKE("leaderboard_removals");
static const struct move {
	const struct statement *into, *from;
	const char *whom, *action, *what_became;
} REMOVE = { &ADD_REMOVAL, &TAKE_SEAT, "member", "leaderboard.remove", "is no longer a member" },
  READMIT = { &ADD_SEAT, &TAKE_REMOVAL, "removed member", "leaderboard.readmit",
	  "is a member again" };

struct change {
	struct arena *arena;
	const struct leaderboard *leaderboard;
	const struct publishing *after;
	const struct actor *actor;
};

static const char *time_text(struct arena *arena, int64_t ms)
{
	format_text text;
	format_utc(text, ms);
	return ms == TIME_NULL ? "never" : arena_strdup(arena, text);
}

/* Whether the leaderboard is hidden and becomes visible once its check passes. */
static bool asks_to_publish(const struct state *before, const struct publishing *after)
{
	return after->visibility && strcmp(before->visibility, "hidden") == 0
		&& strcmp(after->visibility, "hidden") != 0;
}

static void note_changes(
	const struct change *change, const struct state *before, struct buffer *notes)
{
	const struct publishing *after = change->after;
	if (after->visibility && !asks_to_publish(before, after))
		audit_note_change(notes, strcmp(before->visibility, after->visibility) != 0, "visibility",
			before->visibility, after->visibility);
	audit_note_change(notes, before->practice != after->practice, "practice after the deadline",
		yes_or_no(before->practice), yes_or_no(after->practice));
	audit_note_change(notes, before->frozen_at_ms != after->frozen_at_ms, "ranking frozen from",
		time_text(change->arena, before->frozen_at_ms),
		time_text(change->arena, after->frozen_at_ms));
	audit_note_change(notes, before->archived != after->archived, "in the archive",
		yes_or_no(before->archived), yes_or_no(after->archived));
}

static int store_changes(struct database *db, const struct change *change,
	const struct state *before, struct error *error)
{
	const struct publishing *after = change->after;
	int64_t id = change->leaderboard->id;
	int rc = database_execute(db, &STORE, error, "itii", (int64_t)after->practice,
		after->frozen_at_ms, (int64_t)after->archived, id);
	if (!rc && before->frozen_at_ms != after->frozen_at_ms)
		rc = ranking_rebuild(db, id, error);
	return rc;
}

static int ask_to_publish(struct database *db, const struct change *change,
	const struct state *before, struct buffer *notes, struct error *error)
{
	const char *after = change->after->visibility;
	int64_t id = change->leaderboard->id;
	struct publication publication;
	if (before->wanted && strcmp(before->wanted, after) == 0)
		return publication_advance(db, change->arena, id, change->actor, error);
	int rc = publication_want(db, id, before->version_id, after, error);
	if (!rc)
		rc = publication_advance(db, change->arena, id, change->actor, error);
	if (!rc)
		rc = publication_read(db, change->arena, id, &publication, error);
	if (!rc)
		buffer_printf(notes, "%svisibility: %s once the check passes, still hidden",
			notes->length ? "; " : "", after);
	return rc == ERROR_NOT_FOUND ? 0 : rc; /* it was published, with an entry in the audit log */
}

/* Makes the leaderboard visible once its check has passed, or hides it. A leaderboard that is
 * visible already needs no check. */
static int store_visibility(struct database *db, const struct change *change,
	const struct state *before, struct buffer *notes, struct error *error)
{
	const char *after = change->after->visibility;
	int64_t id = change->leaderboard->id;
	if (!after)
		return 0;
	if (asks_to_publish(before, change->after))
		return ask_to_publish(db, change, before, notes, error);
	int rc = strcmp(before->visibility, after) == 0 ? 0 : leaderboard_show(db, id, after, error);
	if (rc || strcmp(after, "hidden") != 0 || !before->wanted)
		return rc;
	buffer_printf(notes, "%sno longer waits to be published", notes->length ? "; " : "");
	return publication_withdraw(db, id, error);
}

static int publishing_body(struct database *db, void *context, struct error *error)
{
	const struct change *change = context;
	const struct leaderboard *leaderboard = change->leaderboard;
	struct state before;
	cleanup_buffer struct buffer notes = { 0 };
	int rc = database_row(db, change->arena, &STATE, &before, error, "i", leaderboard->id);
	if (rc == ERROR_NOT_FOUND)
		return fail(error, rc, "The leaderboard %s was deleted meanwhile.", leaderboard->name);
	if (rc)
		return rc;
	note_changes(change, &before, &notes);
	rc = store_visibility(db, change, &before, &notes, error);
	if (rc || !notes.length)
		return rc;
	rc = store_changes(db, change, &before, error);
	return rc ? rc
			  : audit(db, change->actor->id, change->actor->name, change->actor->address,
				  "leaderboard.publish", leaderboard->name, notes.data, error);
}

int publishing_check_visibility(const char *visibility, struct error *error)
{
	static const char *const known[] = { "public", "closed", "hidden" };
	for (size_t i = 0; i < COUNT(known); i++)
		if (strcmp(known[i], visibility) == 0)
			return 0;
	return fail_field(error, "visibility", "Choose public, closed or hidden.");
}

int publishing_change(struct database *db, struct arena *arena,
	const struct leaderboard *leaderboard, const struct publishing *after,
	const struct actor *actor, struct error *error)
{
	struct change change = {
		.arena = arena, .leaderboard = leaderboard, .after = after, .actor = actor
	};
	int rc = after->visibility ? publishing_check_visibility(after->visibility, error) : 0;
	return rc ? rc : database_transaction(db, publishing_body, &change, error);
}

int publishing_members(struct database *db, struct arena *arena, int64_t leaderboard_id,
	struct members *members, struct error *error)
{
	static const struct statement *const parts[] = { &MEMBERS, &REMOVED };
	static const struct bundle both = BUNDLE(parts);
	struct database_answer answers[COUNT(parts)];
	int64_t most = members_most;
	int rc = database_answers(
		db, arena, &both, answers, error, "iiii", leaderboard_id, most, leaderboard_id, most);
	*members =
		(struct members){ answers[0].rows, answers[0].count, answers[1].rows, answers[1].count };
	return rc;
}

struct member_move {
	const struct change *change;
	const struct move *move;
	const char *name;
};

static int move_body(struct database *db, void *context, struct error *error)
{
	const struct member_move *member_move = context;
	const struct move *move = member_move->move;
	const struct change *change = member_move->change;
	const char *leaderboard = change->leaderboard->name;
	int rc =
		database_execute(db, move->into, error, "is", change->leaderboard->id, member_move->name);
	if (!rc)
		rc = database_execute(
			db, move->from, error, "is", change->leaderboard->id, member_move->name);
	if (!rc && !database_affected(db))
		return fail(error, ERROR_NOT_FOUND, "%s has no %s named %s.", leaderboard, move->whom,
			member_move->name);
	return rc
		? rc
		: audit(db, change->actor->id, change->actor->name, change->actor->address, move->action,
			leaderboard, arena_printf(change->arena, "%s %s", member_move->name, move->what_became),
			error);
}

static int move_member(struct database *db, const struct change *change, const struct move *move,
	const char *name, struct error *error)
{
	struct member_move member_move = { change, move, name };
	/* Text that cannot be a name needs no query, and might not fit the ASCII column. */
	return text_is_user_name(name)
		? database_transaction(db, move_body, &member_move, error)
		: fail(error, ERROR_NOT_FOUND, "%s has no %s named %s.", change->leaderboard->name,
			move->whom, quote(change->arena, name));
}

int publishing_remove_member(struct database *db, struct arena *arena,
	const struct leaderboard *leaderboard, const char *name, const struct actor *actor,
	struct error *error)
{
	struct change change = { .arena = arena, .leaderboard = leaderboard, .actor = actor };
	return move_member(db, &change, &REMOVE, name, error);
}

int publishing_readmit(struct database *db, struct arena *arena,
	const struct leaderboard *leaderboard, const char *name, const struct actor *actor,
	struct error *error)
{
	struct change change = { .arena = arena, .leaderboard = leaderboard, .actor = actor };
	return move_member(db, &change, &READMIT, name, error);
}
