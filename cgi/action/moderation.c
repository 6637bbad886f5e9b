#include "cgi/action/moderation.h"

#include "lib/account/audit.h"
#include "lib/account/user.h"
#include "lib/base/scope.h"
#include "lib/base/text.h"
#include "lib/job/job.h"
#include "lib/judging/review.h"
#include "lib/ranking/ranking.h"

#include <string.h>

struct target {
	int64_t leaderboard_id, hidden;
};
static const struct column TARGET_COLUMNS[] = { INTEGER(struct target, leaderboard_id),
	INTEGER(struct target, hidden) };
static const struct statement LOCK = SELECT(struct target, TARGET_COLUMNS,
	"SELECT leaderboard_id, hidden_at IS NOT NULL AS hidden FROM submissions "
	"WHERE id = ? FOR UPDATE");
static const struct statement HIDE =
	COMMAND("UPDATE submissions SET hidden_at = UTC_TIMESTAMP(3), hidden_reason = ? WHERE id = ?");
static const struct statement SHOW =
	COMMAND("UPDATE submissions SET hidden_at = NULL, hidden_reason = ? WHERE id = ?");
static const struct statement HOLD =
	COMMAND("UPDATE jobs j JOIN submissions s ON s.id = j.submission_id "
			"SET j.held_at = UTC_TIMESTAMP(3), j.held_reason = ?, j.released_by = NULL "
			"WHERE s.id = ? AND s.mode = 'ranked' AND j.state = 'done' AND j.verdict = 'passed' "
			"AND j.score_ns IS NOT NULL AND NOT " SQL_IS_HELD("j"));
static const struct statement NOTE = COMMAND("UPDATE submissions SET admin_note = ? WHERE id = ?");

/* One change to a submission; `text` is the reason or the note. */
struct moderation {
	const char *action, *detail;    /* for the audit log; detail NULL: use `text` */
	const struct statement *change; /* binds text, id */
	const char *text;
	int64_t submission_id;
	const struct actor *by;
	bool ranks; /* the rankings must be refreshed after the change */
	int (*check)(
		const struct moderation *moderation, const struct target *target, struct error *error);
	const char *unchanged; /* message of ERROR_CONFLICT if no row matched, or NULL: no error */
};

static int apply_moderation(struct database *db, const struct moderation *moderation,
	const struct target *target, struct error *error)
{
	int rc = database_execute(
		db, moderation->change, error, "si", moderation->text, moderation->submission_id);
	if (!rc && !database_affected(db) && moderation->unchanged)
		return fail(error, ERROR_CONFLICT, "%s", moderation->unchanged);
	return rc || !moderation->ranks
		? rc
		: ranking_refresh_leaderboard(db, target->leaderboard_id, error);
}

static int moderate_body(struct database *db, void *context, struct error *error)
{
	cleanup_arena struct arena *arena = arena_new();
	const struct moderation *moderation = context;
	struct target target;
	int rc = database_row(db, arena, &LOCK, &target, error, "i", moderation->submission_id);
	if (rc == ERROR_NOT_FOUND)
		return fail(error, rc, "There is no submission with this number.");
	if (!rc && moderation->check)
		rc = moderation->check(moderation, &target, error);
	if (!rc)
		rc = apply_moderation(db, moderation, &target, error);
	return rc ? rc
			  : audit(db, moderation->by->id, moderation->by->name, moderation->by->address,
				  moderation->action,
				  arena_printf(arena, "submission %lld", (long long)moderation->submission_id),
				  moderation->detail ? moderation->detail : moderation->text, error);
}

static int check_shown(
	const struct moderation *moderation, const struct target *target, struct error *error)
{
	return !target->hidden ? 0
						   : fail(error, ERROR_CONFLICT, "Submission %lld is hidden already.",
							   (long long)moderation->submission_id);
}

static int check_hidden(
	const struct moderation *moderation, const struct target *target, struct error *error)
{
	return target->hidden ? 0
						  : fail(error, ERROR_CONFLICT, "Submission %lld is not hidden.",
							  (long long)moderation->submission_id);
}

int submission_hide(struct database *db, int64_t submission_id, const char *reason,
	const struct actor *by, struct error *error)
{
	cleanup_arena struct arena *arena = arena_new();
	struct moderation moderation = { .action = "submission.hide",
		.change = &HIDE,
		.submission_id = submission_id,
		.by = by,
		.ranks = true,
		.check = check_shown };
	int rc = review_check_reason(arena, reason, &moderation.text, error);
	return rc ? rc : database_transaction(db, moderate_body, &moderation, error);
}

int submission_show(
	struct database *db, int64_t submission_id, const struct actor *by, struct error *error)
{
	struct moderation moderation = { .action = "submission.show",
		.detail = "it is shown and ranked again",
		.change = &SHOW,
		.submission_id = submission_id,
		.by = by,
		.ranks = true,
		.check = check_hidden };
	return database_transaction(db, moderate_body, &moderation, error);
}

int submission_hold(struct database *db, int64_t submission_id, const char *reason,
	const struct actor *by, struct error *error)
{
	cleanup_arena struct arena *arena = arena_new();
	struct moderation moderation = { .action = "submission.hold",
		.change = &HOLD,
		.submission_id = submission_id,
		.by = by,
		.ranks = true,
		.unchanged = "This submission has no passed ranked result that is not held already." };
	int rc = review_check_reason(arena, reason, &moderation.text, error);
	return rc ? rc : database_transaction(db, moderate_body, &moderation, error);
}

int submission_admin_note(struct database *db, int64_t submission_id, const char *note,
	const struct actor *by, struct error *error)
{
	if (strlen(note) > admin_note_most_bytes)
		return fail_field(error, "note", "The note is %zu bytes long; at most %d are allowed.",
			strlen(note), admin_note_most_bytes);
	struct moderation moderation = { .action = "submission.note",
		.detail = *note ? NULL : "the note was deleted",
		.change = &NOTE,
		.text = *note ? note : NULL,
		.submission_id = submission_id,
		.by = by };
	return database_transaction(db, moderate_body, &moderation, error);
}
