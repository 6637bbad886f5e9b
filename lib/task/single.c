/* Reads a task without a task.yml: one reference.py (or .cuh, .cu, .cpp), in the older form also
 * named reference_code. The file defines generate_input(), ref_kernel and
 * check_implementation(custom_output, ref_output) -> bool.
 *
 * If a reference in C++ declares a __global__ function and launches it in custom_kernel,
 * participants submit only that kernel. A problem.py beside it gives cases and limits.
 *
 * Stock files adapt the reference to the stock evaluation. If the task has its own evaluation,
 * which reports one score, a stock file runs that evaluation. Either way the result is an ordinary
 * task. */
#include "lib/task/reader.h"

#include "lib/base/quote.h"
#include "lib/base/scope.h"
#include "lib/base/text.h"

#include <ctype.h>
#include <regex.h>
#include <string.h>

#define SLOT "@SUBMISSION@"
#define CODE "@CODE@" /* the reference, whatever its uploaded name is */

enum { most_words = 9, most_files = 8 };

/* What Podium assumes about a task without task.yml in one language. Arrays of texts and files end
 * with NULL. */
struct form {
	const char *codes[most_words]; /* possible names of the reference */
	/* words that the reference must contain for the stock evaluation */
	const char *needs[most_words];
	const char *evaluation; /* name of the task's own evaluation, if it has one */
	/* the submission's file name: the usual one, and the one if the reference imports the
	 * submission */
	const char *stock_slot, *train_slot;
	struct task_file stock_files[most_files], own_files[most_files]; /* besides the submission */
	const char *main, *own_main;                                     /* py */
	const char *sources[most_words], *own_sources[most_words];       /* cu */
	const char *template_language;
	const char *endings[most_words]; /* file endings of templates and samples */
};

static const struct form FORMS[] = {
	[TASK_PY] = {
		.codes = { "reference_code.py", "reference.py" },
		.needs = { "generate_input", "ref_kernel", "check_implementation" },
		.evaluation = "eval.py",
		.stock_slot = "submission.py",
		.train_slot = "train.py",
		.stock_files = {
			{ .name = "reference_code.py", .source = CODE },
			{ .name = "reference.py", .source = "@STOCK@:single_reference.py" },
			{ .name = "eval.py", .source = "@STOCK@" },
			{ .name = "utils.py", .source = "@STOCK@" },
		},
		.own_files = {
			{ .name = "reference.py", .source = CODE },
			{ .name = "eval.py", .source = "eval.py" },
			{ .name = "score_eval.py", .source = "@STOCK@" },
		},
		.main = "eval.py",
		.own_main = "score_eval.py",
		.template_language = "Python",
		.endings = { ".py" },
	},
	[TASK_CU] = {
		.codes = { "reference_code.cuh", "reference_code.cu", "reference_code.cpp", "reference.cuh",
			"reference.cu", "reference.cpp" },
		.needs = { "generate_input", "ref_kernel", "check_implementation", "input_t", "output_t" },
		.evaluation = "eval.cu",
		.stock_slot = "train.cuh",
		.train_slot = "train.cuh",
		.stock_files = {
			{ .name = "reference_code.cuh", .source = CODE },
			{ .name = "reference.cuh", .source = "@STOCK@:single_reference.cuh" },
			{ .name = "task.h", .source = "@STOCK@:single_reference.cuh" },
			{ .name = "single_main.cu", .source = "@STOCK@" },
			{ .name = "eval.cu", .source = "@STOCK@" },
			{ .name = "utils.h", .source = "@STOCK@" },
		},
		.own_files = {
			{ .name = "reference.cuh", .source = CODE },
			{ .name = "eval.cu", .source = "eval.cu" },
			{ .name = "score_eval.cu", .source = "@STOCK@" },
		},
		.sources = { "single_main.cu" },
		.own_sources = { "eval.cu", "score_eval.cu" },
		.template_language = "CUDA",
		.endings = { ".cu", ".cuh", ".cpp" },
	},
};

