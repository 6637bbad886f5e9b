#include "lib/hiding.h"

#include "lib/job.h"
#include "lib/ranking.h"
#include "lib/review.h"
#include "lib/scope.h"
#include "lib/text.h"
#include "lib/user.h"

#include <string.h>

struct target {
	int64_t leaderboard_id, hidden;
};
static const struct column TARGET_COLUMNS[] = { INTEGER(struct target, leaderboard_id),
	INTEGER(struct target, hidden) };
static const struct statement LOCK = SELECT(struct target, TARGET_COLUMNS,
	"SELECT leaderboard_id, hidden_at IS NOT NULL AS hidden FROM submissions WHERE id = ? FOR "
    "UPDATE");
static const struct statement HIDE =
	COMMAND("UPDATE submissions SET hidden_at = UTC_TIMESTAMP(3), hidden_reason = ? WHERE id = ?");
static const struct statement SHOW =
	COMMAND("UPDATE submissions SET hidden_at = NULL, hidden_reason = ? WHERE id = ?");
static const struct statement HOLD =
	COMMAND("UPDATE jobs j JOIN submissions s ON s.id = j.submission_id SET j.held_at = "
            "UTC_TIMESTAMP(3), j.held_reason = ?, j.released_by = NULL "
			"WHERE s.id = ? AND s.mode = 'ranked' AND j.state = 'done' AND j.verdict = 'passed' "
            "AND j.score_ns IS NOT NULL AND NOT " SQL_IS_HELD("j"));
static const struct statement NOTE = COMMAND("UPDATE submissions SET admin_note = ? WHERE id = ?");

/* What is done to a submission; `text` is the reason or the note. */
struct deed {
	const char *action, *detail;    /* in the audit log; detail NULL: the text */
	const struct statement *change; /* binds text, id */
	const char *text;
	int64_t submission_id;
	const struct actor *by;
	bool ranks; /* it may change the rankings */
	int (*check)(
		const struct deed *deed, const struct target *target, struct error *error); /* or NULL */
	const char *unchanged; /* the sentence where no row was one to change; or NULL */
};

static int apply(
	struct database *db, const struct deed *deed, const struct target *target, struct error *error)
{
	int rc = database_execute(db, deed->change, error, "si", deed->text, deed->submission_id);
	if (!rc && !database_affected(db) && deed->unchanged)
		return fail(error, ERROR_CONFLICT, "%s", deed->unchanged);
	return rc || !deed->ranks ? rc : ranking_renew(db, target->leaderboard_id, error);
}

static int do_body(struct database *db, void *context, struct error *error)
{
	cleanup_arena struct arena *arena = arena_new();
	const struct deed *deed = context;
	struct target target;
	int rc = database_row(db, arena, &LOCK, &target, error, "i", deed->submission_id);
	if (rc == ERROR_NOT_FOUND)
		return fail(error, rc, "There is no submission with this number.");
	if (!rc && deed->check)
		rc = deed->check(deed, &target, error);
	if (!rc)
		rc = apply(db, deed, &target, error);
	return rc ? rc
			  : audit(db, deed->by->id, deed->by->name, deed->by->address, deed->action,
				  arena_printf(arena, "submission %lld", (long long)deed->submission_id),
				  deed->detail ? deed->detail : deed->text, error);
}

static int check_shown(const struct deed *deed, const struct target *target, struct error *error)
{
	return !target->hidden ? 0
						   : fail(error, ERROR_CONFLICT, "Submission %lld is hidden already.",
							   (long long)deed->submission_id);
}

static int check_hidden(const struct deed *deed, const struct target *target, struct error *error)
{
	return target->hidden ? 0
						  : fail(error, ERROR_CONFLICT, "Submission %lld is not hidden.",
							  (long long)deed->submission_id);
}

int submission_hide(struct database *db, int64_t submission_id, const char *reason,
	const struct actor *by, struct error *error)
{
	cleanup_arena struct arena *arena = arena_new();
	struct deed deed = { .action = "submission.hide",
		.change = &HIDE,
		.submission_id = submission_id,
		.by = by,
		.ranks = true,
		.check = check_shown };
	int rc = review_check_reason(arena, reason, &deed.text, error);
	return rc ? rc : database_transaction(db, do_body, &deed, error);
}

int submission_show(
	struct database *db, int64_t submission_id, const struct actor *by, struct error *error)
{
	struct deed deed = { .action = "submission.show",
		.detail = "it is seen and ranked again",
		.change = &SHOW,
		.submission_id = submission_id,
		.by = by,
		.ranks = true,
		.check = check_hidden };
	return database_transaction(db, do_body, &deed, error);
}

int submission_hold(struct database *db, int64_t submission_id, const char *reason,
	const struct actor *by, struct error *error)
{
	cleanup_arena struct arena *arena = arena_new();
	struct deed deed = { .action = "submission.hold",
		.change = &HOLD,
		.submission_id = submission_id,
		.by = by,
		.ranks = true,
		.unchanged =
			"Nothing of this submission has passed with a ranked time that is not held already." };
	int rc = review_check_reason(arena, reason, &deed.text, error);
	return rc ? rc : database_transaction(db, do_body, &deed, error);
}

int submission_admin_note(struct database *db, int64_t submission_id, const char *note,
	const struct actor *by, struct error *error)
{
	if (strlen(note) > admin_note_most_bytes)
		return fail_field(error, "note", "The note is %zu bytes long; %d are allowed.",
			strlen(note), admin_note_most_bytes);
	struct deed deed = { .action = "submission.note",
		.detail = *note ? NULL : "the note was taken away",
		.change = &NOTE,
		.text = *note ? note : NULL,
		.submission_id = submission_id,
		.by = by };
	return database_transaction(db, do_body, &deed, error);
}
