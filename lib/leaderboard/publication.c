#include "lib/leaderboard/publication.h"

#include "lib/account/audit.h"
#include "lib/base/format.h"
#include "lib/base/scope.h"
#include "lib/leaderboard/baseline_run.h"
#include "lib/leaderboard/dry_run.h"
#include "lib/leaderboard/right.h"

#include <string.h>

/* ---- publications ---- */

static const struct column PUBLICATION_COLUMNS[] = {
	INTEGER(struct publication, version_id),
	INTEGER(struct publication, version_number),
	TEXT(struct publication, visibility),
	TIME(struct publication, wanted_at_ms),
	TIME(struct publication, waits_until_ms),
	INTEGER(struct publication, accepted_dry_run_id),
};
static const struct statement PUBLICATION = SELECT(struct publication, PUBLICATION_COLUMNS,
	"SELECT v.id AS version_id, v.number AS version_number, p.visibility, "
	"p.wanted_at AS wanted_at_ms, (SELECT MAX(c.starts_at) FROM contest_problems cp "
	"JOIN contests c ON c.id = cp.contest_id WHERE cp.leaderboard_id = p.leaderboard_id "
	"AND c.starts_at > UTC_TIMESTAMP(3)) AS waits_until_ms, p.accepted_dry_run_id "
	"FROM publications p "
	"JOIN task_versions v ON v.id = p.task_version_id WHERE p.leaderboard_id = ?");
static const struct statement WANT =
	COMMAND("REPLACE INTO publications (leaderboard_id, task_version_id, visibility) "
			"VALUES (?, ?, ?)");
static const struct statement WANT_VERSION = COMMAND(
	"UPDATE publications SET task_version_id = ?, looked_at = NULL WHERE leaderboard_id = ?");
static const struct statement WITHDRAW =
	COMMAND("DELETE FROM publications WHERE leaderboard_id = ?");
static const struct statement WAIVE =
	COMMAND("REPLACE INTO check_waivers (task_version_id, gpu) "
			"SELECT v.id, '' FROM task_versions v WHERE v.id = ? UNION SELECT v.id, g.gpu "
			"FROM task_versions v JOIN leaderboard_gpus g ON g.leaderboard_id = v.leaderboard_id "
			"AND g.closed_at IS NULL WHERE v.id = ?");
static const struct statement ACCEPT =
	COMMAND("UPDATE publications SET accepted_dry_run_id = ? WHERE leaderboard_id = ?");

int publication_read(struct database *db, struct arena *arena, int64_t leaderboard_id,
	struct publication *publication, struct error *error)
{
	return database_row(db, arena, &PUBLICATION, publication, error, "i", leaderboard_id);
}

enum {
	ANSWER_ROWS,
	ANSWER_PUBLICATION,
	ANSWER_VERSION,
	ANSWER_TASK,
	ANSWER_GPUS,
	ANSWER_REFERENCE,
	ANSWER_BASELINES
};
static const struct statement *const REPORT_PARTS[] = {
	[ANSWER_ROWS] = &dry_run_reading,
	[ANSWER_PUBLICATION] = &PUBLICATION,
	[ANSWER_VERSION] = &check_version_reading,
	[ANSWER_TASK] = &task_of_number_reading,
	[ANSWER_GPUS] = &check_gpus_reading,
	[ANSWER_REFERENCE] = &check_reference_reading,
	[ANSWER_BASELINES] = &baseline_run_reading,
};
static const struct bundle REPORT = BUNDLE(REPORT_PARTS);

