#include "lib/leaderboard/dry_run.h"

#include "lib/account/audit.h"
#include "lib/account/user.h"
#include "lib/base/buffer.h"
#include "lib/base/format.h"
#include "lib/base/scope.h"
#include "lib/database/blob.h"
#include "lib/result/verdict.h"

#include <string.h>

/* Dry runs run after users' submissions; see jobs.priority. */
enum { priority = 1, most_entries = 64 };

struct entry {
	const char *purpose, *file_name, *source;
	size_t length;
	const char *mode;
	const char *expected; /* NULL: any verdict except passed */
	/* the engine in which the entry must run, on GPUs only; NULL: as the files decide */
	const char *engine;
};

static const char EMPTY_FILE[] = "an empty file";
static const char INPUT_RETURNED[] = "the input, returned";
static const char REFERENCE[] = "the reference", REFERENCE_ISOLATED[] = "the reference, isolated";
/* Expected verdict of a file that may do nothing yet, such as a template. */
static const char ANY_VERDICT[] = "any";

/* Trivial answers, which a careless check would accept. LIKE_LAST_TENSOR makes the source of an
 * answer that returns a tensor shaped like the last tensor of the data. The answer raises NO_TENSOR
 * if the data has no tensor. */
#define NO_TENSOR "the data of this task contain no tensor"
#define LIKE_LAST_TENSOR(function) \
	"import torch\n\n\ndef custom_kernel(data):\n" \
	"    parts = data.values() if isinstance(data, dict) else data if isinstance(data, (tuple, " \
	"list)) else [data]\n" \
	"    tensors = [part for part in parts if isinstance(part, torch.Tensor)]\n    if not " \
	"tensors:\n        raise TypeError('" NO_TENSOR "')\n" \
	"    return torch." function "(tensors[-1])\n"
