#include "cgi/render/highlight.h"

#include "lib/base/scope.h"
#include "lib/base/text.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum source_language source_language_of(const char *file_name)
{
	static const struct {
		const char *ending;
		enum source_language language;
	} endings[] = {
		{ ".py", SOURCE_PYTHON },
		{ ".cu", SOURCE_CUDA },
		{ ".cuh", SOURCE_CUDA },
		{ ".cpp", SOURCE_CUDA },
		{ ".cc", SOURCE_CUDA },
		{ ".c", SOURCE_CUDA },
		{ ".h", SOURCE_CUDA },
		{ ".hpp", SOURCE_CUDA },
	};
	for (size_t i = 0; i < COUNT(endings); i++)
		if (text_ends_with(file_name, endings[i].ending))
			return endings[i].language;
	return SOURCE_TEXT;
}

/* ---- words ---- */

/* Sorted, for bsearch. */
static const char *const PYTHON_KEYWORDS[] = {
	"False",
	"None",
	"True",
	"and",
	"as",
	"assert",
	"async",
	"await",
	"break",
	"case",
	"class",
	"continue",
	"def",
	"del",
	"elif",
	"else",
	"except",
	"finally",
	"for",
	"from",
	"global",
	"if",
	"import",
	"in",
	"is",
	"lambda",
	"match",
	"nonlocal",
	"not",
	"or",
	"pass",
	"raise",
	"return",
	"try",
	"while",
	"with",
	"yield",
};
static const char *const CUDA_KEYWORDS[] = {
	"__constant__",
	"__device__",
	"__forceinline__",
	"__global__",
	"__grid_constant__",
	"__host__",
	"__launch_bounds__",
	"__managed__",
	"__noinline__",
	"__restrict__",
	"__shared__",
	"alignas",
	"alignof",
	"asm",
	"auto",
	"bool",
	"break",
	"case",
	"catch",
	"char",
	"class",
	"const",
	"const_cast",
	"consteval",
	"constexpr",
	"constinit",
	"continue",
	"decltype",
	"default",
	"delete",
	"do",
	"double",
	"dynamic_cast",
	"else",
	"enum",
	"explicit",
	"extern",
	"false",
	"float",
	"for",
	"friend",
	"goto",
	"if",
	"inline",
	"int",
	"long",
	"mutable",
	"namespace",
	"new",
	"noexcept",
	"nullptr",
	"operator",
	"private",
	"protected",
	"public",
	"register",
	"reinterpret_cast",
	"return",
	"short",
	"signed",
	"sizeof",
	"static",
	"static_assert",
	"static_cast",
	"struct",
	"switch",
	"template",
	"this",
	"thread_local",
	"throw",
	"true",
	"try",
	"typedef",
	"typename",
	"union",
	"unsigned",
	"using",
	"virtual",
	"void",
	"volatile",
	"while",
};

struct word {
	const char *text;
	size_t length;
};

static int compare_word(const void *key, const void *entry)
{
	const struct word *word = key;
	const char *keyword_length = *(const char *const *)entry;
	int order = strncmp(word->text, keyword_length, word->length);
	return order ? order : -(keyword_length[word->length] != '\0');
}

static bool is_keyword(enum source_language language, const char *text, size_t length)
{
	struct word word = { text, length };
	return language == SOURCE_PYTHON
		? bsearch(
			  &word, PYTHON_KEYWORDS, COUNT(PYTHON_KEYWORDS), sizeof *PYTHON_KEYWORDS, compare_word)
			!= NULL
		: bsearch(&word, CUDA_KEYWORDS, COUNT(CUDA_KEYWORDS), sizeof *CUDA_KEYWORDS, compare_word)
			!= NULL;
}

static bool begins_word(char byte)
{
	return isalpha((unsigned char)byte) || byte == '_' || (unsigned char)byte >= 0x80;
}

static size_t word_length(const char *at)
{
	size_t length = 0;
	if (begins_word(*at))
		while (begins_word(at[length]) || isdigit((unsigned char)at[length]))
			length++;
	return length;
}

/* ---- lexemes: each function returns the length of its lexeme at `at`, 0 if there is none ---- */

static bool begins_source_line(const struct tokenizer *tokenizer)
{
	const char *at = tokenizer->at;
	while (at > tokenizer->begin && (at[-1] == ' ' || at[-1] == '\t'))
		at--;
	return at == tokenizer->begin || at[-1] == '\n';
}

/* Returns the length up to the end of the line. With `continues`, a backslash at the end of the
 * line joins it with the next line. */
static size_t rest_of_line(const char *at, bool continues)
{
	size_t length = 0;
	for (; at[length] && at[length] != '\n'; length++)
		if (continues && at[length] == '\\' && at[length + 1] == '\n')
			length++;
	return length;
}

static size_t comment_length(const struct tokenizer *tokenizer)
{
	const char *at = tokenizer->at;
	if (tokenizer->language == SOURCE_PYTHON)
		return *at == '#' ? rest_of_line(at, false) : 0;
	if (at[0] == '/' && at[1] == '/')
		return rest_of_line(at, true);
	if (at[0] != '/' || at[1] != '*')
		return 0;
	const char *end = strstr(at + 2, "*/");
	return end ? (size_t)(end - at) + 2 : strlen(at);
}

/* Returns the length of a string with its opening and closing quotes, of which there are 1 or 3
 * each. A backslash escapes the next character. With 1 quote, the string ends at the end of the
 * line at the latest. */
