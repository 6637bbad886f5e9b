#include "lib/leaderboard/check.h"

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
