/* Creates and edits leaderboards, and adds versions of their tasks. */
#include "lib/leaderboard/leaderboard.h"

#include "lib/account/audit.h"
#include "lib/account/user.h"
#include "lib/base/buffer.h"
#include "lib/base/format.h"
#include "lib/base/quote.h"
#include "lib/base/scope.h"
#include "lib/base/text.h"
#include "lib/database/job_count.h"
#include "lib/gpu/device.h"
#include "lib/leaderboard/publication.h"
#include "lib/task/version.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>

enum { most_gpus = 32, most_model_bytes = 48 };

/* What one call creates or changes. `leaderboard` is NULL when it creates one. */
struct change {
	struct arena *arena;
	const struct leaderboard *leaderboard;
	const struct leaderboard_settings *settings;
	const struct actor *actor;
	const struct task *task; /* NULL: the task does not change */
	struct task_draft draft; /* `task`, ready to be stored */
	const char **gpus;
	size_t gpu_count;         /* from the settings, without duplicates */
	const char **gpus_before; /* the leaderboard's devices before an edit */
	size_t gpu_count_before;
	int64_t id;        /* of the leaderboard */
	const char *state; /* the edited version's state that the author saw; NULL: do not compare */
	int64_t number;    /* of the version that has the task after the change */
	int64_t cancelled; /* queued jobs for devices that the edit removes */
};

/* ---- checks ---- */

int leaderboard_check_name(const char *name, struct error *error)
{
	static const char *const endings[] = { ".json", ".csv", ".atom" };
	if (!text_is_leaderboard_name(name))
		return fail_field(error, "name",
			"A leaderboard's name has 1 to 64 letters, digits, dots, dashes or underscores, and "
			"begins with a letter or digit.");
	for (size_t i = 0; i < COUNT(endings); i++)
		if (text_ends_with(name, endings[i]))
			return fail_field(error, "name",
				"A leaderboard's name may not end with %s, because its address would then be the "
				"address of a file.",
				endings[i]);
	return 0;
}

static int fail_taken(const char *name, struct error *error)
{
	fail_field(
		error, "name", "There is a leaderboard named %s already; choose another name.", name);
	return error->code = ERROR_CONFLICT;
}

int leaderboard_check_new_name(
	struct database *db, struct arena *arena, const char *name, struct error *error)
{
	struct leaderboard other;
	int rc = leaderboard_check_name(name, error);
	if (rc)
		return rc;
	rc = leaderboard_by_name(db, arena, name, &other, error);
	if (!rc)
		return fail_taken(name, error);
	if (rc != ERROR_NOT_FOUND)
		return rc;
	*error = (struct error){ 0 };
	return 0;
}

bool gpu_is_name(const char *gpu)
{
	size_t length = strlen(gpu);
	return length >= 1 && length <= most_model_bytes
		&& strspn(gpu, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-")
		== length;
}

static bool lists_gpu(const char *const *gpus, size_t count, const char *gpu)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(gpus[i], gpu) == 0)
			return true;
	return false;
}

static int check_gpus(struct change *change, enum task_language language, struct error *error)
{
	const struct leaderboard_settings *settings = change->settings;
	change->gpus = arena_array(change->arena, const char *, settings->gpu_count + 1);
	for (size_t i = 0; i < settings->gpu_count; i++) {
		const char *gpu = settings->gpus[i];
		if (lists_gpu(change->gpus, change->gpu_count, gpu))
			continue;
		if (!gpu_is_name(gpu))
			return fail_field(error, "gpu",
				"%s is not a valid GPU model: use 1 to %d letters, digits, dots, dashes or "
				"underscores, for example H200 or CPU.",
				quote(change->arena, gpu), most_model_bytes);
		if (!gpu_runs_language(gpu, language))
			return fail_field(error, "gpu",
				"The task is in CUDA C++ (lang: cu), which %s cannot run; remove %s.", gpu, gpu);
		change->gpus[change->gpu_count++] = gpu;
	}
	if (change->gpu_count > most_gpus)
		return fail_field(error, "gpu", "A leaderboard may have at most %d GPU models.", most_gpus);
	return 0;
}

const char *leaderboard_deadline_words(struct arena *arena, int64_t deadline_ms)
{
	format_text text;
	format_utc(text, deadline_ms);
	return deadline_ms == TIME_NULL ? "none" : arena_strdup(arena, text);
}

