#include "lib/leaderboard/publication.h"

#include "lib/account/audit.h"
#include "lib/base/buffer.h"
#include "lib/base/format.h"
#include "lib/base/scope.h"
#include "lib/base/text.h"
#include "lib/leaderboard/dry_run.h"

#include <string.h>

const char *check_state_name(enum check_state state)
{
	static const char *const names[] = {
		[CHECK_WAITS] = "waiting",
		[CHECK_RUNS] = "running",
		[CHECK_FAILED] = "failed",
		[CHECK_WARNS] = "warned",
		[CHECK_PASSED] = "passed",
	};
	return names[state];
}

/* ---- the check of a version ---- */

struct version {
	int64_t id, check_waived;
};
static const struct column VERSION_COLUMNS[] = {
	INTEGER(struct version, id),
	INTEGER(struct version, check_waived),
};
static const struct statement VERSION = SELECT(struct version, VERSION_COLUMNS,
	"SELECT id, check_waived FROM task_versions WHERE leaderboard_id = ? AND number = ?");

enum { most_remarks = 400 };

struct checking {
	struct arena *arena;
	const struct dry_run_row *rows;
	size_t count;
	struct check_remark *remarks;
	struct check *check;
};

static void remark(struct checking *checking, struct check_remark remark)
{
	struct check *check = checking->check;
	if (check->remark_count == most_remarks)
		return;
	checking->remarks[check->remark_count++] = remark;
	check->error_count += remark.is_error;
}

static void warn(struct checking *checking, const char *field, const char *sentence)
{
	remark(checking, (struct check_remark){ .sentence = sentence, .field = field });
}

static void remark_answer(struct checking *checking, const struct dry_run_row *row)
{
	const char *expected = row->expected ? row->expected : "any verdict except passed";
	const char *sentence =
		arena_printf(checking->arena, "On %s, %s got the verdict %s, expected was %s.%s%s",
			row->gpu, row->purpose, row->verdict ? row->verdict : row->state, expected,
			row->reason ? " " : "", row->reason ? row->reason : "");
	remark(checking,
		(struct check_remark){
			.sentence = sentence, .submission_id = row->submission_id, .is_error = true });
}

/* Looks at the answers of one device. */
static void check_answers(struct checking *checking, struct check_device *device)
{
	bool right_passes = false, wrong_fails = false;
	for (size_t i = 0; i < checking->count; i++) {
		const struct dry_run_row *row = &checking->rows[i];
		if (strcmp(row->gpu, device->gpu) != 0)
			continue;
		bool wants_pass = row->expected && strcmp(row->expected, "passed") == 0;
		device->answers++;
		device->ended += dry_run_has_ended(row);
		device->has_worker = row->devices > 0;
		device->engine = row->version_engine;
		if (dry_run_has_ended(row) && !dry_run_is_met(row))
			remark_answer(checking, row);
		right_passes |= wants_pass;
		wrong_fails |= dry_run_tries_check(row);
	}
	if (device->ended < device->answers)
		return;
	if (!right_passes)
		warn(checking, NULL,
			arena_printf(checking->arena,
				"On %s, nothing shows that a right answer passes: Podium cannot submit the "
				"reference, and no sample under podium: expected: must pass.",
				device->gpu));
	if (!wrong_fails)
		warn(checking, NULL,
			arena_printf(checking->arena,
				"On %s, no wrong answer reached the task's check, so nothing shows that it refuses "
				"one. Add a wrong sample under podium: expected: in task.yml.",
				device->gpu));
}

static const char *template_fault(const struct task *task)
{
	static const char *const endings[][5] = {
		[TASK_PY] = { ".py", NULL }, [TASK_CU] = { ".cu", ".cuh", ".cpp", NULL }
	};
	for (size_t i = 0; i < task->template_count; i++)
		for (size_t j = 0; endings[task->language][j]; j++)
			if (text_ends_with(task->templates[i].source, endings[task->language][j]))
				return NULL;
	return task->language == TASK_CU
		? "The task has no template in CUDA C++, so participants begin with an empty file. Name "
		  "one under templates: in task.yml."
		: "The task has no template in Python, so participants begin with an empty file. Name one "
		  "under templates: in task.yml.";
}

static enum check_state state_of(const struct check *check)
{
	bool is_open = false, has_workers = true;
	for (size_t i = 0; i < check->device_count; i++)
		if (check->devices[i].ended < check->devices[i].answers) {
			is_open = true;
			has_workers = has_workers && check->devices[i].has_worker;
		}
	return is_open                ? has_workers ? CHECK_RUNS : CHECK_WAITS
		: check->error_count      ? CHECK_FAILED
		: check->is_incomplete    ? CHECK_WAITS
		: check->remark_count > 0 ? CHECK_WARNS
								  : CHECK_PASSED;
}