static const struct entry TRIVIAL_PY[] = {
	{ .purpose = EMPTY_FILE, .file_name = "empty.py", .source = "# nothing\n" },
	{ .purpose = INPUT_RETURNED,
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
/* For tasks where users submit only a __global__ function. */
static const struct entry TRIVIAL_KERNEL[] = {
	{ .purpose = EMPTY_FILE, .file_name = "empty.cu", .source = "// nothing\n" },
};

struct version {
	int64_t id;
};
static const struct column VERSION_COLUMNS[] = { INTEGER(struct version, id) };
/* Locks the leaderboard. If two users start a dry run at the same time, the second start waits and
 * then finds the first run. */
static const struct statement VERSION = SELECT(struct version, VERSION_COLUMNS,
	"SELECT v.id FROM leaderboards l JOIN task_versions v ON v.leaderboard_id = l.id "
	"WHERE l.id = ? AND v.number = ? FOR UPDATE");
static const struct statement UNDER_WAY = SELECT(struct version, VERSION_COLUMNS,
	"SELECT d.id FROM dry_runs d JOIN dry_run_entries e ON e.dry_run_id = d.id "
	"JOIN jobs j ON j.submission_id = e.submission_id "
	"WHERE d.task_version_id = ? AND j.state IN ('queued', 'running') LIMIT 1");

struct sample {
	const char *path;
	struct blob_value content;
};
static const struct column SAMPLE_COLUMNS[] = { TEXT(struct sample, path),
	BLOB(struct sample, content) };
/* A task that is a single file has its ref_kernel in reference_code, and beside it a stock
 * reference.py without one (lib/task/single.c). So reference_code comes first. */
static const struct statement REFERENCES = SELECT(struct sample, SAMPLE_COLUMNS,
	"SELECT f.path, b.content FROM task_files f JOIN blobs b ON b.sha256 = f.sha256 "
	"WHERE f.task_version_id = ? AND f.role = 'file' "
	"AND f.path IN ('reference.py', 'reference_code.py', 'reference_code.cuh', "
	"'reference_code.cu', 'reference_code.cpp') ORDER BY f.path = 'reference.py', f.path LIMIT 1");

static const struct statement IS_SEALED = SELECT(struct version, VERSION_COLUMNS,
	"SELECT e.task_version_id AS id FROM task_engines e WHERE e.task_version_id = ? "
	"AND e.gpu = '' AND e.engine = 'sealed'");

static const struct statement INSERT_RUN =
	COMMAND("INSERT INTO dry_runs (task_version_id, started_by, untried) VALUES (?, ?, ?)");
/* The check of the version must be read again when this dry run has ended (publication.c). */
static const struct statement LOOK_AGAIN =
	COMMAND("UPDATE task_versions v LEFT JOIN publications p ON p.task_version_id = v.id "
			"LEFT JOIN leaderboard_gpus g ON g.leaderboard_id = v.leaderboard_id "
			"SET p.looked_at = NULL, g.looked_at = NULL WHERE v.id = ?");
static const struct statement INSERT_SUBMISSION =
	COMMAND("INSERT INTO submissions (leaderboard_id, task_version_id, user_id, file_name, sha256, "
			"mode, practice, dry_run) "
			"VALUES (?, ?, ?, ?, ?, ?, TRUE, TRUE)");
/* The jobs have user_id 0, so that dry runs do not delay the user's own submissions. */
static const struct statement INSERT_JOB =
	COMMAND("INSERT INTO jobs (submission_id, user_id, gpu, priority) VALUES (?, 0, ?, ?)");
static const struct statement INSERT_ENTRY =
	COMMAND("INSERT INTO dry_run_entries (submission_id, dry_run_id, purpose, expected, engine) "
			"VALUES (?, ?, ?, ?, ?)");

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
	TEXT(struct dry_run_row, engine),
	TEXT(struct dry_run_row, engine_reason),
	TEXT(struct dry_run_row, chosen_engine),
	TEXT(struct dry_run_row, files_engine),
	TEXT(struct dry_run_row, version_engine),
	REAL(struct dry_run_row, score_ns),
	REAL(struct dry_run_row, score_err_ns),
};
/* The peak memory of the job's stages, without the stage compile. If only that stage ran, its peak.
 */
#define PEAK(column) \
	"(SELECT COALESCE(MAX(IF(t.name = 'compile', NULL, t." column ")), MAX(t." column \
	")) FROM stages t " \
	"WHERE t.job_id = j.id) AS " column
#define PEAK_HOST PEAK("peak_host_bytes")
#define PEAK_DEVICE PEAK("peak_device_bytes")
#define TAKES_JOBS SQL_TAKES_JOBS("g", "w")
/* The version's last dry run on each device. A dry run on a closed device counts only if it started
 * after the device was closed. A device that was removed is listed until the next dry run. */
#define NEWEST_OF_DEVICES \
	"SELECT MAX(r.id) AS id, k.gpu FROM task_versions v " \
	"JOIN dry_runs r ON r.task_version_id = v.id JOIN dry_run_entries x ON x.dry_run_id = r.id " \
	"JOIN jobs k ON k.submission_id = x.submission_id " \
	"LEFT JOIN leaderboard_gpus b ON b.leaderboard_id = v.leaderboard_id AND b.gpu = k.gpu " \
	"WHERE v.leaderboard_id = ? AND v.number = ? " \
	"AND (b.closed_at IS NULL OR r.started_at >= b.closed_at) GROUP BY k.gpu " \
	"HAVING MAX(b.gpu IS NOT NULL) OR id = (SELECT MAX(m.id) FROM dry_runs m " \
	"WHERE m.task_version_id = MAX(r.task_version_id))"
const struct statement dry_run_reading = SELECT(struct dry_run_row, ROW_COLUMNS,
	"SELECT d.id AS dry_run_id, e.submission_id, d.started_at AS started_at_ms, d.started_by, "
	"e.purpose, e.expected, j.gpu, j.state, j.verdict, j.reason, "
	"TIMESTAMPDIFF(MICROSECOND, j.started_at, j.finished_at) DIV 1000 AS took_ms, " PEAK_HOST
	", " PEAK_DEVICE ", "
	"(SELECT COUNT(*) FROM gpus g JOIN workers w ON w.id = g.worker_id "
	"WHERE g.model = j.gpu AND " TAKES_JOBS ") AS devices, "
	"d.untried, j.engine, j.engine_reason, e.engine AS chosen_engine, "
	"IF(f.engine = 'sealed' AND j.gpu = 'CPU', 'isolated', f.engine) AS files_engine, "
	"COALESCE(own.engine, f.engine) AS version_engine, j.score_ns, j.score_err_ns "
	"FROM (" NEWEST_OF_DEVICES ") n JOIN dry_runs d ON d.id = n.id "
	"JOIN dry_run_entries e ON e.dry_run_id = d.id "
	"JOIN jobs j ON j.submission_id = e.submission_id AND j.gpu = n.gpu "
	"LEFT JOIN task_engines f ON f.task_version_id = d.task_version_id AND f.gpu = '' "
	"LEFT JOIN task_engines own ON own.task_version_id = d.task_version_id AND own.gpu = j.gpu "
	"ORDER BY j.gpu, e.submission_id");

bool dry_run_has_ended(const struct dry_run_row *row)
{
	return strcmp(row->state, "queued") != 0 && strcmp(row->state, "running") != 0;
}

/* Platform failures and cancelled jobs say nothing about the task, so they meet no expectation. */
bool dry_run_is_met(const struct dry_run_row *row)
{
	enum verdict verdict = verdict_from_name(row->verdict);
	if (!dry_run_has_ended(row) || verdict == VERDICT_NONE || verdict == VERDICT_INTERNAL_ERROR
		|| verdict == VERDICT_CANCELLED)
		return false;
	if (row->expected && strcmp(row->expected, ANY_VERDICT) == 0)
		return true;
	return row->expected ? verdict == verdict_from_name(row->expected) : verdict != VERDICT_PASSED;
}

bool dry_run_says_nothing(const struct dry_run_row *row)
{
	if (!dry_run_is_met(row) || row->expected || strcmp(row->purpose, EMPTY_FILE) == 0)
		return false;
	return verdict_from_name(row->verdict) == VERDICT_COMPILE_ERROR
		|| (row->reason && strstr(row->reason, NO_TENSOR));
}

bool dry_run_tries_check(const struct dry_run_row *row)
{
	return dry_run_is_met(row) && verdict_from_name(row->verdict) == VERDICT_WRONG_ANSWER;
}

bool dry_run_is_reference(const struct dry_run_row *row)
{
	return strcmp(row->purpose, REFERENCE) == 0 || strcmp(row->purpose, REFERENCE_ISOLATED) == 0;
}

bool dry_run_fell_back(const struct dry_run_row *row)
{
	return row->engine && row->engine_reason && !row->chosen_engine && row->files_engine
		&& strcmp(row->engine, row->files_engine) != 0;
}

/* A job that ran in a weaker engine but gives no reason ran on an older worker, so it does not
 * count. */
bool dry_run_shows_engine(const struct dry_run_row *row)
{
	bool fell_back = dry_run_fell_back(row);
	if (fell_back && strcmp(row->engine, "custom") == 0)
		return true;
	return row->engine && !row->chosen_engine && row->expected && row->files_engine
		&& (fell_back || strcmp(row->engine, row->files_engine) == 0)
		&& verdict_from_name(row->verdict) == VERDICT_PASSED
		&& (strcmp(row->expected, ANY_VERDICT) == 0
			|| verdict_from_name(row->expected) == VERDICT_PASSED);
}

/* ---- choosing the entries ---- */

struct plan {
	struct arena *arena;
	const struct leaderboard *leaderboard;
	int64_t version_number, version_id, id;
	const struct actor *actor;
	const char *const *gpus;
	size_t gpu_count;
	struct entry entries[most_entries];
	size_t count, left_out;
	bool is_check;  /* started before publishing, not by hand */
	bool is_sealed; /* the files decide the sealed engine, and a device is a GPU */
	struct buffer *untried;
};

static void add_dry_run_entry(struct plan *plan, struct entry entry)
{
	if (!entry.length)
		entry.length = strlen(entry.source);
	if (!entry.mode)
		entry.mode = "test";
	if (plan->count < most_entries)
		plan->entries[plan->count++] = entry;
	else
		plan->left_out++;
}

/* Adds an entry that may pass. For a sealed version the report compares two engines, so the entry
 * also runs in the isolated one. */
static void add_right_entry(struct plan *plan, struct entry entry)
{
	add_dry_run_entry(plan, entry);
	entry.purpose = arena_printf(plan->arena, "%s, isolated", entry.purpose);
	entry.engine = task_engine_name(ENGINE_ISOLATED);
	if (plan->is_sealed)
		add_dry_run_entry(plan, entry);
}

/* Text that reference_as_answer appends to the reference of a task whose answer must fill given
 * memory. The added function copies the reference's result into that memory. */
static const char FILLS_OUTPUT[] =
	"\n\ndef custom_kernel(data):\n"
	"    result = ref_kernel(data)\n"
	"    for part in data if isinstance(data, (tuple, list)) else (data,):\n"
	"        if hasattr(part, \"copy_\") and is_output_of(data, part):\n"
	"            return part.copy_(result)\n"
	"    return result\n";

/* Makes a submission from the reference; NULL: impossible. In Python, the submission is the
 * reference's file with a function custom_kernel added. In CUDA, the submission calls the
 * reference, which works only if both are compiled as one source. */
static const char *reference_as_answer(struct plan *plan, const struct task *task, const char *text)
{
	if (task->language == TASK_PY) {
		bool is_filled = strstr(text, "def is_output_of(");
		return strstr(text, "def ref_kernel(") ? arena_printf(plan->arena, "%s%s", text,
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

/* `path`: the reference's file; NULL: none was found */
static void note_untried_reference(struct plan *plan, const struct task *task, const char *path)
{
	if (task->language == TASK_PY)
		buffer_printf(plan->untried,
			"The reference: %s has no function ref_kernel to submit as an answer. ",
			path ? path : "the task");
	else
		buffer_text(plan->untried,
			"The reference: in CUDA C++ it shares a file with the check, so it cannot be "
			"submitted. ");
	buffer_text(plan->untried,
		has_right_sample(task) ? "The samples that must pass replace it.\n"
							   : "No sample must pass either, so nothing shows that a right answer "
								 "passes. Name one under \"podium: expected:\" in task.yml.\n");
}

static int add_reference(
	struct database *db, struct plan *plan, const struct task *task, struct error *error)
{
	struct sample reference = { 0 };
	const char *answer = NULL;
	int rc = database_row(db, plan->arena, &REFERENCES, &reference, error, "i", plan->version_id);
	if (rc && rc != ERROR_NOT_FOUND)
		return rc;
	if (!rc)
		answer = reference_as_answer(plan, task,
			arena_strndup(plan->arena, reference.content.bytes, reference.content.length));
	struct entry entry = { .purpose = REFERENCE,
		.mode = "ranked",
		.expected = "passed",
		.source = answer,
		.file_name = task->language == TASK_PY ? "reference_as_submission.py"
											   : "reference_as_submission.cu" };
	if (answer)
		add_right_entry(plan, entry);
	else
		note_untried_reference(plan, task, reference.path);
	return 0;
}

static void add_entries(struct plan *plan, const struct entry *entries, size_t count)
{
	for (size_t i = 0; i < count; i++)
		add_dry_run_entry(plan, entries[i]);
}

static void add_trivial_python(struct plan *plan, const struct task *task)
{
	for (size_t i = 0; i < COUNT(TRIVIAL_PY); i++) {
		struct entry entry = TRIVIAL_PY[i];
		if (task->input_is_right && entry.purpose == INPUT_RETURNED)
			entry.expected = "passed";
		add_dry_run_entry(plan, entry);
	}
}

static void add_trivial(struct plan *plan, const struct task *task)
{
	if (task->language == TASK_PY) {
		add_trivial_python(plan, task);
	} else if (task->kernel_signature) {
		add_entries(plan, TRIVIAL_KERNEL, COUNT(TRIVIAL_KERNEL));
		add_dry_run_entry(plan,
			(struct entry){ .purpose = "a kernel that does nothing",
				.file_name = "does_nothing.cu",
				.source = arena_printf(plan->arena, "%s\n{\n}\n", task->kernel_signature) });
	} else {
		add_entries(plan, TRIVIAL_CU, COUNT(TRIVIAL_CU));
	}
	if (task->language == TASK_CU)
		buffer_text(plan->untried,
			"The input returned, zeros and uninitialised memory: in CUDA C++ their form depends on "
			"the task's types. Add them as samples with the verdict wrong answer.\n");
}

static int add_samples(
	struct database *db, struct plan *plan, const struct task *task, struct error *error)
{
	for (size_t i = 0; i < task->expected_count; i++) {
		const struct task_expected *expected = &task->expected[i];
		struct blob_value content;
		int rc = leaderboard_file(
			db, plan->arena, plan->version_id, ROLE_SAMPLE, expected->source, &content, error);
		if (rc)
			return rc;
		const char *slash = strrchr(expected->source, '/');
		(expected->verdict == VERDICT_PASSED ? add_right_entry : add_dry_run_entry)(plan,
			(struct entry){ .purpose = expected->source,
				.file_name = slash ? slash + 1 : expected->source,
				.source = content.bytes,
				.length = content.length,
				.mode = expected->mode,
				.expected = verdict_name(expected->verdict) });
	}
	return 0;
}

/* Participants start from the templates, so a template that works must qualify for the engine. */
static int add_templates(
	struct database *db, struct plan *plan, const struct task *task, struct error *error)
{
	int rc = 0;
	for (size_t i = 0; i < task->template_count && !rc; i++) {
		const char *source = task->templates[i].source, *slash = strrchr(source, '/');
		struct blob_value content;
		rc = leaderboard_file(db, plan->arena, plan->version_id, ROLE_TEMPLATE,
			task->templates[i].language, &content, error);
		if (!rc)
			add_right_entry(plan,
				(struct entry){ .purpose = source,
					.file_name = slash ? slash + 1 : source,
					.source = content.bytes,
					.length = content.length,
					.expected = ANY_VERDICT });
	}
	return rc;
}

static int find_engine(struct database *db, struct plan *plan, struct error *error)
{
	struct version sealed;
	int rc = database_row(db, plan->arena, &IS_SEALED, &sealed, error, "i", plan->version_id);
	plan->is_sealed = false;
	for (size_t i = 0; i < plan->gpu_count && !rc; i++)
		plan->is_sealed |= strcmp(plan->gpus[i], "CPU") != 0;
	return rc == ERROR_NOT_FOUND ? 0 : rc;
}

static int collect_entries(struct database *db, struct plan *plan, struct error *error)
{
	struct task *task;
	plan->count = plan->left_out = 0; /* the transaction may run this function again */
	buffer_clear(plan->untried);
	int rc = leaderboard_task(db, plan->arena, plan->version_id, &task, error);
	if (!rc)
		rc = find_engine(db, plan, error);
	if (!rc)
		rc = add_reference(db, plan, task, error);
	if (rc)
		return rc;
	add_trivial(plan, task);
	if (!task->expected_count)
		buffer_text(plan->untried, "Samples: task.yml names none under \"podium: expected:\".\n");
	rc = plan->is_sealed ? add_templates(db, plan, task, error) : 0;
	if (!rc)
		rc = add_samples(db, plan, task, error);
	if (plan->left_out)
		buffer_printf(plan->untried,
			"The last %zu of %zu samples: a dry run tries %d answers at most.\n", plan->left_out,
			task->expected_count, most_entries);
	return rc;
}

/* ---- storing ---- */

static int store_entry(
	struct database *db, const struct plan *plan, const struct entry *entry, struct error *error)
{
	unsigned char hash[sha256_bytes];
	int64_t user_id = plan->actor->id, leaderboard_id = plan->leaderboard->id;
	int rc = blob_put(db, entry->source, entry->length, hash, error);
	if (!rc)
		rc = database_execute(db, &INSERT_SUBMISSION, error, "iiisbs", leaderboard_id,
			plan->version_id, user_id, entry->file_name, hash, sizeof hash, entry->mode);
	int64_t submission_id = (int64_t)database_insert_id(db);
	for (size_t i = 0; i < plan->gpu_count && !rc; i++)
		if (!entry->engine || strcmp(plan->gpus[i], "CPU") != 0)
			rc = database_execute(
				db, &INSERT_JOB, error, "isi", submission_id, plan->gpus[i], (int64_t)priority);
	return rc ? rc
			  : database_execute(db, &INSERT_ENTRY, error, "iisss", submission_id, plan->id,
				  entry->purpose, entry->expected, entry->engine);
}

/* Chooses all devices of the leaderboard for a dry run that is no check. */
static int choose_devices(struct database *db, struct plan *plan, struct error *error)
{
	struct version other;
	const char **gpus;
	if (plan->is_check)
		return 0;
	int rc =
		leaderboard_gpus(db, plan->arena, plan->leaderboard->id, &gpus, &plan->gpu_count, error);
	if (rc)
		return rc;
	plan->gpus = gpus;
	if (!plan->gpu_count)
		return fail(error, ERROR_INPUT, "%s has no device, so nothing can run; choose one first.",
			plan->leaderboard->name);
	rc = database_row(db, plan->arena, &UNDER_WAY, &other, error, "i", plan->version_id);
	if (!rc)
		return fail(error, ERROR_CONFLICT,
			"A dry run of this version is running. Wait until it finishes, or cancel its "
			"submissions.");
	return rc == ERROR_NOT_FOUND ? 0 : rc;
}

static int lock_version(struct database *db, struct plan *plan, struct error *error)
{
	struct version version;
	int rc = database_row(db, plan->arena, &VERSION, &version, error, "ii", plan->leaderboard->id,
		plan->version_number);
	if (rc == ERROR_NOT_FOUND)
		return fail(
			error, rc, "The task of %s has no version with this number.", plan->leaderboard->name);
	if (rc)
		return rc;
	plan->version_id = version.id;
	return choose_devices(db, plan, error);
}

static int start_body(struct database *db, void *context, struct error *error)
{
	struct plan *plan = context;
	const struct actor *actor = plan->actor;
	int rc = lock_version(db, plan, error);
	if (!rc)
		rc = collect_entries(db, plan, error);
	if (!rc)
		rc = database_execute(db, &INSERT_RUN, error, "iss", plan->version_id, actor->name,
			buffer_string(plan->untried));
	plan->id = (int64_t)database_insert_id(db);
	if (!rc)
		rc = database_execute(db, &LOOK_AGAIN, error, "i", plan->version_id);
	for (size_t i = 0; i < plan->count && !rc; i++)
		rc = store_entry(db, plan, &plan->entries[i], error);
	return rc || plan->is_check
		? rc
		: audit(db, actor->id, actor->name, actor->address, "leaderboard.dryrun",
			plan->leaderboard->name,
			arena_printf(plan->arena, "version %lld: %s", (long long)plan->version_number,
				plural(plan->arena, (int64_t)plan->count, "submission")),
			error);
}

static int start(struct database *db, struct arena *arena, const struct leaderboard *leaderboard,
	int64_t version_number, const char *const *gpus, size_t gpu_count, bool is_check,
	const struct actor *actor, struct error *error)
{
	cleanup_buffer struct buffer untried = { 0 };
	struct plan *plan = arena_alloc(arena, sizeof *plan);
	*plan = (struct plan){ .arena = arena,
		.leaderboard = leaderboard,
		.version_number = version_number,
		.gpus = gpus,
		.gpu_count = gpu_count,
		.is_check = is_check,
		.actor = actor,
		.untried = &untried };
	return database_transaction(db, start_body, plan, error);
}

int dry_run_start(struct database *db, struct arena *arena, const struct leaderboard *leaderboard,
	int64_t version_number, const struct actor *actor, struct error *error)
{
	return start(db, arena, leaderboard, version_number, NULL, 0, false, actor, error);
}

int dry_run_check(struct database *db, struct arena *arena, const struct leaderboard *leaderboard,
	int64_t version_number, const char *const *gpus, size_t gpu_count, const struct actor *actor,
	struct error *error)
{
	return start(db, arena, leaderboard, version_number, gpus, gpu_count, true, actor, error);
}
