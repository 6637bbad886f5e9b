/* The older form: no task.yml, but one reference_code.py with generate_input(), ref_kernel and
 * check_implementation(custom_output, ref_output) -> bool. A stock shim named reference.py gives it the
 * interface that the stock eval.py expects. */
#include "lib/task_reader.h"

#include "lib/buffer.h"
#include "lib/quote.h"
#include "lib/scope.h"
#include "lib/text.h"

#include <ctype.h>
#include <string.h>

static const struct task_file SINGLE_FILES[] = {
	{ "submission.py", "@SUBMISSION@", true },
	{ "reference_code.py", "reference_code.py", false },
	{ "reference.py", "@STOCK@:single_reference.py", false },
	{ "eval.py", "@STOCK@", false },
	{ "utils.py", "@STOCK@", false },
};
static const char *const SINGLE_TESTS[] = { "seed: 1", "seed: 2", "seed: 3" };
static const char *const SINGLE_BENCHMARKS[] = { "seed: 4" };
static const char *const SINGLE_FUNCTIONS[] = { "generate_input", "ref_kernel", "check_implementation" };

/* Whether the word stands anywhere: it may be defined, assigned or imported. */
static bool mentions(const char *code, const char *word)
{
	size_t length = strlen(word);
	for (const char *at = strstr(code, word); at; at = strstr(at + 1, word)) {
		char before = at == code ? ' ' : at[-1], after = at[length];
		if (!isalnum((unsigned char)before) && before != '_' && !isalnum((unsigned char)after) && after != '_')
			return true;
	}
	return false;
}

static const char *skip_to_statement(const char *code)
{
	if (strncmp(code, "\xef\xbb\xbf", 3) == 0)
		code += 3;
	for (;;) {
		code += strspn(code, " \t\r\n\f");
		if (*code != '#')
			return code;
		code += strcspn(code, "\r\n");
	}
}

static size_t indentation(const char *line)
{
	return strspn(line, " \t");
}

/* Lines after the first lose the indentation that they have in common, as Python's help() does it. */
static const char *dedent(struct arena *arena, const char *text, size_t length)
{
	const char *copy = arena_strndup(arena, text, length);
	size_t least = SIZE_MAX;
	for (const char *line = strchr(copy, '\n'); line; line = strchr(line + 1, '\n')) {
		size_t spaces = indentation(line + 1);
		if (line[1 + spaces] && !strchr("\r\n", line[1 + spaces]) && spaces < least)
			least = spaces;
	}
	cleanup_buffer struct buffer out = {0};
	for (const char *line = copy; *line;) {
		size_t skip = line == copy ? indentation(line) : indentation(line) < least ? indentation(line) : least;
		size_t end = strcspn(line, "\n");
		buffer_append(&out, line + skip, end - skip);
		line += end;
		if (*line)
			buffer_byte(&out, *line++);
	}
	while (out.length && isspace((unsigned char)out.data[out.length - 1]))
		out.data[--out.length] = '\0';
	return arena_strdup(arena, buffer_string(&out) + strspn(buffer_string(&out), "\r\n"));
}

/* The module's docstring, if it is the first statement and in triple quotes; else "". */
static const char *docstring(struct arena *arena, const char *code)
{
	const char *at = skip_to_statement(code);
	if (*at == 'r' || *at == 'R')
		at++;
	if (strncmp(at, "\"\"\"", 3) != 0 && strncmp(at, "'''", 3) != 0)
		return "";
	const char mark[] = { *at, *at, *at, '\0' };
	const char *end = strstr(at + 3, mark);
	return end ? dedent(arena, at + 3, (size_t)(end - at) - 3) : "";
}

/* samples/wrong-answer.py and samples/wrong-answer-zeros.py are expected to be wrong answers. */
static enum verdict sample_verdict(const char *path)
{
	static const char folder[] = "samples/";
	if (strncmp(path, folder, sizeof folder - 1) != 0 || !text_ends_with(path, ".py"))
		return VERDICT_NONE;
	for (enum verdict verdict = VERDICT_PASSED; verdict <= VERDICT_PROTOCOL_VIOLATION; verdict++) {
		const char *name = verdict_name(verdict), *at = path + sizeof folder - 1;
		while (*name && (*at == *name || (*at == '-' && *name == ' '))) {
			at++;
			name++;
		}
		if (!*name && (*at == '.' || *at == '-'))
			return verdict;
	}
	return VERDICT_NONE;
}

static void read_samples(struct task_reader *reader)
{
	struct task *task = reader->task;
	task->expected = arena_array(reader->arena, struct task_expected, reader->upload->count + 1);
	for (size_t i = 0; i < reader->upload->count; i++) {
		const char *path = reader->upload->files[i].path;
		enum verdict verdict = sample_verdict(path);
		if (verdict != VERDICT_NONE)
			task->expected[task->expected_count++] = (struct task_expected){ path, verdict, "ranked" };
	}
}

static void read_template(struct task_reader *reader)
{
	const struct file *file = fileset_find(reader->upload, "template.py");
	if (!file)
		return;
	reader->task->templates = arena_array(reader->arena, struct task_template, 1);
	reader->task->templates[0] = (struct task_template){ "Python", file->path };
	reader->task->template_count = 1;
}

static void check_code(struct task_reader *reader, const struct file *code)
{
	if (!text_is_utf8(code->bytes, code->length) || memchr(code->bytes, '\0', code->length)) {
		task_fault(reader, NULL, NULL, "the file is not UTF-8 text.");
		return;
	}
	for (size_t i = 0; i < COUNT(SINGLE_FUNCTIONS); i++)
		if (!mentions(code->bytes, SINGLE_FUNCTIONS[i]))
			task_fault(reader, NULL, NULL, "it has no %s; the form with a single file needs generate_input(), ref_kernel and "
				"check_implementation(custom_output, ref_output).", SINGLE_FUNCTIONS[i]);
}

static void check_stock(struct task_reader *reader)
{
	for (size_t i = 0; i < COUNT(SINGLE_FILES); i++) {
		const char *stock = task_stock_name(&SINGLE_FILES[i]);
		if (stock && !fileset_find(reader->stock, stock))
			task_fault(reader, NULL, NULL, "there is no stock file %s.", quote(reader->arena, stock));
	}
}

static const char **copy_texts(struct arena *arena, const char *const *texts, size_t count)
{
	return arena_copy(arena, texts, count * sizeof *texts);
}

void task_read_single(struct task_reader *reader, const struct file *code)
{
	check_code(reader, code);
	check_stock(reader);
	if (reader->faults->count)
		return;
	struct task *task = reader->task;
	struct arena *arena = reader->arena;
	task->language = TASK_PY;
	task->description = docstring(arena, code->bytes);
	task->main = "eval.py";
	task->files = arena_copy(arena, SINGLE_FILES, sizeof SINGLE_FILES);
	task->file_count = COUNT(SINGLE_FILES);
	task->tests = copy_texts(arena, SINGLE_TESTS, COUNT(SINGLE_TESTS));
	task->test_count = COUNT(SINGLE_TESTS);
	task->benchmarks = copy_texts(arena, SINGLE_BENCHMARKS, COUNT(SINGLE_BENCHMARKS));
	task->benchmark_count = COUNT(SINGLE_BENCHMARKS);
	task->ranking_by = RANKING_BY_LAST;
	read_template(reader);
	read_samples(reader);
}