/* Participants submit the __global__ function that the reference declares and launches. */
static const struct form KERNEL_ALONE = {
	.needs = { "generate_input", "custom_kernel", "check_implementation", "input_t", "output_t" },
	.stock_slot = "submission.cuh",
	.train_slot = "submission.cuh",
	.stock_files = {
		{ .name = "reference_code.cuh", .source = CODE },
		{ .name = "reference.cuh", .source = "@STOCK@:single_reference.cuh" },
		{ .name = "task.h", .source = "@STOCK@:single_reference.cuh" },
		{ .name = "wrapped_kernel.cu", .source = "@STOCK@" },
		{ .name = "eval.cu", .source = "@STOCK@" },
		{ .name = "utils.h", .source = "@STOCK@" },
	},
	.sources = { "wrapped_kernel.cu" },
	.template_language = "CUDA",
	.endings = { ".cu", ".cuh", ".cpp" },
};

static const char PROBLEM[] = "problem.py";
static const char *const SEED_TESTS[] = { "seed: 1", "seed: 2", "seed: 3" };
static const char *const SEED_BENCHMARKS[] = { "seed: 4" };
static const char SAMPLES[] = "samples/";

/* An upload of a task without a task.yml. */
struct single {
	struct task_reader *reader;
	const struct form *form;
	const struct file *code, *evaluation; /* evaluation is NULL for the stock one */
	const struct file *problem;           /* NULL: none */
	const char *slot;
};

/* ---- checking the files ---- */

/* Whether the code contains the word: defined, assigned or imported. */
static bool contains_word(const char *code, const char *word)
{
	size_t length = strlen(word);
	for (const char *at = strstr(code, word); at; at = strstr(at + 1, word)) {
		char before = at == code ? ' ' : at[-1], after = at[length];
		if (!isalnum((unsigned char)before) && before != '_' && !isalnum((unsigned char)after)
			&& after != '_')
			return true;
	}
	return false;
}

/* What the group of the pattern matches in the code, or NULL. */
static const char *find_group(struct arena *arena, const char *code, const char *pattern)
{
	regex_t compiled;
	regmatch_t groups[2];
	if (regcomp(&compiled, pattern, REG_EXTENDED | REG_NEWLINE))
		return NULL;
	bool found = regexec(&compiled, code, COUNT(groups), groups, 0) == 0;
	regfree(&compiled);
	return found
		? arena_strndup(arena, code + groups[1].rm_so, (size_t)(groups[1].rm_eo - groups[1].rm_so))
		: NULL;
}

/* The file name under which `code` imports or includes the submission, such as train.py, train.cuh
 * or submission.py. NULL: it does not. */
static const char *find_imported_slot(
	struct arena *arena, enum task_language language, const char *code)
{
	static const char *const names[] = { "train", "submission" };
	for (size_t i = 0; i < COUNT(names); i++) {
		const char *pattern = language == TASK_PY
			? arena_printf(arena,
				"^[ \t]*(from[ \t]+%s[ \t]+import|import[ \t]+%s)([^A-Za-z0-9_.]|$)", names[i],
				names[i])
			: arena_printf(
				arena, "^[ \t]*#[ \t]*include[ \t]*\"(%s\\.(cuh|cu|cpp|h|hpp))\"", names[i]);
		const char *found = find_group(arena, code, pattern);
		if (found)
			return language == TASK_PY ? arena_printf(arena, "%s.py", names[i]) : found;
	}
	return NULL;
}

static bool is_text_file(const struct file *file)
{
	return text_is_utf8(file->bytes, file->length) && !memchr(file->bytes, '\0', file->length);
}

/* Whether the check in a C++ reference reports to a TestReporter, as in a task with a task.yml.
 * Such a reference needs no ref_kernel. */
static bool uses_test_reporter(const struct single *single)
{
	return single->reader->task->language == TASK_CU
		&& contains_word(single->code->bytes, "TestReporter");
}

static void check_code(struct single *single)
{
	struct task_reader *reader = single->reader;
	if (!is_text_file(single->code)) {
		task_fault(reader, NULL, NULL, "the file is not UTF-8 text.");
		return;
	}
	if (single->form == &KERNEL_ALONE && !uses_test_reporter(single)
		&& !contains_word(single->code->bytes, "ref_kernel"))
		task_fault(reader, NULL, NULL,
			"it has no ref_kernel; a check_implementation without a TestReporter compares with "
			"what ref_kernel returns.");
	for (const char *const *word = single->form->needs; !single->evaluation && *word; word++)
		if (!contains_word(single->code->bytes, *word)
			&& !(uses_test_reporter(single) && strcmp(*word, "ref_kernel") == 0))
			task_fault(reader, NULL, NULL,
				"it has no %s; the single-file form needs generate_input(), ref_kernel and "
				"check_implementation(custom_output, ref_output)%s.",
				*word,
				reader->task->language == TASK_CU ? ", and the types input_t and output_t" : "");
}

