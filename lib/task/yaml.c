/* Reads task.yml: tables of its keys, and functions for keys that need more than a table. */
#include "lib/base/text.h"
#include "lib/task/reader.h"

#include "lib/base/quote.h"
#include "lib/base/scope.h"
#include "lib/files/path_rule.h"
#include "lib/task/formula.h"

#include <string.h>
#include <strings.h>

static const char *const LANGUAGES[] = { "py", "cu", NULL };
static const char *const RANKINGS[] = { "last", "mean", "geom", NULL };
static const char *const ENGINES[] = { "custom", "isolated", "sealed", NULL };
static const char *const TEMPLATE_LANGUAGES[] = { "CUDA", "Python", "Triton", "HIP", "CuteDSL",
	NULL };
static const char *const TRUTHS[] = { "python", "lowercase", "numbers", NULL };
static const char *const MODES[] = { "test", "benchmark", "ranked", NULL };

/* ---- rules of texts ---- */

static const char *gpu_fault(const char *text)
{
	size_t length = strlen(text);
	size_t plain =
		strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._+-");
	return length && length <= 48 && plain == length
		? NULL
		: "is not the name of a GPU (1 to 48 letters, digits and . _ + -, as in H200 or CPU)";
}

static const char *flag_fault(const char *text)
{
	if (text[0] != '-')
		return "must begin with \"-\"";
	for (const unsigned char *at = (const unsigned char *)text; *at; at++)
		if (*at < 0x20 || *at == 0x7f)
			return "contains a control character";
	return NULL;
}

/* An absolute path names a folder on the machine that runs the task, for example of an installed
 * library. */
static const char *include_fault(const char *text)
{
	return strcmp(text, ".") == 0
		? NULL
		: path_fault(text[0] == '/' ? text + 1 : text, strlen(text) - (text[0] == '/'));
}

static const char *library_fault(const char *text)
{
	return *text ? NULL : "is empty";
}

static const char *signature_fault(const char *text)
{
	size_t length = strlen(text);
	return strncmp(text, "__global__ ", 11) == 0 && strchr(text, '(') && text[length - 1] == ')'
			&& !strpbrk(text, ";{}\n")
		? NULL
		: "is not the signature of a kernel, as in __global__ void add(const float *a, float *b, "
		  "int n)";
}

/* The name is part of addresses and of a file's name, too. */
static const char *baseline_fault(const char *text)
{
	enum { most_name_bytes = 32 };
	return strlen(text) <= most_name_bytes && text_is_leaderboard_name(text)
		? NULL
		: "is not the name of a baseline (1 to 32 letters, digits and . _ -, as in torch.compile; "
		  "the first is a letter or digit)";
}

/* ---- files ---- */

static const struct task_key FILE_KEYS[] = {
	{ .name = "name",
		.read = task_read_text,
		.offset = offsetof(struct task_file, name),
		.rule = task_file_name_fault,
		.required = true },
	{ .name = "source",
		.read = task_read_text,
		.offset = offsetof(struct task_file, source),
		.required = true },
};

static void read_source(
	struct task_reader *reader, const struct yaml_node *at, struct task_file *file)
{
	const char *stock = task_stock_name(file);
	file->is_submission = strcmp(file->source, "@SUBMISSION@") == 0;
	if (file->is_submission)
		return;
	if (!stock) {
		const struct file *found = task_source(reader, at, "files", file->source);
		file->source = found ? found->path : file->source;
	} else if (!fileset_find(reader->stock, stock)) {
		task_fault(reader, at, "files",
			"there is no stock file %s; add its content as a source instead.",
			quote(reader->arena, stock));
	}
}

