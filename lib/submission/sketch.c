#include "lib/submission/sketch.h"

#include "lib/base/scope.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* ---- tokens ---- */

/* Words that keep their identity. Types and library functions count as any other name, because
 * another name or a macro can replace them. */
static const char *const KEYWORDS[] = { "and", "as", "assert", "async", "await", "break", "case",
	"class", "const", "continue", "def", "default", "del", "do", "elif", "else", "enum", "except",
	"extern", "finally", "for", "from", "global", "goto", "if", "import", "in", "inline", "is",
	"lambda", "namespace", "nonlocal", "not", "or", "pass", "raise", "return", "sizeof", "static",
	"struct", "switch", "template", "try", "typedef", "typename", "union", "using", "volatile",
	"while", "with", "yield" };

static int compare_words(const void *key, const void *word)
{
	return strcmp(key, *(const char *const *)word);
}

static bool is_name_byte(char c)
{
	return isalnum((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80;
}

struct sketch_reader sketch_read(const char *source, size_t length, bool is_python)
{
	return (struct sketch_reader){
		.at = source, .end = source + length, .is_python = is_python, .starts_line = true
	};
}

static bool begins(const struct sketch_reader *reader, const char *text)
{
	size_t length = strlen(text);
	return (size_t)(reader->end - reader->at) >= length && memcmp(reader->at, text, length) == 0;
}

static void skip_line(struct sketch_reader *reader)
{
	const char *end = memchr(reader->at, '\n', (size_t)(reader->end - reader->at));
	reader->at = end ? end : reader->end;
}

/* Skips past the next occurrence of the text `end`, or to the end of the source. */
static void skip_past(struct sketch_reader *reader, const char *end)
{
	for (; reader->at < reader->end; reader->at++)
		if (begins(reader, end)) {
			reader->at += strlen(end);
			return;
		}
}

static const char *long_quote(char quote)
{
	return quote == '\'' ? "'''" : "\"\"\"";
}

/* Whether Python's rules apply: `#` begins a comment, and three quotes begin a long string. They do
 * not apply within a long string. */
static bool reads_python(const struct sketch_reader *reader)
{
	return reader->is_python && !reader->is_inside;
}

/* Skips a long string that is a statement, because it only documents the code. */
static bool skip_docstring(struct sketch_reader *reader)
{
	if (!reads_python(reader) || !reader->starts_line || reader->depth
		|| !(begins(reader, "\"\"\"") || begins(reader, "'''")))
		return false;
	const char *quote = long_quote(*reader->at);
	reader->at += 3;
	skip_past(reader, quote);
	return true;
}

static bool skip_comment(struct sketch_reader *reader)
{
	bool python = reads_python(reader);
	if (python ? *reader->at == '#' : begins(reader, "//"))
		skip_line(reader);
	else if (!python && begins(reader, "/*")) {
		reader->at += 2;
		skip_past(reader, "*/");
	} else
		return false;
	return true;
}

static void skip_to_token(struct sketch_reader *reader)
{
	while (reader->at < reader->end) {
		char c = *reader->at;
		if (c == '\n')
			reader->starts_line = true;
		if (isspace((unsigned char)c) || c == '\\' || !c)
			reader->at++;
		else if (!skip_comment(reader) && !skip_docstring(reader))
			return;
	}
}

static int read_name(struct sketch_reader *reader)
{
	char word[16];
	size_t length = 0;
	for (; reader->at < reader->end && is_name_byte(*reader->at); reader->at++, length++)
		if (length < sizeof word - 1)
			word[length] = *reader->at;
	if (length >= sizeof word)
		return token_name;
	word[length] = '\0';
	const char *const *found =
		bsearch(word, KEYWORDS, COUNT(KEYWORDS), sizeof *KEYWORDS, compare_words);
	return found ? token_first_keyword + (int)(found - KEYWORDS) : token_name;
}

static int read_number(struct sketch_reader *reader)
{
	for (reader->at++; reader->at < reader->end; reader->at++) {
		char c = *reader->at, before = reader->at[-1];
		bool is_sign = (c == '+' || c == '-') && strchr("eEpP", before);
		if (!is_name_byte(c) && c != '.' && c != '\'' && !is_sign)
			break;
	}
	return token_number;
}

/* Reads a string on one line. If its line has no closing quote, only the quote is read, as a
 * character. */
static int read_string(struct sketch_reader *reader)
{
	char quote = *reader->at;
	for (const char *at = reader->at + 1; at < reader->end && *at != '\n'; at++) {
		if (*at == quote)
			return reader->at = at + 1, token_string;
		at += *at == '\\' && at + 1 < reader->end;
	}
	return reader->at++, quote;
}

/* Enters or leaves a long string that is a value. Its content counts, because it may be CUDA C++.
 */
static bool enter_or_leave(struct sketch_reader *reader)
{
	if (reader->is_inside && begins(reader, long_quote(reader->quote)))
		reader->is_inside = false;
	else if (reads_python(reader) && (begins(reader, "\"\"\"") || begins(reader, "'''"))) {
		reader->is_inside = true;
		reader->quote = *reader->at;
	} else
		return false;
	reader->at += 3;
	return true;
}

static void count_brackets(struct sketch_reader *reader, char c)
{
	if (reader->is_inside)
		return;
	if (strchr("([{", c))
		reader->depth++;
	else if (strchr(")]}", c) && reader->depth)
		reader->depth--;
}

bool sketch_token(struct sketch_reader *reader, int *token)
{
	skip_to_token(reader);
	if (reader->at >= reader->end)
		return false;
	char c = *reader->at;
	if (enter_or_leave(reader))
		*token = token_string;
	else if (isdigit((unsigned char)c))
		*token = read_number(reader);
	else if (is_name_byte(c))
		*token = read_name(reader);
	else if (c == '"' || c == '\'')
		*token = read_string(reader);
	else {
		count_brackets(reader, c);
		reader->at++;
		*token = (unsigned char)c;
	}
	reader->starts_line = false;
	return true;
}

/* ---- hashes ---- */

/* Mixes all bits (the finalizer of SplitMix64). */
static uint64_t mix(uint64_t x)
{
	x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
	return x ^ (x >> 31);
}

/* A growing list. If memory runs out, the process ends, as with arenas (lib/base/arena.h). */
struct hashes {
	uint64_t *items;
	size_t count, room;
};

static void add_hash(struct hashes *list, uint64_t hash)
{
	if (list->count == list->room) {
		list->room = list->room ? 2 * list->room : 1024;
		list->items = realloc(list->items, list->room * sizeof *list->items);
		if (!list->items)
			abort();
	}
	list->items[list->count++] = hash;
}

/* Winnowing: keeps the smallest hash of each window, the rightmost of equal ones. A hash that is
 * the smallest of several windows is kept once. */
struct window {
	uint64_t hashes[sketch_window];
	/* number of hashes so far; number of the hash kept last, from 1; 0: none */
	size_t count, kept;
};

static void slide(struct window *window, uint64_t hash, struct hashes *kept)
{
	window->hashes[window->count++ % sketch_window] = hash;
	if (window->count < sketch_window)
		return;
	size_t least = window->count - sketch_window;
	for (size_t i = least; i < window->count; i++)
		if (window->hashes[i % sketch_window] <= window->hashes[least % sketch_window])
			least = i;
	if (least + 1 != window->kept) {
		add_hash(kept, window->hashes[least % sketch_window]);
		window->kept = least + 1;
	}
}

/* If the source has fewer hashes than a window, they form one window. */
static void finish_window(const struct window *window, struct hashes *kept)
{
	if (!window->count || window->count >= sketch_window)
		return;
	uint64_t least = window->hashes[0];
	for (size_t i = 1; i < window->count; i++)
		least = window->hashes[i] < least ? window->hashes[i] : least;
	add_hash(kept, least);
}

static int compare_hashes(const void *left, const void *right)
{
	const uint64_t *a = left, *b = right;
	return (*a > *b) - (*a < *b);
}

static void sort_distinct(uint64_t *items, size_t *count)
{
	size_t kept = 0;
	if (*count)
		qsort(items, *count, sizeof *items, compare_hashes);
	for (size_t i = 0; i < *count; i++)
		if (!kept || items[kept - 1] != items[i])
			items[kept++] = items[i];
	*count = kept;
}

/* Appends the winnowed hashes of a source. Returns the number of its tokens. */
static size_t winnow(const char *source, size_t length, bool is_python, struct hashes *kept)
{
	struct sketch_reader reader = sketch_read(source, length, is_python);
	struct window window = { 0 };
	uint64_t gram[sketch_gram], rolling = 0, factor = 1, last_factor = 1;
	const uint64_t base = UINT64_C(0x9e3779b97f4a7c15);
	size_t tokens = 0;
	int token;
	for (size_t i = 0; i < sketch_gram; i++, factor *= base)
		last_factor = factor;
	for (; sketch_token(&reader, &token); tokens++) {
		uint64_t code = mix((uint64_t)token + 1), *slot = &gram[tokens % sketch_gram];
		if (tokens >= sketch_gram)
			rolling -= *slot * last_factor;
		rolling = rolling * base + code;
		*slot = code;
		if (tokens + 1 >= sketch_gram)
			slide(&window, mix(rolling), kept);
	}
	if (tokens && tokens < sketch_gram)
		add_hash(kept, mix(rolling));
	finish_window(&window, kept);
	return tokens;
}

void sketch_know(struct sketch_known *known, const char *source, size_t length, bool is_python)
{
	struct hashes list = { known->hashes, known->count, known->count };
	winnow(source, length, is_python, &list);
	sort_distinct(list.items, &list.count);
	*known = (struct sketch_known){ list.items, list.count };
}

void sketch_make(struct sketch *sketch, const char *source, size_t length, bool is_python,
	const struct sketch_known *known)
{
	struct hashes list = { 0 };
	*sketch = (struct sketch){ .tokens = winnow(source, length, is_python, &list) };
	sort_distinct(list.items, &list.count);
	for (size_t i = 0; i < list.count && sketch->count < sketch_most_hashes; i++)
		if (!known || !known->count
			|| !bsearch(
				&list.items[i], known->hashes, known->count, sizeof *known->hashes, compare_hashes))
			sketch->hashes[sketch->count++] = list.items[i];
	free(list.items);
}

/* Takes the smallest hashes of both sketches together, at most sketch_most_hashes, and counts which
 * share of them both have. */
int sketch_resemblance(const struct sketch *a, const struct sketch *b)
{
	size_t i = 0, k = 0, shared = 0, all = 0;
	if (!a->count || !b->count)
		return 0;
	while (all < sketch_most_hashes && (i < a->count || k < b->count)) {
		bool in_a = i < a->count && (k == b->count || a->hashes[i] <= b->hashes[k]);
		bool in_b = k < b->count && (i == a->count || b->hashes[k] <= a->hashes[i]);
		i += in_a;
		k += in_b;
		shared += in_a && in_b;
		all++;
	}
	return (int)(100 * shared / all);
}
