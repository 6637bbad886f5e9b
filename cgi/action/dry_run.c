#include "lib/dry_run.h"

#include "lib/blob.h"
#include "lib/buffer.h"
#include "lib/plural.h"
#include "lib/scope.h"
#include "lib/user.h"
#include "lib/wait.h"

#include <string.h>

/* Behind what people have submitted, see jobs.priority. */
enum { priority = 1, most_entries = 64 };

struct entry {
	const char *purpose, *file_name, *source;
	size_t length;
	const char *mode;
	const char *expected; /* NULL: any but passed */
};

static const char EMPTY_FILE[] = "an empty file";

/* What a careless check lets pass. An answer in the shape of the last tensor needs one; it says so
 * where there is none. */
#define NO_TENSOR "the data of this task have no tensor"
#define LIKE_LAST_TENSOR(function) \
	"import torch\n\n\ndef custom_kernel(data):\n" \
	"    parts = data.values() if isinstance(data, dict) else data if isinstance(data, (tuple, " \
	"list)) else [data]\n" \
	"    tensors = [part for part in parts if isinstance(part, torch.Tensor)]\n    if not " \
	"tensors:\n        raise TypeError('" NO_TENSOR "')\n" \
	"    return torch." function "(tensors[-1])\n"
static const struct entry TRIVIAL_PY[] = {
	{ .purpose = EMPTY_FILE, .file_name = "empty.py", .source = "# nothing\n" },
	{ .purpose = "the input, returned",
		.file_name = "input.py",
		.source = "def custom_kernel(data):\n    return data\n" },
	{ .purpose = "zeros", .file_name = "zeros.py", .source = LIKE_LAST_TENSOR("zeros_like") },
	{ .purpose = "uninitialised memory",
		.file_name = "uninitialised.py",
		.source = LIKE_LAST_TENSOR("empty_like") },
};
static const struct entry TRIVIAL_CU[] = {
	{ .purpose = EMPTY_FILE, .file_name = "empty.cu", .source = "// nothing\n" },
	{ .purpose = "an output without content",
		.file_name = "no_content.cu",
		.source = "#include \"task.h\"\n\noutput_t custom_kernel(input_t)\n{\n\treturn "
	              "output_t{};\n}\n" },
};
/* Where a __global__ function alone is submitted. */
static const struct entry TRIVIAL_KERNEL[] = {
	{ .purpose = EMPTY_FILE, .file_name = "empty.cu", .source = "// nothing\n" },
};

struct version {
	int64_t id;
};
static const struct column VERSION_COLUMNS[] = { INTEGER(struct version, id) };
/* Locks the leaderboard, so that of two who start at once the second finds the first one's. */
static const struct statement VERSION = SELECT(struct version, VERSION_COLUMNS,
	"SELECT v.id FROM leaderboards l JOIN task_versions v ON v.leaderboard_id = l.id WHERE l.id = "
    "? AND v.number = ? FOR UPDATE");
static const struct statement UNDER_WAY = SELECT(struct version, VERSION_COLUMNS,
	"SELECT d.id FROM dry_runs d JOIN dry_run_entries e ON e.dry_run_id = d.id JOIN jobs j ON "
    "j.submission_id = e.submission_id "
	"WHERE d.task_version_id = ? AND j.state IN ('queued', 'running') LIMIT 1");

struct sample {
	const char *path;
	struct blob_value content;
};
static const struct column SAMPLE_COLUMNS[] = { TEXT(struct sample, path),
	BLOB(struct sample, content) };
static const struct statement REFERENCES = SELECT(struct sample, SAMPLE_COLUMNS,
	"SELECT f.path, b.content FROM task_files f JOIN blobs b ON b.sha256 = f.sha256 "
	"WHERE f.task_version_id = ? AND f.role = 'file' "
	"AND f.path IN ('reference.py', 'reference_code.py', 'reference_code.cuh', "
    "'reference_code.cu', 'reference_code.cpp') ORDER BY f.path LIMIT 1");

static const struct statement INSERT_RUN =
	COMMAND("INSERT INTO dry_runs (task_version_id, started_by, untried) VALUES (?, ?, ?)");
static const struct statement INSERT_SUBMISSION =
	COMMAND("INSERT INTO submissions (leaderboard_id, task_version_id, user_id, file_name, sha256, "
            "mode, practice, dry_run) "
			"VALUES (?, ?, ?, ?, ?, ?, TRUE, TRUE)");
