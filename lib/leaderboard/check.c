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
	int64_t id, is_waived, is_hidden, is_current;
};
static const struct column VERSION_COLUMNS[] = {
	INTEGER(struct version, id),
	INTEGER(struct version, is_waived),
	INTEGER(struct version, is_hidden),
	INTEGER(struct version, is_current),
};
const struct statement check_version_reading = SELECT(struct version, VERSION_COLUMNS,
	"SELECT v.id, EXISTS (SELECT 1 FROM check_waivers w WHERE w.task_version_id = v.id "
	"AND w.gpu = '') AS is_waived, l.visibility = 'hidden' AS is_hidden, "
	"v.id = l.task_version_id AS is_current FROM leaderboards l "
	"JOIN task_versions v ON v.leaderboard_id = l.id WHERE l.id = ? AND v.number = ?");

enum { most_remarks = 400 };

struct checking {
	struct arena *arena;
	const struct dry_run_row *rows;
	size_t count;
	struct check *check;
};

static struct check_remarks remarks_make(struct arena *arena)
{
	return (struct check_remarks){ .list = arena_array(arena, struct check_remark, most_remarks) };
}

static void remark(struct check_remarks *remarks, struct check_remark remark)
{
	if (remarks->count == most_remarks)
		return;
	remarks->list[remarks->count++] = remark;
	remarks->error_count += remark.is_error;
}

static void warn(struct check_remarks *remarks, const char *field, const char *sentence)
{
	remark(remarks, (struct check_remark){ .sentence = sentence, .field = field });
}

static void remark_answer(
	struct checking *checking, struct check_remarks *remarks, const struct dry_run_row *row)
{
	const char *expected = row->expected ? row->expected : "any verdict except passed";
	const char *sentence =
		arena_printf(checking->arena, "On %s, %s got the verdict %s, expected was %s.%s%s",
			row->gpu, row->purpose, row->verdict ? row->verdict : row->state, expected,
			row->reason ? " " : "", row->reason ? row->reason : "");
	remark(remarks,
		(struct check_remark){
			.sentence = sentence, .submission_id = row->submission_id, .is_error = true });
}

/* Counts the jobs of one device's dry run. A waiver does not cover a dry run that started after it.
 */
static void count_answers(
	const struct checking *checking, struct check_device *device, int64_t waived_at_ms)
{
	device->is_waived = waived_at_ms != TIME_NULL;
	for (size_t i = 0; i < checking->count; i++) {
		const struct dry_run_row *row = &checking->rows[i];
		if (strcmp(row->gpu, device->gpu) != 0)
			continue;
		device->answers++;
		device->ended += dry_run_has_ended(row);
		device->engine = row->version_engine;
		device->dry_run_id = row->dry_run_id;
		device->is_waived &= row->started_at_ms <= waived_at_ms;
	}
}

