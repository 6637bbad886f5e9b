/* Syntax highlighting: finds comments, strings, numbers and keywords. The tokenizer knows words but
 * no grammar. It reads the text once and accepts any input. */
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

/* Finds the next token of a NUL-terminated text; a token is never empty. Returns false at the end
 * of the text. The concatenated tokens are the text. */
bool token_next(struct tokenizer *tokenizer, struct token *token);

/* The template filter {{code, file_name | code}}: highlighted, numbered lines, each linkable as
 * `LN`. Line ends become "\n". Long text is shown without highlighting, because its page would be
 * too large. */
void html_code(struct buffer *out, const char *code, const char *file_name);

/* The filter {{code, file_name, name | code_of}}, for a page with several sources: a line is
 * linkable as `NAME-LN`. */
void html_code_of(struct buffer *out, const char *code, const char *file_name, const char *name);

#endif
