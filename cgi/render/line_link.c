#include "cgi/render/line_link.h"

#include "cgi/render/html.h"
#include "lib/base/scope.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

struct linked_source line_link_source(const char *name, const char *code)
{
	struct linked_source source = { name, code, 0 };
	if (!name || !code)
		return source;
	const char *folder = strrchr(name, '/');
	source.name = folder ? folder + 1 : name;
	for (const char *at = code; *at && *source.name; at += strcspn(at, "\n"), at += *at == '\n')
		source.lines++;
	return source;
}

/* What stands between the file's name and the number of the line. */
static const char *const SEPARATORS[] = { "\", line ", ", line ", "(", ":" };

/* Reads the number of a line behind the file's name. Returns its end, or NULL. */
static const char *read_line(const char *at, int64_t *line)
{
	enum { most_digits = 9 };
	for (size_t i = 0; i < COUNT(SEPARATORS); i++) {
		size_t length = strlen(SEPARATORS[i]);
		if (strncmp(at, SEPARATORS[i], length) != 0)
			continue;
		size_t digits = strspn(at + length, "0123456789");
		if (!digits || digits > most_digits)
			return NULL;
		*line = strtoll(at + length, NULL, 10);
		return at + length + digits;
	}
	return NULL;
}

static bool is_in_name(char letter)
{
	return isalnum((unsigned char)letter) || letter == '_' || letter == '.' || letter == '-';
}

bool line_link_next(const char **at, const struct linked_source *source, struct line_link *link)
{
	const char *name;
	for (const char *from = *at; source->lines && (name = strstr(from, source->name)); from++) {
		int64_t line = 0;
		const char *end = read_line(name + strlen(source->name), &line);
		bool begins = name == *at || !is_in_name(name[-1]);
		from = name;
		if (!end || !begins || line < 1 || line > source->lines)
			continue;
		*link = (struct line_link){ name, (size_t)(end - name), line };
		*at = end;
		return true;
	}
	return false;
}

int64_t line_link_first(const char *text, const struct linked_source *source)
{
	struct line_link link;
	return text && line_link_next(&text, source, &link) ? link.line : 0;
}

int64_t line_link_last(const char *text, const struct linked_source *source)
{
	struct line_link link = { 0 };
	while (text && line_link_next(&text, source, &link))
		;
	return link.line;
}

const char *line_link_code(struct arena *arena, const struct linked_source *source, int64_t line)
{
	const char *at = source->code;
	while (--line > 0)
		at += strcspn(at, "\n") + 1;
	at += strspn(at, " \t");
	return arena_strndup(arena, at, strcspn(at, "\r\n"));
}

static void print_part(struct buffer *out, const char *text, size_t length)
{
	cleanup_free char *part = strndup(text, length);
	html_text(out, part);
}

void html_linked(struct buffer *out, const char *text, const struct linked_source *source)
{
	struct line_link link;
	const char *at = text ? text : "", *from = at;
	while (line_link_next(&at, source, &link)) {
		print_part(out, from, (size_t)(link.text - from));
		buffer_printf(out, "<a href=\"#L%lld\">", (long long)link.line);
		print_part(out, link.text, link.length);
		buffer_text(out, "</a>");
		from = at;
	}
	html_text(out, from);
}
