#include "lib/intake/submission.h"

#include "lib/account/audit.h"
#include "lib/account/team.h"
#include "lib/account/user.h"
#include "lib/base/buffer.h"
#include "lib/base/format.h"
#include "lib/base/quote.h"
#include "lib/base/scope.h"
#include "lib/base/text.h"
#include "lib/contest/contest.h"
#include "lib/database/blob.h"
#include "lib/intake/intake.h"
#include "lib/leaderboard/quota.h"
#include "lib/leaderboard/role.h"
#include "lib/submission/dialect.h"
#include "lib/submission/directive.h"

#include <string.h>
#include <strings.h>

struct intake {
	struct arena *arena;
	const struct leaderboard *leaderboard;
	const struct submission_request *request;
	struct submission_file file;
	const char **gpus;
	size_t gpu_count;  /* the chosen GPUs in the leaderboard's order */
	int64_t author_id; /* the request's user, or the team for which the user submits */
	int64_t id;
};

/* ---- is the leaderboard open? ---- */

struct state {
	int64_t task_version_id, accepting, ended, practice, archived, stopped, unregistered,
		deadline_ms;
	const char *language;
};
static const struct column STATE_COLUMNS[] = {
	INTEGER(struct state, task_version_id),
	INTEGER(struct state, accepting),
	INTEGER(struct state, ended),
	INTEGER(struct state, practice),
	INTEGER(struct state, archived),
	INTEGER(struct state, stopped),
	INTEGER(struct state, unregistered),
	TIME(struct state, deadline_ms),
	TEXT(struct state, language),
};
#define DEADLINE SQL_DEADLINE_OF("l", "author_id")
#define LACKS_REGISTRATION SQL_LACKS_REGISTRATION("l")
/* The shared lock makes changes and the deletion of the leaderboard wait until the submission is
 * stored or rejected. */
static const struct statement STATE = SELECT(struct state, STATE_COLUMNS,
	"SELECT l.task_version_id, l.accepting, COALESCE(" DEADLINE
	" <= UTC_TIMESTAMP(3), 0) AS ended, "
	"l.practice, l.archived_at IS NOT NULL AS archived, " SQL_INTAKE_IS_STOPPED
	" AS stopped, " LACKS_REGISTRATION " AS unregistered, " DEADLINE " AS deadline_ms, v.language "
	"FROM leaderboards l JOIN task_versions v ON v.id = l.task_version_id "
	"JOIN (SELECT ? AS author_id) author WHERE l.id = ? LOCK IN SHARE MODE");

/* Fails if the leaderboard or the site takes no submissions, also for creators and admins. Compares
 * the deadline with the database's clock. */
static int check_open(
	struct database *db, const struct intake *intake, struct state *state, struct error *error)
{
	const struct leaderboard *leaderboard = intake->leaderboard;
	int rc = database_row(db, intake->arena, &STATE, state, error, "iii", intake->author_id,
		intake->author_id, leaderboard->id);
	if (rc == ERROR_NOT_FOUND)
		return fail(error, rc, "The leaderboard %s was deleted meanwhile.", leaderboard->name);
	if (rc)
		return rc;
	format_text deadline;
	format_utc(deadline, state->deadline_ms);
	if (state->stopped)
		return fail_field(error, "leaderboard", INTAKE_STOPPED_SENTENCE);
	if (state->archived)
		return fail_field(error, "leaderboard",
			"%s is in the archive, so it takes no more submissions.", leaderboard->name);
	if (state->ended && !state->practice)
		return fail_field(error, "leaderboard",
			"The deadline of %s has passed (%s), so it takes no more submissions.",
			leaderboard->name, deadline);
	if (!state->accepting)
		return fail_field(error, "leaderboard",
			"%s is closed: its admins have turned submissions off.", leaderboard->name);
	if (state->unregistered)
		return fail_field(error, "leaderboard",
			"%s is a problem of a contest. Register for the contest, then submit again.",
			leaderboard->name);
	if (strcmp(state->language, leaderboard->language) != 0)
		return fail_field(error, "leaderboard",
			"The task of %s was replaced while you submitted. Read the new task, then submit "
			"again.",
			leaderboard->name);
	return 0;
}

