#include "lib/dry_run.h"

#include "lib/blob.h"
#include "lib/scope.h"
#include "lib/user.h"

#include <string.h>

/* Behind what people have submitted, see jobs.priority. */
enum { priority = 1, most_entries = 64 };

struct entry {
	const char *purpose, *file_name, *source;
	size_t length;
	const char *mode;
	const char *expected;   /* NULL: any but passed */
};

/* What a careless check lets pass. */
static const struct entry TRIVIAL_PY[] = {
	{ .purpose = "an empty file", .file_name = "empty.py", .source = "# nothing\n" },
	{ .purpose = "the input, returned", .file_name = "input.py", .source = "def custom_kernel(data):\n    return data\n" },
	{ .purpose = "zeros", .file_name = "zeros.py", .source =
		"import torch\n\n\ndef custom_kernel(data):\n    tensors = [one for one in (data if isinstance(data, (tuple, list)) else [data]) "
		"if isinstance(one, torch.Tensor)]\n    return torch.zeros_like(tensors[-1])\n" },
	{ .purpose = "uninitialised memory", .file_name = "uninitialised.py", .source =
		"import torch\n\n\ndef custom_kernel(data):\n    tensors = [one for one in (data if isinstance(data, (tuple, list)) else [data]) "
		"if isinstance(one, torch.Tensor)]\n    return torch.empty_like(tensors[-1])\n" },
};
static const struct entry TRIVIAL_CU[] = {
	{ .purpose = "an empty file", .file_name = "empty.cu", .source = "// nothing\n" },
};

struct version { int64_t id; };
static const struct column VERSION_COLUMNS[] = { INTEGER(struct version, id) };
/* Locks the leaderboard, so that of two who start at once the second finds the first one's. */
static const struct statement VERSION = SELECT(struct version, VERSION_COLUMNS,
	"SELECT v.id FROM leaderboards l JOIN task_versions v ON v.leaderboard_id = l.id WHERE l.id = ? AND v.number = ? FOR UPDATE");
static const struct statement UNDER_WAY = SELECT(struct version, VERSION_COLUMNS,
	"SELECT d.id FROM dry_runs d JOIN dry_run_entries e ON e.dry_run_id = d.id JOIN jobs j ON j.submission_id = e.submission_id "
	"WHERE d.task_version_id = ? AND j.state IN ('queued', 'running') LIMIT 1");

struct sample { const char *path; struct blob_value content; };
static const struct column SAMPLE_COLUMNS[] = { TEXT(struct sample, path), BLOB(struct sample, content) };
static const struct statement REFERENCES = SELECT(struct sample, SAMPLE_COLUMNS,
	"SELECT f.path, b.content FROM task_files f JOIN blobs b ON b.sha256 = f.sha256 "
	"WHERE f.task_version_id = ? AND f.role = 'file' AND f.path IN ('reference.py', 'reference_code.py') ORDER BY f.path LIMIT 1");

static const struct statement INSERT_RUN = COMMAND("INSERT INTO dry_runs (task_version_id, started_by) VALUES (?, ?)");
static const struct statement INSERT_SUBMISSION = COMMAND(
	"INSERT INTO submissions (leaderboard_id, task_version_id, user_id, file_name, sha256, mode, practice) VALUES (?, ?, ?, ?, ?, ?, TRUE)");
static const struct statement INSERT_JOBS = COMMAND(
	"INSERT INTO jobs (submission_id, user_id, gpu, priority) SELECT ?, ?, gpu, ? FROM leaderboard_gpus WHERE leaderboard_id = ? ORDER BY position");
static const struct statement INSERT_ENTRY = COMMAND(
	"INSERT INTO dry_run_entries (submission_id, dry_run_id, purpose, expected) VALUES (?, ?, ?, ?)");