static size_t quoted_length(const char *at, size_t quotes)
{
	size_t length = quotes;
	for (; at[length]; length++) {
		if (at[length] == '\\' && at[length + 1]) {
			length++;
			continue;
		}
		if (quotes == 1 && at[length] == '\n')
			return length;
		if (strncmp(at + length, at, quotes) == 0)
			return length + quotes;
	}
	return length;
}

static size_t python_string_length(const char *at)
{
	size_t prefix = strspn(at, "rRbBuUfF");
	const char *open = at + prefix;
	if (prefix > 2 || (*open != '"' && *open != '\''))
		return 0;
	bool triple = open[1] == open[0] && open[2] == open[0];
	return prefix + quoted_length(open, triple ? 3 : 1);
}

/* A raw string of C++: R"delimiter( ... )delimiter". */
static size_t raw_string_length(const char *at)
{
	enum { most_delimiter = 16 };
	char end[most_delimiter + 3] = ")";
	size_t delimiter = strcspn(at + 2, "(\") \\\t\n");
	if (delimiter > most_delimiter || at[2 + delimiter] != '(')
		return 0;
	memcpy(end + 1, at + 2, delimiter);
	end[1 + delimiter] = '"';
	const char *close = strstr(at + 3 + delimiter, end);
	return close ? (size_t)(close - at) + delimiter + 2 : strlen(at);
}

static size_t cuda_string_length(const char *at)
{
	size_t prefix = strncmp(at, "u8", 2) == 0 ? 2 : *at && strchr("LuU", *at) ? 1 : 0;
	const char *open = at + prefix;
	if (open[0] == 'R' && open[1] == '"') {
		size_t raw = raw_string_length(open);
		return raw ? prefix + raw : 0;
	}
	return *open == '"' || *open == '\'' ? prefix + quoted_length(open, 1) : 0;
}

static size_t string_length(const struct tokenizer *tokenizer)
{
	return tokenizer->language == SOURCE_PYTHON ? python_string_length(tokenizer->at)
												: cuda_string_length(tokenizer->at);
}

/* Accepts decimal points, exponents, bases and suffixes, and "1'000" in C++ or "1_000" in
 * Python. */
static size_t number_length(const struct tokenizer *tokenizer)
{
	const char *at = tokenizer->at;
	bool is_hex = at[0] == '0' && (at[1] == 'x' || at[1] == 'X');
	size_t length = 0;
	if (!isdigit((unsigned char)at[*at == '.']))
		return 0;
	for (;; length++) {
		char byte = at[length], before = length ? at[length - 1] : '\0';
		bool is_sign =
			(byte == '+' || byte == '-') && before && strchr(is_hex ? "pP" : "eE", before);
		bool parts = byte == '\'' && tokenizer->language == SOURCE_CUDA
			&& isalnum((unsigned char)at[length + 1]);
		if (!isalnum((unsigned char)byte) && byte != '.' && byte != '_' && !is_sign && !parts)
			return length;
	}
}

static size_t directive_length(const struct tokenizer *tokenizer)
{
	bool is_python = tokenizer->language == SOURCE_PYTHON;
	const char *at = tokenizer->at;
	if (*at != (is_python ? '@' : '#') || !begins_source_line(tokenizer))
		return 0;
	size_t length = 1 + strspn(at + 1, " \t");
	length += word_length(at + length);
	while (is_python && at[length] == '.' && word_length(at + length + 1))
		length += 1 + word_length(at + length + 1);
	return length;
}

static size_t keyword_length(const struct tokenizer *tokenizer)
{
	size_t length = word_length(tokenizer->at);
	return length && is_keyword(tokenizer->language, tokenizer->at, length) ? length : 0;
}

/* token_next tries these in order. Strings come before words, because the prefix of a string, such
 * as the r in r"x", also matches as a word. */
static const struct lexeme {
	enum token_kind kind;
	size_t (*length)(const struct tokenizer *tokenizer);
} LEXEMES[] = {
	{ TOKEN_COMMENT, comment_length },
	{ TOKEN_STRING, string_length },
	{ TOKEN_NUMBER, number_length },
	{ TOKEN_DIRECTIVE, directive_length },
	{ TOKEN_KEYWORD, keyword_length },
};

static struct token lexeme_at(const struct tokenizer *tokenizer)
{
	for (size_t i = 0; i < COUNT(LEXEMES); i++) {
		size_t length = LEXEMES[i].length(tokenizer);
		if (length)
			return (struct token){ LEXEMES[i].kind, tokenizer->at, length };
	}
	size_t word = word_length(tokenizer->at);
	return (struct token){ TOKEN_PLAIN, tokenizer->at, word ? word : 1 };
}

bool token_next(struct tokenizer *tokenizer, struct token *token)
{
	*token = (struct token){ TOKEN_PLAIN, tokenizer->at, 0 };
	if (tokenizer->language == SOURCE_TEXT)
		token->length = strlen(tokenizer->at);
	while (tokenizer->language != SOURCE_TEXT && *tokenizer->at) {
		struct token next = lexeme_at(tokenizer);
		if (next.kind != TOKEN_PLAIN && token->length)
			return true;
		tokenizer->at += next.length;
		if (next.kind != TOKEN_PLAIN) {
			*token = next;
			return true;
		}
		token->length += next.length;
	}
	tokenizer->at = token->text + token->length;
	return token->length > 0;
}