const char *leaderboard_gpu_words(struct arena *arena, const char *const *gpus, size_t count)
{
	cleanup_buffer struct buffer words = { 0 };
	for (size_t i = 0; i < count; i++)
		buffer_printf(&words, "%s%s", i ? ", " : "", gpus[i]);
	return count ? arena_strdup(arena, words.data) : "none";
}

int leaderboard_check_deadline(struct arena *arena, int64_t deadline_ms, struct error *error)
{
	return deadline_ms == TIME_NULL || deadline_ms > now_ms()
		? 0
		: fail_field(error, "deadline",
			"The deadline %s has passed already; choose a later one, or none.",
			leaderboard_deadline_words(arena, deadline_ms));
}

static const char *sources_of(const struct change *change)
{
	return change->settings->sources ? change->settings->sources
		: change->leaderboard        ? change->leaderboard->sources
									 : SOURCE_POLICY_USUAL;
}

static const char *license_of(const struct change *change)
{
	return change->settings->license ? change->settings->license
		: change->leaderboard        ? change->leaderboard->license
									 : "";
}

/* The value of the older column sources_public_after_deadline, which programs of the previous
 * version read instead of the policy. These programs must not open sources too early. */
static int64_t opens_after_deadline(const struct change *change)
{
	const char *sources = sources_of(change);
	return strcmp(sources, "deadline") == 0 || strcmp(sources, "always") == 0;
}

static int check_settings(
	struct change *change, enum task_language language, bool is_new, struct error *error)
{
	int rc = is_new ? leaderboard_check_name(change->settings->name, error) : 0;
	if (!rc && is_new && !change->settings->may_have_ended)
		rc = leaderboard_check_deadline(change->arena, change->settings->deadline_ms, error);
	if (!rc)
		rc = source_policy_check(sources_of(change), license_of(change), error);
	return rc ? rc : check_gpus(change, language, error);
}

int leaderboard_check_settings(struct arena *arena, const struct leaderboard_settings *settings,
	enum task_language language, bool is_new, struct error *error)
{
	struct change change = { .arena = arena, .settings = settings };
	return check_settings(&change, language, is_new, error);
}

/* ---- versions of the task ---- */

struct current {
	int64_t task_version_id, number;
	const char *language, *visibility;
};
static const struct column CURRENT_COLUMNS[] = {
	INTEGER(struct current, task_version_id),
	INTEGER(struct current, number),
	TEXT(struct current, language),
	TEXT(struct current, visibility),
};
/* Locks the leaderboard: edits wait for each other and for submissions that are being stored. */
static const struct statement CURRENT = SELECT(struct current, CURRENT_COLUMNS,
	"SELECT l.task_version_id, v.number, v.language, l.visibility "
	"FROM leaderboards l JOIN task_versions v ON v.id = l.task_version_id "
	"WHERE l.id = ? FOR UPDATE");
static const struct statement SWITCH_VERSION =
	COMMAND("UPDATE leaderboards SET task_version_id = ? WHERE id = ?");

struct number {
	int64_t number;
};
static const struct column NUMBER_COLUMNS[] = { INTEGER(struct number, number) };
/* The newest version's number. It is above the current version's if there are drafts, or if an
 * older version is in use again. */
static const struct statement NEWEST = SELECT(struct number, NUMBER_COLUMNS,
	"SELECT MAX(number) AS number FROM task_versions WHERE leaderboard_id = ?");
static const struct statement MAKE_DRAFT =
	COMMAND("UPDATE task_versions SET draft = TRUE WHERE id = ?");

static int64_t actor_id(const struct change *change)
{
	return change->actor->id ? change->actor->id : SQL_NULL_INTEGER;
}

static int insert_version(
	struct database *db, const struct change *change, int64_t *version_id, struct error *error)
{
	return task_draft_insert(db, &change->draft, change->id, actor_id(change), version_id, error);
}

static int switch_version(
	struct database *db, const struct change *change, int64_t version_id, struct error *error)
{
	return database_execute(db, &SWITCH_VERSION, error, "ii", version_id, change->id);
}

/* How an edit uses the new version. */
enum use { USE_NOW, USE_WHEN_CHECKED, USE_LATER };

static enum use use_of(const struct change *change, const struct current *current)
{
	return change->settings->keeps_version ? USE_LATER
		: change->settings->unchecked || strcmp(current->visibility, "hidden") == 0
		? USE_NOW
		: USE_WHEN_CHECKED;
}

