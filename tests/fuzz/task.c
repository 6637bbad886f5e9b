/* Tasks of every form. An accepted task must keep the limits, have all its files, and survive being
 * stored as JSON. */
#include "lib/task/task.h"

#include "lib/task/formula.h"
#include "tests/fuzz/upload.h"

static void check_cases(const char *const *cases, size_t count)
{
	require(count <= task_most_cases);
	for (size_t i = 0; i < count; i++) {
		require(strlen(cases[i]) <= task_most_case_bytes);
		require_sentence(*cases[i] ? cases[i] : "-");
	}
}

static void check_files(const struct task *task)
{
	size_t slots = 0;
	for (size_t i = 0; i < task->file_count; i++) {
		const char *name = task->files[i].name;
		slots += task->files[i].is_submission;
		require(path_fault(name, strlen(name)) == NULL);
		for (size_t k = 0; k < i; k++)
			require(strcmp(name, task->files[k].name) != 0);
	}
	require(slots == 1);
}

static void check_limits(const struct task *task)
{
	const int64_t timeouts_s[] = { task->test_timeout_s, task->benchmark_timeout_s,
		task->ranked_timeout_s };
	for (size_t i = 0; i < COUNT(timeouts_s); i++)
		require(timeouts_s[i] >= 1 && timeouts_s[i] <= task_most_timeout_s);
	check_cases(task->tests, task->test_count);
	check_cases(task->benchmarks, task->benchmark_count);
	check_files(task);
	require(task->language == TASK_CU ? task->source_count > 0 : task->main != NULL);
	for (size_t i = 0; i < task->benchmark_count; i++) {
		double value;
		require(
			!task->flops || formula_evaluate(task->flops, task->benchmarks[i], &value, NULL) == 0);
		require(
			!task->bytes || formula_evaluate(task->bytes, task->benchmarks[i], &value, NULL) == 0);
	}
}

static void check_contents(
	struct arena *arena, const struct task *task, const struct fileset *upload)
{
	struct task_content *contents;
	size_t count, files = 0;
	require(task_contents(arena, task, upload, fuzz_stock(), &contents, &count, NULL) == 0);
	for (size_t i = 0; i < count; i++) {
		files += contents[i].role == ROLE_FILE;
		require(contents[i].bytes != NULL && contents[i].path != NULL);
		if (contents[i].role != ROLE_FILE && contents[i].role != ROLE_DEFINITION)
			require_text(contents[i].bytes, contents[i].length);
	}
	require(files + 1 == task->file_count); /* all files except the submission */
}

static void check_json(struct arena *arena, const struct task *task)
{
	struct task *again;
	json_t *json = task_to_json(task);
	require(task_from_json(arena, json, &again, NULL) == 0);
	json_t *twice = task_to_json(again);
	require(json_equal(json, twice));
	json_decref(json);
	json_decref(twice);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	cleanup_free char *text = fuzz_string(bytes, length);
	cleanup_arena struct arena *arena = arena_new();
	struct fileset upload = fuzz_upload(arena, text, length);
	struct task *task = NULL;
	struct task_faults faults;
	struct error error = { 0 };
	int rc = task_check(arena, &upload, fuzz_stock(), &task, &faults);
	int first = task_parse(arena, &upload, fuzz_stock(), &task, &error);
	require((rc == 0) == (first == 0));
	if (rc) {
		require(rc == ERROR_INPUT);
		require_faults(&faults);
		require_error(first, &error);
		return 0;
	}
	require(faults.count == 0);
	check_limits(task);
	check_contents(arena, task, &upload);
	check_json(arena, task);
	return 0;
}