/* The task's own evaluation must import the submission and report a score. */
static void check_evaluation(struct single *single)
{
	struct task_reader *reader = single->reader;
	if (!is_text_file(single->evaluation)) {
		task_fault(reader, NULL, NULL, "the file is not UTF-8 text.");
		return;
	}
	if (!task_is_score_evaluation(single->evaluation))
		task_fault(reader, NULL, NULL,
			"it does not report one score; an evaluation next to %s must print \"score: SECONDS\", "
			"and one with tests and benchmarks needs a task.yml.",
			single->code->path);
	single->slot =
		find_imported_slot(reader->arena, reader->task->language, single->evaluation->bytes);
	if (!single->slot)
		task_fault(reader, NULL, NULL, "it %s, so the participant's file has no place.",
			reader->task->language == TASK_PY
				? "imports neither train nor submission"
				: "includes neither \"train.cuh\" nor \"submission.cuh\"");
}

/* The first declaration of a __global__ function, on one line and without the semicolon, or NULL.
 */
static const char *find_signature(struct arena *arena, const char *code)
{
	regex_t compiled;
	regmatch_t groups[2];
	if (regcomp(&compiled, "(__global__[[:space:]][^;{}]*\\))[[:space:]]*;", REG_EXTENDED))
		return NULL;
	bool found = regexec(&compiled, code, COUNT(groups), groups, 0) == 0;
	regfree(&compiled);
	if (!found)
		return NULL;
	size_t length = (size_t)(groups[1].rm_eo - groups[1].rm_so), out = 0;
	char *text = arena_strndup(arena, code + groups[1].rm_so, length);
	for (size_t i = 0; i < length; i++)
		if (!isspace((unsigned char)text[i]))
			text[out++] = text[i];
		else if (text[out - 1] != ' ')
			text[out++] = ' ';
	text[out] = '\0';
	return text;
}

/* If the reference has a custom_kernel and declares a __global__ function, participants submit only
 * that function. */
static void choose_form(struct single *single)
{
	struct task *task = single->reader->task;
	if (task->language != TASK_CU || single->evaluation || !is_text_file(single->code)
		|| !contains_word(single->code->bytes, "custom_kernel"))
		return;
	task->kernel_signature = find_signature(single->reader->arena, single->code->bytes);
	if (task->kernel_signature)
		single->form = &KERNEL_ALONE;
}

static void choose_slot(struct single *single)
{
	const struct form *form = single->form;
	bool named = find_imported_slot(
		single->reader->arena, single->reader->task->language, single->code->bytes);
	single->slot = named ? form->train_slot : form->stock_slot;
}

/* ---- the files of the task ---- */

static bool has_file(const struct task *task, const char *name)
{
	for (size_t i = 0; i < task->file_count; i++)
		if (strcmp(task->files[i].name, name) == 0)
			return true;
	return false;
}

static void add_file(struct task *task, const char *name, const char *source)
{
	task->files[task->file_count++] = (struct task_file){
		.name = name, .source = source, .is_submission = strcmp(source, SLOT) == 0
	};
}

static bool is_template(const struct form *form, const char *path)
{
	for (const char *const *ending = form->endings; *ending; ending++)
		if (strncmp(path, "template", 8) == 0 && strcmp(path + 8, *ending) == 0)
			return true;
	return false;
}

/* Whether the reference or the evaluation may import the file: any file without another role. */
static bool is_helper(const struct single *single, const struct file *file)
{
	const char *path = file->path;
	return file != single->code && file != single->evaluation && file != single->problem
		&& !is_template(single->form, path) && strncmp(path, SAMPLES, sizeof SAMPLES - 1) != 0
		&& !text_ends_with(path, ".md") && strncmp(path, "LICENSE", 7) != 0;
}

