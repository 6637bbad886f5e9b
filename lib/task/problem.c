/* Reads the problem.py beside a reference in C++. Lists, maps, numbers, True and texts look alike
 * in Python and in YAML. The assignments in problem.py are therefore copied as YAML, which the
 * reader of task.yml understands. Podium never runs the file. */
#include "lib/task/reader.h"

#include "lib/base/buffer.h"
#include "lib/base/scope.h"

#include <string.h>

/* A position in the Python text, and the YAML written so far. The YAML has the same line numbers,
 * so that errors name the right line. */
struct python {
	const char *at;
	struct buffer *yaml;
	int line;
};

static void take_line_end(struct python *python)
{
	buffer_byte(python->yaml, '\n');
	python->line++;
	python->at++;
}

/* Skips a string that is a statement by itself, such as a docstring. */
static void skip_docstring(struct python *python)
{
	char quote = *python->at;
	size_t length = python->at[1] == quote && python->at[2] == quote ? 3 : 1;
	const char mark[] = { quote, length == 3 ? quote : '\0', quote, '\0' };
	const char *end = strstr(python->at + length, mark);
	end = end ? end + length : python->at + strlen(python->at);
	while (python->at < end)
		if (*python->at == '\n')
			take_line_end(python);
		else
			python->at++;
}

static void copy_string(struct python *python)
{
	char quote = *python->at;
	do {
		if (*python->at == '\\' && python->at[1] && python->at[1] != '\n')
			buffer_byte(python->yaml, *python->at++);
		buffer_byte(python->yaml, *python->at++);
	} while (*python->at && *python->at != quote && *python->at != '\n');
	if (*python->at == quote)
		buffer_byte(python->yaml, *python->at++);
}

/* Copies a value to the end of its line, or of the line that closes its brackets. */
static void copy_value(struct python *python)
{
	for (int depth = 0; *python->at && (depth > 0 || *python->at != '\n');) {
		if (*python->at == '#') {
			python->at += strcspn(python->at, "\n");
		} else if (*python->at == '\n') {
			take_line_end(python);
			buffer_byte(python->yaml, ' '); /* a continued line must be indented */
		} else if (*python->at == '"' || *python->at == '\'') {
			copy_string(python);
		} else {
			depth += strchr("[{(", *python->at) ? 1 : strchr("]})", *python->at) ? -1 : 0;
			buffer_byte(python->yaml, *python->at == '\t' ? ' ' : *python->at);
			python->at++;
		}
	}
}

/* Takes `NAME = VALUE`. False for any other statement. */
static bool take_assignment(struct python *python)
{
	size_t length = strspn(python->at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_");
	const char *after = python->at + length + strspn(python->at + length, " \t");
	if (!length || *after != '=' || after[1] == '=')
		return false;
	buffer_append(python->yaml, python->at, length);
	buffer_text(python->yaml, ": ");
	python->at = after + 1;
	copy_value(python);
	return true;
}

void task_read_problem(struct task_reader *reader, const struct file *problem)
{
	cleanup_buffer struct buffer yaml = { 0 };
	struct python python = { .at = problem->bytes, .yaml = &yaml, .line = 1 };
	if (strncmp(python.at, "\xef\xbb\xbf", 3) == 0)
		python.at += 3;
	bool is_empty = true;
	while (*python.at) {
		if (*python.at == '\n')
			take_line_end(&python);
		else if (strchr(" \t\r\f", *python.at))
			python.at++;
		else if (*python.at == '#')
			python.at += strcspn(python.at, "\n");
		else if (*python.at == '"' || *python.at == '\'')
			skip_docstring(&python);
		else if ((*python.at == 'r' || *python.at == 'R') && strchr("\"'", python.at[1]))
			python.at++;
		else if (take_assignment(&python))
			is_empty = false;
		else {
			struct yaml_node place = { .line = python.line };
			task_fault(reader, &place, NULL,
				"the file is not run, so it may only assign plain values, as in tests = "
				"[{\"seed\": 1}]. Put the code into the reference.");
			return;
		}
	}
	struct yaml_node *root;
	struct error error;
	if (is_empty)
		return;
	if (yaml_parse(reader->arena, reader->name, buffer_string(&yaml), yaml.length, &root, &error)) {
		reader->faults->sentences[reader->faults->count++] =
			arena_strdup(reader->arena, error.text);
		return;
	}
	task_read_problem_keys(reader, root);
}