static void check_devices(struct checking *checking, const char **gpus, size_t count)
{
	struct check *check = checking->check;
	struct check_device *devices = arena_array(checking->arena, struct check_device, count + 1);
	check->devices = devices, check->device_count = count;
	check->dry_run_id = checking->count ? checking->rows->dry_run_id : 0;
	for (size_t i = 0; i < count; i++) {
		devices[i] = (struct check_device){ .gpu = gpus[i] };
		check_answers(checking, &devices[i]);
		check->is_incomplete |= !devices[i].answers;
	}
	for (size_t i = 0; i < checking->count; i++) /* also on devices that were removed meanwhile */
		check->is_incomplete &= dry_run_has_ended(&checking->rows[i]);
	if (!count)
		remark(checking,
			(struct check_remark){
				.sentence = "The leaderboard has no device. Choose one on the page Edit.",
				.is_error = true });
}

/* ---- warnings that need no dry run ---- */

struct named_gpu {
	const char *gpu;
	int64_t is_known; /* a worker offers it, or has run a job on it */
};
static const struct column GPU_COLUMNS[] = {
	TEXT(struct named_gpu, gpu),
	INTEGER(struct named_gpu, is_known),
};
static const struct statement GPUS = SELECT(struct named_gpu, GPU_COLUMNS,
	"SELECT g.gpu, EXISTS (SELECT 1 FROM gpus o WHERE o.model = g.gpu) "
	"OR EXISTS (SELECT 1 FROM jobs j WHERE j.gpu = g.gpu AND j.state = 'done') AS is_known "
	"FROM leaderboard_gpus g WHERE g.leaderboard_id = ? ORDER BY g.position, g.gpu");

struct reference {
	struct blob_value content;
};
static const struct column REFERENCE_COLUMNS[] = { BLOB(struct reference, content) };
static const struct statement REFERENCE = SELECT(struct reference, REFERENCE_COLUMNS,
	"SELECT b.content FROM task_files f JOIN blobs b ON b.sha256 = f.sha256 "
	"WHERE f.task_version_id = ? AND f.role = 'file' "
	"AND f.path IN ('reference.py', 'reference_code.py') LIMIT 1");

enum { ANSWER_TASK, ANSWER_GPUS, ANSWER_REFERENCE };
static const struct statement *const FORM_PARTS[] = {
	[ANSWER_TASK] = &task_reading,
	[ANSWER_GPUS] = &GPUS,
	[ANSWER_REFERENCE] = &REFERENCE,
};
static const struct bundle FORM = BUNDLE(FORM_PARTS);

/* Whether the text of a reference looks as if it needed a GPU. The dry run decides. */
static bool mentions_cuda(struct arena *arena, const struct blob_value *content)
{
	static const char *const words[] = { "device=\"cuda\"", "device='cuda'", ".cuda(",
		"torch.cuda." };
	const char *text = arena_strndup(arena, content->bytes, content->length);
	for (size_t i = 0; i < COUNT(words); i++)
		if (strstr(text, words[i]))
			return true;
	return false;
}

static void warn_of_gpus(struct checking *checking, const struct database_answer *answers)
{
	const struct named_gpu *gpus = answers[ANSWER_GPUS].rows;
	const struct reference *reference = answers[ANSWER_REFERENCE].rows;
	bool needs_cuda =
		answers[ANSWER_REFERENCE].count && mentions_cuda(checking->arena, &reference->content);
	for (size_t i = 0; i < answers[ANSWER_GPUS].count; i++)
		if (needs_cuda && strcmp(gpus[i].gpu, "CPU") == 0)
			warn(checking, "gpu",
				"The reference seems to need CUDA, which the device CPU does not have.");
		else if (!gpus[i].is_known)
			warn(checking, "gpu",
				arena_printf(checking->arena,
					"No worker has ever offered %s. Is the name right? Jobs for it wait until a "
					"worker offers it.",
					gpus[i].gpu));
}

static int read_form(struct database *db, int64_t leaderboard_id, int64_t version_id,
	struct checking *checking, const char ***gpus, size_t *gpu_count, struct error *error)
{
	struct database_answer answers[COUNT(FORM_PARTS)];
	struct task *task;
	int rc = database_answers(
		db, checking->arena, &FORM, answers, error, "iii", version_id, leaderboard_id, version_id);
	if (!rc)
		rc = task_read(checking->arena, &answers[ANSWER_TASK], &task, error);
	if (rc)
		return rc;
	if (template_fault(task))
		warn(checking, "task", template_fault(task));
	warn_of_gpus(checking, answers);
	const struct named_gpu *rows = answers[ANSWER_GPUS].rows;
	*gpu_count = answers[ANSWER_GPUS].count;
	*gpus = arena_array(checking->arena, const char *, *gpu_count + 1);
	for (size_t i = 0; i < *gpu_count; i++)
		(*gpus)[i] = rows[i].gpu;
	return 0;
}