static const struct column ROW_COLUMNS[] = {
	INTEGER(struct dry_run_row, dry_run_id), INTEGER(struct dry_run_row, submission_id), TIME(struct dry_run_row, started_at_ms),
	TEXT(struct dry_run_row, started_by), TEXT(struct dry_run_row, purpose), TEXT(struct dry_run_row, expected),
	TEXT(struct dry_run_row, gpu), TEXT(struct dry_run_row, state), TEXT(struct dry_run_row, verdict), TEXT(struct dry_run_row, reason),
	INTEGER(struct dry_run_row, took_ms),
};
static const struct statement ROWS = SELECT(struct dry_run_row, ROW_COLUMNS,
	"SELECT d.id AS dry_run_id, e.submission_id, d.started_at AS started_at_ms, d.started_by, e.purpose, e.expected, j.gpu, j.state, "
	"  j.verdict, j.reason, TIMESTAMPDIFF(MICROSECOND, j.started_at, j.finished_at) DIV 1000 AS took_ms "
	"FROM (SELECT r.id, r.started_at, r.started_by FROM dry_runs r JOIN task_versions v ON v.id = r.task_version_id "
	"  WHERE v.leaderboard_id = ? AND v.number = ? ORDER BY r.id DESC LIMIT 1) d "
	"JOIN dry_run_entries e ON e.dry_run_id = d.id JOIN jobs j ON j.submission_id = e.submission_id ORDER BY j.gpu, e.submission_id");

bool dry_run_has_ended(const struct dry_run_row *row)
{
	return strcmp(row->state, "queued") != 0 && strcmp(row->state, "running") != 0;
}

/* What the platform broke or somebody cancelled says nothing about the task. */
bool dry_run_is_met(const struct dry_run_row *row)
{
	enum verdict verdict = verdict_from_name(row->verdict);
	if (!dry_run_has_ended(row) || verdict == VERDICT_NONE || verdict == VERDICT_INTERNAL_ERROR || verdict == VERDICT_CANCELLED)
		return false;
	return row->expected ? verdict == verdict_from_name(row->expected) : verdict != VERDICT_PASSED;
}

/* ---- what is tried ---- */

struct starting {
	struct arena *arena;
	const struct leaderboard *leaderboard;
	int64_t version_number, version_id, id;
	const struct actor *actor;
	struct entry entries[most_entries];
	size_t count;
};

static void add(struct starting *starting, struct entry entry)
{
	if (!entry.length)
		entry.length = strlen(entry.source);
	if (!entry.mode)
		entry.mode = "test";
	if (starting->count < most_entries)
		starting->entries[starting->count++] = entry;
}

/* A Python task whose reference has a `ref_kernel`, as those of the field do: the same file with that as its answer. */
static int add_reference(struct database *db, struct starting *starting, struct error *error)
{
	struct sample reference;
	int rc = database_row(db, starting->arena, &REFERENCES, &reference, error, "i", starting->version_id);
	if (rc)
		return rc == ERROR_NOT_FOUND ? 0 : rc;
	const char *text = arena_strndup(starting->arena, reference.content.bytes, reference.content.length);
	if (strstr(text, "def ref_kernel("))
		add(starting, (struct entry){ .purpose = "the reference", .file_name = "reference_as_submission.py", .mode = "ranked",
			.expected = "passed", .source = arena_printf(starting->arena, "%s\n\ncustom_kernel = ref_kernel\n", text) });
	return 0;
}

static int add_samples(struct database *db, struct starting *starting, const struct task *task, struct error *error)
{
	for (size_t i = 0; i < task->expected_count; i++) {
		const struct task_expected *expected = &task->expected[i];
		struct blob_value content;
		int rc = leaderboard_file(db, starting->arena, starting->version_id, ROLE_SAMPLE, expected->source, &content, error);
		if (rc)
			return rc;
		const char *slash = strrchr(expected->source, '/');
		add(starting, (struct entry){ .purpose = expected->source, .file_name = slash ? slash + 1 : expected->source,
			.source = content.bytes, .length = content.length, .mode = expected->mode, .expected = verdict_name(expected->verdict) });
	}
	return 0;
}

