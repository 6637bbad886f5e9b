#include "lib/task/task.h"

#include "lib/base/markdown_size.h"
#include "lib/base/quote.h"
#include "lib/base/scope.h"
#include "lib/base/text.h"
#include "lib/files/path_rule.h"
#include "lib/task/engine.h"
#include "lib/task/reader.h"

#include <string.h>

enum { sample_most_bytes = 1000000 }; /* the limit for submissions */

const char *task_language_name(enum task_language language)
{
	return language == TASK_CU ? "cu" : "py";
}

const char *task_ranking_by_name(enum task_ranking_by ranking_by)
{
	static const char *const names[] = {
		[RANKING_BY_LAST] = "last", [RANKING_BY_MEAN] = "mean", [RANKING_BY_GEOM] = "geom"
	};
	return (unsigned int)ranking_by < COUNT(names) ? names[ranking_by] : NULL;
}

size_t task_first_ranked(const struct task *task)
{
	return task->ranking_by == RANKING_BY_LAST && task->benchmark_count ? task->benchmark_count - 1
																		: 0;
}

const char *task_engine_name(enum task_engine engine)
{
	static const char *const names[] = {
		[ENGINE_CUSTOM] = "custom",
		[ENGINE_ISOLATED] = "isolated",
		[ENGINE_SEALED] = "sealed",
		[ENGINE_CHOOSE] = "",
	};
	return (unsigned int)engine < COUNT(names) ? names[engine] : NULL;
}

const char *engine_meaning(const char *engine)
{
	static const struct {
		const char *engine, *meaning;
	} meanings[] = {
		{ "sealed",
			"The engine “sealed” counts the work of the device: a launcher replays what the "
			"submission launched, without the submission’s CPU code." },
		{ "isolated",
			"The engine “isolated” counts the call with its CPU code: the clock, the inputs "
			"and the check are in a process apart from the submission." },
		{ "custom",
			"With the engine “custom”, the task’s own harness runs beside the submission and "
			"takes the time." },
	};
	for (size_t i = 0; i < COUNT(meanings); i++)
		if (strcmp(meanings[i].engine, engine) == 0)
			return meanings[i].meaning;
	return "";
}

enum task_engine task_engine_from_name(const char *name)
{
	enum task_engine engine = ENGINE_CUSTOM;
	while (engine < ENGINE_CHOOSE && strcmp(task_engine_name(engine), name) != 0)
		engine++;
	return engine;
}

const char *task_file_role_name(enum task_file_role role)
{
	static const char *const names[] = {
		[ROLE_FILE] = "file",
		[ROLE_TEMPLATE] = "template",
		[ROLE_SAMPLE] = "sample",
		[ROLE_DEFINITION] = "definition",
		[ROLE_BASELINE] = "baseline",
	};
	return (unsigned int)role < COUNT(names) ? names[role] : NULL;
}

/* Finds task.yml at the top, or else the only one in a subfolder: tasks that share files are
 * uploaded with the folder above. Returns NULL if there is none. If there are several, adds a fault
 * and returns NULL. */
static const struct file *find_definition(const struct fileset *upload, struct task_reader *reader)
{
	const struct file *found = fileset_find(upload, "task.yml");
	for (size_t i = 0; i < upload->count && !(found && !strchr(found->path, '/')); i++) {
		if (!text_ends_with(upload->files[i].path, "/task.yml"))
			continue;
		if (found) {
			task_fault(reader, NULL, NULL,
				"there are several (%s and %s); upload one task at a time.",
				quote(reader->arena, found->path), quote(reader->arena, upload->files[i].path));
			return NULL;
		}
		found = &upload->files[i];
	}
	return found;
}

static void refuse_form(struct task_reader *reader)
{
	if (fileset_find(reader->upload, "task.yaml"))
		task_fault(reader, NULL, NULL, "there is a task.yaml; rename it to task.yml.");
	else
		task_fault(reader, NULL, NULL,
			"there is none in the upload, and no reference.py (or .cuh, .cu, .cpp) either; "
			"every task needs one of the two.");
}

static void check_slots(struct task_reader *reader)
{
	const struct task *task = reader->task;
	size_t slots = 0;
	for (size_t i = 0; i < task->file_count; i++)
		slots += task->files[i].is_submission;
	if (!slots)
		task_fault(reader, reader->files_at, "files",
			"no file has the source \"@SUBMISSION@\", so the participant's file has no place.");
	if (slots > 1)
		task_fault(reader, reader->files_at, "files",
			"%zu files have the source \"@SUBMISSION@\"; exactly one must.", slots);
}