static void read_files(struct task_reader *reader, const struct yaml_node *value,
	const struct task_key *key, void *base)
{
	reader->files_at = value;
	if (value->kind == YAML_LIST && value->count > fileset_most_files) {
		task_fault(reader, value, key->name, "there are %zu files; at most %d are allowed.",
			value->count, fileset_most_files);
		return;
	}
	struct task_file *files = task_read_array(reader, value, key, base, sizeof *files);
	size_t count = 0, number = 0;
	for (const struct yaml_node *child = files ? value->first : NULL; child; child = child->next) {
		struct task_file *file = &files[count];
		*file = (struct task_file){ 0 };
		const char *what = arena_printf(reader->arena, "entry %zu of files", ++number);
		reader->prefix = "files.";
		task_read_map(reader, child, what, FILE_KEYS, COUNT(FILE_KEYS), file);
		reader->prefix = "";
		if (!file->name || !file->source)
			continue;
		read_source(reader, child, file);
		count++;
	}
	*(size_t *)(void *)((char *)base + key->count_offset) = count;
}

/* ---- config ---- */

static void read_define(
	struct task_reader *reader, const struct yaml_node *node, const struct task_key *key)
{
	struct task *task = reader->task;
	const char *shown = quote(reader->arena, node->key->text), *fault = NULL, *value = NULL;
	if (!text_is_identifier(node->key->text)) {
		task_fault(reader, node->key, key->name, "%s is not a valid name for a macro.", shown);
		return;
	}
	if (node->kind == YAML_LIST || node->kind == YAML_MAP)
		fault = "must be a number, text or nothing";
	else if (node->kind != YAML_NULL)
		value = task_python_text(reader->arena, node, TRUTH_NUMBERS, &fault);
	if (fault)
		task_fault(reader, node, key->name, "the value of %s %s.", shown, fault);
	else
		task->defines[task->define_count++] =
			(struct task_define){ .name = arena_strdup(reader->arena, node->key->text),
				.value = value };
}

static void read_defines(struct task_reader *reader, const struct yaml_node *value,
	const struct task_key *key, void *base)
{
	(void)base;
	if (value->kind != YAML_MAP) {
		task_fault(reader, value, key->name, "expected a map of names and values, not %s.",
			yaml_kind_name(value->kind));
		return;
	}
	reader->task->defines = arena_array(reader->arena, struct task_define, value->count + 1);
	for (const struct yaml_node *child = value->first; child; child = child->next)
		read_define(reader, child, key);
}

static const struct task_file *find_named_file(const struct task *task, const char *name)
{
	for (size_t i = 0; i < task->file_count; i++)
		if (strcmp(task->files[i].name, name) == 0)
			return &task->files[i];
	return NULL;
}

static void read_main(struct task_reader *reader, const struct yaml_node *value,
	const struct task_key *key, void *base)
{
	task_read_text(reader, value, key, base);
	if (!reader->task->main)
		return;
	const struct task_file *file = find_named_file(reader->task, reader->task->main);
	if (!file)
		task_fault(reader, value, key->name, "%s is not the name of one of the files.",
			quote(reader->arena, reader->task->main));
	else if (file->is_submission)
		task_fault(reader, value, key->name,
			"%s is the submission, which may not evaluate itself; name the file that evaluates it.",
			quote(reader->arena, reader->task->main));
}

static void read_sources(struct task_reader *reader, const struct yaml_node *value,
	const struct task_key *key, void *base)
{
	task_read_texts(reader, value, key, base);
	if (value->kind == YAML_LIST && !value->count)
		task_fault(
			reader, value, key->name, "the list is empty; name the files that nvcc compiles.");
	for (size_t i = 0; i < reader->task->source_count; i++)
		if (!find_named_file(reader->task, reader->task->sources[i]))
			task_fault(reader, value, key->name, "%s is not the name of one of the files.",
				quote(reader->arena, reader->task->sources[i]));
}

#define TASK(member) .offset = offsetof(struct task, member)
#define TASK_LIST(member, counter) TASK(member), .count_offset = offsetof(struct task, counter)

static const struct task_key PY_CONFIG_KEYS[] = {
	{ .name = "main", .read = read_main, TASK(main), .required = true },
};

static const struct task_key CU_CONFIG_KEYS[] = {
	{ .name = "sources",
		.read = read_sources,
		TASK_LIST(sources, source_count),
		.rule = task_file_name_fault,
		.required = true },
	{ .name = "include_dirs",
		.read = task_read_texts,
		TASK_LIST(include_dirs, include_dir_count),
		.rule = include_fault },
	{ .name = "defines", .read = read_defines },
	{ .name = "compile_flags",
		.read = task_read_texts,
		TASK_LIST(compile_flags, compile_flag_count),
		.rule = flag_fault,
		.may_repeat = true },
};

