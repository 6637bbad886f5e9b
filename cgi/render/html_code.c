/* Prints source code as numbered, highlighted lines. */
#include "cgi/render/highlight.h"
#include "cgi/render/html.h"

#include <string.h>

/* Highlighting makes a page several times as long as its code. */
enum { most_coloured_bytes = 300 * 1000 };

struct code_writer {
	struct buffer *out;
	const char *begin;   /* prefix of the lines' ids */
	struct buffer piece; /* the piece of a line that is being escaped */
	size_t line;
	bool is_open; /* the current line's elements are open */
};

static void open_line(struct code_writer *writer)
{
	if (writer->is_open)
		return;
	size_t line = ++writer->line;
	buffer_printf(writer->out,
		"<span class=\"line\" id=\"%sL%zu\"><a class=\"line-number\" href=\"#%sL%zu\">%zu</a>",
		writer->begin, line, writer->begin, line, line);
	writer->is_open = true;
}

static void close_line(struct code_writer *writer)
{
	open_line(writer);
	buffer_text(writer->out, "\n</span>");
	writer->is_open = false;
}

static void write_piece(
	struct code_writer *writer, const char *text, size_t length, enum token_kind kind)
{
	static const char *const names[] = {
		[TOKEN_COMMENT] = "comment",
		[TOKEN_STRING] = "string",
		[TOKEN_NUMBER] = "number",
		[TOKEN_KEYWORD] = "keyword",
		[TOKEN_DIRECTIVE] = "directive",
	};
	open_line(writer);
	if (!length)
		return;
	buffer_clear(&writer->piece);
	buffer_append(&writer->piece, text, length);
	if (kind != TOKEN_PLAIN)
		buffer_printf(writer->out, "<span class=\"%s\">", names[kind]);
	html_text(writer->out, writer->piece.data);
	if (kind != TOKEN_PLAIN)
		buffer_text(writer->out, "</span>");
}

/* Splits a token at line ends, so that each line has its own elements. */
static void write_token(struct code_writer *writer, const struct token *token)
{
	const char *at = token->text, *end = token->text + token->length;
	while (at < end) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		const char *stop = newline ? newline : end;
		/* Leave out the "\r" of a line end. It may be at the end of the token before the "\n",
		 * because a comment ends before "\n". */
		bool has_return = stop > at && stop[-1] == '\r' && *stop == '\n';
		write_piece(writer, at, (size_t)(stop - at) - has_return, token->kind);
		if (newline)
			close_line(writer);
		at = stop + (newline != NULL);
	}
}

static void write_code(
	struct buffer *out, const char *code, const char *file_name, const char *begin)
{
	struct code_writer writer = { .out = out, .begin = begin };
	bool is_light = strlen(code) <= most_coloured_bytes;
	struct tokenizer tokenizer = { is_light ? source_language_of(file_name) : SOURCE_TEXT, code,
		code };
	struct token token;
	while (token_next(&tokenizer, &token))
		write_token(&writer, &token);
	if (writer.is_open)
		close_line(&writer);
	buffer_free(&writer.piece);
}

void html_code(struct buffer *out, const char *code, const char *file_name)
{
	write_code(out, code, file_name, "");
}

void html_code_of(struct buffer *out, const char *code, const char *file_name, const char *name)
{
	cleanup_buffer struct buffer begin = { 0 };
	html_url_part(&begin, name); /* safe in an attribute and after '#' */
	buffer_byte(&begin, '-');
	write_code(out, code, file_name, begin.data);
}
