#include "lib/base/manual.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

/* Escapes the backslash, and the hyphen so that readers can copy it. */
static void add_letter(struct buffer *out, char letter)
{
	if (letter == '\\')
		buffer_text(out, "\\e");
	else if (letter == '-')
		buffer_text(out, "\\-");
	else
		buffer_byte(out, letter);
}

/* Escapes a dot or quote at the start of a line, because roff would read a request there. Drops the
 * indentation of lines, which is meant for --help. */
static void add_text(struct buffer *out, const char *text)
{
	for (bool begins = true; *text; text++) {
		if (begins && (*text == '.' || *text == '\''))
			buffer_text(out, "\\&");
		if (begins && *text == '\n')
			buffer_text(out, ".PP");
		add_letter(out, *text);
		begins = *text == '\n';
		if (begins)
			text += strspn(text + 1, " ");
	}
}

/* Escapes text for the quoted argument of a roff request. */
static void add_quoted(struct buffer *out, const char *text)
{
	for (; *text; text++)
		if (*text == '"')
			buffer_text(out, "\\(dq");
		else if (*text != '\n')
			add_letter(out, *text);
}

static void add_words(struct buffer *out, const char *bold, const char *italic)
{
	buffer_text(out, "\\fB");
	add_text(out, bold);
	buffer_text(out, "\\fR");
	if (*italic) {
		buffer_text(out, " \\fI");
		add_text(out, italic);
		buffer_text(out, "\\fR");
	}
	buffer_byte(out, '\n');
}

void manual_begin(
	struct buffer *out, const char *name, int section, const char *volume, const char *purpose)
{
	buffer_text(out, ".TH ");
	for (const char *c = name; *c; c++)
		buffer_byte(out, (char)toupper((unsigned char)*c));
	buffer_printf(
		out, " %d \"\" \"podium " PODIUM_VERSION "\" \"%s\"\n.SH NAME\n", section, volume);
	add_text(out, name);
	buffer_text(out, " \\- ");
	add_text(out, purpose);
	buffer_byte(out, '\n');
}

void manual_section(struct buffer *out, const char *title)
{
	buffer_printf(out, ".SH %s\n", title);
}

void manual_subsection(struct buffer *out, const char *bold, const char *rest)
{
	buffer_text(out, ".SS \"");
	add_quoted(out, bold);
	buffer_text(out, *rest ? " " : "");
	add_quoted(out, rest);
	buffer_text(out, "\"\n");
}

void manual_text(struct buffer *out, const char *text)
{
	add_text(out, text);
	if (out->length && out->data[out->length - 1] != '\n')
		buffer_byte(out, '\n');
}

void manual_lines(struct buffer *out, const char *text)
{
	buffer_text(out, ".nf\n");
	for (bool begins = true; *text; begins = *text == '\n', text++) {
		if (begins && (*text == '.' || *text == '\''))
			buffer_text(out, "\\&");
		add_letter(out, *text);
	}
	buffer_text(out, ".fi\n");
}

void manual_item(struct buffer *out, const char *bold, const char *italic, const char *meaning)
{
	buffer_text(out, ".TP\n");
	add_words(out, bold, italic);
	manual_text(out, meaning);
}

void manual_synopsis(struct buffer *out, const char *bold, const char *italic)
{
	buffer_text(out, ".PP\n");
	add_words(out, bold, italic);
}