static void read_config(struct task_reader *reader, const struct yaml_node *value,
	const struct task_key *key, void *base)
{
	if (!reader->language_known)
		return;
	reader->prefix = "config.";
	if (reader->task->language == TASK_PY)
		task_read_map(reader, value, key->name, PY_CONFIG_KEYS, COUNT(PY_CONFIG_KEYS), base);
	else
		task_read_map(reader, value, key->name, CU_CONFIG_KEYS, COUNT(CU_CONFIG_KEYS), base);
	reader->prefix = "";
	reader->truth = task_detect_truth(reader);
}

static void read_language(struct task_reader *reader, const struct yaml_node *value,
	const struct task_key *key, void *base)
{
	size_t faults = reader->faults->count;
	task_read_choice(reader, value, key, base);
	reader->language_known = reader->faults->count == faults;
}

/* ---- templates ---- */

static bool is_template_language(const char *name)
{
	for (size_t i = 0; TEMPLATE_LANGUAGES[i]; i++)
		if (strcmp(TEMPLATE_LANGUAGES[i], name) == 0)
			return true;
	return false;
}

static void read_template(
	struct task_reader *reader, const struct yaml_node *node, const struct task_key *key)
{
	struct task *task = reader->task;
	if (!is_template_language(node->key->text)) {
		task_fault(reader, node->key, key->name,
			"%s is not a language of templates; they are CUDA, Python, Triton, HIP and CuteDSL.",
			quote(reader->arena, node->key->text));
		return;
	}
	if (node->kind != YAML_TEXT) {
		task_fault(reader, node, key->name, "the template for %s must name a file, not be %s.",
			node->key->text, yaml_kind_name(node->kind));
		return;
	}
	const struct file *file = task_source(reader, node, key->name, node->text);
	if (file)
		task_check_text(reader, node, key->name, file);
	if (file)
		task->templates[task->template_count++] =
			(struct task_template){ .language = node->key->text, .source = file->path };
}

static void read_templates(struct task_reader *reader, const struct yaml_node *value,
	const struct task_key *key, void *base)
{
	(void)base;
	if (value->kind != YAML_MAP) {
		task_fault(reader, value, key->name,
			"expected a map of languages and files like {Python: template.py}, not %s.",
			yaml_kind_name(value->kind));
		return;
	}
	reader->task->templates = arena_array(reader->arena, struct task_template, value->count + 1);
	for (const struct yaml_node *child = value->first; child; child = child->next)
		read_template(reader, child, key);
}

/* ---- podium ---- */

struct expected_text {
	const char *source, *verdict;
	int mode;
};

static const struct task_key EXPECTED_KEYS[] = {
	{ .name = "source",
		.read = task_read_text,
		.offset = offsetof(struct expected_text, source),
		.required = true },
	{ .name = "verdict",
		.read = task_read_text,
		.offset = offsetof(struct expected_text, verdict),
		.required = true },
	{ .name = "mode",
		.read = task_read_choice,
		.offset = offsetof(struct expected_text, mode),
		.choices = MODES },
};

static void read_expectation(
	struct task_reader *reader, const struct yaml_node *node, const char *what)
{
	struct task *task = reader->task;
	struct expected_text text = { .mode = 2 /* ranked */ };
	reader->prefix = "podium.expected.";
	task_read_map(reader, node, what, EXPECTED_KEYS, COUNT(EXPECTED_KEYS), &text);
	reader->prefix = "podium.";
	if (!text.source || !text.verdict)
		return;
	enum verdict verdict = verdict_from_name(text.verdict);
	const struct file *file = task_source(reader, node, "expected", text.source);
	if (verdict == VERDICT_NONE || verdict == VERDICT_INTERNAL_ERROR
		|| verdict == VERDICT_CANCELLED)
		task_fault(reader, node, "expected",
			"%s is not a verdict that a sample can get; those are passed, wrong answer, compile "
			"error, runtime error, time limit, memory limit, output limit and protocol violation.",
			quote(reader->arena, text.verdict));
	else if (file)
		task->expected[task->expected_count++] = (struct task_expected){
			.source = file->path, .verdict = verdict, .mode = MODES[text.mode]
		};
	if (file)
		task_check_text(reader, node, "expected", file);
}