/* Nobody's, so that whoever has started it waits no longer for his own. */
static const struct statement INSERT_JOBS =
	COMMAND("INSERT INTO jobs (submission_id, user_id, gpu, priority) SELECT ?, 0, gpu, ? FROM "
            "leaderboard_gpus WHERE leaderboard_id = ? ORDER BY position");
static const struct statement INSERT_ENTRY =
	COMMAND("INSERT INTO dry_run_entries (submission_id, dry_run_id, purpose, expected) VALUES (?, "
            "?, ?, ?)");

static const struct column ROW_COLUMNS[] = {
	INTEGER(struct dry_run_row, dry_run_id),
	INTEGER(struct dry_run_row, submission_id),
	TIME(struct dry_run_row, started_at_ms),
	TEXT(struct dry_run_row, started_by),
	TEXT(struct dry_run_row, purpose),
	TEXT(struct dry_run_row, expected),
	TEXT(struct dry_run_row, gpu),
	TEXT(struct dry_run_row, state),
	TEXT(struct dry_run_row, verdict),
	TEXT(struct dry_run_row, reason),
	INTEGER(struct dry_run_row, took_ms),
	INTEGER(struct dry_run_row, peak_host_bytes),
	INTEGER(struct dry_run_row, peak_device_bytes),
	INTEGER(struct dry_run_row, devices),
	TEXT(struct dry_run_row, untried),
};
/* What the answer took, not its compiler; but what was never run has only that. */
#define PEAK(column) \
	"(SELECT COALESCE(MAX(IF(t.name = 'compile', NULL, t." column ")), MAX(t." column \
	")) FROM stages t " \
	"WHERE t.job_id = j.id) AS " column
static const struct statement ROWS = SELECT(struct dry_run_row, ROW_COLUMNS,
	"SELECT d.id AS dry_run_id, e.submission_id, d.started_at AS started_at_ms, d.started_by, "
    "e.purpose, e.expected, j.gpu, j.state, "
	"  j.verdict, j.reason, TIMESTAMPDIFF(MICROSECOND, j.started_at, j.finished_at) DIV 1000 AS "
    "took_ms, "
	"  " PEAK("peak_host_bytes") ", " PEAK(
		"peak_device_bytes") ", "
							 "  (SELECT COUNT(*) FROM gpus g JOIN workers w ON w.id = g.worker_id "
                             "WHERE g.model = j.gpu AND " SQL_TAKES_JOBS(
								 "g", "w") ") AS devices, d.untried "
										   "FROM (SELECT r.id, r.started_at, r.started_by, "
                                           "r.untried FROM dry_runs r JOIN task_versions v ON v.id "
                                           "= r.task_version_id "
										   "  WHERE v.leaderboard_id = ? AND v.number = ? ORDER BY "
                                           "r.id DESC LIMIT 1) d "
										   "JOIN dry_run_entries e ON e.dry_run_id = d.id JOIN "
                                           "jobs j ON j.submission_id = e.submission_id ORDER BY "
                                           "j.gpu, e.submission_id");

bool dry_run_has_ended(const struct dry_run_row *row)
{
	return strcmp(row->state, "queued") != 0 && strcmp(row->state, "running") != 0;
}

/* What the platform broke or somebody cancelled says nothing about the task. */
bool dry_run_is_met(const struct dry_run_row *row)
{
	enum verdict verdict = verdict_from_name(row->verdict);
	if (!dry_run_has_ended(row) || verdict == VERDICT_NONE || verdict == VERDICT_INTERNAL_ERROR
		|| verdict == VERDICT_CANCELLED)
		return false;
	return row->expected ? verdict == verdict_from_name(row->expected) : verdict != VERDICT_PASSED;
}

bool dry_run_says_nothing(const struct dry_run_row *row)
{
	if (!dry_run_is_met(row) || row->expected || strcmp(row->purpose, EMPTY_FILE) == 0)
		return false;
	return verdict_from_name(row->verdict) == VERDICT_COMPILE_ERROR
		|| (row->reason && strstr(row->reason, NO_TENSOR));
}

/* ---- what is tried ---- */

struct starting {
	struct arena *arena;
	const struct leaderboard *leaderboard;
	int64_t version_number, version_id, id;
	const struct actor *actor;
	struct entry entries[most_entries];
	size_t count, left_out;
	struct buffer *untried;
};

static void add(struct starting *starting, struct entry entry)
{
	if (!entry.length)
		entry.length = strlen(entry.source);
	if (!entry.mode)
		entry.mode = "test";
	if (starting->count < most_entries)
		starting->entries[starting->count++] = entry;
	else
		starting->left_out++;
}