static int add_version(struct database *db, const struct change *change,
	const struct current *current, struct error *error)
{
	int64_t version_id;
	enum use use = use_of(change, current);
	int rc = insert_version(db, change, &version_id, error);
	if (!rc && change->settings->unchecked)
		rc = publication_waive(db, version_id, error);
	if (!rc && use != USE_NOW)
		rc = database_execute(db, &MAKE_DRAFT, error, "i", version_id);
	if (!rc && use == USE_NOW)
		rc = switch_version(db, change, version_id, error);
	if (!rc && use == USE_NOW)
		rc = publication_want_version(db, change->id, version_id, error);
	if (!rc && use == USE_WHEN_CHECKED)
		rc = publication_want(db, change->id, version_id, current->visibility, error);
	return rc || use == USE_LATER
		? rc
		: publication_advance(db, change->arena, change->id, change->actor, error);
}

/* ---- devices ---- */

static const struct statement DELETE_GPU =
	COMMAND("DELETE FROM leaderboard_gpus WHERE leaderboard_id = ? AND gpu = ?");
static const struct statement PUT_GPU =
	COMMAND("INSERT INTO leaderboard_gpus (leaderboard_id, gpu, position, closed_at) "
			"VALUES (?, ?, ?, IF(?, UTC_TIMESTAMP(3), NULL)) "
			"ON DUPLICATE KEY UPDATE position = VALUES(position)");

/* A device that was removed from the leaderboard keeps its rankings. Adding it again closes it,
 * which deletes them; they come back when its check has passed. */
static const struct statement END_RANKING =
	COMMAND("DELETE FROM ranking WHERE leaderboard_id = ? AND gpu = ?");
static const struct statement END_RECORDS =
	COMMAND("DELETE FROM records WHERE leaderboard_id = ? AND gpu = ?");

static int store_gpu(
	struct database *db, const struct change *change, size_t i, bool is_closed, struct error *error)
{
	int rc = database_execute(
		db, &PUT_GPU, error, "isii", change->id, change->gpus[i], (int64_t)i, (int64_t)is_closed);
	if (rc || !is_closed
		|| lists_gpu(change->gpus_before, change->gpu_count_before, change->gpus[i]))
		return rc;
	rc = database_execute(db, &END_RANKING, error, "is", change->id, change->gpus[i]);
	return rc ? rc : database_execute(db, &END_RECORDS, error, "is", change->id, change->gpus[i]);
}

struct scoreboard {
	int64_t columns;
	const char *contest;
};
static const struct column SCOREBOARD_COLUMNS[] = { INTEGER(struct scoreboard, columns),
	TEXT(struct scoreboard, contest) };
/* Counts the columns of the contest's scoreboard. Locks the devices of all its problems, so that
 * two problems cannot add devices at the same moment. */
static const struct statement SCOREBOARD = SELECT(struct scoreboard, SCOREBOARD_COLUMNS,
	"SELECT COUNT(*) AS columns, c.name AS contest FROM contest_problems own "
	"JOIN contests c ON c.id = own.contest_id AND c.final_at IS NULL "
	"JOIN contest_problems p ON p.contest_id = c.id "
	"JOIN leaderboard_gpus g ON g.leaderboard_id = p.leaderboard_id "
	"WHERE own.leaderboard_id = ? GROUP BY c.id FOR UPDATE");

static int check_scoreboard(struct database *db, const struct change *change, struct error *error)
{
	struct scoreboard scoreboard;
	int rc = database_row(db, change->arena, &SCOREBOARD, &scoreboard, error, "i", change->id);
	if (rc == ERROR_NOT_FOUND)
		return 0;
	return rc || scoreboard.columns <= contest_most_columns
		? rc
		: fail_field(error, "gpu",
			"The scoreboard of the contest %s would have %lld columns, one for each problem on "
			"each device. It may have at most %d.",
			scoreboard.contest, (long long)scoreboard.columns, contest_most_columns);
}

/* A device that an edit adds is closed until its check has passed (publication.h). */
static int store_gpus(struct database *db, const struct change *change, struct error *error)
{
	bool is_closed = change->leaderboard && !change->settings->unchecked;
	int rc = 0;
	for (size_t i = 0; i < change->gpu_count_before && !rc; i++)
		if (!lists_gpu(change->gpus, change->gpu_count, change->gpus_before[i]))
			rc = database_execute(db, &DELETE_GPU, error, "is", change->id, change->gpus_before[i]);
	for (size_t i = 0; i < change->gpu_count && !rc; i++)
		rc = store_gpu(db, change, i, is_closed, error);
	return rc || change->gpu_count <= change->gpu_count_before
		? rc
		: check_scoreboard(db, change, error);
}