int publication_report_read(struct database *db, struct arena *arena,
	const struct leaderboard *leaderboard, int64_t version_number,
	struct publication_report *report, struct error *error)
{
	struct database_answer answers[COUNT(REPORT_PARTS)];
	const struct check_answers of_check = { &answers[ANSWER_ROWS], &answers[ANSWER_VERSION],
		&answers[ANSWER_TASK], &answers[ANSWER_GPUS], &answers[ANSWER_REFERENCE] };
	const int64_t id = leaderboard->id, number = version_number;
	*report = (struct publication_report){ 0 };
	int rc = database_answers(db, arena, &REPORT, answers, error, "iiiiiiiiiiiii", id, number, id,
		id, number, id, number, id, number, id, number, id, number);
	if (rc)
		return rc;
	report->rows = answers[ANSWER_ROWS].rows;
	report->count = answers[ANSWER_ROWS].count;
	report->baselines = answers[ANSWER_BASELINES].rows;
	report->baseline_count = answers[ANSWER_BASELINES].count;
	struct publication *publication = answers[ANSWER_PUBLICATION].rows;
	if (answers[ANSWER_PUBLICATION].count && publication->version_number == number)
		report->publication = publication;
	return report->publication || leaderboard->version_number == number
		? check_of_answers(arena, &of_check, &report->check, error)
		: 0;
}

int publication_want(struct database *db, int64_t leaderboard_id, int64_t version_id,
	const char *visibility, struct error *error)
{
	return database_execute(db, &WANT, error, "iis", leaderboard_id, version_id, visibility);
}

int publication_want_version(
	struct database *db, int64_t leaderboard_id, int64_t version_id, struct error *error)
{
	return database_execute(db, &WANT_VERSION, error, "ii", version_id, leaderboard_id);
}

int publication_withdraw(struct database *db, int64_t leaderboard_id, struct error *error)
{
	return database_execute(db, &WITHDRAW, error, "i", leaderboard_id);
}

int publication_waive(struct database *db, int64_t version_id, struct error *error)
{
	return database_execute(db, &WAIVE, error, "ii", version_id, version_id);
}

/* ---- publishing ---- */

static const struct statement SHOW =
	COMMAND("UPDATE leaderboards SET hidden_since = IF(? = 'hidden', UTC_TIMESTAMP(3), NULL), "
			"visibility = ?, updated_at = UTC_TIMESTAMP(3) WHERE id = ?");
/* Sets jobs.ranked_at to now for results that finished while nobody could see them, so that they
 * count as ranked now. Runs while the leaderboard is still hidden, or the device still closed. */
#define WAS_HIDDEN(time) \
	"l.visibility = 'hidden' AND " time " >= COALESCE(l.hidden_since, l.created_at)"
#define WAS_CLOSED(time) "g.closed_at IS NOT NULL AND " time " >= g.closed_at"
#define RANK_NOW(from, condition) \
	COMMAND("UPDATE leaderboards l " from "JOIN submissions s ON s.leaderboard_id = l.id " \
			"JOIN jobs j ON j.submission_id = s.id SET j.ranked_at = UTC_TIMESTAMP(3) " \
			"WHERE l.id = ? AND s.mode = 'ranked' AND NOT s.dry_run AND j.state = 'done' " \
			"AND " condition)
#define FORGET_RECORDS(condition) \
	COMMAND("DELETE r FROM leaderboards l JOIN records r ON r.leaderboard_id = l.id " \
			"WHERE l.id = ? AND " condition)
static const struct statement RANK_SHOWN =
	RANK_NOW("", WAS_HIDDEN("COALESCE(j.ranked_at, j.finished_at)"));
static const struct statement FORGET_HIDDEN_RECORDS = FORGET_RECORDS(WAS_HIDDEN("r.ranked_at"));
static const struct statement RANK_OPENED =
	RANK_NOW("JOIN leaderboard_gpus g ON g.leaderboard_id = l.id AND g.gpu = ? ",
		WAS_CLOSED("COALESCE(j.ranked_at, j.finished_at)") " AND j.gpu = g.gpu");
/* Asks rankings_settle (lib/ranking/ranking.h) to update the rankings. A closed device has no
 * ranking, so all its results enter the ranking when it opens. */
static const struct statement PUT_DUE =
	COMMAND("UPDATE leaderboards SET ranking_due = TRUE WHERE id = ?");
static const struct statement PUT_DUE_OF_DEVICE =
	COMMAND("UPDATE leaderboards l JOIN leaderboard_gpus g ON g.leaderboard_id = l.id "
			"SET l.ranking_due = TRUE WHERE g.gpu = ? AND l.id = ? AND g.closed_at IS NOT NULL "
			"AND EXISTS (SELECT 1 FROM submissions s JOIN jobs j ON j.submission_id = s.id "
			"WHERE s.leaderboard_id = l.id AND s.mode = 'ranked' AND NOT s.dry_run "
			"AND j.gpu = g.gpu AND j.state = 'done')");
