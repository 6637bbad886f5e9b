#include "lib/submission/file.h"

#include "lib/base/buffer.h"
#include "lib/base/quote.h"
#include "lib/base/scope.h"
#include "lib/base/text.h"

#include <string.h>

enum { most_file_name_bytes = 200, most_bytes_mb = submission_most_bytes / 1000000 };

static const struct language {
	const char *name, *words;
	const char *endings[4];
	const char *pasted; /* the name of pasted code */
	const char *choose; /* the endings in words */
} LANGUAGES[] = {
	{ "py", "Python", { ".py" }, "submission.py", ".py" },
	{ "cu", "CUDA C++", { ".cu", ".cuh", ".cpp" }, "submission.cu", ".cu, .cuh or .cpp" },
};

static const struct language *find_language(const char *name)
{
	for (size_t i = 0; i < COUNT(LANGUAGES); i++)
		if (strcmp(LANGUAGES[i].name, name) == 0)
			return &LANGUAGES[i];
	return &LANGUAGES[0];
}

/* The last part of the name as printable text, because browsers may send a path, and other clients
 * any bytes. */
static const char *clean_name(struct arena *arena, const char *name)
{
	const char *last = name;
	for (const char *c = name; *c; c++)
		if (*c == '/' || *c == '\\')
			last = c + 1;
	cleanup_buffer struct buffer printable = { 0 };
	text_append_printable(&printable, last);
	return arena_strdup(arena, buffer_string(&printable));
}

static int check_name(struct arena *arena, const struct language *language, const char *sent,
	struct submission_file *file, struct error *error)
{
	if (!sent || !*sent) {
		file->field = "code";
		file->name = language->pasted;
		return 0;
	}
	file->field = "file";
	file->name = clean_name(arena, sent);
	if (strlen(file->name) > most_file_name_bytes)
		return fail_field(error, "file",
			"The file's name is longer than %d bytes; give it a shorter one.",
			most_file_name_bytes);
	for (size_t i = 0; i < COUNT(language->endings) && language->endings[i]; i++)
		if (text_ends_with(file->name, language->endings[i]))
			return 0;
	return fail_field(error, "file",
		"%s is the wrong type of file: the task is in %s, so the name must end with %s.",
		quote(arena, file->name), language->words, language->choose);
}

static bool is_blank(const char *source, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (!strchr(" \t\r\n\v\f", source[i]))
			return false;
	return true;
}

static size_t line_of(const char *source, size_t at)
{
	size_t line = 1;
	for (size_t i = 0; i < at; i++)
		line += source[i] == '\n';
	return line;
}

static int check_source(const struct submission_file *file, struct error *error)
{
	const char *source = file->source, *what = file->field;
	size_t length = file->length;
	if (length > submission_most_bytes)
		return fail_field(error, file->field,
			"The %s has %zu bytes; at most %d MB (%d bytes) is allowed.", what, length,
			most_bytes_mb, submission_most_bytes);
	if (is_blank(source, length))
		return fail_field(error, file->field, "The %s is empty.", what);
	const char *nul = memchr(source, '\0', length);
	size_t valid = text_utf8_prefix(source, length);
	if (valid < length)
		return fail_field(error, file->field,
			"The %s is not UTF-8 text: line %zu has the invalid byte 0x%02x; save it as UTF-8.",
			what, line_of(source, valid), (unsigned int)(unsigned char)source[valid]);
	if (nul)
		return fail_field(error, file->field, "The %s has a NUL byte in line %zu; remove it.", what,
			line_of(source, (size_t)(nul - source)));
	return 0;
}

int submission_file_take(struct arena *arena, const char *language, const char *name,
	const char *source, size_t length, struct submission_file *file, struct error *error)
{
	*file = (struct submission_file){ .source = source, .length = length };
	int rc = check_name(arena, find_language(language), name, file, error);
	return rc ? rc : check_source(file, error);
}
