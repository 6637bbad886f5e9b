#include "lib/task/engine.h"

#include "lib/base/scope.h"
#include "lib/base/text.h"
#include "lib/task/public_harness.h"
#include "lib/task/stock.h"

#include <sodium.h>
#include <string.h>

typedef char hash_text[2 * crypto_hash_sha256_BYTES + 1];

/* ---- the forms of tasks in CUDA C++ ---- */

/* `slot` is the name under which the main source includes the submission. NULL: nvcc compiles the
 * submission as a second source file. */
static const struct form {
	const char *main, *slot;
} FORMS[] = {
	[ENGINE_FORM_EVAL] = { "eval.cu", NULL },
	[ENGINE_FORM_WRAPPED] = { "wrapped_kernel.cu", "submission.cuh" },
	[ENGINE_FORM_SINGLE] = { "single_main.cu", "train.cuh" },
};

static bool has_source(const struct task *task, const char *name)
{
	for (size_t i = 0; i < task->source_count; i++)
		if (strcmp(task->sources[i], name) == 0)
			return true;
	return false;
}

static const char *slot_of(const struct task *task)
{
	for (size_t i = 0; i < task->file_count; i++)
		if (task->files[i].is_submission)
			return task->files[i].name;
	return "";
}

enum engine_form engine_form(const struct task *task)
{
	const char *slot = slot_of(task);
	for (size_t i = 0; i < COUNT(FORMS); i++)
		if (has_source(task, FORMS[i].main)
			&& (FORMS[i].slot ? task->source_count == 1 && strcmp(slot, FORMS[i].slot) == 0
							  : task->source_count == 2 && has_source(task, slot)))
			return (enum engine_form)i;
	return ENGINE_FORM_OTHER;
}

/* ---- known harnesses ---- */

/* Hashes a text but ignores what changes when people copy it: line endings, blanks at the ends of
 * lines, and empty lines at both ends of the file. */
static void hash_normalised(const char *bytes, size_t length, hash_text text)
{
	crypto_hash_sha256_state state;
	unsigned char digest[crypto_hash_sha256_BYTES];
	size_t empty = 0;
	bool has_begun = false;
	crypto_hash_sha256_init(&state);
	for (const char *line = bytes, *end = bytes + length; line < end;) {
		const char *next = memchr(line, '\n', (size_t)(end - line));
		const char *last = next ? next : end;
		while (last > line && strchr(" \t\r\v\f", last[-1]) && last[-1])
			last--;
		if (last == line) {
			empty++;
		} else {
			for (; has_begun && empty; empty--)
				crypto_hash_sha256_update(&state, (const unsigned char *)"\n", 1);
			crypto_hash_sha256_update(
				&state, (const unsigned char *)line, (unsigned long long)(last - line));
			crypto_hash_sha256_update(&state, (const unsigned char *)"\n", 1);
			has_begun = true;
			empty = 0;
		}
		line = next ? next + 1 : end;
	}
	crypto_hash_sha256_final(&state, digest);
	sodium_bin2hex(text, sizeof(hash_text), digest, sizeof digest);
}

/* Whether the task took the file from the stock. The text of the file cannot tell, because a newer
 * Podium may have changed the stock file. */
static bool comes_from_stock(const struct task *task, const char *name)
{
	for (size_t i = 0; i < task->file_count; i++)
		if (strcmp(task->files[i].name, name) == 0) {
			const char *source = task->files[i].source;
			return strcmp(source, "@STOCK@") == 0
				|| (strncmp(source, "@STOCK@:", 8) == 0 && strcmp(source + 8, name) == 0);
		}
	return false;
}

static bool is_stock_text(const char *name, const char *hash)
{
	for (size_t i = 0; i < stock_file_count; i++) {
		const struct stock_file *stock = &stock_files[i];
		hash_text text;
		if (strcmp(stock->name, name) != 0)
			continue;
		hash_normalised(stock->bytes, (size_t)(stock->end - stock->bytes), text);
		return strcmp(text, hash) == 0;
	}
	return false;
}

