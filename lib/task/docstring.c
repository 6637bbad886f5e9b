/* The description of a task that is a single file: what its author says at the top. */
#include "lib/task_reader.h"

#include "lib/buffer.h"
#include "lib/scope.h"

#include <ctype.h>
#include <string.h>

static const char *skip_mark(const char *code)
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

static size_t indentation(const char *line)
{
	return strspn(line, " \t");
}

static const char *trimmed(struct arena *arena, struct buffer *text)
{
	while (text->length && isspace((unsigned char)text->data[text->length - 1]))
		text->data[--text->length] = '\0';
	return arena_strdup(arena, buffer_string(text) + strspn(buffer_string(text), "\r\n"));
}

/* Lines after the first lose the indentation that they have in common, as Python's help() does it.
 */
static const char *dedent(struct arena *arena, const char *text, size_t length)
{
	const char *copy = arena_strndup(arena, text, length);
	size_t least = SIZE_MAX;
	for (const char *line = strchr(copy, '\n'); line; line = strchr(line + 1, '\n')) {
		size_t spaces = indentation(line + 1);
		if (line[1 + spaces] && !strchr("\r\n", line[1 + spaces]) && spaces < least)
			least = spaces;
	}
	cleanup_buffer struct buffer out = { 0 };
	for (const char *line = copy; *line;) {
		size_t skip = line == copy      ? indentation(line)
			: indentation(line) < least ? indentation(line)
										: least;
		size_t end = strcspn(line, "\n");
		buffer_append(&out, line + skip, end - skip);
		line += end;
		if (*line)
			buffer_byte(&out, *line++);
	}
	return trimmed(arena, &out);
}

/* The module's docstring, if it is the first statement and in triple quotes. */
static const char *python_docstring(struct arena *arena, const char *code)
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

/* Lines without what marks them as a comment: the slashes or the star in front, and one blank. */
static const char *unmarked(struct arena *arena, const char *text, size_t length, const char *mark)
{
	cleanup_buffer struct buffer out = { 0 };
	const char *copy = arena_strndup(arena, text, length);
	for (const char *line = copy; *line;) {
		const char *at = line + indentation(line);
		bool marked = *at && strchr(mark, *at);
		at = marked ? at + strspn(at, mark) : line == copy ? at : line;
		at += marked && *at == ' ';
		buffer_append(&out, at, strcspn(at, "\n"));
		line = at + strcspn(at, "\n");
		if (*line)
			buffer_byte(&out, *line++);
	}
	return trimmed(arena, &out);
}

/* The comment at the very top: one between slashes and stars, or lines that begin with two slashes.
 */
static const char *c_comment(struct arena *arena, const char *code)
{
	code += strspn(code, " \t\r\n\f");
	if (strncmp(code, "/*", 2) == 0) {
		const char *end = strstr(code + 2, "*/");
		return end ? unmarked(arena, code + 2, (size_t)(end - code) - 2, "*") : "";
	}
	const char *end = code;
	for (const char *line = code; strncmp(line + indentation(line), "//", 2) == 0;) {
		line += strcspn(line, "\n");
		end = line;
		line += *line == '\n';
	}
	return unmarked(arena, code, (size_t)(end - code), "/");
}

const char *task_docstring(struct arena *arena, enum task_language language, const char *code)
{
	code = skip_mark(code);
	return language == TASK_PY ? python_docstring(arena, code) : c_comment(arena, code);
}