int check_read_form(struct database *db, struct arena *arena, int64_t leaderboard_id,
	int64_t version_id, const struct check_remark **remarks, size_t *count, struct error *error)
{
	struct check check = { 0 };
	struct checking checking = { .arena = arena,
		.check = &check,
		.remarks = arena_array(arena, struct check_remark, most_remarks) };
	const char **gpus;
	size_t gpu_count;
	int rc = read_form(db, leaderboard_id, version_id, &checking, &gpus, &gpu_count, error);
	*remarks = checking.remarks, *count = check.remark_count;
	return rc;
}

int check_read(struct database *db, struct arena *arena, int64_t leaderboard_id,
	int64_t version_number, struct check *check, struct error *error)
{
	struct dry_run_row *rows;
	struct version version;
	const char **gpus;
	size_t gpu_count;
	struct checking checking = { .arena = arena,
		.check = check,
		.remarks = arena_array(arena, struct check_remark, most_remarks) };
	*check = (struct check){ .remarks = checking.remarks };
	int rc =
		database_row(db, arena, &VERSION, &version, error, "ii", leaderboard_id, version_number);
	if (!rc)
		rc = dry_run_read(db, arena, leaderboard_id, version_number, &rows, &checking.count, error);
	checking.rows = rows;
	if (!rc)
		rc = read_form(db, leaderboard_id, version.id, &checking, &gpus, &gpu_count, error);
	if (rc)
		return rc;
	check_devices(&checking, gpus, gpu_count);
	check->is_waived = version.check_waived;
	check->state = check->is_waived ? CHECK_PASSED : state_of(check);
	return 0;
}

/* ---- publications ---- */

static const struct column PUBLICATION_COLUMNS[] = {
	INTEGER(struct publication, version_id),
	INTEGER(struct publication, version_number),
	TEXT(struct publication, visibility),
	TIME(struct publication, wanted_at_ms),
	INTEGER(struct publication, accepted_dry_run_id),
};
static const struct statement PUBLICATION = SELECT(struct publication, PUBLICATION_COLUMNS,
	"SELECT v.id AS version_id, v.number AS version_number, p.visibility, "
	"p.wanted_at AS wanted_at_ms, p.accepted_dry_run_id FROM publications p "
	"JOIN task_versions v ON v.id = p.task_version_id WHERE p.leaderboard_id = ?");
static const struct statement WANT =
	COMMAND("REPLACE INTO publications (leaderboard_id, task_version_id, visibility) "
			"VALUES (?, ?, ?)");
static const struct statement WANT_VERSION =
	COMMAND("UPDATE publications SET task_version_id = ? WHERE leaderboard_id = ?");
static const struct statement WITHDRAW =
	COMMAND("DELETE FROM publications WHERE leaderboard_id = ?");
static const struct statement WAIVE =
	COMMAND("UPDATE task_versions SET check_waived = TRUE WHERE id = ?");
static const struct statement ACCEPT =
	COMMAND("UPDATE publications SET accepted_dry_run_id = ? WHERE leaderboard_id = ?");

int publication_read(struct database *db, struct arena *arena, int64_t leaderboard_id,
	struct publication *publication, struct error *error)
{
	return database_row(db, arena, &PUBLICATION, publication, error, "i", leaderboard_id);
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
	return database_execute(db, &WAIVE, error, "i", version_id);
}

/* ---- publishing ---- */

static const struct statement SHOW =
	COMMAND("UPDATE leaderboards SET visibility = ?, updated_at = UTC_TIMESTAMP(3) WHERE id = ?");
static const struct statement SEAT_AUTHORS = COMMAND(
	"INSERT IGNORE INTO leaderboard_members (leaderboard_id, user_id) "
	"SELECT DISTINCT s.leaderboard_id, s.user_id FROM submissions s WHERE s.leaderboard_id = ? "
	"AND NOT s.dry_run AND NOT EXISTS "
	"(SELECT 1 FROM leaderboard_removals r WHERE r.leaderboard_id = s.leaderboard_id "
	"AND r.user_id = s.user_id)");

int leaderboard_show(
	struct database *db, int64_t leaderboard_id, const char *visibility, struct error *error)
{
	int rc = database_execute(db, &SHOW, error, "si", visibility, leaderboard_id);
	return !rc && strcmp(visibility, "closed") == 0
		? database_execute(db, &SEAT_AUTHORS, error, "i", leaderboard_id)
		: rc;
}