/* ---- the mode ---- */

static int check_mode(const struct intake *intake, struct error *error)
{
	static const char *const modes[] = { "test", "benchmark", "ranked", "profile" };
	const char *mode = intake->request->mode;
	if (!mode || !*mode)
		return fail_field(error, "mode", "Choose a mode: test, benchmark, ranked or profile.");
	for (size_t i = 0; i < COUNT(modes); i++)
		if (strcmp(mode, modes[i]) == 0)
			return 0;
	return fail_field(error, "mode",
		"There is no mode %s; choose test, benchmark, ranked or profile.",
		quote(intake->arena, mode));
}

/* ---- the header and the GPUs ---- */

static bool contains_gpu(const char *const *names, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (strcasecmp(names[i], name) == 0)
			return true;
	return false;
}

/* Returns "A100, H200 and CPU". Makes the names printable, because a header may name any text of
 * one line as a GPU. */
static const char *join_names(struct arena *arena, const char *const *names, size_t count)
{
	cleanup_buffer struct buffer text = { 0 };
	for (size_t i = 0; i < count; i++) {
		buffer_text(&text, !i ? "" : i + 1 == count ? " and " : ", ");
		text_append_printable(&text, arena_printf(arena, "%.48s", names[i]));
	}
	return arena_strdup(arena, buffer_string(&text));
}

static int read_submission_header(
	const struct intake *intake, struct directives *directives, struct error *error)
{
	/* directives_parse needs a final NUL, which the caller's bytes may lack. */
	const char *source =
		arena_strndup(intake->arena, intake->request->source, intake->request->length);
	int rc = directives_parse(intake->arena, source, directives, error);
	if (rc == ERROR_INPUT)
		snprintf(error->field, sizeof error->field, "%s", intake->file.field);
	if (rc)
		return rc;
	const char *named = directives->leaderboard, *here = intake->leaderboard->name;
	if (named && strcasecmp(named, here) != 0)
		return fail_field(error, intake->file.field,
			"The header of the %s says that it is for the leaderboard %s, but it was sent to %s; "
			"submit it there, or change the header.",
			intake->file.field, quote(intake->arena, named), here);
	return 0;
}

static bool same_gpus(const char *const *a, size_t a_count, const char *const *b, size_t b_count)
{
	for (size_t i = 0; i < a_count; i++)
		if (!contains_gpu(b, b_count, a[i]))
			return false;
	for (size_t i = 0; i < b_count; i++)
		if (!contains_gpu(a, a_count, b[i]))
			return false;
	return true;
}

/* Takes the wanted GPUs in the leaderboard's order. ERROR_INPUT if the leaderboard lacks one. */
static int take_wanted_gpus(struct intake *intake, const char *const *offered, size_t offered_count,
	const char *const *wanted, size_t wanted_count, struct error *error)
{
	for (size_t i = 0; i < wanted_count; i++)
		if (!contains_gpu(offered, offered_count, wanted[i]))
			return fail_field(error, "gpu", "%s has no %s; choose from %s.",
				intake->leaderboard->name, quote(intake->arena, wanted[i]),
				join_names(intake->arena, offered, offered_count));
	intake->gpus = arena_array(intake->arena, const char *, offered_count);
	for (size_t i = 0; i < offered_count; i++)
		if (contains_gpu(wanted, wanted_count, offered[i]))
			intake->gpus[intake->gpu_count++] = offered[i];
	return 0;
}

static int fail_closed(const struct intake *intake, const char *gpu, struct error *error)
{
	return fail_field(error, "gpu",
		"The device %s of %s is being checked, so it takes no submissions yet.", gpu,
		intake->leaderboard->name);
}

/* Reads the devices that take submissions. Fails if there is none, or if a wanted device is closed
 * (lib/leaderboard/publication.h). */
