/* Detects from the text of a task's own files how they want to be run. */
#include "lib/base/text.h"
#include "lib/task/reader.h"

#include "lib/base/buffer.h"
#include "lib/base/scope.h"

#include <ctype.h>
#include <string.h>

/* The first of these signs that the text contains decides. An evaluation that compares with "true"
 * gets lower case, which also suits one that first converts the word to lower case. */
static const struct {
	const char *sign;
	enum task_truth truth;
} TRUTH_SIGNS[] = {
	{ "\"true\"", TRUTH_LOWERCASE },
	{ "'true'", TRUTH_LOWERCASE },
	{ "\"True\"", TRUTH_PYTHON },
	{ "'True'", TRUTH_PYTHON },
	{ "literal_eval", TRUTH_PYTHON },
};

static bool file_contains(const struct file *file, const char *text)
{
	return memmem(file->bytes, file->length, text, strlen(text)) != NULL;
}

static bool find_sign(const struct file *file, enum task_truth *truth)
{
	for (size_t i = 0; i < COUNT(TRUTH_SIGNS); i++)
		if (file_contains(file, TRUTH_SIGNS[i].sign)) {
			*truth = TRUTH_SIGNS[i].truth;
			return true;
		}
	return false;
}

static bool is_program(const struct task *task, const char *name)
{
	return (task->main && strcmp(task->main, name) == 0)
		|| text_is_one_of(name, task->sources, task->source_count);
}

/* Searches the main program first, because another file may compare "True" with something else. */
enum task_truth task_detect_truth(const struct task_reader *reader)
{
	const struct task *task = reader->task;
	enum task_truth truth;
	for (int program = 1; program >= 0; program--)
		for (size_t i = 0; i < task->file_count; i++) {
			const struct task_file *file = &task->files[i];
			const struct file *content = task_file_content(reader, file);
			if (!content || is_program(task, file->name) != program)
				continue;
			if (program && task_stock_name(file))
				return TRUTH_PYTHON;
			if (!task_stock_name(file) && find_sign(content, &truth))
				return truth;
		}
	return TRUTH_NUMBERS;
}

/* Whether the file seems to print one score, as `print(f"score: {mean}")` or `log("score", mean)`
 * do. A file that names benchmarks or a number of tests reports in KernelBot's format instead. */
bool task_is_score_evaluation(const struct file *file)
{
	static const char *const signs[] = { "score:", "\"score\"", "'score'", "duration.mean" };
	bool found = false;
	for (size_t i = 0; i < COUNT(signs); i++)
		found = found || file_contains(file, signs[i]);
	return found && !file_contains(file, "benchmark") && !file_contains(file, "test-count");
}

static struct task_file *find_own_file(const struct task_reader *reader, const char *name)
{
	for (size_t i = 0; i < reader->task->file_count; i++) {
		struct task_file *file = &reader->task->files[i];
		if (strcmp(file->name, name) == 0)
			return task_stock_name(file) || !task_file_content(reader, file) ? NULL : file;
	}
	return NULL;
}

/* Appends to the task's lists, which have room for one more element. */
void task_wrap_score_evaluation(struct task_reader *reader)
{
	struct task *task = reader->task;
	const char *program = task->language == TASK_PY ? "eval.py" : "eval.cu";
	const char *wrapper = task->language == TASK_PY ? "score_eval.py" : "score_eval.cu";
	const struct task_file *file = find_own_file(reader, program);
	if (!file || !is_program(task, program) || find_own_file(reader, wrapper)
		|| is_program(task, wrapper) || !task_is_score_evaluation(task_file_content(reader, file))
		|| !fileset_find(reader->stock, wrapper))
		return;
	task->files[task->file_count++] = (struct task_file){ .name = wrapper, .source = "@STOCK@" };
	if (task->language == TASK_PY)
		task->main = wrapper;
	else
		task->sources[task->source_count++] = wrapper;
}

static void append_without_space(struct buffer *out, const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (!isspace((unsigned char)text[i]))
			buffer_byte(out, text[i]);
}

bool task_declares(const struct task_reader *reader, const char *signature)
{
	cleanup_buffer struct buffer wanted = { 0 };
	append_without_space(&wanted, signature, strlen(signature));
	buffer_byte(&wanted, ';');
	bool found = false;
	for (size_t i = 0; i < reader->task->file_count && !found; i++) {
		const struct file *content = task_file_content(reader, &reader->task->files[i]);
		if (!content || task_stock_name(&reader->task->files[i]))
			continue;
		cleanup_buffer struct buffer solid = { 0 };
		append_without_space(&solid, content->bytes, content->length);
		found = memmem(buffer_string(&solid), solid.length, wanted.data, wanted.length) != NULL;
	}
	return found;
}