struct subject {
	const char *name, *visibility;
	int64_t version_id, version_number;
	int64_t tester_id; /* SQL_NULL_INTEGER: the leaderboard has no creator, the site no admin */
	const char *tester;
};
static const struct column SUBJECT_COLUMNS[] = {
	TEXT(struct subject, name),
	TEXT(struct subject, visibility),
	INTEGER(struct subject, version_id),
	INTEGER(struct subject, version_number),
	INTEGER(struct subject, tester_id),
	TEXT(struct subject, tester),
};
static const struct statement SUBJECT = SELECT(struct subject, SUBJECT_COLUMNS,
	"SELECT l.name, l.visibility, v.id AS version_id, v.number AS version_number, "
	"u.id AS tester_id, u.name AS tester FROM leaderboards l "
	"JOIN task_versions v ON v.id = l.task_version_id "
	"LEFT JOIN users u ON u.id = COALESCE((SELECT c.id FROM users c WHERE c.id = l.creator_id "
	"AND c.deleted_at IS NULL), (SELECT MIN(a.id) FROM users a WHERE a.role = 'admin')) "
	"WHERE l.id = ? FOR UPDATE");
static const struct statement USE_VERSION =
	COMMAND("UPDATE leaderboards SET task_version_id = ? WHERE id = ?");
static const struct statement PUBLISH_VERSION =
	COMMAND("UPDATE task_versions SET draft = FALSE WHERE id = ?");

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
				*spite ? plural(advance->arena, (int64_t)check->remark_count, "warning") : ""),
			error);
}

static int publish(struct advance *advance, struct error *error)
{
	int rc = use_version(advance, error);
	if (!rc)
		rc = show(advance, error);
	return rc ? rc : publication_withdraw(advance->db, advance->id, error);
}

static int start_check(struct advance *advance, struct error *error)
{
	const struct subject *subject = &advance->subject;
	const struct leaderboard leaderboard = { .id = advance->id, .name = subject->name };
	const struct actor tester = { subject->tester_id, subject->tester, "" };
	if (!advance->actor->id && !tester.name)
		return 0; /* nobody may own the submissions yet */
	return dry_run_check(advance->db, advance->arena, &leaderboard,
		advance->publication.version_number, advance->actor->id ? advance->actor : &tester, error);
}

int publication_advance(struct database *db, struct arena *arena, int64_t leaderboard_id,
	const struct actor *actor, struct error *error)
{
	struct advance advance = { .db = db, .arena = arena, .id = leaderboard_id, .actor = actor };
	struct check *check = &advance.check;
	int rc = database_row(db, arena, &SUBJECT, &advance.subject, error, "i", leaderboard_id);
	if (!rc)
		rc = publication_read(db, arena, leaderboard_id, &advance.publication, error);
	if (rc)
		return rc == ERROR_NOT_FOUND ? 0 : rc;
	rc = check_read(db, arena, leaderboard_id, advance.publication.version_number, check, error);
	if (rc)
		return rc;
	if (check->state == CHECK_PASSED
		|| (check->state == CHECK_WARNS
			&& check->dry_run_id == advance.publication.accepted_dry_run_id))
		return publish(&advance, error);
	return check->is_incomplete && check->device_count ? start_check(&advance, error) : 0;
}

/* ---- accepting warnings ---- */

struct acceptance {
	struct arena *arena;
	const struct leaderboard *leaderboard;
	int64_t dry_run_id;
	const struct actor *actor;
};

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
	if (check.state == CHECK_FAILED)
		return fail(error, ERROR_CONFLICT,
			"The check has %s. Only warnings can be accepted: correct the task, or check again.",
			plural(arena, (int64_t)check.error_count, "error"));
	if (check.state != CHECK_WARNS || check.dry_run_id != acceptance->dry_run_id)
		return fail(error, ERROR_CONFLICT,
			"The check has changed since this page was shown. Look at its result again.");
	rc = database_execute(db, &ACCEPT, error, "ii", check.dry_run_id, leaderboard->id);
	return rc ? rc : publication_advance(db, arena, leaderboard->id, acceptance->actor, error);
}

int publication_accept(struct database *db, struct arena *arena,
	const struct leaderboard *leaderboard, int64_t dry_run_id, const struct actor *actor,
	struct error *error)
{
	struct acceptance acceptance = { arena, leaderboard, dry_run_id, actor };
	return database_transaction(db, accept_body, &acceptance, error);
}

/* ---- by an operator ---- */

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
	int rc = publication_waive(db, version_id, error);
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
	rc = publication_want(
		db, id, version.id, strcmp(subject.visibility, "closed") == 0 ? "closed" : "public", error);
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
static const struct statement WAITING = SELECT(struct waiting, WAITING_COLUMNS,
	"SELECT p.leaderboard_id FROM publications p WHERE NOT EXISTS (SELECT 1 FROM dry_runs d "
	"JOIN dry_run_entries e ON e.dry_run_id = d.id JOIN jobs j ON j.submission_id = "
	"e.submission_id "
	"WHERE d.task_version_id = p.task_version_id AND j.state IN ('queued', 'running')) LIMIT 1000");

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