/* The leaderboard's queued jobs for one device, including comparisons and rejudgings. The forced
 * index keeps the statements from reading and locking all jobs of the leaderboard. */
#define QUEUED_JOBS \
	"jobs j FORCE INDEX (jobs_age) LEFT JOIN comparisons c ON c.id = j.comparison_id " \
	"LEFT JOIN rejudged_jobs r ON r.id = j.rejudged_id " \
	"JOIN submissions s ON s.id = COALESCE(j.submission_id, c.challenger_id, r.submission_id) "
#define OF_DEVICE "WHERE j.gpu = ? AND j.state = 'queued' AND s.leaderboard_id = ?"
static const struct statement COUNT_JOBS = COMMAND(SQL_COUNT_CANCELLED(QUEUED_JOBS OF_DEVICE));
static const struct statement CANCEL_JOBS =
	COMMAND("UPDATE " QUEUED_JOBS "SET j.state = 'cancelled', j.verdict = 'cancelled', "
			"j.reason = ?, j.cancelled_by = ?, j.finished_at = UTC_TIMESTAMP(3) " OF_DEVICE);

static int cancel_queued(
	struct database *db, struct change *change, const char *gpu, struct error *error)
{
	const char *reason = arena_printf(change->arena,
		"Cancelled before it started: %s removed %s from the leaderboard's devices.",
		change->actor->name, gpu);
	int rc = database_execute(db, &COUNT_JOBS, error, "si", gpu, change->id);
	if (!rc)
		rc = database_execute(
			db, &CANCEL_JOBS, error, "sisi", reason, actor_id(change), gpu, change->id);
	if (!rc)
		change->cancelled += (int64_t)database_affected(db);
	return rc;
}

static int cancel_for_removed_gpus(
	struct database *db, struct change *change, struct buffer *notes, struct error *error)
{
	int rc = 0;
	for (size_t i = 0; i < change->gpu_count_before && !rc; i++)
		if (!lists_gpu(change->gpus, change->gpu_count, change->gpus_before[i]))
			rc = cancel_queued(db, change, change->gpus_before[i], error);
	if (!rc && change->cancelled)
		buffer_printf(
			notes, "; %s cancelled", plural(change->arena, change->cancelled, "queued job"));
	return rc;
}

static int write_audit(struct database *db, const struct change *change, const char *action,
	const char *name, const char *detail, struct error *error)
{
	const struct actor *actor = change->actor;
	return audit(db, actor->id, actor->name, actor->address, action, name, detail, error);
}

/* ---- creating ---- */

static const struct statement INSERT_LEADERBOARD =
	COMMAND("INSERT INTO leaderboards (name, creator_id, deadline, accepting, "
			"sources_open, source_license, sources_public_after_deadline, secret_seed, visibility) "
			"VALUES (?, ?, ?, ?, ?, ?, ?, ?, IF(?, 'public', 'hidden'))");

static int insert_leaderboard(struct database *db, struct change *change, struct error *error)
{
	const struct leaderboard_settings *settings = change->settings;
	int rc = database_execute(db, &INSERT_LEADERBOARD, error, "sitissiii", settings->name,
		actor_id(change), settings->deadline_ms, (int64_t)settings->accepting, sources_of(change),
		license_of(change), opens_after_deadline(change),
		(int64_t)randombytes_uniform(UINT32_C(1) << 31),
		(int64_t)(settings->unchecked && !settings->hidden));
	if (rc == ERROR_CONFLICT)
		rc = fail_taken(settings->name, error);
	change->id = (int64_t)database_insert_id(db);
	return rc;
}