static const struct statement OPEN_DEVICE =
	COMMAND("UPDATE leaderboard_gpus SET closed_at = NULL WHERE gpu = ? AND leaderboard_id = ?");
static const struct statement SEAT_AUTHORS = COMMAND(
	"INSERT IGNORE INTO leaderboard_members (leaderboard_id, user_id) "
	"SELECT DISTINCT s.leaderboard_id, s.user_id FROM submissions s WHERE s.leaderboard_id = ? "
	"AND NOT s.dry_run AND NOT EXISTS "
	"(SELECT 1 FROM leaderboard_removals r WHERE r.leaderboard_id = s.leaderboard_id "
	"AND r.user_id = s.user_id)");

/* Lets results from before the leaderboard became visible enter the records now. */
static int rank_shown(struct database *db, int64_t leaderboard_id, struct error *error)
{
	int rc = database_execute(db, &RANK_SHOWN, error, "i", leaderboard_id);
	bool has_results = !rc && database_affected(db);
	if (has_results)
		rc = database_execute(db, &FORGET_HIDDEN_RECORDS, error, "i", leaderboard_id);
	return has_results && !rc ? database_execute(db, &PUT_DUE, error, "i", leaderboard_id) : rc;
}

int leaderboard_show(
	struct database *db, int64_t leaderboard_id, const char *visibility, struct error *error)
{
	int rc = strcmp(visibility, "hidden") != 0 ? rank_shown(db, leaderboard_id, error) : 0;
	if (!rc)
		rc = database_execute(db, &SHOW, error, "ssi", visibility, visibility, leaderboard_id);
	return !rc && strcmp(visibility, "closed") == 0
		? database_execute(db, &SEAT_AUTHORS, error, "i", leaderboard_id)
		: rc;
}

/* Lets a device take submissions, and its results enter the ranking. */
static int take_submissions(
	struct database *db, int64_t leaderboard_id, const char *gpu, struct error *error)
{
	int rc = database_execute(db, &RANK_OPENED, error, "si", gpu, leaderboard_id);
	if (!rc)
		rc = database_execute(db, &PUT_DUE_OF_DEVICE, error, "si", gpu, leaderboard_id);
	return rc ? rc : database_execute(db, &OPEN_DEVICE, error, "si", gpu, leaderboard_id);
}

struct subject {
	const char *name, *visibility;
	int64_t version_id, version_number;
	int64_t tester_id; /* SQL_NULL_INTEGER: the leaderboard has no creator, the site no admin */
	const char *tester;
	int64_t closed; /* whether a device is closed */
	int64_t waits_for_contest;
};
static const struct column SUBJECT_COLUMNS[] = {
	TEXT(struct subject, name),
	TEXT(struct subject, visibility),
	INTEGER(struct subject, version_id),
	INTEGER(struct subject, version_number),
	INTEGER(struct subject, tester_id),
	TEXT(struct subject, tester),
	INTEGER(struct subject, closed),
	INTEGER(struct subject, waits_for_contest),
};
static const struct statement SUBJECT = SELECT(struct subject, SUBJECT_COLUMNS,
	"SELECT l.name, l.visibility, v.id AS version_id, v.number AS version_number, "
	"u.id AS tester_id, u.name AS tester, EXISTS (SELECT 1 FROM leaderboard_gpus g "
	"WHERE g.leaderboard_id = l.id AND g.closed_at IS NOT NULL) AS closed, " SQL_WAITS_FOR_CONTEST(
		"l") " AS waits_for_contest FROM leaderboards l "
			 "JOIN task_versions v ON v.id = l.task_version_id "
			 "LEFT JOIN users u ON u.id = " SQL_TESTER("l") "WHERE l.id = ? FOR UPDATE");
static const struct statement USE_VERSION =
	COMMAND("UPDATE leaderboards SET task_version_id = ? WHERE id = ?");