/* Where an answer must lie in memory that it was given, the reference's result is copied there. */
static const char FILLS_OUTPUT[] =
	"\n\ndef custom_kernel(data):\n"
	"    result = ref_kernel(data)\n"
	"    for part in data if isinstance(data, (tuple, list)) else (data,):\n"
	"        if hasattr(part, \"copy_\") and is_output_of(data, part):\n"
	"            return part.copy_(result)\n"
	"    return result\n";

/* How a reference is an answer as well: the same file, where Python may name it once more, or a
 * call of it, where both are compiled as one source. */
static const char *reference_as_answer(
	struct starting *starting, const struct task *task, const char *text)
{
	if (task->language == TASK_PY) {
		bool is_filled = strstr(text, "def is_output_of(");
		return strstr(text, "def ref_kernel(") ? arena_printf(starting->arena, "%s%s", text,
				   is_filled ? FILLS_OUTPUT : "\n\ncustom_kernel = ref_kernel\n")
											   : NULL;
	}
	bool is_one_source = task->source_count == 1 && strcmp(task->sources[0], "single_main.cu") == 0;
	return is_one_source && strstr(text, "ref_kernel(")
		? "output_t custom_kernel(input_t data)\n{\n\treturn ref_kernel(data);\n}\n"
		: NULL;
}

static bool has_right_sample(const struct task *task)
{
	for (size_t i = 0; i < task->expected_count; i++)
		if (task->expected[i].verdict == VERDICT_PASSED)
			return true;
	return false;
}

static void tell_reference_is_untried(struct starting *starting, const struct task *task)
{
	buffer_text(starting->untried,
		task->language == TASK_PY ? "The reference: reference.py has no function ref_kernel that "
	                                "could be handed in as an answer. "
								  : "The reference: the reference of a task in CUDA C++ stands "
	                                "beside the check and is no file that could be handed in. ");
	buffer_text(starting->untried,
		has_right_sample(task) ? "The samples that must pass stand in for it.\n"
							   : "No sample must pass either, so nothing has shown that a right "
	                             "answer passes: name one under podium: expected: in task.yml.\n");
}

static int add_reference(
	struct database *db, struct starting *starting, const struct task *task, struct error *error)
{
	struct sample reference;
	const char *answer = NULL;
	int rc = database_row(
		db, starting->arena, &REFERENCES, &reference, error, "i", starting->version_id);
	if (rc && rc != ERROR_NOT_FOUND)
		return rc;
	if (!rc)
		answer = reference_as_answer(starting, task,
			arena_strndup(starting->arena, reference.content.bytes, reference.content.length));
	if (answer)
		add(starting,
			(struct entry){ .purpose = "the reference",
				.mode = "ranked",
				.expected = "passed",
				.source = answer,
				.file_name = task->language == TASK_PY ? "reference_as_submission.py"
													   : "reference_as_submission.cu" });
	else
		tell_reference_is_untried(starting, task);
	return 0;
}

static void add_all(struct starting *starting, const struct entry *entries, size_t count)
{
	for (size_t i = 0; i < count; i++)
		add(starting, entries[i]);
}

static void add_trivial(struct starting *starting, const struct task *task)
{
	if (task->language == TASK_PY) {
		add_all(starting, TRIVIAL_PY, COUNT(TRIVIAL_PY));
	} else if (task->kernel_signature) {
		add_all(starting, TRIVIAL_KERNEL, COUNT(TRIVIAL_KERNEL));
		add(starting,
			(struct entry){ .purpose = "a kernel that does nothing",
				.file_name = "does_nothing.cu",
				.source = arena_printf(starting->arena, "%s\n{\n}\n", task->kernel_signature) });
	} else {
		add_all(starting, TRIVIAL_CU, COUNT(TRIVIAL_CU));
	}
	if (task->language == TASK_CU)
		buffer_text(starting->untried,
			"The input returned, zeros and uninitialised memory: in CUDA C++ their form depends on "
		    "the task's types. "
			"Bring them as samples with the verdict wrong answer.\n");
}

