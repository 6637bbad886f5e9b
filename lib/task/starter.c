#include "lib/task/starter.h"

#include "lib/base/buffer.h"
#include "lib/base/scope.h"

#include <ctype.h>
#include <string.h>

enum { most_definition_bytes = 2000 };

static const char FUNCTION[] = "custom_kernel"; /* which every stock harness calls */

struct source {
	const char *name, *text;
};
struct sources {
	struct arena *arena;
	struct source *items;
	size_t count;
};

/* ---- words in code ---- */

static bool is_word_byte(char byte)
{
	return isalnum((unsigned char)byte) || byte == '_';
}

/* If `text` begins with the whole word `word`, the text after it; otherwise NULL. */
static const char *after_word(const char *text, const char *word)
{
	size_t length = strlen(word);
	return strncmp(text, word, length) == 0 && !is_word_byte(text[length]) ? text + length : NULL;
}

static const char *next_line(const char *line)
{
	line += strcspn(line, "\n");
	return *line ? line + 1 : NULL;
}

static const char *skip_blanks(const char *text)
{
	return text + strspn(text, " \t");
}

/* ---- the definition of a type ---- */

/* Finds the first character of `ends` outside (), [] and {}, where a definition ends. */
static const char *end_outside_brackets(const char *text, const char *ends)
{
	int depth = 0;
	/* One byte more than a definition may have, so that no hostile file is read again and again. */
	for (const char *most = text + strnlen(text, most_definition_bytes + 1); text < most; text++) {
		if (depth <= 0 && strchr(ends, *text))
			return text;
		depth += strchr("([{", *text) ? 1 : strchr(")]}", *text) ? -1 : 0;
	}
	return text;
}

/* The end of a Python class: the next line that is neither empty nor indented. */
static const char *end_of_class(const char *line)
{
	const char *end = line + strcspn(line, "\n");
	for (const char *at = next_line(line); at && strchr(" \t\r\n", *at); at = next_line(at))
		if (!strchr("\r\n", *skip_blanks(at)))
			end = at + strcspn(at, "\n");
	return end;
}

/* Returns the end of the definition of `name` that begins at `line`; NULL: none begins there. */
static const char *python_definition_end(const char *line, const char *name)
{
	const char *rest = after_word(line, "class");
	if (rest && after_word(skip_blanks(rest), name))
		return end_of_class(line);
	rest = after_word(line, name);
	rest = rest ? skip_blanks(rest) : NULL;
	return rest && (*rest == ':' || (*rest == '=' && rest[1] != '='))
		? end_outside_brackets(rest, "\n")
		: NULL;
}

static const char *cpp_definition_end(const char *line, const char *name)
{
	static const char *const keywords[] = { "struct", "class", "using" };
	for (size_t i = 0; i < COUNT(keywords); i++) {
		const char *rest = after_word(line, keywords[i]);
		rest = rest ? after_word(skip_blanks(rest), name) : NULL;
		if (!rest || *skip_blanks(rest) == ';') /* only a declaration */
			continue;
		const char *end = end_outside_brackets(rest, ";");
		return *end ? end + 1 : end;
	}
	return NULL;
}

/* Finds the definition of the type `name` in the sources. *where becomes the source that has it.
 * NULL: none has. */
static const char *find_definition(const struct sources *sources, enum task_language language,
	const char *name, const struct source **where)
{
	for (size_t i = 0; i < sources->count; i++)
		for (const char *line = sources->items[i].text; line; line = next_line(line)) {
			const char *end = language == TASK_PY ? python_definition_end(line, name)
												  : cpp_definition_end(line, name);
			if (!end || end - line > most_definition_bytes)
				continue;
			*where = &sources->items[i];
			return arena_strndup(sources->arena, line, (size_t)(end - line));
		}
	return NULL;
}

/* ---- the function ---- */

/* The name without its ending: "submission" for "submission.py". */
static const char *stem_of(struct arena *arena, const char *name)
{
	const char *dot = strrchr(name, '.');
	return dot ? arena_strndup(arena, name, (size_t)(dot - name)) : name;
}

static const char *submission_stem(struct arena *arena, const struct task *task)
{
	for (size_t i = 0; i < task->file_count; i++)
		if (task->files[i].is_submission)
			return stem_of(arena, task->files[i].name);
	return "submission";
}

/* The word at `text`; NULL: there is none. */
static const char *word_at(struct arena *arena, const char *text)
{
	size_t length = 0;
	while (is_word_byte(text[length]))
		length++;
	return length && !isdigit((unsigned char)*text) ? arena_strndup(arena, text, length) : NULL;
}

/* Finds the word after the text `before` in the sources. If `after` is not '\0', this character
 * must follow the word. */