/* The kind of harness of the file `name`. `stock` names the stock file of which the file may be a
 * copy. */
static enum harness_kind harness_kind(
	const struct task *task, const struct fileset *files, const char *name, const char *stock)
{
	const struct file *file = fileset_find(files, name);
	hash_text hash;
	if (comes_from_stock(task, name) && strcmp(name, stock) == 0)
		return HARNESS_STOCK;
	if (!file)
		return HARNESS_UNKNOWN;
	hash_normalised(file->bytes, file->length, hash);
	if (is_stock_text(stock, hash))
		return HARNESS_STOCK;
	for (size_t i = 0; i < public_harness_count; i++)
		if (strcmp(public_harnesses[i].sha256, hash) == 0)
			return public_harnesses[i].kind;
	return HARNESS_UNKNOWN;
}

/* Finds the file that measures, and returns its kind. In the forms WRAPPED and SINGLE of CUDA C++
 * two stock files measure together, so both must be stock. */
static enum harness_kind find_harness(
	const struct task *task, const struct fileset *files, const char **name)
{
	if (task->language == TASK_PY) {
		*name = task->main ? task->main : "";
		return harness_kind(task, files, *name, "eval.py");
	}
	enum engine_form form = engine_form(task);
	*name = "eval.cu";
	enum harness_kind kind = harness_kind(task, files, *name, *name);
	if (form == ENGINE_FORM_OTHER || form == ENGINE_FORM_EVAL || kind != HARNESS_STOCK)
		return kind;
	*name = FORMS[form].main;
	return harness_kind(task, files, *name, *name);
}

/* ---- what the engines need ---- */

static bool file_contains(const struct file *file, const char *word)
{
	return memmem(file->bytes, file->length, word, strlen(word));
}

static const char *cu_obstacle(const struct task *task, const struct fileset *files)
{
	if (has_source(task, "score_eval.cu"))
		return "The task has an evaluation of the oldest form, whose cases are not arguments of "
			   "generate_input.";
	if (engine_form(task) == ENGINE_FORM_OTHER)
		return "The task compiles other sources than eval.cu and the submission.";
	if (!fileset_find(files, "task.h") || !fileset_find(files, "reference.cuh"))
		return "The task has no task.h and reference.cuh.";
	return NULL;
}

const char *engine_obstacle(const struct task *task, const struct fileset *files)
{
	const char *main = task->main ? task->main : "";
	const struct file *reference = fileset_find(files, "reference.py");
	if (task->multi_gpu)
		return "The task runs on several GPUs, which the isolated engine does not share between "
			   "processes.";
	if (task->language == TASK_CU)
		return cu_obstacle(task, files);
	if (strcmp(main, "score_eval.py") == 0)
		return "The task has an evaluation of the oldest form, whose cases are not arguments of "
			   "generate_input.";
	if (!text_ends_with(main, ".py") || !text_ends_with(slot_of(task), ".py"))
		return "The task's main file or its submission is not a Python file.";
	if (!reference)
		return "The task has no reference.py.";
	return file_contains(reference, "generate_input")
			&& file_contains(reference, "check_implementation")
		? NULL
		: "The task's reference.py does not offer generate_input and check_implementation.";
}

/* Whether the types of a task in CUDA C++ can have data on the GPU: in a DeviceBuffer, or in a type
 * of the task's own with the same function view(). */
static bool has_device_data(const struct fileset *files)
{
	/* These files do not define the task's types, but may mention memory on the GPU. */
	static const char *const others[] = { "utils.h", "eval.cu", "reference.cuh" };
	for (size_t i = 0; i < files->count; i++)
		if (!text_is_one_of(files->files[i].path, others, COUNT(others))
			&& (file_contains(&files->files[i], "DeviceBuffer")
				|| file_contains(&files->files[i], " view(")))
			return true;
	return false;
}