static const struct statement PUBLISH_VERSION =
	COMMAND("UPDATE task_versions SET draft = FALSE WHERE id = ?");

/* A check that has finished without passing changes only by another dry run or when a warning
 * disappears. publications_advance therefore waits a minute before it reads such a check again. It
 * waits in the same way while a contest has not started. */
static const struct statement LOOKED =
	COMMAND("UPDATE publications SET looked_at = UTC_TIMESTAMP(3) WHERE leaderboard_id = ?");
static const struct statement LOOKED_AT_DEVICE =
	COMMAND("UPDATE leaderboard_gpus SET looked_at = UTC_TIMESTAMP(3) WHERE leaderboard_id = ? "
			"AND gpu = ?");
static const struct statement LOOK_AT_DEVICES =
	COMMAND("UPDATE leaderboard_gpus SET looked_at = NULL WHERE leaderboard_id = ?");

static bool has_ended_without_success(enum check_state state)
{
	return state == CHECK_FAILED || state == CHECK_WARNS;
}

struct advance {
	struct database *db;
	struct arena *arena;
	int64_t id;
	const struct actor *actor;
	struct subject subject;
	struct publication publication;
	struct check check;
};

static int use_version(struct advance *advance, struct error *error)
{
	struct database *db = advance->db;
	const struct actor *actor = advance->actor;
	const struct subject *subject = &advance->subject;
	const struct publication *publication = &advance->publication;
	if (publication->version_id == subject->version_id)
		return 0;
	int rc = database_execute(db, &USE_VERSION, error, "ii", publication->version_id, advance->id);
	if (!rc)
		rc = database_execute(db, &PUBLISH_VERSION, error, "i", publication->version_id);
	if (!rc) /* closed devices now wait for the check of this version */
		rc = database_execute(db, &LOOK_AT_DEVICES, error, "i", advance->id);
	return rc
		? rc
		: audit(db, actor->id, actor->name, actor->address, "leaderboard.switch", subject->name,
			arena_printf(advance->arena, "task: version %lld, was version %lld",
				(long long)publication->version_number, (long long)subject->version_number),
			error);
}

static int show(struct advance *advance, struct error *error)
{
	const struct actor *actor = advance->actor;
	const struct subject *subject = &advance->subject;
	const struct check *check = &advance->check;
	const char *visibility = advance->publication.visibility,
			   *spite = check->state == CHECK_WARNS ? "; in spite of " : "";
	if (strcmp(subject->visibility, "hidden") != 0)
		return 0;
	int rc = leaderboard_show(advance->db, advance->id, visibility, error);
	return rc
		? rc
		: audit(advance->db, actor->id, actor->name, actor->address, "leaderboard.publish",
			subject->name,
			arena_printf(advance->arena, "visibility: %s, was hidden%s%s", visibility, spite,
				*spite ? plural(advance->arena, (int64_t)check->remarks.count, "warning") : ""),
			error);
}

/* Opens the devices of a hidden leaderboard whose check has passed, including devices that were
 * added during the check. */
static int open_checked(struct advance *advance, struct error *error)
{
	const struct check *check = &advance->check;
	int rc = 0;
	if (strcmp(advance->subject.visibility, "hidden") != 0)
		return 0;
	for (size_t i = 0; i < check->device_count && !rc; i++)
		if (!check->devices[i].is_closed)
			rc = take_submissions(advance->db, advance->id, check->devices[i].gpu, error);
	return rc;
}

static int publish(struct advance *advance, struct error *error)
{
	if (advance->subject.waits_for_contest)
		return database_execute(advance->db, &LOOKED, error, "i", advance->id);
	int rc = use_version(advance, error);
	if (!rc)
		rc = open_checked(advance, error);
	if (!rc)
		rc = show(advance, error);
	return rc ? rc : publication_withdraw(advance->db, advance->id, error);
}

/* Starts a dry run on the devices that have none: on the closed ones if `on_closed`, else on the
 * others. */
