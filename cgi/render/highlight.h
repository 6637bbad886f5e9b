/* Syntax highlighting: finds comments, strings, numbers and keywords. The tokenizer knows words,
 * not grammar, reads the text once, and accepts any input. */
#ifndef PODIUM_CGI_RENDER_HIGHLIGHT_H
#define PODIUM_CGI_RENDER_HIGHLIGHT_H

#include "lib/base/buffer.h"

#include <stdbool.h>
#include <stddef.h>

enum source_language { SOURCE_TEXT, SOURCE_PYTHON, SOURCE_CUDA };

/* The language by file extension; SOURCE_TEXT for an unknown one. */
enum source_language source_language_of(const char *file_name);

enum token_kind {
	TOKEN_PLAIN,
	TOKEN_COMMENT,
	TOKEN_STRING,
	TOKEN_NUMBER,
	TOKEN_KEYWORD,
	TOKEN_DIRECTIVE
};

/* A directive begins a line: a Python decorator or a preprocessor word. */
struct token {
	enum token_kind kind;
	const char *text;
	size_t length;
};

struct tokenizer {
	enum source_language language;
	const char *begin, *at;
};

/* The next token of a NUL-terminated text, never empty; false at its end. All tokens together are
 * the text. */
bool token_next(struct tokenizer *tokenizer, struct token *token);

/* The template filter {{code, file_name | code}}: highlighted, numbered lines, each linkable as
 * `LN`. Line ends become "\n". Text that would make a heavy page is not highlighted. */
void html_code(struct buffer *out, const char *code, const char *file_name);

/* The filter {{code, file_name, name | code_of}} for several on a page: lines are `NAME-LN`. */
void html_code_of(struct buffer *out, const char *code, const char *file_name, const char *name);

#endif