static void read_expected(struct task_reader *reader, const struct yaml_node *value,
	const struct task_key *key, void *base)
{
	struct task_expected *expected = task_read_array(reader, value, key, base, sizeof *expected);
	size_t number = 0;
	for (const struct yaml_node *child = expected ? value->first : NULL; child; child = child->next)
		read_expectation(
			reader, child, arena_printf(reader->arena, "entry %zu of podium.expected", ++number));
}

static const struct task_key BASELINE_KEYS[] = {
	{ .name = "name",
		.read = task_read_text,
		.offset = offsetof(struct task_baseline, name),
		.rule = baseline_fault,
		.required = true },
	{ .name = "file",
		.read = task_read_text,
		.offset = offsetof(struct task_baseline, source),
		.required = true },
};

static bool has_baseline(const struct task *task, const char *name)
{
	for (size_t i = 0; i < task->baseline_count; i++)
		if (strcasecmp(task->baselines[i].name, name) == 0)
			return true;
	return false;
}

static void read_baseline(
	struct task_reader *reader, const struct yaml_node *node, const char *what)
{
	struct task *task = reader->task;
	struct task_baseline baseline = { 0 };
	reader->prefix = "podium.baselines.";
	task_read_map(reader, node, what, BASELINE_KEYS, COUNT(BASELINE_KEYS), &baseline);
	reader->prefix = "podium.";
	if (!baseline.name || !baseline.source)
		return;
	const struct file *file = task_source(reader, node, "baselines", baseline.source);
	if (has_baseline(task, baseline.name))
		task_fault(reader, node, "baselines", "the name %s occurs twice.",
			quote(reader->arena, baseline.name));
	else if (file)
		task->baselines[task->baseline_count++] =
			(struct task_baseline){ .name = baseline.name, .source = file->path };
	if (file)
		task_check_text(reader, node, "baselines", file);
}

static void read_baselines(struct task_reader *reader, const struct yaml_node *value,
	const struct task_key *key, void *base)
{
	if (value->kind == YAML_LIST && value->count > task_most_baselines) {
		task_fault(reader, value, key->name, "there are %zu baselines; at most %d are allowed.",
			value->count, task_most_baselines);
		return;
	}
	struct task_baseline *baselines = task_read_array(reader, value, key, base, sizeof *baselines);
	size_t number = 0;
	for (const struct yaml_node *child = baselines ? value->first : NULL; child;
		 child = child->next)
		read_baseline(
			reader, child, arena_printf(reader->arena, "entry %zu of podium.baselines", ++number));
}

static void read_formula(struct task_reader *reader, const struct yaml_node *value,
	const struct task_key *key, void *base)
{
	if (value->kind != YAML_TEXT && value->kind != YAML_INTEGER && value->kind != YAML_REAL)
		task_fault(reader, value, key->name,
			"expected a formula over the case arguments such as 2 * n * n, not %s.",
			yaml_kind_name(value->kind));
	else
		*(const char **)(void *)((char *)base + key->offset) = value->text;
}

static void read_tolerance(struct task_reader *reader, const struct yaml_node *value,
	const struct task_key *key, void *base)
{
	double number = value->kind == YAML_INTEGER ? (double)value->integer
		: value->kind == YAML_REAL              ? value->real
												: 0;
	if (number > 0 && number < 1e300)
		*(double *)(void *)((char *)base + key->offset) = number;
	else
		task_fault(reader, value, key->name, "expected a number above 0, not %s%s.",
			*value->text ? quote(reader->arena, value->text) : yaml_kind_name(value->kind),
			value->kind == YAML_TEXT ? " (YAML reads 1e-5 as text; write 1.0e-5)" : "");
}