static int start_check(
	struct advance *advance, int64_t version_number, bool on_closed, struct error *error)
{
	const struct subject *subject = &advance->subject;
	const struct check *check = &advance->check;
	const struct leaderboard leaderboard = { .id = advance->id, .name = subject->name };
	const struct actor tester = { subject->tester_id, subject->tester, "" };
	const char **gpus = arena_array(advance->arena, const char *, check->device_count + 1);
	size_t count = 0;
	for (size_t i = 0; i < check->device_count; i++)
		if (!check->devices[i].answers && !check->devices[i].is_waived
			&& check->devices[i].is_closed == on_closed)
			gpus[count++] = check->devices[i].gpu;
	if (!count || (!advance->actor->id && !tester.name))
		/* there is neither a creator nor an admin, so nobody can own the submissions yet */
		return 0;
	return dry_run_check(advance->db, advance->arena, &leaderboard, version_number, gpus, count,
		advance->actor->id ? advance->actor : &tester, error);
}

static int advance_publication(struct advance *advance, struct error *error)
{
	struct check *check = &advance->check;
	const struct publication *publication = &advance->publication;
	int rc = check_read(
		advance->db, advance->arena, advance->id, publication->version_number, check, error);
	if (rc)
		return rc;
	if (check->state == CHECK_PASSED
		|| (check->state == CHECK_WARNS && check->dry_run_id == publication->accepted_dry_run_id))
		return publish(advance, error);
	if (has_ended_without_success(check->state) && !check->is_incomplete)
		return database_execute(advance->db, &LOOKED, error, "i", advance->id);
	return start_check(advance, publication->version_number, false, error);
}

/* ---- closed devices ---- */

static int open_device(
	struct advance *advance, const char *gpu, const char *why, struct error *error)
{
	const struct actor *actor = advance->actor;
	int rc = take_submissions(advance->db, advance->id, gpu, error);
	return rc ? rc
			  : audit(advance->db, actor->id, actor->name, actor->address, "leaderboard.publish",
				  advance->subject.name,
				  arena_printf(advance->arena, "%s takes submissions, %s", gpu, why), error);
}

static int advance_devices(struct advance *advance, struct error *error)
{
	const struct subject *subject = &advance->subject;
	struct check *check = &advance->check;
	int rc =
		check_read(advance->db, advance->arena, advance->id, subject->version_number, check, error);
	for (size_t i = 0; i < check->device_count && !rc; i++) {
		const struct check_device *device = &check->devices[i];
		if (device->is_closed && device->state == CHECK_PASSED)
			rc = open_device(advance, device->gpu, "because its check has passed", error);
		else if (device->is_closed && has_ended_without_success(device->state) && device->answers)
			rc = database_execute(
				advance->db, &LOOKED_AT_DEVICE, error, "is", advance->id, device->gpu);
	}
	return rc ? rc : start_check(advance, subject->version_number, true, error);
}

int publication_advance(struct database *db, struct arena *arena, int64_t leaderboard_id,
	const struct actor *actor, struct error *error)
{
	struct advance advance = { .db = db, .arena = arena, .id = leaderboard_id, .actor = actor };
	int rc = database_row(db, arena, &SUBJECT, &advance.subject, error, "i", leaderboard_id);
	if (!rc)
		rc = publication_read(db, arena, leaderboard_id, &advance.publication, error);
	if (!rc)
		rc = advance_publication(&advance, error);
	if (!rc || rc == ERROR_NOT_FOUND) /* a publication may have changed the version in use */
		rc = database_row(db, arena, &SUBJECT, &advance.subject, error, "i", leaderboard_id);
	if (rc)
		return rc == ERROR_NOT_FOUND ? 0 : rc;
	bool has_closed = advance.subject.closed && strcmp(advance.subject.visibility, "hidden") != 0;
	return has_closed ? advance_devices(&advance, error) : 0;
}

/* ---- accepting warnings ---- */

struct acceptance {
	struct arena *arena;
	const struct leaderboard *leaderboard;
	const char *gpu; /* of a closed device; NULL: the publication */
	int64_t dry_run_id;
	const struct actor *actor;
};

