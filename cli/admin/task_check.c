#include "cli/admin/task_check.h"

#include "cli/admin/admin.h"
#include "lib/files/fileset.h"
#include "lib/task/local.h"
#include "lib/task/stock.h"
#include "lib/task/task.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

struct check {
	struct arena *arena;
	const char *path;
	struct fileset upload, stock;
	struct task *task;
	struct task_faults faults;
};

static bool is_used(const struct task *task, const char *path)
{
	for (size_t i = 0; i < task->file_count; i++)
		if (strcmp(task->files[i].source, path) == 0)
			return true;
	for (size_t i = 0; i < task->template_count; i++)
		if (strcmp(task->templates[i].source, path) == 0)
			return true;
	for (size_t i = 0; i < task->expected_count; i++)
		if (strcmp(task->expected[i].source, path) == 0)
			return true;
	for (size_t i = 0; i < task->baseline_count; i++)
		if (strcmp(task->baselines[i].source, path) == 0)
			return true;
	const char *slash = strrchr(path, '/');
	return strcmp(slash ? slash + 1 : path, "task.yml") == 0
		|| (task->language == TASK_CU && strcmp(path, "problem.py") == 0);
}

static void describe_file(const struct task_file *file)
{
	if (file->is_submission)
		admin_say("  file       %s: the participant's", file->name);
	else if (strcmp(file->name, file->source) == 0)
		admin_say("  file       %s", file->name);
	else
		admin_say("  file       %s from %s", file->name, file->source);
}

static void describe_files(const struct check *check)
{
	const struct task *task = check->task;
	for (size_t i = 0; i < task->file_count; i++)
		describe_file(&task->files[i]);
	for (size_t i = 0; i < task->template_count; i++)
		admin_say(
			"  template   %s from %s", task->templates[i].language, task->templates[i].source);
	for (size_t i = 0; i < task->expected_count; i++)
		admin_say("  expected   %s: %s (%s)", task->expected[i].source,
			verdict_name(task->expected[i].verdict), task->expected[i].mode);
	for (size_t i = 0; i < task->baseline_count; i++)
		admin_say("  baseline   %s from %s", task->baselines[i].name, task->baselines[i].source);
	for (size_t i = 0; i < check->upload.count; i++)
		if (!is_used(task, check->upload.files[i].path))
			admin_say("  not used   %s", check->upload.files[i].path);
}

static void describe_task(const struct check *check)
{
	const struct task *task = check->task;
	admin_say("%s: good", check->path);
	admin_say("  language   %s", task_language_name(task->language));
	describe_files(check);
	for (size_t i = 0; i < task->test_count; i++)
		admin_say("  test       %s", task->tests[i]);
	for (size_t i = 0; i < task->benchmark_count; i++)
		admin_say("  benchmark  %s", task->benchmarks[i]);
	admin_say("  ranking    by %s", task_ranking_by_name(task->ranking_by));
	admin_say("  engine     %s: %s", task_engine_name(task->choice.engine), task->choice.reason);
	admin_say("  limits     test %lld s, benchmark %lld s, ranked %lld s",
		(long long)task->test_timeout_s, (long long)task->benchmark_timeout_s,
		(long long)task->ranked_timeout_s);
}

static int check_one(const char *path, const char *root)
{
	cleanup_arena struct arena *arena = arena_new();
	struct check *check = arena_array(arena, struct check, 1);
	*check = (struct check){
		.arena = arena, .path = path, .upload = fileset_make(arena), .stock = stock_fileset(arena)
	};
	struct error error = { 0 };
	if (task_from_path(&check->upload, path, root, &error)) {
		admin_say("%s: faulty", path);
		admin_say("  %s", error.text);
		return admin_failed;
	}
	if (!task_check(arena, &check->upload, &check->stock, &check->task, &check->faults)) {
		describe_task(check);
		return admin_done;
	}
	admin_say("%s: faulty", path);
	for (size_t i = 0; i < check->faults.count; i++)
		admin_say("  %s", check->faults.sentences[i]);
	if (check->faults.count == task_most_faults)
		admin_say("  These are the first %d faults; there may be more.", (int)task_most_faults);
	return admin_failed;
}

int task_check_command(int argc, char **argv)
{
	const char *root = NULL;
	int first = 1;
	if (argc > 2 && strcmp(argv[1], "--root") == 0) {
		root = argv[2];
		first = 3;
	}
	if (argc <= first || strncmp(argv[first], "--", 2) == 0)
		return admin_usage("task check");
	int worst = admin_done;
	for (int i = first; i < argc; i++)
		if (check_one(argv[i], root) != admin_done)
			worst = admin_failed;
	return worst;
}