/* The page shows the signature. The declaration in the task's own files enforces it. */
static void read_signature(struct task_reader *reader, const struct yaml_node *value,
	const struct task_key *key, void *base)
{
	task_read_text(reader, value, key, base);
	const char *text = reader->task->kernel_signature;
	if (text && reader->language_known && reader->task->language != TASK_CU)
		task_fault(
			reader, value, key->name, "only a task with lang: cu can ask for a kernel alone.");
	else if (text && !task_declares(reader, text))
		task_fault(reader, value, key->name,
			"none of the files declares %s; without that declaration (ending in \";\") a "
			"submission with other parameters would not be detected.",
			quote(reader->arena, text));
}

static void read_input_is_right(struct task_reader *reader, const struct yaml_node *value,
	const struct task_key *key, void *base)
{
	task_read_truth(reader, value, key, base);
	if (reader->task->input_is_right && reader->language_known && reader->task->language != TASK_PY)
		task_fault(reader, value, key->name,
			"only a task with lang: py is tried with an answer that returns its input.");
}

static void read_truth_form(struct task_reader *reader, const struct yaml_node *value,
	const struct task_key *key, void *base)
{
	(void)base;
	task_read_choice(reader, value, key, &reader->truth);
}

static const struct task_key PODIUM_KEYS[] = {
	{ .name = "flops", .read = read_formula, TASK(flops) },
	{ .name = "bytes", .read = read_formula, TASK(bytes) },
	{ .name = "tolerance", .read = read_tolerance, TASK(tolerance) },
	{ .name = "kernel_signature",
		.read = read_signature,
		TASK(kernel_signature),
		.rule = signature_fault },
	{ .name = "booleans", .read = read_truth_form, .offset = 0, .choices = TRUTHS },
	{ .name = "engine", .read = task_read_choice, TASK(engine), .choices = ENGINES },
	{ .name = "expected", .read = read_expected, TASK_LIST(expected, expected_count) },
	{ .name = "baselines", .read = read_baselines, TASK_LIST(baselines, baseline_count) },
	{ .name = "input_is_right", .read = read_input_is_right, TASK(input_is_right) },
};

static void read_podium(struct task_reader *reader, const struct yaml_node *value,
	const struct task_key *key, void *base)
{
	reader->prefix = "podium.";
	task_read_map(reader, value, key->name, PODIUM_KEYS, COUNT(PODIUM_KEYS), base);
	reader->prefix = "";
}

/* ---- the whole file ---- */

static void read_seed(struct task_reader *reader, const struct yaml_node *value,
	const struct task_key *key, void *base)
{
	if (value->kind == YAML_NULL)
		return;
	task_read_whole(reader, value, key, base);
	reader->task->has_seed = true;
}

/* Existing tasks have this key, so it is accepted and ignored. Nothing is installed while a task
 * runs. */
static void read_libraries(struct task_reader *reader, const struct yaml_node *value,
	const struct task_key *key, void *base)
{
	(void)base;
	struct {
		const char **names;
		size_t count;
	} ignored;
	const struct task_key into = {
		.name = key->name, .rule = key->rule, .offset = 0, .count_offset = sizeof(const char **)
	};
	task_read_texts(reader, value, &into, &ignored);
}

/* The keys are read in this order, so that files, podium.booleans and multi_gpu are known before
 * the keys that depend on them. */
static const struct task_key TASK_KEYS[] = {
	{ .name = "lang",
		.read = read_language,
		TASK(language),
		.choices = LANGUAGES,
		.required = true },
	{ .name = "description", .read = task_read_text, TASK(description), .required = true },
	{ .name = "files", .read = read_files, TASK_LIST(files, file_count), .required = true },
	{ .name = "config", .read = read_config, .required = true },
	{ .name = "podium", .read = read_podium },
	{ .name = "templates", .read = read_templates },
	/* a problem.py may set this key and all following ones: PROBLEM_KEYS */
	{ .name = "gpus", .read = task_read_texts, TASK_LIST(gpus, gpu_count), .rule = gpu_fault },
	{ .name = "libraries", .read = read_libraries, .rule = library_fault },
	{ .name = "multi_gpu", .read = task_read_truth, TASK(multi_gpu) },
	{ .name = "tests", .read = task_read_cases, TASK_LIST(tests, test_count) },
	{ .name = "benchmarks", .read = task_read_cases, TASK_LIST(benchmarks, benchmark_count) },
	{ .name = "test_timeout",
		.read = task_read_whole,
		TASK(test_timeout_s),
		.least = 1,
		.most = task_most_timeout_s },
	{ .name = "benchmark_timeout",
		.read = task_read_whole,
		TASK(benchmark_timeout_s),
		.least = 1,
		.most = task_most_timeout_s },
	{ .name = "ranked_timeout",
		.read = task_read_whole,
		TASK(ranked_timeout_s),
		.least = 1,
		.most = task_most_timeout_s },
	{ .name = "ranking_by", .read = task_read_choice, TASK(ranking_by), .choices = RANKINGS },
	{ .name = "seed", .read = read_seed, TASK(seed), .least = 0, .most = INT32_MAX },
};