static int read_open_gpus(struct database *db, const struct intake *intake, const char **wanted,
	size_t wanted_count, const char ***open, size_t *open_count, struct error *error)
{
	const char **all;
	size_t count;
	int64_t id = intake->leaderboard->id;
	int rc = leaderboard_gpus(db, intake->arena, id, &all, &count, error);
	if (!rc)
		rc = leaderboard_open_gpus(db, intake->arena, id, open, open_count, error);
	if (rc)
		return rc;
	if (!count)
		return fail_field(error, "gpu",
			"No device is chosen for %s yet, so nothing can run; ask its creator.",
			intake->leaderboard->name);
	for (size_t i = 0; i < count; i++)
		if (!contains_gpu(*open, *open_count, all[i])
			&& (!*open_count || contains_gpu(wanted, wanted_count, all[i])))
			return fail_closed(intake, all[i], error);
	return 0;
}

static int choose_gpus(struct database *db, struct intake *intake, const struct directives *header,
	struct error *error)
{
	const struct submission_request *request = intake->request;
	struct arena *arena = intake->arena;
	const char **offered, **wanted = request->gpu_count ? request->gpus : header->gpus;
	size_t offered_count,
		wanted_count = request->gpu_count ? request->gpu_count : header->gpu_count;
	int rc = read_open_gpus(db, intake, wanted, wanted_count, &offered, &offered_count, error);
	if (rc)
		return rc;
	if (header->gpu_count && request->gpu_count && !request->gpus_win
		&& !same_gpus(header->gpus, header->gpu_count, request->gpus, request->gpu_count))
		return fail_field(error, "gpu",
			"The header of the %s names %s, but the form names %s; make them the same, or clear "
			"one of them.",
			intake->file.field, join_names(arena, header->gpus, header->gpu_count),
			join_names(arena, request->gpus, request->gpu_count));
	if (wanted_count)
		return take_wanted_gpus(intake, offered, offered_count, wanted, wanted_count, error);
	if (offered_count > 1)
		return fail_field(error, "gpu",
			"Choose at least one of %s, here or in the header of the file.",
			join_names(arena, offered, offered_count));
	return take_wanted_gpus(intake, offered, offered_count, offered, offered_count, error);
}

/* ---- storing ---- */

struct author {
	int64_t banned;
};
static const struct column AUTHOR_COLUMNS[] = { INTEGER(struct author, banned) };
static const struct statement AUTHOR = SELECT(struct author, AUTHOR_COLUMNS,
	"SELECT COALESCE(MAX(banned_at IS NOT NULL OR deleted_at IS NOT NULL), 1) AS banned "
	"FROM users WHERE id IN (?, ?)");
static const struct statement INSERT_SUBMISSION = COMMAND(
	"INSERT INTO submissions (leaderboard_id, task_version_id, user_id, file_name, sha256, "
	"mode, practice, dialect, submitted_by, source_license) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, "
	"(SELECT NULLIF(l.source_license, '') FROM leaderboards l WHERE l.id = ?))");
static const struct statement INSERT_JOB =
	COMMAND("INSERT INTO jobs (submission_id, user_id, gpu) SELECT ?, ?, g.gpu "
			"FROM leaderboard_gpus g JOIN leaderboards l ON l.id = g.leaderboard_id "
			"WHERE l.id = ? AND g.gpu = ? AND NOT " SQL_IS_CLOSED("l", "g"));

/* Counts the submission, and its author as a participant if the author had no earlier submission.
 * Runs last in the transaction, because all submissions to the leaderboard wait for this row. The
 * author's row is locked already (team_lock_author), so no other submission of the author is stored
 * meanwhile. */
static const struct statement COUNT_SUBMISSION = COMMAND(
	"INSERT INTO leaderboard_counts (leaderboard_id, submissions, participants) VALUES (?, 1, 1) "
	"ON DUPLICATE KEY UPDATE submissions = submissions + 1, "
	"participants = participants + IF(EXISTS "
	"  (SELECT 1 FROM submissions s WHERE s.user_id = ? AND s.leaderboard_id = ? AND s.id < ? "
	"AND NOT s.dry_run), 0, 1)");