static int collect(struct database *db, struct starting *starting, struct error *error)
{
	struct task *task;
	starting->count = 0; /* of an earlier try */
	int rc = leaderboard_task(db, starting->arena, starting->version_id, &task, error);
	if (!rc && task->language == TASK_PY)
		rc = add_reference(db, starting, error);
	if (rc)
		return rc;
	for (size_t i = 0; task->language == TASK_PY && i < COUNT(TRIVIAL_PY); i++)
		add(starting, TRIVIAL_PY[i]);
	for (size_t i = 0; task->language == TASK_CU && i < COUNT(TRIVIAL_CU); i++)
		add(starting, TRIVIAL_CU[i]);
	return add_samples(db, starting, task, error);
}

/* ---- storing ---- */

static int store_entry(struct database *db, const struct starting *starting, const struct entry *entry, struct error *error)
{
	unsigned char hash[sha256_bytes];
	int64_t user_id = starting->actor->id, board_id = starting->leaderboard->id;
	int rc = blob_put(db, entry->source, entry->length, hash, error);
	if (!rc)
		rc = database_execute(db, &INSERT_SUBMISSION, error, "iiisbs", board_id, starting->version_id, user_id, entry->file_name,
			hash, sizeof hash, entry->mode);
	int64_t submission_id = (int64_t)database_insert_id(db);
	if (!rc)
		rc = database_execute(db, &INSERT_JOBS, error, "iiii", submission_id, user_id, (int64_t)priority, board_id);
	if (!rc && !database_affected(db))
		return fail(error, ERROR_INPUT, "%s has no device, so nothing can run; choose one first.", starting->leaderboard->name);
	return rc ? rc : database_execute(db, &INSERT_ENTRY, error, "iiss", submission_id, starting->id, entry->purpose, entry->expected);
}

static int lock_version(struct database *db, struct starting *starting, struct error *error)
{
	struct version version, other;
	int rc = database_row(db, starting->arena, &VERSION, &version, error, "ii", starting->leaderboard->id, starting->version_number);
	if (rc == ERROR_NOT_FOUND)
		return fail(error, rc, "The task of %s has no version with this number.", starting->leaderboard->name);
	if (rc)
		return rc;
	starting->version_id = version.id;
	rc = database_row(db, starting->arena, &UNDER_WAY, &other, error, "i", version.id);
	if (!rc)
		return fail(error, ERROR_CONFLICT, "A dry run of this version is under way; wait until it has ended, or cancel its submissions.");
	return rc == ERROR_NOT_FOUND ? 0 : rc;
}

static int start(struct database *db, void *context, struct error *error)
{
	struct starting *starting = context;
	const struct actor *actor = starting->actor;
	int rc = lock_version(db, starting, error);
	if (!rc)
		rc = collect(db, starting, error);
	if (!rc)
		rc = database_execute(db, &INSERT_RUN, error, "is", starting->version_id, actor->name);
	starting->id = (int64_t)database_insert_id(db);
	for (size_t i = 0; i < starting->count && !rc; i++)
		rc = store_entry(db, starting, &starting->entries[i], error);
	return rc ? rc : audit(db, actor->id, actor->name, actor->address, "leaderboard.dryrun", starting->leaderboard->name,
		arena_printf(starting->arena, "version %lld: %zu submissions", (long long)starting->version_number, starting->count), error);
}

int dry_run_start(struct database *db, struct arena *arena, const struct leaderboard *leaderboard, int64_t version_number,
	const struct actor *actor, struct error *error)
{
	struct starting *starting = arena_alloc(arena, sizeof *starting);
	*starting = (struct starting){ .arena = arena, .leaderboard = leaderboard, .version_number = version_number, .actor = actor };
	return database_transaction(db, start, starting, error);
}

int dry_run_read(struct database *db, struct arena *arena, int64_t leaderboard_id, int64_t version_number,
	struct dry_run_row **rows, size_t *count, struct error *error)
{
	return database_rows(db, arena, &ROWS, rows, count, error, "ii", leaderboard_id, version_number);
}