static int check_acceptable(const struct acceptance *acceptance, enum check_state state,
	size_t errors, int64_t dry_run_id, struct error *error)
{
	if (state == CHECK_FAILED)
		return fail(error, ERROR_CONFLICT,
			"The check has %s. Only warnings can be accepted: correct the task, or check again.",
			plural(acceptance->arena, (int64_t)errors, "error"));
	if (state != CHECK_WARNS || dry_run_id != acceptance->dry_run_id)
		return fail(error, ERROR_CONFLICT,
			"The check has changed since this page was shown. Look at its result again.");
	return 0;
}

static int accept_body(struct database *db, void *context, struct error *error)
{
	const struct acceptance *acceptance = context;
	const struct leaderboard *leaderboard = acceptance->leaderboard;
	struct arena *arena = acceptance->arena;
	struct subject subject;
	struct publication publication;
	struct check check;
	int rc = database_row(db, arena, &SUBJECT, &subject, error, "i", leaderboard->id);
	if (!rc)
		rc = publication_read(db, arena, leaderboard->id, &publication, error);
	if (rc == ERROR_NOT_FOUND)
		return fail(
			error, ERROR_CONFLICT, "Nothing of %s waits to be published.", leaderboard->name);
	if (!rc)
		rc = check_read(db, arena, leaderboard->id, publication.version_number, &check, error);
	if (rc)
		return rc;
	rc = check_acceptable(
		acceptance, check.state, check.remarks.error_count, check.dry_run_id, error);
	if (!rc)
		rc = database_execute(db, &ACCEPT, error, "ii", check.dry_run_id, leaderboard->id);
	return rc ? rc : publication_advance(db, arena, leaderboard->id, acceptance->actor, error);
}

int publication_accept(struct database *db, struct arena *arena,
	const struct leaderboard *leaderboard, int64_t dry_run_id, const struct actor *actor,
	struct error *error)
{
	struct acceptance acceptance = { arena, leaderboard, NULL, dry_run_id, actor };
	return database_transaction(db, accept_body, &acceptance, error);
}

static const struct check_device *closed_device(const struct check *check, const char *gpu)
{
	for (size_t i = 0; i < check->device_count; i++)
		if (check->devices[i].is_closed && strcmp(check->devices[i].gpu, gpu) == 0)
			return &check->devices[i];
	return NULL;
}

static int accept_device_body(struct database *db, void *context, struct error *error)
{
	const struct acceptance *acceptance = context;
	struct advance advance = { .db = db,
		.arena = acceptance->arena,
		.id = acceptance->leaderboard->id,
		.actor = acceptance->actor };
	struct subject *subject = &advance.subject;
	struct check *check = &advance.check;
	int rc = database_row(db, advance.arena, &SUBJECT, subject, error, "i", advance.id);
	if (!rc)
		rc = check_read(db, advance.arena, advance.id, subject->version_number, check, error);
	if (rc)
		return rc;
	const struct check_device *device = closed_device(check, acceptance->gpu);
	if (!device)
		return fail(error, ERROR_CONFLICT, "%s has no device of this name that waits for a check.",
			acceptance->leaderboard->name);
	rc = check_acceptable(
		acceptance, device->state, device->remarks.error_count, device->dry_run_id, error);
	return rc ? rc
			  : open_device(&advance, device->gpu,
				  arena_printf(advance.arena, "in spite of %s",
					  plural(advance.arena, (int64_t)device->remarks.count, "warning")),
				  error);
}

int publication_accept_device(struct database *db, struct arena *arena,
	const struct leaderboard *leaderboard, const char *gpu, int64_t dry_run_id,
	const struct actor *actor, struct error *error)
{
	struct acceptance acceptance = { arena, leaderboard, gpu, dry_run_id, actor };
	return database_transaction(db, accept_device_body, &acceptance, error);
}

/* ---- by an operator ---- */

struct version {
	int64_t id;
};
static const struct column VERSION_COLUMNS[] = { INTEGER(struct version, id) };
static const struct statement VERSION = SELECT(struct version, VERSION_COLUMNS,
	"SELECT id FROM task_versions WHERE leaderboard_id = ? AND number = ?");

struct order {
	struct arena *arena;
	const struct leaderboard *leaderboard;
	int64_t version;
	bool is_unchecked, is_published;
	const struct actor *actor;
};