static void check_names(struct task_reader *reader)
{
	const struct task *task = reader->task;
	const char **names = arena_array(reader->arena, const char *, task->file_count + 1);
	for (size_t i = 0; i < task->file_count; i++)
		names[i] = task->files[i].name;
	struct error error;
	if (paths_check(reader->arena, names, task->file_count, &error))
		task_fault(reader, reader->files_at, "files", "%s", error.text);
}

static void check_sizes(struct task_reader *reader)
{
	size_t total = 0;
	for (size_t i = 0; i < reader->task->file_count; i++) {
		const struct file *content = task_file_content(reader, &reader->task->files[i]);
		total += content ? content->length : 0;
	}
	if (total > fileset_most_total_bytes)
		task_fault(reader, reader->files_at, "files", "together they are larger than 16 MiB.");
}

/* The files that a stock file imports or includes. With two names, either one is enough. */
static const struct {
	const char *stock, *needed, *instead;
} STOCK_NEEDS[] = {
	{ "eval.py", "submission.py", "train.py" },
	{ "eval.py", "reference.py", NULL },
	{ "eval.py", "utils.py", NULL },
	{ "eval.cu", "task.h", NULL },
	{ "eval.cu", "reference.cuh", NULL },
	{ "eval.cu", "utils.h", NULL },
	{ "wrapped_kernel.cu", "eval.cu", NULL },
	{ "wrapped_kernel.cu", "submission.cuh", NULL },
	{ "single_main.cu", "eval.cu", NULL },
	{ "single_main.cu", "train.cuh", NULL },
	{ "single_reference.py", "reference_code.py", NULL },
	{ "single_reference.cuh", "reference_code.cuh", NULL },
	{ "score_eval.py", "eval.py", NULL },
};

static bool has_stock_file(const struct task *task, const char *stock)
{
	for (size_t i = 0; i < task->file_count; i++) {
		const char *name = task_stock_name(&task->files[i]);
		if (name && strcmp(name, stock) == 0)
			return true;
	}
	return false;
}

/* Finds the name in any folder, because include_dirs may point to it. */
static bool has_file_name(const struct task *task, const char *name)
{
	for (size_t i = 0; i < task->file_count; i++) {
		const char *slash = strrchr(task->files[i].name, '/');
		if (name && strcmp(slash ? slash + 1 : task->files[i].name, name) == 0)
			return true;
	}
	return false;
}

static void check_stock_needs(struct task_reader *reader)
{
	const struct task *task = reader->task;
	for (size_t i = 0; i < COUNT(STOCK_NEEDS); i++) {
		const char *needed = STOCK_NEEDS[i].needed, *instead = STOCK_NEEDS[i].instead;
		if (!has_stock_file(task, STOCK_NEEDS[i].stock) || has_file_name(task, needed)
			|| has_file_name(task, instead))
			continue;
		const char * or = instead ? arena_printf(reader->arena, " or %s", instead) : "";
		task_fault(reader, reader->files_at, "files",
			"the stock file %s needs a file named %s%s, which is not there%s.",
			STOCK_NEEDS[i].stock, needed, or,
			fileset_find(reader->stock, needed) ? "; it is a stock file, too" : "");
	}
}

void task_check_files(struct task_reader *reader)
{
	if (!reader->task->files)
		return;
	check_slots(reader);
	check_names(reader);
	check_sizes(reader);
	check_stock_needs(reader);
}

void task_check_text(struct task_reader *reader, const struct yaml_node *at, const char *key,
	const struct file *file)
{
	const char *fault = NULL;
	if (!file->length)
		fault = "is empty";
	else if (file->length > sample_most_bytes)
		fault = "is larger than 1 MB, the limit for submissions";
	else if (!text_is_utf8(file->bytes, file->length) || memchr(file->bytes, '\0', file->length))
		fault = "is not UTF-8 text";
	if (fault)
		task_fault(reader, at, key, "the file %s %s.", quote(reader->arena, file->path), fault);
}

static struct task *empty_task(struct arena *arena)
{
	struct task *task = arena_array(arena, struct task, 1);
	task->test_timeout_s = task->benchmark_timeout_s = task->ranked_timeout_s =
		task_default_timeout_s;
	task->engine = ENGINE_CHOOSE;
	task->description = "";
	return task;
}

static void check_description(struct task_reader *reader)
{
	const char *text = reader->task->description;
	struct error fault;
	if (text && markdown_check(text, strlen(text), &fault))
		task_fault(reader, NULL, "description", "%s", fault.text);
}

/* Sets the engine that the files decide. Adds a fault if the task asks for an engine that its files
 * rule out. */
