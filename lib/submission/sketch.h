/* Measures how alike two sources are, whatever their comments, names and layout are.
 *
 * A source becomes a list of tokens, in which all names are equal, and so are all numbers and all
 * short strings. Each run of sketch_gram tokens has a hash. Winnowing keeps the smallest hash of
 * each window of sketch_window hashes (Schleimer, Wilkerson and Aiken, SIGMOD 2003). A sketch is
 * the set of the smallest sketch_most_hashes of the kept hashes.
 *
 * Two sketches tell how large a share of the hashes of two sources are in both. The share is exact
 * if the two sources have at most sketch_most_hashes different hashes together; otherwise it is an
 * estimate. */
#ifndef PODIUM_LIB_SUBMISSION_SKETCH_H
#define PODIUM_LIB_SUBMISSION_SKETCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	sketch_gram = 16,        /* tokens that make one hash */
	sketch_window = 8,       /* hashes of which winnowing keeps one */
	sketch_most_hashes = 512 /* of a sketch */
};

struct sketch {
	uint64_t hashes[sketch_most_hashes]; /* ascending, distinct */
	size_t count;
	size_t tokens; /* number of tokens of the source */
};

/* Hashes to leave out of sketches, such as those of a task's templates: ascending, distinct. */
struct sketch_known {
	uint64_t *hashes;
	size_t count;
};

/* Makes the sketch of a source in UTF-8, without the hashes in `known` (NULL: none). `is_python`:
 * the source is Python, else CUDA C++. A source with fewer than sketch_gram tokens has one hash, or
 * none if it has no token. Takes time in proportion to `length`. */
void sketch_make(struct sketch *sketch, const char *source, size_t length, bool is_python,
	const struct sketch_known *known);

/* Adds all hashes of a source to `known`, whose array grows with realloc; the caller frees it. */
void sketch_know(struct sketch_known *known, const char *source, size_t length, bool is_python);

/* The share of common hashes in percent, rounded down: 100 for sources with the same tokens; 0 if
 * one has no hash. */
int sketch_resemblance(const struct sketch *a, const struct sketch *b);

/* One token of a source, as the hashes see it: a keyword or a character keeps its own number, and
 * all names, all numbers and all strings have one number each. Only the tests use the reader from
 * outside. */
enum { token_name = 1, token_number, token_string, token_first_keyword = 1000 };
struct sketch_reader {
	const char *at, *end;
	/* is_inside: within a long string, whose content is read as code */
	bool is_python, starts_line, is_inside;
	char quote;
	int depth; /* of brackets */
};
struct sketch_reader sketch_read(const char *source, size_t length, bool is_python);
bool sketch_token(struct sketch_reader *reader, int *token);

#endif