static const struct statement COUNT_DAY =
	COMMAND("INSERT INTO user_days (user_id, day, submissions) "
			"VALUES (?, UTC_DATE(), 1) ON DUPLICATE KEY UPDATE submissions = submissions + 1");

static int check_author(struct database *db, const struct intake *intake, struct error *error)
{
	struct author author;
	int rc = database_row(db, intake->arena, &AUTHOR, &author, error, "ii",
		intake->request->user_id, intake->author_id);
	if (!rc && author.banned)
		rc = fail(
			error, ERROR_FORBIDDEN, "This account was banned from submitting. Ask an admin why.");
	return rc;
}

static int insert_jobs(struct database *db, const struct intake *intake, struct error *error)
{
	for (size_t i = 0; i < intake->gpu_count; i++) {
		int rc = database_execute(db, &INSERT_JOB, error, "iiis", intake->id, intake->author_id,
			intake->leaderboard->id, intake->gpus[i]);
		if (rc)
			return rc;
		if (database_affected(db) != 1)
			return fail_field(error, "gpu",
				"The devices of %s changed while you submitted. Choose again.",
				intake->leaderboard->name);
	}
	return 0;
}

static int count_submission(struct database *db, const struct intake *intake, struct error *error)
{
	int64_t user_id = intake->author_id, leaderboard_id = intake->leaderboard->id;
	int rc = database_execute(db, &COUNT_DAY, error, "i", user_id);
	return rc ? rc
			  : database_execute(db, &COUNT_SUBMISSION, error, "iiii", leaderboard_id, user_id,
				  leaderboard_id, intake->id);
}

static int note_author(struct database *db, const struct intake *intake, struct error *error)
{
	const struct actor *by = intake->request->by;
	struct user user;
	int rc = user_by_id(db, intake->arena, intake->author_id, &user, error);
	return rc ? rc
			  : audit(db, by->id, by->name, by->address, "submission.for_user",
				  arena_printf(intake->arena, "submission %lld", (long long)intake->id),
				  arena_printf(intake->arena, "for %s on %s", user.name, intake->leaderboard->name),
				  error);
}

/* The user who submits for somebody else: a creator or an admin for a user, or a member for the
 * team. SQL_NULL_INTEGER: the author submits. */
static int64_t sender_of(const struct intake *intake)
{
	const struct submission_request *request = intake->request;
	if (request->by)
		return request->by->id;
	return intake->author_id == request->user_id ? SQL_NULL_INTEGER : request->user_id;
}

/* Chooses whose waiting jobs quota_check counts: the author's, or those that a creator or an admin
 * sent for others. */
static int choose_queue(struct database *db, const struct intake *intake,
	struct quota_request *attempt, struct error *error)
{
	const struct actor *by = intake->request->by;
	bool is_own = true;
	int rc = by ? team_acts_for(db, by->id, intake->author_id, &is_own, error) : 0;
	attempt->user_id = intake->author_id;
	attempt->sender_id = is_own ? SQL_NULL_INTEGER : by->id;
	return rc;
}

static int store_submission_body(struct database *db, void *context, struct error *error)
{
	struct intake *intake = context;
	const struct submission_request *request = intake->request;
	struct quota_request attempt = { .leaderboard_id = intake->leaderboard->id,
		.leaderboard = intake->leaderboard->name,
		.mode = request->mode,
		.jobs = intake->gpu_count };
	struct state state;
	unsigned char hash[sha256_bytes];
	int rc = team_lock_author(
		db, intake->arena, request->user_id, intake->leaderboard->id, &intake->author_id, error);
	if (!rc)
		rc = check_open(db, intake, &state, error);
	if (!rc)
		rc = check_author(db, intake, error);
	if (!rc)
		rc = choose_queue(db, intake, &attempt, error);
	if (!rc)
		rc = quota_check(db, intake->arena, request->config, &attempt, error);
	if (!rc)
		rc = blob_put(db, request->source, request->length, hash, error);
	if (!rc)
		rc = database_execute(db, &INSERT_SUBMISSION, error, "iiisbsisii", intake->leaderboard->id,
			state.task_version_id, intake->author_id, intake->file.name, hash, sizeof hash,
			request->mode, state.ended,
			dialect_of_source(intake->leaderboard->language, request->source, request->length)
				->name,
			sender_of(intake), intake->leaderboard->id);
	intake->id = (int64_t)database_insert_id(db);
	if (!rc)
		rc = insert_jobs(db, intake, error);
	if (!rc && strcmp(request->mode, "ranked") == 0)
		rc = team_note_ranked(db, intake->author_id, error);
	if (!rc && request->by)
		rc = note_author(db, intake, error);
	return rc ? rc : count_submission(db, intake, error);
}