static void add_helpers(struct single *single)
{
	const struct fileset *upload = single->reader->upload;
	for (size_t i = 0; i < upload->count; i++) {
		const struct file *file = &upload->files[i];
		if (!is_helper(single, file))
			continue;
		if (has_file(single->reader->task, file->path))
			task_fault(single->reader, NULL, NULL,
				"the file %s has a name that the single-file form reserves; rename it.",
				quote(single->reader->arena, file->path));
		else
			add_file(single->reader->task, file->path, file->path);
	}
}

static void add_files(struct single *single)
{
	struct task_reader *reader = single->reader;
	const struct form *form = single->form;
	reader->task->files =
		arena_array(reader->arena, struct task_file, most_files + reader->upload->count + 1);
	add_file(reader->task, single->slot, SLOT);
	for (const struct task_file *file = single->evaluation ? form->own_files : form->stock_files;
		 file->name; file++) {
		add_file(reader->task, file->name,
			strcmp(file->source, CODE) == 0 ? single->code->path : file->source);
		const char *stock = task_stock_name(file);
		if (stock && !fileset_find(reader->stock, stock))
			task_fault(
				reader, NULL, NULL, "there is no stock file %s.", quote(reader->arena, stock));
	}
	add_helpers(single);
}

static size_t count_texts(const char *const *texts)
{
	size_t count = 0;
	while (texts[count])
		count++;
	return count;
}

static const char **copy_texts(struct arena *arena, const char *const *texts, size_t count)
{
	return arena_copy(arena, texts, count * sizeof *texts);
}

static void add_program(struct single *single)
{
	struct task *task = single->reader->task;
	const struct form *form = single->form;
	const char *const *sources = single->evaluation ? form->own_sources : form->sources;
	task->main = single->evaluation ? form->own_main : form->main;
	task->source_count = count_texts(sources);
	task->sources = copy_texts(single->reader->arena, sources, task->source_count);
}

/* Sets the default cases. A task's own evaluation takes no arguments, so such a task has one case,
 * which only names the evaluation. */
static void add_cases(struct single *single)
{
	struct task *task = single->reader->task;
	struct arena *arena = single->reader->arena;
	const char *only = arena_printf(arena, "evaluation: %s", single->form->evaluation);
	task->test_count = single->evaluation ? 1 : COUNT(SEED_TESTS);
	task->tests = copy_texts(arena, single->evaluation ? &only : SEED_TESTS, task->test_count);
	task->benchmark_count = COUNT(SEED_BENCHMARKS);
	task->benchmarks =
		copy_texts(arena, single->evaluation ? &only : SEED_BENCHMARKS, task->benchmark_count);
	task->ranking_by = RANKING_BY_LAST;
}

/* The defines tell single_reference.cuh which parts the reference contains itself. */
static void add_defines(struct single *single)
{
	struct task *task = single->reader->task;
	if (task->language != TASK_CU || single->evaluation)
		return;
	task->defines = arena_array(single->reader->arena, struct task_define, 2);
	if (contains_word(single->code->bytes, "ArgumentNames"))
		task->defines[task->define_count++] =
			(struct task_define){ .name = "PODIUM_HAS_ARGUMENTS" };
	if (uses_test_reporter(single))
		task->defines[task->define_count++] = (struct task_define){ .name = "PODIUM_HAS_REPORTER" };
}

/* Reads problem.py: a description, and cases and limits that replace the default ones. */
static void read_problem(struct single *single)
{
	struct task_reader *reader = single->reader;
	if (!single->problem)
		return;
	reader->name = single->problem->path;
	if (!is_text_file(single->problem)) {
		task_fault(reader, NULL, NULL, "the file is not UTF-8 text.");
		return;
	}
	const char *text = task_docstring(reader->arena, TASK_PY, single->problem->bytes);
	if (*text)
		reader->task->description = text;
	task_read_problem(reader, single->problem);
	reader->name = single->code->path;
}

/* Without ArgumentNames in the reference, cases can have no argument besides the seed, as the
 * default cases have. */
