/* Source code in colours: which stretch of a text is a comment, a string, a number, a keyword. It
 * reads words, not grammar, goes once from the first byte to the last, and takes whatever it is
 * given. */
#ifndef PODIUM_CGI_HIGHLIGHT_H
#define PODIUM_CGI_HIGHLIGHT_H

#include "lib/buffer.h"

#include <stdbool.h>
#include <stddef.h>

enum source_language { SOURCE_TEXT, SOURCE_PYTHON, SOURCE_CUDA };

/* By the ending of a file's name; SOURCE_TEXT for one that is not known. */
enum source_language source_language_of(const char *file_name);

enum token_kind {
	TOKEN_PLAIN,
	TOKEN_COMMENT,
	TOKEN_STRING,
	TOKEN_NUMBER,
	TOKEN_KEYWORD,
	TOKEN_DIRECTIVE
};

/* A directive is what a line begins with: a decorator of Python, a word of the preprocessor. */
struct token {
	enum token_kind kind;
	const char *text;
	size_t length;
};

struct tokenizer {
	enum source_language language;
	const char *begin, *at;
};

/* The next stretch of a NUL-terminated text, never empty; false at its end. One after the other
 * they are the text. */
bool token_next(struct tokenizer *tokenizer, struct token *token);

/* A filter of templates, {{code, file_name | code}}: numbered lines, each `LN` linkable, with
 * coloured stretches. Line ends become "\n". A text that would make a heavy page is left without
 * colours. */
void html_code(struct buffer *out, const char *code, const char *file_name);

/* One of several on a page, {{code, file_name, name | code_of}}: its lines are `NAME-LN`. */
void html_code_of(struct buffer *out, const char *code, const char *file_name, const char *name);

#endif