/* Says what is wrong with the answers of one device. */
static void check_answers(
	struct checking *checking, const struct check_device *device, struct check_remarks *remarks)
{
	bool right_passes = false, wrong_fails = false;
	for (size_t i = 0; i < checking->count; i++) {
		const struct dry_run_row *row = &checking->rows[i];
		if (strcmp(row->gpu, device->gpu) != 0)
			continue;
		bool wants_pass = row->expected && strcmp(row->expected, "passed") == 0;
		if (dry_run_has_ended(row) && !dry_run_is_met(row))
			remark_answer(checking, remarks, row);
		right_passes |= wants_pass;
		wrong_fails |= dry_run_tries_check(row);
	}
	if (!device->answers || device->ended < device->answers)
		return;
	if (!right_passes)
		warn(remarks, NULL,
			arena_printf(checking->arena,
				"On %s, nothing shows that a right answer passes: Podium cannot submit the "
				"reference, and no sample under \"podium: expected:\" must pass.",
				device->gpu));
	if (!wrong_fails)
		warn(remarks, NULL,
			arena_printf(checking->arena,
				"On %s, no wrong answer reached the task's check, so nothing shows that it refuses "
				"one. Add a wrong sample under \"podium: expected:\" in task.yml.",
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

static enum check_state state_of(const struct check_remarks *remarks, bool is_incomplete)
{
	return remarks->error_count ? CHECK_FAILED
		: is_incomplete         ? CHECK_WAITS
		: remarks->count > 0    ? CHECK_WARNS
								: CHECK_PASSED;
}

static bool is_open(const struct check_device *device)
{
	return !device->is_waived && device->ended < device->answers;
}

static enum check_state device_state(const struct check_device *device)
{
	return is_open(device) ? device->has_worker ? CHECK_RUNS : CHECK_WAITS
						   : state_of(&device->remarks, !device->answers);
}

static enum check_state check_state(const struct check *check)
{
	bool runs = false, waits = false;
	for (size_t i = 0; i < check->device_count; i++)
		if (!check->devices[i].is_closed && is_open(&check->devices[i]))
			*(check->devices[i].has_worker ? &runs : &waits) = true;
	return waits ? CHECK_WAITS
		: runs   ? CHECK_RUNS
				 : state_of(&check->remarks, check->is_incomplete);
}

static void check_devices(struct checking *checking, bool is_waived)
{
	struct check *check = checking->check;
	for (size_t i = 0; i < check->device_count; i++) {
		struct check_device *device = &check->devices[i];
		if (device->is_waived)
			continue;
		check_answers(checking, device, device->is_closed ? &device->remarks : &check->remarks);
		if (device->is_closed) {
			device->state = device_state(device);
			check->closed_count++;
			continue;
		}
		check->is_incomplete |= !device->answers;
		if (check->dry_run_id < device->dry_run_id)
			check->dry_run_id = device->dry_run_id;
	}
	if (!check->device_count && !is_waived)
		remark(&check->remarks,
			(struct check_remark){
				.sentence = "The leaderboard has no device. Choose one on the page Edit.",
				.is_error = true });
}

/* ---- warnings that need no dry run ---- */

struct named_gpu {
	const char *gpu;
	int64_t is_known; /* a worker offers it, or has run a job on it */
	int64_t is_closed;
	int64_t has_worker;   /* a worker takes jobs for it now */
	int64_t waived_at_ms; /* TIME_NULL: never, or before the device was closed */
};
static const struct column GPU_COLUMNS[] = {
	TEXT(struct named_gpu, gpu),
	INTEGER(struct named_gpu, is_known),
	INTEGER(struct named_gpu, is_closed),
	INTEGER(struct named_gpu, has_worker),
	TIME(struct named_gpu, waived_at_ms),
};
#define IS_SERVED SQL_IS_SERVED("g.gpu")
const struct statement check_gpus_reading = SELECT(struct named_gpu, GPU_COLUMNS,
	"SELECT g.gpu, EXISTS (SELECT 1 FROM gpus o WHERE o.model = g.gpu) "
	"OR EXISTS (SELECT 1 FROM jobs j WHERE j.gpu = g.gpu AND j.state = 'done') AS is_known, "
	"g.closed_at IS NOT NULL AS is_closed, " IS_SERVED
	" AS has_worker, w.waived_at AS waived_at_ms "
	"FROM leaderboard_gpus g JOIN task_versions v ON v.leaderboard_id = g.leaderboard_id "
	"LEFT JOIN check_waivers w ON w.task_version_id = v.id AND w.gpu = g.gpu "
	"AND (g.closed_at IS NULL OR w.waived_at >= g.closed_at) "
	"WHERE g.leaderboard_id = ? AND v.number = ? ORDER BY g.position, g.gpu");

struct reference {
	struct blob_value content;
};
static const struct column REFERENCE_COLUMNS[] = { BLOB(struct reference, content) };
const struct statement check_reference_reading = SELECT(struct reference, REFERENCE_COLUMNS,
	"SELECT b.content FROM task_versions v JOIN task_files f ON f.task_version_id = v.id "
	"JOIN blobs b ON b.sha256 = f.sha256 "
	"WHERE v.leaderboard_id = ? AND v.number = ? AND f.role = 'file' "
	"AND f.path IN ('reference.py', 'reference_code.py') LIMIT 1");

enum { ANSWER_TASK, ANSWER_GPUS, ANSWER_REFERENCE };
static const struct statement *const FORM_PARTS[] = {
	[ANSWER_TASK] = &task_of_number_reading,
	[ANSWER_GPUS] = &check_gpus_reading,
	[ANSWER_REFERENCE] = &check_reference_reading,
};
static const struct bundle FORM = BUNDLE(FORM_PARTS);

/* Whether the text of a reference looks as if it needed a GPU. This is only a guess for a warning;
 * the dry run shows the truth. */
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

static const char *gpu_fault(struct arena *arena, const struct named_gpu *gpu, bool needs_cuda)
{
	if (needs_cuda && strcmp(gpu->gpu, "CPU") == 0)
		return "The reference seems to need CUDA, which the device CPU does not have.";
	return gpu->is_known ? NULL
						 : arena_printf(arena,
							 "No worker has ever offered %s. Is the name right? Jobs for it wait "
							 "until a worker offers it.",
							 gpu->gpu);
}

/* The warnings that the leaderboard's form shows. `faults` has one element for each device; NULL:
 * no fault. */
struct form {
	const struct named_gpu *gpus;
	const char **faults;
	size_t gpu_count;
	const char *template_fault; /* NULL: none */
};

static int form_of_answers(struct arena *arena, const struct check_answers *answers,
	struct form *form, struct error *error)
{
	struct task *task;
	int rc = task_read(arena, answers->task, &task, error);
	if (rc)
		return rc;
	const struct reference *reference = answers->reference->rows;
	bool needs_cuda = answers->reference->count && mentions_cuda(arena, &reference->content);
	form->gpus = answers->gpus->rows;
	form->gpu_count = answers->gpus->count;
	form->faults = arena_array(arena, const char *, form->gpu_count + 1);
	for (size_t i = 0; i < form->gpu_count; i++)
		form->faults[i] = gpu_fault(arena, &form->gpus[i], needs_cuda);
	form->template_fault = template_fault(task);
	return 0;
}

int check_read_form(struct database *db, struct arena *arena, int64_t leaderboard_id,
	int64_t version_number, struct check_remarks *remarks, struct error *error)
{
	struct form form;
	struct database_answer answers[COUNT(FORM_PARTS)];
	const struct check_answers of_form = { .task = &answers[ANSWER_TASK],
		.gpus = &answers[ANSWER_GPUS],
		.reference = &answers[ANSWER_REFERENCE] };
	*remarks = remarks_make(arena);
	int rc = database_answers(db, arena, &FORM, answers, error, "iiiiii", leaderboard_id,
		version_number, leaderboard_id, version_number, leaderboard_id, version_number);
	if (!rc)
		rc = form_of_answers(arena, &of_form, &form, error);
	if (rc)
		return rc;
	if (form.template_fault)
		warn(remarks, "task", form.template_fault);
	for (size_t i = 0; i < form.gpu_count; i++)
		if (form.faults[i])
			warn(remarks, "gpu", form.faults[i]);
	return 0;
}

struct known_gpu {
	int64_t is_known;
};
static const struct column KNOWN_COLUMNS[] = { INTEGER(struct known_gpu, is_known) };
static const struct statement KNOWN = SELECT(struct known_gpu, KNOWN_COLUMNS,
	"SELECT EXISTS (SELECT 1 FROM gpus o WHERE o.model = ?) "
	"OR EXISTS (SELECT 1 FROM jobs j WHERE j.gpu = ? AND j.state = 'done') AS is_known");

static bool new_task_needs_cuda(
	struct arena *arena, const struct task_content *contents, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct blob_value content = { contents[i].bytes, contents[i].length };
		if (contents[i].role == ROLE_FILE
			&& (strcmp(contents[i].path, "reference.py") == 0
				|| strcmp(contents[i].path, "reference_code.py") == 0))
			return mentions_cuda(arena, &content);
	}
	return false;
}

int check_read_new(struct database *db, struct arena *arena, const struct task *task,
	const struct fileset *upload, const struct fileset *stock, const char *const *gpus,
	size_t count, struct check_remarks *remarks, struct error *error)
{
	struct task_content *contents;
	size_t content_count;
	*remarks = remarks_make(arena);
	if (template_fault(task))
		warn(remarks, "task", template_fault(task));
	int rc = task_contents(arena, task, upload, stock, &contents, &content_count, error);
	bool needs_cuda = !rc && new_task_needs_cuda(arena, contents, content_count);
	for (size_t i = 0; i < count && !rc; i++) {
		struct known_gpu known;
		rc = database_row(db, arena, &KNOWN, &known, error, "ss", gpus[i], gpus[i]);
		const struct named_gpu gpu = { .gpu = gpus[i], .is_known = !rc && known.is_known };
		const char *fault = rc ? NULL : gpu_fault(arena, &gpu, needs_cuda);
		if (fault)
			warn(remarks, "gpu", fault);
	}
	return rc;
}

/* Whether closed devices are checked separately, so that they do not hold up the version. They are
 * not in two cases: the version is not in use and no device is open, or the leaderboard is hidden
 * and the version was not waived. The version must then pass on closed devices, too. */
static bool checks_devices_alone(const struct form *form, const struct version *version)
{
	bool has_open = false;
	for (size_t i = 0; i < form->gpu_count; i++)
		has_open |= !form->gpus[i].is_closed;
	return (!version->is_hidden || version->is_waived) && (version->is_current || has_open);
}

static void take_form(
	struct checking *checking, const struct form *form, const struct version *version)
{
	struct check *check = checking->check;
	check->device_count = form->gpu_count;
	check->devices = arena_array(checking->arena, struct check_device, form->gpu_count + 1);
	if (form->template_fault && !version->is_waived)
		warn(&check->remarks, "task", form->template_fault);
	for (size_t i = 0; i < form->gpu_count; i++) {
		struct check_device *device = &check->devices[i];
		*device = (struct check_device){ .gpu = form->gpus[i].gpu,
			.has_worker = form->gpus[i].has_worker,
			.is_closed = form->gpus[i].is_closed && checks_devices_alone(form, version) };
		if (device->is_closed)
			device->remarks = remarks_make(checking->arena);
		count_answers(checking, device, form->gpus[i].waived_at_ms);
		if (form->faults[i] && !device->is_waived)
			warn(device->is_closed ? &device->remarks : &check->remarks, "gpu", form->faults[i]);
	}
}

int check_of_answers(struct arena *arena, const struct check_answers *answers, struct check *check,
	struct error *error)
{
	struct form form;
	struct checking checking = {
		.arena = arena, .rows = answers->rows->rows, .count = answers->rows->count, .check = check
	};
	const struct version *version = answers->version->rows;
	*check = (struct check){ .remarks = remarks_make(arena) };
	int rc = form_of_answers(arena, answers, &form, error);
	if (rc)
		return rc;
	take_form(&checking, &form, version);
	check_devices(&checking, version->is_waived);
	check->state = check_state(check);
	return 0;
}

enum { CHECK_ROWS, CHECK_VERSION, CHECK_TASK, CHECK_GPUS, CHECK_REFERENCE };
static const struct statement *const CHECK_PARTS[] = {
	[CHECK_ROWS] = &dry_run_reading,
	[CHECK_VERSION] = &check_version_reading,
	[CHECK_TASK] = &task_of_number_reading,
	[CHECK_GPUS] = &check_gpus_reading,
	[CHECK_REFERENCE] = &check_reference_reading,
};
static const struct bundle CHECK = BUNDLE(CHECK_PARTS);

int check_read(struct database *db, struct arena *arena, int64_t leaderboard_id,
	int64_t version_number, struct check *check, struct error *error)
{
	struct database_answer answers[COUNT(CHECK_PARTS)];
	const struct check_answers of_check = { &answers[CHECK_ROWS], &answers[CHECK_VERSION],
		&answers[CHECK_TASK], &answers[CHECK_GPUS], &answers[CHECK_REFERENCE] };
	int rc = database_answers(db, arena, &CHECK, answers, error, "iiiiiiiiii", leaderboard_id,
		version_number, leaderboard_id, version_number, leaderboard_id, version_number,
		leaderboard_id, version_number, leaderboard_id, version_number);
	return rc ? rc : check_of_answers(arena, &of_check, check, error);
}