static const struct task_key *const PROBLEM_KEYS = &TASK_KEYS[6];
enum { problem_key_count = COUNT(TASK_KEYS) - 6 };

static bool has_cases(const struct yaml_node *root, const char *key)
{
	const struct yaml_node *list = yaml_find(root, key);
	return list
		&& (list->count
			/* a value that is not a list has a fault already */
			|| list->kind != YAML_LIST);
}

/* Adds a fault unless the formula has a value for every benchmark. The page shows the share of the
 * peak for each of them. */
static void check_formula(
	struct task_reader *reader, const struct yaml_node *root, const char *key, const char *formula)
{
	const struct yaml_node *podium = yaml_find(root, "podium");
	const struct task *task = reader->task;
	for (size_t i = 0; formula && podium && i < task->benchmark_count; i++) {
		double value;
		struct error error;
		if (!formula_evaluate(formula, task->benchmarks[i], &value, &error))
			continue;
		task_fault(reader, yaml_find(podium, key), key, "the formula %s for benchmark %zu %s.",
			quote(reader->arena, formula), i + 1, error.text);
		return;
	}
}

static const char NO_TESTS[] =
	"there are no tests, so no submission can be checked; give at least one.";

static void check_cases(struct task_reader *reader, const struct yaml_node *root)
{
	const struct yaml_node *place = yaml_find(root, "benchmarks");
	bool has_tests = has_cases(root, "tests"), has_benchmarks = has_cases(root, "benchmarks");
	if (!has_tests && !has_benchmarks)
		task_fault(reader, place, NULL,
			"there are neither tests nor benchmarks; give at least one of each.");
	else if (!has_tests)
		task_fault(reader, yaml_find(root, "tests"), NULL, "%s", NO_TESTS);
	else if (!has_benchmarks)
		task_fault(reader, place, NULL,
			"there are no benchmarks, so nothing can be ranked; ranking_by %s needs at least "
			"one.",
			task_ranking_by_name(reader->task->ranking_by));
}

void task_read_yaml(struct task_reader *reader, const struct file *definition)
{
	struct yaml_node *root;
	struct error error;
	if (yaml_parse(
			reader->arena, reader->name, definition->bytes, definition->length, &root, &error)) {
		reader->faults->sentences[reader->faults->count++] =
			arena_strdup(reader->arena, error.text);
		return;
	}
	task_read_map(reader, root, "the task", TASK_KEYS, COUNT(TASK_KEYS), reader->task);
	if (root->kind != YAML_MAP)
		return;
	check_cases(reader, root);
	if (!reader->faults->count)
		task_wrap_score_evaluation(reader);
	reader->prefix = "podium.";
	check_formula(reader, root, "flops", reader->task->flops);
	check_formula(reader, root, "bytes", reader->task->bytes);
	reader->prefix = "";
}

void task_read_problem_keys(struct task_reader *reader, const struct yaml_node *root)
{
	task_read_map(reader, root, "the problem", PROBLEM_KEYS, problem_key_count, reader->task);
	if (!reader->task->test_count)
		task_fault(reader, NULL, NULL, "%s", NO_TESTS);
	if (!reader->task->benchmark_count)
		task_fault(reader, NULL, NULL, "there are no benchmarks, so nothing can be ranked.");
}