const char *engine_sealed_obstacle(const struct task *task, const struct fileset *files)
{
	if (task->multi_gpu)
		return "The task runs on several GPUs, and the sealed engine replays on one.";
	const char *obstacle = engine_obstacle(task, files);
	if (obstacle || task->language == TASK_PY || has_device_data(files))
		return obstacle;
	return "The task's types have no DeviceBuffer, so its data are on the host. The sealed engine "
		   "needs inputs that differ only on the GPU.";
}

/* ---- the choice ---- */

/* What a harness does, as the end of a sentence that begins with its file name. */
static const char *const KINDS[] = {
	[HARNESS_UNKNOWN] = "is not a harness that Podium knows",
	[HARNESS_STOCK] = "is Podium's stock harness",
	[HARNESS_CALL] = "is a public harness that times one call at a time",
	[HARNESS_BATCH] = "times several calls together, which the isolated engine does not",
	[HARNESS_GRAPH] = "times replays of a CUDA graph, which the isolated engine does not",
	[HARNESS_RANKS] = "times processes on several GPUs, which the isolated engine does not",
};

static struct engine_choice chosen_by_author(
	struct arena *arena, const struct task *task, const char *harness)
{
	static const char *const ends[] = {
		[ENGINE_CUSTOM] = "runs as written",
		[ENGINE_ISOLATED] = "does not run",
		[ENGINE_SEALED] = "does not run; the isolated engine measures on the CPU",
	};
	return (struct engine_choice){ task->engine,
		arena_printf(arena, "task.yml chooses the %s engine, so %s %s.",
			task_engine_name(task->engine), harness, ends[task->engine]) };
}

struct engine_choice engine_choose_unsealed(
	struct arena *arena, const struct task *task, const struct fileset *files)
{
	const char *harness, *obstacle = engine_obstacle(task, files);
	enum harness_kind kind = find_harness(task, files, &harness);
	if (task->engine != ENGINE_CHOOSE)
		return chosen_by_author(arena, task, harness);
	bool is_same = kind == HARNESS_STOCK || kind == HARNESS_CALL;
	bool is_own = fileset_find(files, harness) && !comes_from_stock(task, harness);
	if (obstacle && (is_same || (kind == HARNESS_UNKNOWN && !is_own)))
		return (struct engine_choice){ ENGINE_CUSTOM, obstacle };
	if (is_same)
		return (struct engine_choice){ ENGINE_ISOLATED,
			arena_printf(
				arena, "%s %s, and the isolated engine measures the same.", harness, KINDS[kind]) };
	return (struct engine_choice){ ENGINE_CUSTOM,
		arena_printf(arena, "%s %s, so the custom engine runs it as written%s.", harness,
			KINDS[kind],
			obstacle ? ""
					 : "; choose `podium: {engine: isolated}` in task.yml if the reference checks "
					   "everything that matters") };
}

struct engine_choice engine_choose(
	struct arena *arena, const struct task *task, const struct fileset *files)
{
	struct engine_choice choice = engine_choose_unsealed(arena, task, files);
	const char *harness;
	if (task->engine != ENGINE_CHOOSE || choice.engine != ENGINE_ISOLATED
		|| engine_sealed_obstacle(task, files))
		return choice;
	enum harness_kind kind = find_harness(task, files, &harness);
	return (struct engine_choice){ ENGINE_SEALED,
		arena_printf(arena,
			"%s %s, so the sealed engine measures on GPUs, and the isolated engine on the CPU.",
			harness, KINDS[kind]) };
}

struct engine_choice engine_on(struct engine_choice choice, const char *model)
{
	if (choice.engine == ENGINE_SEALED && strcmp(model, "CPU") == 0)
		choice.engine = ENGINE_ISOLATED;
	return choice;
}