static const char *word_between(const struct sources *sources, const char *before, char after)
{
	for (size_t i = 0; i < sources->count; i++) {
		const char *text = sources->items[i].text;
		for (const char *at = strstr(text, before); at; at = strstr(at + 1, before)) {
			const char *word = word_at(sources->arena, at + strlen(before));
			bool starts = at == text || !is_word_byte(at[-1]);
			if (word && starts && (!after || at[strlen(before) + strlen(word)] == after))
				return word;
		}
	}
	return NULL;
}

/* The function that a Python harness takes from the submission. NULL: the files do not tell. */
static const char *function_name(const struct sources *sources, const struct task *task)
{
	const char *stem = submission_stem(sources->arena, task);
	const char *name =
		word_between(sources, arena_printf(sources->arena, "from %s import ", stem), '\0');
	if (!name)
		name = word_between(sources, arena_printf(sources->arena, "%s.", stem), '(');
	for (size_t i = 0; !name && i < sources->count; i++)
		if (strstr(sources->items[i].text, FUNCTION))
			name = FUNCTION;
	return name;
}

/* ---- the file ---- */

/* Writes the text as a comment. */
static void append_commented(struct buffer *out, const char *mark, const char *text)
{
	for (const char *line = text; line; line = next_line(line)) {
		int length = (int)strcspn(line, "\r\n");
		buffer_printf(out, length ? "%s     %.*s\n" : "%s%.*s\n", mark, length, line);
	}
}

static void append_types(
	struct buffer *out, const char *mark, const char *types, const struct source *where)
{
	if (!*types)
		return;
	buffer_printf(out, "%s The types of the task, from %s:\n%s\n", mark, where->name, mark);
	append_commented(out, mark, types);
}

static void append_python(
	struct buffer *out, const struct task_starter *starter, const char *module)
{
	if (*starter->types)
		buffer_printf(out, "from %s import input_t, output_t\n\n\n", module);
	buffer_printf(out, "%s:\n    raise NotImplementedError(\"Write the kernel here.\")\n",
		starter->signature);
}

static void append_cpp(struct buffer *out, const struct task_starter *starter, const char *header)
{
	buffer_printf(out,
		"#include \"%s\"\n\n#include <stdexcept>\n\n%s\n{\n"
		"\tthrow std::runtime_error(\"Write the kernel here.\");\n}\n",
		header, starter->signature);
}

/* The header that a submission includes: task.h, where the task has one. */
static const char *header_of(const struct sources *sources, const struct source *where)
{
	for (size_t i = 0; i < sources->count; i++)
		if (strcmp(sources->items[i].name, "task.h") == 0)
			return "task.h";
	return where->name;
}

static void sign(
	struct task_starter *starter, const struct sources *sources, const struct task *task)
{
	const char *name = task->language == TASK_PY ? function_name(sources, task) : FUNCTION;
	if (task->language == TASK_PY && name)
		starter->signature = arena_printf(sources->arena, "def %s(data%s", name,
			*starter->types ? ": input_t) -> output_t" : ")");
	else if (task->language == TASK_CU && *starter->types)
		starter->signature = "output_t custom_kernel(input_t data)";
}

static struct task_starter kernel_alone(struct arena *arena, const char *signature)
{
	return (struct task_starter){ .signature = signature,
		.types = "",
		.code = arena_printf(arena, "%s\n{\n\t// Write the kernel here.\n}\n", signature) };
}

struct task_starter task_starter_make(
	struct arena *arena, const struct task *task, const struct task_content *files, size_t count)
{
	if (task->kernel_signature)
		return kernel_alone(arena, task->kernel_signature);
	struct sources sources = { arena, arena_array(arena, struct source, count + 1), count };
	for (size_t i = 0; i < count; i++)
		sources.items[i] =
			(struct source){ files[i].path, arena_strndup(arena, files[i].bytes, files[i].length) };
	const struct source *where = NULL;
	const char *input = find_definition(&sources, task->language, "input_t", &where),
			   *output = find_definition(&sources, task->language, "output_t", &where);
	struct task_starter starter = {
		.types = input && output ? arena_printf(arena, "%s\n%s", input, output) : "",
	};
	sign(&starter, &sources, task);
	if (!starter.signature)
		return starter;
	bool python = task->language == TASK_PY;
	cleanup_buffer struct buffer code = { 0 };
	append_types(&code, python ? "#" : "//", starter.types, where);
	if (python)
		append_python(&code, &starter, where ? stem_of(arena, where->name) : "");
	else
		append_cpp(&code, &starter, header_of(&sources, where));
	starter.code = arena_strdup(arena, buffer_string(&code));
	return starter;
}