static int waive(
	struct database *db, const struct order *order, int64_t version_id, struct error *error)
{
	const struct actor *actor = order->actor;
	const char **gpus;
	size_t count = 0;
	int rc = leaderboard_gpus(db, order->arena, order->leaderboard->id, &gpus, &count, error);
	for (size_t i = 0; i < count && !rc; i++)
		rc = take_submissions(db, order->leaderboard->id, gpus[i], error);
	if (!rc)
		rc = publication_waive(db, version_id, error);
	return rc
		? rc
		: audit(db, actor->id, actor->name, actor->address, "leaderboard.publish",
			order->leaderboard->name,
			arena_printf(order->arena, "version %lld needs no check", (long long)order->version),
			error);
}

static int order_body(struct database *db, void *context, struct error *error)
{
	struct order *order = context;
	int64_t id = order->leaderboard->id;
	struct subject subject;
	struct version version;
	struct publication publication;
	int rc = database_row(db, order->arena, &SUBJECT, &subject, error, "i", id);
	if (!rc)
		rc = database_row(db, order->arena, &VERSION, &version, error, "ii", id, order->version);
	if (rc)
		return rc == ERROR_NOT_FOUND ? fail(error, rc, "The task of %s has no version %lld.",
				   order->leaderboard->name, (long long)order->version)
									 : rc;
	const char *now = subject.visibility;
	bool is_hidden = strcmp(now, "hidden") == 0;
	if (is_hidden || version.id != subject.version_id)
		rc = publication_want(db, id, version.id, is_hidden ? "public" : now, error);
	if (!rc && order->is_unchecked)
		rc = waive(db, order, version.id, error);
	if (!rc)
		rc = publication_advance(db, order->arena, id, order->actor, error);
	if (!rc)
		rc = publication_read(db, order->arena, id, &publication, error);
	order->is_published = rc == ERROR_NOT_FOUND;
	return rc == ERROR_NOT_FOUND ? 0 : rc;
}

int leaderboard_publish(struct database *db, struct arena *arena,
	const struct leaderboard *leaderboard, int64_t version, bool is_unchecked,
	const struct actor *actor, bool *is_published, struct error *error)
{
	struct order order = { arena, leaderboard, version, is_unchecked, false, actor };
	int rc = database_transaction(db, order_body, &order, error);
	*is_published = order.is_published;
	return rc;
}

/* ---- all of them ---- */

struct waiting {
	int64_t leaderboard_id;
};
static const struct column WAITING_COLUMNS[] = { INTEGER(struct waiting, leaderboard_id) };
/* SQL about a device, a row g of leaderboard_gpus. DRY_RUN selects a dry run of the version on it,
 * and RUNS one that has not finished. */
#define DRY_RUN(version) \
	"SELECT 1 FROM dry_runs d JOIN dry_run_entries e ON e.dry_run_id = d.id " \
	"JOIN jobs j ON j.submission_id = e.submission_id WHERE d.task_version_id = " version \
	" AND j.gpu = g.gpu "
#define RUNS(version) DRY_RUN(version) "AND j.state IN ('queued', 'running')"
#define WANTED_HAS_RUN "EXISTS (" DRY_RUN("p.task_version_id") ") "
#define WANTED_RUNS "EXISTS (" RUNS("p.task_version_id") ") "
#define CURRENT_RUNS "EXISTS (" RUNS("l.task_version_id") ") "
#define IS_CLOSED SQL_IS_CLOSED("l", "g") " "
#define DEVICE_IN_USE \
	"SELECT 1 FROM leaderboard_gpus g WHERE g.leaderboard_id = l.id AND NOT " IS_CLOSED
#define IS_DUE(row) "COALESCE(" row ".looked_at < UTC_TIMESTAMP(3) - INTERVAL 60 SECOND, TRUE) "
#define CONTEST_HAS_JUST_STARTED \
	"EXISTS (SELECT 1 FROM contest_problems cp JOIN contests c ON c.id = cp.contest_id " \
	"WHERE cp.leaderboard_id = l.id AND c.starts_at > p.looked_at " \
	"AND c.starts_at <= UTC_TIMESTAMP(3)) "
