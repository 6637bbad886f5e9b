/* How alike two sources are, whatever their comments, names and layout. A source becomes a list of
 * tokens, in which every name, number and short string is the same. Each run of sketch_gram tokens
 * has a hash, and winnowing keeps the least hash of each window (Schleimer, Wilkerson and Aiken,
 * SIGMOD 2003). A sketch is the set of the least of these hashes. Two sketches estimate how many
 * hashes their sources share of all that they have; for sources below some 5,000 tokens the figure
 * is exact. */
#ifndef PODIUM_LIB_SUBMISSION_SKETCH_H
#define PODIUM_LIB_SUBMISSION_SKETCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	sketch_gram = 16,        /* tokens of a hash */
	sketch_window = 8,       /* hashes of a window */
	sketch_most_hashes = 512 /* of a sketch */
};

struct sketch {
	uint64_t hashes[sketch_most_hashes]; /* ascending, distinct */
	size_t count;
	size_t tokens; /* of the source */
};

/* The hashes to leave out, such as those of a task's templates: ascending, distinct. */
struct sketch_known {
	uint64_t *hashes;
	size_t count;
};

/* Makes the sketch of a source in UTF-8, without the hashes in `known` (NULL: none). `is_python`:
 * Python, else CUDA C++. A source below sketch_gram tokens has one hash, or none if it has no
 * token. Takes time in proportion to `length`. */
void sketch_make(struct sketch *sketch, const char *source, size_t length, bool is_python,
	const struct sketch_known *known);

/* Adds all hashes of a source to `known`, whose array grows with realloc; the caller frees it. */
void sketch_know(struct sketch_known *known, const char *source, size_t length, bool is_python);

/* In percent, rounded down: 100 for sources with the same tokens. 0 if one has no hash. */
int sketch_resemblance(const struct sketch *a, const struct sketch *b);

/* One token of a source, as the hashes see it: a keyword or a character as it is, and one letter
 * for any name, number or string. For the tests. */
enum { token_name = 1, token_number, token_string, token_first_keyword = 1000 };
struct sketch_reader {
	const char *at, *end;
	bool is_python, starts_line, is_inside; /* is_inside: of a long string with code */
	char quote;
	int depth; /* of brackets */
};
struct sketch_reader sketch_read(const char *source, size_t length, bool is_python);
bool sketch_token(struct sketch_reader *reader, int *token);

#endif