static int create_body(struct database *db, void *context, struct error *error)
{
	struct change *change = context;
	const struct leaderboard_settings *settings = change->settings;
	int64_t version_id;
	int rc = insert_leaderboard(db, change, error);
	if (!rc)
		rc = insert_version(db, change, &version_id, error);
	if (!rc)
		rc = switch_version(db, change, version_id, error);
	if (!rc)
		rc = store_gpus(db, change, error);
	if (!rc && settings->unchecked)
		rc = publication_waive(db, version_id, error);
	if (!rc && settings->quotas)
		rc = quotas_store(db, change->id, settings->quotas, error);
	if (!rc && !settings->hidden && !settings->unchecked)
		rc = publication_want(db, change->id, version_id, "public", error);
	if (!rc)
		rc = publication_advance(db, change->arena, change->id, change->actor, error);
	if (rc)
		return rc;
	const int64_t deadline_ms = change->settings->deadline_ms;
	const char *deadline = deadline_ms == TIME_NULL
		? ""
		: arena_printf(change->arena, "; deadline: %s",
			leaderboard_deadline_words(change->arena, deadline_ms));
	const char *detail = arena_printf(change->arena, "%s; devices: %s%s; %s",
		settings->hidden          ? "hidden"
			: settings->unchecked ? "public, not checked"
								  : "public once its check passes",
		leaderboard_gpu_words(change->arena, change->gpus, change->gpu_count), deadline,
		plural(change->arena, (int64_t)change->draft.content_count, "file"));
	return write_audit(db, change, "leaderboard.create", change->settings->name, detail, error);
}

int leaderboard_create(struct database *db, struct arena *arena,
	const struct leaderboard_settings *settings, const struct task *task,
	const struct fileset *upload, const struct fileset *stock, const struct actor *actor,
	int64_t *id, struct error *error)
{
	struct error unwanted = { 0 };
	error = error ? error : &unwanted;
	struct change change = { .arena = arena, .settings = settings, .actor = actor, .task = task };
	int rc = check_settings(&change, task->language, true, error);
	if (!rc)
		rc = task_draft_make(arena, task, upload, stock, &change.draft, error);
	if (!rc)
		rc = database_transaction(db, create_body, &change, error);
	if (!rc && id)
		*id = change.id;
	return rc;
}

/* ---- editing ---- */

static const struct statement UPDATE_LEADERBOARD = COMMAND(
	"UPDATE leaderboards SET deadline = ?, accepting = ?, sources_open = ?, source_license = ?, "
	"sources_public_after_deadline = ?, updated_at = UTC_TIMESTAMP(3) WHERE id = ?");

struct settings_row {
	int64_t deadline_ms, accepting;
	const char *sources, *license;
};
static const struct column SETTINGS_COLUMNS[] = {
	TIME(struct settings_row, deadline_ms),
	INTEGER(struct settings_row, accepting),
	TEXT(struct settings_row, sources),
	TEXT(struct settings_row, license),
};
static const struct statement SETTINGS = SELECT(struct settings_row, SETTINGS_COLUMNS,
	"SELECT l.deadline AS deadline_ms, l.accepting, " SQL_SOURCE_POLICY(
		"l") " AS sources, l.source_license AS license FROM leaderboards l WHERE l.id = ?");

static int note_quotas(
	struct database *db, const struct change *change, struct buffer *notes, struct error *error)
{
	struct arena *arena = change->arena;
	const struct quota *after = change->settings->quotas;
	struct quota before[quota_modes];
	int rc = after ? quotas_of_leaderboard(db, arena, change->id, before, error) : 0;
	for (size_t i = 0; after && i < quota_modes && !rc; i++)
		audit_note_change(notes,
			before[i].most != after[i].most || (after[i].most && before[i].hours != after[i].hours),
			arena_printf(arena, "%s quota", quota_mode(i)), quota_own_words(arena, &before[i]),
			quota_own_words(arena, &after[i]));
	return rc;
}

/* Appends the changed settings in words; nothing if none changed. Also reads the current devices
 * into gpus_before. */
static int note_settings(
	struct database *db, struct change *change, struct buffer *notes, struct error *error)
{
	struct arena *arena = change->arena;
	const struct leaderboard_settings *after = change->settings;
	struct settings_row before;
	int rc = database_row(db, arena, &SETTINGS, &before, error, "i", change->id);
	if (!rc)
		rc = leaderboard_gpus(
			db, arena, change->id, &change->gpus_before, &change->gpu_count_before, error);
	if (rc)
		return rc;
	const char *devices_before =
				   leaderboard_gpu_words(arena, change->gpus_before, change->gpu_count_before),
			   *devices = leaderboard_gpu_words(arena, change->gpus, change->gpu_count);
	audit_note_change(notes, before.deadline_ms != after->deadline_ms, "deadline",
		leaderboard_deadline_words(arena, before.deadline_ms),
		leaderboard_deadline_words(arena, after->deadline_ms));
	audit_note_change(notes, before.accepting != after->accepting, "takes submissions",
		yes_or_no(before.accepting), yes_or_no(after->accepting));
	audit_note_change(notes, strcmp(before.sources, sources_of(change)) != 0, "sources open",
		before.sources, sources_of(change));
	audit_note_change(notes, strcmp(before.license, license_of(change)) != 0, "license",
		before.license, license_of(change));
	audit_note_change(
		notes, strcmp(devices_before, devices) != 0, "devices", devices_before, devices);
	return note_quotas(db, change, notes, error);
}