static void check_arguments(struct single *single)
{
	const struct task *task = single->reader->task;
	if (!single->problem || contains_word(single->code->bytes, "ArgumentNames"))
		return;
	for (size_t i = 0; i < task->test_count + task->benchmark_count; i++) {
		const char *line =
			i < task->test_count ? task->tests[i] : task->benchmarks[i - task->test_count];
		if (strncmp(line, "seed: ", 6) == 0 && !strchr(line, ';'))
			continue;
		task_fault(single->reader, NULL, NULL,
			"it has no ArgumentNames, but the case \"%s\" of problem.py has arguments besides "
			"seed.",
			line);
		return;
	}
}

/* ---- templates and samples ---- */

static bool has_ending(const struct form *form, const char *path)
{
	for (const char *const *ending = form->endings; *ending; ending++)
		if (text_ends_with(path, *ending))
			return true;
	return false;
}

/* The verdict that a sample must get, by its name: samples/wrong-answer.py and
 * samples/wrong-answer-zeros.py must get "wrong answer". */
static enum verdict sample_verdict(const struct form *form, const char *path)
{
	if (strncmp(path, SAMPLES, sizeof SAMPLES - 1) != 0 || !has_ending(form, path))
		return VERDICT_NONE;
	for (enum verdict verdict = VERDICT_PASSED; verdict <= VERDICT_PROTOCOL_VIOLATION; verdict++) {
		const char *name = verdict_name(verdict), *at = path + sizeof SAMPLES - 1;
		while (*name && (*at == *name || (*at == '-' && *name == ' '))) {
			at++;
			name++;
		}
		if (!*name && (*at == '.' || *at == '-'))
			return verdict;
	}
	return VERDICT_NONE;
}

static void read_samples(struct single *single)
{
	struct task *task = single->reader->task;
	const struct fileset *upload = single->reader->upload;
	task->expected = arena_array(single->reader->arena, struct task_expected, upload->count + 1);
	for (size_t i = 0; i < upload->count; i++) {
		const char *path = upload->files[i].path;
		enum verdict verdict = sample_verdict(single->form, path);
		if (verdict == VERDICT_NONE)
			continue;
		task_check_text(single->reader, NULL, NULL, &upload->files[i]);
		task->expected[task->expected_count++] =
			(struct task_expected){ .source = path, .verdict = verdict, .mode = "ranked" };
	}
}

static void read_template(struct single *single)
{
	struct task *task = single->reader->task;
	const struct fileset *upload = single->reader->upload;
	task->templates = arena_array(single->reader->arena, struct task_template, 1);
	for (size_t i = 0; i < upload->count && !task->template_count; i++) {
		const struct file *file = &upload->files[i];
		if (!is_template(single->form, file->path))
			continue;
		task_check_text(single->reader, NULL, NULL, file);
		task->templates[task->template_count++] =
			(struct task_template){ .language = single->form->template_language,
				.source = file->path };
	}
}

/* ---- reading ---- */

const struct file *task_find_single(struct task_reader *reader)
{
	const struct file *found = NULL;
	for (size_t i = 0; i < COUNT(FORMS); i++)
		for (const char *const *name = FORMS[i].codes; *name; name++) {
			const struct file *file = fileset_find(reader->upload, *name);
			if (file && found)
				task_fault(reader, NULL, NULL,
					"there is none, but both %s and %s; keep one of them.", found->path,
					file->path);
			if (!file || found)
				continue;
			found = file;
			reader->task->language = (enum task_language)i;
		}
	return found;
}

void task_read_single(struct task_reader *reader, const struct file *code)
{
	const struct form *form = &FORMS[reader->task->language];
	struct single single = { .reader = reader,
		.form = form,
		.code = code,
		.evaluation = fileset_find(reader->upload, form->evaluation) };
	if (reader->task->language == TASK_CU)
		single.problem = fileset_find(reader->upload, PROBLEM);
	reader->name = code->path;
	choose_form(&single);
	check_code(&single);
	if (single.evaluation) {
		reader->name = single.evaluation->path;
		check_evaluation(&single);
		reader->name = code->path;
	} else {
		choose_slot(&single);
	}
	if (reader->faults->count)
		return;
	reader->task->description = task_docstring(reader->arena, reader->task->language, code->bytes);
	add_files(&single);
	add_program(&single);
	add_defines(&single);
	add_cases(&single);
	read_problem(&single);
	check_arguments(&single);
	read_template(&single);
	read_samples(&single);
}