static int stop_at_first(void *context, int rc)
{
	(void)context;
	return rc;
}

static int check_intake(struct database *db, struct intake *intake, submission_faulted *faulted,
	void *context, struct error *error)
{
	const struct submission_request *request = intake->request;
	struct state state;
	struct directives header = { 0 };
	int rc = team_author(
		db, intake->arena, request->user_id, intake->leaderboard->id, &intake->author_id, error);
	if (!rc)
		rc = check_open(db, intake, &state, error);
	if (!rc)
		rc = check_author(db, intake, error);
	if (rc)
		return rc;
	rc = submission_file_take(intake->arena, intake->leaderboard->language, request->file_name,
		request->source, request->length, &intake->file, error);
	if (!rc)
		rc = read_submission_header(intake, &header, error);
	rc = faulted(context, rc);
	if (!rc)
		rc = faulted(context, check_mode(intake, error));
	return rc ? rc : faulted(context, choose_gpus(db, intake, &header, error));
}

int submission_check(struct database *db, struct arena *arena,
	const struct leaderboard *leaderboard, const struct submission_request *request,
	submission_faulted *faulted, void *context, struct error *error)
{
	struct intake intake = { .arena = arena, .leaderboard = leaderboard, .request = request };
	return check_intake(db, &intake, faulted, context, error);
}

int submission_create(struct database *db, struct arena *arena,
	const struct leaderboard *leaderboard, const struct submission_request *request, int64_t *id,
	struct error *error)
{
	struct error unwanted = { 0 };
	error = error ? error : &unwanted;
	struct intake intake = { .arena = arena, .leaderboard = leaderboard, .request = request };
	int rc = check_intake(db, &intake, stop_at_first, NULL, error);
	if (!rc)
		rc = database_transaction(db, store_submission_body, &intake, error);
	if (!rc && id)
		*id = intake.id;
	return rc;
}

int submission_for_user(struct database *db, struct arena *arena,
	const struct leaderboard *leaderboard, const struct actor *by, const char *author,
	struct submission_request *request, struct error *error)
{
	struct user user;
	struct leaderboard seen;
	struct error none = { 0 };
	/* On a hidden leaderboard, the creator decides alone what runs and who sees it. */
	if (strcmp(leaderboard->visibility, "hidden") == 0)
		return fail_field(error, "author", "%s is hidden, so nobody can submit for others there.",
			leaderboard->name);
	int rc =
		text_is_user_name(author) ? user_by_name(db, arena, author, &user, error) : ERROR_NOT_FOUND;
	if (rc == ERROR_NOT_FOUND)
		return fail_field(error, "author", "There is no user named %s.", quote(arena, author));
	if (!rc)
		rc = leaderboard_seen_by(db, arena, user.id, leaderboard->name, &seen, &none);
	if (rc == ERROR_NOT_FOUND)
		return fail_field(error, "author", "%s may not see %s, so nobody can submit for this user.",
			user.name, leaderboard->name);
	request->user_id = user.id;
	request->by = by;
	return rc;
}

int submission_choose_author(struct database *db, struct arena *arena,
	const struct leaderboard *leaderboard, const struct actor *by, const char *author,
	struct submission_request *request, struct error *error)
{
	if (!author || !*author || strcmp(author, by->name) == 0)
		return 0;
	int rc = leaderboard_check_right(db, arena, by->id, leaderboard, RIGHT_CHANGE, error);
	return rc ? rc : submission_for_user(db, arena, leaderboard, by, author, request, error);
}