static void choose_engine(struct task_reader *reader)
{
	struct task *task = reader->task;
	struct fileset files = { .files =
								 arena_array(reader->arena, struct file, task->file_count + 1) };
	for (size_t i = 0; i < task->file_count; i++) {
		const struct file *content = task_file_content(reader, &task->files[i]);
		if (content)
			files.files[files.count++] =
				(struct file){ task->files[i].name, content->bytes, content->length };
	}
	task->choice = engine_choose(reader->arena, task, &files);
	const char *obstacle = engine_obstacle(task, &files);
	const char *wanted = task->engine == ENGINE_SEALED ? engine_sealed_obstacle(task, &files)
		: task->engine == ENGINE_ISOLATED              ? obstacle
													   : NULL;
	if (wanted)
		task_fault(reader, NULL, "podium.engine",
			"the %s engine cannot run the task. %s Leave the key out, or choose %s.",
			task_engine_name(task->engine), wanted, obstacle ? "custom" : "isolated");
}

int task_check(struct arena *arena, const struct fileset *upload, const struct fileset *stock,
	struct task **task, struct task_faults *faults)
{
	*faults = (struct task_faults){ 0 };
	struct task_reader reader = {
		.arena = arena,
		.upload = upload,
		.stock = stock,
		.name = "task.yml",
		.folder = "",
		.prefix = "",
		.task = *task = empty_task(arena),
		.faults = faults,
	};
	const struct file *definition = find_definition(upload, &reader);
	const struct file *single = definition || faults->count ? NULL : task_find_single(&reader);
	if (definition) {
		reader.name = definition->path;
		reader.folder =
			arena_strndup(arena, definition->path, strlen(definition->path) - strlen("task.yml"));
		task_read_yaml(&reader, definition);
	} else if (single && !faults->count) {
		task_read_single(&reader, single);
	} else if (!faults->count) {
		refuse_form(&reader);
	}
	task_check_files(&reader);
	check_description(&reader);
	if (!faults->count)
		choose_engine(&reader);
	return faults->count ? ERROR_INPUT : 0;
}

int task_parse(struct arena *arena, const struct fileset *upload, const struct fileset *stock,
	struct task **task, struct error *error)
{
	struct task_faults *faults = arena_array(arena, struct task_faults, 1);
	int rc = task_check(arena, upload, stock, task, faults);
	return rc ? fail_field(error, "task", "%s", faults->sentences[0]) : 0;
}

/* ---- contents ---- */

struct collection {
	struct task_content *contents;
	size_t count;
	struct error *error;
};

static int collect_file(struct collection *collection, enum task_file_role role, const char *path,
	const struct fileset *from, const char *source)
{
	const struct file *file = fileset_find(from, source);
	if (!file)
		return fail(collection->error, ERROR_NOT_FOUND,
			"The task's file %.200s is not in the upload.", source);
	for (size_t i = 0; i < collection->count; i++) /* a sample may be expected in several modes */
		if (collection->contents[i].role == role && strcmp(collection->contents[i].path, path) == 0)
			return 0;
	collection->contents[collection->count++] = (struct task_content){
		.role = role, .path = path, .bytes = file->bytes, .length = file->length
	};
	return 0;
}

static int collect_run_files(struct collection *collection, const struct task *task,
	const struct fileset *upload, const struct fileset *stock)
{
	int rc = 0;
	for (size_t i = 0; i < task->file_count && !rc; i++) {
		const struct task_file *file = &task->files[i];
		const char *stock_name = task_stock_name(file);
		if (!file->is_submission)
			rc = collect_file(collection, ROLE_FILE, file->name, stock_name ? stock : upload,
				stock_name ? stock_name : file->source);
	}
	return rc;
}

int task_contents(struct arena *arena, const struct task *task, const struct fileset *upload,
	const struct fileset *stock, struct task_content **contents, size_t *count, struct error *error)
{
	size_t most =
		task->file_count + task->template_count + task->expected_count + task->baseline_count + 1;
	struct collection collection = { .contents = arena_array(arena, struct task_content, most),
		.error = error };
	int rc = collect_run_files(&collection, task, upload, stock);
	for (size_t i = 0; i < task->template_count && !rc; i++)
		rc = collect_file(&collection, ROLE_TEMPLATE, task->templates[i].language, upload,
			task->templates[i].source);
	for (size_t i = 0; i < task->expected_count && !rc; i++)
		rc = collect_file(
			&collection, ROLE_SAMPLE, task->expected[i].source, upload, task->expected[i].source);
	for (size_t i = 0; i < task->baseline_count && !rc; i++)
		rc = collect_file(
			&collection, ROLE_BASELINE, task->baselines[i].name, upload, task->baselines[i].source);
	struct task_faults faults = { 0 };
	struct task_reader reader = {
		.arena = arena, .upload = upload, .prefix = "", .name = "task.yml", .faults = &faults
	};
	const struct file *definition = find_definition(upload, &reader);
	if (definition && !rc)
		rc = collect_file(&collection, ROLE_DEFINITION, "task.yml", upload, definition->path);
	*contents = collection.contents;
	*count = collection.count;
	return rc;
}
