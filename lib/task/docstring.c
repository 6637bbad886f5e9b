/* Finds the description of a single-file task: its author's text at the top. */
#include "lib/task/reader.h"

#include "lib/base/buffer.h"
#include "lib/base/scope.h"

#include <ctype.h>
#include <string.h>

static const char *skip_byte_order_mark(const char *code)
{
	return strncmp(code, "\xef\xbb\xbf", 3) == 0 ? code + 3 : code;
}

static const char *skip_to_statement(const char *code)
{
	for (;;) {
		code += strspn(code, " \t\r\n\f");
		if (*code != '#')
			return code;
		code += strcspn(code, "\r\n");
	}
}

static size_t count_indent(const char *line)
{
	return strspn(line, " \t");
}

static const char *trim_lines(struct arena *arena, struct buffer *text)
{
	while (text->length && isspace((unsigned char)text->data[text->length - 1]))
		text->data[--text->length] = '\0';
	return arena_strdup(arena, buffer_string(text) + strspn(buffer_string(text), "\r\n"));
}

/* Removes the common indentation of all lines after the first, as Python's help() does. */
static const char *dedent_docstring(struct arena *arena, const char *text, size_t length)
{
	const char *copy = arena_strndup(arena, text, length);
	size_t least = SIZE_MAX;
	for (const char *line = strchr(copy, '\n'); line; line = strchr(line + 1, '\n')) {
		size_t spaces = count_indent(line + 1);
		if (line[1 + spaces] && !strchr("\r\n", line[1 + spaces]) && spaces < least)
			least = spaces;
	}
	cleanup_buffer struct buffer out = { 0 };
	for (const char *line = copy; *line;) {
		size_t skip = line == copy       ? count_indent(line)
			: count_indent(line) < least ? count_indent(line)
										 : least;
		size_t end = strcspn(line, "\n");
		buffer_append(&out, line + skip, end - skip);
		line += end;
		if (*line)
			buffer_byte(&out, *line++);
	}
	return trim_lines(arena, &out);
}

/* The module's docstring if it is the first statement and in triple quotes, else "". */
static const char *python_docstring(struct arena *arena, const char *code)
{
	const char *at = skip_to_statement(code);
	if (*at == 'r' || *at == 'R')
		at++;
	if (strncmp(at, "\"\"\"", 3) != 0 && strncmp(at, "'''", 3) != 0)
		return "";
	const char mark[] = { *at, *at, *at, '\0' };
	const char *end = strstr(at + 3, mark);
	return end ? dedent_docstring(arena, at + 3, (size_t)(end - at) - 3) : "";
}

/* Copies comment lines without the leading slashes or star and one blank. */
static const char *strip_comment_marks(
	struct arena *arena, const char *text, size_t length, const char *mark)
{
	cleanup_buffer struct buffer out = { 0 };
	const char *copy = arena_strndup(arena, text, length);
	for (const char *line = copy; *line;) {
		const char *at = line + count_indent(line);
		bool marked = *at && strchr(mark, *at);
		at = marked ? at + strspn(at, mark) : line == copy ? at : line;
		at += marked && *at == ' ';
		buffer_append(&out, at, strcspn(at, "\n"));
		line = at + strcspn(at, "\n");
		if (*line)
			buffer_byte(&out, *line++);
	}
	return trim_lines(arena, &out);
}

/* The text of the comment at the very top, which is a block comment or lines with two slashes. */
static const char *c_comment(struct arena *arena, const char *code)
{
	code += strspn(code, " \t\r\n\f");
	if (strncmp(code, "/*", 2) == 0) {
		const char *end = strstr(code + 2, "*/");
		return end ? strip_comment_marks(arena, code + 2, (size_t)(end - code) - 2, "*") : "";
	}
	const char *end = code;
	for (const char *line = code; strncmp(line + count_indent(line), "//", 2) == 0;) {
		line += strcspn(line, "\n");
		end = line;
		line += *line == '\n';
	}
	return strip_comment_marks(arena, code, (size_t)(end - code), "/");
}

const char *task_docstring(struct arena *arena, enum task_language language, const char *code)
{
	code = skip_byte_order_mark(code);
	return language == TASK_PY ? python_docstring(arena, code) : c_comment(arena, code);
}