static int update_settings(
	struct database *db, struct change *change, struct buffer *notes, struct error *error)
{
	const struct leaderboard_settings *settings = change->settings;
	int rc = note_settings(db, change, notes, error);
	if (rc || !notes->length)
		return rc;
	rc = database_execute(db, &UPDATE_LEADERBOARD, error, "tissii", settings->deadline_ms,
		(int64_t)settings->accepting, sources_of(change), license_of(change),
		opens_after_deadline(change), change->id);
	if (!rc && settings->quotas)
		rc = quotas_store(db, change->id, settings->quotas, error);
	if (!rc)
		rc = store_gpus(db, change, error);
	return rc ? rc : cancel_for_removed_gpus(db, change, notes, error);
}

/* `edited` is the version that the task replaces. It is not the current version if it waits for its
 * check. */
static int update_task(struct database *db, struct change *change, const struct current *current,
	const struct edited_version *edited, struct buffer *notes, struct error *error)
{
	struct task_comparison comparison = { 0 };
	int rc = change->task
		? task_draft_compare(db, change->arena, &change->draft, edited->id, &comparison, error)
		: 0;
	change->number = edited->number;
	if (rc || comparison.difference == TASK_IS_THE_SAME)
		return rc;
	const char *separator = notes->length ? "; " : "";
	long long number = (long long)current->number;
	if (comparison.difference == TASK_READS_DIFFERENTLY) {
		buffer_printf(notes, "%stask: still version %lld, with another %s", separator,
			(long long)edited->number, task_comparison_words(change->arena, &comparison));
		return task_draft_rewrite(
			db, change->arena, &change->draft, edited->id, actor_id(change), error);
	}
	struct number newest;
	enum use use = use_of(change, current);
	rc = add_version(db, change, current, error);
	if (!rc)
		rc = database_row(db, change->arena, &NEWEST, &newest, error, "i", change->id);
	if (rc)
		return rc;
	change->number = newest.number;
	buffer_printf(notes,
		use == USE_LATER ? "%stask: a draft of version %lld with %s, still version %lld"
			: use == USE_WHEN_CHECKED
			? "%stask: version %lld with %s once its check passes, still version %lld"
			: "%stask: version %lld with %s, was version %lld",
		separator, (long long)newest.number,
		plural(change->arena, (int64_t)change->draft.content_count, "file"), number);
	return 0;
}

static int fail_deleted(const struct leaderboard *leaderboard, struct error *error)
{
	return fail(
		error, ERROR_NOT_FOUND, "The leaderboard %s was deleted meanwhile.", leaderboard->name);
}

static int update_body(struct database *db, void *context, struct error *error)
{
	struct change *change = context;
	cleanup_buffer struct buffer notes = { 0 };
	struct current current;
	change->gpu_count = 0, change->cancelled = 0; /* the transaction may be a retry */
	int rc = database_row(db, change->arena, &CURRENT, &current, error, "i", change->id);
	if (rc == ERROR_NOT_FOUND)
		return fail_deleted(change->leaderboard, error);
	if (rc)
		return rc;
	enum task_language language = change->task ? change->task->language
		: strcmp(current.language, "cu") == 0  ? TASK_CU
											   : TASK_PY;
	rc = check_gpus(change, language, error);
	if (!rc)
		rc = update_settings(db, change, &notes, error);
	if (!rc)
		rc = update_task(db, change, &current,
			&(struct edited_version){ current.task_version_id, current.number, NULL }, &notes,
			error);
	if (rc || !notes.length)
		return rc;
	/* includes the devices that the edit has added */
	if (change->settings->unchecked)
		rc = publication_waive(db, current.task_version_id, error);
	if (rc)
		return rc;
	rc =
		write_audit(db, change, "leaderboard.update", change->leaderboard->name, notes.data, error);
	return rc ? rc : publication_advance(db, change->arena, change->id, change->actor, error);
}