static int add_samples(
	struct database *db, struct starting *starting, const struct task *task, struct error *error)
{
	for (size_t i = 0; i < task->expected_count; i++) {
		const struct task_expected *expected = &task->expected[i];
		struct blob_value content;
		int rc = leaderboard_file(db, starting->arena, starting->version_id, ROLE_SAMPLE,
			expected->source, &content, error);
		if (rc)
			return rc;
		const char *slash = strrchr(expected->source, '/');
		add(starting,
			(struct entry){ .purpose = expected->source,
				.file_name = slash ? slash + 1 : expected->source,
				.source = content.bytes,
				.length = content.length,
				.mode = expected->mode,
				.expected = verdict_name(expected->verdict) });
	}
	return 0;
}

static int collect(struct database *db, struct starting *starting, struct error *error)
{
	struct task *task;
	starting->count = starting->left_out = 0; /* of an earlier try */
	buffer_clear(starting->untried);
	int rc = leaderboard_task(db, starting->arena, starting->version_id, &task, error);
	if (!rc)
		rc = add_reference(db, starting, task, error);
	if (rc)
		return rc;
	add_trivial(starting, task);
	if (!task->expected_count)
		buffer_text(starting->untried, "Samples: task.yml names none under podium: expected:.\n");
	rc = add_samples(db, starting, task, error);
	if (starting->left_out)
		buffer_printf(starting->untried,
			"The last %zu of %zu samples: a dry run tries %d answers at most.\n",
			starting->left_out, task->expected_count, most_entries);
	return rc;
}

/* ---- storing ---- */

static int store_entry(struct database *db, const struct starting *starting,
	const struct entry *entry, struct error *error)
{
	unsigned char hash[sha256_bytes];
	int64_t user_id = starting->actor->id, board_id = starting->leaderboard->id;
	int rc = blob_put(db, entry->source, entry->length, hash, error);
	if (!rc)
		rc = database_execute(db, &INSERT_SUBMISSION, error, "iiisbs", board_id,
			starting->version_id, user_id, entry->file_name, hash, sizeof hash, entry->mode);
	int64_t submission_id = (int64_t)database_insert_id(db);
	if (!rc)
		rc = database_execute(
			db, &INSERT_JOBS, error, "iii", submission_id, (int64_t)priority, board_id);
	if (!rc && !database_affected(db))
		return fail(error, ERROR_INPUT, "%s has no device, so nothing can run; choose one first.",
			starting->leaderboard->name);
	return rc ? rc
			  : database_execute(db, &INSERT_ENTRY, error, "iiss", submission_id, starting->id,
				  entry->purpose, entry->expected);
}

static int lock_version(struct database *db, struct starting *starting, struct error *error)
{
	struct version version, other;
	int rc = database_row(db, starting->arena, &VERSION, &version, error, "ii",
		starting->leaderboard->id, starting->version_number);
	if (rc == ERROR_NOT_FOUND)
		return fail(error, rc, "The task of %s has no version with this number.",
			starting->leaderboard->name);
	if (rc)
		return rc;
	starting->version_id = version.id;
	rc = database_row(db, starting->arena, &UNDER_WAY, &other, error, "i", version.id);
	if (!rc)
		return fail(error, ERROR_CONFLICT,
			"A dry run of this version is under way; wait until it has ended, or cancel its "
		    "submissions.");
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
		rc = database_execute(db, &INSERT_RUN, error, "iss", starting->version_id, actor->name,
			buffer_string(starting->untried));
	starting->id = (int64_t)database_insert_id(db);
	for (size_t i = 0; i < starting->count && !rc; i++)
		rc = store_entry(db, starting, &starting->entries[i], error);
	return rc
		? rc
		: audit(db, actor->id, actor->name, actor->address, "leaderboard.dryrun",
			starting->leaderboard->name,
			arena_printf(starting->arena, "version %lld: %s", (long long)starting->version_number,
				plural(starting->arena, (int64_t)starting->count, "submission")),
			error);
}

int dry_run_start(struct database *db, struct arena *arena, const struct leaderboard *leaderboard,
	int64_t version_number, const struct actor *actor, struct error *error)
{
	cleanup_buffer struct buffer untried = { 0 };
	struct starting *starting = arena_alloc(arena, sizeof *starting);
	*starting = (struct starting){ .arena = arena,
		.leaderboard = leaderboard,
		.version_number = version_number,
		.actor = actor,
		.untried = &untried };
	return database_transaction(db, start, starting, error);
}

int dry_run_read(struct database *db, struct arena *arena, int64_t leaderboard_id,
	int64_t version_number, struct dry_run_row **rows, size_t *count, struct error *error)
{
	return database_rows(
		db, arena, &ROWS, rows, count, error, "ii", leaderboard_id, version_number);
}