/* Leaves out publications that only wait for jobs of dry runs. Also leaves out checks that have
 * finished without passing and were read within the last minute. */
static const struct statement WAITING = SELECT(struct waiting, WAITING_COLUMNS,
	"SELECT p.leaderboard_id FROM publications p JOIN leaderboards l ON l.id = p.leaderboard_id "
	"WHERE (" IS_DUE("p") "OR " CONTEST_HAS_JUST_STARTED ") AND (EXISTS (" DEVICE_IN_USE
						  "AND NOT " WANTED_HAS_RUN ") "
						  "OR NOT EXISTS (" DEVICE_IN_USE "AND " WANTED_RUNS ")) "
						  "UNION SELECT g.leaderboard_id FROM leaderboard_gpus g "
						  "JOIN leaderboards l ON l.id = g.leaderboard_id "
						  "WHERE " IS_CLOSED "AND " IS_DUE("g") "AND NOT " CURRENT_RUNS
																"LIMIT 1000");

static const struct column STUCK_COLUMNS[] = {
	TEXT(struct stuck_check, leaderboard),
	INTEGER(struct stuck_check, version_number),
	TEXT(struct stuck_check, gpu),
};
#define IS_MANAGED "(" SQL_IS_CREATOR("l") " OR ?) "
const struct statement stuck_checks_reading = SELECT(struct stuck_check, STUCK_COLUMNS,
	"SELECT l.name AS leaderboard, v.number AS version_number, NULL AS gpu FROM publications p "
	"JOIN leaderboards l ON l.id = p.leaderboard_id "
	"JOIN task_versions v ON v.id = p.task_version_id WHERE " IS_MANAGED
	"AND NOT " SQL_WAITS_FOR_CONTEST(
		"l") " AND EXISTS (" DEVICE_IN_USE ") AND NOT EXISTS (" DEVICE_IN_USE
			 "AND (NOT " WANTED_HAS_RUN "OR " WANTED_RUNS ")) "
			 "UNION ALL SELECT l.name, v.number, g.gpu FROM leaderboard_gpus g "
			 "JOIN leaderboards l ON l.id = g.leaderboard_id "
			 "JOIN task_versions v ON v.id = l.task_version_id WHERE " IS_MANAGED "AND " IS_CLOSED
			 "AND EXISTS (" DRY_RUN("l.task_version_id") ") AND NOT " CURRENT_RUNS "LIMIT 50");

static const struct statement WITHOUT_TESTER = SELECT(struct waiting, WAITING_COLUMNS,
	"SELECT l.id AS leaderboard_id FROM leaderboards l WHERE " SQL_TESTER(
		"l") "IS NULL "
			 "AND (EXISTS (SELECT 1 FROM publications p WHERE p.leaderboard_id = l.id) "
			 "OR EXISTS (SELECT 1 FROM leaderboard_gpus g WHERE g.leaderboard_id = l.id "
			 "AND " IS_CLOSED ")) LIMIT 1");

int publications_lack_admin(struct database *db, bool *lack_admin, struct error *error)
{
	cleanup_arena struct arena *arena = arena_new();
	struct waiting waiting;
	int rc = database_row(db, arena, &WITHOUT_TESTER, &waiting, error, "");
	*lack_admin = !rc;
	return rc == ERROR_NOT_FOUND ? 0 : rc;
}

static int advance_body(struct database *db, void *context, struct error *error)
{
	static const struct actor podium = { 0, "podium-web", "" };
	const struct waiting *waiting = context;
	cleanup_arena struct arena *arena = arena_new();
	return publication_advance(db, arena, waiting->leaderboard_id, &podium, error);
}

int publications_advance(struct database *db, struct error *error)
{
	cleanup_arena struct arena *arena = arena_new();
	struct waiting *waiting;
	size_t count = 0;
	int first = database_rows(db, arena, &WAITING, &waiting, &count, error, "");
	for (size_t i = 0; i < count && database_is_connected(db); i++) {
		struct error one_error = { 0 };
		int rc = database_transaction(db, advance_body, &waiting[i], &one_error);
		if (rc && !first) {
			first = rc;
			*error = one_error;
		}
	}
	return first;
}