int leaderboard_update(struct database *db, struct arena *arena,
	const struct leaderboard *leaderboard, const struct leaderboard_settings *settings,
	const struct task *task, const struct fileset *upload, const struct fileset *stock,
	const struct actor *actor, int64_t *cancelled, struct error *error)
{
	struct change change = { .arena = arena,
		.leaderboard = leaderboard,
		.settings = settings,
		.actor = actor,
		.task = task,
		.id = leaderboard->id };
	int rc = source_policy_check(sources_of(&change), license_of(&change), error);
	if (!rc && task)
		rc = task_draft_make(arena, task, upload, stock, &change.draft, error);
	if (!rc)
		rc = database_transaction(db, update_body, &change, error);
	if (!rc && cancelled)
		*cancelled = change.cancelled;
	return rc;
}

/* ---- editing the task alone ---- */

static const struct column EDITED_COLUMNS[] = {
	INTEGER(struct edited_version, id),
	INTEGER(struct edited_version, number),
	TEXT(struct edited_version, state),
};
static const struct statement EDITED = SELECT(struct edited_version, EDITED_COLUMNS,
	"SELECT e.id, e.number, CONCAT_WS('.', v.id, v.revision, e.id, e.revision) AS state "
	"FROM leaderboards l JOIN task_versions v ON v.id = l.task_version_id "
	"LEFT JOIN publications p ON p.leaderboard_id = l.id "
	"JOIN task_versions e ON e.id = COALESCE(p.task_version_id, l.task_version_id) "
	"WHERE l.id = ?");

int leaderboard_edited_version(struct database *db, struct arena *arena, int64_t leaderboard_id,
	struct edited_version *version, struct error *error)
{
	return database_row(db, arena, &EDITED, version, error, "i", leaderboard_id);
}

int edited_version_check(
	const struct edited_version *version, const char *state, struct error *error)
{
	if (strcmp(version->state, state) == 0)
		return 0;
	return fail(error, ERROR_CONFLICT,
		"The task has changed since you opened this page, so nothing was saved. Copy your changes, "
		"open the page again and repeat them.");
}

int leaderboard_check_task_gpus(struct database *db, struct arena *arena, int64_t leaderboard_id,
	enum task_language language, struct error *error)
{
	struct leaderboard_settings settings = { 0 };
	struct change own = { .arena = arena, .settings = &settings };
	int rc =
		leaderboard_gpus(db, arena, leaderboard_id, &settings.gpus, &settings.gpu_count, error);
	if (!rc)
		rc = check_gpus(&own, language, error);
	if (rc == ERROR_INPUT)
		error->field[0] = '\0';
	return rc;
}

static int edit_body(struct database *db, void *context, struct error *error)
{
	struct change *change = context;
	cleanup_buffer struct buffer notes = { 0 };
	struct current current;
	struct edited_version edited;
	int rc = database_row(db, change->arena, &CURRENT, &current, error, "i", change->id);
	if (rc == ERROR_NOT_FOUND)
		return fail_deleted(change->leaderboard, error);
	if (!rc)
		rc = leaderboard_edited_version(db, change->arena, change->id, &edited, error);
	if (!rc)
		rc = edited_version_check(&edited, change->state, error);
	if (!rc)
		rc = leaderboard_check_task_gpus(
			db, change->arena, change->id, change->task->language, error);
	if (!rc)
		rc = update_task(db, change, &current, &edited, &notes, error);
	if (!rc && notes.length)
		rc = write_audit(
			db, change, "leaderboard.update", change->leaderboard->name, notes.data, error);
	return rc || !notes.length
		? rc
		: publication_advance(db, change->arena, change->id, change->actor, error);
}

int leaderboard_edit_task(struct database *db, struct arena *arena,
	const struct leaderboard *leaderboard, const char *state, bool keeps_version,
	const struct task *task, const struct fileset *upload, const struct fileset *stock,
	const struct actor *actor, int64_t *number, struct error *error)
{
	const struct leaderboard_settings settings = { .keeps_version = keeps_version };
	struct change change = { .arena = arena,
		.leaderboard = leaderboard,
		.settings = &settings,
		.actor = actor,
		.task = task,
		.id = leaderboard->id,
		.state = state };
	int rc = task_draft_make(arena, task, upload, stock, &change.draft, error);
	if (!rc)
		rc = database_transaction(db, edit_body, &change, error);
	if (!rc)
		*number = change.number;
	return rc;
}
