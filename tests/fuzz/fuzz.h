/* Helpers of the fuzz targets. Each target is a file with LLVMFuzzerTestOneInput, which libFuzzer
 * calls again and again with bytes that it makes up. Whatever the bytes, all require() must hold.
 * tests/fuzz/run starts the targets. tests/fuzz/corpus/TARGET/ has the first inputs, and
 * TARGET.dict has useful words. */
#ifndef PODIUM_TESTS_FUZZ_H
#define PODIUM_TESTS_FUZZ_H

#include "lib/base/arena.h"
#include "lib/base/buffer.h"
#include "lib/base/error.h"
#include "lib/base/scope.h"
#include "lib/base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

#define require(condition) ((condition) ? (void)0 : fuzz_fail(#condition, __FILE__, __LINE__))

static inline _Noreturn void fuzz_fail(const char *condition, const char *file, int line)
{
	fprintf(stderr, "%s:%d: this must hold: %s\n", file, line, condition);
	abort();
}

/* Returns a copy that ends with a NUL. Nothing follows the NUL, so that ASan sees a read past the
 * end. The caller frees the copy. */
static inline char *fuzz_string(const uint8_t *bytes, size_t length)
{
	char *copy = malloc(length + 1);
	if (!copy)
		abort();
	if (length)
		memcpy(copy, bytes, length);
	copy[length] = '\0';
	return copy;
}

/* Requires UTF-8 without NUL. */
static inline void require_text(const char *text, size_t length)
{
	require(strlen(text) == length);
	require(text_is_utf8(text, length));
}

/* Requires text that may be shown to a person: whole characters on one line, without characters
 * that change the reading order. */
static inline void require_sentence(const char *text)
{
	require(*text != '\0');
	require_text(text, strlen(text));
	for (; *text; text++)
		require(text_control_length(text) == 0);
}

/* Requires that a failed call has filled in its error: the code that it returned, and a sentence.
 */
static inline void require_error(int rc, const struct error *error)
{
	require(rc < 0 && rc == error->code);
	require_sentence(error->text);
}

/* The bytes that are left to read. fuzz_line takes the first line off them and returns a copy
 * without the line end, which the caller frees. A missing line counts as empty. */
struct fuzz_input {
	const uint8_t *bytes;
	size_t length;
};

static inline char *fuzz_line(struct fuzz_input *input)
{
	const uint8_t *end = input->length ? memchr(input->bytes, '\n', input->length) : NULL;
	size_t length = end ? (size_t)(end - input->bytes) : input->length;
	char *line = fuzz_string(input->bytes, length);
	input->bytes += length + (end != NULL);
	input->length -= length + (end != NULL);
	return line;
}

/* A process id that never exists: waiting for it reports at once that it has ended. */
enum { FUZZ_NO_PROCESS = INT32_MAX };

/* Returns a random size for the next piece from a pipe or a socket. The same `state` gives the same
 * sizes again. */
static inline size_t fuzz_piece(uint64_t *state, size_t left)
{
	static const size_t most[] = { 1, 2, 3, 7, 64, 1000 };
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	size_t size = 1 + (*state >> 40) % most[(*state >> 33) % COUNT(most)];
	return size < left ? size : left;
}

#endif
