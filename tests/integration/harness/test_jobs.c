/* A helper of tests, not a test: reads a task's folder with the code that reads uploads, and prints
 * the jobs that tests pass to podium-run. Each job is a line of JSON:
 *
 *	{"source": "samples/right.py", "mode": "ranked", "verdict": "passed", "language": null,
 *	 "engine": "isolated", "engine_reason": ..., "task": ..., "files": [{"path", "text"}],
 *	 "submission": {"name", "text"}}
 *
 * Each sample gives a job with the verdict that the task expects. Each template gives a job in mode
 * "test" with the template's language and no verdict. */
#include "lib/base/scope.h"
#include "lib/files/fileset.h"
#include "lib/task/engine.h"
#include "lib/task/stock.h"
#include "lib/task/task.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

struct folder {
	struct arena *arena;
	struct fileset upload, stock;
	struct task *task;
	struct task_content *contents;
	size_t content_count;
};

static int read_folder(struct folder *folder, const char *path, struct error *error)
{
	int rc = fileset_from_folder(&folder->upload, path, error);
	if (!rc)
		rc = task_parse(folder->arena, &folder->upload, &folder->stock, &folder->task, error);
	if (!rc)
		rc = task_contents(folder->arena, folder->task, &folder->upload, &folder->stock,
			&folder->contents, &folder->content_count, error);
	return rc;
}

static json_t *files_of(const struct folder *folder)
{
	json_t *files = json_array();
	for (size_t i = 0; i < folder->content_count; i++) {
		const struct task_content *content = &folder->contents[i];
		if (content->role == ROLE_FILE)
			json_array_append_new(files,
				json_pack(
					"{s:s, s:s%}", "path", content->path, "text", content->bytes, content->length));
	}
	return files;
}

/* Prints a job. Returns 0, or -1 if the sample is not valid text. */
static int print_job(const struct folder *folder, const char *source, const char *mode,
	const char *verdict, const char *language)
{
	const struct file *file = fileset_find(&folder->upload, source);
	const char *name = strrchr(source, '/') ? strrchr(source, '/') + 1 : source;
	/* Scripts for a GPU choose the sealed engine themselves. */
	const struct engine_choice choice = engine_on(folder->task->choice, "CPU");
	json_t *job = json_pack("{s:s, s:s, s:s?, s:s?, s:s, s:s, s:o, s:o, s:{s:s, s:s%}}", "source",
		source, "mode", mode, "verdict", verdict, "language", language, "engine",
		task_engine_name(choice.engine), "engine_reason", choice.reason, "task",
		task_to_json(folder->task), "files", files_of(folder), "submission", "name", name, "text",
		file->bytes, file->length);
	int rc = json_dumpf(job, stdout, 0);
	putchar('\n');
	json_decref(job);
	return rc;
}

static int print_jobs(const struct folder *folder)
{
	const struct task *task = folder->task;
	int rc = 0;
	for (size_t i = 0; i < task->expected_count && !rc; i++)
		rc = print_job(folder, task->expected[i].source, task->expected[i].mode,
			verdict_name(task->expected[i].verdict), NULL);
	for (size_t i = 0; i < task->template_count && !rc; i++)
		rc =
			print_job(folder, task->templates[i].source, "test", NULL, task->templates[i].language);
	return rc;
}

int main(int argument_count, char **arguments)
{
	if (argument_count != 2) {
		fprintf(stderr, "usage: %s TASK-FOLDER\n", arguments[0]);
		return 2;
	}
	cleanup_arena struct arena *arena = arena_new();
	struct folder folder = {
		.arena = arena, .upload = fileset_make(arena), .stock = stock_fileset(arena)
	};
	struct error error;
	if (read_folder(&folder, arguments[1], &error)) {
		fprintf(stderr, "%s: %s\n", arguments[1], error.text);
		return 1;
	}
	return print_jobs(&folder) ? 1 : 0;
}
